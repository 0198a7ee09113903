//! The stream no longer holds all entries it was given: a replay returns fewer entries than expected, and a group may have lost entries
//! that were never delivered to it.

use super::{About, Argv, Case, Finding, Level, StreamCase, Verdict, WINDOW_MS, entries};
use crate::core::{id::EntryId, known::Known, store::GroupState};

pub(super) const ABOUT_UNREAD: About = About {
    id: "trimmed-unread",
    levels: &[Level::Info, Level::Warn, Level::Critical],
    says: "Entries were removed from the stream before the group read them",
    cause: "the stream is trimmed to a length or age that a slow or stopped group cannot keep up with",
    remedy: "raise MAXLEN or trim by MINID of the slowest cursor; what is gone must come from its source again",
};

/// The row of docs/symptoms.md for the stream as a whole.
pub(super) const ABOUT: About = About {
    id: "trimmed",
    levels: &[Level::Info],
    says: "The stream no longer holds all it was given: a replay returns fewer entries than expected",
    cause: "XADD with MAXLEN or MINID, XTRIM, or XDEL",
    remedy: "if replays must be complete, keep more, or trim only what every group has acknowledged",
};

/// From this number of lost entries on a loss is critical; one that goes on always is.
const MANY: i64 = 100;

/// What fits a stream whose readers delete each entry that they handled.
const QUEUE_CAUSE: &str = "its readers delete each entry that they handled (XDEL)";
const QUEUE_REMEDY: &str = "nothing; a replay is not meant to be possible";
/// What fits when the unread entries were deleted, not trimmed.
const DELETED_CAUSE: &str =
    "somebody deletes entries one by one (XDEL), as another group's readers do, or an application that cancels them";
const DELETED_REMEDY: &str =
    "delete an entry only when every group has acknowledged it; what is gone must come from its source again";

/// What fits where the server does not tell deleted entries from trimmed ones (before 7.0).
const EITHER_CAUSE: &str = "the stream is trimmed to a length or age that the group cannot keep up with, or somebody deletes entries one by one (XDEL): this server does not tell which";
const EITHER_REMEDY: &str = "raise MAXLEN, trim by MINID of the slowest cursor, or delete an entry only when every group has acknowledged it; what is gone must come from its source again";

/// Of a stream: what was removed of everything added. Information only: most streams are meant to be trimmed.
pub(super) fn judge(case: &StreamCase) -> Option<Finding> {
    let stream = case.stream;
    let facts = stream.facts.value.as_ref().filter(|_| stream.is_ok())?;
    let added = facts.entries_added.value()?;
    let removed = added.saturating_sub(facts.length);
    if removed <= 0 || stream.groups.is_empty() {
        return None;
    }
    // an XADD 0-1 and its XDEL are a way to create a stream
    if removed == 1 && facts.max_deleted == Known::Is(EntryId::new(0, 1)) {
        return None;
    }
    let start = facts.first.map_or("it is empty".to_owned(), |first| format!("a replay begins at {first}"));
    let deleted = facts.max_deleted.value().filter(|id| *id > EntryId::MIN);
    let open = |group: &GroupState| group.lag.exact()?.checked_add(group.facts.pending.value()?);
    let is_queue = deleted.is_some() && stream.groups.values().all(|group| open(group) == Some(facts.length));
    let text = match deleted {
        _ if is_queue => format!(
            "{} is used as a queue: all {} in it are pending or wait, what was handled is deleted ({removed} of {added})",
            stream.key,
            entries(facts.length)
        ),
        Some(id) => format!(
            "{removed} of {added} entries added are no longer in {}: {start}; some were deleted (XDEL), up to {id}",
            stream.key
        ),
        None => format!("{removed} of {added} entries added are no longer in {}: {start}", stream.key),
    };
    let (cause, remedy) = if is_queue { (QUEUE_CAUSE, QUEUE_REMEDY) } else { (ABOUT.cause, ABOUT.remedy) };
    Some(
        ABOUT
            .finding(Level::Info, text, Argv::of(&[b"XINFO", b"STREAM", stream.key.bytes()]))
            .because(cause)
            .advising(remedy)
            .with("entries_added", added)
            .with("length", facts.length)
            .with("removed", removed),
    )
}

/// Of a group: entries were removed before it read them. Either the counters prove it, or it is only possible.
pub(super) fn judge_unread(case: &Case) -> Verdict {
    let (group, stream) = (case.group, case.stream);
    let Some(facts) = &stream.facts.value else { return Verdict::NotEnoughData };
    let cursor = group.facts.cursor;
    let overtaken =
        facts.first.is_some_and(|first| cursor < first && cursor > EntryId::MIN && cursor.next() != Some(first));
    let emptied = facts.first.is_none() && cursor < facts.last_generated;
    // the largest deleted id lies among what the group has not read
    let last_by_xdel = facts.first.is_none() && facts.max_deleted == Known::Is(facts.last_generated);
    let by_xdel = last_by_xdel || facts.max_deleted.value().is_some_and(|id| id > cursor);
    let worst = if by_xdel { Level::Warn } else { Level::Critical };
    let losing = group.is_losing(case.now.mono, WINDOW_MS);
    let level_of = |lost: i64| if losing || lost >= MANY { worst } else { Level::Warn };
    let span = facts.first.map_or(String::new(), |first| format!("entries between {cursor} and {first} "));
    let (level, text, lost) = match group.lost {
        Some(lost) if overtaken => {
            let how = if by_xdel { ", some of them deleted (XDEL)" } else { "" };
            let text = format!("{span}were removed before {} read them: {} lost{how}", group.name(), lost.words());
            (level_of(lost.entries), text, Some(lost))
        }
        Some(lost) => {
            let (what, them) = if lost.entries == 1 { ("entry was", "it") } else { ("entries were", "them") };
            let how = if by_xdel { ", at least in part by XDEL" } else { "" };
            let text = format!("{} {what} removed before {} read {them}{how}", lost.words(), group.name());
            (if emptied || losing { level_of(lost.entries) } else { Level::Warn }, text, Some(lost))
        }
        None if (overtaken || emptied) && possible(case) => {
            let what = if emptied { "the stream is empty and" } else { "the cursor is older than the first entry:" };
            let span = if emptied { "entries past the cursor " } else { span.as_str() };
            let text = format!("{what} {span}may have been removed before {} read them", group.name());
            (Level::Info, text, None)
        }
        None if stream.skewed => return Verdict::NotEnoughData,
        None => return Verdict::Ok,
    };
    let (cause, remedy) = match facts.max_deleted {
        _ if by_xdel => (DELETED_CAUSE, DELETED_REMEDY),
        Known::Is(_) => (ABOUT_UNREAD.cause, ABOUT_UNREAD.remedy),
        _ => (EITHER_CAUSE, EITHER_REMEDY),
    };
    ABOUT_UNREAD
        .finding(level, text, Argv::of(&[b"XINFO", b"GROUPS", stream.key.bytes()]))
        .because(cause)
        .advising(remedy)
        .with("length", facts.length)
        .with_known("lost", lost.map(|lost| lost.entries))
        .with_known("entries_added", facts.entries_added.value())
        .with_known("entries_read", group.facts.entries_read.value())
        .into()
}

/// Whether a loss is possible. Without a count of what the group read, it is possible unless nothing was ever removed.
fn possible(case: &Case) -> bool {
    match (
        case.stream.facts.value.as_ref().map(|facts| (facts.entries_added, facts.length)),
        case.group.facts.entries_read,
    ) {
        (_, Known::Is(_)) => false,
        (Some((Known::Is(added), length)), _) => added > length,
        _ => true,
    }
}
