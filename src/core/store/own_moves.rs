//! What this program itself moved: entries that it gave to a consumer are followed until they leave the pending list, and their change of
//! owner is nobody's claim.

use super::{Pel, Store};
use crate::core::{
    history::History,
    id::EntryId,
    model::PendingRow,
    name::Name,
    outcome::OwnAction,
    sample::PageRequest,
    time::{Mono, Now},
};
use std::collections::{BTreeMap, BTreeSet};

/// Most entries followed in one group.
const MOST: usize = 10_000;
/// Rows that are read for them in one tick, at most.
const ROWS: usize = 100;
/// Replies of this time after the action may have been made before it, in milliseconds.
const SETTLES_MS: u64 = 3_000;
/// A new owner is expected to be seen within this time, in milliseconds.
const EXPECTED_MS: u64 = 60_000;
/// An entry whose idle time is shorter than the time since the move, by more than this, was delivered since, in milliseconds.
const SLACK_MS: u64 = 2_000;

/// Entries given to one consumer.
#[derive(Clone, Debug)]
pub struct Given {
    pub to: Name,
    /// When the first of them were given, and the last.
    pub at: Now,
    last: Mono,
    pub entries: usize,
    /// How many of them left the pending list since.
    pub handled: usize,
    /// How many another consumer has now.
    pub elsewhere: usize,
    /// How many of the rest it got since, by their idle time.
    pub delivered: usize,
    /// Whether all of the rest were looked at; `None` before the first look.
    pub all_seen: Option<bool>,
    /// Where the next look begins.
    from: EntryId,
    /// More were given than can be followed.
    is_cut: bool,
    /// When one of them was last handled.
    pub progressed: Mono,
    /// The rest.
    pub left: BTreeSet<EntryId>,
}

/// Everything that this program moved in one group.
#[derive(Clone, Debug, Default)]
pub struct OwnMoves {
    /// By consumer.
    pub given: Vec<Given>,
    /// New owners that were not seen yet.
    expected: BTreeMap<EntryId, Name>,
    /// When the last action was carried out.
    pub acted: Option<Mono>,
    /// The cursor was moved and has not been seen at its new place.
    pub cursor_moves: bool,
}

impl Store {
    /// Takes note of an action that was carried out.
    pub fn note_action(&mut self, key: &Name, group: &Name, action: OwnAction, now: Now) {
        let Some(group) = self.streams.get_mut(key).and_then(|stream| stream.groups.get_mut(group)) else { return };
        // a poll may have shown the new owners before the action ended
        let seen = group.seen.forget(&action.moves);
        if action.cursor {
            // a poll may have shown the new cursor before: then the jump stands in the trend
            group.history = History::default();
            group.own.cursor_moves = true;
        }
        group.own.note(action, &seen, now);
    }
}

impl OwnMoves {
    /// Notes new owners, of which some were seen already.
    fn note(&mut self, action: OwnAction, seen: &BTreeSet<EntryId>, now: Now) {
        self.acted = Some(now.mono);
        for (id, to) in action.moves {
            for given in &mut self.given {
                given.left.remove(&id);
            }
            if self.expected.len() < MOST && !seen.contains(&id) {
                self.expected.insert(id, to.clone());
            }
            if !action.follow {
                continue;
            }
            let full = self.given.iter().map(|given| given.left.len()).sum::<usize>() >= MOST;
            let index = self.given.iter().position(|given| given.to == to).unwrap_or_else(|| {
                self.given.push(Given::none(to.clone(), now));
                self.given.len() - 1
            });
            let given = &mut self.given[index];
            given.last = now.mono;
            given.entries += 1;
            // more than can be followed: what is said of them is a lower bound
            given.is_cut |= full;
            if !full {
                given.left.insert(id);
            }
        }
        self.given.retain(|given| !given.left.is_empty());
    }

    /// Whether this change of owner is one of ours; it is expected once.
    pub(super) fn explains(&mut self, old: &PendingRow, new: &PendingRow) -> bool {
        let ours = old.owner != new.owner && self.expected.get(&new.id) == new.owner.as_ref() && new.owner.is_some();
        if ours || old.owner != new.owner {
            self.expected.remove(&new.id);
        }
        ours
    }

    /// Looks what became of the entries that were given away.
    pub(super) fn follow(&mut self, pel: &Pel, at: Mono) {
        for given in &mut self.given {
            if at.since(given.last) >= SETTLES_MS {
                given.follow(pel, at);
            }
        }
        self.given.retain(|given| !given.left.is_empty());
        // what was handled before it was seen with its new owner is not waited for
        if self.acted.is_some_and(|acted| at.since(acted) > EXPECTED_MS) {
            self.expected.clear();
        }
    }

    /// The rows to read for them.
    pub(super) fn pages(&self) -> impl Iterator<Item = PageRequest> {
        self.given.iter().filter_map(|given| {
            let from = *given.left.range(given.from..).next().or(given.left.first())?;
            let to = *given.left.last()?;
            Some(PageRequest { from, to, count: ROWS, consumer: None })
        })
    }

    /// Whether this program gave the entry to that consumer.
    pub fn gave(&self, id: EntryId, to: &Name) -> bool {
        self.given.iter().any(|given| given.to == *to && given.left.contains(&id))
    }
}

impl Given {
    fn none(to: Name, at: Now) -> Self {
        Self {
            to,
            at,
            entries: 0,
            handled: 0,
            elsewhere: 0,
            delivered: 0,
            all_seen: None,
            from: EntryId::MIN,
            is_cut: false,
            last: at.mono,
            progressed: at.mono,
            left: BTreeSet::new(),
        }
    }

    fn follow(&mut self, pel: &Pel, at: Mono) {
        let since = i64::try_from(at.since(self.last).saturating_sub(SLACK_MS)).unwrap_or(i64::MAX);
        self.delivered = 0;
        let mut unseen = Vec::new();
        for id in std::mem::take(&mut self.left) {
            match pel.row(id) {
                Some(row) if row.owner.as_ref() == Some(&self.to) => {
                    self.delivered += usize::from(row.idle_ms.is_some_and(|idle| idle < since));
                    self.left.insert(id);
                }
                Some(_) => self.elsewhere += 1,
                None if pel.is_known(id) => {
                    self.handled += 1;
                    self.progressed = at;
                }
                None => {
                    unseen.push(id);
                    self.left.insert(id);
                }
            }
        }
        self.all_seen = Some(unseen.is_empty() && !self.is_cut);
        // the next look goes on behind the rows of this one
        let next = unseen.iter().find(|id| **id > self.from).or(unseen.first());
        self.from = next.copied().unwrap_or(EntryId::MIN);
    }
}
