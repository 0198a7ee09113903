//! What was seen of a group's pending entries from tick to tick: which were delivered again and to whom, which left the list and how long
//! they had been pending, and which part of the stream the cursor jumped over.

use super::{OwnMoves, Pel};
use crate::core::{
    id::EntryId,
    model::{ConsumerFacts, PendingRow},
    name::Name,
    number::{size, whole},
    time::Mono,
};
use std::collections::{BTreeSet, VecDeque};

/// Most redeliveries kept.
const REDELIVERIES: usize = 200;
/// Most handling times kept.
const HANDLINGS: usize = 500;
/// Most ids kept, of entries seen pending and of entries seen to leave.
const IDS: usize = 4000;
/// With fewer handlings, nothing is said about how long one takes.
const FEWEST_HANDLINGS: usize = 20;

/// An entry that was seen delivered again or changing hands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Redelivery {
    pub at: Mono,
    pub id: EntryId,
    /// The previous holder.
    pub from: Option<Name>,
    /// The current holder.
    pub to: Option<Name>,
    /// The current delivery count.
    pub deliveries: i64,
    /// Whether it was delivered to its holder. A claim with JUSTID changes the holder and delivers nothing.
    pub is_delivery: bool,
    /// Its idle time when last seen with the previous holder, in milliseconds.
    pub idle_before_ms: Option<i64>,
}

/// An entry that left the pending list.
#[derive(Clone, Debug)]
struct Departure {
    at: Mono,
    id: EntryId,
    owner: Option<Name>,
}

/// Everything seen of one group since it has been watched.
#[derive(Clone, Debug, Default)]
pub struct Sightings {
    /// Oldest first.
    pub redeliveries: VecDeque<Redelivery>,
    /// How long entries had been pending when last seen, for entries that left since, in milliseconds.
    pub handled_ms: VecDeque<i64>,
    /// Entries seen pending.
    pub pending: BTreeSet<EntryId>,
    /// Entries that left together with their consumer: we do not know whether they were acknowledged just before.
    pub dropped: BTreeSet<EntryId>,
    /// Cursor jumps: the jumped entries lie after the first id, up to and including the second.
    pub skips: Vec<(EntryId, EntryId)>,
    /// Where the cursor was last moved back to, and from where: entries between are delivered once more, counted from 1.
    pub rewound: Option<(EntryId, EntryId)>,
    /// Entries that left recently: when a consumer vanishes, it takes its entries along.
    left: VecDeque<Departure>,
    /// Owner and idle time of the entries that left at this sample, until we know whether the owner is active.
    unsettled: Vec<(Name, i64)>,
}

impl Sightings {
    /// Compares the new pending rows with the previous ones.
    pub(super) fn follow(&mut self, before: &Pel, now: &Pel, at: Mono, own: &mut OwnMoves) {
        for old in &before.rows {
            match now.row(old.id) {
                Some(new) if own.explains(old, new) => {}
                // a re-read after a rewind resets the count to 1 but changes the owner (docs/server-facts.md 5.2)
                Some(new) if new.owner != old.owner || new.deliveries > old.deliveries => {
                    let mut seen = redelivery(old, new, at);
                    let between = |(to, from): (EntryId, EntryId)| new.id > to && new.id <= from;
                    seen.is_delivery |= new.deliveries == 1 && self.rewound.is_some_and(between);
                    push_bounded(&mut self.redeliveries, seen, REDELIVERIES);
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

    /// Counts entries that left at this sample as handled, if their owner is active. The entries of a holder that is gone left with it,
    /// or an operator removed them: their idle time is not a handling time.
    pub(super) fn settle(&mut self, consumers: &[ConsumerFacts], active_ms: i64) {
        for (owner, idle) in std::mem::take(&mut self.unsettled) {
            let found = consumers.binary_search_by(|consumer| consumer.name.cmp(&owner));
            if found.is_ok_and(|index| consumers[index].idle_ms <= active_ms) {
                push_bounded(&mut self.handled_ms, idle, HANDLINGS);
            }
        }
    }

    /// Forgets changes of owner that this program made and that were seen before it knew of them.
    pub(super) fn forget(&mut self, moves: &[(EntryId, Name)]) -> BTreeSet<EntryId> {
        let mut seen = BTreeSet::new();
        for (id, to) in moves {
            let is_it = |one: &Redelivery| one.id == *id && one.to.as_ref() == Some(to) && one.from != one.to;
            if let Some(index) = self.redeliveries.iter().rposition(is_it) {
                self.redeliveries.remove(index);
                seen.insert(*id);
            }
        }
        seen
    }

    /// Whether entries of a consumer left its hands since then, acknowledged or claimed by another.
    pub fn lost_some_since(&self, owner: &Name, since: Mono) -> bool {
        self.left.iter().any(|left| left.at >= since && left.owner.as_ref() == Some(owner))
            || self
                .redeliveries
                .iter()
                .any(|seen| seen.at >= since && seen.from.as_ref() == Some(owner) && seen.to.as_ref() != Some(owner))
    }

    /// Notes that a consumer vanished that was last listed at `seen`: entries that left its hands since then may not have been
    /// acknowledged.
    pub(super) fn drop_of(&mut self, consumer: &Name, seen: Mono) {
        let with_it = |left: &&Departure| left.at > seen && left.owner.as_ref() == Some(consumer);
        self.dropped.extend(self.left.iter().filter(with_it).map(|left| left.id));
        while self.dropped.len() > IDS {
            self.dropped.pop_first();
        }
    }

    /// The time within which this share of the observed handlings was done, in milliseconds; `None` while too few were seen.
    pub fn handling_ms(&self, share: f64) -> Option<i64> {
        if self.handled_ms.len() < FEWEST_HANDLINGS {
            return None;
        }
        let mut sorted: Vec<i64> = self.handled_ms.iter().copied().collect();
        sorted.sort_unstable();
        sorted.get(size(whole(((sorted.len() - 1) as f64 * share).round()))).copied()
    }
}

fn redelivery(old: &PendingRow, new: &PendingRow, at: Mono) -> Redelivery {
    Redelivery {
        at,
        id: new.id,
        from: old.owner.clone(),
        to: new.owner.clone(),
        deliveries: new.deliveries,
        is_delivery: new.deliveries > old.deliveries,
        idle_before_ms: old.idle_ms,
    }
}

fn push_bounded<T>(queue: &mut VecDeque<T>, item: T, most: usize) {
    if queue.len() == most {
        queue.pop_front();
    }
    queue.push_back(item);
}
