//! The one log of what happened: findings, cursors, losses, links and actions, newest first. It begins with what concerns the row that one
//! stands on.

use super::{App, Picked, Place, filter::Filter, key::Key};
use crate::core::{event::Event, name::Name, pattern::Given};
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

/// What the log is about.
pub struct About {
    /// Its name on the screen.
    pub name: String,
    stream: Name,
    /// It is about all streams of this pattern, also of those that are gone.
    pattern: Option<Given>,
    group: Option<Name>,
}

impl About {
    fn new(stream: &Name, group: Option<&Name>) -> Self {
        let of = group.map_or(String::new(), |group| format!(" › {}", group.shown()));
        let name = format!("{}{of}", stream.shown());
        Self { name, stream: stream.clone(), pattern: None, group: group.cloned() }
    }

    fn concerns_stream(&self, stream: &Name) -> bool {
        *stream == self.stream || self.pattern.as_ref().is_some_and(|pattern| pattern.matches(stream))
    }

    /// Whether it is about its group, about a whole stream, or about the server and the link.
    fn concerns(&self, event: &Event) -> bool {
        let of_group = event.group.is_none() || self.group.is_none() || event.group == self.group;
        event.stream.as_ref().is_none_or(|stream| self.concerns_stream(stream)) && of_group
    }
}

/// The group on the screen, or what is chosen in the overview; `None` before anything was chosen.
pub fn about(app: &App) -> Option<About> {
    match (&app.place, &app.overview.selected) {
        (Place::Group { key, group }, _) => Some(About::new(key, Some(group))),
        (Place::Overview, Some(Picked::Row(id))) if app.overview.chosen => Some(About::new(&id.key, id.group.as_ref())),
        (Place::Overview, Some(Picked::Pattern(id))) if app.overview.chosen => {
            let pattern = Given::new(id.pattern.clone());
            Some(About { pattern, ..About::new(&id.pattern, id.group.as_ref()) })
        }
        (Place::Overview, _) => None,
    }
}

/// What happened in this run, newest first.
pub fn lines<'a>(app: &'a App, log: &Log) -> Vec<LogLine<'a>> {
    let about = if log.all { None } else { about(app) };
    let events = app.shown().store.events.iter();
    let events = events.filter(|event| about.as_ref().is_none_or(|about| about.concerns(event)));
    let acted = |acted: &&Acted| match (&about, &acted.row) {
        (Some(about), Some((of, by))) => {
            about.concerns_stream(of) && about.group.as_ref().is_none_or(|group| by == group)
        }
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
