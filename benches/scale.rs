//! What 2,000 streams with 3 groups each cost: `cargo bench --bench scale`. Prints numbers; asserts nothing.
#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs)]

use pelwatch::core::{
    id::EntryId,
    known::Known,
    model::{GroupFacts, StreamFacts},
    name::Name,
    sample::{Sample, StreamSample},
    store::{GroupState, Settings, Store},
    time::{Mono, Now},
};
use std::time::{Duration, Instant};

const STREAMS: u64 = 2000;
const GROUPS: u64 = 3;
const SECONDS: u64 = 600;

fn main() {
    // `cargo test --benches` only wants to know that it builds
    if std::env::args().any(|arg| arg == "--test") {
        return;
    }
    for busy in [false, true] {
        ten_minutes(busy);
    }
}

/// Bytes of this process that are in memory.
fn resident() -> usize {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    statm.split(' ').nth(1).and_then(|pages| pages.parse::<usize>().ok()).unwrap_or(0) * 4096
}

fn stream(stream: u64, second: u64, busy: bool) -> StreamSample {
    let n = if busy { 7 * second + stream % 13 * second } else { 0 };
    let now_ms = 1_793_600_000_000 + 1000 * if busy { second } else { 0 };
    let facts = StreamFacts {
        length: 1000,
        first: Some(EntryId::new(now_ms - 1000, 0)),
        last: Some(EntryId::new(now_ms, 0)),
        last_generated: EntryId::new(now_ms, 0),
        entries_added: Known::Is(1000 + n as i64),
        max_deleted: Known::Is(EntryId::MIN),
        groups: GROUPS as i64,
        reply_bytes: 500,
    };
    let groups = (0..GROUPS).map(|group| GroupFacts {
        name: Name::from(format!("workers-{group}").as_str()),
        consumers: 3,
        pending: (group + n % 11) as i64,
        cursor: EntryId::new(now_ms - 10 * group, 0),
        entries_read: Known::Is(1000 + n as i64 - group as i64),
        reported_lag: Known::Is(group as i64),
    });
    StreamSample {
        key: Name::from(format!("orders:{stream:04}").as_str()),
        facts: Ok(facts),
        groups: Ok(groups.collect()),
        consistent: true,
        ranges: Vec::new(),
        details: Vec::new(),
    }
}

/// Every group sampled each second, which is more than the dashboard does.
fn ten_minutes(busy: bool) {
    let before = resident();
    let keys = (0..STREAMS).map(|n| Name::from(format!("orders:{n:04}").as_str())).collect();
    let mut store = Store::new(Settings { keys, ..Settings::default() });
    let mut slowest = Duration::ZERO;
    let mut total = Duration::ZERO;
    for second in 0..SECONDS {
        let mono = Mono(second * 1000);
        let streams = (0..STREAMS).map(|n| stream(n, second, busy)).collect();
        let sample = Sample { at: mono, streams, ..Sample::default() };
        let start = Instant::now();
        store.fold(sample, None, Now { mono, wall_ms: 0 }, false);
        slowest = slowest.max(start.elapsed());
        total += start.elapsed();
    }
    let points: usize = store.groups().map(|(_, group)| group.history.points().len()).sum();
    println!(
        "{} groups, {}, {SECONDS} samples of each: {} MB more in memory; a group takes {} bytes besides {} points; all folded in {:?} a sample, slowest {slowest:?}",
        STREAMS * GROUPS,
        if busy { "all busy" } else { "all quiet" },
        resident().saturating_sub(before) / 1_000_000,
        size_of::<GroupState>(),
        points as u64 / (STREAMS * GROUPS),
        total / SECONDS as u32,
    );
}
