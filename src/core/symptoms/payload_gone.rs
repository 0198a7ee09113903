//! Pending entries without payload, because it was trimmed or deleted: no consumer can ever handle them.

use super::{About, Argv, Case, Level, Verdict, entries};
use crate::core::model::PendingRow;

pub(super) const ABOUT: About = About {
    id: "payload-gone",
    levels: &[Level::Warn],
    says: "Pending entries are no longer in the stream: no consumer can ever handle them",
    cause: "the stream was trimmed past entries that were still pending, or handled entries are deleted instead of acknowledged",
    remedy: "keep entries until they are acknowledged; those that are left can be acknowledged (V marks, A); a claim on 7.0+ removes them from the pending list",
};

/// Entries idle for less, in milliseconds, may be under way between XDEL and XACK.
const AT_WORK_MS: i64 = 5_000;
/// What fits when the entries may have been deleted: the largest deleted id is past them.
const DELETED_CAUSE: &str = "somebody deleted them (XDEL) while they were pending, as readers do that delete in place of acknowledging, or another group's readers";
const DELETED_REMEDY: &str = "acknowledge (XACK) before deleting, and delete only what every group has acknowledged; a claim on 7.0+ removes such entries from the pending list";

pub(super) fn judge(case: &Case) -> Verdict {
    let group = case.group;
    let (gone, exact) = match group.payload_gone(case.stream) {
        None if case.pending > 0 => return Verdict::NotEnoughData,
        None | Some((0, _)) => return Verdict::Ok,
        Some(found) => found,
    };
    let rows: Vec<&PendingRow> =
        group.pel.rows.iter().filter(|row| case.stream.has_entry(row.id) == Some(false)).collect();
    // readers that delete first and acknowledge then leave such entries for a moment; another sample shows whether they stay
    let idle = |row: &PendingRow| Some(group.aged_ms(row.idle_known_ms()?, group.pel.at, case.now.mono));
    let young = |row: &&PendingRow| idle(row).is_some_and(|idle| idle < AT_WORK_MS);
    let watched = group.history.points().len() > 1;
    if watched && gone == rows.len() as i64 && rows.iter().all(young) && !case.fired(ABOUT) {
        return Verdict::Ok;
    }
    let facts = case.stream.facts.value.as_ref();
    let trimmed = |row: &&PendingRow| facts.is_some_and(|facts| facts.max_deleted.value().is_none_or(|id| row.id > id));
    let deleted = !rows.is_empty() && !rows.iter().any(trimmed);
    let (cause, remedy) = if deleted { (DELETED_CAUSE, DELETED_REMEDY) } else { (ABOUT.cause, ABOUT.remedy) };
    let fate = if gone == 1 {
        "has no payload any more: it can be acknowledged"
    } else {
        "have no payload any more: they can be acknowledged"
    };
    let least = if exact { "" } else { "at least " };
    ABOUT
        .finding(
            Level::Warn,
            format!("{least}{} of {} pending {}, never handled", entries(gone), case.pending, fate),
            Argv::of(&[b"XPENDING", case.stream.key.bytes(), group.name().bytes(), b"-", b"+", b"10"]),
        )
        .because(cause)
        .advising(remedy)
        .with("payload_gone", gone)
        .with("pending", case.pending)
        .into()
}
