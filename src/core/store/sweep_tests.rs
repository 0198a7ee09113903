#![allow(clippy::unwrap_used, clippy::expect_used)]
//! Thousands of streams: each tick asks about a share of them, every stream gets its turn, and nothing wrong is said in between.

use super::{Focus, Reading, Settings, Store, sweep::LEAST};
use crate::core::{
    id::EntryId,
    known::Known,
    model::{GroupFacts, ServerFacts, StreamFacts},
    name::Name,
    number::size,
    sample::{Cost, Request, Sample, StreamRequest, StreamSample},
    symptoms::Verdicts,
    time::{Mono, Now},
};
use std::collections::BTreeSet;

fn name(n: u64) -> Name {
    Name::from(format!("s{n:05}").as_str())
}

fn store(streams: u64) -> Store {
    let mut store = Store::new(Settings { keys: (0..streams).map(name).collect(), ..Settings::default() });
    store.server = ServerFacts { flavor: "redis".into(), version: "8.2.3".into(), ..ServerFacts::default() };
    store
}

/// Every stream gets 100 entries a second, of which its group reads 60.
fn answer(request: &StreamRequest, seconds: i64) -> StreamSample {
    let (added, read) = (1000 + 100 * seconds, 500 + 60 * seconds);
    let id = |n: i64| EntryId::new(n.unsigned_abs(), 0);
    let facts = StreamFacts {
        length: added,
        first: Some(id(1)),
        last: Some(id(added)),
        last_generated: id(added),
        entries_added: Known::Is(added),
        ..StreamFacts::empty()
    };
    let group = GroupFacts {
        cursor: id(read),
        entries_read: Known::Is(read),
        reported_lag: Known::Is(added - read),
        ..GroupFacts::fresh("g")
    };
    StreamSample { facts: Ok(facts), groups: Ok(vec![group]), ..StreamSample::unasked(request.key.clone()) }
}

fn tick(store: &mut Store, second: u64, focus: &Focus, seen: &BTreeSet<Name>) -> Request {
    let mono = Mono(second * 1000);
    let request = store.next_request_with(focus, seen, mono);
    let streams: Vec<StreamSample> = request.streams.iter().map(|stream| answer(stream, second as i64)).collect();
    let cost = Cost { bytes_in: streams.len() as u64 * 800, ..Cost::default() };
    let sample = Sample { at: mono, streams, cost, ..Sample::default() };
    store.fold(sample, Now { mono, wall_ms: 0 }, Reading::Tick);
    request
}

fn keys(request: &Request) -> BTreeSet<Name> {
    request.streams.iter().map(|stream| stream.key.clone()).collect()
}

#[test]
fn every_stream_has_its_turn_within_a_sweep_and_no_tick_asks_for_more_than_it_may() {
    for streams in [10, 300, 2000] {
        let mut store = store(streams);
        let sweep = store.sweep_ms(1000) / 1000;
        for round in 0..2 {
            let mut asked = BTreeSet::new();
            for second in 0..sweep {
                let request = tick(&mut store, round * sweep + second, &Focus::None, &BTreeSet::new());
                assert!(request.streams.len() <= 700, "{} in one tick", request.streams.len());
                asked.extend(keys(&request));
            }
            assert_eq!(asked.len() as u64, streams, "in sweep {round} of {sweep} ticks");
        }
        assert!(sweep <= 5, "{streams} streams in {sweep} ticks");
        assert!(store.oldest_row_ms() < sweep * 1000);
    }
}

#[test]
fn what_is_on_the_screen_is_asked_for_in_each_tick() {
    let mut store = store(2000);
    let seen: BTreeSet<Name> = (1000..1050).map(name).collect();
    let focus = Focus::Group { key: name(1999), group: "g".into(), open: Vec::new(), strip_at: None };
    for second in 0..6 {
        let asked = keys(&tick(&mut store, second, &focus, &seen));
        assert!(seen.iter().all(|key| asked.contains(key)) && asked.contains(&name(1999)), "tick {second}");
    }
    assert!(store.streams.values().all(|stream| stream.polled.is_some()), "and the others have their turn");
}

#[test]
fn a_full_reading_asks_for_everything_at_once() {
    let mut store = store(5000);
    (0..3).for_each(|second| drop(tick(&mut store, second, &Focus::None, &BTreeSet::new())));
    assert_eq!(store.next_request(&Focus::All, Mono(3000)).streams.len(), 5000);
}

#[test]
fn rates_and_trends_are_those_of_the_groups_own_samples() {
    let mut store = store(1200);
    let mut verdicts = Verdicts::default();
    for second in 0..40 {
        tick(&mut store, second, &Focus::None, &BTreeSet::new());
        verdicts.judge(&store, Now { mono: Mono(second * 1000), wall_ms: 0 }, Reading::Tick);
    }
    for (stream, group) in store.groups() {
        let rates = group.rates(stream);
        assert_eq!((rates.added, rates.delivered), (Some(100.0), Some(60.0)), "{}", stream.key);
        assert!(
            verdicts.group(&stream.key, group.name()).findings.iter().any(|finding| finding.id == "falling-behind"),
            "{}",
            stream.key
        );
        assert!(!store.is_late(stream, 1000), "{}", stream.key);
    }
}

#[test]
fn a_stream_that_is_not_answered_for_long_is_late_and_one_whose_turn_is_to_come_is_not() {
    let mut store = store(2000);
    (0..8).for_each(|second| drop(tick(&mut store, second, &Focus::None, &BTreeSet::new())));
    assert!(store.streams.values().all(|stream| !store.is_late(stream, 1000)));
    // an outage of two minutes
    let asked = keys(&tick(&mut store, 128, &Focus::None, &BTreeSet::new()));
    assert!(store.streams.values().all(|stream| store.is_late(stream, 1000) != asked.contains(&stream.key)));
}

#[test]
fn an_expensive_moment_passes_and_streams_on_the_screen_take_no_turn_from_others() {
    let mut store = store(1000);
    let mut second = 0;
    let mut spend = |store: &mut Store, server_us: u64, walked_us: u64| {
        second += 1;
        let mono = Mono(second * 1000);
        let request = store.next_request_with(&Focus::None, &BTreeSet::new(), mono);
        let streams: Vec<StreamSample> = request.streams.iter().map(|stream| answer(stream, second as i64)).collect();
        let cost = Cost { bytes_in: streams.len() as u64 * 800, server_us: Some(server_us), ..Cost::default() };
        let walked = Cost { bytes_in: 600_000, server_us: Some(walked_us), ..Cost::default() };
        let sample = Sample { at: mono, streams, cost, walked, ..Sample::default() };
        store.fold(sample, Now { mono, wall_ms: 0 }, Reading::Tick);
        request.streams.len()
    };
    let usual = (0..10).map(|_| spend(&mut store, 6_000, 5_000)).last().unwrap();
    assert!(usual >= 500, "the census is no cost of the streams: {usual}");
    // other clients kept the server busy for seconds, again and again
    let busy = (0..20).map(|_| spend(&mut store, 3_000_000, 0)).last().unwrap();
    assert_eq!(busy, size(LEAST));
    let after = (0..40).map(|_| spend(&mut store, 600, 0)).last().unwrap();
    assert!(after >= usual / 2, "{after} after, {usual} before");
    // if the screen shows more streams than a tick can afford, the others still get their turn
    let seen: BTreeSet<Name> = (0..900).map(name).collect();
    let asked = keys(&store.next_request_with(&Focus::None, &seen, Mono(1_000_000)));
    assert!(seen.is_subset(&asked) && asked.len() >= seen.len() + size(LEAST), "{}", asked.len());
}
