#![allow(clippy::unwrap_used, clippy::expect_used)]
//! What watching costs depends on what is asked for.

use super::{
    Focus,
    fake::{Fake, id, key, on_screen, store},
};
use crate::core::{
    name::Name,
    sample::{GroupRequest, Request},
};
use std::collections::BTreeSet;

fn of_group<'a>(request: &'a Request, name: &str) -> Option<&'a GroupRequest> {
    request.streams.iter().flat_map(|stream| &stream.groups).find(|group| group.name == Name::from(name))
}

#[test]
fn the_overview_of_a_quiet_stream_asks_for_no_payloads_and_for_few_rows() {
    let mut fake = Fake::with(10, 10);
    let mut store = store();
    (0..20).for_each(|_| fake.tick(&mut store, &Focus::None));
    for request in &fake.asked {
        let stream = &request.streams[0];
        assert!(stream.ranges.is_empty(), "{stream:?}");
        assert!(
            stream.groups.iter().all(|group| !group.summary && group.pages.len() == 1 && group.pages[0].count <= 10),
            "{stream:?}"
        );
    }
}

#[test]
fn a_reading_asks_for_no_pending_rows_where_nothing_is_pending() {
    let mut fake = Fake::with(10, 5);
    let mut store = store();
    fake.read_fully(&mut store).unwrap();
    for request in &fake.asked {
        assert!(of_group(request, "g").is_none_or(|group| group.pages.is_empty()), "{request:?}");
    }
    (0..3).for_each(|_| fake.tick(&mut store, &on_screen("g")));
    // on the screen it is asked for anyway: by the time of the reply something may be pending
    assert_eq!(of_group(fake.asked.last().unwrap(), "g").unwrap().pages.len(), 1);
}

#[test]
fn the_group_on_the_screen_has_pages_of_fifty_and_no_more_than_five() {
    let mut fake = Fake::with(3000, 0);
    fake.read("g", "c", 2000);
    let mut store = store();
    let Focus::Group { key, group, .. } = on_screen("g") else { unreachable!() };
    let open = (0..9).map(|n| Name::from(format!("c{n}").as_str())).collect();
    let focus = Focus::Group { key, group, open, strip_at: None };
    (0..5).for_each(|_| fake.tick(&mut store, &focus));
    for request in &fake.asked {
        let pages = of_group(request, "g").map_or(&[][..], |group| &group.pages);
        let (single, long): (Vec<_>, Vec<_>) = pages.iter().partition(|page| page.count == 1);
        assert!(long.len() <= 5 && long.iter().all(|page| page.count <= 50), "{pages:?}");
        assert!(single.len() <= 10, "the oldest and the most often delivered of the last walk: {single:?}");
    }
    let small = Fake::with(10, 0);
    let (mut fake, mut store) = (small, super::fake::store());
    fake.read("g", "c", 5);
    (0..3).for_each(|_| fake.tick(&mut store, &focus));
    assert_eq!(of_group(fake.asked.last().unwrap(), "g").unwrap().pages.len(), 1, "one page has them all");
}

#[test]
fn a_long_consumer_list_is_taken_rarely_and_a_huge_one_never() {
    for (consumers, most) in [(150, 21), (1000, 4), (20_000, 1), (60_000, 0)] {
        let mut fake = Fake::with(10, 0);
        fake.read("g", "c", 3);
        fake.group("g").consumers.extend((0..consumers).map(|n| Name::from(format!("c{n}").as_str())));
        let mut store = store();
        (0..22).for_each(|_| fake.tick(&mut store, &on_screen("g")));
        let taken =
            fake.asked.iter().filter(|request| of_group(request, "g").is_some_and(|group| group.consumers)).count();
        assert!(taken <= most + 1, "{consumers} consumers, taken {taken} times");
        let summaries =
            fake.asked.iter().filter(|request| of_group(request, "g").is_some_and(|group| group.summary)).count();
        match consumers {
            ..201 => assert_eq!(summaries, 0),
            201..=1000 => assert!(summaries >= 20, "holders come from the summary: {summaries}"),
            _ => assert!((1..=3).contains(&summaries), "a list of all holders is long, too: {summaries}"),
        }
        let before = fake.asked.len();
        fake.read_fully(&mut store).expect("a reading ends without the list, too");
        let full = fake.asked[before..]
            .iter()
            .filter(|request| of_group(request, "g").is_some_and(|group| group.consumers))
            .count();
        assert!(consumers <= 1000 || full <= 1, "{full} in a reading");
        assert!(consumers < 50_000 || full == 0);
    }
}

#[test]
fn every_group_in_the_background_has_its_turn() {
    for groups in [3u64, 8, 9, 20, 24, 40] {
        let mut fake = Fake::with(10, 0);
        for group in 0..groups {
            fake.read(&format!("g{group:02}"), "c", 2);
        }
        let mut store = store();
        fake.tick(&mut store, &Focus::None);
        // the first verdict waits for all of them
        fake.tick(&mut store, &Focus::None);
        assert!(fake.asked.last().unwrap().streams[0].groups.len() as u64 >= groups);
        assert!(store.groups().all(|(_, group)| group.has_been_read()) && !store.has_unread_holders());
        let mut seen: BTreeSet<Name> = BTreeSet::new();
        for _ in 0..=groups.div_ceil(8) {
            fake.tick(&mut store, &Focus::None);
            let asked = &fake.asked.last().unwrap().streams[0].groups;
            assert!(asked.len() <= 8, "{} at once", asked.len());
            assert!(asked.iter().all(|group| group.pages.iter().all(|page| page.count <= 10)));
            seen.extend(asked.iter().map(|group| group.name.clone()));
        }
        let all: Vec<String> = (0..groups).map(|group| format!("g{group:02}")).collect();
        let missed: Vec<&String> = all.iter().filter(|name| !seen.contains(&Name::from(name.as_str()))).collect();
        assert!(missed.is_empty(), "{groups} groups, never looked into: {missed:?}");
    }
}

/// The pending list of a group in the background is known no more as soon as its length changes: that is not "never read".
#[test]
fn a_busy_group_in_the_background_stays_read() {
    let mut fake = Fake::with(0, 0);
    for group in 0..30 {
        fake.group(&format!("g{group:02}")).cursor = id(0);
    }
    let mut store = store();
    for tick in 0..20 {
        fake.add(30);
        for group in 0..30 {
            fake.read(&format!("g{group:02}"), "c", 1 + tick % 3);
        }
        fake.tick(&mut store, &Focus::None);
        let asked = fake.asked.last().unwrap().streams[0].groups.len();
        assert!(tick < 3 || !store.has_unread_holders() && asked <= 8, "tick {tick}: {asked} asked");
    }
}

#[test]
fn of_many_groups_those_with_pending_entries_are_read_first() {
    let mut fake = Fake::with(10, 0);
    for group in 0..200 {
        fake.group(&format!("g{group:03}")).cursor = id(10);
    }
    fake.read("zz-holds", "c", 2);
    let mut store = store();
    fake.tick(&mut store, &Focus::None);
    assert!(store.has_unread_holders());
    fake.tick(&mut store, &Focus::None);
    let asked = &fake.asked.last().unwrap().streams[0].groups;
    assert!(asked.len() <= 50 && asked.iter().any(|group| group.name == Name::from("zz-holds")), "{asked:?}");
    assert!(!store.has_unread_holders());
}

#[test]
fn ranges_of_large_entries_stay_below_64_kb() {
    for entry_bytes in [50, 500, 5_000, 60_000, 1_000_000] {
        let mut fake = Fake::with(3000, 1500);
        fake.entry_bytes = entry_bytes;
        let mut store = store();
        (0..12).for_each(|_| fake.tick(&mut store, &on_screen("g")));
        fake.read_fully(&mut store).expect("a reading of large entries ends");
        for range in fake.asked.iter().flat_map(|request| &request.streams[0].ranges) {
            let bytes = range.count as u64 * entry_bytes;
            assert!(bytes <= 64 * 1024 || range.count == 1, "{range:?} of {entry_bytes} bytes each");
        }
    }
}

#[test]
fn a_quiet_group_on_the_screen_asks_for_no_payloads_again() {
    for length in [10, 150, 3000] {
        let mut fake = Fake::with(length, length / 2);
        let mut store = store();
        (0..10).for_each(|_| fake.tick(&mut store, &on_screen("g")));
        let before = fake.asked.len();
        (0..20).for_each(|_| fake.tick(&mut store, &on_screen("g")));
        let again: Vec<_> = fake.asked[before..].iter().flat_map(|request| &request.streams[0].ranges).collect();
        assert!(again.is_empty(), "{length} entries: {again:?}");
    }
}

#[test]
fn a_busy_group_on_the_screen_fetches_only_what_is_new() {
    let mut fake = Fake::with(3000, 2990);
    let mut store = store();
    (0..10).for_each(|_| fake.tick(&mut store, &on_screen("g")));
    let before = fake.asked.len();
    for _ in 0..20 {
        fake.add(5);
        fake.read("g", "c", 5);
        fake.tick(&mut store, &on_screen("g"));
    }
    for range in fake.asked[before..].iter().flat_map(|request| &request.streams[0].ranges) {
        assert!(!range.backward && range.from > id(2990), "{range:?}");
    }
}

#[test]
fn the_facts_of_a_stream_of_large_entries_are_asked_for_rarely_and_its_groups_always() {
    for focus in [Focus::None, on_screen("g")] {
        let mut fake = Fake::with(10, 10);
        fake.entry_bytes = 100_000;
        let mut store = store();
        (0..40).for_each(|_| fake.tick(&mut store, &focus));
        let facts = fake.asked.iter().filter(|request| request.streams[0].facts).count();
        assert!((2..=3).contains(&facts), "{facts} in 40 ticks");
        assert!(
            fake.asked.iter().all(|request| request.streams[0].ranges.is_empty()),
            "entries as large are not fetched by themselves"
        );
    }
}

#[test]
fn a_full_reading_pages_through_the_pending_list_up_to_the_limit() {
    for (pending, limit, expected) in [(30, 1000, 30), (2500, 10_000, 2500), (2500, 1200, 1200), (2500, 0, 0)] {
        let mut fake = Fake::with(3000, 0);
        fake.read("g", "c", pending);
        let mut store = store();
        store.settings.pel_limit = limit;
        fake.read_fully(&mut store).expect("it ends");
        let pel = &store.streams[&key()].groups[&Name::from("g")].pel;
        assert_eq!(pel.rows.len(), expected, "{pending} pending, limit {limit}");
        assert_eq!(pel.complete, expected == pending, "{pending} pending, limit {limit}");
        let pages = fake.asked.iter().filter_map(|request| of_group(request, "g")).flat_map(|group| &group.pages);
        assert!(pages.into_iter().all(|page| page.count <= 1000));
    }
}

#[test]
fn a_reading_of_one_group_asks_nothing_of_the_others() {
    let mut fake = Fake::with(10, 5);
    fake.read("h", "c", 3);
    let mut store = store();
    store.settings.groups = vec![Name::from("g")];
    fake.read_fully(&mut store).expect("it ends");
    assert!(fake.asked.iter().all(|request| of_group(request, "h").is_none()));
}
