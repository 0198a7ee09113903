//! Rows of the consumers' tree: who holds what.

use super::App;
use crate::core::{
    id::EntryId,
    model::{ConsumerFacts, PendingRow},
    name::Name,
    store::GroupState,
    time::Mono,
};
use std::cmp::Reverse;

/// Identity of a row in the tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TreeRow {
    /// A consumer; `None` stands for the entries that nobody holds.
    Consumer(Option<Name>),
    /// A pending entry.
    Entry(EntryId),
}

/// A row with what it shows.
pub enum Branch<'a> {
    Consumer {
        name: Option<&'a Name>,
        facts: Option<&'a ConsumerFacts>,
        pending: i64,
        open: bool,
    },
    Entry(&'a PendingRow),
    /// More entries than are shown.
    More(i64),
}

impl Branch<'_> {
    pub fn id(&self) -> Option<TreeRow> {
        match self {
            Self::Consumer { name, .. } => Some(TreeRow::Consumer(name.cloned())),
            Self::Entry(row) => Some(TreeRow::Entry(row.id)),
            Self::More(_) => None,
        }
    }
}

impl Branch<'_> {
    /// Whether it is the row of that identity.
    pub fn is(&self, id: &TreeRow) -> bool {
        match (self, id) {
            (Self::Consumer { name, .. }, TreeRow::Consumer(other)) => *name == other.as_ref(),
            (Self::Entry(row), TreeRow::Entry(other)) => row.id == *other,
            _ => false,
        }
    }
}

/// Entries shown of one consumer.
const ENTRIES: usize = 50;

/// Consumers with what they hold: those that hold entries first, the longest not seen in front.
pub fn branches<'a>(app: &App, group: &'a GroupState) -> Vec<Branch<'a>> {
    let mut consumers: Vec<(Option<&Name>, Option<&ConsumerFacts>, i64)> =
        match (&group.consumers.value, &group.summary.value) {
            (Some(consumers), _) => consumers.iter().map(|c| (Some(&c.name), Some(c), c.pending)).collect(),
            (None, Some(summary)) => summary.holders.iter().map(|(name, count)| (Some(name), None, *count)).collect(),
            (None, None) => Vec::new(),
        };
    let limit = group.gone_after_ms(&app.watch.store.settings);
    let gone = |facts: Option<&ConsumerFacts>| facts.map_or(0, |c| c.idle_ms) > limit;
    // they are kept in the order of their names, and stay in it: a list of 20,000 is sorted by little in little time
    consumers.sort_by_key(|(_, facts, pending)| (Reverse(*pending > 0 && gone(*facts)), Reverse(*pending > 0)));
    if let Some(unowned) = group.unowned().filter(|n| *n > 0) {
        consumers.insert(0, (None, None, unowned));
    }
    let mut rows = Vec::new();
    for (name, facts, pending) in consumers {
        let open = pending > 0 && app.group_screen.open.iter().any(|open| open.as_ref() == name);
        rows.push(Branch::Consumer { name, facts, pending, open });
        if !open {
            continue;
        }
        let mut held: Vec<&PendingRow> = group.pel.rows.iter().filter(|row| row.owner.as_ref() == name).collect();
        held.sort_by_key(|row| (Reverse(row.idle_ms), row.id));
        let shown = held.len().min(ENTRIES) as i64;
        rows.extend(held.into_iter().take(ENTRIES).map(Branch::Entry));
        if pending > shown {
            rows.push(Branch::More(pending - shown));
        }
    }
    rows
}

/// Milliseconds that a sampled idle time has grown to by now.
pub fn aged(idle_ms: i64, sampled: Mono, now: Mono) -> i64 {
    idle_ms.saturating_add(now.since(sampled) as i64)
}
