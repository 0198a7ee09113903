//! Replies that no known server sends, and what must hold for all of them.

use super::*;
use proptest::prelude::*;

/// The bytes of a reply in RESP2, where a map is a flat array.
fn encode(value: &Value, out: &mut Vec<u8>) {
    let bulk = |bytes: &[u8], out: &mut Vec<u8>| {
        out.extend(format!("${}\r\n", bytes.len()).bytes());
        out.extend(bytes);
        out.extend(b"\r\n");
    };
    match value {
        Value::Nil => out.extend(b"$-1\r\n"),
        Value::Int(n) => out.extend(format!(":{n}\r\n").bytes()),
        Value::BulkString(bytes) => bulk(bytes, out),
        Value::SimpleString(text) => out.extend(format!("+{text}\r\n").bytes()),
        Value::Okay => out.extend(b"+OK\r\n"),
        Value::Array(items) | Value::Set(items) => {
            out.extend(format!("*{}\r\n", items.len()).bytes());
            for item in items {
                encode(item, out);
            }
        }
        Value::Map(pairs) => {
            out.extend(format!("*{}\r\n", pairs.len() * 2).bytes());
            for (k, v) in pairs {
                encode(k, out);
                encode(v, out);
            }
        }
        Value::ServerError(error) => {
            let text = error
                .details()
                .map_or_else(|| error.code().to_owned(), |details| format!("{} {details}", error.code()));
            out.extend(format!("-{text}\r\n").bytes());
        }
        other => panic!("RESP2 has no {other:?}"),
    }
}

/// Everything a server can send in RESP2, and RESP3 maps.
fn plain_tree() -> impl Strategy<Value = Value> {
    let words = prop::sample::select(crate::testing::fuzzing::WORDS.to_vec());
    let leaf = prop_oneof![
        Just(Value::Nil),
        any::<i64>().prop_map(Value::Int),
        words.prop_map(bulk),
        prop::collection::vec(any::<u8>(), 0..12).prop_map(Value::BulkString),
        "[a-z]{0,9}".prop_map(Value::SimpleString),
        Just(Value::Okay),
        prop::sample::select(vec!["-ERR no such key\r\n", "-NOPERM\r\n", "-ODD\r\n", "-NOGROUP x y\r\n"])
            .prop_map(wire),
    ];
    leaf.prop_recursive(4, 64, 12, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..12).prop_map(Value::Array),
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::Set),
            prop::collection::vec((inner.clone(), inner), 0..12).prop_map(Value::Map),
        ]
    })
}

/// The rest of RESP3, which no known server sends here.
fn any_tree() -> impl Strategy<Value = Value> {
    let odd = prop_oneof![
        any::<f64>().prop_map(Value::Double),
        any::<bool>().prop_map(Value::Boolean),
        "\\PC{0,9}".prop_map(|text| Value::VerbatimString { format: redis::VerbatimFormat::Text, text }),
        plain_tree(),
    ];
    odd.prop_recursive(3, 32, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::Array),
            prop::collection::vec((inner.clone(), inner.clone()), 0..6).prop_map(Value::Map),
            inner.clone().prop_map(|data| Value::Attribute { data: Box::new(data), attributes: vec![] }),
            prop::collection::vec(inner, 0..3)
                .prop_map(|data| Value::Push { kind: redis::PushKind::Other("x".into()), data }),
        ]
    })
}

/// A value for a field: often the right kind, sometimes anything else.
fn field_value() -> impl Strategy<Value = Value> {
    prop_oneof![
        4 => (0..20i64).prop_map(Value::Int),
        4 => (0..20u64, 0..3u64).prop_map(|(ms, seq)| bulk(format!("{ms}-{seq}"))),
        2 => (0..20u64).prop_map(|ms| entry_of(&format!("{ms}-0"))),
        1 => plain_tree(),
    ]
}

fn field_name() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "length",
        "groups",
        "last-generated-id",
        "first-entry",
        "last-entry",
        "entries-added",
        "max-deleted-entry-id",
        "name",
        "consumers",
        "pending",
        "last-delivered-id",
        "entries-read",
        "lag",
        "idle",
        "inactive",
        "something-new",
    ])
}

proptest! {
    #[test]
    fn no_reply_makes_a_decoder_panic(value in any_tree()) {
        let _ = (stream(&value), groups(&value), consumers(&value), summary(&value), pending(&value));
        let _ = (range_ids(&value, false), range_ids(&value, true), entry(&value), scan(&value));
        let _ = (time_ms(&value), text(&value), field_text(&value, "server"), weight(&value));
    }

    #[test]
    fn the_weight_is_what_the_reply_took_on_the_wire(value in plain_tree()) {
        let mut out = Vec::new();
        encode(&value, &mut out);
        prop_assert_eq!(weight(&value), out.len() as u64);
    }

    #[test]
    fn both_protocols_say_the_same(elements in prop::collection::vec(prop::collection::vec((field_name(), field_value()), 0..10), 1..4)) {
        let one = |shape| fields(shape, &elements[0]);
        let all = |shape| array(elements.iter().map(|pairs| fields(shape, pairs)));
        prop_assert_eq!(stream(&one(Shape::Flat)), stream(&one(Shape::Map)));
        prop_assert_eq!(groups(&all(Shape::Flat)), groups(&all(Shape::Map)));
        prop_assert_eq!(consumers(&all(Shape::Flat)), consumers(&all(Shape::Map)));
    }
}
