//! What a census has counted so far.

use crate::core::{
    id::EntryId,
    model::{FATAL_DELIVERIES, PendingRow},
    name::Name,
    time::Mono,
};
use std::collections::BTreeMap;

/// Upper bounds of the age classes, in milliseconds; one more class holds everything older.
pub const AGES_MS: [i64; 6] = [1_000, 10_000, 60_000, 600_000, 3_600_000, 86_400_000];
/// Lower bounds of the classes of delivery counts; given-up entries are in none of them.
pub const DELIVERIES: [i64; 4] = [1, 2, 5, 10];
/// How many of the oldest entries are remembered. As long as one of them is still pending and was not delivered again, the oldest entry
/// of all is known.
const OLDEST: usize = 64;
/// How many of the most often delivered entries are remembered.
const WORST: usize = 5;
/// With more holders than this, entries are not counted by holder.
const HOLDERS: usize = 2000;

/// A pending entry, ordered by the time of its last delivery.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct OldEntry {
    /// Time of the last delivery, in milliseconds of [`Mono`]; negative before this program started.
    pub since: i64,
    pub id: EntryId,
    /// Its delivery count at that time.
    pub deliveries: i64,
}

/// What one consumer held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HolderTally {
    pub entries: i64,
    /// The entry with the earliest last delivery.
    pub oldest: OldEntry,
    /// The highest delivery count, given-up entries left out.
    pub deliveries: i64,
}

/// The numbers of one walk. A finished walk describes the time between its beginning and its end: each entry was seen once in between.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tally {
    /// The number of this walk of the group.
    pub round: u64,
    /// When it began; ages are as of this moment.
    pub begun: Mono,
    /// When it ended, complete or not.
    pub ended: Option<Mono>,
    /// Entries seen so far.
    pub walked: i64,
    /// Entries that were pending when last asked.
    pub of: i64,
    /// Entries by age at the beginning: the classes of [`AGES_MS`] and one for the rest. Entries delivered since the beginning are in the
    /// first.
    pub ages: [i64; AGES_MS.len() + 1],
    /// Entries by delivery count, the classes of [`DELIVERIES`].
    pub deliveries: [i64; DELIVERIES.len()],
    /// Entries given up for good (delivery count 2^63-1; 8.8+).
    pub fatal: i64,
    /// Entries that nobody holds (8.8+); they have no age. An entry without a known age or count is in none of those classes.
    pub unowned: i64,
    /// The highest delivery count, given-up entries left out.
    pub most: Option<i64>,
    /// The entries delivered most often, if more than once, with their count; given-up entries come first.
    pub worst: Vec<(i64, EntryId)>,
    /// The oldest entry of all, if it was searched for before the rows were read.
    pub first: Option<OldEntry>,
    /// The oldest of those seen, oldest first.
    pub oldest: Vec<OldEntry>,
    /// Entries that are no longer in the stream.
    pub gone: i64,
    /// Entries that were not looked up yet: they may be in the stream or not.
    pub unsure: i64,
    /// `None` when there are too many holders to count each.
    pub holders: Option<BTreeMap<Name, HolderTally>>,
    /// What the walk has cost, in microseconds of the server's time.
    pub server_us: u64,
    /// What its most expensive command cost, in microseconds of the server's time.
    pub slowest_us: u64,
    /// Why it ended early, as a sentence.
    pub fault: Option<String>,
}

impl Tally {
    pub fn new(round: u64, of: i64, begun: Mono) -> Self {
        Self {
            round,
            begun,
            ended: None,
            walked: 0,
            of,
            ages: [0; AGES_MS.len() + 1],
            deliveries: [0; DELIVERIES.len()],
            fatal: 0,
            unowned: 0,
            most: None,
            worst: Vec::new(),
            first: None,
            oldest: Vec::new(),
            gone: 0,
            unsure: 0,
            holders: Some(BTreeMap::new()),
            server_us: 0,
            slowest_us: 0,
            fault: None,
        }
    }

    /// The share of the PEL that was walked, in percent; 100 only when the walk is over.
    pub fn percent(&self) -> i64 {
        if self.ended.is_some() && self.fault.is_none() {
            return 100;
        }
        self.walked.saturating_mul(100).checked_div(self.of.max(self.walked).max(1)).unwrap_or(0).min(99)
    }

    /// Whether every entry was seen.
    pub fn is_complete(&self) -> bool {
        self.ended.is_some() && self.fault.is_none()
    }

    /// Counts the rows of a page that was read at `at`.
    pub(super) fn count(&mut self, rows: &[PendingRow], at: Mono) {
        let mut old = Vec::new();
        for row in rows {
            self.walked += 1;
            match row.deliveries_known() {
                Some(FATAL_DELIVERIES) => self.fatal += 1,
                Some(deliveries) => {
                    let class = DELIVERIES.iter().rposition(|from| deliveries >= *from).unwrap_or(0);
                    self.deliveries[class] += 1;
                    self.most = self.most.max(Some(deliveries));
                }
                None => {}
            }
            if row.deliveries > 1
                && (self.worst.len() < WORST || self.worst.last().is_some_and(|(least, _)| row.deliveries > *least))
            {
                self.worst.push((row.deliveries, row.id));
                self.worst.sort_by_key(|(deliveries, id)| (std::cmp::Reverse(*deliveries), *id));
                self.worst.truncate(WORST);
            }
            if row.owner.is_none() {
                self.unowned += 1;
            }
            let Some(idle) = row.idle_known_ms() else { continue };
            let since = (at.0 as i64).saturating_sub(idle);
            let age = (self.begun.0 as i64).saturating_sub(since);
            self.ages[AGES_MS.iter().position(|below| age < *below).unwrap_or(AGES_MS.len())] += 1;
            let one = OldEntry { since, id: row.id, deliveries: row.deliveries };
            if self.oldest.len() < OLDEST || self.oldest.last().is_none_or(|youngest| one < *youngest) {
                old.push(one);
            }
            self.count_holder(row, one);
        }
        self.oldest.extend(old);
        self.oldest.sort_unstable();
        self.oldest.truncate(OLDEST);
    }

    fn count_holder(&mut self, row: &PendingRow, one: OldEntry) {
        let (Some(owner), Some(holders)) = (&row.owner, &mut self.holders) else { return };
        let deliveries = if row.deliveries == FATAL_DELIVERIES { 0 } else { row.deliveries };
        if let Some(held) = holders.get_mut(owner) {
            held.entries += 1;
            held.oldest = held.oldest.min(one);
            held.deliveries = held.deliveries.max(deliveries);
        } else if holders.len() < HOLDERS {
            holders.insert(owner.clone(), HolderTally { entries: 1, oldest: one, deliveries });
        } else {
            self.holders = None;
        }
    }
}
