//! The same entries are delivered again and again: their handler fails each time before it acknowledges.

use super::{About, Argv, Case, Level, Verdict, entries};
use crate::core::{
    id::EntryId,
    model::{FATAL_DELIVERIES, PendingRow},
    store::Redelivery,
};

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
    cause: "their handler fails before XACK, or they are read or claimed again while it is still at work; the count alone does not tell which",
    remedy: "look at the entry and the handler's log; claiming it for another consumer only moves the failure there; once it is handled or given up, acknowledge it (v marks, A)",
};

/// What fits when it was seen that the same consumer gets them again.
const OWN_CAUSE: &str = "their owner gets them again itself: it reads its own history, reclaims from itself, or renews a lease without JUSTID; that need not be a failure";
const OWN_REMEDY: &str =
    "see in its log whether it handles them; if it does, acknowledge what is handled, and renew leases with JUSTID";

pub(super) fn judge(case: &Case) -> Verdict {
    let group = case.group;
    if case.pending == 0 {
        return Verdict::Ok;
    }
    // rows that no longer add up to the count of pending entries are a part of them, and still name what they show;
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
        return if group.pel.is_fetched() { Verdict::Ok } else { Verdict::NotEnoughData };
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
    let of = if case.pending > rows.len() as i64 { format!(" of {} pending", case.pending) } else { String::new() };
    let text = format!(
        "{least}{}{of} {verb} delivered {THRESHOLD} times or more: {}{more}{waiting}",
        entries(rows.len() as i64),
        named.join(", ")
    );
    let fatal = rows.iter().filter(|row| row.deliveries == FATAL_DELIVERIES).count() as i64;
    let owner = rows[0].owner.clone().filter(|owner| rows.iter().all(|row| row.owner.as_ref() == Some(owner)));
    let id = rows[0].id.to_string();
    let meant = |id: EntryId| rows.iter().any(|row| row.id == id);
    let again: Vec<&Redelivery> = group.seen.redeliveries.iter().filter(|seen| meant(seen.id)).collect();
    let own = !again.is_empty() && again.iter().all(|seen| seen.from == seen.to);
    let (cause, remedy) = if own { (OWN_CAUSE, OWN_REMEDY) } else { (ABOUT.cause, ABOUT.remedy) };
    ABOUT
        .finding(
            if worst >= CRITICAL { Level::Critical } else { Level::Warn },
            text,
            Argv::of(&[b"XRANGE", case.stream.key.bytes(), id.as_bytes(), id.as_bytes()]),
        )
        .because(cause)
        .advising(remedy)
        .about(owner)
        .of_entries(rows.iter().map(|row| row.id))
        .with("entries", rows.len() as i64)
        .with("max_deliveries", worst)
        .with("fatal", fatal)
        .with("threshold", THRESHOLD)
        .into()
}
