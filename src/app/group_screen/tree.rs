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
    /// All consumers that hold nothing and were not seen for long.
    Idle,
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
    /// The number of consumers that hold nothing and were not seen for long, and whether they are listed below.
    Idle(usize, bool),
}

impl Branch<'_> {
    pub fn id(&self) -> Option<TreeRow> {
        match self {
            Self::Consumer { name, .. } => Some(TreeRow::Consumer(name.cloned())),
            Self::Entry(row) => Some(TreeRow::Entry(row.id)),
            Self::Idle(..) => Some(TreeRow::Idle),
            Self::More(_) => None,
        }
    }

    /// Who holds the entry of this row.
    pub fn holder(&self) -> Option<Name> {
        match self {
            Self::Entry(row) => row.owner.clone(),
            _ => None,
        }
    }

    /// Whether it is the row of that identity.
    pub fn is(&self, id: &TreeRow) -> bool {
        match (self, id) {
            (Self::Consumer { name, .. }, TreeRow::Consumer(other)) => *name == other.as_ref(),
            (Self::Entry(row), TreeRow::Entry(other)) => row.id == *other,
            (Self::Idle(..), TreeRow::Idle) => true,
            _ => false,
        }
    }
}

/// Entries shown of one consumer.
const ENTRIES: usize = 50;

/// Fewer consumers that are idle are listed with the others.
const IDLE: usize = 4;

/// Whether a consumer is one of those that share a row.
pub fn idle_row_of(app: &App, group: &GroupState, name: &Name) -> bool {
    let idle = |facts: &&ConsumerFacts| holds_nothing(app, group, facts);
    let is_one = group.consumers().iter().find(|facts| facts.name == *name).as_ref().is_some_and(idle);
    is_one && group.consumers().iter().filter(idle).count() >= IDLE
}

fn holds_nothing(app: &App, group: &GroupState, facts: &ConsumerFacts) -> bool {
    facts.pending == 0
        && !app.group_screen.held.contains(&facts.name)
        && facts.idle_ms > group.gone_after_ms(&app.watch.store.settings)
}

/// Consumers with what they hold, in the order of their names, so that each keeps its place while numbers change. In front stand those that
/// hold entries and were not seen for long, then those that held any since the group was opened. Those that hold nothing and were not seen
/// for long share one row at the end.
pub fn branches<'a>(app: &App, group: &'a GroupState) -> Vec<Branch<'a>> {
    type Held<'a> = (Option<&'a Name>, Option<&'a ConsumerFacts>, i64);
    let mut consumers: Vec<Held> = match (&group.consumers.value, &group.summary.value) {
        (Some(consumers), _) => consumers.iter().map(|c| (Some(&c.name), Some(c), c.pending)).collect(),
        (None, Some(summary)) => summary.holders.iter().map(|(name, count)| (Some(name), None, *count)).collect(),
        (None, None) => Vec::new(),
    };
    let filter = &app.group_screen.filter;
    if !filter.text.is_empty() {
        consumers.retain(|(name, ..)| name.is_some_and(|name| filter.passes(&[&name.shown()])));
    }
    let idle = |facts: Option<&ConsumerFacts>| facts.is_some_and(|facts| holds_nothing(app, group, facts));
    let limit = group.gone_after_ms(&app.watch.store.settings);
    let gone = |facts: Option<&ConsumerFacts>| facts.map_or(0, |c| c.idle_ms) > limit;
    // they are kept in the order of their names, and stay in it: a list of 20,000 is sorted by little in little time
    let held = |name: Option<&Name>| name.is_some_and(|name| app.group_screen.held.contains(name));
    consumers.sort_by_cached_key(|(name, facts, pending)| {
        let (gone, held) = (*pending > 0 && gone(*facts), *pending > 0 || held(*name));
        (Reverse(gone), idle(*facts), Reverse(held))
    });
    if let Some(unowned) = group.unowned().filter(|n| *n > 0 && filter.text.is_empty()) {
        consumers.insert(0, (None, None, unowned));
    }
    let awake = consumers.iter().position(|(_, facts, _)| idle(*facts)).unwrap_or(consumers.len());
    let folds = consumers.len() - awake >= IDLE;
    let idle = if folds { consumers.split_off(awake) } else { Vec::new() };
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
    if folds {
        let open = app.group_screen.idle_open;
        rows.push(Branch::Idle(idle.len(), open));
        let listed = idle.into_iter().filter(|_| open);
        rows.extend(listed.map(|(name, facts, pending)| Branch::Consumer { name, facts, pending, open: false }));
    }
    rows
}

/// Milliseconds that a sampled idle time has grown to by now.
pub fn aged(idle_ms: i64, sampled: Mono, now: Mono) -> i64 {
    idle_ms.saturating_add(now.since(sampled) as i64)
}
