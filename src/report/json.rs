//! The snapshot for scripts, in the format `pelwatch.snapshot/1`.

use crate::core::{
    census::{AGES_MS, DELIVERIES, Tally},
    cluster::ClusterFacts,
    event::Event,
    lag::{Lag, LagKind},
    loss::LossKind,
    model::{ConsumerFacts, FATAL_DELIVERIES, PendingRow},
    name::Name,
    sample::Fault,
    store::{Extreme, GroupState, RowState, StreamState},
    symptoms::Finding,
    time::{Now, rfc3339},
    watch::Watch,
};
use serde_json::{Map, Value, json};

/// Most strip entries in one document.
const STRIP_ENDELIVERIES: usize = 2000;

pub fn snapshot(watch: &Watch, endpoint: &str, now: Now) -> Value {
    let store = &watch.store;
    let text_or_null = |text: &str| if text.is_empty() { Value::Null } else { json!(text) };
    json!({
        "schema": "pelwatch.snapshot/1",
        "taken_at": rfc3339(now.wall_ms),
        "server": {
            "flavor": text_or_null(&store.server.flavor).as_str().unwrap_or("unknown"),
            "version": text_or_null(&store.server.version),
            "role": store.server.role,
            "link": store.server.link_up.map(|up| if up { "up" } else { "down" }),
            "primary": store.server.primary,
            "cluster": store.server.cluster,
            "time_ms": store.server_time_ms(),
            "endpoint": endpoint,
        },
        "verdict": watch.summary().word(),
        "cannot_tell": watch.cannot_tell(),
        "symptoms": watch.verdicts.server().iter().map(finding).collect::<Vec<_>>(),
        "denied": store.denied,
        "discovery_complete": store.is_discovery_complete(),
        "nodes": store.cluster.as_ref().map(nodes),
        "notes": store.cluster_notes(),
        "cost": {
            "commands": store.total_cost.commands,
            "round_trips": store.total_cost.round_trips,
            "bytes_in": store.total_cost.bytes_in,
            "slowest_reply_us": store.total_cost.slowest_reply_us,
            "largest_reply": store.total_cost.largest_reply,
            "server_us": store.total_cost.server_us,
        },
        "streams": store.streams.values().map(|s| stream(watch, s, now)).collect::<Vec<_>>(),
        "events": store.events.iter().map(event).collect::<Vec<_>>(),
    })
}

fn nodes(cluster: &ClusterFacts) -> Value {
    let down =
        cluster.nodes.iter().filter_map(|node| Some(json!({"node": node.name, "error": node.trouble.as_ref()?})));
    json!({"up": cluster.up(), "total": cluster.nodes.len(), "down": down.collect::<Vec<_>>()})
}

/// A name as the screen shows it. Its bytes are added if that text is not the exact name.
fn name(name: &Name) -> Value {
    json!({"text": name.shown(), "hex": name.hex()})
}

fn event(event: &Event) -> Value {
    json!({
        "at": rfc3339(event.wall_ms),
        "id": event.id,
        "stream": event.stream.as_ref().map(name),
        "group": event.group.as_ref().map(name),
        "text": event.text,
    })
}

fn state_word(fault: &Fault) -> &'static str {
    match fault {
        Fault::Missing | Fault::NoGroup => "missing",
        Fault::WrongType => "wrong_type",
        Fault::Denied(_) => "denied",
        Fault::Other(_) | Fault::Away(_) | Fault::Elsewhere { .. } | Fault::Unasked => "error",
    }
}

/// Converts a monotonic time to wall-clock time, with the two clocks at `now`.
fn sampled_at(at: crate::core::time::Mono, now: Now) -> String {
    rfc3339(now.wall_ms - now.mono.since(at) as i64)
}

fn stream(watch: &Watch, stream: &StreamState, now: Now) -> Value {
    let (state, error) = match &stream.state {
        RowState::Ok => ("ok", stream.groups_fault.as_ref().or(stream.facts.fault()).map(Fault::words)),
        RowState::Loading => ("error", Some("not answered yet".to_owned())),
        RowState::Fault(fault) => (state_word(fault), Some(fault.words())),
    };
    let facts = stream.facts.value.as_ref().filter(|_| stream.is_ok() || stream.is_away());
    let id = |id: Option<crate::core::id::EntryId>| id.map(|id| id.to_string());
    let listed = match (&stream.state, &stream.groups_fault) {
        (RowState::Fault(Fault::Away(_)), _) if stream.facts.value.is_none() => Value::Null,
        (RowState::Fault(Fault::Other(_) | Fault::Elsewhere { .. }) | RowState::Loading, _) | (_, Some(_)) => {
            Value::Null
        }
        _ => groups(watch, stream, now),
    };
    json!({
        "key": name(&stream.key),
        "node": stream.node,
        "state": state,
        "error": error,
        "sampled_at": stream.facts.value.is_some().then(|| sampled_at(stream.facts.at, now)),
        "stale": stale(stream, now),
        "length": facts.map(|f| f.length),
        "entries_added": facts.and_then(|f| f.entries_added.value()),
        "first_id": id(facts.and_then(|f| f.first)),
        "last_id": id(facts.and_then(|f| f.last)),
        "last_generated_id": facts.map(|f| f.last_generated.to_string()),
        "ttl_ms": facts.and_then(|_| stream.ttl.left_ms(now.mono)),
        "duplicates_refused": facts.and_then(|f| f.duplicates.value()),
        "max_deleted_id": id(facts.and_then(|f| f.max_deleted.value())),
        "groups": listed,
        "symptoms": watch.verdicts.stream(&stream.key).iter().map(finding).collect::<Vec<_>>(),
    })
}

/// The stream's fields that are older than its groups, with their age. XINFO STREAM is read less often when its reply is large. While the
/// stream's node is unreachable, all fields are listed.
fn stale(stream: &StreamState, now: Now) -> Value {
    let newest = stream.groups.values().map(|group| group.at).max().unwrap_or(stream.facts.at);
    let age_ms = if stream.is_away() { now.mono.since(stream.facts.at) } else { newest.since(stream.facts.at) };
    if age_ms == 0 || stream.facts.value.is_none() {
        return json!({});
    }
    let fields = ["length", "entries_added", "first_id", "last_id", "last_generated_id", "max_deleted_id"];
    Value::Object(fields.iter().map(|field| ((*field).to_owned(), json!(age_ms))).collect())
}

fn groups(watch: &Watch, stream: &StreamState, now: Now) -> Value {
    let asked = &watch.store.settings.groups;
    let there = stream.groups.values().filter(|g| asked.is_empty() || asked.contains(g.name()));
    let mut list: Vec<Value> = there.map(|g| group(watch, stream, g, now)).collect();
    if stream.is_ok() {
        let missing = asked.iter().filter(|name| !stream.groups.contains_key(name));
        list.extend(
            missing.map(|missing| json!({"name": name(missing), "state": "missing", "error": "no such group"})),
        );
    }
    Value::Array(list)
}

fn group(watch: &Watch, stream: &StreamState, group: &GroupState, now: Now) -> Value {
    let facts = &group.facts;
    let judged = watch.view(stream, group);
    let sampled_at = sampled_at(group.at, now);
    let walked = group.census.shown().map(|tally| census(tally, now));
    // ages of values that cannot be read any more stand still, as on the screen
    let (state, now) = if stream.is_away() { ("error", Now { mono: group.at, ..now }) } else { ("ok", now) };
    let fault = group.pel_failure.as_ref().map(|failure| &failure.fault).or(group.consumers.fault());
    let fault = match &stream.state {
        RowState::Fault(away) => Some(away),
        _ => fault,
    };
    let rates = group.rates(stream);
    let per_second = |rate: Option<f64>| rate.map(|rate| (rate * 1000.0).round() / 1000.0);
    json!({
        "name": name(group.name()),
        "verdict": judged.summary().word(),
        "ignored": judged.is_ignored,
        "not_yet": judged.judgement.waiting.iter().collect::<Vec<_>>(),
        "cannot_tell": judged.judgement.cannot_tell.iter().collect::<Vec<_>>(),
        "state": state,
        "error": fault.map(Fault::words).or_else(|| group.doubt().map(str::to_owned)),
        "sampled_at": sampled_at,
        "cursor": facts.cursor.to_string(),
        "entries_read": facts.entries_read_known(),
        "lag": lag(&group.lag),
        "behind_ms": watch.store.behind_ms(stream, group, now),
        "pending": facts.pending.value(),
        "unowned": group.unowned(),
        "lost_before_read": group.lost.filter(|lost| lost.kind != LossKind::AtMost).map(|lost| lost.entries),
        "lost": group.lost.map(|lost| json!({"kind": lost.kind.word(), "value": lost.entries})),
        "payload_gone": payload_gone(stream, group),
        "oldest_idle": extreme(group.oldest_idle(now.mono), "ms"),
        "max_deliveries": extreme(group.pel.max_deliveries(), "value"),
        "census": walked,
        "consumers_total": facts.consumers.value(),
        "consumers": group.consumers.value.as_ref().map(|all| all.iter().map(|one| consumer(group, one, now)).collect::<Vec<_>>()),
        "pel": pel(stream, group, watch.store.settings.pel_limit, now),
        "strip": strip(stream, group),
        "symptoms": judged.judgement.findings.iter().filter(|found| found.holds_now()).map(finding).collect::<Vec<_>>(),
        "rates": {
            "added_per_s": per_second(rates.added),
            "delivered_per_s": per_second(rates.delivered),
            "acked_per_s": per_second(rates.acked),
            "drain_ms": rates.drain_ms(group.lag.exact()),
        },
    })
}

fn lag(lag: &Lag) -> Value {
    let value = match lag.kind {
        LagKind::Unknown | LagKind::Unsupported => None,
        _ => lag.value,
    };
    json!({"kind": lag.kind.word(), "value": value, "reported": lag.reported, "reason": lag.reason})
}

fn extreme(found: Extreme, field: &str) -> Value {
    let kind = match found {
        Extreme::Exact(_) => "exact",
        Extreme::AtLeast(..) => "at_least",
        Extreme::Unknown => "unknown",
    };
    json!({"kind": kind, field: found.value(), "id": found.id().map(|id| id.to_string())})
}

fn payload_gone(stream: &StreamState, group: &GroupState) -> Value {
    match group.payload_gone(stream) {
        Some((gone, true)) => json!({"kind": "exact", "value": gone}),
        Some((gone, false)) => json!({"kind": "at_least", "value": gone}),
        None => json!({"kind": "unknown", "value": null}),
    }
}

fn consumer(group: &GroupState, consumer: &ConsumerFacts, now: Now) -> Value {
    let passed = now.mono.since(group.consumers.at) as i64;
    let inactive = consumer.inactive_ms.value();
    let mut out = json!({
        "name": name(&consumer.name),
        "pending": consumer.pending,
        "idle_ms": consumer.idle_ms.saturating_add(passed),
        "inactive_ms": inactive.filter(|ms| *ms >= 0).map(|ms| ms.saturating_add(passed)),
        "oldest_pending_idle_ms": group.oldest_idle_of(&consumer.name, now.mono).value(),
        "max_deliveries": group.max_deliveries_of(&consumer.name),
    });
    if inactive.is_some_and(|ms| ms < 0) {
        insert(&mut out, "never", json!(true));
    }
    out
}

/// A walk over the whole PEL. Ages count from its beginning; each entry was read once between then and its end.
fn census(tally: &Tally, now: Now) -> Value {
    let classes = AGES_MS.iter().map(|below| json!(below)).chain(std::iter::once(Value::Null));
    let ages: Vec<Value> =
        classes.zip(tally.ages).map(|(below, entries)| json!({"below_ms": below, "entries": entries})).collect();
    let deliveries: Vec<Value> = DELIVERIES
        .iter()
        .zip(tally.deliveries)
        .map(|(from, entries)| json!({"from": from, "entries": entries}))
        .collect();
    json!({
        "complete": tally.is_complete(),
        "begun_at": sampled_at(tally.begun, now),
        "took_ms": tally.ended.map(|ended| ended.since(tally.begun)),
        "walked": tally.walked,
        "of": tally.of,
        "ages": ages,
        "deliveries": deliveries,
        "max_deliveries": tally.most,
        "fatal": tally.fatal,
        "unowned": tally.unowned,
        "payload_gone": tally.gone,
        "not_looked_up": tally.unsure,
        "server_us": tally.server_us,
        "slowest_us": tally.slowest_us,
    })
}

fn insert(object: &mut Value, field: &str, value: Value) {
    let fields: Option<&mut Map<String, Value>> = object.as_object_mut();
    if let Some(fields) = fields {
        fields.insert(field.to_owned(), value);
    }
}

fn pel(stream: &StreamState, group: &GroupState, limit: usize, now: Now) -> Value {
    if !group.pel.is_fetched() {
        return Value::Null;
    }
    let passed = now.mono.since(group.pel.at) as i64;
    let row = |row: &PendingRow| {
        let mut out = json!({
            "id": row.id.to_string(),
            "consumer": row.owner.as_ref().map(name),
            "idle_ms": row.idle_known_ms().map(|ms| ms.saturating_add(passed)),
            "deliveries": row.deliveries_known(),
            "payload": match stream.has_entry(row.id) { Some(true) => "present", Some(false) => "gone", None => "unknown" },
            "ahead_of_cursor": row.id > group.facts.cursor,
        });
        if row.deliveries == FATAL_DELIVERIES {
            insert(&mut out, "fatal", json!(true));
        }
        out
    };
    let complete = group.pel.complete && group.pel.rows.len() <= limit;
    json!({"complete": complete, "entries": group.pel.rows.iter().take(limit).map(row).collect::<Vec<_>>()})
}

fn strip(stream: &StreamState, group: &GroupState) -> Value {
    let Some(facts) = &stream.facts.value else { return Value::Null };
    if facts.length > 0 && stream.window.span().is_none() {
        return Value::Null;
    }
    let cells = group.cells(stream);
    let told: Vec<_> = cells.iter().filter_map(|cell| Some((cell, cell.state.word()?))).collect();
    let complete = stream.window.is_complete(facts)
        && group.pel.complete
        && told.len() == cells.len()
        && cells.len() <= STRIP_ENDELIVERIES;
    let entries: Vec<Value> = told
        .iter()
        .take(STRIP_ENDELIVERIES)
        .map(
            |(cell, word)| json!({"id": cell.id.to_string(), "state": word, "consumer": cell.owner.as_ref().map(name)}),
        )
        .collect();
    json!({"complete": complete, "acked_sure": group.acked_sure(), "entries": entries})
}

fn finding(finding: &Finding) -> Value {
    let evidence: Map<String, Value> =
        finding.evidence.iter().map(|(key, value)| ((*key).to_owned(), json!(value))).collect();
    json!({
        "id": finding.id,
        "level": finding.level.word(),
        "consumer": finding.consumer.as_ref().map(name),
        "text": finding.text,
        "evidence": evidence,
        "cause": finding.cause,
        "check": finding.check.to_string(),
        "remedy": finding.remedy,
        "since": finding.since_ms.map(rfc3339),
        "since_is": if finding.lasted_ms.is_some() { "known" } else { "seen" },
        "also": finding.also,
        "about": {
            "entries": finding.entries.iter().map(ToString::to_string).collect::<Vec<_>>(),
            "consumer": finding.consumer.as_ref().map(name),
        },
    })
}
