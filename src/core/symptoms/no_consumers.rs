//! Entries wait, and the server knows nobody who could read them.

use super::{About, Case, Level, Verdict, one, words};

/// The row of the documentation.
pub(super) const ABOUT: About = About {
    id: "no-consumers",
    levels: &[Level::Info],
    says: "Entries wait and the server knows no consumer of the group",
    cause: "nobody started to read, or (up to 7.0) readers wait that have got nothing so far",
    remedy: "start a consumer, or destroy the group if nobody needs it",
};

pub(super) fn judge(case: &Case) -> Verdict {
    let waiting = case.group.lag.value.filter(|n| *n > 0);
    let (0, Some(waiting)) = (case.group.facts.consumers, waiting) else { return Verdict::Ok };
    let wait = if waiting == 1 { "entry waits" } else { "entries wait" };
    let text = format!("{} {wait} and the server knows no consumer of this group", case.group.lag.text());
    let check = words(&[b"XINFO", b"CONSUMERS", case.stream.key.bytes(), case.group.name().bytes()]);
    one(ABOUT, Level::Info, text, vec![("lag", waiting), ("consumers", 0)], check)
}
