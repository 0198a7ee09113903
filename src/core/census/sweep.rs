//! Searches for the oldest entry before the rows are walked, holder by holder. XPENDING's filter by idle time costs a sixth of reading
//! the rows, and among the entries of one consumer its cost is bounded by how many that consumer holds (docs/server-facts.md 10). Needs
//! 6.2.

use super::{Limits, OldEntry};
use crate::core::{id::EntryId, model::PendingRow, name::Name, time::Mono};
use std::collections::VecDeque;

/// A smaller PEL is walked quickly enough without a search.
pub const LEAST_SWEPT: i64 = 50_000;
/// With more holders than this, the round trips would take longer than reading the rows.
const MOST_HOLDERS: usize = 1000;
/// Rows in one request. Only rows older than the oldest found so far are returned.
const ROWS: usize = 10;
/// Entries per microsecond that the filter is assumed to check; measured were 12 to 35 (docs/server-facts.md 10).
const ENTRIES_PER_US: u64 = 10;

/// The search ends when this many commands, and more than a quarter of all, exceeded the time bound.
const MOST_OVER: u32 = 3;

/// The state of the search.
#[derive(Clone, Debug)]
pub(super) struct Sweep {
    /// Holders still to be searched, with the number of entries each holds; the largest comes last.
    left: VecDeque<(Name, i64)>,
    from: EntryId,
    /// The oldest entry so far.
    best: Option<OldEntry>,
    /// Commands sent, and how many of them exceeded the time bound.
    sent: u32,
    over: u32,
    /// Commands after which the search is given up. A reply is timed no better than the latency: if that is high, all entries of one
    /// delivery pass the filter again.
    most: u32,
}

/// Asks for the entries of a consumer that are older than those found so far.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Older {
    pub consumer: Name,
    /// First id, inclusive.
    pub from: EntryId,
    /// Idle for at least this long, in milliseconds.
    pub idle_ms: i64,
    /// At most this many rows.
    pub count: usize,
}

impl Sweep {
    /// A search of these holders; `None` where it is not worthwhile, or not possible within the limits.
    pub(super) fn new(holders: &[(Name, i64)], pending: i64, limits: Limits) -> Option<Self> {
        let mut left = holders.to_vec();
        left.sort_by_key(|(_, count)| *count);
        let largest = left.last().map_or(0, |(_, count)| *count);
        let fits = u64::try_from(largest).is_ok_and(|largest| largest <= limits.command_us * ENTRIES_PER_US);
        let worth = pending >= LEAST_SWEPT && (1..=MOST_HOLDERS).contains(&left.len());
        (fits && worth).then(|| Self {
            left: left.into(),
            from: EntryId::MIN,
            best: None,
            sent: 0,
            over: 0,
            most: u32::try_from(holders.len()).unwrap_or(u32::MAX).saturating_mul(4).saturating_add(100),
        })
    }

    /// The next request; `None` when the search is over.
    pub(super) fn next(&self, now: Mono) -> Option<Older> {
        if self.is_too_costly() {
            return None;
        }
        let (consumer, _) = self.left.front()?;
        let idle_ms = self.best.map_or(0, |best| (now.0 as i64).saturating_sub(best.since).saturating_add(1));
        Some(Older { consumer: consumer.clone(), from: self.from, idle_ms, count: ROWS })
    }

    /// Whether holders turned out to cost more than a command may (an occasional busy moment aside), or too many commands. What they hold
    /// is then read by rows.
    fn is_too_costly(&self) -> bool {
        self.over >= MOST_OVER && self.over * 4 > self.sent || self.sent > self.most
    }

    pub(super) fn take(&mut self, asked: &Older, rows: &[PendingRow], spent_us: u64, limits: Limits, at: Mono) {
        for row in rows {
            let Some(idle) = row.idle_ms else { continue };
            let since = (at.0 as i64).saturating_sub(idle);
            let one = OldEntry { since, id: row.id, deliveries: row.deliveries };
            if self.best.is_none_or(|best| one < best) {
                self.best = Some(one);
            }
        }
        let next = rows.last().filter(|_| rows.len() >= asked.count).and_then(|row| row.id.next());
        self.from = next.unwrap_or(EntryId::MIN);
        if next.is_none() {
            self.left.pop_front();
        }
        self.sent += 1;
        self.over += u32::from(spent_us > limits.command_us);
    }

    /// The oldest entry of all, once every holder was searched.
    pub(super) fn found(&self) -> Option<OldEntry> {
        self.best.filter(|_| self.left.is_empty() && !self.is_too_costly())
    }
}
