//! Pending entries whose payload was trimmed or deleted: no consumer can ever handle them.

use super::{Case, Finding, Level, Verdict, entries, words};

pub(super) fn judge(case: &Case) -> Verdict {
    let group = case.group;
    let (gone, exact) = match group.payload_gone(case.stream) {
        None if group.facts.pending > 0 => return Verdict::NotEnoughData,
        None | Some((0, _)) => return Verdict::Ok,
        Some(found) => found,
    };
    let least = if exact { "" } else { "at least " };
    Verdict::Found(vec![Finding {
        id: "payload-gone",
        level: Level::Warn,
        consumer: None,
        text: format!("{least}{} of {} pending have no payload any more: they can be acknowledged, never handled", entries(gone), group.facts.pending),
        evidence: vec![("payload_gone", gone), ("pending", group.facts.pending)],
        cause: "the stream was trimmed past entries that were still pending, or handled entries are deleted instead of acknowledged",
        check: words(&[b"XPENDING", case.stream.key.bytes(), group.name().bytes(), b"-", b"+", b"10"]),
        remedy: "keep entries until they are acknowledged; a claim on 7.0+ removes such entries from the pending list",
    }])
}
