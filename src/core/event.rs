//! What happened between two ticks.

use super::name::Name;

/// A change that pelwatch saw.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// When it was seen, milliseconds since 1970.
    pub wall_ms: i64,
    /// Its kind, stable: `group-lost`, `stream-lost`, `stream-recreated`, `cursor-went-back`, `cursor-jumped`, `failover`,
    /// `acknowledgements-lost`, `entries-lost`, `consumer-vanished-with-pending`, `expired`, `finding-began`, `finding-rose`,
    /// `finding-cleared`, `link-lost`, `link-back`.
    pub id: &'static str,
    /// `None` if it concerns the server or the link.
    pub stream: Option<Name>,
    /// `None` if it concerns the whole stream.
    pub group: Option<Name>,
    /// As a sentence.
    pub text: String,
}
