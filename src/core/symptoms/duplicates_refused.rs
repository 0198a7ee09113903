//! Idempotent additions (XADD IDMP, 8.6+) are refused as duplicates more often than entries are added: a producer sends the same again.

use super::{About, Argv, Finding, Level, StreamCase};
use crate::core::{time::age_words, words::entries};

pub(super) const ABOUT: About = About {
    id: "duplicates-refused",
    levels: &[Level::Info],
    says: "The stream refuses additions as duplicates, at least as many as it takes",
    cause: "a producer retries what was added already, or gives the same idempotent id to different entries",
    remedy: "nothing, if producers retry; else see how they choose the idempotent id (IDMP)",
};

/// Fewer within the window are the retries of every day.
const LEAST: i64 = 3;

pub(super) fn judge(case: &StreamCase) -> Option<Finding> {
    let stream = case.stream;
    let growth = stream.duplicates.growth().filter(|_| stream.is_ok())?;
    if growth.refused < LEAST || growth.refused < growth.added {
        return None;
    }
    let text = format!(
        "{} refused {} additions as duplicates within {}, and took {}",
        stream.key,
        growth.refused,
        age_words(growth.span_ms as i64),
        entries(growth.added)
    );
    Some(
        ABOUT
            .finding(Level::Info, text, Argv::of(&[b"XINFO", b"STREAM", stream.key.bytes()]))
            .with("refused", growth.refused)
            .with("added", growth.added)
            .with("span_ms", growth.span_ms as i64),
    )
}
