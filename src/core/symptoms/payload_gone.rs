//! Pending entries without payload, because it was trimmed or deleted: no consumer can ever handle them.

use super::{About, Argv, Case, Level, Verdict, entries};

pub(super) const ABOUT: About = About {
    id: "payload-gone",
    levels: &[Level::Warn],
    says: "Pending entries are no longer in the stream: no consumer can ever handle them",
    cause: "the stream was trimmed past entries that were still pending, or handled entries are deleted instead of acknowledged",
    remedy: "keep entries until they are acknowledged; a claim on 7.0+ removes such entries from the pending list",
};

pub(super) fn judge(case: &Case) -> Verdict {
    let group = case.group;
    let (gone, exact) = match group.payload_gone(case.stream) {
        None if case.pending > 0 => return Verdict::NotEnoughData,
        None | Some((0, _)) => return Verdict::Ok,
        Some(found) => found,
    };
    let fate = if gone == 1 {
        "has no payload any more: it can be acknowledged"
    } else {
        "have no payload any more: they can be acknowledged"
    };
    let least = if exact { "" } else { "at least " };
    ABOUT
        .finding(
            Level::Warn,
            format!("{least}{} of {} pending {}, never handled", entries(gone), case.pending, fate),
            Argv::of(&[b"XPENDING", case.stream.key.bytes(), group.name().bytes(), b"-", b"+", b"10"]),
        )
        .with("payload_gone", gone)
        .with("pending", case.pending)
        .into()
}
