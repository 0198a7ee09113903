//! The stream's key has a time to live. When it runs out the key goes, with its groups, pending and waiting entries, and readers get
//! NOGROUP. A key whose time is set again with each addition is in order.

use super::{About, Argv, Finding, Level, StreamCase};
use crate::core::{store::StreamState, time::age_words, words::entries};

pub(super) const ABOUT: About = About {
    id: "expires",
    levels: &[Level::Info, Level::Warn, Level::Critical],
    says: "The stream's time to live runs out while entries wait or are pending",
    cause: "a library sets a time to live on the stream (EXPIRE), once or with each addition",
    remedy: "keep it: PERSIST; then change what sets the time to live",
};

/// What fits where the time is set again and again.
const RENEWED_CAUSE: &str =
    "a library sets the time to live again with each addition or heartbeat: without them the key goes";

/// An end that is farther away than this, in milliseconds, is not reported.
const NEAR_MS: i64 = 600_000;
/// So near, in milliseconds, it is critical where nobody was seen to set it again for so long.
const LAST_MS: i64 = 60_000;
const UNRENEWED_MS: u64 = 30_000;

pub(super) fn judge(case: &StreamCase) -> Option<Finding> {
    let stream = case.stream;
    let left = stream.ttl.left_ms(case.now.mono).filter(|left| stream.is_ok() && *left < NEAR_MS)?;
    let open = open(stream)?;
    let renewed = stream.ttl.shortest_ms(case.now.mono);
    let running = stream.ttl.running_ms(case.now.mono);
    let level = match renewed {
        _ if running >= UNRENEWED_MS && left < LAST_MS => Level::Critical,
        Some(_) => Level::Info,
        None => Level::Warn,
    };
    let (text, cause) = match renewed.filter(|_| level == Level::Info) {
        Some(shortest) => (
            format!(
                "{} has a time to live that is set again: {} left, at least {} so far, and {open} would go with it",
                stream.key,
                age_words(left),
                age_words(shortest)
            ),
            RENEWED_CAUSE,
        ),
        None => (format!("{} expires in {}, and {open} go with it", stream.key, age_words(left)), ABOUT.cause),
    };
    Some(
        ABOUT
            .finding(level, text, Argv::of(&[b"PTTL", stream.key.bytes()]))
            .because(cause)
            .with("left_ms", left)
            .with_known("shortest_left_ms", renewed)
            .with("groups", stream.groups.len() as i64),
    )
}

/// What would be lost, in words; `None` where nothing is open.
fn open(stream: &StreamState) -> Option<String> {
    // without XINFO STREAM it is not known whether anything waits
    stream.facts.value.as_ref()?;
    let words = |number: Option<i64>, word: &str| match number {
        Some(0) => None,
        Some(number) => Some(format!("{} {word}", entries(number))),
        None => Some(format!("{word} entries")),
    };
    let parts: Vec<String> =
        words(stream.pending(), "pending").into_iter().chain(words(stream.waiting(), "waiting")).collect();
    (!parts.is_empty()).then(|| parts.join(" and "))
}

/// Whether the key has a time to live although nothing in it is open.
pub fn is_harmless(stream: &StreamState) -> bool {
    matches!(stream.ttl.left_ms.value, Some(Some(_))) && stream.is_ok() && open(stream).is_none()
}
