//! Facts to start a test with. A literal names only the fields that its test is about, and takes the others from here
//! (`..GroupFacts::fresh("g")`). So a new field of a reply is added in one place.

use crate::core::{
    condition::{ConditionRequest, ConditionSample, Memory, Persistence, Replication, Section},
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
            duplicates: Known::Unsupported,
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
            ttl_ms: None,
            ranges: Vec::new(),
            details: Vec::new(),
        }
    }
}

impl ConditionSample {
    /// A primary without a memory limit, whose files are written, and whose keys are all in database 0.
    pub fn fine() -> Self {
        Self {
            node: None,
            memory: Some(Ok(Memory { counted_bytes: 1 << 20, limit_bytes: 0, policy: "noeviction".to_owned() })),
            persistence: Some(Ok(Persistence { append_failed: false, save_failed: false })),
            databases: Some(Ok(Vec::new())),
            replication: Some(Ok(Replication { is_primary: true, good_replicas: None })),
            evicted: Some(Ok(0)),
            rules: None,
        }
    }

    /// What of it is asked for.
    pub fn asked(&self, request: &ConditionRequest) -> Self {
        let has = |section| request.sections.contains(&section);
        Self {
            node: self.node.clone(),
            memory: self.memory.clone().filter(|_| has(Section::Memory)),
            persistence: self.persistence.clone().filter(|_| has(Section::Persistence)),
            databases: self.databases.clone().filter(|_| has(Section::Keyspace)),
            replication: self.replication.clone().filter(|_| has(Section::Replication)),
            evicted: self.evicted.clone().filter(|_| has(Section::Stats)),
            rules: self.rules.clone().filter(|_| request.config),
        }
    }
}
