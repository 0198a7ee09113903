//! Facts to start a test with. A literal names only the fields that its test is about, and takes the others from here
//! (`..GroupFacts::fresh("g")`). So a new field of a reply is added in one place.

use crate::core::{
    id::EntryId,
    known::Known,
    model::{ConsumerFacts, GroupFacts, PendingRow, StreamFacts},
    name::Name,
    sample::{Fault, StreamSample},
};

impl StreamFacts {
    /// An empty stream on a server that counts, with one group.
    pub fn empty() -> Self {
        Self {
            length: 0,
            first: None,
            last: None,
            last_generated: EntryId::MIN,
            entries_added: Known::Is(0),
            max_deleted: Known::Is(EntryId::MIN),
            groups: 1,
            reply_bytes: 300,
        }
    }
}

impl GroupFacts {
    /// A group that has read nothing and holds nothing, on a server that counts.
    pub fn fresh(name: impl Into<Name>) -> Self {
        Self {
            name: name.into(),
            consumers: Known::Is(0),
            pending: Known::Is(0),
            cursor: EntryId::MIN,
            entries_read: Known::Is(0),
            reported_lag: Known::Is(0),
        }
    }
}

impl ConsumerFacts {
    /// A consumer that was seen just now and holds nothing, on a server that does not report when it got its last entry.
    pub fn fresh(name: impl Into<Name>) -> Self {
        Self { name: name.into(), pending: 0, idle_ms: 0, inactive_ms: Known::Unsupported }
    }
}

impl PendingRow {
    /// An entry delivered once, just now.
    pub fn of(id: EntryId, owner: impl Into<Name>) -> Self {
        Self { id, owner: Some(owner.into()), idle_ms: Some(0), deliveries: 1 }
    }
}

impl StreamSample {
    /// A stream about which nothing was asked; facts and groups are of one moment.
    pub fn unasked(key: impl Into<Name>) -> Self {
        Self::faulty(key, Fault::Unasked)
    }

    /// A key that answers with a fault.
    pub fn faulty(key: impl Into<Name>, fault: Fault) -> Self {
        Self {
            key: key.into(),
            origin: None,
            facts: Err(fault.clone()),
            groups: Err(fault),
            consistent: true,
            ranges: Vec::new(),
            details: Vec::new(),
        }
    }
}
