#![allow(clippy::unwrap_used, clippy::expect_used)]
//! What is said about groups that are looked into only now and then.

use super::{
    Focus,
    fake::{Fake, id, key, on_screen, store},
};
use crate::core::{name::Name, time::Mono};

/// How many groups a check fires for.
fn fired(fake: &Fake, store: &super::Store, id: &str) -> usize {
    let fires = |name: &&Name| fake.verdicts.group(&key(), name).findings.iter().any(|finding| finding.id == id);
    store.streams[&key()].groups.keys().filter(fires).count()
}

#[test]
fn a_healthy_group_among_many_is_not_said_to_have_lost_its_holders() {
    let mut fake = Fake::with(40, 0);
    for group in 0..600 {
        fake.read(&format!("g{group:03}"), "c", 3);
    }
    let mut store = store();
    for _ in 0..90 {
        // each entry is handled within a second, then the next one is taken
        let now = fake.now.0;
        fake.groups.values_mut().for_each(|group| group.pel.values_mut().for_each(|(.., at)| *at = now));
        fake.tick(&mut store, &Focus::None);
        assert_eq!(fired(&fake, &store, "holder-gone"), 0, "at {:?}", fake.now);
    }
}

#[test]
fn a_holder_that_is_gone_is_said_between_the_glances_however_long_the_list_of_consumers() {
    for others in [0, 300, 3000] {
        let mut fake = Fake::with(40, 0);
        fake.read("g", "c", 3);
        fake.idle.insert(Name::from("c"), 90_000);
        fake.group("g").consumers.extend((0..others).map(|n| Name::from(format!("idle{n}").as_str())));
        fake.now = Mono(100_000);
        let mut store = store();
        (0..4).for_each(|_| fake.tick(&mut store, &Focus::None));
        for _ in 0..200 {
            fake.tick(&mut store, &Focus::None);
            assert_eq!(fired(&fake, &store, "holder-gone"), 1, "{others} others, at {:?}", fake.now);
        }
        // it is back
        fake.idle.insert(Name::from("c"), 0);
        (0..100).for_each(|_| fake.tick(&mut store, &Focus::None));
        assert_eq!(fired(&fake, &store, "holder-gone"), 0, "{others} others");
        assert_eq!(fake.group("g").cursor, id(3));
    }
}

#[test]
fn dead_holders_in_many_groups_are_all_said_all_the_time() {
    let mut fake = Fake::with(40, 0);
    for group in 0..120 {
        fake.read(&format!("g{group:03}"), "c", 3);
    }
    fake.idle.insert(Name::from("c"), 90_000);
    fake.now = Mono(100_000);
    let mut store = store();
    store.settings.gone_after_ms = 10_000;
    (0..10).for_each(|_| fake.tick(&mut store, &Focus::None));
    for _ in 0..60 {
        fake.tick(&mut store, &Focus::None);
        assert_eq!(fired(&fake, &store, "holder-gone"), 120, "at {:?}", fake.now);
    }
}

/// A group with the holders `a` and `b`. Both are gone, with 30 entries each; in the next tick somebody deals with `a`.
fn two_gone() -> (Fake, super::Store) {
    let mut fake = Fake::with(100, 0);
    fake.read("g", "a", 30);
    fake.read("g", "b", 10);
    fake.now = Mono(4_000_000);
    fake.idle = ["a", "b"].map(|name| (Name::from(name), 4_000_000)).into();
    let mut store = store();
    (0..4).for_each(|_| fake.tick(&mut store, &on_screen("g")));
    assert_eq!(fired(&fake, &store, "holder-gone"), 1);
    (fake, store)
}

#[test]
fn dealing_with_one_holder_that_is_gone_does_not_hide_the_next() {
    for deleted in [true, false] {
        let (mut fake, mut store) = two_gone();
        let group = fake.group("g");
        group.pel.retain(|_, (owner, ..)| *owner != Name::from("a"));
        if deleted {
            group.consumers.remove(&Name::from("a"));
        }
        (0..4).for_each(|_| fake.tick(&mut store, &on_screen("g")));
        let group = &store.streams[&key()].groups[&Name::from("g")];
        assert_eq!(group.seen.handling_ms(0.99), None, "deleted {deleted}");
        assert_eq!(fired(&fake, &store, "holder-gone"), 1, "deleted {deleted}");
    }
}

#[test]
fn slow_handling_by_a_consumer_at_work_moves_the_threshold_within_reason() {
    for (job_ms, threshold) in [(10_000, 60_000), (50_000, 156_000), (5_000_000, 600_000)] {
        let mut fake = Fake::with(100, 0);
        let mut store = store();
        fake.read("g", "c", 30);
        fake.tick(&mut store, &on_screen("g"));
        fake.now = Mono(job_ms);
        fake.tick(&mut store, &on_screen("g"));
        fake.tick(&mut store, &on_screen("g"));
        fake.group("g").pel.clear();
        fake.tick(&mut store, &on_screen("g"));
        let group = &store.streams[&key()].groups[&Name::from("g")];
        assert_eq!(group.gone_after_ms(&store.settings), threshold, "{job_ms}");
    }
}

#[test]
fn poison_is_said_between_the_glances_while_other_entries_come_and_go() {
    let mut fake = Fake::with(100, 0);
    for group in 0..13 {
        fake.read(&format!("g{group:02}"), "c", 3);
    }
    for (_, deliveries, _) in fake.group("g07").pel.values_mut().take(1) {
        *deliveries = 40;
    }
    let mut store = store();
    (0..15).for_each(|_| fake.tick(&mut store, &Focus::None));
    assert_eq!(fired(&fake, &store, "poison"), 1);
    for second in 0..60 {
        for group in 0..13 {
            let name = format!("g{group:02}");
            // one more is read, or the newest is acknowledged
            if second % 2 == 0 {
                fake.read(&name, "c", 1);
            } else if let Some(newest) = fake.group(&name).pel.last_key_value().map(|(id, _)| *id) {
                fake.ack(&name, newest);
            }
        }
        fake.tick(&mut store, &Focus::None);
        assert_eq!(fired(&fake, &store, "poison"), 1, "at second {second}");
    }
}
