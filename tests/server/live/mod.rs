//! Watches a real server as the program does, beside the truth from plain commands.

mod truth;

use std::collections::HashMap;

use pelwatch::{
    clock::Clock,
    core::{
        id::EntryId,
        name::Name,
        store::{Focus, GroupState, Reading, Settings, Store, StreamState},
        time::Mono,
    },
    source::{Link, Source, Target, Walker, target::Parts},
    tasks::FullReading,
};
use redis::{FromRedisValue, Value};
use tokio::runtime::{Builder, Runtime};

use pelwatch::testing::TestServer;
pub use truth::{Truth, judge};

/// How closely a watcher looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Depth {
    /// The overview: no group in focus, nothing is counted.
    Overview,
    /// The group `g` on the screen.
    Group,
    /// A full reading, as `once` makes it.
    Full,
}

pub const DEPTHS: [Depth; 3] = [Depth::Overview, Depth::Group, Depth::Full];

/// A connection of pelwatch, and the runtime that it needs.
pub struct Eye {
    runtime: Runtime,
    pub link: Link,
    clock: Clock,
}

impl Eye {
    pub fn on(server: &TestServer) -> Self {
        let runtime = Builder::new_current_thread().enable_all().build().unwrap();
        let clock = Clock::start();
        let parts = Parts { socket: Some(server.socket()), ..Parts::default() };
        let target = Target::new(parts).unwrap();
        let link = runtime.block_on(Link::connect(&target, clock)).unwrap();
        Self { runtime, link, clock }
    }
}

/// A watcher of the stream `k` that remembers what it saw.
pub struct Watcher {
    pub depth: Depth,
    reading: FullReading,
    clock: Clock,
    walker: Walker,
    /// How many samples the last look took.
    pub rounds: u64,
}

impl Watcher {
    pub fn new(depth: Depth, eye: &Eye) -> Self {
        let settings = Settings { keys: vec![Name::from("k")], ..Settings::default() };
        Self {
            depth,
            reading: FullReading::new(settings, eye.clock),
            clock: eye.clock,
            walker: Walker::default(),
            rounds: 0,
        }
    }

    pub fn store(&self) -> &Store {
        &self.reading.watch.store
    }

    pub fn group(&self, name: &str) -> Option<(&StreamState, &GroupState)> {
        self.store().group(&Name::from("k"), &Name::from(name))
    }

    /// One look: a full reading, or one tick of the screen.
    pub fn look(&mut self, eye: &mut Eye) {
        let before = self.store().ticks;
        let focus = match self.depth {
            Depth::Full => {
                eye.runtime.block_on(self.reading.once(&mut eye.link)).unwrap();
                self.rounds = self.store().ticks - before;
                return;
            }
            Depth::Overview => Focus::None,
            Depth::Group => {
                Focus::Group { key: Name::from("k"), group: Name::from("g"), open: Vec::new(), strip_at: None }
            }
        };
        let request = self.store().next_request(&focus, self.clock.mono());
        let mut sample = eye.runtime.block_on(eye.link.sample(&request)).unwrap();
        self.walker.follow(request.census.as_ref(), self.clock);
        self.walker.report(&mut sample);
        let now = self.clock.now();
        self.reading.watch.take(sample, now, Reading::Tick);
        self.rounds = 1;
    }

    /// One step of the census that the last look requested, without the pause after it; false if there is no step to take.
    pub fn step(&mut self, eye: &mut Eye) -> bool {
        let wanted = self.walker.due().is_some();
        eye.runtime.block_on(self.walker.step(&mut eye.link, self.clock)).unwrap();
        wanted
    }

    /// The present time on this watcher's clock.
    pub fn now(&self) -> Mono {
        self.clock.mono()
    }
}

/// The fields of one element of XINFO GROUPS, as plain values.
pub type Fields = HashMap<String, Value>;

/// The server's fields of the group; `None` if there is no such group or key.
pub fn group_fields(server: &TestServer, group: &str) -> Option<Fields> {
    let reply = server.try_command(&[b"XINFO", b"GROUPS", b"k"]).ok()?;
    let groups = Vec::<Fields>::from_redis_value(reply).unwrap();
    groups.into_iter().find(|fields| fields["name"] == Value::BulkString(group.as_bytes().to_vec()))
}

/// A number from such fields; `None` for nil or a missing field.
pub fn number(fields: &Fields, name: &str) -> Option<i64> {
    match fields.get(name)? {
        Value::Int(n) => Some(*n),
        _ => None,
    }
}

/// An id from such fields.
pub fn id(fields: &Fields, name: &str) -> EntryId {
    let Value::BulkString(text) = &fields[name] else { panic!("{name} is no text") };
    EntryId::parse(text).unwrap()
}

/// Ids of all entries, ascending.
pub fn entries(server: &TestServer) -> Vec<EntryId> {
    ids(&server.run("XRANGE k - +"))
}

/// The first column of a list of rows.
pub fn ids(rows: &Value) -> Vec<EntryId> {
    let Value::Array(rows) = rows else { panic!("not a list: {rows:?}") };
    rows.iter()
        .map(|row| match row {
            Value::Array(row) => match &row[0] {
                Value::BulkString(text) => EntryId::parse(text).unwrap(),
                other => panic!("not an id: {other:?}"),
            },
            other => panic!("not a row: {other:?}"),
        })
        .collect()
}
