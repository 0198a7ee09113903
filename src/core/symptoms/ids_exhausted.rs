//! The last id given out is the largest possible, or close to it: XADD fails, or soon will. An id can be given by hand or set with
//! XSETID, and never goes back.

use super::{About, Finding, Level, Whole, words};
use crate::core::id::EntryId;

/// The row of the documentation.
pub(super) const ABOUT: About = About {
    id: "ids-exhausted",
    levels: &[Level::Warn, Level::Critical],
    says: "The last id given out is the largest possible, or next to it: XADD fails, or soon will",
    cause: "an entry was added with such an id, or XSETID set it; ids never go back, not even when the entry is deleted",
    remedy: "copy what is needed to a new stream, delete this one, create its groups again, and let the server choose the ids",
};

/// A busy stream takes so many in minutes.
const FEW: u128 = 1_000_000;

/// How many ids are larger.
fn left(id: EntryId) -> u128 {
    let number = |id: EntryId| u128::from(id.ms) << 64 | u128::from(id.seq);
    number(EntryId::MAX) - number(id)
}

pub(super) fn judge(whole: &Whole) -> Option<Finding> {
    let stream = whole.stream;
    let last = stream.facts.as_ref().filter(|_| stream.is_ok())?.last_generated;
    // past the last millisecond only the second half can still count
    if last.ms < u64::MAX {
        return None;
    }
    let left = left(last);
    let text = match left {
        0 => format!("the last id of {} is {last}, the largest there is: every XADD fails", stream.key),
        1..FEW => format!("the last id of {} is {last}: {left} are left, then every XADD fails", stream.key),
        _ => format!(
            "the last id of {} is {last}: its time cannot grow any more, so only the part behind the dash still counts, and no id that is a time can be added",
            stream.key
        ),
    };
    let mut evidence = Vec::new();
    evidence.extend(i64::try_from(left).ok().map(|left| ("ids_left", left)));
    evidence.extend(stream.facts.as_ref().map(|facts| ("length", facts.length)));
    Some(Finding {
        id: ABOUT.id,
        level: if left < FEW { Level::Critical } else { Level::Warn },
        consumer: None,
        text,
        evidence,
        cause: ABOUT.cause,
        check: words(&[b"XINFO", b"STREAM", stream.key.bytes()]),
        remedy: ABOUT.remedy,
    })
}
