#![allow(clippy::unwrap_used, clippy::expect_used)]
//! The window against a model stream that is fetched as `wants` asks for it.

use super::{
    Focus, Store,
    fake::{Fake, id, key, on_screen, store},
};
use crate::core::{id::EntryId, lag::LagKind, strip::EntryState};
use proptest::prelude::*;
use std::collections::BTreeSet;

#[derive(Clone, Debug)]
enum Step {
    Add(u64),
    /// Deletes the entry at this share of the stream.
    Delete(u8),
    DeleteLast,
    Trim(usize),
    Read(usize),
    Ack(u8),
    /// Moves the cursor to this id.
    Seek(u64),
    Look(Eyes),
}

#[derive(Clone, Copy, Debug)]
enum Eyes {
    Overview,
    Screen,
    /// On the screen, with the strip moved to this id.
    Away(u64),
    Full,
}

fn step() -> impl Strategy<Value = Step> {
    let eyes = prop_oneof![
        2 => Just(Eyes::Overview),
        4 => Just(Eyes::Screen),
        1 => (0..60u64).prop_map(Eyes::Away),
        2 => Just(Eyes::Full),
    ];
    prop_oneof![
        4 => (1..8u64).prop_map(Step::Add),
        2 => any::<u8>().prop_map(Step::Delete),
        1 => Just(Step::DeleteLast),
        1 => (0..30usize).prop_map(Step::Trim),
        2 => (1..6usize).prop_map(Step::Read),
        2 => any::<u8>().prop_map(Step::Ack),
        1 => (0..60u64).prop_map(Step::Seek),
        6 => eyes.prop_map(Step::Look),
    ]
}

fn pick(ids: impl ExactSizeIterator<Item = EntryId>, share: u8) -> Option<EntryId> {
    let at = usize::from(share) * ids.len() / 256;
    ids.into_iter().nth(at)
}

fn look(fake: &mut Fake, store: &mut Store, eyes: Eyes) -> Result<(), TestCaseError> {
    match eyes {
        Eyes::Overview => fake.tick(store, &Focus::None),
        Eyes::Screen => fake.tick(store, &on_screen("g")),
        Eyes::Away(at) => {
            let Focus::Group { key, group, open, .. } = on_screen("g") else { unreachable!() };
            fake.tick(store, &Focus::Group { key, group, open, strip_at: Some(id(at)) });
        }
        Eyes::Full => {
            prop_assert!(fake.read_fully(store).is_some(), "a full reading of a stream that holds still ends");
        }
    }
    Ok(())
}

fn check(fake: &Fake, store: &Store) -> Result<(), TestCaseError> {
    let stream = &store.streams[&key()];
    let (facts, window) = (stream.facts.value.as_ref().unwrap(), &stream.window);
    let mut waiting = 0;
    for ms in (0..=fake.last + 1).rev() {
        let (id, said) = (id(ms), window.has(id(ms), facts));
        prop_assert!(said.is_none_or(|said| said == fake.entries.contains(&id)), "{id} said {said:?}");
        if let Some(count) = window.count_after(id, facts) {
            let right = if count.complete { count.entries == waiting } else { count.entries <= waiting };
            prop_assert!(right, "after {id}: {count:?}, {waiting} are true");
        }
        waiting += i64::from(fake.entries.contains(&id));
    }
    if window.is_complete(facts) {
        prop_assert!(window.ids().eq(fake.entries.iter().copied()), "complete: {window:?}");
    }
    if window.is_trusted()
        && let Some((lo, hi)) = window.span()
    {
        let (first, last) = (facts.first.unwrap_or(EntryId::MAX), facts.last.unwrap_or(EntryId::MIN));
        let within = fake.entries.iter().filter(|id| (lo..=hi).contains(id)).copied();
        prop_assert!(window.ids().filter(|id| (first..=last).contains(id)).eq(within), "trusted: {window:?}");
    }
    let group = &stream.groups[&"g".into()];
    let waiting = fake.entries.iter().filter(|entry| **entry > group.facts.cursor).count() as i64;
    match group.lag.kind {
        LagKind::Exact => prop_assert_eq!(group.lag.value, Some(waiting)),
        LagKind::AtLeast => prop_assert!(group.lag.value.is_some_and(|n| n <= waiting)),
        LagKind::AtMost => prop_assert!(group.lag.value.is_some_and(|n| n >= waiting)),
        _ => {}
    }
    let cells = group.cells(stream);
    prop_assert!(cells.windows(2).all(|pair| pair[0].id < pair[1].id), "in order, each once: {cells:?}");
    let gone: BTreeSet<EntryId> =
        cells.iter().filter(|cell| cell.state == EntryState::Gone).map(|cell| cell.id).collect();
    prop_assert_eq!(cells.len() - gone.len(), window.ids().count(), "each id of the window has its cell");
    prop_assert!(gone.iter().all(|id| !fake.entries.contains(id)), "{gone:?} are gone");
    Ok(())
}

fn act(fake: &mut Fake, step: &Step) {
    match *step {
        Step::Add(count) => fake.add(count),
        Step::Delete(share) => {
            if let Some(id) = pick(fake.entries.clone().into_iter(), share) {
                fake.delete(id);
            }
        }
        Step::DeleteLast => {
            if let Some(id) = fake.entries.last().copied() {
                fake.delete(id);
            }
        }
        Step::Trim(keep) => fake.trim(keep),
        Step::Read(count) => fake.read("g", "c", count),
        Step::Ack(share) => {
            let pending: Vec<EntryId> = fake.group("g").pel.keys().copied().collect();
            if let Some(id) = pick(pending.into_iter(), share) {
                fake.ack("g", id);
            }
        }
        Step::Seek(to) => {
            let to = to.min(fake.last);
            fake.group("g").cursor = id(to);
        }
        Step::Look(_) => {}
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn the_window_is_never_wrong_about_the_stream(
        counts: bool,
        reach in prop::sample::select(vec![1u64, 2, 5, 13, 1000]),
        steps in prop::collection::vec(step(), 1..60),
    ) {
        let mut fake = Fake::with(5, 0);
        fake.counts = counts;
        fake.entry_bytes = 64 * 1024 / reach;
        let mut store = store();
        fake.tick(&mut store, &on_screen("g"));
        for step in &steps {
            act(&mut fake, step);
            if let Step::Look(eyes) = step {
                look(&mut fake, &mut store, *eyes)?;
                // if entries are large, the overview does not ask for XINFO STREAM at each tick
                let fresh = store.streams[&key()].facts.at == fake.now;
                if fresh {
                    check(&fake, &store)?;
                }
            }
        }
    }

}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn a_count_within_reach_makes_the_lag_exact_whatever_happened_before(
        counts: bool,
        length in 1..3000u64,
        cursor in 0..3000u64,
        deletes in prop::collection::vec(any::<u8>(), 0..4),
        grows in 0..200u64,
    ) {
        let mut fake = Fake::with(length, cursor.min(length));
        fake.counts = counts;
        let mut store = store();
        prop_assert!(fake.read_fully(&mut store).is_some());
        for share in deletes {
            act(&mut fake, &Step::Delete(share));
        }
        fake.add(grows);
        let rounds = fake.read_fully(&mut store);
        prop_assert!(rounds.is_some_and(|rounds| rounds <= 8), "{rounds:?} rounds");
        let cursor = fake.group("g").cursor;
        let waiting = fake.entries.iter().filter(|id| **id > cursor).count() as i64;
        let lag = store.streams[&key()].groups[&"g".into()].lag;
        if waiting < 1000 {
            prop_assert_eq!(lag.exact(), Some(waiting), "{:?}", lag);
        } else {
            prop_assert!(lag.value.is_some(), "{:?}", lag);
        }
    }
}
