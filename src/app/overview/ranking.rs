//! The order of the overview's rows and how bad each is, kept as long as nothing is folded and nothing else is asked for: with
//! thousands of groups, to look at each of them at every key and for every frame takes longer than a frame may.

use super::{Order, PatternId, Picked, Row, patterns::pattern_of_each};
use crate::{
    app::App,
    core::{store::GroupState, symptoms::Level},
};
use std::{
    borrow::Cow,
    cmp::Reverse,
    collections::HashMap,
    hash::{DefaultHasher, Hash, Hasher},
};

/// What the order was computed from.
#[derive(Clone, Debug, PartialEq)]
struct Basis {
    /// After which fold: between the parts of one sample the order stays.
    folds: u64,
    groups: usize,
    streams: usize,
    frozen: bool,
    order: Order,
    reversed: bool,
    filter: String,
    /// Whether rows of one pattern are rolled up.
    rolls_up: bool,
}

/// What stays together in the order: a row, or the rows of one pattern.
#[derive(Clone, Debug)]
pub struct Block {
    /// `None` for a row by itself.
    pub pattern: Option<PatternId>,
    /// Its rows, in order.
    pub rows: Vec<usize>,
}

/// Rows by their place among all rows.
#[derive(Clone, Debug, Default)]
pub struct Ranked {
    /// `None` before anything was ranked.
    basis: Option<Basis>,
    /// Which rows there are and how bad each is: as long as that stays, the rows keep their places.
    shape: u64,
    /// Those that the filter lets through, in order.
    pub blocks: Vec<Block>,
    /// What is picked: what was chosen while it is there, else the first.
    pub picked: Option<Picked>,
    /// How bad each row is, of all rows.
    pub levels: Vec<Option<Level>>,
    /// How many rows there are, and how many of them are groups.
    pub rows: usize,
    pub groups: usize,
    /// How many of all rows are critical, and how many a warning, by what checks found.
    pub critical: usize,
    pub warn: usize,
    /// Findings that the user marked as known.
    pub known: usize,
    /// Groups that were not read so far.
    pub unread: usize,
    /// Rows of which nothing can be said, and why, of the first.
    pub unknown: usize,
    pub why_unknown: Option<String>,
    /// The first of the worst rows and what was found there; nothing where no row needs a look.
    pub worst: Option<String>,
    /// Checks that cannot be judged.
    pub cannot_tell: Vec<&'static str>,
}

impl Basis {
    /// Whether the other one asks for the same order of the same rows, whatever was folded between them.
    fn asks_for(&self, other: &Self) -> bool {
        *self == Self { folds: self.folds, ..other.clone() }
    }
}

/// The rows and the levels that the order of them rests on, as one number.
fn shape(rows: &[Row], levels: &[Option<Level>]) -> u64 {
    let mut hasher = DefaultHasher::new();
    for (row, level) in rows.iter().zip(levels) {
        row.stream.key.hash(&mut hasher);
        row.group.map(GroupState::name).hash(&mut hasher);
        (row.group.is_none() && row.stream.groups_fault.is_some()).hash(&mut hasher);
        level.filter(|level| *level > Level::Info).hash(&mut hasher);
    }
    hasher.finish()
}

impl Ranked {
    /// Those that the filter lets through, in order.
    pub fn order(&self) -> impl Iterator<Item = usize> + '_ {
        self.blocks.iter().flat_map(|block| block.rows.iter().copied())
    }

    /// Whether some rows are rolled up.
    pub fn is_rolled_up(&self) -> bool {
        self.blocks.iter().any(|block| block.pattern.is_some())
    }

    /// How many of the rows in order are worse than a word of information.
    pub fn troubled(&self) -> usize {
        self.order().filter(|row| self.levels[*row].is_some_and(|level| level > Level::Info)).count()
    }
}

impl App {
    /// The order of all rows: the one kept, or one just computed where something changed since.
    pub fn ranked(&self) -> Cow<'_, Ranked> {
        let basis = self.basis();
        let kept = &self.overview.ranked;
        if kept.basis.as_ref() == Some(&basis) { Cow::Borrowed(kept) } else { Cow::Owned(self.rank_all(basis)) }
    }

    /// The order of the rows as they are now.
    pub fn rank_now(&self) -> Cow<'_, Ranked> {
        Cow::Owned(self.rank_all(self.basis()))
    }

    /// Keeps the order for the frames and keys to come, and picks a row of it.
    pub fn keep_order(&mut self) {
        if let Cow::Owned(ranked) = self.ranked() {
            self.overview.selected.clone_from(&ranked.picked);
            self.overview.ranked = ranked;
        }
    }

    fn basis(&self) -> Basis {
        let store = &self.shown().store;
        Basis {
            folds: if self.frozen.is_some() { store.folds } else { self.overview.settled },
            groups: store.streams.values().map(|stream| stream.groups.len()).sum(),
            streams: store.streams.len(),
            frozen: self.frozen.is_some(),
            order: self.overview.order,
            reversed: self.overview.reversed,
            filter: self.overview.filter.text.clone(),
            rolls_up: !self.overview.lists_all,
        }
    }

    fn rank_all(&self, basis: Basis) -> Ranked {
        let rows = self.every_row();
        let levels: Vec<Option<Level>> = rows.iter().map(Row::level).collect();
        let shape = shape(&rows, &levels);
        let last = &self.overview.ranked;
        let holds = last.shape == shape && last.basis.as_ref().is_some_and(|last| last.asks_for(&basis));
        // nothing moves because a number changed
        let blocks = if holds { last.blocks.clone() } else { self.blocks(&rows, &levels) };
        let order = || blocks.iter().flat_map(|block| block.rows.iter().copied());
        let chosen = self.overview.selected.as_ref().filter(|_| self.overview.chosen);
        let is_there = |picked: &&Picked| match picked {
            Picked::Row(id) => order().any(|row| rows[row].is(id)),
            Picked::Pattern(id) => blocks.iter().any(|block| block.pattern.as_ref() == Some(id)),
        };
        let first = || match blocks.first()? {
            Block { pattern: Some(id), .. } => Some(Picked::Pattern(id.clone())),
            Block { rows: of_it, .. } => Some(Picked::Row(rows[*of_it.first()?].id())),
        };
        let picked = chosen.filter(is_there).cloned().or_else(first);
        let all_found: Vec<Option<Level>> = rows.iter().map(Row::found).collect();
        let found = |level| all_found.iter().filter(|found| **found == Some(level)).count();
        let quiet = rows.iter().zip(&all_found).filter(|(_, found)| found.is_none()).map(|(row, _)| row);
        let unknown: Vec<String> = quiet.filter_map(Row::why_unknown).collect();
        // the first as the rows stand, if the filter lets one through
        let level = all_found.iter().flatten().max().copied().filter(|level| *level > Level::Info);
        let worst = level.and_then(|level| {
            let is_worst = |row: &usize| all_found[*row] == Some(level);
            order().find(is_worst).or_else(|| (0..rows.len()).find(is_worst))
        });
        Ranked {
            shape,
            worst: worst.map(|row| rows[row].trouble()),
            basis: Some(basis),
            picked,
            rows: rows.len(),
            groups: rows.iter().filter(|row| row.group.is_some()).count(),
            critical: found(Level::Critical),
            // a named key that is missing, or no stream, is a warning
            warn: found(Level::Warn) + rows.iter().filter(|row| row.is_amiss()).count(),
            known: self.shown().verdicts.known(),
            unread: rows.iter().filter(|row| row.is_unread()).count(),
            unknown: unknown.len(),
            why_unknown: unknown.into_iter().next(),
            cannot_tell: self.shown().cannot_tell(),
            blocks,
            levels,
        }
    }

    /// The rows that the filter lets through, rolled up and in order. Names break ties, so that equal rows never change places.
    fn blocks(&self, rows: &[Row], levels: &[Option<Level>]) -> Vec<Block> {
        let passing: Vec<usize> = (0..rows.len()).filter(|row| self.passes(&rows[*row])).collect();
        let mut blocks: Vec<Block> = Vec::new();
        let mut of_pattern: HashMap<PatternId, usize> = HashMap::new();
        for (row, pattern) in passing.iter().copied().zip(pattern_of_each(self, rows, &passing)) {
            if let Some(at) = pattern.as_ref().and_then(|id| of_pattern.get(id)) {
                blocks[*at].rows.push(row);
                continue;
            }
            of_pattern.extend(pattern.clone().map(|id| (id, blocks.len())));
            blocks.push(Block { pattern, rows: vec![row] });
        }
        let rank = |row: &usize| self.rank(&rows[*row], levels[*row]);
        if self.overview.order != Order::Name {
            for block in blocks.iter_mut().filter(|block| block.rows.len() > 1) {
                block.rows.sort_by_cached_key(|row| Reverse(rank(row)));
            }
            // a pattern stands where its worst row would, and where the sum of its rows belongs
            blocks.sort_by_cached_key(|block| {
                let ranks = || block.rows.iter().map(rank);
                let (level, urgency) = ranks().map(|(level, _, urgency)| (level, urgency)).max().unwrap_or_default();
                let number = match self.overview.order {
                    Order::Lag | Order::Pending => {
                        ranks().filter_map(|(_, number, _)| number).reduce(i64::saturating_add)
                    }
                    _ => ranks().filter_map(|(_, number, _)| number).max(),
                };
                Reverse((level, number, urgency))
            });
        }
        if self.overview.reversed {
            blocks.reverse();
            for block in &mut blocks {
                block.rows.reverse();
            }
        }
        blocks
    }
}
