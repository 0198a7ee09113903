#![allow(clippy::unwrap_used)]
use super::*;

fn bulk(text: &str) -> Value {
    Value::BulkString(text.as_bytes().to_vec())
}

fn node(host: Value, port: i64) -> Value {
    Value::Array(vec![host, Value::Int(port), bulk("id")])
}

fn range(first: i64, last: i64, node: Value) -> Value {
    Value::Array(vec![Value::Int(first), Value::Int(last), node])
}

#[test]
fn slots_are_those_of_the_servers() {
    // the checksum of the cluster specification, and what CLUSTER KEYSLOT answers for the keys of docs/server-facts.md 13.12
    assert_eq!(crc16(b"123456789"), 0x31c3);
    let table = [
        ("jobs:{tenant1}", 553),
        ("jobs:{tenant2}", 12874),
        ("jobs:{tenant3}", 8811),
        ("jobs:{tenant4}", 4748),
        ("jobs:{tenant5}", 685),
        ("jobs:{tenant6}", 13006),
        ("foo", 12182),
        ("", 0),
    ];
    for (key, expected) in table {
        assert_eq!(slot(key.as_bytes()), expected, "{key}");
    }
}

#[test]
fn only_the_first_tag_that_is_not_empty_counts() {
    let table: [(&[u8], &[u8]); 8] = [
        (b"{a}b", b"a"),
        (b"x{a}{b}", b"a"),
        (b"x{{a}}", b"{a"),
        (b"x{}{b}", b"x{}{b}"),
        (b"x{", b"x{"),
        (b"}{", b"}{"),
        (b"x}{a}", b"a"),
        (b"{\xff}", b"\xff"),
    ];
    for (key, tag) in table {
        assert_eq!(hash_tag(key), tag, "{key:?}");
    }
}

#[test]
fn the_map_is_read_from_any_version() {
    let named = Value::Array(vec![
        bulk("node-a.example"),
        Value::Int(7000),
        bulk("id"),
        Value::Array(vec![bulk("ip"), bulk("10.0.0.1")]),
    ]);
    let unset =
        Value::Array(vec![bulk("?"), Value::Int(7003), bulk("id"), Value::Array(vec![bulk("ip"), bulk("10.0.0.4")])]);
    let reply = Value::Array(vec![
        range(0, 10, named),
        range(11, 11, node(Value::Nil, 7001)),
        range(13, 16_383, node(bulk("::1"), 7002)),
        range(12, 12, unset),
    ]);
    let map = SlotMap::read(&reply, "seed").unwrap();
    let names: Vec<String> = [0, 10, 11, 12, 13, 16_383].map(|slot| map.owner(slot).unwrap().name()).to_vec();
    assert_eq!(
        names,
        ["node-a.example:7000", "node-a.example:7000", "seed:7001", "10.0.0.4:7003", "::1:7002", "::1:7002"]
    );
    assert_eq!(map.owner(0).unwrap().ip.as_deref(), Some("10.0.0.1"));
    assert_eq!(map.places().len(), 4);
}

#[test]
fn slots_without_a_node_are_nobodys() {
    let map = SlotMap::read(&Value::Array(vec![range(0, 8191, node(bulk("a"), 1))]), "seed").unwrap();
    assert!(map.owner(8191).is_some());
    assert_eq!(map.owner(8192), None);
    assert_eq!(map.owner(u16::MAX), None);
}

#[test]
fn nonsense_gives_no_map() {
    let table = [
        Value::Nil,
        Value::Array(vec![Value::Int(1)]),
        Value::Array(vec![range(0, 16_384, node(bulk("a"), 1))]),
        Value::Array(vec![range(5, 4, node(bulk("a"), 70_000))]),
        Value::Array(vec![range(-1, 4, node(bulk("a"), 1))]),
    ];
    for reply in table {
        assert!(SlotMap::read(&reply, "seed").is_none(), "{reply:?}");
    }
    // a range with its ends swapped must not panic
    assert!(SlotMap::read(&Value::Array(vec![range(5, 3, node(bulk("a"), 1))]), "seed").is_none());
}

#[test]
fn a_redirection_moves_one_slot() {
    let mut map = SlotMap::guess(Place::parse("a:1", "seed").unwrap(), std::iter::empty());
    map.set(7, Place::parse(":2", "seed").unwrap());
    map.set(60_000, Place::parse("c:3", "seed").unwrap());
    assert_eq!(map.owner(6).unwrap().name(), "a:1");
    assert_eq!(map.owner(7).unwrap().name(), "seed:2");
    assert_eq!(map.places().len(), 2);
    map.set(7, Place::parse("a:1", "seed").unwrap());
    assert_eq!(map.places().len(), 1);
    assert_eq!(Place::parse("::1:7", "s").unwrap().host, "::1");
    assert_eq!(Place::parse("nowhere", "s"), None);
    assert_eq!(Place::parse("a:b", "s"), None);
}

#[test]
fn redirections_of_probes_make_a_map() {
    let probes = probes();
    assert!(probes.iter().enumerate().all(|(n, key)| usize::from(slot(key.as_bytes())) == n * PROBE));
    assert_eq!(probes.len(), 1024);
    let place = |text| Place::parse(text, "seed").unwrap();
    let answers = (0..1024).map(|n| (n >= 512).then(|| place("b:2")));
    let map = SlotMap::guess(place("a:1"), answers);
    assert_eq!(map.owner(8191).unwrap().name(), "a:1");
    assert_eq!(map.owner(8192).unwrap().name(), "b:2");
    assert_eq!(map.owner(16_383).unwrap().name(), "b:2");
}
