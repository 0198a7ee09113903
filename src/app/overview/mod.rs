//! The overview: all streams and groups. Its state and what keys do to it.

mod ranking;
mod rows;

use super::{App, filter::Filter, keymap::Action, moved};
use crate::core::{command::Argv, name::Name, time::Now};

pub use rows::Row;

/// Identity of a row; the selection sticks to it when the rows move.
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

/// What the user set on the overview.
#[derive(Clone, Debug, Default)]
pub struct Overview {
    /// The row picked.
    pub selected: Option<RowId>,
    /// The row was chosen; until then the worst one is picked, whichever that is.
    pub chosen: bool,
    pub order: Order,
    /// The order upside down.
    pub reversed: bool,
    /// Only rows whose names contain this.
    pub filter: Filter,
    /// The store's fold after the last whole sample.
    pub settled: u64,
    /// The order last computed.
    ranked: ranking::Ranked,
}

impl Overview {
    /// The order has to be computed again, although nothing was folded.
    pub(super) fn forget_order(&mut self) {
        self.ranked = ranking::Ranked::default();
    }
}

/// A key of the overview; returns the group to open, if it opens one.
pub fn act(app: &mut App, action: Action, now: Now) -> Option<RowId> {
    match action {
        Action::Open => return open(app, now),
        Action::Back => app.overview.filter.text.clear(),
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

/// The picked row must exist, and there must be one as soon as there are rows.
pub fn keep_selection(app: &mut App) {
    app.keep_order();
    if app.overview.selected.is_none() {
        app.overview.selected = app.ranked().picked.clone();
    }
}

/// The row `step` groups further on, round the edge.
pub fn group_after(app: &App, step: isize) -> Option<RowId> {
    let rows: Vec<RowId> = app.rows().iter().map(Row::id).filter(|row| row.group.is_some()).collect();
    let at = app.overview.selected.as_ref().and_then(|row| rows.iter().position(|id| id == row)).unwrap_or(0);
    let next = (at as isize + step).checked_rem_euclid(rows.len() as isize)?;
    rows.get(next.unsigned_abs()).cloned()
}

/// Name of the picked row.
pub fn name(app: &App) -> Option<String> {
    app.overview.selected.as_ref().map(|row| row.group.as_ref().unwrap_or(&row.key).shown())
}

/// The command that shows what the picked row shows.
pub fn command(app: &App) -> Option<Argv> {
    let row = app.overview.selected.as_ref()?;
    Some(Argv::of(&[b"XINFO", if row.group.is_some() { &b"GROUPS"[..] } else { &b"STREAM"[..] }, row.key.bytes()]))
}

fn walk(app: &mut App, step: isize) {
    let rows = app.rows();
    let index = moved(app.selected_index(&rows), step, rows.len());
    app.overview.selected = rows.get(index).map(Row::id);
    app.overview.chosen = true;
}

/// Chooses a row; true if it was the chosen one before.
pub fn pick(app: &mut App, index: usize) -> bool {
    let Some(row) = app.rows().get(index).map(Row::id) else { return false };
    let same = app.overview.chosen && app.overview.selected.as_ref() == Some(&row);
    app.overview.selected = Some(row);
    app.overview.chosen = true;
    same
}

fn open(app: &mut App, now: Now) -> Option<RowId> {
    let row = app.overview.selected.clone()?;
    if row.group.is_none() {
        app.notify("there is no group to open in this row", now, super::NOTICE_MS);
        return None;
    }
    Some(row)
}
