//! The census: a walk over a whole PEL in the background, page by page, each command and the whole bounded in server time.
//! It finds what no bounded look can: the entry that has been idle longest, how old all of them are, how often they were
//! delivered, and how many have lost their payload.
//!
//! Pages with a COUNT are walked rather than windows of ids with IDLE: only a COUNT, or the number of entries that a consumer
//! holds, bounds what one command costs whatever the ids are (a filter that matches nothing walks all that lies in its window;
//! docs/server-facts.md 10).

mod sweep;
mod tally;
mod walk;

pub use sweep::{LEAST_SWEPT, Older};
pub use tally::{AGES_MS, Held, Old, TRIES, Tally};
pub use walk::{Answer, Step, Walk};

use super::{
    id::EntryId,
    known::Known,
    model::{PendingRow, StreamFacts},
    name::Name,
};

/// Which PEL to walk, with what is known of its stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CensusRequest {
    /// The stream.
    pub key: Name,
    /// The group.
    pub group: Name,
    /// Counts the walks of this group: another number begins a new one.
    pub round: u64,
    /// Entries pending when this was asked.
    pub pending: i64,
    /// The stream, as last read before.
    pub stream: StreamFacts,
    /// Bytes that one entry of the stream takes in a reply.
    pub entry_bytes: u64,
    /// Who holds entries, and how many; empty where that is not known, or the server cannot filter by idle time (before 6.2).
    pub holders: Vec<(Name, i64)>,
    /// What it may cost.
    pub limits: Limits,
}

/// How far a census has come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CensusSample {
    /// The stream.
    pub key: Name,
    /// The group.
    pub group: Name,
    /// What was counted.
    pub tally: Tally,
    /// First entry and largest deleted id by which entries were taken to be in the stream or not when the walk began.
    pub judged_by: (Option<EntryId>, Known<EntryId>),
}

/// What a census may cost the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// No command is to take longer than this, in microseconds of the server's time: pages are sized by what those before took.
    pub command_us: u64,
    /// No second is to take more than this, in microseconds of the server's time.
    pub second_us: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { command_us: 1000, second_us: 5000 }
    }
}

/// Whether a pending entry is in the stream, as far as the facts tell, which are older than the entry was seen pending: below the
/// first entry nothing is, and past the largest id ever deleted everything is that was given out.
fn fate(facts: &StreamFacts, id: EntryId) -> Option<bool> {
    match facts.first {
        _ if id > facts.last_generated => None,
        None => Some(false),
        Some(first) if id < first => Some(false),
        Some(_) => facts.max_deleted.value().filter(|deleted| id > *deleted).map(|_| true),
    }
}

/// Ids of rows.
fn ids(rows: &[PendingRow]) -> impl Iterator<Item = EntryId> {
    rows.iter().map(|row| row.id)
}
