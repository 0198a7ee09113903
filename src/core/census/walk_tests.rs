#![allow(clippy::unwrap_used, clippy::expect_used)]

use super::{
    super::{AGES_MS, HolderTally, LEAST_SWEPT, Limits, OldEntry},
    *,
};
use crate::core::{
    known::Known,
    model::{FATAL_DELIVERIES, StreamFacts},
    name::Name,
};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

/// A PEL as a server has it, and the entries of its stream.
#[derive(Clone, Debug, Default)]
struct Server {
    /// Holder, time of the last delivery, delivery count; an entry without a holder is released.
    pel: BTreeMap<EntryId, (Option<Name>, i64, i64)>,
    entries: BTreeSet<EntryId>,
    /// The largest deleted id.
    max_deleted: EntryId,
}

fn id(n: u64) -> EntryId {
    EntryId::new(n, 0)
}

impl Server {
    /// `held` entries from 1-0 on, one held by each of `holders` consumers in turn, delivered a millisecond apart.
    fn with(held: u64, holders: u64) -> Self {
        let row = |n: u64| (id(n), (Some(Name::from(format!("c{}", n % holders).as_str())), n as i64, 1));
        Self { pel: (1..=held).map(row).collect(), entries: (1..=held).map(id).collect(), max_deleted: EntryId::MIN }
    }

    fn facts(&self) -> StreamFacts {
        StreamFacts {
            length: self.entries.len() as i64,
            first: self.entries.first().copied(),
            last: self.entries.last().copied(),
            last_generated: id(1_000_000),
            entries_added: Known::Is(1_000_000),
            max_deleted: Known::Is(self.max_deleted),
            ..StreamFacts::empty()
        }
    }

    fn request(&self) -> CensusRequest {
        let mut holders: BTreeMap<Name, i64> = BTreeMap::new();
        for (owner, _, _) in self.pel.values() {
            if let Some(owner) = owner {
                *holders.entry(owner.clone()).or_default() += 1;
            }
        }
        CensusRequest {
            key: Name::from("k"),
            group: Name::from("g"),
            round: 0,
            pending: self.pel.len() as i64,
            stream: self.facts(),
            entry_bytes: 50,
            holders: holders.into_iter().collect(),
            limits: Limits::default(),
        }
    }

    fn rows(&self, from: EntryId, at: Mono, count: usize, keep: impl Fn(&PendingRow) -> bool) -> Vec<PendingRow> {
        let row = |(id, (owner, since, deliveries)): (&EntryId, &(Option<Name>, i64, i64))| PendingRow {
            id: *id,
            owner: owner.clone(),
            idle_ms: owner.is_some().then(|| at.0 as i64 - since),
            deliveries: *deliveries,
        };
        self.pel.range(from..).map(row).filter(keep).take(count).collect()
    }

    fn answer(&self, step: &Step, at: Mono) -> Answer {
        match step {
            Step::Older(asked) => Answer::Page(Ok(self.rows(asked.from, at, asked.count, |row| {
                row.owner.as_ref() == Some(&asked.consumer) && row.idle_ms >= Some(asked.idle_ms)
            }))),
            Step::Page(page) => Answer::Page(Ok(self.rows(page.from, at, page.count, |_| true))),
            Step::Look(ids) => Answer::There(ids.iter().map(|id| Some(self.entries.contains(id))).collect()),
            Step::Confirm(ids) => Answer::There(ids.iter().map(|id| Some(self.pel.contains_key(id))).collect()),
        }
    }
}

/// What a command costs: a price for each row that is returned, and a lower one for each that the filter checks.
fn cost_us(step: &Step, server: &Server, per_row_ns: u64) -> u64 {
    let of = |name: &Name| server.pel.values().filter(|(owner, ..)| owner.as_ref() == Some(name)).count() as u64;
    match step {
        Step::Older(asked) => of(&asked.consumer) * per_row_ns / 6000,
        Step::Page(page) => page.count as u64 * per_row_ns / 1000,
        Step::Look(ids) | Step::Confirm(ids) => ids.len() as u64 * 2,
    }
    .max(1)
}

/// Walks to the end; `meanwhile` may change the server before each step.
fn walk(
    server: &mut Server,
    per_row_ns: u64,
    mut meanwhile: impl FnMut(&mut Server, &Step),
) -> (Walk, Vec<(Step, u64)>) {
    let mut now = Mono(2_000_000);
    let mut walk = Walk::new(server.request(), now);
    let mut steps = Vec::new();
    while let Some(step) = walk.next(now) {
        meanwhile(server, &step);
        now = Mono(now.0 + 20);
        let spent = cost_us(&step, server, per_row_ns);
        let answer = server.answer(&step, now);
        walk.take(&step, answer, spent, now);
        steps.push((step, spent));
        assert!(steps.len() < 100_000, "it does not end");
    }
    (walk, steps)
}

#[test]
fn every_entry_is_counted_once_and_no_command_exceeds_its_bound() {
    for per_row_ns in [300, 560, 2000] {
        let mut server = Server::with(30_000, 3);
        let (walk, steps) = walk(&mut server, per_row_ns, |_, _| {});
        let tally = walk.tally();
        assert!(tally.is_complete() && tally.percent() == 100);
        assert_eq!(
            (tally.walked, tally.ages.iter().sum::<i64>(), tally.deliveries),
            (30_000, 30_000, [30_000, 0, 0, 0])
        );
        assert_eq!(tally.oldest.first().map(|old| old.id), Some(id(1)));
        let dearest = steps.iter().map(|(_, us)| *us).max().unwrap();
        assert!(dearest <= 1000, "{per_row_ns} ns a row: {dearest} us");
        assert_eq!(tally.slowest_us, dearest);
    }
}

#[test]
fn a_large_pel_is_searched_for_its_oldest_entry_before_the_rows_are_read() {
    let mut server = Server::with(LEAST_SWEPT as u64, 10);
    server.pel.get_mut(&id(40_007)).unwrap().1 = -5_000;
    let (walk, steps) = walk(&mut server, 400, |_, _| {});
    let searched = steps.iter().take_while(|(step, _)| matches!(step, Step::Older(_))).count();
    assert!((10..40).contains(&searched), "one command a holder and a few more: {searched}");
    assert!(steps.iter().skip(searched).all(|(step, _)| !matches!(step, Step::Older(_))));
    assert_eq!(walk.tally().first, Some(OldEntry { since: -5_000, id: id(40_007), deliveries: 1 }));
    assert_eq!(walk.tally().oldest.first(), walk.tally().first.as_ref());
}

#[test]
fn holders_too_large_for_one_command_are_not_searched() {
    let mut server = Server::with(LEAST_SWEPT as u64, 2);
    let (walked, steps) = walk(&mut server, 400, |_, _| {});
    assert!(walked.tally().is_complete() && steps.iter().all(|(step, _)| !matches!(step, Step::Older(_))));
    // the search ends when holders turn out to cost more than a command may
    let mut server = Server::with(LEAST_SWEPT as u64, 10);
    let (walked, steps) = walk(&mut server, 2000, |_, _| {});
    assert!(walked.tally().is_complete() && walked.tally().first.is_none());
    assert_eq!(steps.iter().filter(|(step, _)| matches!(step, Step::Older(_))).count(), 3);
}

#[test]
fn payloads_are_looked_up_only_where_the_facts_do_not_tell() {
    let mut server = Server::with(1000, 4);
    server.entries.retain(|entry| *entry >= id(101));
    let (by_facts, steps) = walk(&mut server, 400, |_, _| {});
    assert_eq!((by_facts.tally().gone, by_facts.tally().unsure), (100, 0));
    assert!(steps.iter().all(|(step, _)| matches!(step, Step::Page(_))));
    server.entries.retain(|entry| entry.ms % 10 != 0);
    server.max_deleted = id(500);
    let (looked_up, steps) = walk(&mut server, 400, |_, _| {});
    assert_eq!((looked_up.tally().gone, looked_up.tally().unsure), (140, 0), "by trimming 100, by deletes 40");
    assert!(steps.iter().any(|(step, _)| matches!(step, Step::Look(_))));
}

#[test]
fn an_entry_acknowledged_and_deleted_between_two_steps_has_not_lost_its_payload() {
    let mut server = Server::with(1000, 4);
    server.max_deleted = id(1000);
    let (walked, _) = walk(&mut server, 400, |server, step| {
        if let Step::Look(ids) = step {
            for id in ids.iter().filter(|id| id.ms % 7 == 0) {
                server.pel.remove(id);
                server.entries.remove(id);
            }
        }
    });
    assert_eq!((walked.tally().gone, walked.tally().unsure), (0, 0));
}

#[test]
fn large_entries_are_not_fetched_to_look_whether_they_are_there() {
    let mut server = Server::with(100, 4);
    server.max_deleted = id(1000);
    let now = Mono(1_000_000);
    let mut walk = Walk::new(CensusRequest { entry_bytes: 100_000, ..server.request() }, now);
    while let Some(step) = walk.next(now) {
        assert!(matches!(step, Step::Page(_)));
        walk.take(&step, server.answer(&step, now), 10, now);
    }
    assert_eq!((walk.tally().gone, walk.tally().unsure), (0, 100));
    server.entries.clear();
}

#[test]
fn given_up_and_released_entries_are_words_and_no_numbers() {
    let mut server = Server::with(10, 2);
    server.pel.get_mut(&id(3)).unwrap().2 = FATAL_DELIVERIES;
    server.pel.get_mut(&id(4)).unwrap().0 = None;
    server.pel.get_mut(&id(5)).unwrap().2 = i64::MIN;
    server.pel.get_mut(&id(6)).unwrap().2 = 7;
    let (walk, _) = walk(&mut server, 400, |_, _| {});
    let tally = walk.tally();
    assert_eq!((tally.fatal, tally.unowned, tally.most), (1, 1, Some(7)));
    assert_eq!(tally.worst, [(FATAL_DELIVERIES, id(3)), (7, id(6))]);
    assert_eq!(tally.ages.iter().sum::<i64>() + tally.unowned, 10);
    assert_eq!(tally.deliveries.iter().sum::<i64>() + tally.fatal, 9, "a count below 0 is none");
}

#[test]
fn a_refused_page_ends_the_walk_with_its_reason() {
    let server = Server::with(10, 2);
    let mut walk = Walk::new(server.request(), Mono(0));
    let step = walk.next(Mono(0)).unwrap();
    walk.take(&step, Answer::Page(Err(Fault::NoGroup)), 1, Mono(1));
    assert_eq!(walk.next(Mono(1)), None);
    assert_eq!(walk.tally().fault.as_deref(), Some("no such group"));
    assert!(!walk.tally().is_complete() && walk.tally().percent() < 100);
}

#[test]
fn another_round_or_group_is_another_walk() {
    let server = Server::with(10, 2);
    let mut walk = Walk::new(server.request(), Mono(0));
    assert!(walk.follow(&CensusRequest { pending: 12, ..server.request() }));
    assert_eq!(walk.tally().of, 12);
    assert!(!walk.follow(&CensusRequest { round: 1, ..server.request() }));
    assert!(!walk.follow(&CensusRequest { group: Name::from("h"), ..server.request() }));
}

proptest! {
    /// Whatever is pending, the tally equals a count over all rows.
    #[test]
    fn the_tally_is_that_of_the_whole_pel(
        rows in prop::collection::btree_map(1_u64..500, (0_u8..5, -90_000_000_i64..2_000_000, 1_i64..20), 0..300),
        entries in prop::collection::btree_set(1_u64..500, 0..300),
        max_deleted in 0_u64..600,
    ) {
        let owner = |n: u8| (n > 0).then(|| Name::from(format!("c{n}").as_str()));
        let mut server = Server {
            pel: rows.iter().map(|(n, (who, since, tries))| (id(*n), (owner(*who), *since, *tries))).collect(),
            entries: entries.iter().map(|n| id(*n)).collect(),
            max_deleted: id(max_deleted),
        };
        // only entries between the first entry and the largest deleted id may be missing
        let first = server.entries.first().copied().unwrap_or(EntryId::MAX);
        server.entries.extend(server.pel.keys().filter(|id| **id > server.max_deleted && **id > first).copied().collect::<Vec<_>>());
        let (walk, _) = walk(&mut server, 400, |_, _| {});
        let tally = walk.tally();
        let held: Vec<(EntryId, Name, i64, i64)> = server
            .pel
            .iter()
            .filter_map(|(id, (owner, since, tries))| Some((*id, owner.clone()?, *since, *tries)))
            .collect();
        prop_assert!(tally.is_complete());
        prop_assert_eq!(tally.walked, server.pel.len() as i64);
        prop_assert_eq!(tally.unowned, (server.pel.len() - held.len()) as i64);
        prop_assert_eq!(tally.gone, server.pel.keys().filter(|id| !server.entries.contains(id)).count() as i64);
        prop_assert_eq!(tally.unsure, 0);
        prop_assert_eq!(tally.most, server.pel.values().map(|(_, _, tries)| *tries).max());
        let mut worst: Vec<(i64, EntryId)> =
            server.pel.iter().map(|(id, row)| (row.2, *id)).filter(|(tries, _)| *tries > 1).collect();
        worst.sort_by_key(|(tries, id)| (std::cmp::Reverse(*tries), *id));
        worst.truncate(tally.worst.len().max(1));
        prop_assert_eq!(&tally.worst, &worst);
        let mut oldest: Vec<OldEntry> = held.iter().map(|(id, _, since, tries)| OldEntry { since: *since, id: *id, deliveries: *tries }).collect();
        oldest.sort_unstable();
        oldest.truncate(tally.oldest.len().max(1));
        prop_assert_eq!(&tally.oldest, &oldest);
        for (class, entries) in tally.ages.iter().enumerate() {
            let below = AGES_MS.get(class).copied().unwrap_or(i64::MAX);
            let from = if class == 0 { i64::MIN } else { AGES_MS[class - 1] };
            let age = |since: i64| 2_000_000 - since;
            let true_count = held.iter().filter(|(_, _, since, _)| (from..below).contains(&age(*since))).count();
            prop_assert_eq!(*entries, true_count as i64);
        }
        for (name, found) in tally.holders.iter().flatten() {
            let of: Vec<_> = held.iter().filter(|(_, owner, ..)| owner == name).collect();
            let oldest = of.iter().map(|(id, _, since, tries)| OldEntry { since: *since, id: *id, deliveries: *tries }).min().unwrap();
            let deliveries = of.iter().map(|(_, _, _, tries)| *tries).max().unwrap();
            prop_assert_eq!(*found, HolderTally { entries: of.len() as i64, oldest, deliveries });
        }
    }
}
