//! Ten minutes of healthy work on every server found, with the test's own clock: no finding may appear.

use crate::paced::Paced;
use pelwatch::{
    core::{
        name::Name,
        store::{Focus, Settings},
        symptoms::Level,
    },
    testing::{TestServer, each_server},
};
use redis::{FromRedisValue, Value};

const SECONDS: u64 = 600;

/// The ids that XREADGROUP returned.
fn given(reply: Value) -> Vec<String> {
    let Value::Array(streams) = reply else { return Vec::new() };
    let Value::Array(parts) = &streams[0] else { panic!("not a stream: {streams:?}") };
    let Value::Array(entries) = &parts[1] else { panic!("not entries: {parts:?}") };
    let id = |entry: &Value| match entry {
        Value::Array(entry) => String::from_redis_value(entry[0].clone()).unwrap(),
        other => panic!("not an entry: {other:?}"),
    };
    entries.iter().map(id).collect()
}

/// One worker: the entries that it received and has not acknowledged yet.
struct Worker {
    key: &'static str,
    group: &'static str,
    name: &'static str,
    /// How many entries it takes at a time.
    batch: usize,
    /// It acknowledges every this many seconds.
    every: u64,
    in_hand: Vec<String>,
}

impl Worker {
    fn new(key: &'static str, group: &'static str, name: &'static str, batch: usize, every: u64) -> Self {
        Self { key, group, name, batch, every, in_hand: Vec::new() }
    }

    fn work(&mut self, server: &TestServer, second: u64) {
        let Self { key, group, name, batch, .. } = *self;
        let read = format!("XREADGROUP GROUP {group} {name} COUNT {batch} STREAMS {key} >");
        self.in_hand.extend(given(server.run(&read)));
        if second.is_multiple_of(self.every) {
            for id in self.in_hand.drain(..) {
                server.run(&format!("XACK {key} {group} {id}"));
            }
        }
    }
}

#[test]
fn ten_healthy_minutes_raise_no_alarm() {
    each_server(|server, found| {
        for (key, group) in
            [("busy", "a"), ("busy", "b"), ("bursty", "a"), ("quiet", "a"), ("slow", "a"), ("capped", "a")]
        {
            server.run(&format!("XGROUP CREATE {key} {group} 0 MKSTREAM"));
        }
        let mut workers = [
            Worker::new("busy", "a", "w1", 10, 1),
            Worker::new("busy", "a", "w2", 10, 1),
            // acknowledges in batches
            Worker::new("busy", "b", "w1", 30, 5),
            Worker::new("bursty", "a", "w1", 20, 1),
            Worker::new("quiet", "a", "w1", 10, 1),
            // jobs of half a minute
            Worker::new("slow", "a", "w1", 1, 30),
            Worker::new("capped", "a", "w1", 40, 1),
        ];
        let mut watcher = Paced::on(server, Settings::default());
        let focus = Focus::Group { key: Name::from("busy"), group: Name::from("b"), open: Vec::new(), strip_at: None };
        let mut id = 0;
        let mut add = |key: &str, count: u64, cap: &str| {
            for _ in 0..count {
                id += 1;
                server.run(&format!("XADD {key} {cap} {id}-1 f v"));
            }
        };
        for second in 1..=SECONDS {
            add("busy", 10, "");
            add("bursty", if second.is_multiple_of(10) { 60 } else { 0 }, "");
            add("quiet", u64::from(second.is_multiple_of(120)), "");
            add("slow", u64::from(second.is_multiple_of(30)), "");
            add("capped", 20, "MAXLEN 200");
            for worker in &mut workers {
                worker.work(server, second);
            }
            watcher.tick(&focus);
            let loud: Vec<String> = watcher
                .findings()
                .into_iter()
                .filter(|finding| finding.level > Level::Info)
                .map(|finding| format!("{}: {}", finding.id, finding.text))
                .collect();
            assert!(loud.is_empty(), "on {found} in second {second}: {loud:#?}");
        }
        assert!(watcher.watch.store.events.is_empty(), "{:?}", watcher.watch.store.events);
        let added = watcher
            .watch
            .store
            .streams
            .values()
            .filter_map(|stream| stream.facts.value.as_ref())
            .map(|facts| facts.length)
            .sum::<i64>();
        assert!(added > 6000, "the workload ran: {added}");
    });
}
