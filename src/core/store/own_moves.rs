//! What this program itself moved: entries that it gave to a consumer are followed until they leave the pending list, and their change of
//! owner is nobody's claim.

use super::{Pel, Store};
use crate::core::{
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
const SETTLES_MS: u64 = 1_000;
/// An entry whose idle time is shorter than the time since the move, by more than this, was delivered since, in milliseconds.
const SLACK_MS: u64 = 2_000;

/// Entries given to one consumer.
#[derive(Clone, Debug)]
pub struct Given {
    pub to: Name,
    /// When the last of them were given.
    pub at: Now,
    pub entries: usize,
    /// How many of them left the pending list since.
    pub handled: usize,
    /// How many another consumer has now.
    pub elsewhere: usize,
    /// How many of the rest it got since, by their idle time.
    pub delivered: usize,
    /// Whether all of the rest were looked at.
    pub all_seen: bool,
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
        group.own.cursor_moves |= action.cursor;
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
            if !action.follow || self.given.iter().map(|given| given.left.len()).sum::<usize>() >= MOST {
                continue;
            }
            let index = self.given.iter().position(|given| given.to == to).unwrap_or_else(|| {
                self.given.push(Given::none(to.clone(), now));
                self.given.len() - 1
            });
            let given = &mut self.given[index];
            (given.at, given.progressed) = (now, now.mono);
            if given.left.insert(id) {
                given.entries += 1;
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
            if at.since(given.at.mono) >= SETTLES_MS {
                given.follow(pel, at);
            }
        }
        self.given.retain(|given| !given.left.is_empty());
    }

    /// The rows to read for them.
    pub(super) fn pages(&self) -> impl Iterator<Item = PageRequest> {
        self.given.iter().filter_map(|given| {
            let (from, to) = (*given.left.first()?, *given.left.last()?);
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
            all_seen: true,
            progressed: at.mono,
            left: BTreeSet::new(),
        }
    }

    fn follow(&mut self, pel: &Pel, at: Mono) {
        let since = i64::try_from(at.since(self.at.mono).saturating_sub(SLACK_MS)).unwrap_or(i64::MAX);
        (self.delivered, self.all_seen) = (0, true);
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
                    self.all_seen = false;
                    self.left.insert(id);
                }
            }
        }
    }
}
