//! The snapshot for people: one line for each fact, the strip as a line.

use crate::core::{
    id::EntryId,
    known::Known,
    lag::Lag,
    model::{ConsumerFacts, StreamFacts, total},
    sample::Fault,
    store::{Extreme, GroupState, RowState, StreamState},
    strip::{Cell, EntryState},
    summary::Summary,
    symptoms::{Finding, Level, expires_harmlessly},
    time::{Now, age, age_words, rfc3339},
    watch::Watch,
    words::{count, entries, no_match},
};
use std::{cmp::Reverse, fmt::Write as _};

/// Entries shown on each side of the cursor.
const AROUND: usize = 12;
/// Most consumers listed for a group.
const CONSUMERS: usize = 20;
/// More streams without groups than this share one line.
const PLAIN: usize = 3;

pub fn snapshot(watch: &Watch, endpoint: &str, now: Now) -> String {
    let mut out = String::new();
    let store = &watch.store;
    let server = &store.server;
    let role = server.role.as_deref().unwrap_or("role unknown");
    let flavor = if server.flavor.is_empty() { "unknown server" } else { &server.flavor };
    line(&mut out, 0, &format!("{flavor} {} {role}, {endpoint}, {}", server.version, rfc3339(now.wall_ms)));
    if !store.denied.is_empty() {
        let denied: Vec<&str> = store.denied.iter().copied().collect();
        line(&mut out, 0, &format!("denied: {}", denied.join(", ")));
    }
    for note in store.cluster_notes() {
        line(&mut out, 0, &note);
    }
    if let Some(fault) = &store.discovery.fault {
        line(&mut out, 0, &format!("streams cannot be looked for ({}): name them with --stream", fault.words()));
    } else if store.streams.is_empty() {
        let patterns = &store.settings.patterns;
        let none = if patterns.is_empty() { "no streams found".to_owned() } else { no_match(patterns) };
        line(&mut out, 0, &none);
    }
    line(&mut out, 0, &verdict_line(watch));
    for finding in watch.verdicts.server() {
        finding_lines(&mut out, 0, finding, now);
    }
    let (plain, mut shown): (Vec<_>, Vec<_>) = store.streams.values().partition(|stream| is_plain(watch, stream));
    if plain.len() <= PLAIN {
        shown.extend(&plain);
    }
    // the worst first, then by name
    shown.sort_by_key(|stream| (Reverse(watch.summary_of(stream)), &stream.key));
    for stream in shown {
        stream_lines(&mut out, watch, stream, now);
    }
    if plain.len() > PLAIN {
        let held = total(plain.iter().filter_map(|stream| Some(stream.facts.value.as_ref()?.length)));
        out.push('\n');
        line(&mut out, 0, &format!("{} streams without groups: {}", plain.len(), entries(held)));
    }
    let expiring = store.streams.values().filter(|stream| expires_harmlessly(stream)).count() as i64;
    if expiring > 0 {
        let have = if expiring == 1 { "has" } else { "have" };
        let streams = count(expiring, "stream", "streams");
        line(&mut out, 0, &format!("{streams} {have} a time to live, and nothing waits or is pending there"));
    }
    for event in &store.events {
        line(&mut out, 0, &format!("{}  {}: {}", rfc3339(event.wall_ms), event.id, event.text));
    }
    out
}

/// As in `1 critical, 2 warn; 1 check cannot tell (INFO denied): expires`.
fn verdict_line(watch: &Watch) -> String {
    let of_groups = watch.groups().flat_map(|seen| &seen.judgement.findings);
    let of_streams = watch.store.streams.keys().flat_map(|key| watch.verdicts.stream(key));
    let levels: Vec<Level> = of_groups
        .chain(of_streams)
        .chain(watch.verdicts.server())
        .filter(|found| found.holds_now())
        .map(Finding::counts_as)
        .collect();
    let many = |level: Level| levels.iter().filter(|found| **found == level).count();
    let found: Vec<String> = [Level::Critical, Level::Warn]
        .into_iter()
        .filter(|level| many(*level) > 0)
        .map(|level| format!("{} {}", many(level), level.word()))
        .collect();
    let mut text = match (watch.summary(), found.is_empty()) {
        (_, false) => format!("verdict: {}", found.join(", ")),
        (Summary::Unknown, _) => "verdict: not known".to_owned(),
        (Summary::Reading, _) => "verdict: not everything was read so far".to_owned(),
        _ if watch.verdicts.known() > 0 => format!("verdict: {} known, else quiet", watch.verdicts.known()),
        _ => "verdict: quiet".to_owned(),
    };
    let cannot = watch.cannot_tell();
    if !cannot.is_empty() {
        let checks = count(cannot.len() as i64, "check", "checks");
        let _ = write!(text, "; {checks} cannot tell: {}", cannot.join(", "));
    }
    let not_yet = watch.not_yet();
    if !not_yet.is_empty() {
        let checks = count(not_yet.len() as i64, "check", "checks");
        let names: Vec<&str> = not_yet.into_iter().collect();
        let _ = write!(text, "; {checks} not judged, for lack of time (--settle 30s gives it): {}", names.join(", "));
    }
    text
}

/// Whether there is nothing to say of a stream but its length.
fn is_plain(watch: &Watch, stream: &StreamState) -> bool {
    stream.is_ok()
        && stream.groups.is_empty()
        && stream.groups_fault.is_none()
        && watch.verdicts.stream(&stream.key).is_empty()
        && !watch.store.settings.keys.contains(&stream.key)
}

fn line(out: &mut String, indent: usize, text: &str) {
    let _ = writeln!(out, "{:indent$}{text}", "");
}

fn facts_line(out: &mut String, stream: &StreamState, facts: &StreamFacts) {
    let of = facts.entries_added.value().map_or(String::new(), |added| format!(" of {added} added"));
    let span = facts.first.zip(facts.last).map_or(String::new(), |(first, last)| format!(", {first} to {last}"));
    line(out, 0, &format!("{}: {} entries{of}{span}", stream.key, facts.length));
}

fn stream_lines(out: &mut String, watch: &Watch, stream: &StreamState, now: Now) {
    out.push('\n');
    match (&stream.state, &stream.facts.value, stream.facts.fault()) {
        (RowState::Ok, Some(facts), _) => facts_line(out, stream, facts),
        (RowState::Ok, None, Some(fault)) => line(out, 0, &format!("{}: XINFO STREAM: {}", stream.key, fault.words())),
        (RowState::Fault(fault @ Fault::Away(_)), Some(facts), _) => {
            line(out, 0, &format!("{}: {}", stream.key, fault.words()));
            line(out, 0, &format!("as it was {} ago:", age(now.mono.since(stream.facts.at) as i64)));
            facts_line(out, stream, facts);
        }
        (RowState::Fault(fault), ..) => return line(out, 0, &format!("{}: {}", stream.key, fault.words())),
        _ => return line(out, 0, &format!("{}: not answered yet", stream.key)),
    }
    let now = if stream.is_away() { Now { mono: stream.facts.at, ..now } } else { now };
    if let Some(fault) = &stream.groups_fault {
        line(out, 2, &format!("groups: {}", fault.words()));
    }
    if stream.groups.is_empty() && stream.groups_fault.is_none() {
        line(out, 2, "no groups");
    }
    let asked = &watch.store.settings.groups;
    for missing in asked.iter().filter(|name| !stream.groups.contains_key(name)) {
        line(out, 2, &format!("{missing}: no such group"));
    }
    let mut groups: Vec<_> = stream.groups.values().filter(|g| asked.is_empty() || asked.contains(g.name())).collect();
    groups.sort_by_key(|group| (Reverse(watch.view(stream, group).summary()), group.name()));
    for group in groups {
        group_lines(out, watch, stream, group, now);
    }
    for finding in watch.verdicts.stream(&stream.key) {
        finding_lines(out, 2, finding, now);
    }
}

fn count_words(count: Option<i64>) -> String {
    count.map_or("?".to_owned(), |n| n.to_string())
}

fn group_lines(out: &mut String, watch: &Watch, stream: &StreamState, group: &GroupState, now: Now) {
    let behind = watch.store.behind_ms(stream, group, now).map_or(String::new(), |ms| format!(", behind {}", age(ms)));
    let oldest = match group.oldest_idle(now.mono) {
        Extreme::Exact(Some((ms, id))) => format!(", oldest {} ({id})", age(ms)),
        Extreme::AtLeast(ms, id) => format!(", oldest at least {} ({id})", age(ms)),
        _ => String::new(),
    };
    line(
        out,
        2,
        &format!(
            "{}: lag {}, pending {}{behind}{oldest}, {} consumer{}",
            group.name(),
            lag_words(&group.lag),
            count_words(group.facts.pending.value()),
            count_words(group.facts.consumers.value()),
            if group.facts.consumers == Known::Is(1) { "" } else { "s" }
        ),
    );
    let cells = group.cells(stream);
    // a dashboard that is closed early has not fetched everything: an empty list does not mean that there are no entries
    if cells.is_empty()
        && (group.facts.pending != Known::Is(0) || stream.facts.value.as_ref().is_some_and(|facts| facts.length > 0))
    {
        let why = match stream.range_failure.as_ref().map(|failure| &failure.fault) {
            Some(fault) => format!("the entries around it cannot be shown: XRANGE: {}", fault.words()),
            None => "the entries around it were not fetched so far".to_owned(),
        };
        line(out, 4, &format!("cursor {}; {why}", group.facts.cursor));
    } else {
        line(out, 4, &strip_line(&cells, group.facts.cursor));
        if !group.acked_sure() && cells.iter().any(|cell| cell.state == EntryState::Acked) {
            line(out, 4, "acked, or never delivered to this group: its counters do not tell");
        }
    }
    let rates = group.rates(stream);
    if let (Some(added), Some(delivered)) = (rates.added, rates.delivered) {
        let acked = rates.acked.map_or("?".to_owned(), |n| format!("{n:.1}"));
        line(out, 4, &format!("{added:.1}/s added, {delivered:.1}/s delivered, {acked}/s acknowledged"));
    }
    if let Some(doubt) = group.doubt() {
        line(out, 4, doubt);
    }
    if let Some(fault) = group.consumers.fault() {
        line(out, 4, &format!("consumers: {}", fault.words()));
    }
    let consumers = group.consumers();
    for one in consumers.iter().take(CONSUMERS) {
        line(out, 4, &consumer_line(group, one, now));
    }
    if consumers.len() > CONSUMERS {
        line(out, 4, &format!("and {} more consumers", consumers.len() - CONSUMERS));
    }
    if watch.store.settings.ignores(group.name()) {
        line(out, 4, "ignored: not judged");
    }
    for finding in &watch.verdicts.group(&stream.key, group.name()).findings {
        finding_lines(out, 4, finding, now);
    }
}

fn lag_words(lag: &Lag) -> String {
    let mark = match lag.reported {
        Some(reported) if lag.server_differs() => format!(" (the server reports {reported})"),
        _ => String::new(),
    };
    let why = lag.reason.map_or(String::new(), |why| format!(" ({why})"));
    format!("{}{}", lag.text(), if mark.is_empty() { why } else { mark })
}

fn consumer_line(group: &GroupState, one: &ConsumerFacts, now: Now) -> String {
    let passed = now.mono.since(group.consumers.at) as i64;
    let oldest =
        group.oldest_idle_of(&one.name, now.mono).value().map_or(String::new(), |ms| format!(", oldest {}", age(ms)));
    let idle = age(one.idle_ms.saturating_add(passed));
    let seen = match one.inactive_ms.value() {
        Some(inactive) if inactive < 0 => format!("seen {idle} ago, never got an entry"),
        Some(inactive) => {
            format!("seen {idle} ago, last got entries {} ago", age(inactive.saturating_add(passed)))
        }
        None => format!("last got entries {idle} ago"),
    };
    format!("{}: {} pending{oldest}, {seen}", one.name, one.pending)
}

fn finding_lines(out: &mut String, indent: usize, finding: &Finding, now: Now) {
    let lasts = finding.since_ms.map_or(0, |since| now.wall_ms.saturating_sub(since));
    let since = match finding.lasted_ms {
        Some(_) => format!(", for {}", age_words(lasts)),
        None if lasts >= 1000 => format!(", seen for {}", age_words(lasts)),
        None => String::new(),
    };
    line(out, indent, &format!("{} {}{since}: {}", finding.level.word(), finding.id, finding.sentence()));
    line(out, indent + 2, &format!("first check: {}", finding.check));
}

/// The strip as text: `1-0 acked, 3-0 pending c1 | cursor | 5-0 new`. A long strip is cut around the cursor.
pub fn strip_line(cells: &[Cell], cursor: EntryId) -> String {
    let split = cells.partition_point(|cell| cell.id <= cursor);
    let (behind, ahead) = cells.split_at(split);
    let hidden_behind = behind.len().saturating_sub(AROUND);
    let hidden_ahead = ahead.len().saturating_sub(AROUND);
    let words = |cells: &[Cell]| cells.iter().map(cell_words).collect::<Vec<_>>();
    let mut left = words(&behind[hidden_behind..]);
    let mut right = words(&ahead[..ahead.len() - hidden_ahead]);
    if hidden_behind > 0 {
        left.insert(0, format!("… {hidden_behind} more"));
    }
    if hidden_ahead > 0 {
        right.push(format!("… {hidden_ahead} more"));
    }
    format!("{} | cursor | {}", left.join(", "), right.join(", ")).trim().to_owned()
}

fn cell_words(cell: &Cell) -> String {
    let state = match cell.state {
        EntryState::Acked | EntryState::AckedSeen => "acked",
        EntryState::Pending => "pending",
        EntryState::New => "new",
        EntryState::Skipped => "skipped",
        EntryState::Gone => "payload gone",
        EntryState::Unsure => "delivered",
    };
    match &cell.owner {
        Some(owner) => format!("{} {state} {owner}", cell.id),
        None => format!("{} {state}", cell.id),
    }
}
