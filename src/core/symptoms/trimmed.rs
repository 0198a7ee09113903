//! The stream no longer holds all entries it was given: a replay returns fewer entries than expected, and a group may have lost entries
//! that were never delivered to it.

use super::{About, Argv, Case, Finding, Level, StreamCase, Verdict, entries};
use crate::core::{id::EntryId, known::Known};

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

/// Of a stream: what was removed of everything added. Information only: most streams are meant to be trimmed.
pub(super) fn judge(case: &StreamCase) -> Option<Finding> {
    let stream = case.stream;
    let facts = stream.facts.value.as_ref().filter(|_| stream.is_ok())?;
    let added = facts.entries_added.value()?;
    let removed = added.saturating_sub(facts.length);
    if removed <= 0 || stream.groups.is_empty() {
        return None;
    }
    let start = facts.first.map_or("it is empty".to_owned(), |first| format!("a replay begins at {first}"));
    let by_hand = match facts.max_deleted {
        Known::Is(id) if id > EntryId::MIN => format!("; some were deleted by hand, up to {id}"),
        _ => String::new(),
    };
    Some(
        ABOUT
            .finding(
                Level::Info,
                format!("{removed} of {added} entries added are no longer in {}: {start}{by_hand}", stream.key),
                Argv::of(&[b"XINFO", b"STREAM", stream.key.bytes()]),
            )
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
    let by_hand = facts.max_deleted.value().is_some_and(|id| id > cursor);
    let span = facts.first.map_or(String::new(), |first| format!("entries between {cursor} and {first} "));
    let (level, text, lost) = match group.lost {
        Some(lost) if overtaken => {
            let how = if by_hand { ", some of them deleted by hand" } else { "" };
            let text = format!("{span}were removed before {} read them: {lost} lost{how}", group.name());
            (if lost >= 100 { Level::Critical } else { Level::Warn }, text, Some(lost))
        }
        Some(lost) => {
            (Level::Warn, format!("{} were removed before {} read them", entries(lost), group.name()), Some(lost))
        }
        None if overtaken && possible(case) => {
            let text = format!(
                "the cursor is older than the first entry: {span}may have been removed before {} read them",
                group.name()
            );
            (Level::Info, text, None)
        }
        None if stream.skewed => return Verdict::NotEnoughData,
        None => return Verdict::Ok,
    };
    ABOUT_UNREAD
        .finding(level, text, Argv::of(&[b"XINFO", b"GROUPS", stream.key.bytes()]))
        .with("length", facts.length)
        .with_known("lost", lost)
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
