#![allow(clippy::unwrap_used, clippy::expect_used)]
//! One stream `k` that tests change step by step. What it answers comes from `testing::world`.

use super::{Focus, Reading, Settings, Store};
use crate::{
    core::{
        census::{CensusSample, Walk},
        id::EntryId,
        known::Known,
        name::Name,
        sample::{Fault, Request, Sample},
        symptoms::Verdicts,
        time::{Mono, Now},
    },
    testing::world::{Held, Worker, World},
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

    /// The same as plain values, which answer the requests.
    fn world(&self) -> World {
        let mut world = World { tells_inactive: true, census_steps: self.census_steps, ..World::default() };
        let counted = |n: Option<i64>| match (self.counts, n) {
            (false, _) => Known::Unsupported,
            (true, None) => Known::Undetermined,
            (true, Some(n)) => Known::Is(n),
        };
        let stream = world.stream(key(), self.entries.iter().copied());
        stream.last_generated = id(self.last);
        stream.added = counted(Some(self.added));
        stream.max_deleted = if self.counts { Known::Is(self.max_deleted) } else { Known::Unsupported };
        stream.entry_bytes = self.entry_bytes;
        stream.fault = self.missing.then_some(Fault::Missing);
        let now = self.now.0 as i64;
        for (name, fake) in &self.groups {
            let group = stream.group(name.clone(), "0-0");
            group.cursor = fake.cursor;
            (group.read, group.lag) = (Some(counted(fake.read)), Some(counted(fake.lag)));
            for name in &fake.consumers {
                let idle = self.idle.get(name).copied().unwrap_or(0);
                group.consumers.push(Worker { name: name.clone(), seen: now - idle, got: Some(now) });
            }
            for (id, (owner, count, delivered)) in &fake.pel {
                let held = Held { owner: Some(owner.clone()), delivered: *delivered as i64, count: *count };
                group.pending.insert(*id, held);
            }
        }
        world
    }

    pub(super) fn answer(&mut self, request: &Request) -> Sample {
        self.asked.push(request.clone());
        let world = self.world();
        let streams = world.answer(request, self.now).streams;
        Sample { at: self.now, streams, census: self.census(&world, request), ..Sample::default() }
    }

    /// What a walker reports between the ticks; it goes on where it was in the tick before.
    fn census(&mut self, world: &World, request: &Request) -> Option<Box<CensusSample>> {
        let Some(asked) = &request.census else {
            self.walk = None;
            return None;
        };
        if !self.walk.as_mut().is_some_and(|walk| walk.follow(asked)) {
            self.walk = Some(Walk::new(asked.clone(), self.now));
        }
        let walk = self.walk.as_mut()?;
        world.walk_on(walk, asked, self.now);
        Some(Box::new(walk.sample()))
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
        self.verdicts.judge(store, now, Reading::Tick);
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

/// A stream of ten entries, of which its group read six, watched for a tick.
pub(super) fn watched() -> (Fake, Store) {
    let mut fake = Fake::with(10, 0);
    fake.read("g", "c", 6);
    fake.group("g").read = Some(6);
    let mut store = store();
    fake.tick(&mut store, &on_screen("g"));
    fake.tick(&mut store, &on_screen("g"));
    (fake, store)
}

pub(super) fn on_screen(group: &str) -> Focus {
    Focus::Group { key: key(), group: Name::from(group), open: Vec::new(), strip_at: None }
}

pub(super) fn events(store: &Store) -> Vec<&'static str> {
    store.events.iter().map(|event| event.id).collect()
}
