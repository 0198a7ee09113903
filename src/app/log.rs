//! The one log of what happened: findings, cursors, losses, links and actions, newest first. It begins with what concerns the row that one
//! stands on.

use super::{App, Place, filter::Filter, key::Key};
use crate::core::{event::Event, name::Name};
use std::cmp::Reverse;

/// How the log is shown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Log {
    /// Everything, not only what concerns the row.
    pub all: bool,
    /// What the journal has of earlier runs, too.
    pub earlier: bool,
    /// Only lines that contain this.
    pub filter: Filter,
}

/// An action of this run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Acted {
    pub wall_ms: i64,
    /// Stream and group; `None` if its dialog was gone when it ended.
    pub row: Option<(Name, Name)>,
    /// What became of it, as a sentence.
    pub text: String,
}

/// One line of the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogLine<'a> {
    pub wall_ms: i64,
    pub kind: Kind,
    pub text: &'a str,
}

/// What a line tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// What pelwatch saw, by its id.
    Event(&'static str),
    /// What pelwatch did.
    Action,
}

impl Log {
    /// A key while the log is open; false if it means nothing here.
    pub fn press(&mut self, key: Key) -> bool {
        if self.filter.press(key) {
            return true;
        }
        match key {
            Key::Char('/') => self.filter.typing = true,
            Key::Esc if !self.filter.text.is_empty() => self.filter.text.clear(),
            Key::Char('a') => self.all = !self.all,
            Key::Char('p') => self.earlier = !self.earlier,
            _ => return false,
        }
        true
    }
}

/// The row that the log is about: the group on the screen, or the row chosen in the overview. `None` before one was chosen.
pub fn row(app: &App) -> Option<(&Name, Option<&Name>)> {
    match &app.place {
        Place::Group { key, group } => Some((key, Some(group))),
        Place::Overview if app.overview.chosen => {
            app.overview.selected.as_ref().map(|row| (&row.key, row.group.as_ref()))
        }
        Place::Overview => None,
    }
}

/// What happened in this run, newest first.
pub fn lines<'a>(app: &'a App, log: &Log) -> Vec<LogLine<'a>> {
    let row = if log.all { None } else { row(app) };
    let events = app.shown().store.events.iter().filter(|event| concerns(event, row));
    let acted = |acted: &&Acted| match (row, &acted.row) {
        (Some((key, group)), Some((of, by))) => of == key && group.is_none_or(|group| by == group),
        _ => true,
    };
    let mut lines: Vec<LogLine> = events
        .map(|event| LogLine { wall_ms: event.wall_ms, kind: Kind::Event(event.id), text: &event.text })
        .chain((app.session.actions.iter().filter(acted)).map(|acted| LogLine {
            wall_ms: acted.wall_ms,
            kind: Kind::Action,
            text: &acted.text,
        }))
        .collect();
    let kind = |line: &LogLine| if let Kind::Event(id) = line.kind { id } else { "action" };
    lines.retain(|line| log.filter.passes(&[kind(line), line.text]));
    // what came later in the same millisecond stands above
    lines.reverse();
    lines.sort_by_key(|line| Reverse(line.wall_ms));
    lines
}

/// Whether an event is about the row: about its group, about its whole stream, or about the server and the link.
fn concerns(event: &Event, row: Option<(&Name, Option<&Name>)>) -> bool {
    let Some((key, group)) = row else { return true };
    let of_group = event.group.is_none() || group.is_none() || event.group.as_ref() == group;
    event.stream.as_ref().is_none_or(|stream| stream == key) && of_group
}
