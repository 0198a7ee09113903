//! All streams and groups, worst first, and the findings of the picked row.

use super::{
    Column, Line, Span, SymptomItem, Table, TableRow, Tone, around, bold,
    chart::Subject,
    rate, span, spark, symptoms,
    words::{count_words, fault_words, is_old, lag_cell, level_mark, level_tone, oldest_cell},
};
use crate::{
    app::{App, LinkState, Order, overview::Row},
    core::{
        history::History,
        number::size,
        sample::Fault,
        store::{GroupState, RowState, StreamState},
        symptoms::{Finding, Level},
        time::{Now, age},
        words::no_match,
    },
};

#[derive(Clone, Debug, PartialEq)]
pub struct OverviewView {
    /// Title at the left.
    pub title: Line,
    /// The most important number.
    pub number: Line,
    pub table: Table,
    /// Shown in place of rows when there are none.
    pub empty: Vec<Line>,
    /// Name of the picked row.
    pub picked: Line,
    /// Findings of the picked row, or a line that there are none.
    pub items: Vec<SymptomItem>,
    /// A dim note below.
    pub note: String,
}

/// From this many columns on, what was found of the picked row stands beside the list, in full.
pub const WIDE: u16 = 180;

const COLUMNS: [Column; 13] = [
    Column { title: "", least: 1, most: 1, rank: 0, right: false },
    Column { title: "stream", least: 12, most: 28, rank: 0, right: false },
    Column { title: "group", least: 12, most: 24, rank: 0, right: false },
    Column { title: "lag  ", least: 9, most: 9, rank: 0, right: true },
    Column { title: "last minute", least: 11, most: 11, rank: 6, right: false },
    Column { title: "pending", least: 7, most: 8, rank: 1, right: true },
    Column { title: "oldest", least: 8, most: 8, rank: 2, right: true },
    Column { title: "active", least: 6, most: 7, rank: 4, right: true },
    Column { title: "in/s", least: 6, most: 6, rank: 5, right: true },
    Column { title: "out/s", least: 6, most: 6, rank: 5, right: true },
    Column { title: "drains in", least: 9, most: 9, rank: 8, right: true },
    Column { title: "behind", least: 7, most: 7, rank: 7, right: true },
    Column { title: "finding", least: 20, most: 30, rank: 3, right: false },
];

pub fn view(app: &App, now: Now) -> OverviewView {
    let rows = app.rows();
    let selected = app.selected_index(&rows);
    let groups = rows.iter().filter(|row| row.group.is_some()).count();
    let ranked = app.ranked();
    let troubled = ranked.troubled();
    let picked = rows.get(selected).copied();
    let empty = if rows.is_empty() { why_empty(app) } else { Vec::new() };
    let mut title = vec![bold("Streams and groups", Tone::Plain)];
    if !app.overview.filter.text.is_empty() {
        title.push(span(
            format!(" matching {}", crate::core::name::visible(app.overview.filter.text.as_bytes())),
            Tone::Accent,
        ));
    }
    title.push(span(
        format!(", by {}{}", app.overview.order.word(), if app.overview.reversed { ", turned round" } else { "" }),
        Tone::Dim,
    ));
    let oldest_ms = app.shown().store.oldest_row_ms() as i64;
    if oldest_ms > 0 {
        title.push(span(format!(", numbers up to {} old", age(oldest_ms)), Tone::Dim));
    }
    let unread = rows.iter().filter(|row| row.is_unread()).count();
    let mut number: Line =
        app.shown().store.part_note().map(|part| bold(format!("{part}, "), Tone::Warn)).into_iter().collect();
    let wrong = of_server_worst(app);
    number.extend(wrong.map(|found| bold(format!("server: {}, ", found.id), level_tone(found.counts_as()))));
    number.extend(match (groups, troubled) {
        (0, 0) => Line::new(),
        (_, 0) if ranked.unknown > 0 || app.is_unanswered(now) => vec![bold("not known", Tone::Warn)],
        (n, 0) if unread > 0 => vec![span(format!("{} of {n} groups read so far", n - unread), Tone::Dim)],
        (n, 0) if ranked.known > 0 => {
            vec![span(
                format!(
                    "{}, {} known, else quiet",
                    crate::core::words::count(n as i64, "group", "groups"),
                    ranked.known
                ),
                Tone::Dim,
            )]
        }
        (1, 0) => vec![span("1 group, quiet", Tone::Dim)],
        (n, 0) => vec![span(format!("{n} groups, all quiet"), Tone::Dim)],
        (_, 1) => vec![bold(format!("1 of {} needs a look", rows.len()), Tone::Warn)],
        (_, n) => vec![bold(format!("{n} of {} need a look", rows.len()), Tone::Warn)],
    });
    let most = usize::from(app.size.1).max(10);
    let all = rows.len();
    let (rows, index, hidden) = around(rows, selected, most);
    let sorted = COLUMNS.iter().position(|column| column.title.trim() == sorted_column(app.overview.order));
    let mut columns = COLUMNS.to_vec();
    if let Some(column) = sorted.and_then(|index| columns.get_mut(index)) {
        // room for the sign of the order
        column.least = column.least.max(column.title.len() + 1);
    }
    let table = Table {
        columns,
        names: COLUMNS.iter().position(|column| column.title == "stream"),
        sorted,
        is_reversed: app.overview.reversed,
        rows: rows.iter().map(|row| table_row(app, row, now)).collect(),
        selected: (all > 0).then_some(index),
        hidden,
    };
    let (picked_title, of_row, note) =
        picked.map_or((Vec::new(), Vec::new(), String::new()), |row| details(app, &row, now));
    // what is wrong with the server comes first, whichever row is picked
    let of_server = app.shown().verdicts.server();
    let told = |wrong: bool| of_server.iter().filter(move |found| (found.level > Level::Info) == wrong);
    let mut items: Vec<SymptomItem> = told(true).map(|finding| symptoms::item(finding, false, now)).collect();
    items.extend(of_row);
    items.extend(told(false).map(|finding| symptoms::item(finding, false, now)));
    // where they stand beside the list there is room for all of it
    if app.size.0 >= WIDE {
        for item in &mut items {
            item.in_full = true;
        }
    }
    OverviewView { title, number, table, empty, picked: picked_title, items, note }
}

/// The title of the column that the order is about; the signs of the levels have none.
fn sorted_column(order: Order) -> &'static str {
    match order {
        Order::Level => "",
        Order::Name => "stream",
        Order::Lag => "lag",
        Order::Pending => "pending",
        Order::Oldest => "oldest",
    }
}

/// The worst finding about the server, if it is more than information.
fn of_server_worst(app: &App) -> Option<&Finding> {
    let findings = app.shown().verdicts.server().iter();
    findings.filter(|finding| finding.counts_as() > Level::Info).max_by_key(|finding| finding.counts_as())
}

fn why_empty(app: &App) -> Vec<Line> {
    let store = &app.shown().store;
    let line = |text: &str| vec![span(text, Tone::Plain)];
    if !app.overview.filter.text.is_empty() && !store.streams.is_empty() {
        return vec![line("No row matches the filter."), vec![span("Esc clears it.", Tone::Dim)]];
    }
    if let Some(fault) = &store.discovery.fault {
        return vec![
            line(&format!("Streams cannot be looked for: {}.", fault.words())),
            vec![span("Name them: pelwatch --stream NAME", Tone::Dim)],
            vec![span(
                if fault.is_absent() { String::new() } else { format!("Or have it allowed: {}", acl_line("*")) },
                Tone::Dim,
            )],
        ];
    }
    if store.discovery.complete && store.events.is_empty() && !store.settings.patterns.is_empty() {
        return vec![
            line(&no_match(&store.settings.patterns)),
            vec![span("One that is created shows up here by itself.", Tone::Dim)],
        ];
    }
    if store.discovery.complete {
        // after a loss, an empty screen must not look like a quiet one
        if let Some(event) = store.events.back() {
            return vec![
                line("There is no stream in this database any more."),
                vec![bold(&event.text, Tone::Warn)],
                vec![span(format!("{} events in all: e shows them.", store.events.len()), Tone::Dim)],
            ];
        }
        if store.is_one_node() {
            return vec![
                line("There is no stream on this node of the cluster."),
                vec![span("Those of all nodes: pelwatch --cluster", Tone::Dim)],
            ];
        }
        return vec![
            line("There is no stream in this database."),
            vec![span("One that is created shows up here by itself.", Tone::Dim)],
            vec![span("To see what this looks like: pelwatch demo", Tone::Dim)],
        ];
    }
    vec![vec![span("Looking for streams …", Tone::Dim)]]
}

fn table_row(app: &App, row: &Row, now: Now) -> TableRow {
    let mark = match (row.level().filter(|level| *level > Level::Info), row.group, &row.stream.groups_fault) {
        (None, None, Some(_)) => span("?", Tone::Warn),
        (None, None, None) => Span::default(),
        (None, Some(_), _) if row.is_ignored() => span("-", Tone::Dim),
        (None, Some(_), _) if app.is_unanswered(now) || row.why_unknown().is_some() => span("?", Tone::Warn),
        (None, Some(_), _) if row.is_known() => span("-", Tone::Dim),
        (None, Some(_), _) if row.is_unread() => span("…", Tone::Dim),
        (level, ..) => level_mark(level),
    };
    let name = |text: String| span(text, Tone::Plain);
    let mut cells = vec![mark, name(row.stream.key.shown())];
    let Some(group) = row.group else {
        let words = match (&row.stream.state, &row.stream.groups_fault) {
            (RowState::Loading, _) => span("…", Tone::Dim),
            (RowState::Fault(fault), _) => span(fault.words(), Tone::Warn),
            (RowState::Ok, Some(fault)) => span(format!("groups: {}", fault.words()), Tone::Warn),
            (RowState::Ok, None) if row.stream.groups.is_empty() => span("no groups", Tone::Dim),
            (RowState::Ok, None) => span("no such group", Tone::Dim),
        };
        cells.push(words);
        cells.resize(COLUMNS.len(), Span::default());
        return TableRow { cells, nested: false };
    };
    // with old numbers, ages stand still too
    let old = is_old(row.stream) || app.shown().store.is_late(row.stream, app.kept_interval_ms);
    let now = if old { Now { mono: group.at, ..now } } else { now };
    let rates = group.rates(row.stream);
    // a finding of the whole stream counts for each of its groups
    let of_stream = row.of_stream().iter().filter(|finding| finding.level > Level::Info);
    let findings = || row.judgement().into_iter().flat_map(|judgement| &judgement.findings).chain(of_stream.clone());
    // the first of the worst findings
    let finding = findings().reduce(|worst, next| if next.counts_as() > worst.counts_as() { next } else { worst });
    let tone = |level: Level| level_tone(level);
    cells.push(name(group.name().shown()));
    cells.push(lag_cell(group));
    cells.push(span(minute(&group.history, Subject::of(finding)), Tone::Accent));
    cells.push(count_cell(group.facts.pending.value()));
    cells.push(oldest_cell(group, now));
    cells.push(active_cell(app, group, now));
    let early = row.stream.additions.is_early();
    cells.push(span(rate(rates.added, early), Tone::Dim));
    cells.push(span(rate(rates.delivered, group.history.is_early()), Tone::Dim));
    cells.push(drain_cell(row.stream, group));
    cells.push(span(app.shown().store.behind_ms(row.stream, group, now).map_or("-".to_owned(), age), Tone::Dim));
    let more = findings().count().saturating_sub(1);
    let found = finding.map(|f| {
        let known = if f.known_until_ms.is_some() { " (known)" } else { "" };
        let more = if more > 0 { format!(" +{more}") } else { String::new() };
        let lasts = symptoms::lasts(f, now);
        let lasts = if lasts.is_empty() || !known.is_empty() { String::new() } else { format!(" {lasts}") };
        span(format!("{}{known}{lasts}{more}", f.id), tone(f.counts_as()))
    });
    let fault = fault_words(row.stream, group).map(|words| span(words, Tone::Warn));
    if old {
        for cell in cells.iter_mut().skip(1) {
            *cell = span(cell.text.clone(), Tone::Dim);
        }
    }
    let ignored = row.is_ignored().then(|| span("ignored", Tone::Dim));
    cells.push(if old { fault.or(found) } else { found.or(fault) }.or(ignored).unwrap_or_default());
    TableRow { cells, nested: false }
}

/// The number that the finding is about, over the last minute, with its name.
fn minute(history: &History, subject: Subject) -> String {
    const CELLS: usize = 7;
    let name = match subject {
        Subject::Lag => "lag",
        Subject::Pending => "PEL",
    };
    let points: Vec<_> = history.window(60_000).collect();
    let Some(newest) = points.last().map(|point| point.at) else { return String::new() };
    let mut values = [None; CELLS];
    for point in points {
        let ago = size(newest.since(point.at)) * CELLS / 60_001;
        let cell = &mut values[CELLS - 1 - ago];
        *cell = subject.value(&point).max(*cell);
    }
    format!("{name} {}", spark(&values))
}

fn count_cell(count: Option<i64>) -> Span {
    let tone = match count {
        Some(0) => Tone::Dim,
        Some(_) => Tone::Heat(0),
        None => Tone::Warn,
    };
    span(count_words(count), tone)
}

fn active_cell(app: &App, group: &GroupState, now: Now) -> Span {
    let total = count_words(group.facts.consumers.value());
    let Some(consumers) = &group.consumers.value else { return span(format!("?/{total}"), Tone::Dim) };
    let limit = group.gone_after_ms(&app.watch.store.settings);
    let passed = now.mono.since(group.consumers.at) as i64;
    let active = consumers.iter().filter(|consumer| consumer.idle_ms.saturating_add(passed) <= limit).count();
    span(
        format!("{active}/{total}"),
        if active == 0 && group.facts.consumers.exceeds(0) { Tone::Plain } else { Tone::Dim },
    )
}

fn drain_cell(stream: &StreamState, group: &GroupState) -> Span {
    let rates = group.rates(stream);
    let lag = group.lag.exact();
    match (lag, rates.drain_ms(lag), rates.added.zip(rates.delivered)) {
        (Some(0), ..) => span("-", Tone::Dim),
        (Some(_), Some(ms), _) => span(age(ms), Tone::Plain),
        (Some(_), None, Some((added, delivered))) if delivered <= added && added > 0.0 => span("never", Tone::Warn),
        _ => span("-", Tone::Dim),
    }
}

/// The command that an administrator can type to allow reading everything and writing nothing.
fn acl_line(keys: &str) -> String {
    format!("ACL SETUSER NAME '~{keys}' +@read +@connection +info +time +multi +exec")
}

/// Why there is no group to judge, in a sentence. Uses the server's own words if it gave any.
fn why_no_group(stream: &StreamState) -> String {
    let server = |fault: &Fault| match fault {
        Fault::Denied(text) | Fault::Other(text) => format!("the server says: {text}"),
        other => other.words(),
    };
    match (&stream.state, &stream.groups_fault) {
        (RowState::Loading, _) => "Not answered yet.".to_owned(),
        (RowState::Fault(Fault::Missing), _) => {
            "There is no such key. It shows up by itself when it is created.".to_owned()
        }
        (RowState::Fault(Fault::WrongType), _) => "The key holds something that is not a stream.".to_owned(),
        (RowState::Fault(fault @ Fault::Denied(_)), _) if !fault.is_absent() => {
            format!("It cannot be read; {}. To allow it: {}", server(fault), acl_line(&stream.key.shown()))
        }
        (RowState::Fault(fault), _) => format!("It cannot be read; {}", server(fault)),
        (RowState::Ok, Some(fault)) => format!("Its groups cannot be read; {}", server(fault)),
        (RowState::Ok, None) if stream.groups.is_empty() => {
            format!(
                "{} entries are retained, and no group reads them.",
                stream.facts.value.as_ref().map_or(0, |facts| facts.length)
            )
        }
        (RowState::Ok, None) => "It has groups, but none of those asked for.".to_owned(),
    }
}

fn details(app: &App, row: &Row, now: Now) -> (Line, Vec<SymptomItem>, String) {
    let Some(group) = row.group else {
        let never = row.stream.state == RowState::Loading;
        if let (true, LinkState::Down { why, .. }) = (never, &app.link) {
            return (vec![bold(row.stream.key.shown(), Tone::Plain)], Vec::new(), format!("Not answered yet: {why}."));
        }
        let items = row.of_stream().iter().map(|finding| symptoms::item(finding, false, now)).collect();
        return (vec![bold(row.stream.key.shown(), Tone::Plain)], items, why_no_group(row.stream));
    };
    let title = vec![
        bold(row.stream.key.shown(), Tone::Plain),
        span(" › ", Tone::Dim),
        bold(group.name().shown(), Tone::Plain),
    ];
    let Some(judgement) = row.judgement() else { return (title, Vec::new(), String::new()) };
    let findings = judgement.findings.iter().chain(row.of_stream());
    (
        title,
        findings.map(|finding| symptoms::item(finding, false, now)).collect(),
        symptoms::note(
            judgement,
            fault_words(row.stream, group).as_deref(),
            group.has_been_read() && !app.is_unanswered(now),
        ),
    )
}
