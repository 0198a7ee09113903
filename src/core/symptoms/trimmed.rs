//! The stream no longer holds all it was given: a replay returns fewer entries than expected, and a group may have lost
//! entries that it never got.

use super::{About, Case, Finding, Level, Verdict, Whole, entries, words};
use crate::core::{id::EntryId, known::Known};

/// The row of the documentation.
pub(super) const ABOUT_UNREAD: About = About {
    id: "trimmed-unread",
    levels: &[Level::Info, Level::Warn, Level::Critical],
    says: "Entries were removed from the stream before the group read them",
    cause: "the stream is trimmed to a length or age that a slow or stopped group cannot keep up with",
    remedy: "raise MAXLEN or trim by MINID of the slowest cursor; what is gone must come from its source again",
};

/// The row of the documentation for the stream as a whole.
pub(super) const ABOUT: About = About {
    id: "trimmed",
    levels: &[Level::Info],
    says: "The stream no longer holds all it was given: a replay returns fewer entries than expected",
    cause: "XADD with MAXLEN or MINID, XTRIM, or XDEL",
    remedy: "if replays must be complete, keep more, or trim only what every group has acknowledged",
};

/// Of a stream: what was removed of all that was added. Information only: most streams are meant to be trimmed.
pub(super) fn judge(whole: &Whole) -> Option<Finding> {
    let stream = whole.stream;
    let facts = stream.facts.as_ref().filter(|_| stream.is_ok())?;
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
    Some(Finding {
        id: ABOUT.id,
        level: Level::Info,
        consumer: None,
        text: format!("{removed} of {added} entries added are no longer in {}: {start}{by_hand}", stream.key),
        evidence: vec![("entries_added", added), ("length", facts.length), ("removed", removed)],
        cause: ABOUT.cause,
        check: words(&[b"XINFO", b"STREAM", stream.key.bytes()]),
        remedy: ABOUT.remedy,
    })
}

/// Of a group: entries went before it read them. Proven by the counters, else only possible.
pub(super) fn judge_unread(case: &Case) -> Verdict {
    let (group, stream) = (case.group, case.stream);
    let Some(facts) = &stream.facts else { return Verdict::NotEnoughData };
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
        None if stream.apart => return Verdict::NotEnoughData,
        None => return Verdict::Ok,
    };
    let mut evidence = vec![("length", facts.length)];
    evidence.extend(lost.map(|lost| ("lost", lost)));
    evidence.extend(facts.entries_added.value().map(|n| ("entries_added", n)));
    evidence.extend(group.facts.entries_read.value().map(|n| ("entries_read", n)));
    Verdict::Found(vec![Finding {
        id: ABOUT_UNREAD.id,
        level,
        consumer: None,
        text,
        evidence,
        cause: ABOUT_UNREAD.cause,
        check: words(&[b"XINFO", b"GROUPS", stream.key.bytes()]),
        remedy: ABOUT_UNREAD.remedy,
    }])
}

/// Without a count of what the group read, a loss is possible unless nothing was ever removed.
fn possible(case: &Case) -> bool {
    match (case.stream.facts.as_ref().map(|facts| (facts.entries_added, facts.length)), case.group.facts.entries_read) {
        (_, Known::Is(_)) => false,
        (Some((Known::Is(added), length)), _) => added > length,
        _ => true,
    }
}
