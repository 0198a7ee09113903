//! The lag matrix (`tests/data/lag-matrix.tsv`): 90 situations in which servers report a right lag, a wrong lag or none. They are
//! replayed on every available server and watched by the program's own code. No wrong number may look exact.
//!
//! `PELWATCH_RECORD=1 cargo test --test server lag_matrix` writes the servers' replies into `tests/data/lag-replies.jsonl`. The second test
//! replays them without a server.

use std::{cell::RefCell, collections::BTreeMap, env, fs};

use crate::live::{DEPTHS, Depth, Eye, Truth, Watcher, judge};
use pelwatch::{
    core::{
        id::EntryId,
        known::Known,
        lag::{Count, Inputs, resolve},
        model::{GroupFacts, LagFamily, ServerFacts, StreamFacts},
    },
    testing::{FoundServer, TestServer, each_server},
};
use serde_json::{Value as Json, json};

const MATRIX: &str = include_str!("../data/lag-matrix.tsv");
const REPLIES: &str = "tests/data/lag-replies.jsonl";

/// Rows in which someone set a counter, or moved the cursor past it, to a wrong value that stays within bounds. No rule can detect that,
/// only a count.
const SET_BY_HAND: [&str; 3] = ["14", "74", "95"];

struct Row {
    number: &'static str,
    steps: Vec<&'static str>,
    waiting: i64,
    reports: &'static str,
}

fn rows() -> Vec<Row> {
    let lines = MATRIX.lines().filter(|line| !line.starts_with('#'));
    let rows = lines.map(|line| {
        let columns: Vec<&str> = line.split('\t').collect();
        let [number, _, steps, waiting, reports] = columns[..] else { panic!("five columns: {line}") };
        Row { number, steps: steps.split("; ").collect(), waiting: waiting.parse().unwrap(), reports }
    });
    rows.collect()
}

impl Row {
    fn runs_on(&self, found: &FoundServer) -> bool {
        let new = ["ENTRIESREAD", "ENTRIESADDED", "COPY"];
        let is_new = |step: &&str| new.iter().any(|word| step.contains(word));
        found.compat() >= (7, 0, 0) || !self.steps.iter().any(is_new)
    }

    /// The entries-read and lag that the matrix has for this server; `None` if it was not measured.
    fn measured(&self, found: &FoundServer) -> Option<&'static str> {
        let letter = if found.flavor == "valkey" { 'v' } else { 'r' };
        let (major, minor, patch) = found.version;
        let name = format!("{letter}{major}.{minor}.{patch}");
        self.reports.split(" | ").find_map(|report| match report.split_once('@') {
            None => Some(report),
            Some((report, servers)) => servers.split(',').any(|server| server == name).then_some(report),
        })
    }
}

fn perform(server: &TestServer, step: &str) {
    let words: Vec<&str> = step.split(' ').collect();
    match words[..] {
        ["A", from, to] => {
            for n in from.parse::<u64>().unwrap()..=to.parse().unwrap() {
                server.run(&format!("XADD k {n}-0 f v"));
            }
        }
        ["R", count] => {
            server.run(&format!("XREADGROUP GROUP g c COUNT {count} STREAMS k >"));
        }
        ["R", count, "NOACK"] => {
            server.run(&format!("XREADGROUP GROUP g c COUNT {count} NOACK STREAMS k >"));
        }
        _ => {
            server.run(step);
        }
    }
}

fn known<T>(facts: &mut Json, name: &str, value: Known<T>, write: impl Fn(T) -> Json) {
    match value {
        Known::Is(value) => facts[name] = write(value),
        Known::Undetermined => facts[name] = Json::Null,
        _ => {}
    }
}

/// The facts of a reply. A missing field is one that the server does not have; null is its nil.
fn recorded(stream: &StreamFacts, group: &GroupFacts) -> (Json, Json) {
    let id = |id: EntryId| json!(id.to_string());
    let mut s = json!({
        "length": stream.length,
        "first": stream.first.map(id),
        "last": stream.last.map(id),
        "last_generated": id(stream.last_generated),
    });
    known(&mut s, "entries_added", stream.entries_added, |n| json!(n));
    known(&mut s, "max_deleted", stream.max_deleted, id);
    let mut g = json!({ "cursor": id(group.cursor) });
    known(&mut g, "entries_read", group.entries_read, |n| json!(n));
    known(&mut g, "lag", group.reported_lag, |n| json!(n));
    (s, g)
}

/// Collects the servers' replies, with one line for all servers that reply alike.
#[derive(Default)]
struct Recorder(BTreeMap<(&'static str, String), Vec<String>>);

impl Recorder {
    fn add(&mut self, row: &Row, found: &FoundServer, watcher: &Watcher) {
        let (stream, group) = watcher.group("g").unwrap();
        let (stream, group) = recorded(stream.facts.value.as_ref().unwrap(), &group.facts);
        let line = json!({ "row": row.number, "waiting": row.waiting, "stream": stream, "group": group });
        let servers = self.0.entry((row.number, line.to_string())).or_default();
        servers.push(found.to_string());
    }

    fn write(self) {
        let lines = self.0.into_iter().map(|((_, line), servers)| {
            let mut line: Json = serde_json::from_str(&line).unwrap();
            line["servers"] = json!(servers);
            line.to_string() + "\n"
        });
        fs::write(REPLIES, lines.collect::<String>()).unwrap();
    }
}

#[test]
fn no_lag_is_wrong_in_any_row_on_any_server() {
    let recorder = RefCell::new(Recorder::default());
    let wrong = RefCell::new(Vec::new());
    each_server(|server, found| {
        let mut eye = Eye::on(server);
        let family = eye.link.server().lag_family();
        for row in rows().iter().filter(|row| row.runs_on(found)) {
            server.run("FLUSHALL");
            let check = |watcher: &Watcher, truth: &Truth, when: &str| {
                let lag = watcher.group("g").expect("the group is there").1.lag;
                if let Err(what) = judge(&lag, truth, family, watcher.depth != Depth::Overview) {
                    let by_hand = watcher.depth == Depth::Overview && SET_BY_HAND.contains(&row.number);
                    if !by_hand {
                        let depth = watcher.depth;
                        wrong
                            .borrow_mut()
                            .push(format!("{found} row {} {when} {depth:?}: {what}: {lag:?}, {truth:?}", row.number));
                    }
                }
            };
            // watchers that were there from the start and saw every step
            let mut watchers = DEPTHS.map(|depth| Watcher::new(depth, &eye));
            for step in &row.steps {
                perform(server, step);
                for watcher in &mut watchers {
                    watcher.look(&mut eye);
                    if watcher.depth == Depth::Group {
                        // the tick after a gap was noticed asks for the missing data
                        watcher.look(&mut eye);
                    }
                    if let Some(truth) = Truth::ask(server, found, "g") {
                        check(watcher, &truth, &format!("after '{step}'"));
                    }
                }
            }
            // watchers that come last
            let truth = Truth::ask(server, found, "g").expect("the group is there");
            assert_eq!(truth.waiting, row.waiting, "{found} row {}", row.number);
            for depth in DEPTHS {
                let mut watcher = Watcher::new(depth, &eye);
                (0..2).for_each(|_| watcher.look(&mut eye));
                check(&watcher, &truth, "come last");
                if depth == Depth::Overview {
                    recorder.borrow_mut().add(row, found, &watcher);
                }
            }
            let fields = crate::live::group_fields(server, "g").unwrap();
            let word = |name| crate::live::number(&fields, name).map_or_else(|| "None".to_owned(), |n| n.to_string());
            let report = format!("{}/{}", word("entries-read"), word("lag"));
            if let Some(measured) = row.measured(found).filter(|_| truth.has_lag) {
                assert_eq!(report, measured, "{found} row {}", row.number);
            }
        }
    });
    if env::var_os("PELWATCH_RECORD").is_some() {
        recorder.into_inner().write();
    }
    let wrong = wrong.into_inner();
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

fn read_known<T>(facts: &Json, name: &str, read: impl Fn(&Json) -> Option<T>) -> Known<T> {
    match facts.get(name) {
        None => Known::Unsupported,
        Some(value) => read(value).map_or(Known::Undetermined, Known::Is),
    }
}

fn read_id(value: &Json) -> Option<EntryId> {
    EntryId::parse(value.as_str()?.as_bytes())
}

fn read_facts(line: &Json) -> (StreamFacts, GroupFacts) {
    let (s, g) = (&line["stream"], &line["group"]);
    let stream = StreamFacts {
        length: s["length"].as_i64().unwrap(),
        first: read_id(&s["first"]),
        last: read_id(&s["last"]),
        last_generated: read_id(&s["last_generated"]).unwrap(),
        entries_added: read_known(s, "entries_added", Json::as_i64),
        max_deleted: read_known(s, "max_deleted", read_id),
        ..StreamFacts::empty()
    };
    let group = GroupFacts {
        cursor: read_id(&g["cursor"]).unwrap(),
        entries_read: read_known(g, "entries_read", Json::as_i64),
        reported_lag: read_known(g, "lag", Json::as_i64),
        ..GroupFacts::fresh("g")
    };
    (stream, group)
}

fn family_of(server: &str) -> LagFamily {
    let (flavor, version) = server.split_once(' ').unwrap();
    let facts = ServerFacts { flavor: flavor.to_owned(), version: version.to_owned(), ..ServerFacts::default() };
    facts.lag_family()
}

#[test]
fn what_the_servers_answered_gives_no_wrong_lag() {
    let text = fs::read_to_string(REPLIES).expect("recorded with PELWATCH_RECORD=1");
    let mut replayed = 0;
    for line in text.lines() {
        let line: Json = serde_json::from_str(line).unwrap();
        let (stream, group) = read_facts(&line);
        let waiting = line["waiting"].as_i64().unwrap();
        let row = line["row"].as_str().unwrap();
        let truth = Truth {
            waiting,
            length: stream.length,
            usable: group
                .entries_read
                .value()
                .is_none_or(|n| stream.entries_added.value().is_some_and(|added| n <= added))
                && group.reported_lag.value().is_some_and(|n| (1..stream.length).contains(&n)),
            reported: group.reported_lag.value(),
            beyond_end: group.cursor > stream.last_generated,
            has_lag: group.reported_lag != Known::Unsupported,
        };
        for server in line["servers"].as_array().unwrap() {
            let family = family_of(server.as_str().unwrap());
            let with = |count| resolve(&Inputs { stream: &stream, group: &group, family, drift: None, count });
            let count = |entries, complete| Some(Count { entries, complete });
            let by_hand = SET_BY_HAND.contains(&row);
            let cases = [
                (with(None), false, by_hand),
                (with(count(waiting, true)), true, false),
                // a count that stopped early proves only a bound
                (with(count((waiting - 1).max(0), false)), false, by_hand),
            ];
            for (lag, counted, excused) in cases {
                let verdict = judge(&lag, &truth, family, counted);
                assert!(verdict.is_ok() || excused, "{server} row {row}: {verdict:?}: {lag:?}, {truth:?}");
            }
            replayed += 1;
        }
    }
    assert!(replayed > 500, "only {replayed} replies are recorded");
}
