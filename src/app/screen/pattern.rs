//! The row of a pattern in the overview: sums, and the verdict of its worst member.

use super::{
    Line, Span, SymptomItem, TableRow, Tone, bold,
    chart::Subject,
    overview::{COLUMNS, active, drain, finding_of, found_cell, mark, minute, values},
    rate, span, symptoms,
    words::{count_cell, count_words, lag_words, oldest_cell},
};
use crate::{
    app::{
        App,
        overview::{PatternRow, Row},
    },
    core::{
        lag,
        store::GroupState,
        symptoms::{Finding, Level},
        time::{Now, age},
        words::count,
    },
};

/// Findings of so many members are told; Enter lists all members.
const TOLD: usize = 20;

/// Sums over time are shown for patterns of at most so many rows: they are added for every frame.
const ADDED: usize = 200;

pub fn row(app: &App, pattern: &PatternRow, now: Now) -> TableRow {
    let members = &pattern.members;
    let worst = pattern.worst();
    let lead = if pattern.is_open { "▾ " } else { "▸ " }.to_owned();
    let mut cells = vec![mark_of(app, members, now), span(pattern.id.pattern.shown(), Tone::Plain)];
    let streams = count(members.len() as i64, "stream", "streams");
    let Some(group) = &pattern.id.group else {
        cells.push(span(format!("{streams} without a group"), Tone::Dim));
        cells.resize(COLUMNS.len(), Span::default());
        return TableRow { cells, nested: false, lead };
    };
    let groups: Vec<(&Row, &GroupState)> = members.iter().filter_map(|row| Some((row, row.group?))).collect();
    let finding = worst.and_then(|row| finding_of(&row));
    cells.push(span(group.shown(), Tone::Plain));
    cells.push(lag_words(&lag::sum(&groups.iter().map(|(_, group)| &group.lag).collect::<Vec<_>>()), "  "));
    cells.push(span(
        if members.len() > ADDED { String::new() } else { last_minute(&groups, Subject::of(finding)) },
        Tone::Accent,
    ));
    cells.push(count_cell(total(groups.iter().map(|(_, group)| group.facts.pending.value()))));
    cells.push(oldest(&groups, now));
    cells.push(active_of(app, &groups, now));
    let rates = |of: fn(&Row, &GroupState) -> Option<f64>| {
        groups.iter().map(|(row, group)| of(row, group)).sum::<Option<f64>>()
    };
    let early = groups.iter().any(|(row, _)| row.stream.additions.is_early());
    cells.push(span(rate(rates(|row, group| group.rates(row.stream).added), early), Tone::Dim));
    let early = groups.iter().any(|(_, group)| group.history.is_early());
    cells.push(span(rate(rates(|row, group| group.rates(row.stream).delivered), early), Tone::Dim));
    cells.push(drain(groups.iter().map(|(row, group)| (row.stream, *group))));
    let behind = groups.iter().filter_map(|(row, group)| app.shown().store.behind_ms(row.stream, group, now)).max();
    cells.push(span(behind.map_or("-".to_owned(), age), Tone::Dim));
    let troubled = members.iter().filter(|row| row.level().is_some_and(|level| level > Level::Info)).count();
    let found = worst.and_then(|row| found_cell(app, &row, now));
    cells.push(match found {
        Some(found) if troubled > 0 => {
            Span { text: format!("{} in {troubled} of {}", found.text, members.len()), ..found }
        }
        _ => span(streams, Tone::Dim),
    });
    TableRow { cells, nested: false, lead }
}

/// The sign of the worst member. One that is not known comes before one that is quiet.
fn mark_of(app: &App, members: &[Row], now: Now) -> Span {
    let urgency = |mark: &Span| ["▲", "!", "?", "…", "-", "✓"].iter().position(|sign| *sign == mark.text).unwrap_or(9);
    members.iter().map(|row| mark(app, row, now)).min_by_key(urgency).unwrap_or_default()
}

/// The sum, if all are known.
fn total(counts: impl Iterator<Item = Option<i64>>) -> Option<i64> {
    counts.into_iter().try_fold(0_i64, |sum, count| Some(sum.saturating_add(count?)))
}

/// What the members' numbers of the last minute add up to; of ages the largest.
fn last_minute(groups: &[(&Row, &GroupState)], subject: Subject) -> String {
    let add = |sum: Option<i64>, value: Option<i64>| match (subject, sum.zip(value)) {
        (Subject::Oldest, _) | (_, None) => sum.max(value),
        (_, Some((sum, value))) => Some(sum.saturating_add(value)),
    };
    let all = groups.iter().filter_map(|(_, group)| values(group, subject));
    let sum = all.reduce(|mut sum, values| {
        for (sum, value) in sum.iter_mut().zip(values) {
            *sum = add(*sum, value);
        }
        sum
    });
    sum.map_or(String::new(), |sum| minute(subject, &sum))
}

/// The longest of the members' oldest, a lower bound while some are not known.
fn oldest(groups: &[(&Row, &GroupState)], now: Now) -> Span {
    let of = |group: &GroupState| group.oldest_idle(group.pel.at).value();
    let unknown = groups.iter().any(|(_, group)| group.facts.pending.exceeds(0) && of(group).is_none());
    let cell = groups.iter().max_by_key(|(_, group)| of(group)).map(|(_, group)| oldest_cell(group, now));
    match cell {
        Some(cell) if unknown && cell.text.starts_with(|c: char| c.is_ascii_digit()) => {
            Span { text: format!("≥{}", cell.text), ..cell }
        }
        Some(cell) if unknown && cell.text == "-" => span("?", Tone::Dim),
        cell => cell.unwrap_or_default(),
    }
}

fn active_of(app: &App, groups: &[(&Row, &GroupState)], now: Now) -> Span {
    let all = count_words(total(groups.iter().map(|(_, group)| group.facts.consumers.value())));
    let none = |group: &GroupState| (group.facts.consumers.value() == Some(0)).then_some(0);
    let active = total(groups.iter().map(|(_, group)| active(app, group, now).or_else(|| none(group))));
    span(format!("{}/{all}", count_words(active)), Tone::Dim)
}

/// Title, findings and note below the list.
pub fn details(app: &App, pattern: &PatternRow, now: Now) -> (Line, Vec<SymptomItem>, String) {
    let members = &pattern.members;
    let mut title = vec![bold(pattern.id.pattern.shown(), Tone::Plain)];
    if let Some(group) = &pattern.id.group {
        title.extend([span(" › ", Tone::Dim), bold(group.shown(), Tone::Plain)]);
    }
    title.push(span(format!(", {}", count(members.len() as i64, "stream", "streams")), Tone::Dim));
    let mut found: Vec<(&Row, &Finding)> = members
        .iter()
        .filter_map(|row| Some((row, finding_of(row).filter(|f| f.counts_as() > Level::Info)?)))
        .collect();
    found.sort_by_key(|(_, finding)| std::cmp::Reverse(finding.counts_as()));
    let told = |(row, finding): (&Row, &Finding)| {
        let item = symptoms::item(finding, false, now);
        SymptomItem { text: format!("{}: {}", row.stream.key, item.text), ..item }
    };
    let items: Vec<SymptomItem> = found.into_iter().take(TOLD).map(told).collect();
    let signs: Vec<Span> = members.iter().map(|row| mark(app, row, now)).collect();
    let with = |sign: &str| signs.iter().filter(|mark| mark.text == sign).count();
    let of = |sign: &str, words: &str| match with(sign) {
        0 => None,
        n if n == members.len() => Some(format!("{sign} all {n} {words}")),
        n => Some(format!("{sign} {n} {words}")),
    };
    let unread = with("…");
    let read = (unread > 0).then(|| format!("… read {} of {}", members.len() - unread, members.len()));
    // none is called quiet before all were read
    let quiet = of("✓", "quiet").filter(|_| unread == 0);
    let parts = [read, quiet, of("?", "not known"), of("-", "known or ignored")];
    let mut note: Vec<String> = parts.into_iter().flatten().collect();
    note.push(if pattern.is_open { "Enter closes it" } else { "Enter lists them" }.to_owned());
    (title, items, note.join("  "))
}
