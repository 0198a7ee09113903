//! The state store: everything known, folded from samples. One writer (`fold`), many readers.

mod additions;
mod census;
mod cluster;
mod condition;
mod doubt;
mod duplicates;
mod fold;
mod group;
mod headcount;
mod lost;
mod oldest;
mod own_moves;
mod pel;
mod sightings;
mod sweep;
mod takeover;
mod trims;
mod ttl;
mod vanished;
mod wants;

#[cfg(test)]
mod cluster_tests;
#[cfg(test)]
mod denied_tests;
#[cfg(test)]
mod fake;
#[cfg(test)]
mod fold_tests;
#[cfg(test)]
mod hostile_tests;
#[cfg(test)]
mod judged_tests;
#[cfg(test)]
mod loss_tests;
#[cfg(test)]
mod sweep_tests;
#[cfg(test)]
mod wants_tests;
#[cfg(test)]
mod window_tests;

pub use additions::Additions;
pub use census::Census;
pub use condition::{Condition, Conditions};
pub use duplicates::Duplicates;
pub use fold::Reading;
pub use group::{GroupState, LEAST_GONE_MS, RATE_WINDOW_MS};
pub use headcount::Headcount;
pub use oldest::Oldest;
pub use own_moves::{Given, OwnMoves};
pub use pel::{Extreme, Pel};
pub use sightings::{Redelivery, Sightings};
pub use trims::{Pace, Trims};
pub use ttl::TimeToLive;
pub use wants::{Depth, Focus, MANY_CONSUMERS, MOST_CONSUMERS};

use super::{
    by_name::ByName,
    census::Limits,
    cluster::ClusterFacts,
    event::Event,
    id::EntryId,
    model::{ServerFacts, StreamFacts},
    name::Name,
    observed::{FailedReading, Observed},
    sample::{Cost, Fault, Reached},
    strip::Window,
    time::{Mono, Now},
};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Most events kept.
const EVENTS: usize = 500;
/// Memory for the histories of all groups, in bytes: the more groups there are, the less each remembers.
const HISTORY_BYTES: usize = 24 << 20;

/// What is watched and how closely.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Streams by exact name; each has a row whether it exists or not.
    pub keys: Vec<Name>,
    /// Streams by glob; if there are no `keys` either, all streams.
    pub patterns: Vec<Name>,
    /// Only these groups; empty means all.
    pub groups: Vec<Name>,
    /// Groups that are shown and never judged, as forgotten ones.
    pub ignored: Vec<Name>,
    /// Most rows of a PEL that a full reading fetches.
    pub pel_limit: usize,
    /// A consumer with pending entries is reported as gone after it was unseen for this long, in milliseconds.
    pub gone_after_ms: i64,
    /// Ids of symptoms that are switched off.
    pub quiet: Vec<String>,
    /// What walks over whole PELs in the background may cost; 0 a second means no walks.
    pub census: Limits,
    /// Only these symptoms, by id; empty means all.
    pub only: Vec<String>,
    /// The number of the database that is watched.
    pub database: i64,
}

impl Settings {
    /// Whether nothing is said of this group.
    pub fn ignores(&self, group: &Name) -> bool {
        self.ignored.contains(group)
    }

    /// Whether a symptom may be reported.
    pub fn names(&self, id: &str) -> bool {
        let listed = |ids: &[String]| ids.iter().any(|one| one == id);
        (self.only.is_empty() || listed(&self.only)) && !listed(&self.quiet)
    }
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            keys: Vec::new(),
            patterns: Vec::new(),
            groups: Vec::new(),
            ignored: Vec::new(),
            pel_limit: 1000,
            gone_after_ms: 60_000,
            quiet: Vec::new(),
            census: Limits::default(),
            only: Vec::new(),
            database: 0,
        }
    }
}

/// What a stream's row shows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum RowState {
    /// Not sampled yet.
    #[default]
    Loading,
    /// A stream with facts.
    Ok,
    /// Anything else, as the server reports it.
    Fault(Fault),
}

/// A watched stream.
#[derive(Clone, Debug, Default)]
pub struct StreamState {
    pub key: Name,
    /// Whether the facts are valid.
    pub state: RowState,
    /// XINFO STREAM. It may be refused although XINFO GROUPS is allowed: the groups are then shown without what the stream would add.
    pub facts: Observed<StreamFacts>,
    /// When the server last answered anything about it.
    pub polled: Option<Mono>,
    /// The store's fold that last changed it.
    pub folded: u64,
    /// At the last fold no previous entry was left, on a server that does not count additions.
    emptied: bool,
    /// Facts and groups were read at different moments, so they cannot be compared.
    pub skewed: bool,
    /// Why its entries could not be read the last time.
    pub range_failure: Option<FailedReading>,
    /// Why XINFO GROUPS failed although the stream is there.
    pub groups_fault: Option<Fault>,
    pub groups: ByName<GroupState>,
    /// The fetched ids, around the cursor of the group in focus.
    pub window: Window,
    /// Bytes that an entry takes in a reply, as last seen.
    pub entry_bytes: u64,
    /// How its beginning moved recently.
    pub trims: Trims,
    /// How long the key has left.
    pub ttl: TimeToLive,
    /// How fast entries come in.
    pub additions: Additions,
    /// How often additions were refused as duplicates recently.
    pub duplicates: Duplicates,
    /// The node of the cluster that serves it, if all nodes are watched.
    pub node: Option<String>,
    /// Which start of the server answered last.
    starts: u64,
}

/// Discovery by SCAN.
#[derive(Clone, Debug, Default)]
pub struct Discovery {
    /// Where the current pass stands.
    cursor: String,
    /// The index of the pattern that the pass is at.
    pattern: usize,
    /// Streams found in the current pass.
    found: BTreeSet<Name>,
    /// Whether at least one pass was completed.
    pub complete: bool,
    /// When the last pass was completed, or failed.
    finished: Option<Mono>,
    /// Why the last SCAN failed; only a refusal is permanent.
    pub fault: Option<Fault>,
}

/// Everything known.
#[derive(Clone, Debug, Default)]
pub struct Store {
    pub settings: Settings,
    /// The server, once it answered.
    pub server: ServerFacts,
    /// When the server began to serve in its present role, in milliseconds on the scale of `Mono`: its start, or a change of role.
    serves_since_ms: Option<i64>,
    /// When it started, in milliseconds on the scale of `Mono`.
    server_began_ms: Option<i64>,
    /// Whether the servers take writes, and what their databases hold.
    pub conditions: Conditions,
    /// By key.
    pub streams: BTreeMap<Name, StreamState>,
    /// Events, oldest first.
    pub events: VecDeque<Event>,
    /// Groups that were lost with their stream, in this run.
    pub lost_groups: Option<LostGroups>,
    /// Commands refused for lack of permission.
    pub denied: BTreeSet<&'static str>,
    /// Names of open connections, asked for only while a holder seems gone; `None` before that, or where it is forbidden.
    pub client_names: Option<BTreeSet<Name>>,
    /// When they were asked for.
    clients_asked: Option<Mono>,
    /// Cost of the last tick.
    pub last_cost: Cost,
    /// Cost since the start.
    pub total_cost: Cost,
    /// The number of ticks folded.
    pub ticks: u64,
    /// The number of times that something was folded: the streams of one tick can come in several parts.
    pub folds: u64,
    /// When the last sample was folded.
    pub sampled: Option<Now>,
    /// The server's clock minus `Mono` at the last sample, in milliseconds; `None` where TIME is refused.
    clock_offset_ms: Option<i64>,
    /// The cluster's nodes, if all of them are watched.
    pub cluster: Option<ClusterFacts>,
    /// Where sentinels led to.
    pub reached: Option<Reached>,
    /// How often another server took over, or the server started again.
    starts: u64,
    /// Whether the last of these was another server.
    is_other_server: bool,
    pub discovery: Discovery,
    /// Stream and group of the latest walk over a PEL.
    walked: Option<(Name, Name)>,
    /// When the current full reading began.
    reading_since: Mono,
    /// What a stream costs in a tick.
    share: sweep::Share,
}

/// Groups that were lost together with their stream: the server was emptied, or somebody deleted the key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LostGroups {
    pub groups: i64,
    /// When the last of them was missed, in Unix milliseconds.
    pub at_ms: i64,
}

impl Store {
    pub fn new(settings: Settings) -> Self {
        let mut store = Self { settings, ..Self::default() };
        for key in store.settings.keys.clone() {
            store.watch(key);
        }
        store
    }

    fn watch(&mut self, key: Name) {
        self.streams.entry(key.clone()).or_insert_with(|| StreamState { key, ..StreamState::default() });
    }

    /// The server's clock now, in milliseconds since 1970; this machine's clock where TIME is refused.
    pub fn server_now_ms(&self, now: Now) -> i64 {
        self.clock_offset_ms.map_or(now.wall_ms, |offset| offset.saturating_add(now.mono.0 as i64))
    }

    /// For how long the server has served in its present role, in milliseconds, as far as known.
    pub fn serves_for_ms(&self, now: Now) -> Option<i64> {
        self.serves_since_ms.map(|since| (now.mono.0 as i64).saturating_sub(since))
    }

    /// The server's clock at the last sample; `None` where TIME is refused.
    pub fn server_time_ms(&self) -> Option<i64> {
        let at = self.sampled?.mono.0 as i64;
        self.clock_offset_ms.map(|offset| offset.saturating_add(at))
    }

    pub fn group(&self, key: &Name, group: &Name) -> Option<(&StreamState, &GroupState)> {
        let stream = self.streams.get(key)?;
        Some((stream, stream.groups.get(group)?))
    }

    /// In the order of names.
    pub fn groups(&self) -> impl Iterator<Item = (&StreamState, &GroupState)> {
        self.streams.values().flat_map(|stream| stream.groups.values().map(move |group| (stream, group)))
    }

    /// The time between the last entry and the cursor, in milliseconds, if both ids are plausible times.
    pub fn behind_ms(&self, stream: &StreamState, group: &GroupState, now: Now) -> Option<i64> {
        let now_ms = self.server_now_ms(now);
        let last = stream.facts.value.as_ref()?.last?.plausible_ms(now_ms)?;
        let cursor = group.facts.cursor.plausible_ms(now_ms)?;
        Some(last.saturating_sub(cursor).max(0))
    }

    /// Whether groups with pending entries were not read so far: the first verdict must not wait several intervals for them.
    pub fn has_unread_holders(&self) -> bool {
        !self.is_sliced()
            && self.groups().any(|(stream, group)| {
                stream.is_ok()
                    && group.fault.is_none()
                    && self.wants_group(group.name())
                    && group.facts.pending.exceeds(0)
                    && !group.was_asked()
            })
    }

    fn wants_group(&self, name: &Name) -> bool {
        self.settings.groups.is_empty() || self.settings.groups.contains(name)
    }

    pub(in crate::core) fn tell(&mut self, event: Event) {
        if self.events.len() == EVENTS {
            self.events.pop_front();
        }
        self.events.push_back(event);
    }
}

impl StreamState {
    /// Whether the stream has facts of the last tick.
    pub fn is_ok(&self) -> bool {
        self.state == RowState::Ok
    }

    /// Entries that at least one group has not read; `None` where that is not known. They wait for several groups at once, so the groups'
    /// lags must not be added up.
    pub fn waiting(&self) -> Option<i64> {
        let last = self.facts.value.as_ref()?.last;
        let groups = self.groups.values().filter(|group| last.is_some_and(|last| last > group.facts.cursor));
        groups.map(|group| group.lag.exact()).try_fold(0_i64, |most, lag| Some(most.max(lag?)))
    }

    /// Entries pending in all groups together; `None` where one of the numbers is not known.
    pub fn pending(&self) -> Option<i64> {
        let mut counts = self.groups.values().map(|group| group.facts.pending.value());
        counts.try_fold(0_i64, |sum, count| Some(sum.saturating_add(count?)))
    }

    /// Whether an entry is still in the stream; `None` where that is not known.
    pub fn has_entry(&self, id: EntryId) -> Option<bool> {
        let facts = self.facts.value.as_ref()?;
        // it may have been added after the facts were read
        if self.skewed && id > facts.last_generated { None } else { self.window.has(id, facts) }
    }
}
