//! Which part of a PEL to ask for.

use super::{id::EntryId, name::Name};

/// One page of the extended XPENDING: never with IDLE, which walks the whole PEL (docs/server-facts.md 10).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageRequest {
    /// First id, inclusive.
    pub from: EntryId,
    /// Last id, inclusive.
    pub to: EntryId,
    /// At most so many rows.
    pub count: usize,
    /// Only those of this consumer.
    pub consumer: Option<Name>,
}
