#![allow(clippy::unwrap_used)]
//! Streams on nodes that are away: their last values stay, nothing is judged again, and nothing is called lost.

use super::{
    Focus, Reading, RowState, Store,
    fake::{Fake, id, key, on_screen, store},
};
use crate::core::{
    cluster::{ClusterFacts, NodeFacts},
    name::Name,
    sample::{Fault, Sample, StreamSample},
    time::{Mono, Now},
};

fn answer(fault: Fault) -> StreamSample {
    StreamSample { facts: Err(fault.clone()), groups: Err(fault), ..StreamSample::unasked(key()) }
}

fn fold(fake: &mut Fake, store: &mut Store, at: Mono, fault: Fault) {
    let sample = Sample { at, streams: vec![answer(fault)], ..Sample::default() };
    store.fold(sample, Now { mono: at, wall_ms: 0 }, Reading::Tick);
    fake.verdicts.judge(store, Now { mono: at, wall_ms: 0 }, Reading::Tick);
}

#[test]
fn what_is_away_keeps_its_numbers_and_its_findings() {
    let mut fake = Fake::with(40, 0);
    fake.read("g", "c", 3);
    fake.idle.insert(Name::from("c"), 90_000);
    fake.now = Mono(100_000);
    let mut store = store();
    (0..4).for_each(|_| fake.tick(&mut store, &on_screen("g")));
    let group = |store: &Store| store.streams[&key()].groups[&Name::from("g")].clone();
    let said = |fake: &Fake| {
        let g = Name::from("g");
        (fake.verdicts.group(&key(), &g).clone(), fake.verdicts.stream(&key()).to_vec())
    };
    let (before, said_before) = (group(&store), said(&fake));
    assert!(!said_before.0.findings.is_empty());
    for second in 1..600 {
        let words = "node a:1 unreachable since noon";
        let at = Mono(fake.now.0 + second * 1000);
        fold(&mut fake, &mut store, at, Fault::Away(words.to_owned()));
    }
    assert!(store.streams[&key()].is_away());
    assert_eq!(store.streams[&key()].facts.value.as_ref().unwrap().length, 40);
    assert_eq!(said(&fake), said_before);
    assert_eq!(group(&store).facts, before.facts);
    assert_eq!(store.part_note().as_deref(), Some("0 of 1 streams"));
    assert!(store.events.is_empty());
    fake.now = Mono(fake.now.0 + 601_000);
    fake.tick(&mut store, &Focus::None);
    assert_eq!(store.streams[&key()].state, RowState::Ok);
    assert!(store.events.is_empty(), "{:?}", store.events);
    assert_eq!(group(&store).facts.cursor, id(3));
}

#[test]
fn a_full_reading_does_not_wait_for_what_is_away() {
    let mut fake = Fake::with(40, 0);
    fake.read("g", "c", 3);
    fake.now = Mono(1000);
    let mut store = store();
    (0..4).for_each(|_| fake.tick(&mut store, &Focus::All));
    store.begin_reading(Mono(90_000));
    fold(&mut fake, &mut store, Mono(90_000), Fault::Away("CLUSTERDOWN The cluster is down".to_owned()));
    assert!(!store.wants_more(1) && !store.wants_more(9));
}

#[test]
fn one_node_is_told_by_a_redirection_and_never_taken_for_all() {
    let mut store = store();
    assert_eq!(store.one_node_note(), None);
    let moved = Fault::Elsewhere { slot: 1, node: "b:2".to_owned(), once: false };
    fold(&mut Fake::new(), &mut store, Mono(1), moved);
    assert_eq!(store.one_node_note().as_deref(), Some("cluster node: showing 0 streams of this node only"));
    assert!(!store.is_discovery_complete());
}

#[test]
fn a_cluster_is_searched_when_every_node_was() {
    let mut store = Store::default();
    store.discovery.complete = true;
    let node = |trouble: Option<&str>| NodeFacts { name: "a:1".to_owned(), trouble: trouble.map(str::to_owned) };
    let table = [
        (vec![node(None)], true, true, true),
        (vec![node(None), node(Some("gone"))], true, true, false),
        (vec![node(None)], false, true, false),
        (vec![node(None)], true, false, false),
    ];
    for (nodes, all_known, all_searched, complete) in table {
        store.cluster = Some(ClusterFacts { nodes, all_known, all_searched });
        assert_eq!(store.is_discovery_complete(), complete, "{:?}", store.cluster);
    }
}
