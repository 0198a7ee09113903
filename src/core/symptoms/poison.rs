//! The same entries are delivered again and again: their handler fails each time before it acknowledges.

use super::{About, Argv, Case, Level, Verdict, entries};
use crate::core::model::{FATAL_DELIVERIES, PendingRow};

/// An entry is named from this many deliveries on.
const THRESHOLD: i64 = 5;
/// It is critical from this many deliveries on.
const CRITICAL: i64 = 100;
/// Most entries to name.
const NAMED: usize = 5;

pub(super) const ABOUT: About = About {
    id: "poison",
    levels: &[Level::Warn, Level::Critical],
    says: "Entries were delivered five times or more, or given up for good (XNACK FATAL)",
    cause: "their handler fails before XACK each time, and they are read or claimed again",
    remedy: "look at the entry and the handler's log; claiming it for another consumer only moves the failure there",
};

pub(super) fn judge(case: &Case) -> Verdict {
    let group = case.group;
    if !group.pel.is_fetched() {
        return if case.pending > 0 { Verdict::NotEnoughData } else { Verdict::Ok };
    }
    // an entry without payload cannot be handled by anybody: payload-gone reports it
    let mut rows: Vec<&PendingRow> = group
        .pel
        .rows
        .iter()
        .filter(|row| row.deliveries >= THRESHOLD && case.stream.has_entry(row.id) != Some(false))
        .collect();
    let Some(worst) = rows
        .iter()
        .map(|row| row.deliveries)
        .filter(|n| *n < FATAL_DELIVERIES)
        .max()
        .or((!rows.is_empty()).then_some(0))
    else {
        return Verdict::Ok;
    };
    rows.sort_by_key(|row| (std::cmp::Reverse(row.deliveries), row.id));
    let named: Vec<String> = rows
        .iter()
        .take(NAMED)
        .map(|row| {
            let owner = row.owner.as_ref().map_or("nobody".to_owned(), ToString::to_string);
            match row.deliveries {
                FATAL_DELIVERIES => format!("{} FATAL", row.id),
                count => format!("{} ×{count} ({owner})", row.id),
            }
        })
        .collect();
    let more = if rows.len() > NAMED { format!(" and {} more", rows.len() - NAMED) } else { String::new() };
    let least = if group.pel.complete { "" } else { "at least " };
    let waiting = match group.lag.value {
        Some(waiting) if waiting > 0 => format!("; {} new ones wait meanwhile", group.lag.text()),
        _ => String::new(),
    };
    let verb = if rows.len() == 1 { "was" } else { "were" };
    let text = format!(
        "{least}{} {verb} delivered {THRESHOLD} times or more: {}{more}{waiting}",
        entries(rows.len() as i64),
        named.join(", ")
    );
    let fatal = rows.iter().filter(|row| row.deliveries == FATAL_DELIVERIES).count() as i64;
    let owner = rows[0].owner.clone().filter(|owner| rows.iter().all(|row| row.owner.as_ref() == Some(owner)));
    let id = rows[0].id.to_string();
    ABOUT
        .finding(
            if worst >= CRITICAL { Level::Critical } else { Level::Warn },
            text,
            Argv::of(&[b"XRANGE", case.stream.key.bytes(), id.as_bytes(), id.as_bytes()]),
        )
        .about(owner)
        .with("entries", rows.len() as i64)
        .with("max_deliveries", worst)
        .with("fatal", fatal)
        .with("threshold", THRESHOLD)
        .into()
}
