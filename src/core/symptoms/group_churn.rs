//! Groups that nobody reads pile up: one for each pod or deployment, and nobody destroys them. The check counts groups. A group counts if
//! the server knows no consumer of it, or if entries have waited in it for longer than a reader would leave them.

use super::{About, Argv, Finding, LEFT_OVER_MS, Level, StreamCase, idle_now};
use crate::core::{known::Known, model::ConsumerFacts, store::GroupState};

pub(super) const ABOUT: About = About {
    id: "group-churn",
    levels: &[Level::Info],
    says: "Many groups of the stream are read by nobody",
    cause: "groups are named after pods, hosts or deployments, and nobody destroys those that ended",
    remedy: "give groups stable names, or read without a group (XREAD) where each reader wants all; destroy the groups that are left over",
};

/// Fewer groups that nobody reads do not matter.
const UNREAD: usize = 10;
/// Once fired, the finding stays down to this many.
const STILL_UNREAD: usize = 5;
/// A reader takes waiting entries within this time, in milliseconds.
const READ_WITHIN_MS: i64 = 3_600_000;

pub(super) fn judge(case: &StreamCase) -> Option<Finding> {
    let stream = case.stream;
    if !stream.is_ok() || stream.groups.len() < STILL_UNREAD {
        return None;
    }
    let empty = stream.groups.values().filter(|group| group.facts.consumers == Known::Is(0)).count();
    let left = stream.groups.values().filter(|group| group.facts.consumers.exceeds(0) && is_left(case, group)).count();
    let (unread, all) = (empty + left, stream.groups.len());
    if unread < if case.fired(ABOUT) { STILL_UNREAD } else { UNREAD } {
        return None;
    }
    let mut why = Vec::new();
    if empty > 0 {
        why.push(format!("{empty} without a consumer"));
    }
    if left > 0 {
        why.push(format!("{left} whose consumers stopped"));
    }
    let text = format!("{unread} of {all} groups of {} are read by nobody: {}", stream.key, why.join(", "));
    Some(
        ABOUT
            .finding(Level::Info, text, Argv::of(&[b"XINFO", b"GROUPS", stream.key.bytes()]))
            .with("unread_groups", unread as i64)
            .with("groups", all as i64)
            .with("without_consumers", empty as i64)
            .with("with_consumers_that_stopped", left as i64),
    )
}

/// Whether the consumers of a group stopped reading.
fn is_left(case: &StreamCase, group: &GroupState) -> bool {
    let idle_at_least = |ms: i64, one: &ConsumerFacts| idle_now(group, one.idle_ms, case.now.mono) > ms;
    let all =
        |ms: i64| group.consumers.value.as_ref().is_some_and(|list| list.iter().all(|one| idle_at_least(ms, one)));
    // where idle counts attempts (7.2+), a day without an attempt is enough; before 7.2, only waiting entries show that nobody reads
    let attempts = group.consumers().iter().all(|one| matches!(one.inactive_ms, Known::Is(_)));
    let waits =
        group.lag.value.is_some_and(|waiting| waiting > 0) && group.lag.kind != crate::core::lag::LagKind::AtMost;
    attempts && all(LEFT_OVER_MS) || waits && (all(READ_WITHIN_MS) || waited_ms(case, group) > READ_WITHIN_MS)
}

/// How long the oldest waiting entry has waited at least, by the times in the ids and the server's clock; 0 if ids are not times.
fn waited_ms(case: &StreamCase, group: &GroupState) -> i64 {
    let Some(facts) = &case.stream.facts.value else { return 0 };
    // of the waiting entries we know only the last, and the first if all entries wait
    let oldest = if facts.first.is_some_and(|first| group.facts.cursor < first) { facts.first } else { facts.last };
    let added = oldest.and_then(|id| id.plausible_ms(case.server_ms));
    added.map_or(0, |added| case.server_ms.saturating_sub(added))
}
