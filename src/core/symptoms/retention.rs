//! Everything in the stream was read and acknowledged by every group: it is kept only because nobody trims it
//! (docs/server-facts.md 13.9).

use super::{About, Argv, Finding, Level, StreamCase};
use crate::core::{id::EntryId, known::Known, lag::LagKind, store::GroupState};

pub(super) const ABOUT: About = About {
    id: "retention",
    levels: &[Level::Info],
    says: "Everything was read and acknowledged by every group and is kept only because nobody trims it",
    cause: "XACK removes an entry from the pending list, not from the stream",
    remedy: "nothing, if it is meant as a log; else trim by MAXLEN or MINID",
};

/// Shorter streams are not worth a finding.
const FLOOR: i64 = 1000;
/// Once fired, one entry in this many may be waiting or pending, as in a busy stream.
const UNDER_WAY: i64 = 20;

/// The most that a group still has to do; `None` if not known.
fn to_do(group: &GroupState, last: EntryId) -> Option<i64> {
    let waiting = match group.lag.kind {
        _ if group.facts.cursor >= last => Some(0),
        LagKind::Exact | LagKind::Reported | LagKind::AtMost => group.lag.value,
        LagKind::AtLeast | LagKind::Unknown | LagKind::Unsupported => None,
    };
    waiting?.checked_add(group.facts.pending.value()?)
}

pub(super) fn judge(case: &StreamCase) -> Option<Finding> {
    let stream = case.stream;
    let facts = stream.facts.value.as_ref().filter(|facts| stream.is_ok() && facts.length >= FLOOR)?;
    // if somebody trims the stream, this is not the case; deletes by hand do not count as trimming
    let removed = facts.entries_added.value().map_or(0, |added| added.saturating_sub(facts.length));
    let trimmed = removed > 0 && (facts.max_deleted == Known::Is(EntryId::MIN) || removed >= facts.length / 10);
    if stream.groups.is_empty() || trimmed || stream.trims.pace(case.now.mono).is_some() {
        return None;
    }
    let last = facts.last?;
    let under_way = stream.groups.values().try_fold(0_i64, |sum, group| sum.checked_add(to_do(group, last)?))?;
    let allowed = if case.fired(ABOUT) { facts.length / UNDER_WAY } else { 0 };
    if !(0..=allowed).contains(&under_way) {
        return None;
    }
    let done = facts.length.saturating_sub(under_way);
    let text = match under_way {
        0 => format!(
            "all {done} entries of {} are behind every group's cursor and none is pending: they are kept only by retention",
            stream.key
        ),
        _ => format!(
            "{done} of {} entries of {} are behind every group's cursor and not pending: they are kept only by retention",
            facts.length, stream.key
        ),
    };
    Some(
        ABOUT
            .finding(Level::Info, text, Argv::of(&[b"XINFO", b"STREAM", stream.key.bytes()]))
            .with("entries", done)
            .with("length", facts.length)
            .with("groups", stream.groups.len() as i64),
    )
}
