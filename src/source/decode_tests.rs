#![allow(clippy::unwrap_used, clippy::expect_used)]
//! Every reply as the servers were seen to send it (docs/server-facts.md 1 and 8), and variants that no server sent.

use super::*;
use crate::core::model::FATAL_DELIVERIES;

#[path = "decode_any_tests.rs"]
mod any_reply;
#[path = "decode_odd_tests.rs"]
mod odd_numbers;

/// How a server writes fields: in a flat array (RESP2) or as a map (RESP3).
#[derive(Clone, Copy, Debug)]
enum Shape {
    Flat,
    Map,
}

const SHAPES: [Shape; 2] = [Shape::Flat, Shape::Map];

fn wire(text: &str) -> Value {
    redis::parse_redis_value(text.as_bytes()).unwrap()
}

fn bulk(bytes: impl AsRef<[u8]>) -> Value {
    Value::BulkString(bytes.as_ref().to_vec())
}

fn array(items: impl IntoIterator<Item = Value>) -> Value {
    Value::Array(items.into_iter().collect())
}

fn fields(shape: Shape, pairs: &[(&str, Value)]) -> Value {
    let pairs = pairs.iter().map(|(name, value)| (bulk(name), value.clone()));
    match shape {
        Shape::Flat => array(pairs.flat_map(|(name, value)| [name, value])),
        Shape::Map => Value::Map(pairs.collect()),
    }
}

fn entry_of(id: &str) -> Value {
    array([bulk(id), array([bulk("field"), bulk("value")])])
}

/// XINFO STREAM with the fields and the order of one version.
fn stream_reply(version: &str, shape: Shape) -> Value {
    let mut pairs =
        vec![("length", Value::Int(2)), ("radix-tree-keys", Value::Int(1)), ("radix-tree-nodes", Value::Int(2))];
    let generated = ("last-generated-id", bulk("9-1"));
    let groups = ("groups", Value::Int(3));
    match version {
        "5.0" => pairs.extend([groups, generated]),
        "6.2" => pairs.extend([generated, groups]),
        _ => {
            pairs.extend([
                generated,
                ("max-deleted-entry-id", bulk("4-0")),
                ("entries-added", Value::Int(7)),
                ("recorded-first-entry-id", bulk("5-0")),
            ]);
            if version >= "8.6" {
                let names =
                    ["idmp-duration", "idmp-maxsize", "pids-tracked", "iids-tracked", "iids-added", "iids-duplicates"];
                pairs.extend(names.map(|name| (name, Value::Int(100))));
            }
            pairs.push(groups);
        }
    }
    pairs.extend([("first-entry", entry_of("5-0")), ("last-entry", entry_of("9-0"))]);
    fields(shape, &pairs)
}

#[test]
fn a_stream_reads_the_same_whatever_the_version_and_the_protocol() {
    for shape in SHAPES {
        for version in ["5.0", "6.2", "7.0", "7.2", "8.6", "8.8"] {
            let facts = stream(&stream_reply(version, shape)).unwrap();
            assert_eq!((facts.length, facts.groups), (2, 3), "{version} {shape:?}");
            assert_eq!((facts.first, facts.last), (Some(EntryId::new(5, 0)), Some(EntryId::new(9, 0))), "{version}");
            assert_eq!(facts.last_generated, EntryId::new(9, 1), "{version}");
            let counted = version >= "7.0";
            assert_eq!(facts.entries_added, if counted { Known::Is(7) } else { Known::Unsupported }, "{version}");
            assert_eq!(
                facts.max_deleted,
                if counted { Known::Is(EntryId::new(4, 0)) } else { Known::Unsupported },
                "{version}"
            );
        }
    }
}

#[test]
fn an_empty_stream_has_no_first_and_no_last_entry() {
    for shape in SHAPES {
        let pairs = [
            ("length", Value::Int(0)),
            ("last-generated-id", bulk("9-0")),
            ("first-entry", Value::Nil),
            ("last-entry", Value::Nil),
        ];
        let facts = stream(&fields(shape, &pairs)).unwrap();
        assert_eq!((facts.length, facts.first, facts.last), (0, None, None));
    }
}

#[test]
fn a_stream_without_length_or_last_id_is_a_fault_and_never_zero() {
    for lacking in ["length", "last-generated-id"] {
        for shape in SHAPES {
            let pairs: Vec<_> = [("length", Value::Int(1)), ("last-generated-id", bulk("1-0"))]
                .into_iter()
                .filter(|(name, _)| *name != lacking)
                .collect();
            assert!(matches!(stream(&fields(shape, &pairs)), Err(Fault::Other(_))), "{lacking}");
        }
    }
}

fn group_reply(shape: Shape, more: &[(&str, Value)]) -> Value {
    let mut pairs = vec![
        ("name", bulk("g")),
        ("consumers", Value::Int(2)),
        ("pending", Value::Int(5)),
        ("last-delivered-id", bulk("6-0")),
    ];
    pairs.extend(more.iter().cloned());
    array([fields(shape, &pairs)])
}

fn only_group(shape: Shape, more: &[(&str, Value)]) -> GroupFacts {
    groups(&group_reply(shape, more)).unwrap().remove(0)
}

#[test]
fn nil_missing_negative_and_impossible_counters_are_kept_apart() {
    let cases = [
        (Value::Nil, Known::Undetermined),
        (Value::Int(0), Known::Is(0)),
        (Value::Int(-89), Known::Is(-89)),
        (bulk("12"), Known::Is(12)),
        (Value::SimpleString("12".into()), Known::Is(12)),
        (Value::Double(12.0), Known::Is(12)),
        (bulk("18446744073709551615"), Known::Undetermined),
        (bulk("9223372036854775807"), Known::Is(i64::MAX)),
        (Value::Double(1.5), Known::Undetermined),
        (Value::Double(f64::NAN), Known::Undetermined),
        (bulk("many"), Known::Undetermined),
        (bulk(""), Known::Undetermined),
        (array([]), Known::Undetermined),
    ];
    for shape in SHAPES {
        let missing = only_group(shape, &[]);
        assert_eq!((missing.entries_read, missing.reported_lag), (Known::Unsupported, Known::Unsupported));
        for (value, expected) in &cases {
            let group = only_group(shape, &[("entries-read", value.clone()), ("lag", value.clone())]);
            assert_eq!((group.entries_read, group.reported_lag), (*expected, *expected), "{value:?}");
        }
    }
}

#[test]
fn unknown_fields_are_passed_over_wherever_they_stand() {
    for shape in SHAPES {
        let odd = array([Value::Map(vec![]), Value::Nil]);
        let pairs = [
            ("new-thing", odd),
            ("name", bulk("g")),
            ("nacked-count", Value::Int(1)),
            ("consumers", Value::Int(2)),
            ("pending", Value::Int(5)),
            ("other", Value::Boolean(true)),
            ("last-delivered-id", bulk("6-0")),
            ("lag", Value::Int(4)),
        ];
        let found = groups(&array([fields(shape, &pairs)])).unwrap();
        assert_eq!((found[0].cursor, found[0].reported_lag), (EntryId::new(6, 0), Known::Is(4)));
    }
}

#[test]
fn names_come_through_byte_for_byte() {
    for bytes in [&b""[..], b"\xff\xfe", b"a\r\nb", b"\0", b"(empty array)", b"12", "日本".as_bytes()] {
        for shape in SHAPES {
            let group = fields(
                shape,
                &[
                    ("name", bulk(bytes)),
                    ("consumers", Value::Int(0)),
                    ("pending", Value::Int(0)),
                    ("last-delivered-id", bulk("0-0")),
                ],
            );
            assert_eq!(groups(&array([group])).unwrap()[0].name.bytes(), bytes);
            let consumer = fields(shape, &[("name", bulk(bytes)), ("pending", Value::Int(1)), ("idle", Value::Int(2))]);
            assert_eq!(consumers(&array([consumer])).unwrap()[0].name.bytes(), bytes);
        }
        let row = array([bulk("1-0"), bulk(bytes), Value::Int(7), Value::Int(1)]);
        assert_eq!(pending(&array([row])).unwrap()[0].owner.as_ref().unwrap().bytes(), bytes);
        let short = array([Value::Int(1), bulk("1-0"), bulk("1-0"), array([array([bulk(bytes), bulk("1")])])]);
        assert_eq!(summary(&short).unwrap().holders[0].0.bytes(), bytes);
    }
}

#[test]
fn consumers_know_inactive_from_7_2_on() {
    for shape in SHAPES {
        let old = [("name", bulk("c")), ("pending", Value::Int(1)), ("idle", Value::Int(20))];
        let found = consumers(&array([fields(shape, &old)])).unwrap();
        assert_eq!((found[0].idle_ms, found[0].inactive_ms), (20, Known::Unsupported));
        let mut new = old.to_vec();
        new.push(("inactive", Value::Int(-1)));
        assert_eq!(consumers(&array([fields(shape, &new)])).unwrap()[0].inactive_ms, Known::Is(-1));
    }
    assert_eq!(consumers(&array([])), Ok(Vec::new()));
}

#[test]
fn an_empty_pel_is_empty_in_both_protocols() {
    for text in ["*4\r\n:0\r\n$-1\r\n$-1\r\n*-1\r\n", "*4\r\n:0\r\n_\r\n_\r\n_\r\n", "*4\r\n:0\r\n$-1\r\n$-1\r\n*0\r\n"]
    {
        assert_eq!(summary(&wire(text)), Ok(PendingSummary::default()), "{text:?}");
    }
    assert_eq!(pending(&wire("*0\r\n")), Ok(Vec::new()));
}

#[test]
fn the_holders_of_a_summary_are_counted_in_text_and_the_rest_is_unowned() {
    let held =
        wire("*4\r\n:5\r\n$3\r\n1-0\r\n$3\r\n5-0\r\n*2\r\n*2\r\n$1\r\na\r\n$1\r\n3\r\n*2\r\n$1\r\nb\r\n$1\r\n1\r\n");
    let found = summary(&held).unwrap();
    assert_eq!(found.holders, [(Name::from("a"), 3), (Name::from("b"), 1)]);
    assert_eq!((found.total, found.unowned()), (5, 1));
    let all_released = wire("*4\r\n:2\r\n$3\r\n1-0\r\n$3\r\n2-0\r\n*0\r\n");
    assert_eq!(summary(&all_released).unwrap().unowned(), 2);
}

#[test]
fn only_an_empty_owner_without_idle_time_was_released() {
    let row =
        |owner: &str, idle, deliveries| array([bulk("3-0"), bulk(owner), Value::Int(idle), Value::Int(deliveries)]);
    let rows = pending(&array([
        row("c", 5, 2),
        row("", 5, 1),
        row("", -1, -1),
        row("", -1, FATAL_DELIVERIES),
        row("c", 0, i64::MIN),
    ]))
    .unwrap();
    let seen: Vec<_> = rows.iter().map(|row| (row.owner.clone(), row.idle_ms, row.deliveries)).collect();
    let (c, empty) = (Some(Name::from("c")), Some(Name::default()));
    assert_eq!(
        seen,
        [
            (c.clone(), Some(5), 2),
            (empty, Some(5), 1),
            (None, None, -1),
            (None, None, FATAL_DELIVERIES),
            (c, Some(0), i64::MIN),
        ]
    );
}

#[test]
fn a_text_where_a_list_belongs_is_a_fault_and_never_an_empty_list() {
    let text = bulk("(empty array)");
    let faults = [
        groups(&text).err(),
        consumers(&text).err(),
        summary(&text).err(),
        pending(&text).err(),
        range_ids(&text, false).err(),
        stream(&text).err(),
        entry(&text).err(),
        scan(&text).err(),
    ];
    for (index, fault) in faults.into_iter().enumerate() {
        assert!(matches!(fault, Some(Fault::Other(_))), "decoder {index}: {fault:?}");
    }
    let short = array([Value::Int(3), bulk("1-0"), bulk("2-0"), text]);
    assert!(summary(&short).is_err(), "3 pending whose holders are a text are not 3 unowned ones");
}

#[test]
fn a_list_with_one_unreadable_element_is_a_fault_and_never_shorter() {
    let good = fields(Shape::Flat, &[("name", bulk("c")), ("pending", Value::Int(1)), ("idle", Value::Int(2))]);
    assert!(consumers(&array([good.clone(), Value::Nil])).is_err());
    assert!(consumers(&array([good, Value::Int(1)])).is_err());
    assert!(pending(&array([array([bulk("1-0"), bulk("c"), Value::Int(1)])])).is_err());
    assert!(groups(&array([fields(Shape::Map, &[("name", bulk("g"))])])).is_err());
    assert!(range_ids(&array([array([bulk("no id"), array([])])]), false).is_err());
}

#[test]
fn ranges_come_ascending_whichever_way_they_were_asked_for() {
    let ids = |backward, order: [&str; 2]| range_ids(&array(order.map(entry_of)), backward).unwrap().ids;
    let ascending = vec![EntryId::new(1, 0), EntryId::new(2, 0)];
    assert_eq!(ids(false, ["1-0", "2-0"]), ascending);
    assert_eq!(ids(true, ["2-0", "1-0"]), ascending);
    let largest = "18446744073709551615-18446744073709551615";
    assert_eq!(range_ids(&array([entry_of(largest)]), true).unwrap().ids, [EntryId::MAX]);
}

#[test]
fn an_entry_keeps_its_fields_in_order_and_byte_for_byte() {
    let reply =
        array([array([bulk("1-0"), array([bulk("b"), bulk(b"\xff\0"), bulk("a"), bulk(""), bulk("b"), bulk("2")])])]);
    let expected = [("b", &b"\xff\0"[..]), ("a", b""), ("b", b"2")].map(|(k, v)| (k.as_bytes().to_vec(), v.to_vec()));
    assert_eq!(entry(&reply).unwrap().unwrap(), expected);
    assert_eq!(entry(&array([])), Ok(None), "trimmed meanwhile");
}

#[test]
fn a_step_of_scan_gives_the_cursor_as_text_and_keys_as_bytes() {
    let (cursor, keys) =
        scan(&array([bulk("18446744073709551615"), array([bulk(b"\xff"), bulk("k"), bulk("k")])])).unwrap();
    assert_eq!(cursor, "18446744073709551615");
    assert_eq!(keys, [Name::new(&b"\xff"[..]), Name::from("k"), Name::from("k")]);
}

#[test]
fn the_servers_time_is_read_in_milliseconds() {
    assert_eq!(time_ms(&array([bulk("1793600000"), bulk("123456")])), Some(1_793_600_000_123));
    assert_eq!(time_ms(&array([bulk(i64::MAX.to_string()), bulk("0")])), None);
    assert_eq!(time_ms(&array([bulk("9223372036854"), bulk("999999999999999999")])), None, "no overflow");
    assert_eq!(time_ms(&array([bulk("9223372036854"), bulk("775807")])), Some(9_223_372_036_854_775));
    assert_eq!(time_ms(&Value::Nil), None);
    let at = |seconds: &str, us: &str| array([bulk(seconds), bulk(us)]);
    assert_eq!(time_between(&[at("10", "999900"), Value::Nil, at("11", "100")]), Some(200));
    assert_eq!(time_between(&[at("11", "0"), at("10", "0")]), None, "a clock that was set back measures nothing");
    assert_eq!(time_between(&[at("11", "0"), Value::Nil]), None);
    assert_eq!(time_between(&[]), None);
}

type Test = fn(&Fault) -> bool;

#[test]
fn faults_follow_the_first_word_of_the_servers_text() {
    let table: [(&str, Test); 19] = [
        ("ERR no such key", |fault| *fault == Fault::Missing),
        ("WRONGTYPE Operation against a key holding the wrong kind of value", |fault| *fault == Fault::WrongType),
        ("NOGROUP No such key 'k' or consumer group 'g'", |fault| *fault == Fault::NoGroup),
        ("NOGROUP No such consumer group 'no such key' for key name 'k'", |fault| *fault == Fault::NoGroup),
        ("NOPERM this user has no permissions to run the 'xinfo' command or its subcommand", |fault| {
            matches!(fault, Fault::Denied(_))
        }),
        ("NOPERM No permissions to access a key", |fault| matches!(fault, Fault::Denied(_))),
        ("LOADING Valkey is loading the dataset in memory", |fault| matches!(fault, Fault::Other(_))),
        ("MASTERDOWN Link with MASTER is down", |fault| matches!(fault, Fault::Other(_))),
        ("ERR unknown command 'XINFO', with args beginning with: 'a' ", |fault| matches!(fault, Fault::Denied(_))),
        ("ERR unknown command `XINFO`, with args beginning with: `a`, ", |fault| matches!(fault, Fault::Denied(_))),
        ("ERR unknown subcommand 'X'. Try XINFO HELP.", |fault| matches!(fault, Fault::Other(_))),
        ("BUSY Redis is busy running a script.", |fault| matches!(fault, Fault::Other(_))),
        ("MOVED 7629 127.0.0.1:22670", |fault| {
            *fault == Fault::Elsewhere { slot: 7629, node: "127.0.0.1:22670".into(), once: false }
        }),
        ("ASK 7629 :22670", |fault| *fault == Fault::Elsewhere { slot: 7629, node: ":22670".into(), once: true }),
        ("MOVED here", |fault| matches!(fault, Fault::Other(_))),
        ("MOVED 99999 h:1", |fault| matches!(fault, Fault::Other(_))),
        ("CLUSTERDOWN The cluster is down", |fault| matches!(fault, Fault::Away(_))),
        ("CLUSTERDOWN Hash slot not served", |fault| matches!(fault, Fault::Away(_))),
        ("SOMETHING", |fault| *fault == Fault::Other("SOMETHING".into())),
    ];
    for (text, is_right) in table {
        let reply = wire(&format!("-{text}\r\n"));
        let faults = [
            stream(&reply).err(),
            groups(&reply).err(),
            consumers(&reply).err(),
            summary(&reply).err(),
            pending(&reply).err(),
            range_ids(&reply, true).err(),
            entry(&reply).err(),
            scan(&reply).err(),
        ];
        for fault in faults.into_iter().map(Option::unwrap) {
            assert!(is_right(&fault), "{text}: {fault:?}");
        }
    }
}

#[test]
fn an_error_text_cannot_reach_the_terminal_unescaped() {
    let Fault::Denied(text) = stream(&wire("-NOPERM \x1b[2J\u{202e}x\r\n")).unwrap_err() else { panic!() };
    assert_eq!(text, "NOPERM \\x1b[2J\\u{202e}x");
}
