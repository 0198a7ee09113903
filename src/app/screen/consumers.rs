//! The tree of consumers: what each holds, how old that is, and when the consumer was last seen.

use super::{Column, Line, Span, Table, TableRow, Tone, around, bold, heat, span, spark, words::count_words};
use crate::{
    app::{
        App, Pane,
        group_screen::{Branch, aged, branches},
    },
    core::{
        model::{ConsumerFacts, FATAL_DELIVERIES, PendingRow},
        name::{Name, visible},
        store::{Extreme, GroupState, MANY_CONSUMERS, StreamState},
        time::{Mono, Now, age},
    },
};
use std::collections::BTreeMap;

/// From 7.2 on the server knows two times: "seen" is the last attempt, "got entries" the last success. Older servers know only the
/// second. One word must never stand for both (docs/server-facts.md 6 and 13.2).
fn columns(with_inactive: bool) -> Vec<Column> {
    let mut columns = vec![
        // wide enough for a full entry id, or rows could not be told apart
        Column { title: "consumer", least: 20, most: 34, rank: 0, right: false },
        Column { title: "pending", least: 7, most: 8, rank: 0, right: true },
        Column { title: "oldest", least: 7, most: 7, rank: 0, right: true },
        Column { title: "ages", least: 5, most: 5, rank: 3, right: false },
        Column { title: "times", least: 5, most: 5, rank: 2, right: true },
    ];
    if with_inactive {
        columns.push(Column { title: "seen", least: 7, most: 7, rank: 1, right: true });
    }
    // the histogram in numbers, where there is room
    columns.push(Column { title: AGES, least: AGES.len(), most: AGES.len(), rank: 5, right: false });
    columns.push(Column {
        title: "got entries",
        least: 11,
        most: 11,
        rank: if with_inactive { 4 } else { 1 },
        right: true,
    });
    columns
}

/// Entries by age: below 1 s, 10 s, a minute, ten minutes, and older.
const AGES: &str = "  <1s  <10s   <1m  <10m  more";

/// A consumer list older than this, in ms, shows its age.
const LIST_MS: i64 = 6000;

pub fn view(app: &App, stream: &StreamState, group: &GroupState, now: Now) -> (Table, Line, String) {
    let with_inactive = group.consumers().iter().any(|consumer| consumer.inactive_ms.reason().is_none());
    let rows = branches(app, group);
    let picked = app.group_screen.tree_row.as_ref().and_then(|id| rows.iter().position(|row| row.is(id))).unwrap_or(0);
    let total = rows.len();
    let (rows, index, hidden) = around(rows, picked, usize::from(app.size.1).max(10));
    let mut held: BTreeMap<Option<&Name>, Vec<i64>> = BTreeMap::new();
    for row in &group.pel.rows {
        held.entry(row.owner.as_ref())
            .or_default()
            .extend(row.idle_known_ms().map(|ms| aged(ms, group.pel.at, now.mono)));
    }
    let table_rows = rows
        .iter()
        .map(|row| match row {
            Branch::Consumer { name, facts, pending, open } => {
                let ages = held.get(name).map_or(&[][..], Vec::as_slice);
                consumer_row(group, *name, *facts, (*pending, *open, ages), with_inactive, now)
            }
            Branch::Entry(row) => {
                entry_row(stream, group, row, app.group_screen.marks.contains(&row.id), with_inactive, now.mono)
            }
            Branch::More(count) => more_row(format!("… {count} more"), columns(with_inactive).len()),
            Branch::Idle(count, open) => {
                let fold = if *open { "▾" } else { "▸" };
                let text = format!("{fold} {count} idle, hold nothing");
                TableRow { nested: false, ..more_row(text, columns(with_inactive).len()) }
            }
        })
        .collect();
    let table = Table {
        columns: columns(with_inactive),
        rows: table_rows,
        selected: (total > 0 && app.group_screen.pane == Pane::Consumers).then_some(index),
        hidden,
        ..Table::default()
    };
    let holders = group.holders().map_or("?".to_owned(), |holders| holders.to_string());
    let filter = &app.group_screen.filter.text;
    let mut number = Line::new();
    if !filter.is_empty() {
        number.push(bold(format!("matching {}, of ", visible(filter.as_bytes())), Tone::Accent));
    }
    number.extend([
        bold(count_words(group.facts.consumers.value()), Tone::Plain),
        span(format!(", {holders} holding"), Tone::Dim),
    ]);
    // a long list is read less often
    let list_age_ms = now.mono.since(group.consumers.at) as i64;
    if group.facts.consumers.exceeds(MANY_CONSUMERS) && group.consumers.value.is_some() && list_age_ms > LIST_MS {
        number.push(span(format!(", list {} old", age(list_age_ms)), Tone::Dim));
    }
    let empty = match (group.consumers.fault(), total) {
        (Some(fault), 0) => format!("XINFO CONSUMERS: {}", fault.words()),
        (None, 0) if !filter.is_empty() => {
            format!("no consumer matches {}: Esc clears the filter", visible(filter.as_bytes()))
        }
        (None, 0) if group.consumers.value.is_none() => "not fetched yet".to_owned(),
        (None, 0) => "no consumer is known to the server".to_owned(),
        _ => String::new(),
    };
    (table, number, empty)
}

fn consumer_row(
    group: &GroupState,
    name: Option<&Name>,
    facts: Option<&ConsumerFacts>,
    (pending, open, ages): (i64, bool, &[i64]),
    with_inactive: bool,
    now: Now,
) -> TableRow {
    let fold = match (pending, open) {
        (0, _) => " ",
        (_, true) => "▾",
        (_, false) => "▸",
    };
    // words that stand in for a name must look different from any name
    let shown = match name {
        None => span(format!("{fold} unowned: nobody holds them"), Tone::Warn),
        Some(name) if name.bytes().is_empty() => span(format!("{fold} {name}"), Tone::Dim),
        Some(name) => bold(format!("{fold} {name}"), Tone::Plain),
    };
    let shown = if pending == 0 { Span { bold: false, ..shown } } else { shown };
    let walked = name.and_then(|name| match group.oldest_idle_of(name, now.mono) {
        Extreme::Exact(found) => found.map(|(ms, _)| ms),
        _ => None,
    });
    let oldest = walked.or(ages.iter().copied().max());
    let whole = walked.is_some() || ages.len() as i64 >= pending;
    let oldest_cell = match oldest {
        Some(ms) if whole => span(age(ms), heat(ms)),
        Some(ms) => span(format!("≥{}", age(ms)), heat(ms)),
        None if pending == 0 => span("", Tone::Dim),
        None => span("?", Tone::Dim),
    };
    let times = name.and_then(|name| group.max_deliveries_of(name));
    let mut cells = vec![
        shown,
        span(pending.to_string(), if pending == 0 { Tone::Dim } else { Tone::Plain }),
        oldest_cell,
        Span { text: histogram(ages), tone: oldest.map_or(Tone::Dim, heat), bold: false },
        span(
            times.map_or(String::new(), |n| format!("×{n}")),
            if times.is_some_and(|n| n > 1) { Tone::Warn } else { Tone::Dim },
        ),
    ];
    let since = |ms: Option<i64>| ms.map_or("-".to_owned(), |ms| age(aged(ms, group.consumers.at, now.mono)));
    if with_inactive {
        cells.push(span(since(facts.map(|facts| facts.idle_ms)), Tone::Plain));
        cells.push(span(in_numbers(ages), Tone::Plain));
        let got = facts.and_then(|facts| facts.inactive_ms.value());
        cells.push(span(if got.is_some_and(|ms| ms < 0) { "never".to_owned() } else { since(got) }, Tone::Dim));
    } else {
        cells.push(span(in_numbers(ages), Tone::Plain));
        cells.push(span(since(facts.map(|facts| facts.idle_ms)), Tone::Plain));
    }
    TableRow { cells, nested: false, lead: String::new() }
}

/// Counts entries by age: below 1 s, 10 s, a minute, ten minutes, and older.
fn by_age(ages: &[i64]) -> [i64; 5] {
    let mut buckets = [0_i64; 5];
    for ms in ages {
        let bucket = match ms {
            ..1000 => 0,
            1000..10_000 => 1,
            10_000..60_000 => 2,
            60_000..600_000 => 3,
            _ => 4,
        };
        buckets[bucket] += 1;
    }
    buckets
}

fn histogram(ages: &[i64]) -> String {
    if ages.is_empty() { String::new() } else { spark(&by_age(ages).map(Some)) }
}

/// The same as numbers, under the words of the column.
fn in_numbers(ages: &[i64]) -> String {
    if ages.is_empty() {
        return String::new();
    }
    let number = |count: i64| match count {
        0 => "·".to_owned(),
        1..10_000 => count.to_string(),
        _ => format!("{}k", count / 1000),
    };
    let [first, rest @ ..] = by_age(ages).map(number);
    rest.into_iter().fold(format!("{first:>5}"), |line, number| format!("{line} {number:>5}"))
}

fn entry_row(
    stream: &StreamState,
    group: &GroupState,
    row: &PendingRow,
    marked: bool,
    with_inactive: bool,
    now: Mono,
) -> TableRow {
    let idle = row.idle_known_ms().map(|ms| aged(ms, group.pel.at, now));
    let fate = match stream.has_entry(row.id) {
        Some(false) => span("gone", Tone::Critical),
        _ if row.id > group.facts.cursor => span("ahead", Tone::Info),
        Some(true) => span("present", Tone::Dim),
        None => span("", Tone::Dim),
    };
    let mut cells = vec![
        if marked { bold(format!("● {}", row.id), Tone::Accent) } else { span(row.id.to_string(), Tone::Plain) },
        fate,
        match idle {
            Some(ms) => span(age(ms), heat(ms)),
            None if row.owner.is_some() => span("?", Tone::Warn),
            None => span("unowned", Tone::Warn),
        },
        span("", Tone::Dim),
        deliveries(row),
    ];
    if with_inactive {
        cells.push(span("", Tone::Dim));
    }
    cells.extend([span("", Tone::Dim), span("", Tone::Dim)]);
    TableRow { cells, nested: true, lead: String::new() }
}

/// A delivery count, or a word for an impossible one (XNACK FATAL; below 8.8 one more claim makes it negative).
pub fn deliveries(row: &PendingRow) -> Span {
    let count = row.deliveries;
    match count {
        0 if !row.is_told() => span("?", Tone::Warn),
        FATAL_DELIVERIES => bold("FATAL", Tone::Critical),
        ..0 => span("odd", Tone::Warn),
        0..=1 => span(format!("×{count}"), Tone::Dim),
        _ => span(format!("×{count}"), Tone::Warn),
    }
}

fn more_row(text: String, columns: usize) -> TableRow {
    let mut cells = vec![span(text, Tone::Dim)];
    cells.resize(columns, Span::default());
    TableRow { cells, nested: true, lead: String::new() }
}
