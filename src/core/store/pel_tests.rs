#![allow(clippy::unwrap_used, clippy::expect_used)]
use super::*;
use proptest::prelude::*;

fn row(ms: u64, owner: &str, idle_ms: i64) -> PendingRow {
    PendingRow { id: EntryId::new(ms, 0), owner: Some(Name::from(owner)), idle_ms: Some(idle_ms), deliveries: 1 }
}

fn page(from: EntryId, count: usize, consumer: Option<&str>) -> PageRequest {
    PageRequest { from, to: EntryId::MAX, count, consumer: consumer.map(Name::from) }
}

fn rows(of: impl IntoIterator<Item = u64>) -> Vec<PendingRow> {
    of.into_iter().map(|ms| row(ms, "c", ms as i64)).collect()
}

#[test]
fn pages_that_go_on_where_the_last_ended_add_up_to_the_whole() {
    let mut pel = Pel::default();
    pel.update(Mono(0), &[(page(EntryId::MIN, 3, None), &rows(1..=3))], Some(5), Reading::Full);
    assert!(!pel.complete);
    assert_eq!(pel.known_to(), EntryId::new(3, 0));
    assert!(pel.is_known(EntryId::new(2, 0)) && !pel.is_known(EntryId::new(4, 0)));
    let from = pel.known_to().next().unwrap();
    pel.update(Mono(10), &[(page(from, 3, None), &rows(4..=5))], Some(5), Reading::Full);
    assert!(pel.complete);
    assert_eq!(pel.rows.len(), 5);
    assert_eq!(pel.rows[0].idle_ms, Some(11), "idle times go on between pages");
    assert_eq!(pel.oldest_idle(), Extreme::Exact(Some((13, EntryId::new(3, 0)))));
}

#[test]
fn a_page_from_the_start_replaces_what_was_known() {
    let mut pel = Pel::default();
    pel.update(Mono(0), &[(page(EntryId::MIN, 50, None), &rows(1..=4))], Some(4), Reading::Tick);
    pel.update(Mono(1000), &[(page(EntryId::MIN, 50, None), &rows(3..=4))], Some(2), Reading::Tick);
    assert_eq!(pel.rows.len(), 2);
    assert!(pel.complete && pel.is_known(EntryId::new(1, 0)));
}

#[test]
fn a_consumers_own_page_says_nothing_of_the_others() {
    let mut pel = Pel::default();
    pel.update(Mono(0), &[(page(EntryId::MIN, 50, Some("c")), &rows(1..=4))], Some(9), Reading::Tick);
    assert!(!pel.is_known(EntryId::new(2, 0)) && !pel.complete && !pel.is_fetched());
    assert_eq!(pel.of(Some(&Name::from("c"))).count(), 4);
}

#[test]
fn a_part_of_a_pel_has_bounds_and_no_extremes() {
    let mut pel = Pel::default();
    assert_eq!(pel.oldest_idle(), Extreme::Unknown);
    pel.update(
        Mono(0),
        &[(page(EntryId::MIN, 2, None), &vec![row(1, "a", 7), row(2, "b", 9)])],
        Some(1000),
        Reading::Tick,
    );
    assert_eq!(pel.oldest_idle(), Extreme::AtLeast(9, EntryId::new(2, 0)));
    assert_eq!(pel.oldest_idle_of(&Name::from("a")), Extreme::AtLeast(7, EntryId::new(1, 0)));
    assert_eq!(pel.oldest_idle_of(&Name::from("z")), Extreme::Unknown, "z may hold any of the rest");
    pel.set_empty(Mono(5));
    assert_eq!(pel.oldest_idle(), Extreme::Exact(None));
}

#[test]
fn given_up_entries_are_no_highest_count() {
    let mut pel = Pel::default();
    let given_up = PendingRow { owner: None, idle_ms: None, deliveries: FATAL_DELIVERIES, ..row(1, "c", 0) };
    let twice = PendingRow { deliveries: 2, ..row(2, "c", 0) };
    pel.update(Mono(0), &[(page(EntryId::MIN, 50, None), &vec![given_up, twice])], Some(2), Reading::Tick);
    assert_eq!(pel.max_deliveries().value(), Some(2));
    assert_eq!(pel.of(None).count(), 1);
}

#[test]
fn rows_of_an_earlier_tick_prove_nothing() {
    let mut pel = Pel::default();
    pel.set_empty(Mono(0));
    pel.outdate(Some(3));
    assert!(!pel.is_known(EntryId::new(1, 0)) && !pel.complete && pel.is_stale());
    pel.update(Mono(1), &[(page(EntryId::MIN, 50, None), &rows(1..=3))], Some(3), Reading::Tick);
    assert!(pel.is_known(EntryId::new(1, 0)) && pel.complete && !pel.is_stale());
}

proptest! {
    #[test]
    fn what_is_known_is_never_wrong_about_a_pel_that_holds_still(
        ids in prop::collection::btree_set(0..200u64, 0..60),
        size in 1..20usize,
        extra in prop::option::of(0..200u64),
    ) {
        let all: Vec<PendingRow> = rows(ids.iter().copied());
        let from = |from: EntryId| all.iter().filter(|row| row.id >= from).take(size).cloned().collect::<Vec<_>>();
        let (mut pel, mut next, mut pages) = (Pel::default(), Some(EntryId::MIN), 0);
        while let Some(start) = next.filter(|_| !pel.complete) {
            let found = from(start);
            let mut asked = vec![(page(start, size, None), &found)];
            // a second page further on, like the one that the screen asks for around the cursor
            let more = extra.filter(|_| pages == 0).map(|ms| (EntryId::new(ms, 0), from(EntryId::new(ms, 0))));
            asked.extend(more.as_ref().map(|(start, found)| (page(*start, size, None), found)));
            pel.update(Mono(0), &asked, Some(all.len() as i64), Reading::Full);
            for ms in 0..201 {
                let id = EntryId::new(ms, 0);
                let (known, pending) = (pel.is_known(id), ids.contains(&ms));
                prop_assert!(!known || pel.rows.iter().any(|row| row.id == id) == pending, "{id}");
            }
            prop_assert!(!pel.complete || pel.rows == all);
            next = pel.known_to().next();
            pages += 1;
            prop_assert!(pages <= ids.len() / size + 2, "paging ends");
        }
        prop_assert!(pel.complete);
    }
}
