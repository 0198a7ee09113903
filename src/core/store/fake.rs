#![allow(clippy::unwrap_used, clippy::expect_used)]
//! A server as the core sees it: it answers requests from a model of one stream `k`, all of them at one moment.

use super::{Focus, Reading, Settings, Store};
use crate::core::{
    census::{Answer, CensusSample, Step, Walk},
    id::EntryId,
    known::Known,
    model::{ConsumerFacts, GroupFacts, PendingRow, PendingSummary, StreamFacts},
    name::Name,
    sample::{Fault, GroupDetail, GroupRequest, PageRequest, RangeIds, RangeRequest, Request, Sample, StreamSample},
    symptoms::Verdicts,
    time::{Mono, Now},
};
use std::collections::{BTreeMap, BTreeSet};

pub(super) fn key() -> Name {
    Name::from("k")
}

pub(super) fn id(ms: u64) -> EntryId {
    EntryId::new(ms, 0)
}

#[derive(Clone, Debug, Default)]
pub(super) struct FakeGroup {
    pub cursor: EntryId,
    /// Pending entries: owner, deliveries, time of the last delivery.
    pub pel: BTreeMap<EntryId, (Name, i64, u64)>,
    pub consumers: BTreeSet<Name>,
    pub read: Option<i64>,
    pub lag: Option<i64>,
}

#[derive(Clone, Debug)]
pub(super) struct Fake {
    pub entries: BTreeSet<EntryId>,
    pub added: i64,
    pub last: u64,
    pub max_deleted: EntryId,
    pub groups: BTreeMap<Name, FakeGroup>,
    /// Bytes of each entry in a reply.
    pub entry_bytes: u64,
    /// Whether it counts additions, as servers do from 7.0 on.
    pub counts: bool,
    /// Milliseconds since each consumer was seen, whenever it is asked; 0 for consumers that are not in the map.
    pub idle: BTreeMap<Name, i64>,
    /// The key does not exist.
    pub missing: bool,
    pub now: Mono,
    /// All requests so far.
    pub asked: Vec<Request>,
    /// The current census, and how many steps it takes between two ticks.
    pub walk: Option<Walk>,
    pub census_steps: usize,
    /// What the checks say after each tick.
    pub verdicts: Verdicts,
}

impl Fake {
    pub(super) fn new() -> Self {
        Self {
            entries: BTreeSet::new(),
            added: 0,
            last: 0,
            max_deleted: EntryId::MIN,
            groups: BTreeMap::new(),
            entry_bytes: 50,
            counts: true,
            idle: BTreeMap::new(),
            missing: false,
            now: Mono(0),
            asked: Vec::new(),
            walk: None,
            census_steps: 5,
            verdicts: Verdicts::default(),
        }
    }

    /// A stream of `length` entries, and the group `g` with its cursor at `cursor`.
    pub(super) fn with(length: u64, cursor: u64) -> Self {
        let mut fake = Self::new();
        fake.add(length);
        fake.group("g").cursor = id(cursor);
        fake
    }

    pub(super) fn group(&mut self, name: &str) -> &mut FakeGroup {
        self.groups.entry(Name::from(name)).or_default()
    }

    pub(super) fn add(&mut self, count: u64) {
        for _ in 0..count {
            self.last += 1;
            self.entries.insert(id(self.last));
            self.added += 1;
        }
    }

    pub(super) fn delete(&mut self, which: EntryId) {
        if self.entries.remove(&which) {
            self.max_deleted = self.max_deleted.max(which);
        }
    }

    pub(super) fn trim(&mut self, keep: usize) {
        while self.entries.len() > keep {
            self.entries.pop_first();
        }
    }

    /// Delivers up to `count` new entries of `group` to `consumer`.
    pub(super) fn read(&mut self, group: &str, consumer: &str, count: usize) {
        let now = self.now.0;
        let (entries, consumer) = (self.entries.clone(), Name::from(consumer));
        let group = self.group(group);
        group.consumers.insert(consumer.clone());
        let Some(after) = group.cursor.next() else { return };
        for id in entries.range(after..).take(count) {
            group.cursor = *id;
            group.pel.insert(*id, (consumer.clone(), 1, now));
        }
    }

    pub(super) fn ack(&mut self, group: &str, which: EntryId) {
        self.group(group).pel.remove(&which);
    }

    pub(super) fn facts(&self) -> StreamFacts {
        let counted = |n| if self.counts { Known::Is(n) } else { Known::Unsupported };
        StreamFacts {
            length: self.entries.len() as i64,
            first: self.entries.first().copied(),
            last: self.entries.last().copied(),
            last_generated: id(self.last),
            entries_added: counted(self.added),
            max_deleted: if self.counts { Known::Is(self.max_deleted) } else { Known::Unsupported },
            reply_bytes: 300 + 2 * self.entry_bytes,
            ..StreamFacts::empty()
        }
    }

    fn group_facts(&self, name: &Name, group: &FakeGroup) -> GroupFacts {
        let counter = |n: Option<i64>| match (self.counts, n) {
            (false, _) => Known::Unsupported,
            (true, None) => Known::Undetermined,
            (true, Some(n)) => Known::Is(n),
        };
        GroupFacts {
            consumers: Known::Is(group.consumers.len() as i64),
            pending: Known::Is(group.pel.len() as i64),
            cursor: group.cursor,
            entries_read: counter(group.read),
            reported_lag: counter(group.lag),
            ..GroupFacts::fresh(name.clone())
        }
    }

    fn range(&self, range: &RangeRequest) -> RangeIds {
        let mut ids: Vec<EntryId> = if range.backward {
            self.entries.range(..=range.from).rev().take(range.count).copied().collect()
        } else {
            self.entries.range(range.from..).take(range.count).copied().collect()
        };
        ids.sort_unstable();
        RangeIds { bytes: ids.len() as u64 * self.entry_bytes, ids }
    }

    fn page(&self, group: &FakeGroup, page: &PageRequest) -> Vec<PendingRow> {
        let rows = group.pel.range(page.from..=page.to);
        rows.filter(|(_, (owner, ..))| page.consumer.as_ref().is_none_or(|name| name == owner))
            .take(page.count)
            .map(|(id, (owner, deliveries, at))| PendingRow {
                id: *id,
                owner: Some(owner.clone()),
                idle_ms: Some(self.now.since(Mono(*at)) as i64),
                deliveries: *deliveries,
            })
            .collect()
    }

    fn detail(&self, asked: &GroupRequest) -> GroupDetail {
        let mut detail = GroupDetail { name: asked.name.clone(), ..GroupDetail::default() };
        let Some(group) = self.groups.get(&asked.name) else {
            detail.consumers = asked.consumers.then_some(Err(Fault::NoGroup));
            detail.summary = asked.summary.then_some(Err(Fault::NoGroup));
            detail.pages = asked.pages.iter().map(|page| (page.clone(), Err(Fault::NoGroup))).collect();
            return detail;
        };
        let held = |name: &Name| group.pel.values().filter(|(owner, ..)| owner == name).count() as i64;
        detail.consumers = asked.consumers.then(|| {
            let list = group.consumers.iter().map(|name| ConsumerFacts {
                pending: held(name),
                idle_ms: self.idle.get(name).copied().unwrap_or(0),
                inactive_ms: Known::Is(0),
                ..ConsumerFacts::fresh(name.clone())
            });
            Ok(list.collect())
        });
        detail.summary = asked.summary.then(|| {
            let holders =
                group.consumers.iter().map(|name| (name.clone(), held(name))).filter(|(_, held)| *held > 0).collect();
            Ok(PendingSummary { total: group.pel.len() as i64, holders })
        });
        detail.pages = asked.pages.iter().map(|page| (page.clone(), Ok(self.page(group, page)))).collect();
        detail
    }

    pub(super) fn answer(&mut self, request: &Request) -> Sample {
        self.asked.push(request.clone());
        let streams = request.streams.iter().map(|asked| {
            if self.missing || asked.key != key() {
                return StreamSample {
                    facts: Err(Fault::Missing),
                    groups: Err(Fault::Missing),
                    ..StreamSample::unasked(asked.key.clone())
                };
            }
            StreamSample {
                facts: if asked.facts { Ok(self.facts()) } else { Err(Fault::Unasked) },
                groups: Ok(self.groups.iter().map(|(name, group)| self.group_facts(name, group)).collect()),
                ranges: asked.ranges.iter().map(|range| (*range, Ok(self.range(range)))).collect(),
                details: asked.groups.iter().map(|group| self.detail(group)).collect(),
                ..StreamSample::unasked(asked.key.clone())
            }
        });
        let streams = streams.collect();
        Sample { at: self.now, streams, census: self.census(request), ..Sample::default() }
    }

    /// What a walker reports between the ticks; all its steps happen at this moment.
    fn census(&mut self, request: &Request) -> Option<Box<CensusSample>> {
        let Some(asked) = &request.census else {
            self.walk = None;
            return None;
        };
        if !self.walk.as_mut().is_some_and(|walk| walk.follow(asked)) {
            self.walk = Some(Walk::new(asked.clone(), self.now));
        }
        let mut walk = self.walk.take()?;
        for _ in 0..self.census_steps {
            let Some(step) = walk.next(self.now) else { break };
            let group = self.groups.get(&asked.group);
            let answer = match (&step, group) {
                (Step::Page(_), None) => Answer::Page(Err(Fault::NoGroup)),
                (Step::Page(page), Some(group)) => Answer::Page(Ok(self.page(group, page))),
                (Step::Older(_), _) => Answer::Page(Err(Fault::Other("not asked of this server".to_owned()))),
                (Step::Look(ids), _) => Answer::There(ids.iter().map(|id| Some(self.entries.contains(id))).collect()),
                (Step::Confirm(ids), _) => {
                    let pending = |id| group.is_some_and(|group| group.pel.contains_key(id));
                    Answer::There(ids.iter().map(|id| Some(pending(id))).collect())
                }
            };
            walk.take(&step, answer, 500, self.now);
        }
        let sample = walk.sample();
        self.walk = Some(walk);
        Some(Box::new(sample))
    }

    /// One tick of a watcher, a second after the last.
    pub(super) fn tick(&mut self, store: &mut Store, focus: &Focus) {
        self.now = Mono(self.now.0 + 1000);
        self.round(store, focus, false);
    }

    fn round(&mut self, store: &mut Store, focus: &Focus, full: bool) {
        let request = store.next_request(focus, self.now);
        let sample = self.answer(&request);
        let now = Now { mono: self.now, wall_ms: 0 };
        store.fold(sample, now, if full { Reading::Full } else { Reading::Tick });
        self.verdicts.judge(store, now);
    }

    /// A full reading: how many rounds it took; `None` if it never ended.
    pub(super) fn read_fully(&mut self, store: &mut Store) -> Option<usize> {
        self.now = Mono(self.now.0 + 1000);
        store.begin_reading(self.now);
        (1..=64).find(|round| {
            self.round(store, &Focus::All, true);
            !store.wants_more(*round)
        })
    }
}

/// A watcher of the stream `k`.
pub(super) fn store() -> Store {
    Store::new(Settings { keys: vec![key()], ..Settings::default() })
}

pub(super) fn on_screen(group: &str) -> Focus {
    Focus::Group { key: key(), group: Name::from(group), open: Vec::new(), strip_at: None }
}

pub(super) fn events(store: &Store) -> Vec<&'static str> {
    store.events.iter().map(|event| event.id).collect()
}
