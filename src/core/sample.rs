//! What one tick asks for and what it brings back: the only types that core and source share.

use std::collections::BTreeSet;

use super::{
    census::{CensusRequest, CensusSample},
    cluster::ClusterFacts,
    condition::{ConditionRequest, ConditionSample},
    id::EntryId,
    model::{ConsumerFacts, GroupFacts, PendingRow, PendingSummary, ServerFacts, StreamFacts},
    name::Name,
    time::Mono,
};

pub use super::{
    fault::{Fault, Part},
    page::PageRequest,
};

/// Everything that one tick sends, as one pipeline.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Request {
    pub streams: Vec<StreamRequest>,
    /// A step of discovery, if one is due.
    pub scan: Option<ScanRequest>,
    /// Whether to ask for the names of open connections.
    pub clients: bool,
    /// Whether to ask for role and replication link again.
    pub server: bool,
    /// What to ask about the server's condition, if it is due.
    pub condition: Option<ConditionRequest>,
    /// The PEL to walk between the ticks, if any.
    pub census: Option<CensusRequest>,
}

/// XINFO STREAM and XINFO GROUPS of one stream, and what its groups in focus need.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StreamRequest {
    pub key: Name,
    /// Whether to ask for XINFO STREAM. The reply contains two payloads: where those are large, it is asked for rarely.
    pub facts: bool,
    /// Whether to ask for the time to live.
    pub ttl: bool,
    /// Groups that need more than XINFO GROUPS.
    pub groups: Vec<GroupRequest>,
    /// Parts of the stream to fetch the ids of. Payloads come with them, so counts are small.
    pub ranges: Vec<RangeRequest>,
}

/// Details of one group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupRequest {
    pub name: Name,
    /// Whether to ask for XINFO CONSUMERS.
    pub consumers: bool,
    /// Whether to ask for XPENDING's short form.
    pub summary: bool,
    /// Pages of the extended XPENDING.
    pub pages: Vec<PageRequest>,
}

/// XRANGE or XREVRANGE with a COUNT.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RangeRequest {
    /// Where the range starts, inclusive.
    pub from: EntryId,
    /// At most this many entries.
    pub count: usize,
    /// Towards smaller ids (XREVRANGE).
    pub backward: bool,
}

/// One bounded step of SCAN.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScanRequest {
    /// Where the last step ended; an opaque text, "0" at the start.
    pub cursor: String,
    /// Glob for MATCH, bytes as typed; `None` for all.
    pub pattern: Option<Name>,
    /// How many steps may be taken in a row, each with a COUNT of 1,000.
    pub steps: usize,
}

/// What one tick brought.
#[derive(Clone, Debug, Default)]
pub struct Sample {
    /// When the reply was complete.
    pub at: Mono,
    /// The server's clock, milliseconds since 1970, where TIME is allowed.
    pub time_ms: Option<i64>,
    /// One for each stream asked for, in that order. In a cluster: only those that were answered, or never will be.
    pub streams: Vec<StreamSample>,
    /// How many more streams of this tick follow, so that a key does not wait until all of them are folded.
    pub later: usize,
    /// What the step of discovery found.
    pub scan: Option<ScanSample>,
    /// The server; present after each (re)connect and whenever it was asked for.
    pub server: Option<ServerFacts>,
    /// The condition of the servers that were asked about it.
    pub conditions: Vec<ConditionSample>,
    /// Names of open connections, if they were asked for; the inner `None` means that this is forbidden.
    pub client_names: Option<Option<BTreeSet<Name>>>,
    /// The progress of the census that was asked for.
    pub census: Option<Box<CensusSample>>,
    /// Commands refused for lack of permission, as `XINFO GROUPS`.
    pub denied: Vec<&'static str>,
    pub cost: Cost,
    /// What the census cost since the last tick; not part of `cost`.
    pub walked: Cost,
    /// The cluster's nodes, if all of them are watched.
    pub cluster: Option<ClusterFacts>,
    /// Where the server is, after each connection to one that sentinels named.
    pub reached: Option<Reached>,
}

/// A server that was looked for, once it was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reached {
    /// Its address in words without secrets.
    pub endpoint: String,
    /// redis-cli's flags for it.
    pub cli_words: String,
}

/// The node of a cluster that sent a stream's sample, and when it answered: nodes answer at different times.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// `host:port` as the cluster names it.
    pub node: String,
    /// When its reply was complete.
    pub at: Mono,
}

#[derive(Clone, Debug)]
pub struct StreamSample {
    pub key: Name,
    pub facts: Part<StreamFacts>,
    pub groups: Part<Vec<GroupFacts>>,
    /// Whether all replies about this stream come from one moment (MULTI), so that they can be compared.
    pub consistent: bool,
    /// Milliseconds that the key has left to live, if that was asked for; the inner `None` means for ever.
    pub ttl_ms: Option<Part<Option<i64>>>,
    /// The ranges that were asked for.
    pub ranges: Vec<(RangeRequest, Part<RangeIds>)>,
    /// The groups that were asked for.
    pub details: Vec<GroupDetail>,
    /// The node of a cluster that answered, or should have; `None` if there is only one server.
    pub origin: Option<Origin>,
}

/// Ids of a range, ascending whichever way they were asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RangeIds {
    pub ids: Vec<EntryId>,
    /// The size of the reply in bytes, payloads included.
    pub bytes: u64,
}

/// Details of one group; `None` means not asked for.
#[derive(Clone, Debug, Default)]
pub struct GroupDetail {
    pub name: Name,
    pub consumers: Option<Part<Vec<ConsumerFacts>>>,
    /// XPENDING's short form.
    pub summary: Option<Part<PendingSummary>>,
    /// Pages of XPENDING, each with its request.
    pub pages: Vec<(PageRequest, Part<Vec<PendingRow>>)>,
}

/// What a step of SCAN found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScanSample {
    /// Streams found; SCAN may give one twice.
    pub keys: Vec<Name>,
    /// Where to continue; "0" when the pass is complete.
    pub cursor: String,
    /// Why SCAN failed. If it is refused, streams must be named.
    pub fault: Option<Fault>,
}

/// What watching costs the server and the network.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    pub commands: u64,
    /// Waits for the server.
    pub round_trips: u64,
    pub bytes_in: u64,
    /// The longest wait for a pipeline.
    pub slowest_reply_us: u64,
    /// In bytes.
    pub largest_reply: u64,
    /// What the server spent, by its own clock: the difference between a TIME before and a TIME after each pipeline (within 10 % of its
    /// own command statistics, 6.0 to 9.1). Work for other clients in between is included, so the number errs on the high side. `None`
    /// where TIME is refused.
    pub server_us: Option<u64>,
}

impl Cost {
    pub fn add(&mut self, other: Self) {
        self.commands = self.commands.saturating_add(other.commands);
        self.round_trips = self.round_trips.saturating_add(other.round_trips);
        self.bytes_in = self.bytes_in.saturating_add(other.bytes_in);
        self.slowest_reply_us = self.slowest_reply_us.max(other.slowest_reply_us);
        self.largest_reply = self.largest_reply.max(other.largest_reply);
        self.server_us = self.server_us.into_iter().chain(other.server_us).reduce(u64::saturating_add);
    }
}

/// Field and value of an entry, byte for byte.
pub type Field = (Vec<u8>, Vec<u8>);

/// One entry, fetched because somebody wants to read it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntryPayload {
    pub key: Name,
    pub id: EntryId,
    /// Its fields in order, or `None` when the entry is no longer in the stream.
    pub fields: Part<Option<Vec<Field>>>,
}
