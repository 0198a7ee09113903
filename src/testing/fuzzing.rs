//! Bodies of the fuzz targets in `fuzz/`. Whatever bytes come in, no reply made from them may cause a panic or a number that a server
//! cannot have meant. The test suite runs the same bodies on a fixed list of inputs.

use crate::{
    app::{App, Place, screen::Screen},
    core::{
        id::EntryId,
        known::Known,
        model::ServerFacts,
        name::Name,
        sample::{GroupDetail, GroupRequest, Request, Sample, StreamRequest, StreamSample},
        store::{Focus, Reading, Settings, Store},
        time::{Mono, Now},
    },
    report,
    source::decode,
};
use redis::{PushKind, Value, VerbatimFormat};

/// Words with a meaning in a reply: fields, ids, and texts that were seen in place of a value.
pub const WORDS: [&str; 30] = [
    "length",
    "last-generated-id",
    "first-entry",
    "last-entry",
    "entries-added",
    "max-deleted-entry-id",
    "groups",
    "name",
    "consumers",
    "pending",
    "last-delivered-id",
    "entries-read",
    "lag",
    "idle",
    "inactive",
    "g",
    "c",
    "",
    "null",
    "(empty array)",
    "0-0",
    "1-0",
    "2-0",
    "5-18446744073709551615",
    "18446744073709551615-18446744073709551615",
    "0",
    "-7",
    "3",
    "18446744073709551611",
    "1727818077688",
];
const NUMBERS: [i64; 11] = [0, 1, 2, 3, 5, -1, -89, i64::MIN, i64::MAX, i64::MAX - 1, 1_727_818_077_688];
const DEEPEST: usize = 5;

type Make<'a> = fn(&mut Bytes<'a>) -> Value;

/// Takes decisions from bytes; when they are used up, every decision is 0.
#[derive(Debug)]
struct Bytes<'a>(&'a [u8]);

impl<'a> Bytes<'a> {
    fn next(&mut self) -> u8 {
        let Some((first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        *first
    }

    fn coin(&mut self) -> bool {
        self.below(2) == 0
    }

    fn below(&mut self, limit: usize) -> usize {
        usize::from(self.next()) % limit.max(1)
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }

    fn word(&mut self) -> &'static str {
        self.pick(&WORDS)
    }

    fn number(&mut self) -> i64 {
        self.pick(&NUMBERS)
    }

    fn raw(&mut self) -> Vec<u8> {
        (0..self.below(9)).map(|_| self.next()).collect()
    }

    /// Any reply at all.
    fn tree(&mut self, depth: usize) -> Value {
        let kinds = if depth < DEEPEST { 18 } else { 12 };
        let many = |this: &mut Self| (0..this.below(7)).map(|_| this.tree(depth + 1)).collect::<Vec<_>>();
        match self.below(kinds) {
            0 => Value::Nil,
            1 => Value::Int(self.number()),
            2 => Value::Int(i64::from(self.next())),
            3 | 4 => Value::BulkString(self.word().into()),
            5 => Value::BulkString(self.raw()),
            6 => Value::SimpleString(self.word().to_owned()),
            7 => Value::Double(self.pick(&[0.0, 2.0, -1.0, 1.5, 1e300, f64::NAN, f64::INFINITY])),
            8 => Value::Boolean(self.coin()),
            9 => Value::BigNumber(self.word().into()),
            10 => Value::VerbatimString { format: VerbatimFormat::Text, text: self.word().to_owned() },
            11 => self.error(),
            12 | 13 => Value::Array(many(self)),
            14 => Value::Set(many(self)),
            15 => Value::Map((0..self.below(7)).map(|_| (self.tree(depth + 1), self.tree(depth + 1))).collect()),
            16 => Value::Attribute { data: Box::new(self.tree(depth + 1)), attributes: Vec::new() },
            _ => Value::Push { kind: PushKind::Other("x".to_owned()), data: many(self) },
        }
    }

    fn error(&mut self) -> Value {
        let text = self.pick(&["ERR no such key", "NOPERM", "NOGROUP x y", "WRONGTYPE x", "LOADING x", "ODD", ""]);
        redis::parse_redis_value(format!("-{text}\r\n").as_bytes()).unwrap_or(Value::Nil)
    }

    /// Mostly the usual value, sometimes anything.
    fn or_any(&mut self, usual: impl FnOnce(&mut Self) -> Value) -> Value {
        if self.below(24) == 23 { self.tree(1) } else { usual(self) }
    }

    fn count(&mut self) -> Value {
        self.or_any(|this| match this.below(8) {
            7 => Value::Int(this.number()),
            6 => Value::BulkString(this.word().into()),
            n => Value::Int(n as i64),
        })
    }

    fn id(&mut self) -> Value {
        self.or_any(|this| Value::BulkString(format!("{}-{}", this.below(9), this.below(2)).into()))
    }

    fn name(&mut self) -> Value {
        self.or_any(|this| Value::BulkString(this.pick(&["g", "c", "h", "", "12"]).into()))
    }

    fn list(&mut self, of: impl Fn(&mut Self) -> Value) -> Value {
        self.or_any(|this| Value::Array((0..this.below(6)).map(|_| of(this)).collect()))
    }

    fn entry(&mut self) -> Value {
        self.or_any(|this| Value::Array(vec![this.id(), Value::Array(vec![this.name(), this.name()])]))
    }

    fn fields(&mut self, of: &[(&str, Make<'a>)]) -> Value {
        let leave_out = self.below(40);
        let pairs: Vec<(Value, Value)> = of
            .iter()
            .enumerate()
            .filter(|(index, _)| *index != leave_out)
            .map(|(_, (field, value))| (Value::BulkString((*field).into()), value(self)))
            .collect();
        if self.coin() {
            return Value::Map(pairs);
        }
        Value::Array(pairs.into_iter().flat_map(|(field, value)| [field, value]).collect())
    }

    fn stream(&mut self) -> Value {
        self.fields(&[
            ("length", Self::count),
            ("last-generated-id", Self::id),
            ("max-deleted-entry-id", Self::id),
            ("entries-added", Self::count),
            ("first-entry", Self::entry),
            ("last-entry", Self::entry),
        ])
    }

    fn group(&mut self) -> Value {
        self.fields(&[
            ("name", Self::name),
            ("consumers", Self::count),
            ("pending", Self::count),
            ("last-delivered-id", Self::id),
            ("entries-read", Self::count),
            ("lag", Self::count),
        ])
    }

    fn consumer(&mut self) -> Value {
        self.fields(&[("name", Self::name), ("pending", Self::count), ("idle", Self::count), ("inactive", Self::count)])
    }

    fn row(&mut self) -> Value {
        self.or_any(|this| Value::Array(vec![this.id(), this.name(), this.count(), this.count()]))
    }

    fn summary(&mut self) -> Value {
        let holders = |this: &mut Self| this.list(|this| Value::Array(vec![this.name(), this.count()]));
        self.or_any(|this| Value::Array(vec![this.count(), this.id(), this.id(), holders(this)]))
    }
}

/// Decodes anything as every kind of reply.
///
/// # Panics
/// When a decoder panics, or returns a number that cannot be true.
pub fn decode(bytes: &[u8]) {
    let mut bytes = Bytes(bytes);
    let value = match bytes.below(7) {
        0 => redis::parse_redis_value(bytes.0).unwrap_or(Value::Nil),
        1 => bytes.tree(0),
        2 => bytes.stream(),
        3 => bytes.list(Bytes::group),
        4 => bytes.list(Bytes::consumer),
        5 => bytes.list(Bytes::row),
        _ => bytes.summary(),
    };
    if let Ok(facts) = decode::stream(&value) {
        assert!(facts.length >= 0 && facts.entries_added.value().is_none_or(|n| n >= 0), "{value:?}");
    }
    for group in decode::groups(&value).iter().flatten() {
        assert!([group.pending, group.consumers].into_iter().filter_map(Known::value).all(|n| n >= 0), "{value:?}");
    }
    for consumer in decode::consumers(&value).iter().flatten() {
        assert!(consumer.pending >= 0 && consumer.idle_ms >= 0, "{value:?}");
    }
    if let Ok(summary) = decode::summary(&value) {
        assert!((0..=summary.total).contains(&summary.unowned()), "{value:?}");
    }
    let _ = (decode::pending(&value), decode::range_ids(&value, true), decode::entry(&value), decode::scan(&value));
    let _ = (decode::time_ms(&value), decode::text(&value), decode::client_names(&value), decode::weight(&value));
    let _ = (decode::field_text(&value, "server"), decode::bare(value));
}

fn answer(stream: &StreamRequest, bytes: &mut Bytes) -> StreamSample {
    let detail = |group: &GroupRequest, bytes: &mut Bytes| GroupDetail {
        name: group.name.clone(),
        consumers: group.consumers.then(|| decode::consumers(&bytes.list(Bytes::consumer))),
        summary: group.summary.then(|| decode::summary(&bytes.summary())),
        pages: group.pages.iter().map(|page| (page.clone(), decode::pending(&bytes.list(Bytes::row)))).collect(),
    };
    StreamSample {
        facts: decode::stream(&bytes.stream()),
        groups: decode::groups(&bytes.list(Bytes::group)),
        consistent: bytes.below(4) > 0,
        details: stream.groups.iter().map(|group| detail(group, bytes)).collect(),
        ranges: stream
            .ranges
            .iter()
            .map(|range| (*range, decode::range_ids(&bytes.list(Bytes::entry), range.backward)))
            .collect(),
        ..StreamSample::unasked(stream.key.clone())
    }
}

fn sample(request: &Request, bytes: &mut Bytes, at: Mono) -> Sample {
    let version = bytes.pick(&["6.2.5", "7.0.15", "8.2.3", ""]);
    let flavor = bytes.pick(&["redis", "valkey", "unknown"]);
    let server = ServerFacts { flavor: flavor.to_owned(), version: version.to_owned(), ..ServerFacts::default() };
    Sample {
        at,
        time_ms: decode::time_ms(&Value::Array(vec![bytes.count(), bytes.count()])),
        streams: request.streams.iter().map(|stream| answer(stream, bytes)).collect(),
        server: Some(server),
        client_names: request.clients.then(|| decode::client_names(&bytes.tree(0))),
        ..Sample::default()
    }
}

/// Folds a few ticks of anything, and builds the report after each.
///
/// # Panics
/// When something panics, or a number is reported that cannot be true.
pub fn fold(bytes: &[u8]) {
    let mut bytes = Bytes(bytes);
    let settings = Settings { keys: vec![Name::from("s")], ..Settings::default() };
    let mut app = App::new(settings, "unix:/s".to_owned(), String::new(), 1000);
    app.size = (120, 40);
    let mut at = Mono(0);
    for _ in 0..6 {
        at = Mono(at.0 + bytes.pick(&[0, 1, 100, 1000, 60_000, u64::from(u32::MAX)]));
        let full = bytes.coin();
        let store = &app.watch.store;
        let request = store.next_request(&if full { Focus::All } else { on_screen(store) }, at);
        let sample = sample(&request, &mut bytes, at);
        let now = Now { mono: at, wall_ms: 1_793_600_000_000 };
        app.watch.take(sample, now, if full { Reading::Full } else { Reading::Tick });
        let later = Now { mono: Mono(at.0 + 700), ..now };
        check(&report::json(&app.watch, "unix:/s", later));
        let store = &app.watch.store;
        let _ = (report::text(&app.watch, "unix:/s", later), store.wants_more(1));
        for (stream, group) in store.groups() {
            let _ = (group.cells(stream), group.unowned(), group.rates(stream).drain_ms(group.lag.value));
            let unread = group.facts.entries_read == Known::Undetermined;
            assert!(!(unread && group.facts.entries_read_known().is_some()));
        }
        app.place = match on_screen(&app.watch.store) {
            Focus::Group { key, group, .. } if !full => Place::Group { key, group },
            _ => Place::Overview,
        };
        let _ = Screen::of(&app, later, "12:00:00");
    }
}

fn on_screen(store: &Store) -> Focus {
    store.groups().next().map_or(Focus::None, |(stream, group)| Focus::Group {
        key: stream.key.clone(),
        group: group.name().clone(),
        open: Vec::new(),
        strip_at: Some(EntryId::new(3, 0)),
    })
}

/// Counts and ages are never negative, whatever a server says. What the server said is kept beside them, as `reported`.
fn check(said: &serde_json::Value) {
    match said {
        serde_json::Value::Array(items) => items.iter().for_each(check),
        serde_json::Value::Object(fields) => {
            for (field, value) in fields.iter().filter(|(field, _)| *field != "reported" && *field != "evidence") {
                assert!(value.as_i64().is_none_or(|n| n >= 0), "{field} is {value}");
                check(value);
            }
        }
        _ => {}
    }
}
