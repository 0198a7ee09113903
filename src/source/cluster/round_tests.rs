#![allow(clippy::unwrap_used)]
use super::*;
use crate::core::sample::GroupDetail;
use redis::Value;

fn stream(key: &str) -> StreamRequest {
    StreamRequest { key: Name::from(key), facts: true, ttl: false, groups: Vec::new(), ranges: Vec::new() }
}

fn halves() -> SlotMap {
    let node = |host: &str| {
        Value::Array(vec![
            Value::BulkString(host.as_bytes().to_vec()),
            Value::Int(1),
            Value::BulkString(b"id".to_vec()),
        ])
    };
    let range = |first, last, host| Value::Array(vec![Value::Int(first), Value::Int(last), node(host)]);
    SlotMap::read(&Value::Array(vec![range(0, 8191, "a"), range(8192, 12_999, "b")]), "seed").unwrap()
}

fn sample(key: &str, fault: Option<Fault>) -> StreamSample {
    StreamSample {
        facts: Err(Fault::Missing),
        groups: Err(fault.unwrap_or(Fault::Missing)),
        ..StreamSample::unasked(Name::from(key))
    }
}

fn answer(streams: Vec<StreamSample>) -> Answer {
    Answer { sample: Sample { at: Mono(7), streams, ..Sample::default() }, ..Answer::default() }
}

#[test]
fn a_request_is_split_by_the_owners_of_the_slots() {
    let streams: Vec<StreamRequest> = (1..=6).map(|n| stream(&format!("jobs:{{tenant{n}}}"))).collect();
    let (jobs, unserved) = split(&streams, &halves());
    let keys = |node: &str| jobs[node].request.streams.iter().map(|s| s.key.shown()).collect::<Vec<_>>();
    assert_eq!(keys("a:1"), ["jobs:{tenant1}", "jobs:{tenant4}", "jobs:{tenant5}"]);
    assert_eq!(keys("b:1"), ["jobs:{tenant2}", "jobs:{tenant3}"]);
    assert_eq!(unserved, [(&Name::from("jobs:{tenant6}"), 13_006)]);
}

#[test]
fn a_redirection_in_any_part_sends_the_whole_stream() {
    let request = Request { streams: vec![stream("k")], ..Request::default() };
    let mut round = Round::new(&request);
    let moved = Fault::Elsewhere { slot: 12, node: ":9".into(), once: true };
    let mut one = sample("k", None);
    one.details.push(GroupDetail { consumers: Some(Err(moved)), ..GroupDetail::default() });
    let redirects = round.take("a:1", "a", answer(vec![one]), false);
    assert_eq!((redirects[0].place.name(), redirects[0].once, redirects[0].slot), ("a:9".into(), true, 12));
    assert_eq!(round.unsettled(), [&Name::from("k")]);
    assert!(round.streams.is_empty());
}

#[test]
fn clusterdown_blanks_nothing_and_settles_the_stream() {
    let request = Request { streams: vec![stream("k")], ..Request::default() };
    let mut round = Round::new(&request);
    let down = Fault::Away("CLUSTERDOWN The cluster is down".into());
    round.take("a:1", "a", answer(vec![sample("k", Some(down.clone()))]), false);
    assert!(round.unsettled().is_empty());
    assert_eq!(round.streams[0].facts, Err(down));
    assert_eq!(round.streams[0].origin, Some(Origin { node: "a:1".into(), at: Mono(7) }));
}

#[test]
fn a_late_answer_is_told_and_the_stream_asked_for_still() {
    let request = Request { streams: vec![stream("k")], ..Request::default() };
    let mut round = Round::new(&request);
    round.take("a:1", "a", answer(vec![sample("k", None)]), true);
    assert_eq!(round.streams.len(), 1);
    assert_eq!(round.unsettled().len(), 1);
}
