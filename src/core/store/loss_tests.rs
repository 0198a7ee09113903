#![allow(clippy::unwrap_used, clippy::expect_used)]
//! Entries lost unread, from tick to tick.

use super::{
    Store,
    fake::{key, on_screen, store, watched},
};
use crate::core::{loss::LossKind, model::ServerFacts, name::Name};

fn lost(store: &Store) -> Option<(i64, LossKind)> {
    store.streams[&key()].groups[&Name::from("g")].lost.map(|lost| (lost.entries, lost.kind))
}

#[test]
fn a_loss_is_remembered_after_its_evidence_is_gone() {
    let (mut fake, mut store) = watched();
    fake.trim(2);
    fake.tick(&mut store, &on_screen("g"));
    assert_eq!(lost(&store), Some((2, LossKind::Exact)));
    fake.read("g", "c", 2);
    fake.group("g").read = Some(10);
    fake.tick(&mut store, &on_screen("g"));
    assert_eq!(lost(&store), Some((2, LossKind::AtLeast)));
}

#[test]
fn losses_at_one_cursor_after_another_add_up() {
    let (mut fake, mut store) = watched();
    store.server = ServerFacts { flavor: "redis".into(), version: "8.2.3".into(), ..ServerFacts::default() };
    fake.trim(2);
    fake.tick(&mut store, &on_screen("g"));
    fake.read("g", "c", 2);
    fake.group("g").read = Some(10);
    fake.tick(&mut store, &on_screen("g"));
    fake.add(3);
    fake.trim(1);
    fake.tick(&mut store, &on_screen("g"));
    assert_eq!(lost(&store), Some((4, LossKind::AtLeast)));
}

#[test]
fn before_7_0_what_an_emptied_stream_had_is_lost_once_the_group_reads_on() {
    let (mut fake, _) = watched();
    fake.counts = false;
    fake.trim(0);
    let mut store = store();
    fake.tick(&mut store, &on_screen("g"));
    assert_eq!(lost(&store), None, "somebody may have moved it back to where it is");
    fake.add(1);
    fake.tick(&mut store, &on_screen("g"));
    fake.read("g", "c", 1);
    for _ in 0..2 {
        fake.tick(&mut store, &on_screen("g"));
        assert_eq!(lost(&store), Some((1, LossKind::AtLeast)));
    }
}

#[test]
fn while_entries_are_being_lost_a_count_that_takes_them_as_read_is_no_rate() {
    let (mut fake, mut store) = watched();
    store.server = ServerFacts { flavor: "redis".into(), version: "8.2.3".into(), ..ServerFacts::default() };
    let losing = |store: &Store| {
        let stream = &store.streams[&key()];
        let group = &stream.groups[&Name::from("g")];
        (group.is_losing(group.at, 60_000), group.rates(stream).delivered.is_some())
    };
    // it keeps up: what is read is counted
    for _ in 0..12 {
        fake.add(1);
        fake.read("g", "c", 9);
        let cursor = fake.group("g").cursor.ms;
        fake.group("g").read = Some(cursor as i64);
        fake.tick(&mut store, &on_screen("g"));
    }
    assert_eq!(losing(&store), (false, true));
    for _ in 0..4 {
        // ten come, two of them stay, one is read: the server counts by the id
        fake.add(10);
        fake.trim(2);
        fake.tick(&mut store, &on_screen("g"));
        fake.read("g", "c", 1);
        let cursor = fake.group("g").cursor.ms;
        fake.group("g").read = Some(cursor as i64);
        fake.tick(&mut store, &on_screen("g"));
    }
    assert_eq!(losing(&store), (true, false));
}
