//! The true state of the stream that every table here is about, and a check of a document against it.

use std::{path::Path, process::Output};

use crate::session::command;

use serde_json::{Value, json};

use pelwatch::testing::fake::{Answers, FakeServer, bulk, flat, int, line, list, nil};

/// Entries 1-0 to 6-0. The group `g` has read four of them; `c1` holds 3-0 and `c2` holds 4-0.
pub fn honest() -> Answers {
    let entry = |id: &str| list([bulk(id), list([bulk("f"), bulk("v")])]);
    let info = "redis_version:7.2.5\r\nrole:master\r\n";
    Answers::from([
        (
            "HELLO",
            flat([("server", bulk("redis")), ("version", bulk("7.2.5")), ("proto", int(2)), ("role", bulk("master"))]),
        ),
        ("CLIENT", line("+OK")),
        ("CLIENT LIST", bulk("id=1 name=pelwatch\n")),
        ("INFO", bulk(info)),
        ("TIME", list([bulk("1793600000"), bulk("0")])),
        ("SCAN", list([bulk("0"), list([bulk("s")])])),
        (
            "XINFO STREAM",
            flat([
                ("length", int(6)),
                ("radix-tree-keys", int(1)),
                ("radix-tree-nodes", int(2)),
                ("last-generated-id", bulk("6-0")),
                ("max-deleted-entry-id", bulk("0-0")),
                ("entries-added", int(6)),
                ("recorded-first-entry-id", bulk("1-0")),
                ("groups", int(1)),
                ("first-entry", entry("1-0")),
                ("last-entry", entry("6-0")),
            ]),
        ),
        ("XINFO GROUPS", list([flat(group())])),
        ("XINFO CONSUMERS", list([flat(consumer("c1", 5000)), flat(consumer("c2", 200))])),
        ("XPENDING", list([int(2), bulk("3-0"), bulk("4-0"), list([holder("c1"), holder("c2")])])),
        ("XPENDING -", list([row("3-0", "c1", 5000, 1), row("4-0", "c2", 200, 1)])),
    ])
}

pub fn group() -> Vec<(&'static str, Vec<u8>)> {
    vec![
        ("name", bulk("g")),
        ("consumers", int(2)),
        ("pending", int(2)),
        ("last-delivered-id", bulk("4-0")),
        ("entries-read", int(4)),
        ("lag", int(2)),
    ]
}

/// The same fields with another value in one of them.
pub fn group_with(field: &'static str, value: Vec<u8>) -> Vec<(&'static str, Vec<u8>)> {
    with(group(), field, value)
}

pub fn with(
    mut fields: Vec<(&'static str, Vec<u8>)>,
    field: &'static str,
    value: Vec<u8>,
) -> Vec<(&'static str, Vec<u8>)> {
    fields.iter_mut().find(|(name, _)| *name == field).expect("such a field").1 = value;
    fields
}

pub fn consumer(name: &str, idle: i64) -> Vec<(&'static str, Vec<u8>)> {
    vec![("name", bulk(name)), ("pending", int(1)), ("idle", int(idle)), ("inactive", int(idle))]
}

pub fn holder(name: &str) -> Vec<u8> {
    list([bulk(name), bulk("1")])
}

pub fn row(id: &str, owner: &str, idle: i64, deliveries: i64) -> Vec<u8> {
    list([bulk(id), bulk(owner), int(idle), int(deliveries)])
}

/// A pending entry without idle time and count.
pub fn untold(id: &str, owner: &str) -> Vec<u8> {
    list([bulk(id), bulk(owner), nil(), nil()])
}

pub fn snapshot(socket: &Path, more: &[&str]) -> Output {
    command().args(["snapshot", "--json", "-s"]).arg(socket).args(more).output().unwrap()
}

/// The program's document about a server with these replies; an error unless the program ends with 0.
pub fn document(answers: Answers, more: &[&str]) -> Result<Value, String> {
    let server = FakeServer::start(answers);
    let output = snapshot(&server.socket(), more);
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    if output.status.code() != Some(0) {
        return Err(format!("exit {:?}: {stderr}", output.status.code()));
    }
    serde_json::from_slice(&output.stdout).map_err(|error| error.to_string())
}

/// Compares a document with the truth. Returns every number, id and name that is neither true nor null.
pub fn untruths(truth: &Value, said: &Value) -> Vec<String> {
    let mut found = Vec::new();
    compare("", &truth["streams"], &said["streams"], &mut found);
    if said["events"] != json!([]) {
        found.push(format!("nothing happened, but: {}", said["events"]));
    }
    found
}

/// Texts of faults, the server's own values, which are kept beside pelwatch's, and what is said not to be known.
const BESIDE: [&str; 9] =
    ["reported", "reason", "error", "sampled_at", "stale", "state", "acked_sure", "not_yet", "cannot_tell"];

fn compare(path: &str, truth: &Value, said: &Value, found: &mut Vec<String>) {
    match (truth, said) {
        (_, Value::Null) => {}
        (Value::Object(truth), Value::Object(said)) => {
            let bound = said.get("kind").and_then(Value::as_str);
            for (field, value) in said {
                let path = format!("{path}.{field}");
                let known = truth.get(field).unwrap_or(&Value::Null);
                match (field.as_str(), bound) {
                    (field, _) if BESIDE.contains(&field) || field == "kind" => {}
                    // a bound may be any number on its side of the truth
                    ("value" | "ms", Some("at_least")) if value.as_i64() <= known.as_i64() => {}
                    ("value" | "ms", Some("at_most")) if value.as_i64() >= known.as_i64() => {}
                    ("id", Some("at_least")) => {}
                    ("complete", _) => {
                        if value == &json!(true) && known != value {
                            found.push(format!("{path} is said to be complete"));
                        }
                    }
                    // with less known, the verdict may only become less sure
                    ("verdict", _) if value == &json!("unknown") || value == &json!("reading") => {}
                    ("symptoms", _) => {
                        if value != known && value != &json!([]) {
                            found.push(format!("{path}: {value}"));
                        }
                    }
                    _ => compare(&path, known, value, found),
                }
            }
        }
        (Value::Array(truth), Value::Array(said)) => {
            for item in said {
                let key =
                    |item: &Value| [item["id"].clone(), item["name"]["text"].clone(), item["key"]["text"].clone()];
                match truth.iter().find(|known| key(known) == key(item)) {
                    Some(known) => compare(
                        &format!(
                            "{path}[{}]",
                            key(item).iter().map(|k| k.as_str().unwrap_or_default()).collect::<String>()
                        ),
                        known,
                        item,
                        found,
                    ),
                    None => found.push(format!("{path}: there is no {item}")),
                }
            }
            // a list must be complete, unless it says that it is not
            let told = path.ends_with("entries") || said.len() == truth.len();
            if !told {
                found.push(format!("{path} has {} of {}", said.len(), truth.len()));
            }
        }
        (Value::Number(known), Value::Number(n)) if path.ends_with("ms") => {
            // ages grow in both, from 200 ms on
            let passed = n.as_i64().unwrap_or(i64::MAX).saturating_sub(known.as_i64().unwrap_or(0));
            if !(-60_000..60_000).contains(&passed) || n.as_i64().is_none_or(|n| n < 200) {
                found.push(format!("{path} is {n}, but was {known}"));
            }
        }
        _ if truth == said => {}
        _ => found.push(format!("{path} is {said}, but in truth {truth}")),
    }
}
