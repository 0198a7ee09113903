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
