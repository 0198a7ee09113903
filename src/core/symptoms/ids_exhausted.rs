//! The last generated id is the largest possible, or close to it: XADD fails, or soon will. Such an id was given by hand or set with
//! XSETID, and it never goes back.

use super::{About, Argv, Finding, Level, StreamCase};
use crate::core::id::EntryId;

pub(super) const ABOUT: About = About {
    id: "ids-exhausted",
    levels: &[Level::Warn, Level::Critical],
    says: "The last id given out is the largest possible, or next to it: XADD fails, or soon will",
    cause: "an entry was added with such an id, or XSETID set it; ids never go back, not even when the entry is deleted",
    remedy: "copy what is needed to a new stream, delete this one, create its groups again, and let the server choose the ids",
};

/// A busy stream uses this many ids within minutes.
const FEW: u128 = 1_000_000;

/// How many larger ids there are.
fn left(id: EntryId) -> u128 {
    let number = |id: EntryId| u128::from(id.ms) << 64 | u128::from(id.seq);
    number(EntryId::MAX) - number(id)
}

pub(super) fn judge(case: &StreamCase) -> Option<Finding> {
    let stream = case.stream;
    let last = stream.facts.value.as_ref().filter(|_| stream.is_ok())?.last_generated;
    // in the last millisecond only the second half can still grow
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
    Some(
        ABOUT
            .finding(
                if left < FEW { Level::Critical } else { Level::Warn },
                text,
                Argv::of(&[b"XINFO", b"STREAM", stream.key.bytes()]),
            )
            .with_known("ids_left", i64::try_from(left).ok())
            .with_known("length", stream.facts.value.as_ref().map(|facts| facts.length)),
    )
}
