//! What the server shows in one second of a phase.

use super::{only, streams};
use pelwatch::core::{
    condition::{ConditionSample, Database, Memory, Persistence, Replication, WriteRules},
    id::EntryId,
    known::Known,
    model::{ConsumerFacts, GroupFacts, PendingRow, ServerFacts, StreamFacts},
    name::Name,
    sample::{Fault, GroupDetail, PageRequest, Sample, StreamSample},
    time::Mono,
};
use toml::{Table, Value};

/// Evaluates `A`, `A+B`, `A-B` or `A~B` after this many seconds.
fn number(value: &Value, t: i64) -> i64 {
    match value {
        Value::Integer(n) => *n,
        Value::String(text) => expression(text, t),
        other => panic!("a number, not {other}"),
    }
}

pub fn expression(text: &str, t: i64) -> i64 {
    let int = |text: &str| -> i64 { text.parse().unwrap_or_else(|_| panic!("a number: {text}")) };
    let signs: Vec<(usize, char)> = text.char_indices().filter(|(at, c)| *at > 0 && "+-~".contains(*c)).collect();
    let end = |index: usize| signs.get(index).map_or(text.len(), |(at, _)| *at);
    let start = int(&text[..end(0)]);
    let terms = signs.iter().enumerate().map(|(index, (at, sign))| {
        let step = int(&text[at + 1..end(index + 1)]);
        match sign {
            '+' => step * t,
            '-' => -step * t,
            _ => step * (5 - (t % 10 - 5).abs()) / 5,
        }
    });
    start + terms.sum::<i64>()
}

/// A number that may be left out.
fn get(table: &Table, key: &str, t: i64) -> Option<i64> {
    table.get(key).map(|value| number(value, t))
}

fn id_of(table: &Table, key: &str) -> Option<EntryId> {
    let text = table.get(key)?.as_str().unwrap_or_else(|| panic!("{key} is an id"));
    Some(EntryId::parse(text.as_bytes()).unwrap_or_else(|| panic!("{key} is an id: {text}")))
}

/// The names of a table: `repeat` of them, with `#` replaced by the number.
fn repeated(name: &str, table: &Table, t: i64) -> Vec<Name> {
    match get(table, "repeat", t) {
        None => vec![Name::from(name)],
        Some(n) => (1..=n).map(|n| Name::from(name.replace('#', &n.to_string()).as_str())).collect(),
    }
}

fn rows_of<'a>(table: &'a Table, key: &str) -> impl Iterator<Item = &'a Table> {
    table.get(key).map_or(&[][..], |rows| rows.as_array().unwrap()).iter().map(|row| row.as_table().unwrap())
}

/// One second of a phase.
pub struct Second {
    t: i64,
    version: (u32, u32),
}

/// The sample of one second.
pub fn of(phase: &Table, keys: &[Name], t: i64, at: Mono) -> Sample {
    let server = phase.get("server").map_or("redis 8.0.0", |server| server.as_str().unwrap());
    let (flavor, version) = server.split_once(' ').expect("flavor and version");
    let server = ServerFacts { flavor: flavor.to_owned(), version: version.to_owned(), ..ServerFacts::default() };
    let compat = if flavor == "valkey" { (7, 2) } else { server.version_numbers().expect("a version") };
    let second = Second { t, version: compat };
    let there = |key: &Name| streams(phase).iter().find(|(name, _)| Name::from(name.as_str()) == *key);
    let samples = keys.iter().map(|key| match there(key) {
        Some((_, table)) => second.stream(key, table.as_table().unwrap()),
        None => missing(key),
    });
    Sample {
        at,
        time_ms: get(phase, "clock", t),
        streams: samples.collect(),
        server: Some(server),
        conditions: vec![condition(phase, t)],
        ..Sample::default()
    }
}

/// What INFO and CONFIG say.
fn condition(phase: &Table, t: i64) -> ConditionSample {
    let fine = ConditionSample::fine();
    let Some(info) = phase.get("info").map(|info| info.as_table().unwrap()) else { return fine };
    let words = ["used", "maxmemory", "policy", "evicted", "append_failed", "save_failed", "role", "good_replicas"];
    let more = ["stops_after_failed_save", "least_replicas", "databases", "expiring"];
    only(info, "info", &[&words[..], &more[..]].concat());
    let text = |key: &str, default: &str| info.get(key).map_or(default, |text| text.as_str().unwrap()).to_owned();
    let is = |key: &str| info.get(key).is_some_and(|value| value.as_bool().unwrap());
    let databases = info.get("databases").and_then(Value::as_table).into_iter().flatten();
    let expiring = get(info, "expiring", t).unwrap_or(0);
    let database = |(number, keys): (&String, &Value)| Database {
        number: number.parse().unwrap(),
        keys: self::number(keys, t),
        expiring,
    };
    let rules = get(info, "least_replicas", t).or(info.get("stops_after_failed_save").map(|_| 0));
    ConditionSample {
        memory: Some(Ok(Memory {
            counted_bytes: get(info, "used", t).unwrap_or(1),
            limit_bytes: get(info, "maxmemory", t).unwrap_or(0),
            policy: text("policy", "noeviction"),
        })),
        persistence: Some(Ok(Persistence { append_failed: is("append_failed"), save_failed: is("save_failed") })),
        databases: Some(Ok(databases.map(database).collect())),
        replication: Some(Ok(Replication {
            is_primary: text("role", "master") == "master",
            good_replicas: get(info, "good_replicas", t),
        })),
        evicted: Some(Ok(get(info, "evicted", t).unwrap_or(0))),
        rules: rules.map(|least_replicas| {
            Ok(WriteRules { stops_after_failed_save: is("stops_after_failed_save"), least_replicas })
        }),
        ..fine
    }
}

fn missing(key: &Name) -> StreamSample {
    StreamSample { facts: Err(Fault::Missing), groups: Err(Fault::Missing), ..StreamSample::unasked(key.clone()) }
}

impl Second {
    fn since<T>(&self, version: (u32, u32), value: Known<T>) -> Known<T> {
        if self.version >= version { value } else { Known::Unsupported }
    }

    fn stream(&self, key: &Name, table: &Table) -> StreamSample {
        let words = [
            "added",
            "length",
            "epoch",
            "first",
            "last",
            "last_generated",
            "max_deleted",
            "group",
            "missing",
            "ttl",
            "duplicates",
        ];
        only(table, &key.to_string(), &words);
        if table.get("missing").is_some_and(|missing| missing.as_bool().unwrap()) {
            return missing(key);
        }
        let added = get(table, "added", self.t).unwrap_or(0);
        let length = get(table, "length", self.t).unwrap_or(0).min(added);
        let epoch = get(table, "epoch", self.t).unwrap_or(0);
        let id = |n: i64| EntryId::new((epoch + n).max(0) as u64, 0);
        let newest = if added > 0 { id(added) } else { EntryId::MIN };
        let there = |id: EntryId| (length > 0).then_some(id);
        let groups = table.get("group").and_then(Value::as_table).into_iter().flatten();
        let groups: Vec<(GroupFacts, GroupDetail)> = groups
            .flat_map(|(name, table)| {
                let table = table.as_table().unwrap();
                repeated(name, table, self.t).into_iter().map(move |name| (name, table))
            })
            .map(|(name, table)| self.group(name, table, added, &id))
            .collect();
        let facts = StreamFacts {
            length,
            first: id_of(table, "first").or_else(|| there(id(added - length + 1))),
            last: id_of(table, "last").or_else(|| there(newest)),
            last_generated: id_of(table, "last_generated").or_else(|| id_of(table, "last")).unwrap_or(newest),
            entries_added: self.since((7, 0), Known::Is(added)),
            max_deleted: self.since((7, 0), Known::Is(id_of(table, "max_deleted").unwrap_or(EntryId::MIN))),
            duplicates: self.since((8, 6), get(table, "duplicates", self.t).map_or(Known::Undetermined, Known::Is)),
            ..StreamFacts::empty()
        };
        let (groups, details): (Vec<_>, Vec<_>) = groups.into_iter().unzip();
        let ttl_ms = Some(Ok(get(table, "ttl", self.t)));
        StreamSample { facts: Ok(facts), groups: Ok(groups), ttl_ms, details, ..StreamSample::unasked(key.clone()) }
    }

    fn counter(&self, table: &Table, key: &str, default: Option<i64>) -> Known<i64> {
        let value = match table.get(key) {
            Some(Value::String(nil)) if nil == "nil" => Known::Undetermined,
            Some(value) => Known::Is(number(value, self.t)),
            None => default.map_or(Known::Undetermined, Known::Is),
        };
        self.since((7, 0), value)
    }

    fn group(&self, name: Name, table: &Table, added: i64, id: &impl Fn(i64) -> EntryId) -> (GroupFacts, GroupDetail) {
        let words = ["cursor", "cursor_id", "read", "lag", "pending", "consumers", "pel", "repeat", "given"];
        only(table, &name.to_string(), &words);
        let consumers = self.consumers(table);
        let pending = get(table, "pending", self.t).unwrap_or(0);
        let read = self.counter(table, "read", None);
        let cursor =
            || get(table, "cursor", self.t).map_or(EntryId::MIN, |n| if n == 0 { EntryId::MIN } else { id(n) });
        let facts = GroupFacts {
            consumers: Known::Is(consumers.len() as i64),
            pending: Known::Is(pending),
            cursor: id_of(table, "cursor_id").unwrap_or_else(cursor),
            entries_read: read,
            reported_lag: self.counter(table, "lag", read.value().map(|read| added - read)),
            ..GroupFacts::fresh(name.clone())
        };
        let rows = self.rows(table, id);
        // fewer rows than pending entries stand for a page that was full; no rows at all stand for a page that was not requested
        let count = if (rows.len() as i64) < pending { rows.len() } else { 1000 };
        let page = PageRequest { from: EntryId::MIN, to: EntryId::MAX, count, consumer: None };
        let pages = if count == 0 { Vec::new() } else { vec![(page, Ok(rows))] };
        (facts, GroupDetail { name, consumers: Some(Ok(consumers)), summary: None, pages })
    }

    fn consumers(&self, group: &Table) -> Vec<ConsumerFacts> {
        let consumers = rows_of(group, "consumers").flat_map(|table| {
            let name = table["name"].as_str().unwrap();
            only(table, name, &["name", "pending", "idle", "inactive", "repeat"]);
            let idle_ms = get(table, "idle", self.t).unwrap_or(0);
            let inactive = match table.get("inactive") {
                Some(Value::String(never)) if never == "never" => -1,
                Some(value) => number(value, self.t),
                None => idle_ms,
            };
            let pending = get(table, "pending", self.t).unwrap_or(0);
            let inactive_ms = self.since((7, 2), Known::Is(inactive));
            repeated(name, table, self.t).into_iter().map(move |name| ConsumerFacts {
                pending,
                idle_ms,
                inactive_ms,
                ..ConsumerFacts::fresh(name)
            })
        });
        consumers.collect()
    }

    fn rows(&self, group: &Table, id: &impl Fn(i64) -> EntryId) -> Vec<PendingRow> {
        let mut rows: Vec<PendingRow> = rows_of(group, "pel")
            .flat_map(|row| {
                only(row, "pel", &["ids", "owner", "idle", "deliveries"]);
                let (from, to) = row["ids"].as_str().unwrap().split_once("..").expect("FROM..TO");
                let owner = row.get("owner").map(|owner| Name::from(owner.as_str().unwrap()));
                let idle_ms = owner.as_ref().map(|_| get(row, "idle", self.t).unwrap_or(0));
                let deliveries = get(row, "deliveries", self.t).unwrap_or(1);
                let row = move |n| PendingRow { id: id(n), owner: owner.clone(), idle_ms, deliveries };
                (expression(from, self.t)..=expression(to, self.t)).map(row)
            })
            .collect();
        rows.sort_by_key(|row| row.id);
        rows
    }
}
