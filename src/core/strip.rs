//! The strip: the retained entries around a group's cursor, each with its state.
//!
//! [`Window`] keeps the fetched ids and knows which part of the stream they cover. [`cells`] compares them with the cursor and the PEL.

use super::{
    id::EntryId,
    lag::Count,
    model::{PendingRow, StreamFacts},
    name::Name,
    sample::{RangeIds, RangeRequest},
};
use std::collections::BTreeSet;

/// Ids of a contiguous part of the stream.
#[derive(Clone, Debug, Default)]
pub struct Window {
    ids: BTreeSet<EntryId>,
    /// The covered part, both ends inclusive; `None` while nothing was fetched.
    span: Option<(EntryId, EntryId)>,
    /// The stream at the last update, to notice deletes that no reply showed.
    seen: Option<Seen>,
    trusted: bool,
}

/// What we need to compute how many entries were removed since.
#[derive(Clone, Copy, Debug)]
struct Seen {
    length: i64,
    entries_added: Option<i64>,
    last_generated: EntryId,
}

/// Most ids a window keeps. Beyond that it drops ids at the end that has more of them.
const MOST_IDS: usize = 4000;

impl Window {
    /// Adds what a tick fetched of the stream, and drops what was trimmed meanwhile.
    pub fn update(&mut self, facts: &StreamFacts, ranges: &[(RangeRequest, &RangeIds)], keep_near: EntryId) {
        let pruned = self.prune(facts) as i64;
        // if more entries are gone than fell off the ends, one inside the window was deleted unseen
        let intact = self.trusted && self.removed(facts, ranges) == Some(pruned);
        if !intact && is_whole_view(facts, ranges) {
            *self = Self::default();
        }
        let afresh = self.span.is_none();
        for (index, (request, reply)) in ranges.iter().enumerate() {
            let replaced = self.merge(facts, *request, reply);
            self.trusted = replaced || if index == 0 { intact && !afresh } else { self.trusted };
        }
        if ranges.is_empty() {
            self.trusted = intact;
        }
        self.trusted |= self.is_complete(facts);
        let entries_added = facts.entries_added.value();
        self.seen = Some(Seen { length: facts.length, entries_added, last_generated: facts.last_generated });
        self.bound(keep_near);
    }

    /// How many entries were removed since the last tick. An entry both added and removed since then may be missing from it. `None` where
    /// the number cannot be known.
    fn removed(&self, facts: &StreamFacts, ranges: &[(RangeRequest, &RangeIds)]) -> Option<i64> {
        let seen = self.seen?;
        let grown = if facts.last_generated == seen.last_generated {
            0
        } else if let Some((old, new)) = seen.entries_added.zip(facts.entries_added.value()) {
            new.checked_sub(old)?
        } else {
            // before 7.0 the server does not count additions: we know them only from a reply that covers all of them
            let from = seen.last_generated.next()?;
            let (_, reply) = ranges.iter().find(|(request, reply)| {
                let (lo, hi) = covered(facts, *request, reply);
                lo <= from && hi >= facts.last_generated
            })?;
            reply.ids.iter().filter(|id| **id >= from).count() as i64
        };
        seen.length.checked_add(grown)?.checked_sub(facts.length)
    }

    fn prune(&mut self, facts: &StreamFacts) -> usize {
        let before = self.ids.len();
        match (facts.first, facts.last) {
            (Some(first), Some(last)) => {
                self.ids = self.ids.split_off(&first);
                if let Some(after) = last.next() {
                    self.ids.split_off(&after);
                }
            }
            _ => self.ids.clear(),
        }
        before - self.ids.len()
    }

    /// Merges one reply; true if the window now holds nothing from an earlier tick.
    fn merge(&mut self, facts: &StreamFacts, request: RangeRequest, reply: &RangeIds) -> bool {
        let (lo, hi) = covered(facts, request, reply);
        let touches = self.span.is_some_and(|(old_lo, old_hi)| {
            lo <= old_hi.next().unwrap_or(EntryId::MAX) && old_lo <= hi.next().unwrap_or(EntryId::MAX)
        });
        if touches {
            // replace what was known of this part, so that deletes inside it show
            let inside: Vec<EntryId> = self.ids.range(lo..=hi).copied().collect();
            for id in inside {
                self.ids.remove(&id);
            }
            self.span = self.span.map(|(old_lo, old_hi)| (old_lo.min(lo), old_hi.max(hi)));
        } else {
            self.ids.clear();
            self.span = Some((lo, hi));
        }
        self.ids.extend(reply.ids.iter().copied());
        self.span == Some((lo, hi))
    }

    fn bound(&mut self, near: EntryId) {
        while self.ids.len() > MOST_IDS {
            let behind = self.ids.range(..=near).count();
            if behind * 2 > self.ids.len() {
                self.ids.pop_first();
                if let (Some(first), Some((lo, _))) = (self.ids.first(), self.span.as_mut()) {
                    *lo = *first;
                }
            } else {
                self.ids.pop_last();
                if let (Some(last), Some((_, hi))) = (self.ids.last(), self.span.as_mut()) {
                    *hi = *last;
                }
            }
        }
    }

    /// In ascending order.
    pub fn ids(&self) -> impl DoubleEndedIterator<Item = EntryId> + '_ {
        self.ids.iter().copied()
    }

    /// First and last id of the covered part.
    pub fn span(&self) -> Option<(EntryId, EntryId)> {
        self.span
    }

    /// The number of known entries up to and including `id`, and the number after it.
    pub fn around(&self, id: EntryId) -> (usize, usize) {
        let behind = self.ids.range(..=id).count();
        (behind, self.ids.len() - behind)
    }

    pub fn covers(&self, id: EntryId) -> bool {
        self.span.is_some_and(|(lo, hi)| (lo..=hi).contains(&id))
    }

    pub fn reaches_end(&self, facts: &StreamFacts) -> bool {
        self.span.is_some_and(|(_, hi)| hi >= facts.last_generated)
    }

    pub fn reaches_start(&self, facts: &StreamFacts) -> bool {
        self.span.is_some_and(|(lo, _)| facts.first.is_none_or(|first| lo <= first))
    }

    /// Whether it holds every retained entry.
    pub fn is_complete(&self, facts: &StreamFacts) -> bool {
        facts.length == 0
            || (self.ids.len() as i64 == facts.length && self.reaches_start(facts) && self.reaches_end(facts))
    }

    /// Whether every delete inside the window would have been noticed.
    pub fn is_trusted(&self) -> bool {
        self.trusted
    }

    /// Whether the entry is in the stream; `None` where the window does not know.
    pub fn has(&self, id: EntryId, facts: &StreamFacts) -> Option<bool> {
        let outside = facts.first.is_none_or(|first| id < first) || facts.last.is_none_or(|last| id > last);
        if facts.length == 0 || outside {
            Some(false)
        } else if self.covers(id) && (self.trusted || !self.ids.contains(&id)) {
            Some(self.ids.contains(&id))
        } else {
            None
        }
    }

    /// The number of entries after `cursor`, for the lag; `None` if the window is not trusted or does not cover the id after `cursor`.
    pub fn count_after(&self, cursor: EntryId, facts: &StreamFacts) -> Option<Count> {
        let after = cursor.next()?;
        if !self.trusted || !self.covers(after) {
            return None;
        }
        Some(Count { entries: self.ids.range(after..).count() as i64, complete: self.reaches_end(facts) })
    }
}

/// The part of the stream that a reply describes completely.
fn covered(facts: &StreamFacts, request: RangeRequest, reply: &RangeIds) -> (EntryId, EntryId) {
    let full = reply.ids.len() >= request.count;
    let end = facts.last_generated.max(request.from);
    match (request.backward, full) {
        (false, false) => (request.from, end),
        (false, true) => (request.from, reply.ids.last().copied().unwrap_or(end)),
        (true, false) => (EntryId::MIN, request.from),
        (true, true) => (reply.ids.first().copied().unwrap_or(EntryId::MIN), request.from),
    }
}

/// Whether the replies look both ways from one id, which is enough to start the window again. `wants` asks for that when the window can
/// no longer be trusted.
fn is_whole_view(facts: &StreamFacts, ranges: &[(RangeRequest, &RangeIds)]) -> bool {
    let back = ranges.iter().find(|(request, _)| request.backward).map(|(request, _)| request.from);
    back.is_some_and(|from| {
        let onward = |(request, _): &(RangeRequest, &RangeIds)| !request.backward && Some(request.from) == from.next();
        from >= facts.last_generated || ranges.iter().any(onward)
    })
}

/// The state of one entry for one group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryState {
    /// Behind the cursor and not pending.
    Acked,
    /// Like `Acked`, and this session saw it pending.
    AckedSeen,
    /// Delivered and not acknowledged.
    Pending,
    /// Past the cursor.
    New,
    /// Jumped over by a move of the cursor that this session saw.
    Skipped,
    /// Pending, but no longer in the stream.
    Gone,
    /// Behind the cursor, but not known to be acknowledged: that part of the PEL was not fetched, or the holder vanished together with
    /// the entry.
    Unsure,
}

impl EntryState {
    /// The word in JSON; `None` for a state that JSON leaves out.
    pub fn word(self) -> Option<&'static str> {
        match self {
            Self::Acked | Self::AckedSeen => Some("acked"),
            Self::Pending => Some("pending"),
            Self::New => Some("new"),
            Self::Skipped => Some("skipped"),
            Self::Gone => Some("gone"),
            Self::Unsure => None,
        }
    }
}

/// One entry in the strip.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cell {
    pub id: EntryId,
    pub state: EntryState,
    /// The holder; `None` if the entry is not pending or nobody holds it.
    pub owner: Option<Name>,
    /// Milliseconds since its last delivery at the time of the sample.
    pub idle_ms: Option<i64>,
}

/// What the strip needs to know about the group.
pub struct Marks<'a> {
    /// last-delivered-id.
    pub cursor: EntryId,
    /// The known pending rows, ascending by id.
    pub rows: &'a [PendingRow],
    /// Whether the PEL is known at this id.
    pub pel_known: &'a dyn Fn(EntryId) -> bool,
    /// Whether this session saw the entry pending.
    pub seen_pending: &'a dyn Fn(EntryId) -> bool,
    /// Whether the entry vanished with its consumer: then it does not count as acknowledged, although it is behind the cursor.
    pub dropped: &'a dyn Fn(EntryId) -> bool,
    /// Cursor jumps that were seen: the jumped entries lie after the first id, up to and including the second.
    pub skips: &'a [(EntryId, EntryId)],
}

/// The strip as cells in id order: every id of the window, and between them the pending ids that have no entry.
pub fn cells(window: &Window, marks: &Marks) -> Vec<Cell> {
    let mut cells = Vec::new();
    let mut rows = marks.rows.iter().filter(|row| window.covers(row.id)).peekable();
    let pending = |row: &PendingRow, state| Cell { id: row.id, state, owner: row.owner.clone(), idle_ms: row.idle_ms };
    for id in window.ids() {
        while let Some(row) = rows.next_if(|row| row.id < id) {
            cells.push(pending(row, EntryState::Gone));
        }
        if let Some(row) = rows.next_if(|row| row.id == id) {
            cells.push(pending(row, EntryState::Pending));
            continue;
        }
        let state = if id > marks.cursor {
            EntryState::New
        } else if !(marks.pel_known)(id) || (marks.dropped)(id) {
            EntryState::Unsure
        } else if marks.skips.iter().any(|(from, to)| id > *from && id <= *to) {
            EntryState::Skipped
        } else if (marks.seen_pending)(id) {
            EntryState::AckedSeen
        } else {
            EntryState::Acked
        };
        cells.push(Cell { id, state, owner: None, idle_ms: None });
    }
    cells.extend(rows.map(|row| pending(row, EntryState::Gone)));
    cells
}
