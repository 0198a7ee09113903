//! Replies of an unknown form, and numbers that are not true.

use std::{sync::Mutex, thread};

use serde_json::Value;

use super::oracle::{consumer, document, group, group_with, holder, honest, row, untold, untruths, with};
use pelwatch::testing::fake::{Answers, bulk, flat, int, line, list, map, nil};

/// How a lying server's replies differ from the honest ones, and what must then be null in the document.
struct Lie {
    name: &'static str,
    answers: Vec<(&'static str, Vec<u8>)>,
    /// Paths into the group's object; a path into the stream's object begins with a slash.
    unknown: &'static [&'static str],
}

fn lie(name: &'static str, answers: Vec<(&'static str, Vec<u8>)>, unknown: &'static [&'static str]) -> Lie {
    Lie { name, answers, unknown }
}

fn groups(fields: Vec<(&'static str, Vec<u8>)>) -> Vec<(&'static str, Vec<u8>)> {
    vec![("XINFO GROUPS", list([flat(fields)]))]
}

/// 2^64 minus a little, as text: as an integer it breaks the connection.
const WRAPPED: &str = "18446744073709551611";

fn stream_fields(length: Vec<u8>, added: Vec<u8>) -> Vec<u8> {
    let entry = |id: &str| list([bulk(id), list([bulk("f"), bulk("v")])]);
    flat([
        ("last-entry", entry("6-0")),
        ("first-entry", entry("1-0")),
        ("something-new", list([nil(), map([])])),
        ("entries-added", added),
        ("last-generated-id", bulk("6-0")),
        ("length", length),
    ])
}

/// Both forms of each list, including those that no server sends.
fn forms() -> Vec<Lie> {
    let everything = honest();
    let attributed = |key: &'static str| [b"|1\r\n+ttl\r\n:5\r\n", everything[key].as_slice()].concat();
    let pushed = |key: &'static str| [b">2\r\n+invalidate\r\n*1\r\n$1\r\nk\r\n", everything[key].as_slice()].concat();
    let whole = ["XINFO STREAM", "XINFO GROUPS", "XINFO CONSUMERS", "XPENDING", "XPENDING -", "TIME", "HELLO", "INFO"];
    let one = |bytes: &[u8]| vec![("XINFO GROUPS", list([flat(group_with("pending", line(bytes)))]))];
    vec![
        lie("nothing", vec![], &[]),
        lie(
            "maps on RESP2",
            vec![
                ("XINFO GROUPS", list([map(group())])),
                ("XINFO CONSUMERS", list([map(consumer("c1", 5000)), map(consumer("c2", 200))])),
            ],
            &[],
        ),
        lie("sets for lists", vec![("XINFO GROUPS", [b"~1\r\n".to_vec(), map(group())].concat())], &[]),
        lie("attributes before everything", whole.map(|key| (key, attributed(key))).to_vec(), &[]),
        lie("pushes before everything", whole.map(|key| (key, pushed(key))).to_vec(), &[]),
        lie(
            "fields in another order and unknown ones",
            {
                let mut fields = group();
                fields.reverse();
                fields.insert(2, ("nacked-count", list([nil()])));
                fields.insert(4, ("new", b"#t\r\n".to_vec()));
                let mut answers = groups(fields);
                answers.push(("XINFO STREAM", stream_fields(int(6), int(6))));
                answers
            },
            &[],
        ),
        lie(
            "integers as strings",
            groups(vec![
                ("name", bulk("g")),
                ("consumers", bulk("2")),
                ("pending", bulk("2")),
                ("last-delivered-id", bulk("4-0")),
                ("entries-read", bulk("4")),
                ("lag", bulk("2")),
            ]),
            &[],
        ),
        lie(
            "null as text",
            groups(with(group_with("entries-read", bulk("null")), "lag", bulk("null"))),
            &["entries_read"],
        ),
        lie("a double", one(b",2"), &[]),
        lie("a big number", one(b"(2"), &[]),
        lie("a big number that is too big", one(b"(18446744073709551615"), &["pending"]),
        lie("a verbatim string", one(b"=5\r\ntxt:2"), &[]),
        lie("a boolean for a number", one(b"#f"), &["pending"]),
        lie("a fraction for a number", one(b",1.5"), &["pending"]),
        lie("no number for a number", one(b",nan"), &["pending"]),
        lie("EXEC answers nil", vec![("EXEC", nil())], &[]),
        lie("EXEC answers too little", vec![("EXEC", list([everything["XINFO STREAM"].clone()]))], &[]),
        lie("EXEC answers an error", vec![("EXEC", line("-ERR what is EXEC"))], &[]),
        lie("EXEC answers a map", vec![("EXEC", map([("a", int(1)), ("b", int(2))]))], &[]),
        lie("MULTI is no command", vec![("MULTI", line("-ERR unknown command 'MULTI'"))], &[]),
        lie(
            "a summary of 8.8 without holders",
            vec![("XPENDING", list([int(2), bulk("3-0"), bulk("4-0"), list([])]))],
            &[],
        ),
    ]
}

fn numbers() -> Vec<Lie> {
    let pending = |value: Vec<u8>| groups(group_with("pending", value));
    let lag = |value: Vec<u8>| groups(group_with("lag", value));
    let stream = |length, added| vec![("XINFO STREAM", stream_fields(length, added))];
    let rows = |rows: [Vec<u8>; 2]| vec![("XPENDING -", list(rows))];
    let consumers = |one, other| vec![("XINFO CONSUMERS", list([flat(one), flat(other)]))];
    let twice = |other| vec![("XINFO GROUPS", list([flat(group()), flat(other)]))];
    vec![
        lie("pending below zero", pending(int(-1)), &["pending"]),
        lie("pending wrapped", pending(bulk(WRAPPED)), &["pending"]),
        lie("pending a time (apache/kvrocks#2568)", pending(int(1_727_818_077_688)), &["pending"]),
        lie("pending 0 although there are", pending(int(0)), &["pending"]),
        lie("pending nil", pending(nil()), &["pending"]),
        lie("consumers below zero", groups(group_with("consumers", int(-2))), &["consumers_total"]),
        lie("a group listed twice alike", twice(group()), &[]),
        lie("a group listed twice otherwise", twice(group_with("pending", int(1_727_818_077_688))), &["pending"]),
        lie("a group listed twice with two cursors", twice(group_with("last-delivered-id", bulk("9-0"))), &["/groups"]),
        lie("lag below zero", lag(int(-89)), &[]),
        lie("lag wrapped", lag(bulk(WRAPPED)), &[]),
        lie("lag the largest", lag(int(i64::MAX)), &[]),
        lie("lag everything", lag(int(6)), &[]),
        lie(
            "entries-read always 0",
            groups(with(group_with("entries-read", int(0)), "lag", int(6))),
            &["entries_read"],
        ),
        lie("entries-read below zero", groups(group_with("entries-read", int(-5))), &["entries_read"]),
        lie("length below zero", stream(int(-6), int(6)), &["/length", "/groups"]),
        lie("length 0 although there are", stream(int(0), int(6)), &["/length"]),
        lie("length wrapped", stream(bulk(WRAPPED), int(6)), &["/length"]),
        lie("entries-added below zero", stream(int(6), int(-1)), &["/entries_added"]),
        lie("entries-added wrapped", stream(int(6), bulk(WRAPPED)), &["/entries_added"]),
        lie(
            "idle 0 and deliveries 0 (apache/kvrocks#3178)",
            rows([row("3-0", "c1", 0, 0), row("4-0", "c2", 0, 0)]),
            &[
                "max_deliveries/value",
                "oldest_idle/ms",
                "pel/entries/0/deliveries",
                "pel/entries/0/idle_ms",
                "consumers/0/max_deliveries",
            ],
        ),
        lie(
            "deliveries below zero",
            rows([row("3-0", "c1", 5000, i64::MIN), row("4-0", "c2", 200, 1)]),
            &["pel/entries/0/deliveries"],
        ),
        lie("idle below zero", rows([row("3-0", "c1", -1, 1), row("4-0", "c2", 200, 1)]), &["pel/entries/0/idle_ms"]),
        lie("nothing told of entries", rows([untold("3-0", "c1"), untold("4-0", "c2")]), &["pel"]),
        lie("one row too few", vec![("XPENDING -", list([row("3-0", "c1", 5000, 1)]))], &["pending"]),
        lie(
            "a consumer holds less than nothing",
            consumers(with(consumer("c1", 5000), "pending", int(-1)), consumer("c2", 200)),
            &["consumers"],
        ),
        lie(
            "a consumer holds 2^64-1",
            consumers(with(consumer("c1", 5000), "pending", bulk("18446744073709551615")), consumer("c2", 200)),
            &["consumers"],
        ),
        lie(
            "a consumer twice, otherwise",
            vec![(
                "XINFO CONSUMERS",
                list([flat(consumer("c1", 5000)), flat(consumer("c2", 200)), flat(consumer("c1", 1))]),
            )],
            &["consumers"],
        ),
        lie(
            "a consumer idle for less than nothing",
            consumers(consumer("c1", -5000), consumer("c2", 200)),
            &["consumers"],
        ),
        lie(
            "holders with more than there is",
            vec![("XPENDING", list([int(1), bulk("3-0"), bulk("4-0"), list([holder("c1"), holder("c2")])]))],
            &[],
        ),
        lie("pending of nobody below zero", vec![("XPENDING", list([int(-2), nil(), nil(), nil()]))], &[]),
    ]
}

/// Other values in place of a list, and errors of all kinds.
fn faults() -> Vec<Lie> {
    let text = || bulk("(empty array)");
    let error = |key, text: &str| vec![(key, line(format!("-{text}")))];
    let mut lies = vec![
        lie("groups as a text", vec![("XINFO GROUPS", text())], &["/groups"]),
        lie("consumers as a text", vec![("XINFO CONSUMERS", text())], &["consumers"]),
        lie("pending entries as a text", vec![("XPENDING -", text())], &["pel"]),
        lie("holders as a text", vec![("XPENDING", text())], &[]),
        lie("a stream as a text", vec![("XINFO STREAM", text())], &["/length", "/groups"]),
        lie("no numbers in a group", groups(vec![("name", bulk("g"))]), &["/groups"]),
        lie(
            "no error for a missing stream (dragonflydb/dragonfly#1860)",
            vec![("XINFO STREAM", list([])), ("XINFO GROUPS", list([]))],
            &["/length", "/groups"],
        ),
        lie("a clock that is none", vec![("TIME", text())], &[]),
    ];
    for word in [
        "LOADING Redis is loading the dataset in memory",
        "MASTERDOWN Link with MASTER is down",
        "BUSY Redis is busy",
        "NOAUTH Authentication required.",
        "ERR no",
        "-",
    ] {
        lies.push(lie("XINFO STREAM fails", error("XINFO STREAM", word), &["/length", "/groups"]));
        lies.push(lie("XINFO GROUPS fails", error("XINFO GROUPS", word), &["/groups"]));
        lies.push(lie("XPENDING fails", error("XPENDING -", word), &["pel", "max_deliveries/value", "oldest_idle/ms"]));
    }
    lies
}

/// Asks a lying server and returns the untrue statements.
fn judge(lie: &Lie, truth: &Value, more: &[&str]) -> Vec<String> {
    let mut answers: Answers = honest();
    answers.extend(lie.answers.iter().cloned());
    let said = match document(answers, more) {
        Ok(said) => said,
        Err(why) => return vec![why],
    };
    let mut found = untruths(truth, &said);
    let stream = &said["streams"][0];
    for path in lie.unknown {
        let value = match path.strip_prefix('/') {
            Some(path) => &stream[path],
            None => stream.pointer(&format!("/groups/0/{path}")).unwrap_or(&Value::Null),
        };
        if !value.is_null() {
            found.push(format!("{path} is {value}, but cannot be known"));
        }
    }
    let has_reason =
        |of: &Value| of["error"].as_str().is_some_and(|why| !why.is_empty()) || of["lag"]["reason"].is_string();
    let reasons = ["/groups", "/length", "pending", "pel", "consumers", "consumers_total", "max_deliveries/value"];
    let blank = lie.unknown.iter().any(|path| reasons.contains(path));
    if blank && !has_reason(stream) && !has_reason(&stream["groups"][0]) {
        found.push("nothing says why".to_owned());
    }
    found.into_iter().map(|what| format!("{}: {what}", lie.name)).collect()
}

/// Asks all of them, a few at a time.
fn judge_all(lies: &[Lie], more: &[&str]) {
    let truth = document(honest(), more).unwrap();
    let next = Mutex::new(lies.iter());
    let found: Vec<String> = thread::scope(|scope| {
        let ask = || {
            let mut found = Vec::new();
            loop {
                let Some(lie) = next.lock().unwrap().next() else { return found };
                found.extend(judge(lie, &truth, more));
            }
        };
        let workers: Vec<_> = (0..8).map(|_| scope.spawn(ask)).collect();
        workers.into_iter().flat_map(|worker| worker.join().unwrap()).collect()
    });
    assert!(found.is_empty(), "{} untruths:\n{}", found.len(), found.join("\n"));
}

#[test]
fn the_truth_of_the_honest_server_is_the_seed() {
    let said = document(honest(), &["--stream", "s"]).unwrap();
    let group = &said["streams"][0]["groups"][0];
    assert_eq!(
        (&group["pending"], &group["lag"]["value"], &group["lag"]["kind"]),
        (&2.into(), &2.into(), &"exact".into())
    );
    assert_eq!(group["pel"]["complete"], true);
    assert_eq!(group["strip"]["entries"].as_array().unwrap().len(), 6);
    assert_eq!(group["max_deliveries"]["value"], 1);
    assert_eq!(said["server"]["flavor"], "redis");
}

#[test]
fn answers_of_an_odd_form_say_the_same() {
    judge_all(&forms(), &["--stream", "s"]);
}

#[test]
fn numbers_that_cannot_be_true_are_not_known() {
    judge_all(&numbers(), &["--stream", "s"]);
}

#[test]
fn what_is_no_answer_blanks_its_own_column() {
    judge_all(&faults(), &["--stream", "s"]);
}

#[test]
fn a_lie_that_goes_on_makes_no_event_and_no_symptom() {
    let all = numbers();
    let some: Vec<Lie> = all.into_iter().step_by(4).collect();
    judge_all(&some, &["--stream", "s", "--settle", "1s", "--interval", "100ms"]);
}

#[test]
fn streams_that_cannot_be_listed_are_not_none() {
    for answer in [bulk("(empty array)"), list([bulk("0"), bulk("(empty array)")]), list([bulk("0"), list([list([])])])]
    {
        let mut answers = honest();
        answers.insert("SCAN", answer.clone());
        let said = document(answers, &[]).unwrap();
        assert_eq!(said["discovery_complete"], false, "{}", String::from_utf8_lossy(&answer));
    }
    // numbers in place of texts are accepted
    let mut answers = honest();
    answers.insert("SCAN", list([int(0), list([bulk("s")])]));
    let said = document(answers, &[]).unwrap();
    assert_eq!((&said["discovery_complete"], &said["streams"][0]["length"]), (&true.into(), &6.into()));
}

#[test]
fn a_fork_is_not_taken_for_the_redis_it_is_like() {
    for (field, version) in [("dragonfly_version", "df-v1.30.0"), ("kvrocks_version", "2.12.0")] {
        let mut answers = honest();
        answers.insert("INFO", bulk(format!("redis_version:7.2.4\r\n{field}:{version}\r\n")));
        let said = document(answers, &["--stream", "s"]).unwrap();
        assert_eq!((&said["server"]["flavor"], &said["server"]["version"]), (&"unknown".into(), &version.into()));
    }
}
