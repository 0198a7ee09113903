//! Rows that are rolled up: the partitions of one stream, as one row that opens.

use super::{Picked, Row, RowId};
use crate::{
    app::App,
    core::{
        name::Name,
        pattern::{self, LEAST},
        symptoms::Level,
    },
};
use std::collections::HashMap;

/// Identity of the row of a pattern.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PatternId {
    /// As `orders:*`.
    pub pattern: Name,
    /// The group that all of them have; `None` for streams without any.
    pub group: Option<Name>,
}

/// The rows of one pattern as one.
#[derive(Clone)]
pub struct PatternRow<'a> {
    pub id: PatternId,
    /// In order; there is at least one.
    pub members: Vec<Row<'a>>,
    /// They are listed below it.
    pub is_open: bool,
}

/// What a line of the overview is about.
#[derive(Clone)]
pub enum Listed<'a> {
    Row {
        row: Row<'a>,
        /// It stands below the row of its pattern.
        is_member: bool,
    },
    Pattern(PatternRow<'a>),
}

impl<'a> PatternRow<'a> {
    /// The first of the worst rows.
    pub fn worst(&self) -> Option<Row<'a>> {
        let level = |row: &Row| row.level().filter(|level| *level > Level::Info);
        self.members.iter().copied().reduce(|worst, row| if level(&row) > level(&worst) { row } else { worst })
    }
}

impl<'a> Listed<'a> {
    pub fn id(&self) -> Picked {
        match self {
            Self::Row { row, .. } => Picked::Row(row.id()),
            Self::Pattern(pattern) => Picked::Pattern(pattern.id.clone()),
        }
    }

    pub fn is(&self, picked: &Picked) -> bool {
        match (self, picked) {
            (Self::Row { row, .. }, Picked::Row(id)) => row.is(id),
            (Self::Pattern(pattern), Picked::Pattern(id)) => pattern.id == *id,
            _ => false,
        }
    }

    /// The row, or the worst of a pattern.
    pub fn worst(&self) -> Option<Row<'a>> {
        match self {
            Self::Row { row, .. } => Some(*row),
            Self::Pattern(pattern) => pattern.worst(),
        }
    }
}

/// The pattern under which each of the passing rows is rolled up. While a filter looks for rows, none is.
pub fn pattern_of_each(app: &App, rows: &[Row], passing: &[usize]) -> Vec<Option<PatternId>> {
    let overview = &app.overview;
    if overview.lists_all || !overview.filter.text.is_empty() {
        return vec![None; passing.len()];
    }
    let mut names: Vec<&Name> = passing.iter().map(|row| &rows[*row].stream.key).collect();
    // rows are by name, so the rows of one stream are neighbours
    names.dedup();
    let patterns: HashMap<&Name, Option<Name>> =
        names.iter().copied().zip(pattern::patterns(&names, &overview.patterns)).collect();
    let of_each: Vec<Option<PatternId>> = passing.iter().map(|row| of_row(&rows[*row], &patterns)).collect();
    let mut members: HashMap<&PatternId, usize> = HashMap::new();
    of_each.iter().flatten().for_each(|id| *members.entry(id).or_default() += 1);
    let is_given = |id: &PatternId| overview.patterns.iter().any(|given| given.text == id.pattern);
    let least = |id: &PatternId| if is_given(id) { 2 } else { LEAST };
    of_each.iter().map(|id| id.clone().filter(|id| members[id] >= least(id))).collect()
}

/// A stream that cannot be read has words of its own, so it keeps a row of its own.
fn of_row(row: &Row, patterns: &HashMap<&Name, Option<Name>>) -> Option<PatternId> {
    let alone = row.group.is_none() && (!row.stream.is_ok() || row.stream.groups_fault.is_some());
    let pattern = patterns.get(&row.stream.key)?.clone().filter(|_| !alone)?;
    Some(PatternId { pattern, group: row.id().group })
}

impl App {
    /// Opens or closes the row of a pattern; when it opens, the first of its rows is picked.
    pub(super) fn turn(&mut self, id: &PatternId) {
        if self.overview.open.remove(id) {
            self.overview.selected = Some(Picked::Pattern(id.clone()));
            return;
        }
        self.overview.open.insert(id.clone());
        let below = self.listed().into_iter().skip_while(|listed| !listed.is(&Picked::Pattern(id.clone()))).nth(1);
        let below = below.map(|listed| listed.id());
        self.overview.selected = below.or(self.overview.selected.take());
    }

    /// The row of the pattern under which a row is rolled up.
    pub(super) fn pattern_over(&self, row: &RowId) -> Option<PatternId> {
        let over = |listed: Listed| match listed {
            Listed::Pattern(pattern) if pattern.members.iter().any(|member| member.is(row)) => Some(pattern.id),
            _ => None,
        };
        self.listed().into_iter().find_map(over)
    }

    /// Who comes back from a group finds it picked: the row of its pattern is open.
    pub(super) fn open_to_picked(&mut self) {
        let chosen = self.overview.chosen && self.ranked().is_rolled_up();
        let Some(Picked::Row(row)) = self.overview.selected.clone().filter(|_| chosen) else { return };
        if let Some(id) = self.pattern_over(&row) {
            self.overview.open.insert(id);
        }
    }
}
