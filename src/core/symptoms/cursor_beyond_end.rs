//! The cursor lies after every id that the stream ever generated: entries added below it will never be delivered.

use super::{About, Argv, Case, Level, Verdict};

pub(super) const ABOUT: About = About {
    id: "cursor-beyond-end",
    levels: &[Level::Critical],
    says: "The cursor lies beyond every id the stream ever gave out: new entries below it are skipped",
    cause: "the group was created or moved with an id that is too high, or the stream was created again with smaller ids",
    remedy: "move the cursor (m) to the last id ($) or back to the first entry to be handled",
};

pub(super) fn judge(case: &Case) -> Verdict {
    let Some(facts) = &case.stream.facts.value else { return Verdict::NotEnoughData };
    if !case.group.lag.beyond_end {
        return Verdict::Ok;
    }
    let cursor = case.group.facts.cursor;
    let text = format!(
        "the cursor {cursor} is beyond the last id ever given out, {}: new entries up to it will be skipped",
        facts.last_generated
    );
    ABOUT
        .finding(Level::Critical, text, Argv::of(&[b"XINFO", b"STREAM", case.stream.key.bytes()]))
        .with("length", facts.length)
        .into()
}
