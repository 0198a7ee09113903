//! Which part of a PEL to ask for.

use super::{id::EntryId, name::Name};

/// One page of the extended XPENDING. Never with IDLE, which walks the whole PEL (docs/server-facts.md 10).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageRequest {
    /// First id, inclusive.
    pub from: EntryId,
    /// Last id, inclusive.
    pub to: EntryId,
    /// At most this many rows.
    pub count: usize,
    /// Only rows of this consumer.
    pub consumer: Option<Name>,
}
