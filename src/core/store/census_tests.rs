#![allow(clippy::unwrap_used, clippy::expect_used)]

use super::{
    super::{
        Reading,
        fake::{Fake, id, key, on_screen, store},
    },
    *,
};
use crate::core::{
    sample::{Fault, Sample},
    time::Now,
};
use proptest::prelude::*;

/// `count` entries given to `c1`, ten at a time, a second apart.
fn held(count: u64) -> Fake {
    let mut fake = Fake::with(count + 20, 0);
    for _ in 0..count / 10 {
        fake.now = Mono(fake.now.0 + 1000);
        fake.read("g", "c1", 10);
    }
    fake
}

fn group<'a>(store: &'a Store, name: &str) -> &'a GroupState {
    store.group(&key(), &Name::from(name)).unwrap().1
}

/// Ticks until a walk is complete.
fn walk_through(fake: &mut Fake, store: &mut Store, focus: &Focus) {
    for _ in 0..100 {
        fake.tick(store, focus);
        if group(store, "g").census.done.is_some() {
            return;
        }
    }
    panic!("no walk was completed in a hundred ticks");
}

#[test]
fn a_pel_that_is_seen_whole_is_not_walked() {
    let (mut fake, mut store) = (held(50), store());
    (0..5).for_each(|_| fake.tick(&mut store, &on_screen("g")));
    assert!(group(&store, "g").pel.complete);
    assert!(fake.asked.iter().all(|request| request.census.is_none()));
}

#[test]
fn without_a_budget_nothing_is_walked() {
    let (mut fake, mut store) = (held(500), store());
    store.settings.census.second_us = 0;
    (0..5).for_each(|_| fake.tick(&mut store, &on_screen("g")));
    assert!(fake.asked.iter().all(|request| request.census.is_none()));
}

#[test]
fn what_a_walk_found_is_exact_while_it_holds_and_named_by_its_age() {
    let (mut fake, mut store) = (held(500), store());
    // the oldest by id is not idle longest: it was claimed
    (1..=100).for_each(|n| fake.group("g").pel.get_mut(&id(n)).unwrap().2 = 49_000);
    fake.group("g").pel.get_mut(&id(300)).unwrap().1 = 9;
    let focus = on_screen("g");
    (0..2).for_each(|_| fake.tick(&mut store, &focus));
    assert!(matches!(group(&store, "g").oldest_idle(fake.now), Extreme::AtLeast(..)));
    walk_through(&mut fake, &mut store, &focus);
    fake.tick(&mut store, &focus);
    let found = group(&store, "g");
    assert_eq!(found.oldest_idle(fake.now), Extreme::Exact(Some((fake.now.0 as i64 - 11_000, id(101)))));
    assert_eq!(found.pel.max_deliveries(), Extreme::AtLeast(9, id(300)), "it is read again as long as it is pending");
    // it leaves: the next oldest is known without another walk
    (101..=110).for_each(|n| fake.ack("g", id(n)));
    let before = fake.asked.len();
    (0..8).for_each(|_| fake.tick(&mut store, &focus));
    let found = group(&store, "g");
    assert_eq!(found.oldest_idle(fake.now), Extreme::Exact(Some((fake.now.0 as i64 - 12_000, id(111)))));
    assert!(fake.asked[before..].iter().all(|request| request.census.is_none()));
}

#[test]
fn when_all_of_the_oldest_left_another_walk_begins() {
    let (mut fake, mut store) = (held(500), store());
    let focus = on_screen("g");
    walk_through(&mut fake, &mut store, &focus);
    (1..=100).for_each(|n| fake.ack("g", id(n)));
    (0..40).for_each(|_| fake.tick(&mut store, &focus));
    let found = group(&store, "g");
    assert_eq!(found.oldest_idle(fake.now), Extreme::Exact(Some((fake.now.0 as i64 - 11_000, id(101)))));
}

#[test]
fn a_consumer_that_got_nothing_since_still_holds_what_was_walked() {
    let (mut fake, mut store) = (held(200), store());
    fake.read("g", "c2", 10);
    fake.idle = [(Name::from("c1"), 600_000), (Name::from("c2"), 0)].into();
    let focus = on_screen("g");
    walk_through(&mut fake, &mut store, &focus);
    fake.tick(&mut store, &focus);
    let (c1, c2) = (Name::from("c1"), Name::from("c2"));
    let found = group(&store, "g");
    assert_eq!(found.held_of_census(&c1).map(|held| held.entries), Some(200));
    assert_eq!(found.held_of_census(&c2), None, "it was seen since");
    let mut quiet = found.clone();
    // a list from before the walk does not show what happened during it
    quiet.consumers.at = Mono(quiet.census.done.as_ref().unwrap().begun.0 - 1);
    assert_eq!(quiet.held_of_census(&c1), None);
    let mut quiet = found.clone();
    quiet.consumers.value.iter_mut().flatten().for_each(|consumer| consumer.pending -= 1);
    assert_eq!(quiet.held_of_census(&c1), None, "it holds another number now");
}

#[test]
fn the_group_on_the_screen_comes_first_and_a_walk_that_was_left_is_forgotten() {
    let (mut fake, mut store) = (held(3000), store());
    fake.census_steps = 1;
    fake.groups.insert(Name::from("h"), fake.groups[&Name::from("g")].clone());
    (0..3).for_each(|_| fake.tick(&mut store, &on_screen("g")));
    assert!(group(&store, "g").census.walking.is_some());
    (0..3).for_each(|_| fake.tick(&mut store, &on_screen("h")));
    assert!(group(&store, "g").census.walking.is_none() && group(&store, "h").census.walking.is_some());
    // in the overview, the walk that was begun is finished, then the other group is walked, and then both rest
    fake.census_steps = 10;
    for _ in 0..60 {
        fake.tick(&mut store, &Focus::None);
        if group(&store, "g").census.done.is_some() {
            break;
        }
    }
    assert!(group(&store, "h").census.done.is_some() && group(&store, "g").census.done.is_some());
    fake.tick(&mut store, &Focus::None);
    assert!(fake.asked.last().unwrap().census.is_none());
}

#[test]
fn a_walk_of_a_group_that_was_created_again_does_not_count_for_it() {
    let (mut fake, mut store) = (held(3000), store());
    fake.census_steps = 1;
    let focus = on_screen("g");
    (0..3).for_each(|_| fake.tick(&mut store, &focus));
    let late = {
        let request = store.next_request(&focus, fake.now);
        fake.census_steps = 1000;
        fake.answer(&request)
    };
    assert!(late.census.as_ref().is_some_and(|found| found.tally.is_complete()));
    fake.missing = true;
    fake.tick(&mut store, &focus);
    let mut again = held(600);
    again.now = Mono(fake.now.0 + 1000);
    again.census_steps = 0;
    again.tick(&mut store, &focus);
    store.fold(Sample { streams: Vec::new(), ..late }, Now { mono: again.now, wall_ms: 0 }, Reading::Tick);
    assert!(group(&store, "g").census.done.is_none(), "it was the walk of the group before");
}

#[test]
fn a_walk_that_failed_is_tried_again_later_only() {
    let (mut fake, mut store) = (held(3000), store());
    let focus = on_screen("g");
    fake.tick(&mut store, &focus);
    let request = store.next_request(&focus, fake.now);
    let mut sample = fake.answer(&request);
    let tally = &mut sample.census.as_mut().unwrap().tally;
    tally.fault = Some(Fault::NoGroup.words());
    tally.ended = Some(fake.now);
    store.fold(sample, Now { mono: fake.now, wall_ms: 0 }, Reading::Tick);
    assert!(store.next_request(&focus, fake.now).census.is_none());
    assert!(store.next_request(&focus, Mono(fake.now.0 + REST_MS)).census.is_some());
}

#[test]
fn an_entry_delivered_again_while_the_walk_ends_is_not_the_oldest() {
    let (mut fake, mut store) = (held(250), store());
    fake.census_steps = 1;
    let focus = on_screen("g");
    // the oldest change hands in each tick, also in the one in which the walk ends
    for turn in 0..10 {
        let now = fake.now.0;
        // beyond the rows that each tick reads
        let ids = if turn == 0 { 1..100 } else { 90 + turn * 10..100 + turn * 10 };
        for (_, row) in fake.group("g").pel.range_mut(id(ids.start)..id(ids.end)) {
            *row = (Name::from("c2"), row.1 + 1, now);
        }
        fake.tick(&mut store, &focus);
        if let Extreme::Exact(found) = group(&store, "g").oldest_idle(fake.now) {
            let pel = &fake.groups[&Name::from("g")].pel;
            let truth = pel.values().map(|(_, _, at)| fake.now.since(Mono(*at)) as i64).max();
            assert_eq!(found.map(|(ms, _)| ms), truth, "turn {turn}");
        }
    }
    assert!(group(&store, "g").census.done.is_some());
}

#[derive(Clone, Debug)]
enum Act {
    Read(bool, usize),
    Ack(u64, u64),
    Claim(u64, u64),
    Rewind(u64),
    Wait,
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        (any::<bool>(), 1_usize..40).prop_map(|(one, count)| Act::Read(one, count)),
        (1_u64..300, 1_u64..60).prop_map(|(from, count)| Act::Ack(from, count)),
        (1_u64..300, 1_u64..60).prop_map(|(from, count)| Act::Claim(from, count)),
        (0_u64..300).prop_map(Act::Rewind),
        Just(Act::Wait),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    /// Whatever happens between the ticks, an oldest idle time that is called exact is the true one.
    #[test]
    fn an_exact_oldest_is_the_oldest(acts in prop::collection::vec(act(), 10..80), steps in 1_usize..4) {
        let (mut fake, mut store) = (held(250), store());
        fake.census_steps = steps;
        fake.add(200);
        let focus = on_screen("g");
        let mut exact = 0;
        for act in acts {
            fake.now = Mono(fake.now.0 + 300);
            let now = fake.now.0;
            match act {
                Act::Read(one, count) => fake.read("g", if one { "c1" } else { "c2" }, count),
                Act::Ack(from, count) => (from..from + count).for_each(|n| fake.ack("g", id(n))),
                Act::Claim(from, count) => {
                    for (_, row) in fake.group("g").pel.range_mut(id(from)..id(from + count)) {
                        *row = (Name::from("c2"), row.1 + 1, now);
                    }
                }
                Act::Rewind(to) => fake.group("g").cursor = id(to),
                Act::Wait => {}
            }
            fake.tick(&mut store, &focus);
            if let Extreme::Exact(found) = group(&store, "g").oldest_idle(fake.now) {
                let pel = &fake.groups[&Name::from("g")].pel;
                let truth = pel.values().map(|(_, _, at)| fake.now.since(Mono(*at)) as i64).max();
                prop_assert_eq!(found.map(|(ms, _)| ms), truth);
                exact += 1;
            }
        }
        prop_assert!(exact > 0 || fake.asked.len() < 40, "it should be known now and then");
    }
}
