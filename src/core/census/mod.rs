//! The census: a walk over a whole PEL in the background, page by page. Each command and the whole walk are bounded in server time. It
//! finds what no bounded look can: the entry idle for longest, the ages of all entries, how often they were delivered, and how many have
//! lost their payload.
//!
//! It walks pages with a COUNT, not windows of ids with IDLE. Only a COUNT, or the number of entries that a consumer holds, bounds the
//! cost of a command whatever the ids are: a filter that matches nothing walks everything in its window (docs/server-facts.md 10).

mod sweep;
mod tally;
mod walk;

pub use sweep::{LEAST_SWEPT, Older};
pub use tally::{AGES_MS, DELIVERIES, HolderTally, OldEntry, Tally};
pub use walk::{Answer, Step, Walk};

use super::{
    id::EntryId,
    known::Known,
    model::{PendingRow, StreamFacts},
    name::Name,
};

/// Which PEL to walk, and what is known about its stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CensusRequest {
    pub key: Name,
    pub group: Name,
    /// The number of this walk of the group: another number begins a new walk.
    pub round: u64,
    /// Entries pending at the time of the request.
    pub pending: i64,
    /// The stream as last read.
    pub stream: StreamFacts,
    /// Bytes that one entry of the stream takes in a reply.
    pub entry_bytes: u64,
    /// Each holder and how many entries it holds; empty where that is not known, or where the server cannot filter by idle time (before
    /// 6.2).
    pub holders: Vec<(Name, i64)>,
    pub limits: Limits,
}

/// The progress of a census.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CensusSample {
    pub key: Name,
    pub group: Name,
    pub tally: Tally,
    /// The stream's first entry and largest deleted id when the walk began. They decided whether an entry counts as being in the stream.
    pub judged_by: (Option<EntryId>, Known<EntryId>),
}

/// What a census may cost the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Most time for one command, in microseconds of the server's time. Pages are sized by the cost of earlier pages.
    pub command_us: u64,
    /// Most time in any second, in microseconds of the server's time.
    pub second_us: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { command_us: 1000, second_us: 5000 }
    }
}

/// Whether a pending entry is in the stream, as far as the facts show; they are older than the row. Nothing exists below the first entry.
/// Above the largest deleted id, every id that was already given out exists.
fn fate(facts: &StreamFacts, id: EntryId) -> Option<bool> {
    match facts.first {
        _ if id > facts.last_generated => None,
        None => Some(false),
        Some(first) if id < first => Some(false),
        Some(_) => facts.max_deleted.value().filter(|deleted| id > *deleted).map(|_| true),
    }
}

fn ids(rows: &[PendingRow]) -> impl Iterator<Item = EntryId> {
    rows.iter().map(|row| row.id)
}
