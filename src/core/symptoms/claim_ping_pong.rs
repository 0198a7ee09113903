//! The same entries go back and forth between the same consumers: each claims what the other is still working on.

use super::{About, Argv, Case, Level, Verdict, WINDOW_MS, enough, entries};
use crate::core::{
    id::EntryId,
    name::Name,
    store::Redelivery,
    time::{age, age_words},
};
use std::collections::{BTreeMap, BTreeSet};

pub(super) const ABOUT: About = About {
    id: "claim-ping-pong",
    levels: &[Level::Warn],
    says: "The same entries go back and forth between the same consumers",
    cause: "each claims what another did not acknowledge: their handler fails each time, or it takes longer than the min-idle",
    remedy: "see in the log whether the handler fails; else raise the min-idle above the slowest normal handling",
};

/// What fits when claims came before the slowest usual handling was over.
const EARLY_CAUSE: &str =
    "each claims with a min-idle below the time that handling takes, so it takes what another is still at work on";
const EARLY_REMEDY: &str =
    "raise the min-idle of the claims above the slowest normal handling, and make the handling idempotent";
/// What fits when each claim came long after the slowest usual handling.
const RETRY_CAUSE: &str = "each claim comes when handling should be long over: their handler fails each time";
const RETRY_REMEDY: &str = "look at the entry and the handler's log; the min-idle is not the reason";

/// This many returns to a former owner within the window are not an accident.
const RETURNS: usize = 2;
/// One entry that changed hands this often is not an accident, either.
const CHANGES: usize = 3;
/// Most consumers to name.
const NAMED: usize = 4;

/// The entries that this check reports: `redelivered` leaves them out.
pub(super) fn reported<'a>(case: &'a Case) -> BTreeMap<EntryId, Vec<&'a Redelivery>> {
    let returned = returned(case);
    if fires(case, &returned) { returned } else { BTreeMap::new() }
}

fn fires(case: &Case, returned: &BTreeMap<EntryId, Vec<&Redelivery>>) -> bool {
    let times: usize = returned.values().map(|changes| returns(changes)).sum();
    let most = returned.values().map(Vec::len).max().unwrap_or(0);
    // once fired, one return within the window is enough to stay
    let floor = if case.fired(ABOUT) { 1 } else { RETURNS };
    times >= floor || most >= CHANGES
}

/// The entries that returned to a former owner, each with its changes of owner within the window.
fn returned<'a>(case: &'a Case) -> BTreeMap<EntryId, Vec<&'a Redelivery>> {
    let mut changes: BTreeMap<EntryId, Vec<&Redelivery>> = BTreeMap::new();
    let recent = case.group.seen.redeliveries.iter().filter(|seen| case.now.mono.since(seen.at) <= WINDOW_MS);
    for seen in recent.filter(|seen| seen.from != seen.to) {
        changes.entry(seen.id).or_default().push(seen);
    }
    changes.retain(|_, changes| returns(changes) > 0);
    changes
}

fn returns(changes: &[&Redelivery]) -> usize {
    let mut held = BTreeSet::new();
    changes
        .iter()
        .filter(|change| {
            held.insert(&change.from);
            change.to.is_some() && held.contains(&change.to)
        })
        .count()
}

pub(super) fn judge(case: &Case) -> Verdict {
    let group = case.group;
    let returned = returned(case);
    if !fires(case, &returned) {
        let blind = case.pending > 0 && returned.is_empty() && !enough(group);
        return if blind { Verdict::NotEnoughData } else { Verdict::Ok };
    }
    let times: usize = returned.values().map(|changes| returns(changes)).sum();
    let all = || returned.values().flatten();
    let owners: BTreeSet<&Name> = all().flat_map(|change| [&change.from, &change.to]).flatten().collect();
    let named: Vec<String> = owners.iter().take(NAMED).map(ToString::to_string).collect();
    let more = if owners.len() > NAMED { format!(" and {} more", owners.len() - NAMED) } else { String::new() };
    let soonest = all().filter_map(|change| change.idle_before_ms).min();
    let slow = group.seen.handling_ms(0.99);
    let (sooner, cause, remedy) = match (soonest, slow) {
        (Some(idle), Some(slow)) if idle < slow => (
            format!(
                "; claimed after an idle time of {}, while handling can take {}: the min-idle is too short",
                age(idle),
                age(slow)
            ),
            EARLY_CAUSE,
            EARLY_REMEDY,
        ),
        (Some(idle), Some(slow)) => (
            format!(
                "; idle for at least {} before each claim, while handling hardly ever takes more than {}",
                age(idle),
                age(slow)
            ),
            RETRY_CAUSE,
            RETRY_REMEDY,
        ),
        (Some(idle), None) => {
            (format!("; idle for at least {} before each claim", age(idle)), ABOUT.cause, ABOUT.remedy)
        }
        (None, _) => (String::new(), ABOUT.cause, ABOUT.remedy),
    };
    let deliveries = all().map(|change| change.deliveries).max().unwrap_or(0);
    let count = returned.len() as i64;
    let text = format!(
        "{} {} back and forth between {}{more}: {} changes of owner in the last {}, up to {deliveries} deliveries{sooner}",
        entries(count),
        if count == 1 { "goes" } else { "go" },
        named.join(", "),
        all().count(),
        age_words(WINDOW_MS as i64)
    );
    let id = returned.keys().next().map_or("-".to_owned(), ToString::to_string);
    let check = Argv::of(&[b"XPENDING", case.stream.key.bytes(), group.name().bytes(), id.as_bytes(), b"+", b"10"]);
    ABOUT
        .finding(Level::Warn, text, check)
        .because(cause)
        .advising(remedy)
        .of_entries(returned.keys().copied())
        .with("entries", count)
        .with("owner_changes", all().count() as i64)
        .with("returns", times as i64)
        .with("consumers", owners.len() as i64)
        .with("max_deliveries", deliveries)
        .with_known("shortest_idle_before_ms", soonest)
        .with_known("slow_handling_ms", slow)
        .into()
}
