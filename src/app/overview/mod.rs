//! The overview: all streams and groups. Its state and what keys do to it.

mod patterns;
mod ranking;
mod rows;

use super::{App, Place, filter::Filter, keymap::Action, moved};
use crate::core::{command::Argv, name::Name, pattern::Given, time::Now};
use std::collections::BTreeSet;

pub use patterns::{Listed, PatternId, PatternRow};
pub use rows::Row;

/// What can be picked; the selection sticks to it when the rows move.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Picked {
    Row(RowId),
    /// The row of a pattern.
    Pattern(PatternId),
}

/// Identity of a row.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RowId {
    /// The stream.
    pub key: Name,
    /// The group; `None` for a stream that has none, or cannot be read.
    pub group: Option<Name>,
}

/// What the rows are sorted by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// The worst first.
    #[default]
    Level,
    /// By stream, then group.
    Name,
    /// The largest lag first; unknown ones stand before the zeros, since they can hide a backlog (docs/server-facts.md 13.4).
    Lag,
    /// The most pending first.
    Pending,
    /// The oldest pending entry first.
    Oldest,
}

impl Order {
    /// Of the columns from left to right the one `step` further on.
    pub fn column(self, step: isize) -> Self {
        const COLUMNS: [Order; 5] = [Order::Level, Order::Name, Order::Lag, Order::Pending, Order::Oldest];
        let at = COLUMNS.iter().position(|one| *one == self).unwrap_or(0) as isize;
        COLUMNS[(at + step).rem_euclid(COLUMNS.len() as isize) as usize]
    }

    /// Its word.
    pub fn word(self) -> &'static str {
        match self {
            Self::Level => "level",
            Self::Name => "name",
            Self::Lag => "lag",
            Self::Pending => "pending",
            Self::Oldest => "oldest",
        }
    }
}

/// Which rows are rolled up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RollUp {
    Nothing,
    /// Those of these patterns, and those of patterns found.
    Patterns(Vec<Given>),
}

/// What the user set on the overview.
#[derive(Clone, Debug, Default)]
pub struct Overview {
    /// What is picked.
    pub selected: Option<Picked>,
    /// The row was chosen; until then the worst one is picked, whichever that is.
    pub chosen: bool,
    pub order: Order,
    /// The order upside down.
    pub reversed: bool,
    /// Only rows whose names contain this.
    pub filter: Filter,
    /// Patterns that the user named, to be rolled up from two rows on; more are found by themselves.
    pub patterns: Vec<Given>,
    /// Nothing is rolled up.
    pub lists_all: bool,
    /// The patterns whose rows are listed.
    pub open: BTreeSet<PatternId>,
    /// The store's fold after the last whole sample.
    pub settled: u64,
    /// The order last computed.
    ranked: ranking::Ranked,
}

impl Overview {
    pub fn roll_up(&mut self, which: RollUp) {
        match which {
            RollUp::Nothing => self.lists_all = true,
            RollUp::Patterns(given) => self.patterns = given,
        }
    }

    /// The row picked, unless that is the row of a pattern.
    pub fn row(&self) -> Option<&RowId> {
        match &self.selected {
            Some(Picked::Row(id)) => Some(id),
            _ => None,
        }
    }

    /// The order has to be computed again, although nothing was folded.
    pub(super) fn forget_order(&mut self) {
        self.ranked = ranking::Ranked::default();
    }
}

/// A key of the overview; returns the group to open, if it opens one.
pub fn act(app: &mut App, action: Action, now: Now) -> Option<RowId> {
    match action {
        Action::Open => return open(app, now),
        Action::Back => back(app),
        Action::RollUp => roll_up(app, now),
        Action::Filter => app.overview.filter.typing = true,
        Action::Sort | Action::SortRight => sort(app, 1, now),
        Action::SortLeft => sort(app, -1, now),
        Action::Reverse => app.overview.reversed = !app.overview.reversed,
        _ => {
            if let Some(step) = action.step(app.size) {
                walk(app, step);
            }
        }
    }
    None
}

fn sort(app: &mut App, step: isize, now: Now) {
    app.overview.order = app.overview.order.column(step);
    app.notify(
        format!("sorted by {}; rows keep their places until r or a new level", app.overview.order.word()),
        now,
        super::NOTICE_MS,
    );
}

/// One step back: out of the filter, or out of a pattern.
fn back(app: &mut App) {
    if !app.overview.filter.text.is_empty() {
        app.overview.filter.text.clear();
    } else if let Some(id) = open_pattern(app) {
        app.turn(&id);
    }
}

/// The open pattern in which the picked row stands, or which is picked.
pub fn open_pattern(app: &App) -> Option<PatternId> {
    let id = match app.overview.selected.as_ref().filter(|_| !app.overview.open.is_empty())? {
        Picked::Row(row) => app.pattern_over(row)?,
        Picked::Pattern(id) => id.clone(),
    };
    app.overview.open.contains(&id).then_some(id)
}

fn roll_up(app: &mut App, now: Now) {
    app.overview.lists_all = !app.overview.lists_all;
    let said = match (app.overview.lists_all, app.rank_now().is_rolled_up()) {
        (true, _) => "every row by itself",
        (false, true) => "rows of one pattern are rolled up",
        (false, false) => "no rows of one pattern here",
    };
    app.notify(said, now, super::NOTICE_MS);
}

/// What is picked must exist, and there must be something as soon as there are rows.
pub fn keep_selection(app: &mut App) {
    app.keep_order();
    if app.overview.selected.is_none() {
        app.overview.selected = app.ranked().picked.clone();
    }
    if app.place == Place::Overview {
        app.open_to_picked();
    }
}

/// The row `step` groups further on, round the edge.
pub fn group_after(app: &App, step: isize) -> Option<RowId> {
    let rows: Vec<RowId> = app.rows().iter().map(Row::id).filter(|row| row.group.is_some()).collect();
    let at = app.overview.row().and_then(|row| rows.iter().position(|id| id == row)).unwrap_or(0);
    let next = (at as isize + step).checked_rem_euclid(rows.len() as isize)?;
    rows.get(next.unsigned_abs()).cloned()
}

/// Name of what is picked.
pub fn name(app: &App) -> Option<String> {
    let (of_stream, group) = match app.overview.selected.as_ref()? {
        Picked::Row(RowId { key, group }) => (key, group),
        Picked::Pattern(PatternId { pattern, .. }) => (pattern, &None),
    };
    Some(group.as_ref().unwrap_or(of_stream).shown())
}

/// The command that shows what the picked row shows.
pub fn command(app: &App) -> Option<Argv> {
    let row = app.overview.row()?;
    Some(Argv::of(&[b"XINFO", if row.group.is_some() { &b"GROUPS"[..] } else { &b"STREAM"[..] }, row.key.bytes()]))
}

fn walk(app: &mut App, step: isize) {
    let listed = app.listed();
    let index = moved(app.selected_index(&listed), step, listed.len());
    app.overview.selected = listed.get(index).map(Listed::id);
    app.overview.chosen = true;
}

/// Chooses a row; true if it was the chosen one before.
pub fn pick(app: &mut App, index: usize) -> bool {
    let Some(row) = app.listed().get(index).map(Listed::id) else { return false };
    let same = app.overview.chosen && app.overview.selected.as_ref() == Some(&row);
    app.overview.selected = Some(row);
    app.overview.chosen = true;
    same
}

fn open(app: &mut App, now: Now) -> Option<RowId> {
    match app.overview.selected.clone()? {
        Picked::Row(row) if row.group.is_some() => return Some(row),
        Picked::Row(_) => app.notify("there is no group to open in this row", now, super::NOTICE_MS),
        Picked::Pattern(id) => {
            app.overview.chosen = true;
            app.turn(&id);
        }
    }
    None
}
