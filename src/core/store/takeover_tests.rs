#![allow(clippy::unwrap_used)]
//! What is told when another server answers for a stream, and what is not.

use super::missing_acknowledgements;
use crate::core::{
    id::EntryId,
    known::Known,
    model::{GroupFacts, LagFamily, ServerFacts},
    sample::Reached,
    store::{
        Reading, Store,
        fake::{Fake, events, on_screen, watched},
    },
    time::{Mono, Now},
};

fn reached(port: u16) -> Reached {
    Reached { endpoint: format!("orders at 10.0.0.1:{port}"), cli_words: format!("-h 10.0.0.1 -p {port}") }
}

fn server(uptime_ms: i64) -> ServerFacts {
    ServerFacts {
        flavor: "redis".into(),
        version: "7.4.1".into(),
        uptime_ms: Some(uptime_ms),
        ..ServerFacts::default()
    }
}

/// One tick of a connection that was just made.
fn first_tick(fake: &mut Fake, store: &mut Store, port: u16, uptime_ms: i64) {
    fake.now = Mono(fake.now.0 + 1000);
    let mut sample = fake.answer(&store.next_request(&on_screen("g"), fake.now));
    (sample.reached, sample.server) = (Some(reached(port)), Some(server(uptime_ms)));
    store.fold(sample, Now { mono: fake.now, wall_ms: 0 }, Reading::Tick);
}

#[test]
fn acknowledgements_that_the_new_master_does_not_know_are_counted() {
    let (mut master, mut store) = watched();
    first_tick(&mut master, &mut store, 1, 90_000);
    let mut replica = master.clone();
    let settled: Vec<EntryId> = master.group("g").pel.keys().copied().take(4).collect();
    for id in settled {
        master.ack("g", id);
    }
    master.tick(&mut store, &on_screen("g"));
    replica.now = master.now;
    first_tick(&mut replica, &mut store, 2, 90_000);
    assert_eq!(events(&store), ["failover", "acknowledgements-lost"]);
    assert_eq!(store.events[0].text, "a failover: orders at 10.0.0.1:2 is the master now, it was orders at 10.0.0.1:1");
    assert_eq!(
        store.events[1].text,
        "g: at least 4 entries of those pending now were acknowledged before orders at 10.0.0.1:2 took over; they come a second time"
    );
    // the same server, connected to once more
    first_tick(&mut replica, &mut store, 2, 91_000);
    assert_eq!(store.events.len(), 2);
}

#[test]
fn entries_that_the_new_master_never_got_are_told_and_the_stream_is_not_called_new() {
    let (mut master, mut store) = watched();
    first_tick(&mut master, &mut store, 1, 90_000);
    let mut replica = master.clone();
    master.add(5);
    master.tick(&mut store, &on_screen("g"));
    replica.now = master.now;
    first_tick(&mut replica, &mut store, 2, 90_000);
    assert_eq!(events(&store), ["failover", "entries-lost"]);
    assert!(store.events[1].text.starts_with("entries after 10-0 are gone"), "{}", store.events[1].text);
}

#[test]
fn a_server_that_starts_again_from_an_old_file_is_one_that_takes_over() {
    let (mut fake, mut store) = watched();
    first_tick(&mut fake, &mut store, 1, 90_000);
    let mut file = fake.clone();
    fake.ack("g", EntryId::new(1, 0));
    fake.tick(&mut store, &on_screen("g"));
    file.now = fake.now;
    first_tick(&mut file, &mut store, 1, 0);
    assert_eq!(events(&store), ["acknowledgements-lost"]);
    assert!(
        store.events[0].text.ends_with("before the server started again; it comes a second time"),
        "{}",
        store.events[0].text
    );
}

#[test]
fn a_takeover_that_loses_nothing_tells_of_the_failover_only() {
    let (mut fake, mut store) = watched();
    first_tick(&mut fake, &mut store, 1, 90_000);
    first_tick(&mut fake, &mut store, 2, 50_000);
    fake.add(3);
    fake.read("g", "c", 3);
    fake.tick(&mut store, &on_screen("g"));
    assert_eq!(events(&store), ["failover"]);
}

#[test]
fn what_is_missing_is_never_more_than_what_is_proved() {
    let group = |cursor: u64, pending: i64, read: Option<i64>| GroupFacts {
        cursor: EntryId::new(cursor, 0),
        pending: Known::Is(pending),
        entries_read: read.map_or(Known::Undetermined, Known::Is),
        ..GroupFacts::fresh("g")
    };
    let missing = |old, new, family| missing_acknowledgements(&old, &new, family);
    let by_counters = LagFamily::B;
    for (what, expected, old, new) in [
        ("the cursor stands and more is pending", 4, group(9, 2, Some(9)), group(9, 6, Some(9))),
        ("read on since then", 0, group(9, 2, Some(9)), group(12, 5, Some(12))),
        ("read on since then, and less is settled", 3, group(9, 2, Some(9)), group(12, 8, Some(12))),
        ("went back, with what was read", 2, group(9, 2, Some(9)), group(5, 0, Some(5))),
        ("fewer pending", 0, group(9, 6, Some(9)), group(9, 2, Some(9))),
        ("no counters", 1, group(9, 2, None), group(9, 3, None)),
        ("no counters, read on", 0, group(9, 2, None), group(12, 9, None)),
    ] {
        assert_eq!(missing(old, new, by_counters), expected, "{what}");
    }
    // counters that drift on replicas prove nothing
    assert_eq!(missing(group(9, 2, Some(9)), group(12, 8, Some(12)), LagFamily::A), 0);
    let unknown = GroupFacts { pending: Known::Undetermined, ..GroupFacts::fresh("g") };
    assert_eq!(missing(group(9, 0, Some(9)), unknown, by_counters), 0);
}
