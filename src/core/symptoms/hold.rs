//! Which findings are still shown after their condition ended, so that nothing flips from tick to tick, and which become worse because
//! they last. What a single fact refutes is not held: the entries are gone, the consumer is back, the lag is counted and is 0.

use super::{Case, Finding, Judgement, Level, claim_ping_pong, falling_behind, redelivered, retention_race};
use crate::core::{known::Known, time::Mono};

/// Findings over a trend. Nothing that one sample says can refute them but what [`is_refuted`] knows.
const HELD: &[&str] = &[
    "claim-ping-pong",
    "falling-behind",
    "hot-consumer",
    "never-acked",
    "reads-history",
    "redelivered",
    "retention-race",
    "trimmed-unread",
];

/// Of these, the ones about entries that are pending.
const OF_PENDING: &[&str] = &["claim-ping-pong", "hot-consumer", "never-acked", "reads-history", "redelivered"];

/// After an action of this program nothing older is shown for this time, in milliseconds.
const ACTED_MS: u64 = 60_000;

/// Growth that nobody stops is critical after this time, in milliseconds.
const LASTS_MS: i64 = 30 * 60_000;
const GROWS: &[&str] = &["falling-behind", "never-acked"];

/// What became of a finding that does not fire any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum After {
    /// Its check found nothing: it is over.
    Ended,
    /// Its check cannot tell now.
    Unknown,
    /// Its group, in the background, was not looked into since: it stands until the next look.
    NotLooked,
    /// A single fact shows that it is over, so it is not shown any more.
    Refuted,
}

impl After {
    /// Of a finding of a group that last fired at that time.
    pub(super) fn of_group(case: &Case, judgement: &Judgement, finding: &Finding, fired: Mono) -> Self {
        match finding.id {
            id if !is_held(id)
                && judgement.waiting.contains(id)
                && case.group.waits_for_a_look_since(fired, case.now.mono) =>
            {
                Self::NotLooked
            }
            id if !is_held(id) || is_refuted(case, finding) => Self::Refuted,
            id if judgement.quiet.contains(id) => Self::Ended,
            _ => Self::Unknown,
        }
    }
}

/// Whether a finding of this symptom outlasts its condition for a while.
pub(super) fn is_held(id: &str) -> bool {
    HELD.contains(&id)
}

/// Whether one fact shows that a finding of a group, made earlier, is over.
fn is_refuted(case: &Case, finding: &Finding) -> bool {
    let nothing_pending = case.group.facts.pending == Known::Is(0);
    let small = case.group.lag.exact().is_some_and(|lag| lag < falling_behind::FLOOR);
    // what this program just did explains the change
    let acted = case.group.own.acted.is_some_and(|at| case.now.mono.since(at) <= ACTED_MS);
    let of_pending = OF_PENDING.contains(&finding.id);
    let of_lag = finding.id == falling_behind::ABOUT.id;
    let race = finding.id == retention_race::ABOUT.id;
    let nothing_waits = case.group.lag.exact() == Some(0);
    // it did not end: claim-ping-pong tells it now
    let reported = || claim_ping_pong::reported(case);
    let taken_over =
        finding.id == redelivered::ABOUT.id && finding.entries.iter().any(|id| reported().contains_key(id));
    taken_over
        || nothing_pending && of_pending
        || small && of_lag
        || race && nothing_pending && nothing_waits
        || acted && (of_pending || of_lag || race)
}

/// The level that growth has after it lasted that long, in milliseconds.
pub(super) fn level_of_growth(id: &str, lasted_ms: i64) -> Option<Level> {
    (lasted_ms >= LASTS_MS && GROWS.contains(&id)).then_some(Level::Critical)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_symptom_named_here_exists() {
        let ids: BTreeSet<&str> = crate::core::symptoms::ids().collect();
        for id in HELD.iter().chain(OF_PENDING).chain(GROWS) {
            assert!(ids.contains(id), "{id}");
        }
        assert!(OF_PENDING.iter().chain(GROWS).all(|id| is_held(id)));
        let levels = |id: &str| crate::core::symptoms::all().find(|about| about.id == id).map(|about| about.levels);
        let informs = |id: &&str| levels(id).is_some_and(|levels| levels.iter().all(|level| *level == Level::Info));
        assert!(!HELD.iter().any(informs), "what is only information is never held");
    }
}
