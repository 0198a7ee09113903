//! Symptoms told as scenarios: `scenarios/*.txt` say second by second what a server shows, and what pelwatch must say of it.
//!
//! A scenario is a row of phases. `for 60 s` begins one; the lines below it hold until the next: `NAME A+B` is a number that is
//! A at the beginning of the phase and grows by B a second (`A-B` shrinks, `A~B` swings up by B and back every
//! ten seconds, `A+B~C` does both).
//! Entries have the ids 1-0, 2-0, …; those retained are the last `length` of `added`.
//!
//! - `added`, `length`, `cursor`, `read` (or `read nil`, `read none`), `lag` (or `lag nil`; by default added - read), `pending`;
//! - `consumer NAME PENDING idle MS`, `pel FROM..TO OWNER idle MS xDELIVERIES` (all lines of one list; FROM and TO are numbers as
//!   above);
//! - `then ID LEVEL [CONSUMER]`, `then not ID`, `then waiting ID`, `then none`: at the end of the phase;
//! - `throughout none`, `throughout not ID`: at each second of it.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::fs;

use pelwatch::core::id::EntryId;
use pelwatch::core::known::Known;
use pelwatch::core::model::{ConsumerFacts, GroupFacts, PendingRow, ServerFacts, StreamFacts};
use pelwatch::core::name::Name;
use pelwatch::core::sample::{GroupDetail, PageRequest, Sample, StreamSample};
use pelwatch::core::store::{GroupState, Settings, Store};
use pelwatch::core::time::{Mono, Now};

/// Evaluates `A` and what follows it, `+B`, `-B` or `~B`, after so many seconds.
fn number(text: &str, t: i64) -> i64 {
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

fn id(n: i64) -> EntryId {
    EntryId::new(n.max(0) as u64, 0)
}

/// The lines of one phase.
#[derive(Default)]
struct Phase<'a> {
    seconds: i64,
    lines: Vec<Vec<&'a str>>,
}

impl Phase<'_> {
    fn word(&self, name: &str) -> Option<&str> {
        self.lines.iter().find(|line| line[0] == name).map(|line| line[1])
    }

    fn value(&self, name: &str, t: i64) -> i64 {
        number(self.word(name).unwrap_or("0"), t)
    }

    fn counter(&self, name: &str, t: i64, default: Option<i64>) -> Known<i64> {
        match self.word(name) {
            Some("nil") => Known::Undetermined,
            Some("none") => Known::Unsupported,
            Some(text) => Known::Is(number(text, t)),
            None => default.map_or(Known::Undetermined, Known::Is),
        }
    }

    fn rows(&self, t: i64) -> Vec<PendingRow> {
        let lines = self.lines.iter().filter(|line| line[0] == "pel");
        let mut rows: Vec<PendingRow> = lines
            .flat_map(|line| {
                let [_, range, owner, "idle", idle, deliveries] = line[..] else {
                    panic!("pel FROM..TO OWNER idle MS xN: {line:?}")
                };
                let (from, to) = range.split_once("..").unwrap();
                let row = move |n| PendingRow {
                    id: id(n),
                    owner: Some(Name::from(owner)),
                    idle_ms: Some(number(idle, t)),
                    deliveries: number(&deliveries[1..], t),
                };
                (number(from, t)..=number(to, t)).map(row)
            })
            .collect();
        rows.sort_by_key(|row| row.id);
        rows
    }

    fn consumers(&self, t: i64) -> Vec<ConsumerFacts> {
        let lines = self.lines.iter().filter(|line| line[0] == "consumer");
        let consumers = lines.map(|line| {
            let [_, name, pending, "idle", idle] = line[..] else { panic!("consumer NAME PENDING idle MS: {line:?}") };
            ConsumerFacts {
                name: Name::from(name),
                pending: number(pending, t),
                idle_ms: number(idle, t),
                inactive_ms: Known::Is(number(idle, t)),
            }
        });
        consumers.collect()
    }

    fn sample(&self, t: i64, at: Mono) -> Sample {
        let (added, length) = (self.value("added", t), self.value("length", t));
        let old = self.word("read") == Some("none");
        let first = (length > 0).then(|| id(added - length + 1));
        let read = self.counter("read", t, None);
        let group = GroupFacts {
            name: Name::from("g"),
            consumers: self.consumers(t).len() as i64,
            pending: self.value("pending", t),
            cursor: id(self.value("cursor", t)),
            entries_read: read,
            reported_lag: match read {
                Known::Is(read) => self.counter("lag", t, Some(added - read)),
                Known::Unsupported => Known::Unsupported,
                _ => self.counter("lag", t, None),
            },
        };
        let facts = StreamFacts {
            length,
            first,
            last: (length > 0).then(|| id(added)),
            last_generated: id(added),
            entries_added: if old { Known::Unsupported } else { Known::Is(added) },
            max_deleted: if old { Known::Unsupported } else { Known::Is(EntryId::MIN) },
            groups: 1,
            reply_bytes: 500,
        };
        let all = PageRequest { from: EntryId::MIN, to: EntryId::MAX, count: 1000, consumer: None };
        let detail = GroupDetail {
            name: Name::from("g"),
            consumers: Some(Ok(self.consumers(t))),
            summary: None,
            pages: vec![(all, Ok(self.rows(t)))],
        };
        let stream = StreamSample {
            origin: None,
            key: Name::from("k"),
            facts: Ok(facts),
            groups: Ok(vec![group]),
            consistent: true,
            ranges: Vec::new(),
            details: vec![detail],
        };
        Sample {
            at,
            streams: vec![stream],
            server: Some(ServerFacts {
                flavor: "redis".to_owned(),
                version: "8.0.0".to_owned(),
                ..ServerFacts::default()
            }),
            ..Sample::default()
        }
    }
}

fn phases(text: &str) -> Vec<Phase<'_>> {
    let mut phases: Vec<Phase> = Vec::new();
    for line in text.lines() {
        let line = line.split('#').next().unwrap_or_default();
        let words: Vec<&str> = line.split_whitespace().collect();
        match words[..] {
            [] => {}
            ["for", seconds, "s"] => phases.push(Phase { seconds: number(seconds, 0), ..Phase::default() }),
            _ => phases.last_mut().expect("'for N s' first").lines.push(words),
        }
    }
    phases
}

/// Holds one `then` or `throughout` against what was found.
fn expectation(words: &[&str], group: &GroupState) -> Result<(), String> {
    let found = &group.judgement.findings;
    let fired: Vec<String> =
        found.iter().map(|finding| format!("{} {}: {}", finding.id, finding.level.word(), finding.text)).collect();
    let right = match *words {
        ["none"] => found.is_empty(),
        ["not", id] => found.iter().all(|finding| finding.id != id),
        ["waiting", id] => group.judgement.waiting.contains(&id),
        [id, level] => found.iter().any(|finding| finding.id == id && finding.level.word() == level),
        [id, level, consumer] => found.iter().any(|finding| {
            finding.id == id && finding.level.word() == level && finding.consumer == Some(Name::from(consumer))
        }),
        _ => return Err("unknown expectation".to_owned()),
    };
    if right { Ok(()) } else { Err(format!("found {fired:#?}, waiting {:?}", group.judgement.waiting)) }
}

fn play(name: &str, text: &str) {
    let mut store = Store::new(Settings { keys: vec![Name::from("k")], ..Settings::default() });
    let mut second = 0;
    for (number, phase) in phases(text).iter().enumerate() {
        for t in 0..phase.seconds {
            let at = Mono(second * 1000);
            let now = Now { mono: at, wall_ms: 0 };
            store.fold(phase.sample(t, at), None, now, false);
            second += 1;
            let (_, group) = store.group(&Name::from("k"), &Name::from("g")).unwrap();
            let last = t + 1 == phase.seconds;
            for line in &phase.lines {
                let due = line[0] == "throughout" || line[0] == "then" && last;
                if let Err(what) = if due { expectation(&line[1..], group) } else { Ok(()) } {
                    let phase = number + 1;
                    panic!("{name}, phase {phase}, second {t}: '{}': {what}", line.join(" "));
                }
            }
        }
    }
}

#[test]
fn every_scenario_is_judged_as_it_says() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/scenarios");
    let mut paths: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    assert!(paths.len() >= 10);
    for path in paths {
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        println!("{name}");
        play(&name, &fs::read_to_string(&path).unwrap());
    }
}
