//! What was seen of a group's pending entries from tick to tick: who got which again, what left the list and how long it had been
//! pending, which part of the stream the cursor jumped over.

use super::Pel;
use crate::core::{
    id::EntryId,
    model::{ConsumerFacts, PendingRow},
    name::Name,
    time::Mono,
};
use std::collections::{BTreeSet, VecDeque};

/// Redeliveries kept.
const REDELIVERIES: usize = 200;
/// Handling times kept.
const HANDLINGS: usize = 500;
/// Ids kept of entries seen pending, or seen to leave.
const IDS: usize = 4000;
/// Below this many handlings nothing is said of how long one takes.
const FEWEST_HANDLINGS: usize = 20;

/// An entry that was seen delivered again or changing hands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Redelivery {
    /// When it was seen.
    pub at: Mono,
    pub id: EntryId,
    /// Who held it before.
    pub from: Option<Name>,
    /// Who holds it now.
    pub to: Option<Name>,
    /// Its delivery count now.
    pub deliveries: i64,
    /// How long it had been idle when last seen with the former owner, in milliseconds.
    pub idle_before_ms: Option<i64>,
}

/// An entry that left the pending list.
#[derive(Clone, Debug)]
struct Departure {
    at: Mono,
    id: EntryId,
    owner: Option<Name>,
}

/// Everything seen of one group since it is watched.
#[derive(Clone, Debug, Default)]
pub struct Sightings {
    /// Oldest first.
    pub redeliveries: VecDeque<Redelivery>,
    /// How long entries had been pending when they were last seen before they left, in milliseconds.
    pub handled_ms: VecDeque<i64>,
    /// Ids seen pending.
    pub pending: BTreeSet<EntryId>,
    /// Entries that left together with their consumer: whether they were acknowledged just before is not known.
    pub dropped: BTreeSet<EntryId>,
    /// Jumps of the cursor: after the first id, up to and with the second.
    pub skips: Vec<(EntryId, EntryId)>,
    /// Entries that left lately: a consumer that vanishes takes its entries along.
    left: VecDeque<Departure>,
    /// Owner and idle time of those that left at this sample, until it is known whether that owner is at work.
    unsettled: Vec<(Name, i64)>,
}

impl Sightings {
    /// Compares new pending rows with those before.
    pub(super) fn follow(&mut self, before: &Pel, now: &Pel, at: Mono) {
        for old in &before.rows {
            match now.row(old.id) {
                // a re-read after a rewind sets the count to 1 again but moves the owner (docs/server-facts.md 5.2)
                Some(new) if new.owner != old.owner || new.deliveries > old.deliveries => {
                    push_bounded(&mut self.redeliveries, redelivery(old, new, at), REDELIVERIES);
                }
                None if now.is_known(old.id) => {
                    let departure = Departure { at, id: old.id, owner: old.owner.clone() };
                    push_bounded(&mut self.left, departure, IDS);
                    self.unsettled.extend(old.owner.clone().zip(old.idle_ms));
                }
                _ => {}
            }
        }
        self.pending.extend(now.rows.iter().map(|row| row.id));
        while self.pending.len() > IDS {
            self.pending.pop_first();
        }
    }

    /// Counts what left at this sample as handled where its owner is at work: entries of a holder that is gone left with it, or by
    /// an operator's hand, after a time that no handling takes.
    pub(super) fn settle(&mut self, consumers: &[ConsumerFacts], active_ms: i64) {
        for (owner, idle) in std::mem::take(&mut self.unsettled) {
            let found = consumers.binary_search_by(|consumer| consumer.name.cmp(&owner));
            if found.is_ok_and(|index| consumers[index].idle_ms <= active_ms) {
                push_bounded(&mut self.handled_ms, idle, HANDLINGS);
            }
        }
    }

    /// Notes that a consumer vanished that was there at `seen`: what left its hands since was perhaps never acknowledged.
    pub(super) fn drop_of(&mut self, consumer: &Name, seen: Mono) {
        let with_it = |left: &&Departure| left.at > seen && left.owner.as_ref() == Some(consumer);
        self.dropped.extend(self.left.iter().filter(with_it).map(|left| left.id));
        while self.dropped.len() > IDS {
            self.dropped.pop_first();
        }
    }

    /// The time below which a share of the observed handlings lay, in milliseconds; `None` while too few were seen.
    pub fn handling_ms(&self, share: f64) -> Option<i64> {
        if self.handled_ms.len() < FEWEST_HANDLINGS {
            return None;
        }
        let mut sorted: Vec<i64> = self.handled_ms.iter().copied().collect();
        sorted.sort_unstable();
        sorted.get(((sorted.len() - 1) as f64 * share).round() as usize).copied()
    }
}

fn redelivery(old: &PendingRow, new: &PendingRow, at: Mono) -> Redelivery {
    Redelivery {
        at,
        id: new.id,
        from: old.owner.clone(),
        to: new.owner.clone(),
        deliveries: new.deliveries,
        idle_before_ms: old.idle_ms,
    }
}

fn push_bounded<T>(queue: &mut VecDeque<T>, item: T, most: usize) {
    if queue.len() == most {
        queue.pop_front();
    }
    queue.push_back(item);
}
