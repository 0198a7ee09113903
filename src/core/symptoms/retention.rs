//! Everything in the stream was read and acknowledged by every group: it is kept only because nobody trims it (case 42).

use super::{About, Finding, Level, words};
use crate::core::store::StreamState;

/// The row of the documentation.
pub(super) const ABOUT: About = About {
    id: "retention",
    levels: &[Level::Info],
    says: "Everything was read and acknowledged by every group and is kept only because nobody trims it",
    cause: "XACK removes an entry from the pending list, not from the stream",
    remedy: "nothing, if it is meant as a log; else trim by MAXLEN or MINID",
};

/// Streams shorter than this are not worth a word.
const FLOOR: i64 = 1000;

pub(super) fn of_stream(stream: &StreamState) -> Option<Finding> {
    let facts = stream.facts.as_ref().filter(|facts| stream.is_ok() && facts.length >= FLOOR)?;
    let last = facts.last?;
    let done = |group: &crate::core::store::GroupState| group.facts.cursor >= last && group.facts.pending == 0;
    if stream.groups.is_empty() || !stream.groups.values().all(|group| done(group)) {
        return None;
    }
    Some(Finding {
        id: ABOUT.id,
        level: Level::Info,
        consumer: None,
        text: format!(
            "all {} entries of {} are behind every group's cursor and none is pending: they are kept only by retention",
            facts.length, stream.key
        ),
        evidence: vec![("entries", facts.length), ("groups", stream.groups.len() as i64)],
        cause: ABOUT.cause,
        check: words(&[b"XINFO", b"STREAM", stream.key.bytes()]),
        remedy: ABOUT.remedy,
    })
}
