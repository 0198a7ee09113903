//! One group: strip, consumers, symptoms, and the lag over time.

use super::{
    Line, Series, SymptomsView, Table, Tone, bold, census,
    chart::{self, Subject},
    consumers, span, strip, symptoms,
    words::{count_words, fault_words, is_old, lag_cell, oldest_cell},
};
use crate::{
    app::{App, Pane, Zoom, group_screen::finding_index},
    core::{
        known::Known,
        name::Name,
        store::{GroupState, RowState, StreamState},
        symptoms::{Finding, FindingKey, Level},
        time::{Now, age},
    },
};

#[derive(Clone, Debug, PartialEq)]
pub struct GroupView {
    pub title: Line,
    /// The most important numbers.
    pub numbers: Line,
    pub strip: Vec<Line>,
    pub zoom: Zoom,
    /// Only the pane in focus is shown.
    pub alone: bool,
    /// Consumers and the entries that they hold.
    pub consumers: Table,
    /// The most important number about the consumers.
    pub consumers_number: Line,
    /// Shown in place of consumers when there are none to show.
    pub consumers_empty: String,
    pub symptoms: SymptomsView,
    pub lag: Series,
    pub pending: Series,
    pub oldest: Series,
    pub span_s: f64,
    /// What the picked finding is about, and its id.
    pub subject: (Subject, Option<&'static str>),
    /// The pane in focus.
    pub pane: Pane,
    /// The numbers are old: the server's latest reply is an error.
    pub old: bool,
    /// Shown in place of everything when the group does not exist.
    pub absent: Option<String>,
}

pub fn view(app: &App, key: &Name, name: &Name, now: Now) -> GroupView {
    let title = title(app, key, name);
    let Some(seen) = app.shown().group(key, name) else {
        return absent(app, key, name, title);
    };
    let (stream, group) = (seen.stream, seen.group);
    let old = is_old(stream);
    let real_now = now;
    let now = if old { Now { mono: group.at, ..now } } else { now };
    let consumers = consumers::view(app, stream, group, now);
    let history = &group.history;
    let usual_ms = app.shown().store.sweep_ms(app.kept_interval_ms);
    let keys: Vec<FindingKey> = seen.findings().map(Finding::key).collect();
    let picked = finding_index(app, &keys).filter(|_| app.group_screen.pane == Pane::Symptoms);
    let finding = app.picked_finding().or_else(|| seen.findings().next()).filter(|found| found.level > Level::Info);
    GroupView {
        title,
        numbers: match fault_words(stream, group) {
            Some(words) if old => {
                let since = age(real_now.mono.since(group.at) as i64);
                vec![bold(words, Tone::Warn), span(format!(", numbers of {since} ago"), Tone::Warn)]
            }
            Some(words) => {
                let mut line = numbers(app, stream, group, now);
                line.push(span(format!("  {words}"), Tone::Warn));
                line
            }
            None => numbers(app, stream, group, now),
        },
        old,
        strip: strip::lines(app, stream, group, now).into_iter().chain(census::line(group, now)).collect(),
        zoom: app.group_screen.zoom,
        alone: app.group_screen.alone,
        consumers_number: consumers.1,
        consumers_empty: consumers.2,
        consumers: consumers.0,
        symptoms: symptoms::view(&seen, picked, !app.is_unanswered(now), real_now),
        lag: chart::series(history, now.mono, usual_ms, |point| point.lag),
        pending: chart::series(history, now.mono, usual_ms, |point| point.pending),
        oldest: chart::oldest(&group.oldest, now.mono),
        span_s: (history.span_ms(chart::SPAN_MS) as f64 / 1000.0).max(60.0),
        subject: (Subject::of(finding), finding.map(|finding| finding.id)),
        pane: app.group_screen.pane,
        absent: None,
    }
}

/// Stream and group. A long stream name is cut to leave room for the group and the numbers.
fn title(app: &App, key: &Name, name: &Name) -> Line {
    let room = usize::from(app.size.0) / 4;
    let cut = |name: &Name| crate::app::cells::cut(&name.shown(), room.max(10));
    vec![bold(cut(key), Tone::Plain), span(" › ", Tone::Dim), bold(cut(name), Tone::Plain)]
}

fn absent(app: &App, key: &Name, name: &Name, title: Line) -> GroupView {
    let store = &app.shown().store;
    let why = match store.streams.get(key).map(|stream| &stream.state) {
        None => format!("{key} is not watched any more."),
        Some(RowState::Fault(fault)) => format!("{key}: {}.", fault.words()),
        Some(RowState::Loading) => "Not answered yet.".to_owned(),
        Some(RowState::Ok) => format!(
            "The group {name} is not there. It shows up again by itself when it is created; e tells what happened."
        ),
    };
    GroupView {
        title,
        numbers: Vec::new(),
        strip: Vec::new(),
        zoom: app.group_screen.zoom,
        alone: false,
        consumers: Table::default(),
        consumers_number: Vec::new(),
        consumers_empty: String::new(),
        symptoms: SymptomsView { number: Vec::new(), items: Vec::new(), note: String::new() },
        lag: Series::default(),
        pending: Series::default(),
        oldest: Series::default(),
        span_s: 60.0,
        subject: (Subject::default(), None),
        pane: app.group_screen.pane,
        old: false,
        absent: Some(why),
    }
}

fn numbers(app: &App, stream: &StreamState, group: &GroupState, now: Now) -> Line {
    let lag = lag_cell(group);
    let mut line = vec![span("lag ", Tone::Dim), bold(lag.text.trim_end(), lag.tone)];
    if group.lag.server_differs()
        && let Some(reported) = group.lag.reported
    {
        line.push(span(format!(" (server says {reported})"), Tone::Warn));
    }
    let oldest = oldest_cell(group, now);
    line.push(span("  pending ", Tone::Dim));
    line.push(bold(
        count_words(group.facts.pending.value()),
        if group.facts.pending == Known::Is(0) { Tone::Dim } else { oldest.tone },
    ));
    if group.facts.pending.exceeds(0) {
        line.push(span("  oldest ", Tone::Dim));
        line.push(bold(oldest.text, oldest.tone));
    }
    if let Some(ms) = app.shown().store.behind_ms(stream, group, now) {
        line.push(span("  behind ", Tone::Dim));
        line.push(span(age(ms), Tone::Plain));
    }
    line
}
