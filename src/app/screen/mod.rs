//! The view model: everything that the panes show, computed from the program's state and the time. Draw functions read nothing else.

mod boxed;
mod census;
mod chart;
mod consumers;
mod dialog;
mod footer;
mod group;
mod header;
mod log;
mod overlay;
mod overview;
mod pattern;
mod strip;
mod symptoms;
mod words;

pub use boxed::OverlayView;
pub use chart::{Series, Subject};
pub use group::GroupView;
pub use overview::{OverviewView, WIDE};
pub use symptoms::{SymptomItem, SymptomsView};

use super::{App, LinkState, Place};
use crate::core::{number::size, time::Now};

/// What a piece of text means. The theme turns it into a style.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tone {
    /// Ordinary text.
    #[default]
    Plain,
    /// Secondary text.
    Dim,
    /// Focus and cursor.
    Accent,
    /// Entries not read yet.
    New,
    /// Pending, from fresh (0) to old (3).
    Heat(u8),
    /// Good to know.
    Info,
    /// Needs a look.
    Warn,
    /// Needs action now.
    Critical,
}

/// A piece of text with one meaning.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Span {
    /// The text, safe to show.
    pub text: String,
    pub tone: Tone,
    pub bold: bool,
}

/// Pieces of text side by side.
pub type Line = Vec<Span>;

/// Normal text.
pub fn span(text: impl Into<String>, tone: Tone) -> Span {
    Span { text: text.into(), tone, bold: false }
}

/// Bold text.
pub fn bold(text: impl Into<String>, tone: Tone) -> Span {
    Span { text: text.into(), tone, bold: true }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column {
    pub title: &'static str,
    /// Minimum width in cells.
    pub least: usize,
    /// Maximum width in cells.
    pub most: usize,
    /// When room is short, the column with the highest rank is dropped first. Rank 0 is never dropped.
    pub rank: u8,
    /// Right-aligned.
    pub right: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TableRow {
    /// One cell for each column.
    pub cells: Vec<Span>,
    /// The row belongs to the row above.
    pub nested: bool,
    /// Stands before the name.
    pub lead: String,
}

/// A table, cut to about the rows that fit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Table {
    pub columns: Vec<Column>,
    pub rows: Vec<TableRow>,
    /// Index of a column of names: what they share gives way first where they are too long.
    pub names: Option<usize>,
    /// Index of the column that the rows are sorted by, where they can be sorted.
    pub sorted: Option<usize>,
    /// The order is turned round.
    pub is_reversed: bool,
    /// Index of the picked row.
    pub selected: Option<usize>,
    /// The number of rows that are not in `rows`, before and after them.
    pub hidden: (usize, usize),
}

/// A line of parts. Parts are dropped by rank when room is short.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bar {
    /// Parts from the left edge, with ranks.
    pub left: Vec<(u8, Line)>,
    /// Parts from the right edge, with ranks.
    pub right: Vec<(u8, Line)>,
}

/// The middle of the screen.
#[derive(Clone, Debug, PartialEq)]
pub enum Body {
    /// All streams and groups.
    Overview(Box<OverviewView>),
    /// One group.
    Group(Box<GroupView>),
}

#[derive(Clone, Debug, PartialEq)]
pub struct Screen {
    /// The title of the terminal's window or tab.
    pub title: String,
    pub header: Bar,
    pub body: Body,
    pub footer: Bar,
    /// The box over the screen.
    pub overlay: Option<OverlayView>,
    /// The data is old: everything except the header is dimmed.
    pub stale: bool,
}

impl Screen {
    /// Computes the screen. `clock` is the local time of day.
    pub fn of(app: &App, now: Now, clock: &str) -> Self {
        let shown_at = app.shown_at(now);
        let body = match &app.place {
            Place::Overview => Body::Overview(Box::new(overview::view(app, shown_at))),
            Place::Group { key, group } => Body::Group(Box::new(group::view(app, key, group, shown_at))),
        };
        Self {
            title: header::title(app, now, clock),
            header: header::view(app, now, clock),
            body,
            footer: footer::view(app),
            overlay: overlay::view(app, shown_at),
            stale: matches!(app.link, LinkState::Down { .. }),
        }
    }
}

/// How far the box over the screen can be scrolled.
pub fn most_scroll(app: &App, now: Now) -> usize {
    overlay::view(app, app.shown_at(now)).map_or(0, |view| view.most_scroll())
}

/// The tone of a pending entry, by its idle time.
pub fn heat(idle_ms: i64) -> Tone {
    Tone::Heat(match idle_ms {
        ..10_000 => 0,
        10_000..60_000 => 1,
        60_000..600_000 => 2,
        _ => 3,
    })
}

/// Eight levels of a bar; the lowest stands for zero.
const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// A row of bars, with the largest value at full height. `None` becomes a gap.
pub fn spark(values: &[Option<i64>]) -> String {
    let most = values.iter().flatten().copied().max().unwrap_or(0).max(1);
    values
        .iter()
        .map(|value| match value {
            None => ' ',
            Some(value) if *value <= 0 => BARS[0],
            // in 128 bits: other servers send counts up to the maximum of 64 bits
            Some(value) => {
                let (value, most) = (i128::from(*value), i128::from(most));
                BARS[size((value * 7 + most - 1) / most).clamp(1, 7)]
            }
        })
        .collect()
}

/// The rows around the picked one that may fit, and how many are left out before and after.
fn around<T>(rows: Vec<T>, selected: usize, most: usize) -> (Vec<T>, usize, (usize, usize)) {
    let total = rows.len();
    let start = selected.saturating_sub(most).min(total.saturating_sub(2 * most));
    let kept: Vec<T> = rows.into_iter().skip(start).take(2 * most).collect();
    let after = total - start - kept.len();
    (kept, selected.saturating_sub(start), (start, after))
}

/// A rate in five cells.
fn rate(rate: Option<f64>, early: bool) -> String {
    match rate {
        None if early => "…".to_owned(),
        None => "-".to_owned(),
        Some(n) if n < 99.95 => format!("{n:.1}"),
        Some(n) if n < 99_999.5 => format!("{n:.0}"),
        Some(n) => format!("{:.0}k", n / 1000.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spark_keeps_gaps_and_zeros_apart() {
        assert_eq!(spark(&[None, Some(0), Some(1), Some(7)]), " ▁▂█");
        assert_eq!(spark(&[Some(i64::MAX / 8)]), "█");
    }

    #[test]
    fn rows_around_the_picked_one_are_kept() {
        let (rows, selected, hidden) = around((0..1000).collect(), 500, 20);
        assert_eq!((rows.len(), rows[selected], hidden), (40, 500, (480, 480)));
        let (rows, selected, hidden) = around((0..10).collect(), 9, 20);
        assert_eq!((rows.len(), selected, hidden), (10, 9, (0, 0)));
    }
}
