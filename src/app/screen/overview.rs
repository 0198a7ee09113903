//! All streams and groups, worst first, and the findings of the picked row.

use super::{
    Column, Line, Span, SymptomItem, Table, TableRow, Tone, around, bold,
    chart::Subject,
    pattern, rate, span, spark, symptoms,
    words::{count_cell, count_words, fault_words, is_old, lag_cell, level_mark, level_tone, oldest_cell},
};
use crate::{
    app::{
        App, LinkState, Order,
        overview::{Listed, Row},
    },
    core::{
        number::size,
        sample::Fault,
        store::{GroupState, RowState, StreamState},
        symptoms::{Finding, Level},
        time::{Mono, Now, age},
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

pub const COLUMNS: [Column; 13] = [
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
    let listed = app.listed();
    let selected = app.selected_index(&listed);
    let groups = rows.iter().filter(|row| row.group.is_some()).count();
    let ranked = app.ranked();
    let troubled = ranked.troubled();
    let picked = listed.get(selected).cloned();
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
    let all = listed.len();
    let (listed, index, hidden) = around(listed, selected, most);
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
        rows: listed.iter().map(|listed| listed_row(app, listed, now)).collect(),
        selected: (all > 0).then_some(index),
        hidden,
    };
    let (picked_title, of_row, note) = picked.map_or((Vec::new(), Vec::new(), String::new()), |picked| match picked {
        Listed::Row { row, .. } => details(app, &row, now),
        Listed::Pattern(pattern) => pattern::details(app, &pattern, now),
    });
    // what is wrong with the server comes first, whichever row is picked
    let of_server = app.shown().verdicts.server();
    let told = |wrong: bool| of_server.iter().filter(move |found| (found.level > Level::Info) == wrong);
    let mut items: Vec<SymptomItem> = told(true).map(|finding| symptoms::item(finding, false, now)).collect();
    items.extend(of_row);
    items.extend(told(false).map(|finding| symptoms::item(finding, false, now)));
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

fn listed_row(app: &App, listed: &Listed, now: Now) -> TableRow {
    match listed {
        Listed::Row { row, is_member: false } => table_row(app, row, now),
        Listed::Row { row, is_member: true } => TableRow { lead: "  ".to_owned(), ..table_row(app, row, now) },
        Listed::Pattern(pattern) => pattern::row(app, pattern, now),
    }
}

/// The sign of a row.
pub fn mark(app: &App, row: &Row, now: Now) -> Span {
    match (row.level().filter(|level| *level > Level::Info), row.group, &row.stream.groups_fault) {
        (None, None, Some(_)) => span("?", Tone::Warn),
        (None, None, None) => Span::default(),
        (None, Some(_), _) if row.is_ignored() => span("-", Tone::Dim),
        (None, Some(_), _) if app.is_unanswered(now) || row.why_unknown().is_some() => span("?", Tone::Warn),
        (None, Some(_), _) if row.is_known() => span("-", Tone::Dim),
        (None, Some(_), _) if row.is_unread() => span("…", Tone::Dim),
        (level, ..) => level_mark(level),
    }
}

/// The first of the worst findings of a row; one of the whole stream counts for each of its groups.
pub fn finding_of<'a>(row: &Row<'a>) -> Option<&'a Finding> {
    findings_of(row).reduce(|worst, next| if next.counts_as() > worst.counts_as() { next } else { worst })
}

fn findings_of<'a>(row: &Row<'a>) -> impl Iterator<Item = &'a Finding> {
    let of_stream = row.of_stream().iter().filter(|finding| finding.level > Level::Info);
    row.judgement().into_iter().flat_map(|judgement| &judgement.findings).chain(of_stream)
}

/// What was found, for how long, or what keeps the row from being judged.
pub fn found_cell(app: &App, row: &Row, now: Now) -> Option<Span> {
    let found = finding_of(row).map(|f| {
        let known = if f.known_until_ms.is_some() { " (known)" } else { "" };
        let lasts = symptoms::lasts(f, now);
        let lasts = if lasts.is_empty() || !known.is_empty() { String::new() } else { format!(" {lasts}") };
        span(format!("{}{known}{lasts}", f.id), level_tone(f.counts_as()))
    });
    let fault = row.group.and_then(|group| fault_words(row.stream, group)).map(|words| span(words, Tone::Warn));
    if is_row_old(app, row) { fault.or(found) } else { found.or(fault) }
}

/// Whether the numbers of the row are old: then ages stand still, too.
fn is_row_old(app: &App, row: &Row) -> bool {
    is_old(row.stream) || app.shown().store.is_late(row.stream, app.kept_interval_ms)
}

fn table_row(app: &App, row: &Row, now: Now) -> TableRow {
    let mark = mark(app, row, now);
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
        return TableRow { cells, nested: false, lead: String::new() };
    };
    let old = is_row_old(app, row);
    let now = if old { Now { mono: group.at, ..now } } else { now };
    let rates = group.rates(row.stream);
    let finding = finding_of(row);
    cells.push(name(group.name().shown()));
    cells.push(lag_cell(group));
    let subject = Subject::of(finding);
    let last_minute = values(group, subject).map_or(String::new(), |values| minute(subject, &values));
    cells.push(span(last_minute, Tone::Accent));
    cells.push(count_cell(group.facts.pending.value()));
    cells.push(oldest_cell(group, now));
    cells.push(active_cell(app, group, now));
    let early = row.stream.additions.is_early();
    cells.push(span(rate(rates.added, early), Tone::Dim));
    cells.push(span(rate(rates.delivered, group.history.is_early()), Tone::Dim));
    cells.push(drain([(row.stream, group)].into_iter()));
    cells.push(span(app.shown().store.behind_ms(row.stream, group, now).map_or("-".to_owned(), age), Tone::Dim));
    let more = findings_of(row).count().saturating_sub(1);
    let found = found_cell(app, row, now).map(|found| match finding {
        Some(finding) if more > 0 && found.text.starts_with(finding.id) => {
            Span { text: format!("{} +{more}", found.text), ..found }
        }
        _ => found,
    });
    if old {
        for cell in cells.iter_mut().skip(1) {
            *cell = span(cell.text.clone(), Tone::Dim);
        }
    }
    let ignored = row.is_ignored().then(|| span("ignored", Tone::Dim));
    cells.push(found.or(ignored).unwrap_or_default());
    TableRow { cells, nested: false, lead: String::new() }
}

/// Cells of the last minute.
const CELLS: usize = 7;

/// The number that a finding is about, over the last minute; `None` before there is any.
pub fn values(group: &GroupState, subject: Subject) -> Option<[Option<i64>; CELLS]> {
    const CELL_MS: u64 = 60_000 / CELLS as u64;
    if subject == Subject::Oldest {
        let newest = group.oldest.newest()?;
        let from = |cell: usize| Mono(newest.0.saturating_sub((CELLS - cell) as u64 * CELL_MS));
        return Some(std::array::from_fn(|cell| group.oldest.largest(from(cell), from(cell + 1))));
    }
    let points: Vec<_> = group.history.window(60_000).collect();
    let newest = points.last()?.at;
    let mut values = [None; CELLS];
    for point in points {
        let ago = size(newest.since(point.at)) * CELLS / 60_001;
        let cell = &mut values[CELLS - 1 - ago];
        let value = if subject == Subject::Lag { point.lag } else { point.pending };
        *cell = value.max(*cell);
    }
    Some(values)
}

/// The last minute with the name of the number.
pub fn minute(subject: Subject, values: &[Option<i64>]) -> String {
    let name = match subject {
        Subject::Lag => "lag",
        Subject::Pending => "PEL",
        Subject::Oldest => "age",
    };
    format!("{name} {}", spark(values))
}

/// How many consumers were seen lately; `None` where they are not known.
pub fn active(app: &App, group: &GroupState, now: Now) -> Option<i64> {
    let limit = group.gone_after_ms(&app.watch.store.settings);
    let passed = now.mono.since(group.consumers.at) as i64;
    let consumers = group.consumers.value.as_ref()?;
    let active = consumers.iter().filter(|consumer| consumer.idle_ms.saturating_add(passed) <= limit).count();
    Some(active as i64)
}

fn active_cell(app: &App, group: &GroupState, now: Now) -> Span {
    let (active, total) = (active(app, group, now), count_words(group.facts.consumers.value()));
    let tone = if active == Some(0) && group.facts.consumers.exceeds(0) { Tone::Plain } else { Tone::Dim };
    span(format!("{}/{total}", count_words(active)), tone)
}

/// When the lag is gone at the present rates: of the group that takes longest.
pub fn drain<'a>(groups: impl Iterator<Item = (&'a StreamState, &'a GroupState)>) -> Span {
    let mut longest = None;
    for (stream, group) in groups {
        let rates = group.rates(stream);
        let lag = group.lag.exact();
        match (lag, rates.drain_ms(lag), rates.added.zip(rates.delivered)) {
            (Some(0), ..) => {}
            (Some(_), Some(ms), _) => longest = longest.max(Some(ms)),
            (Some(_), None, Some((added, delivered))) if delivered <= added && added > 0.0 => {
                return span("never", Tone::Warn);
            }
            _ => {}
        }
    }
    longest.map_or_else(|| span("-", Tone::Dim), |ms| span(age(ms), Tone::Plain))
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
