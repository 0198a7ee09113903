//! The log of what happened, as lines.

use super::{Line, Tone, bold, span};
use crate::{
    app::{
        App,
        log::{self, Kind, Log},
    },
    core::{name::visible, time::utc_clock},
};

pub fn title(app: &App, log: &Log) -> String {
    let place = log::about(app).map(|about| about.name);
    let filter = match (log.filter.typing, log.filter.text.as_str()) {
        (true, text) => format!("/{}▏ ", visible(text.as_bytes())),
        (false, "") => String::new(),
        (false, text) => format!("/{} ", visible(text.as_bytes())),
    };
    let earlier = if log.earlier { "p hides earlier runs" } else { "p: earlier runs" };
    match place {
        Some(place) if !log.all => format!("{filter}Log of {place} · a: of everything · {earlier}"),
        Some(place) => format!("{filter}Log of everything · a: only {place} · {earlier}"),
        None => format!("{filter}Log of everything · {earlier}"),
    }
}

/// Newest first, then the journal of earlier runs, if it is asked for.
pub fn lines(app: &App, log: &Log) -> Vec<Line> {
    let mut lines: Vec<Line> = log::lines(app, log)
        .into_iter()
        .map(|line| {
            let kind = match line.kind {
                Kind::Event(id) => bold(format!("{id}  "), Tone::Warn),
                Kind::Action => bold("action  ", Tone::Accent),
            };
            vec![span(format!("{}  ", utc_clock(line.wall_ms)), Tone::Dim), kind, span(line.text, Tone::Plain)]
        })
        .collect();
    if lines.is_empty() {
        let elsewhere = !log.all && !log::lines(app, &Log { all: true, ..log.clone() }).is_empty();
        let text = if elsewhere {
            "Nothing happened here in this run. a shows what happened elsewhere."
        } else {
            "Nothing happened in this run."
        };
        lines.push(vec![span(text, Tone::Dim)]);
    }
    if log.earlier {
        lines.push(Line::new());
        lines.push(vec![bold("Actions of earlier runs, on all servers, from the journal", Tone::Plain)]);
        if app.session.journal.is_empty() {
            lines.push(vec![span("The journal has none.", Tone::Dim)]);
        }
        lines.extend(app.session.journal.iter().rev().map(|line| vec![span(line, Tone::Dim)]));
    }
    lines
}
