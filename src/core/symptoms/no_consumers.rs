//! Entries wait, and the group has no consumer who could read them.

use super::{About, Argv, Case, Level, Verdict};
use crate::core::known::Known;

pub(super) const ABOUT: About = About {
    id: "no-consumers",
    levels: &[Level::Info],
    says: "Entries wait and the server knows no consumer of the group",
    cause: "nobody started to read, or (up to 7.0) readers wait that have got nothing so far",
    remedy: "start a consumer, or delete the group if nobody needs it (X)",
};

pub(super) fn judge(case: &Case) -> Verdict {
    let waiting = case.group.lag.value.filter(|n| *n > 0);
    let (Known::Is(0), Some(waiting)) = (case.group.facts.consumers, waiting) else { return Verdict::Ok };
    let wait = if waiting == 1 { "entry waits" } else { "entries wait" };
    let text = format!("{} {wait} and the server knows no consumer of this group", case.group.lag.text());
    let check = Argv::of(&[b"XINFO", b"CONSUMERS", case.stream.key.bytes(), case.group.name().bytes()]);
    ABOUT.finding(Level::Info, text, check).with("lag", waiting).with("consumers", 0).into()
}
