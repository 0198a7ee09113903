//! What one tick asks for, and what it brought back: the only words that core and source share.

use std::collections::BTreeSet;

use super::{
    census::{CensusRequest, CensusSample},
    cluster::ClusterFacts,
    id::EntryId,
    model::{ConsumerFacts, GroupFacts, PendingRow, PendingSummary, ServerFacts, StreamFacts},
    name::Name,
    time::Mono,
};

pub use super::{
    fault::{Fault, Part},
    page::PageRequest,
};

/// All that one tick sends, as one pipeline.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Request {
    /// The watched streams.
    pub streams: Vec<StreamRequest>,
    /// A step of discovery, if one is due.
    pub scan: Option<ScanRequest>,
    /// Whether the names of open connections are due to be asked for.
    pub clients: bool,
    /// Whether role and replication link are due to be asked for again.
    pub server: bool,
    /// The PEL to walk between the ticks, if any.
    pub census: Option<CensusRequest>,
}

/// XINFO STREAM and XINFO GROUPS of one stream, and what its groups in focus need.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StreamRequest {
    /// The stream.
    pub key: Name,
    /// XINFO STREAM wanted. It carries two payloads: where those are large, it is asked for rarely.
    pub facts: bool,
    /// Groups of which more than XINFO GROUPS is wanted.
    pub groups: Vec<GroupRequest>,
    /// Parts of the stream of which the ids are wanted (payloads come with them, so counts are small).
    pub ranges: Vec<RangeRequest>,
}

/// Details of one group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupRequest {
    /// The group.
    pub name: Name,
    /// XINFO CONSUMERS wanted.
    pub consumers: bool,
    /// XPENDING's short form wanted.
    pub summary: bool,
    /// Pages of the extended XPENDING.
    pub pages: Vec<PageRequest>,
}

/// XRANGE or XREVRANGE with a COUNT.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RangeRequest {
    /// First id that may come, inclusive.
    pub from: EntryId,
    /// At most so many entries.
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
    /// Steps that may be taken one after the other, each with a COUNT of 1,000.
    pub steps: usize,
}

/// What one tick brought.
#[derive(Clone, Debug, Default)]
pub struct Sample {
    /// When the reply was complete.
    pub at: Mono,
    /// The server's clock, milliseconds since 1970, where TIME is allowed.
    pub time_ms: Option<i64>,
    /// One for each stream asked for, in that order; of a cluster only those that were answered, or never will be.
    pub streams: Vec<StreamSample>,
    /// What the step of discovery found.
    pub scan: Option<ScanSample>,
    /// Who answers; present after a (re)connect and whenever asked for.
    pub server: Option<ServerFacts>,
    /// Names of open connections, if they were asked for; `None` inside where that is forbidden.
    pub client_names: Option<Option<BTreeSet<Name>>>,
    /// How far the census has come that was asked for.
    pub census: Option<Box<CensusSample>>,
    /// Commands refused for lack of permission, as `XINFO GROUPS`.
    pub denied: Vec<&'static str>,
    /// What it cost.
    pub cost: Cost,
    /// What the census has cost since the last tick, beside it.
    pub walked: Cost,
    /// The cluster's nodes, where all of them are watched.
    pub cluster: Option<ClusterFacts>,
}

/// Which node of a cluster a stream's sample comes from, and when it answered: nodes answer at different times.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// `host:port` as the cluster names it.
    pub node: String,
    /// When its reply was complete.
    pub at: Mono,
}

/// One stream in a sample.
#[derive(Clone, Debug)]
pub struct StreamSample {
    /// The stream.
    pub key: Name,
    /// XINFO STREAM.
    pub facts: Part<StreamFacts>,
    /// XINFO GROUPS.
    pub groups: Part<Vec<GroupFacts>>,
    /// Whether all of this stream's replies come from one moment (MULTI), so that they can be set off against
    /// each other.
    pub consistent: bool,
    /// The ranges asked for.
    pub ranges: Vec<(RangeRequest, Part<RangeIds>)>,
    /// The groups asked for.
    pub details: Vec<GroupDetail>,
    /// The node of a cluster that answered, or should have; `None` where there is only one server.
    pub origin: Option<Origin>,
}

/// Ids of a range, in ascending order whichever way they were asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RangeIds {
    /// The ids.
    pub ids: Vec<EntryId>,
    /// What the reply weighed, payloads included, in bytes.
    pub bytes: u64,
}

/// Details of one group in a sample; `None` = not asked for.
#[derive(Clone, Debug, Default)]
pub struct GroupDetail {
    /// The group.
    pub name: Name,
    /// XINFO CONSUMERS.
    pub consumers: Option<Part<Vec<ConsumerFacts>>>,
    /// XPENDING's short form.
    pub summary: Option<Part<PendingSummary>>,
    /// Pages of XPENDING with what was asked.
    pub pages: Vec<(PageRequest, Part<Vec<PendingRow>>)>,
}

/// What a step of SCAN found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScanSample {
    /// Streams found; SCAN may give one twice.
    pub keys: Vec<Name>,
    /// Where to go on; "0" when the pass is complete.
    pub cursor: String,
    /// SCAN is refused: streams must be named.
    pub fault: Option<Fault>,
}

/// What watching costs the server and the line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// Commands sent.
    pub commands: u64,
    /// Waits for the server.
    pub round_trips: u64,
    /// Bytes received.
    pub bytes_in: u64,
    /// The longest wait for a pipeline, in microseconds.
    pub slowest_reply_us: u64,
    /// The largest single reply, in bytes.
    pub largest_reply: u64,
    /// What the server spent on it by its own clock, in microseconds: the difference between a TIME before and a TIME after
    /// each pipeline (within 10 % of its own command statistics, 6.0 to 9.1). What other clients had done in between
    /// is counted too, so it errs on the high side. `None` where TIME is refused.
    pub server_us: Option<u64>,
}

impl Cost {
    /// Adds another tick's cost.
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
    /// The stream.
    pub key: Name,
    /// The entry.
    pub id: EntryId,
    /// Its fields in order, or `None` when the entry is no longer in the stream.
    pub fields: Part<Option<Vec<Field>>>,
}
