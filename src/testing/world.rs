//! An invented server: streams, groups and consumers as plain values, and the answers to what pelwatch asks for.

use crate::core::{
    census::{Answer, CensusRequest, CensusSample, Step, Walk},
    cluster::ClusterFacts,
    condition::{ConditionRequest, ConditionSample},
    id::EntryId,
    known::Known,
    model::{ConsumerFacts, GroupFacts, PendingRow, PendingSummary, ServerFacts, StreamFacts},
    name::Name,
    sample::{
        Cost, Fault, GroupDetail, GroupRequest, PageRequest, Part, RangeIds, RangeRequest, Request, Sample, ScanSample,
        StreamRequest, StreamSample,
    },
    time::Mono,
};
use std::collections::{BTreeMap, BTreeSet};

/// Half past noon on the last day of November 2025, in milliseconds since 1970. At the start of every scene, the server's clock and this
/// machine's show this time.
pub const START_MS: i64 = 1_764_504_247_000;

/// An id from its text.
pub fn id(text: &str) -> EntryId {
    EntryId::parse(text.as_bytes()).expect("an id")
}

/// What one step of a census costs, in microseconds of the server's time.
const STEP_US: u64 = 50;

#[derive(Clone, Debug, Default)]
pub struct World {
    pub server: ServerFacts,
    /// Streams, and keys that are not streams.
    pub streams: BTreeMap<Name, Stream>,
    /// What SCAN answers instead of keys.
    pub scan_fault: Option<Fault>,
    /// The cluster's nodes, if all of them are watched.
    pub cluster: Option<ClusterFacts>,
    /// Whether consumers report since when they got nothing (7.2+).
    pub tells_inactive: bool,
    /// How many steps a census takes.
    pub census_steps: usize,
    /// What INFO and CONFIG say, of each node; a server in good order where it is empty.
    pub conditions: Vec<ConditionSample>,
}

/// A stream, or what its key answers instead.
#[derive(Clone, Debug)]
pub struct Stream {
    pub ids: BTreeSet<EntryId>,
    pub last_generated: EntryId,
    pub added: Known<i64>,
    pub max_deleted: Known<EntryId>,
    pub groups: BTreeMap<Name, Group>,
    pub fault: Option<Fault>,
    pub groups_fault: Option<Fault>,
    /// Bytes of each entry in a reply.
    pub entry_bytes: u64,
    /// When the key ends on the scene's clock, in milliseconds.
    pub ends: Option<i64>,
    /// What XINFO STREAM and XRANGE answer instead of the facts and entries.
    pub facts_fault: Option<Fault>,
    pub range_fault: Option<Fault>,
}

#[derive(Clone, Debug)]
pub struct Group {
    pub cursor: EntryId,
    /// entries-read; `None` means the value that agrees with the entries.
    pub read: Option<Known<i64>>,
    /// The server's lag; `None` means the true lag.
    pub lag: Option<Known<i64>>,
    pub consumers: Vec<Worker>,
    pub pending: BTreeMap<EntryId, Held>,
    pub consumers_fault: Option<Fault>,
    pub pending_fault: Option<Fault>,
}

/// A consumer. Times are in milliseconds on the scene's clock; those before its start are negative.
#[derive(Clone, Debug)]
pub struct Worker {
    pub name: Name,
    pub seen: i64,
    /// `None` means that it never got an entry.
    pub got: Option<i64>,
}

/// A pending entry.
#[derive(Clone, Debug)]
pub struct Held {
    /// `None` means released.
    pub owner: Option<Name>,
    pub delivered: i64,
    pub count: i64,
}

impl World {
    pub fn new(flavor: &str, version: &str) -> Self {
        let server = ServerFacts {
            flavor: flavor.into(),
            version: version.into(),
            role: Some("master".into()),
            ..ServerFacts::default()
        };
        let since_7_2 = server.version_numbers().is_some_and(|numbers| numbers >= (7, 2));
        Self { server, tells_inactive: since_7_2, ..Self::default() }
    }

    /// A stream with these entries.
    pub fn stream(&mut self, key: impl Into<Name>, ids: impl IntoIterator<Item = EntryId>) -> &mut Stream {
        let ids: BTreeSet<EntryId> = ids.into_iter().collect();
        let stream = Stream {
            last_generated: ids.last().copied().unwrap_or_default(),
            added: Known::Is(ids.len() as i64),
            max_deleted: Known::Is(EntryId::MIN),
            groups: BTreeMap::new(),
            fault: None,
            groups_fault: None,
            entry_bytes: 40,
            ends: None,
            facts_fault: None,
            range_fault: None,
            ids,
        };
        let key = key.into();
        self.streams.insert(key.clone(), stream);
        self.streams.get_mut(&key).expect("just put there")
    }

    /// A key that answers with a fault.
    pub fn faulty(&mut self, key: &str, fault: Fault) {
        self.stream(key, []).fault = Some(fault);
    }

    /// A group that must exist.
    pub fn group(&mut self, key: &str, group: &str) -> &mut Group {
        self.streams.get_mut(&key.into()).and_then(|stream| stream.groups.get_mut(&group.into())).expect("a group")
    }

    /// The answer to one tick.
    pub fn answer(&self, request: &Request, at: Mono) -> Sample {
        let scan = request.scan.as_ref().map(|_| ScanSample {
            keys: self
                .streams
                .iter()
                .filter(|(_, s)| s.fault != Some(Fault::Missing))
                .map(|(key, _)| key.clone())
                .collect(),
            cursor: "0".into(),
            fault: self.scan_fault.clone(),
        });
        Sample {
            later: 0,
            reached: None,
            client_names: None,
            conditions: self.conditions(request.condition.as_ref()),
            at,
            time_ms: Some(START_MS + at.0 as i64),
            streams: request.streams.iter().map(|wanted| self.stream_sample(wanted, at)).collect(),
            scan,
            server: request.server.then(|| self.server.clone()),
            denied: Vec::new(),
            cluster: self.cluster.clone(),
            walked: Cost::default(),
            census: request.census.as_ref().and_then(|asked| self.census(asked, at)),
            cost: Cost {
                commands: 7,
                round_trips: 1,
                bytes_in: 12_288,
                slowest_reply_us: 512,
                largest_reply: 4096,
                server_us: Some(312),
            },
        }
    }

    fn conditions(&self, request: Option<&ConditionRequest>) -> Vec<ConditionSample> {
        let Some(request) = request else { return Vec::new() };
        let fine = [ConditionSample::fine()];
        let all = if self.conditions.is_empty() { &fine[..] } else { &self.conditions };
        all.iter().map(|one| one.asked(request)).collect()
    }

    /// A census that took `census_steps` steps, all at one moment.
    fn census(&self, asked: &CensusRequest, at: Mono) -> Option<Box<CensusSample>> {
        self.streams.get(&asked.key)?.groups.get(&asked.group)?;
        let mut walk = Walk::new(asked.clone(), at);
        self.walk_on(&mut walk, asked, at);
        Some(Box::new(walk.sample()))
    }

    /// The next `census_steps` steps of a census, all at one moment.
    pub fn walk_on(&self, walk: &mut Walk, asked: &CensusRequest, at: Mono) {
        let stream = self.streams.get(&asked.key);
        let group = stream.and_then(|stream| stream.groups.get(&asked.group));
        let is_there = |id: &EntryId| Some(stream.is_some_and(|stream| stream.ids.contains(id)));
        let is_pending = |id: &EntryId| Some(group.is_some_and(|group| group.pending.contains_key(id)));
        for _ in 0..self.census_steps {
            let Some(step) = walk.next(at) else { break };
            let answer = match &step {
                Step::Page(page) => Answer::Page(group.map_or(Err(Fault::NoGroup), |group| group.page(page, at))),
                Step::Older(_) => Answer::Page(Ok(Vec::new())),
                Step::Look(ids) => Answer::There(ids.iter().map(is_there).collect()),
                Step::Confirm(ids) => Answer::There(ids.iter().map(is_pending).collect()),
            };
            walk.take(&step, answer, STEP_US, at);
        }
    }

    fn stream_sample(&self, wanted: &StreamRequest, at: Mono) -> StreamSample {
        let stream = self.streams.get(&wanted.key);
        let fault = stream.map_or(Some(Fault::Missing), |stream| stream.fault.clone());
        let Some(stream) = stream.filter(|_| fault.is_none()) else {
            let fault = fault.unwrap_or(Fault::Missing);
            return StreamSample {
                facts: Err(fault.clone()),
                groups: Err(fault),
                ..StreamSample::unasked(wanted.key.clone())
            };
        };
        let groups = match &stream.groups_fault {
            Some(fault) => Err(fault.clone()),
            None => Ok(stream.groups.iter().map(|(name, group)| stream.group_facts(name, group)).collect()),
        };
        let detail = |wanted: &GroupRequest| match stream.groups.get(&wanted.name) {
            Some(group) => group.detail(wanted, at, self.tells_inactive),
            None => missing_group(wanted),
        };
        let facts_fault = stream.facts_fault.clone().or((!wanted.facts).then_some(Fault::Unasked));
        StreamSample {
            facts: facts_fault.map_or_else(|| Ok(stream.facts()), Err),
            groups,
            ttl_ms: wanted.ttl.then(|| Ok(stream.ends.map(|ends| (ends - at.0 as i64).max(0)))),
            ranges: wanted
                .ranges
                .iter()
                .map(|range| (*range, stream.range_fault.clone().map_or_else(|| Ok(stream.range(*range)), Err)))
                .collect(),
            details: wanted.groups.iter().map(detail).collect(),
            ..StreamSample::unasked(wanted.key.clone())
        }
    }
}

impl Stream {
    pub fn group(&mut self, name: impl Into<Name>, cursor: &str) -> &mut Group {
        let group = Group {
            cursor: id(cursor),
            read: None,
            lag: None,
            consumers: Vec::new(),
            pending: BTreeMap::new(),
            consumers_fault: None,
            pending_fault: None,
        };
        self.groups.entry(name.into()).or_insert(group)
    }

    /// Adds an entry.
    pub fn add(&mut self, entry: EntryId) {
        self.ids.insert(entry);
        self.last_generated = self.last_generated.max(entry);
        if let Known::Is(added) = &mut self.added {
            *added += 1;
        }
    }

    fn facts(&self) -> StreamFacts {
        StreamFacts {
            length: self.ids.len() as i64,
            first: self.ids.first().copied(),
            last: self.ids.last().copied(),
            last_generated: self.last_generated,
            entries_added: self.added,
            max_deleted: self.max_deleted,
            reply_bytes: 300 + 2 * self.entry_bytes,
            ..StreamFacts::empty()
        }
    }

    fn group_facts(&self, name: &Name, group: &Group) -> GroupFacts {
        let waiting = self.ids.range(group.cursor..).filter(|entry| **entry > group.cursor).count() as i64;
        let read = self.added.value().map_or(Known::Unsupported, |added| Known::Is(added - waiting));
        let lag = if self.added.value().is_some() { Known::Is(waiting) } else { Known::Unsupported };
        GroupFacts {
            consumers: Known::Is(group.consumers.len() as i64),
            pending: Known::Is(group.pending.len() as i64),
            cursor: group.cursor,
            entries_read: group.read.unwrap_or(read),
            reported_lag: group.lag.unwrap_or(lag),
            ..GroupFacts::fresh(name.clone())
        }
    }

    fn range(&self, wanted: RangeRequest) -> RangeIds {
        let mut ids: Vec<EntryId> = if wanted.backward {
            self.ids.range(..=wanted.from).rev().take(wanted.count).copied().collect()
        } else {
            self.ids.range(wanted.from..).take(wanted.count).copied().collect()
        };
        ids.sort_unstable();
        RangeIds { bytes: self.entry_bytes * ids.len() as u64, ids }
    }
}

impl Group {
    /// A consumer that was last seen, and last got an entry, this many milliseconds before the scene begins.
    pub fn consumer(&mut self, name: impl Into<Name>, seen: i64, got: Option<i64>) -> &mut Self {
        self.consumers.push(Worker { name: name.into(), seen: -seen, got: got.map(|ago| -ago) });
        self
    }

    /// A pending entry that was delivered this many milliseconds before the scene begins.
    pub fn holds(&mut self, owner: impl Into<Name>, entry: &str, idle: i64, count: i64) -> &mut Self {
        self.pending.insert(id(entry), Held { owner: Some(owner.into()), delivered: -idle, count });
        self
    }

    /// A pending entry that nobody holds.
    pub fn released(&mut self, entry: &str, count: i64) -> &mut Self {
        self.pending.insert(id(entry), Held { owner: None, delivered: 0, count });
        self
    }

    fn detail(&self, wanted: &GroupRequest, at: Mono, tells_inactive: bool) -> GroupDetail {
        let consumers = || match &self.consumers_fault {
            Some(fault) => Err(fault.clone()),
            None => Ok(self.consumers.iter().map(|worker| self.consumer_facts(worker, at, tells_inactive)).collect()),
        };
        let pages = wanted.pages.iter().map(|page| (page.clone(), self.page(page, at)));
        GroupDetail {
            name: wanted.name.clone(),
            consumers: wanted.consumers.then(consumers),
            summary: wanted.summary.then(|| self.summary()),
            pages: pages.collect(),
        }
    }

    fn consumer_facts(&self, worker: &Worker, at: Mono, tells_inactive: bool) -> ConsumerFacts {
        let pending = self.pending.values().filter(|held| held.owner.as_ref() == Some(&worker.name)).count() as i64;
        let got = worker.got.map(|got| at.0 as i64 - got);
        ConsumerFacts {
            pending,
            idle_ms: at.0 as i64 - worker.seen,
            inactive_ms: if tells_inactive { Known::Is(got.unwrap_or(-1)) } else { Known::Unsupported },
            ..ConsumerFacts::fresh(worker.name.clone())
        }
    }

    fn summary(&self) -> Part<PendingSummary> {
        if let Some(fault) = &self.pending_fault {
            return Err(fault.clone());
        }
        let mut holders: BTreeMap<Name, i64> = BTreeMap::new();
        for owner in self.pending.values().filter_map(|held| held.owner.clone()) {
            *holders.entry(owner).or_default() += 1;
        }
        Ok(PendingSummary { total: self.pending.len() as i64, holders: holders.into_iter().collect() })
    }

    fn page(&self, page: &PageRequest, at: Mono) -> Part<Vec<PendingRow>> {
        if let Some(fault) = &self.pending_fault {
            return Err(fault.clone());
        }
        let wanted = |held: &Held| page.consumer.is_none() || held.owner == page.consumer;
        let rows = self.pending.range(page.from..=page.to).filter(|(_, held)| wanted(held)).take(page.count);
        Ok(rows
            .map(|(entry, held)| PendingRow {
                id: *entry,
                owner: held.owner.clone(),
                idle_ms: held.owner.is_some().then(|| at.0 as i64 - held.delivered),
                deliveries: held.count,
            })
            .collect())
    }
}

fn missing_group(wanted: &GroupRequest) -> GroupDetail {
    GroupDetail {
        name: wanted.name.clone(),
        consumers: wanted.consumers.then_some(Err(Fault::NoGroup)),
        summary: wanted.summary.then_some(Err(Fault::NoGroup)),
        pages: wanted.pages.iter().map(|page| (page.clone(), Err(Fault::NoGroup))).collect(),
    }
}
