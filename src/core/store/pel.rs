//! The fetched part of a PEL, and what it says about the whole.

use super::Reading;
use crate::core::{
    id::EntryId,
    model::{FATAL_DELIVERIES, PendingRow},
    name::Name,
    sample::PageRequest,
    time::Mono,
};
use std::collections::BTreeMap;

/// The known pending rows, and the parts of the PEL where there can be no others.
#[derive(Clone, Debug, Default)]
pub struct Pel {
    /// In the order of ids.
    pub rows: Vec<PendingRow>,
    /// Parts of the PEL that are completely known, ends inclusive.
    known: Vec<(EntryId, EntryId)>,
    /// When they were fetched: idle times are as of this moment.
    pub at: Mono,
    /// Whether the rows are all there are.
    pub complete: bool,
    /// The group was seen again since, without its pending rows.
    stale: bool,
}

/// The largest value of something over a PEL, or over its known part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extreme {
    /// Of the whole PEL; `None` when no row has such a value.
    Exact(Option<(i64, EntryId)>),
    /// Of the known part: the rest may have a larger one.
    AtLeast(i64, EntryId),
    /// Nothing was fetched.
    Unknown,
}

impl Extreme {
    pub fn value(self) -> Option<i64> {
        match self {
            Self::Exact(found) => found.map(|(value, _)| value),
            Self::AtLeast(value, _) => Some(value),
            Self::Unknown => None,
        }
    }

    /// The entry that has this value.
    pub fn id(self) -> Option<EntryId> {
        match self {
            Self::Exact(found) => found.map(|(_, id)| id),
            Self::AtLeast(_, id) => Some(id),
            Self::Unknown => None,
        }
    }
}

impl Pel {
    /// Adds the pages of one tick. In a full reading, pages that continue the known part are added to it; otherwise they replace it.
    pub fn update(
        &mut self,
        at: Mono,
        pages: &[(PageRequest, &Vec<PendingRow>)],
        pending: Option<i64>,
        reading: Reading,
    ) {
        let goes_on = reading == Reading::Full && pages.iter().all(|(page, _)| page.from > EntryId::MIN);
        let mut rows: BTreeMap<EntryId, PendingRow> = BTreeMap::new();
        if goes_on {
            let passed_ms = i64::try_from(at.since(self.at)).unwrap_or(0);
            rows.extend(self.rows.drain(..).map(|mut row| {
                row.idle_ms = row.idle_ms.map(|idle| idle.saturating_add(passed_ms));
                (row.id, row)
            }));
        } else {
            self.known.clear();
        }
        for (page, found) in pages {
            if page.consumer.is_none() {
                let to = if found.len() < page.count { page.to } else { found.last().map_or(page.from, |row| row.id) };
                self.known.push((page.from, to));
            }
            rows.extend(found.iter().map(|row| (row.id, row.clone())));
        }
        self.rows = rows.into_values().collect();
        self.at = at;
        self.stale = false;
        self.complete = Some(self.rows.len() as i64) == pending
            && (self.rows.is_empty() || self.known_to() == EntryId::MAX || self.is_known(self.last_id()));
    }

    /// XINFO GROUPS says that the PEL is empty, so no page is needed.
    pub fn set_empty(&mut self, at: Mono) {
        *self = Self { rows: Vec::new(), known: vec![(EntryId::MIN, EntryId::MAX)], at, complete: true, stale: false };
    }

    /// The group was seen again without its pending rows. Entries may have left the PEL and others come in, so the rows count as old, and
    /// as complete only if their number still matches.
    pub fn outdate(&mut self, pending: Option<i64>) {
        self.stale = true;
        self.complete &= Some(self.rows.len() as i64) == pending;
    }

    /// Whether the rows are older than the other facts of the group.
    pub fn is_stale(&self) -> bool {
        self.stale
    }

    /// Compares the rows with a newer count of pending entries: if they do not add up to it, they are only a part.
    pub fn check(&mut self, pending: Option<i64>) {
        if Some(self.rows.len() as i64) != pending && self.complete {
            self.complete = false;
            self.known.clear();
        }
    }

    fn last_id(&self) -> EntryId {
        self.rows.last().map_or(EntryId::MIN, |row| row.id)
    }

    /// The end of the known part that begins at the start of the PEL.
    pub fn known_to(&self) -> EntryId {
        let mut to = EntryId::MIN;
        let mut parts = self.known.clone();
        parts.sort_unstable();
        for (from, end) in parts {
            if from <= to.next().unwrap_or(EntryId::MAX) {
                to = to.max(end);
            }
        }
        to
    }

    /// Whether this part of the PEL is known: an id without a row is not pending.
    pub fn is_known(&self, id: EntryId) -> bool {
        !self.stale && (self.complete || self.known.iter().any(|(from, to)| (from..=to).contains(&&id)))
    }

    pub fn is_fetched(&self) -> bool {
        self.complete || !self.known.is_empty()
    }

    /// `None` if the entry was not fetched.
    pub fn row(&self, id: EntryId) -> Option<&PendingRow> {
        self.rows.binary_search_by_key(&id, |row| row.id).ok().and_then(|index| self.rows.get(index))
    }

    /// Rows of one consumer; `None` selects the unowned ones.
    pub fn of<'a>(&'a self, owner: Option<&'a Name>) -> impl Iterator<Item = &'a PendingRow> {
        self.rows.iter().filter(move |row| row.owner.as_ref() == owner)
    }

    fn extreme<'a>(
        &self,
        rows: impl Iterator<Item = &'a PendingRow>,
        value: impl Fn(&PendingRow) -> Option<i64>,
        is_told: impl Fn(&PendingRow) -> bool,
    ) -> Extreme {
        let mut all_told = true;
        // the first of equals, so that the shown id is stable
        let found = rows
            .inspect(|row| all_told &= is_told(row))
            .filter_map(|row| Some((value(row)?, row.id)))
            .reduce(|best, next| if next.0 > best.0 { next } else { best });
        match found {
            _ if self.complete && all_told => Extreme::Exact(found),
            Some((value, id)) => Extreme::AtLeast(value, id),
            None => Extreme::Unknown,
        }
    }

    /// The longest idle time, in milliseconds at the time of the sample. It need not belong to the smallest id, because claims reset it.
    pub fn oldest_idle(&self) -> Extreme {
        self.extreme(self.rows.iter(), PendingRow::idle_known_ms, told_idle)
    }

    /// The same for one consumer.
    pub fn oldest_idle_of(&self, owner: &Name) -> Extreme {
        self.extreme(self.of(Some(owner)), PendingRow::idle_known_ms, told_idle)
    }

    /// The highest delivery count, given-up entries left out.
    pub fn max_deliveries(&self) -> Extreme {
        self.extreme(self.rows.iter(), counted, told_count)
    }

    /// The same for one consumer.
    pub fn max_deliveries_of(&self, owner: &Name) -> Extreme {
        self.extreme(self.of(Some(owner)), counted, told_count)
    }
}

fn counted(row: &PendingRow) -> Option<i64> {
    row.deliveries_known().filter(|n| *n < FATAL_DELIVERIES)
}

fn told_count(row: &PendingRow) -> bool {
    row.is_told() && (row.owner.is_none() || row.deliveries >= 0)
}

/// A released entry has no idle time to report.
fn told_idle(row: &PendingRow) -> bool {
    row.owner.is_none() || row.idle_known_ms().is_some()
}

#[cfg(test)]
#[path = "pel_tests.rs"]
mod tests;
