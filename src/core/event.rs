//! What happened between two ticks.

use super::name::Name;

/// One thing that pelwatch saw change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// When it was seen, milliseconds since 1970.
    pub wall_ms: i64,
    /// Its kind, stable: `group-lost`, `stream-lost`, `stream-recreated`, `cursor-went-back`, `cursor-jumped`,
    /// `consumer-vanished-with-pending`.
    pub id: &'static str,
    /// The stream.
    pub stream: Name,
    /// The group, if it concerns one.
    pub group: Option<Name>,
    /// A sentence.
    pub text: String,
}
