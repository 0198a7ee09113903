//! What 2,000 streams with 3 groups each cost: `cargo bench --bench scale`. Prints numbers and asserts nothing.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use pelwatch::{
    core::{
        id::EntryId,
        known::Known,
        model::{GroupFacts, StreamFacts},
        name::Name,
        sample::{Sample, StreamSample},
        store::{GroupState, Reading, Settings, Store},
        time::{Mono, Now},
    },
    demo::PrivateServer,
};
use std::{
    path::Path,
    time::{Duration, Instant},
};

const STREAMS: u64 = 2000;
const GROUPS: u64 = 3;
const SECONDS: u64 = 600;

fn main() {
    // `cargo test --benches` only checks that it builds
    if std::env::args().any(|arg| arg == "--test") {
        return;
    }
    dashboard();
    for busy in [false, true] {
        ten_minutes(busy);
    }
}

/// Calls and microseconds of one command since the last reset, and of all commands except EXEC, which contains others.
fn stats(db: &mut redis::Connection, command: &str) -> (u64, u64) {
    let info: String = redis::cmd("INFO").arg("commandstats").query(db).unwrap();
    let (mut calls, mut usec) = (0, 0);
    for line in info.lines() {
        let Some((name, rest)) = line.strip_prefix("cmdstat_").and_then(|line| line.split_once(':')) else { continue };
        let field = |key: &str| -> u64 {
            let found = rest.split(',').find_map(|pair| pair.strip_prefix(key)?.strip_prefix('='));
            found.and_then(|value| value.parse().ok()).unwrap_or(0)
        };
        if name == command {
            calls = field("calls");
        }
        if !["exec", "info", "config|resetstat", "config"].contains(&name) {
            usec += field("usec");
        }
    }
    (calls, usec)
}

/// The program on a server with this many streams: what a sweep costs the server, and how soon a key shows.
fn dashboard() {
    let server = PrivateServer::start().expect("a server to measure");
    let mut db =
        redis::Client::open(format!("unix://{}", server.socket().display())).unwrap().get_connection().unwrap();
    let script = "local key = KEYS[1]
        for i=1,10 do redis.call('XADD', key, i..'-0', 'payload', '0123456789abcdef0123') end
        for g=1,3 do
            redis.call('XGROUP', 'CREATE', key, 'workers-'..g, '0')
            redis.call('XREADGROUP', 'GROUP', 'workers-'..g, 'c1', 'COUNT', g, 'STREAMS', key, '>')
            redis.call('XREADGROUP', 'GROUP', 'workers-'..g, 'c2', 'COUNT', g, 'STREAMS', key, '>')
        end";
    for n in 0..STREAMS {
        redis::cmd("EVAL").arg(script).arg(1).arg(format!("orders:{n:04}")).exec(&mut db).unwrap();
    }
    let limit = Duration::from_secs(120);
    redis::cmd("CONFIG").arg("RESETSTAT").exec(&mut db).unwrap();
    let start = Instant::now();
    let socket = server.socket().to_str().unwrap().to_owned();
    let mut terminal = pelwatch::testing::pty::Terminal::start(
        Path::new(env!("CARGO_BIN_EXE_pelwatch")),
        &["-s", &socket],
        (200, 60),
        &[],
    );
    while stats(&mut db, "xinfo|groups").0 < STREAMS {
        assert!(start.elapsed() < limit, "not every stream was asked for");
        std::thread::sleep(Duration::from_millis(5));
    }
    println!("{STREAMS} streams with {GROUPS} groups: all read once {:?} after the start", start.elapsed());
    terminal.wait_text("numbers up to", limit);

    redis::cmd("CONFIG").arg("RESETSTAT").exec(&mut db).unwrap();
    let start = Instant::now();
    let pid = terminal.pid().map_or_else(|| "0".to_owned(), |pid| pid.to_string());
    let worked = at_work(&pid);
    let picked = |screen: &vt100::Screen| {
        let text = pelwatch::testing::pty::text_of(screen);
        text.lines().find(|line| line.starts_with("│▌")).map(|line| line.chars().take(60).collect::<String>())
    };
    let mut times = Vec::new();
    for n in 0..400 {
        let before = picked(&terminal.screen());
        let pressed = Instant::now();
        terminal.send(if n % 50 < 40 { "j" } else { "k" });
        terminal.wait_for("the cursor row to move", limit, |screen| picked(screen) != before);
        times.push(pressed.elapsed());
        // at any phase of a tick
        std::thread::sleep(Duration::from_millis(29));
    }
    let (groups, usec) = stats(&mut db, "xinfo|groups");
    let (elapsed, sweeps) = (start.elapsed(), groups as f64 / STREAMS as f64);
    times.sort_unstable();
    println!(
        "from a key to its frame while sweeping: median {:?}, p99 {:?}, slowest {:?} (a frame may wait 5 ms for the one before)",
        times[200], times[395], times[399]
    );
    println!(
        "a sweep: {:.1} s, {:.1} ms of server time with all else that was asked for",
        elapsed.as_secs_f64() / sweeps,
        usec as f64 / 1000.0 / sweeps
    );
    let share = (at_work(&pid).saturating_sub(worked)).as_secs_f64() / elapsed.as_secs_f64();
    println!(
        "pelwatch was at work for {:.1} % of that time, with {:.0} keys a second",
        share * 100.0,
        400.0 / elapsed.as_secs_f64()
    );
    let statm = std::fs::read_to_string(format!("/proc/{pid}/statm")).unwrap_or_default();
    let pages: usize = statm.split(' ').nth(1).and_then(|pages| pages.parse().ok()).unwrap_or(0);
    println!("in memory {:?} after its start: {} MB", start.elapsed(), pages * 4096 / 1_000_000);
}

/// CPU time of all threads of this process or of the process with that id. Unlike the time of day it does not include other programs' work.
fn at_work(pid: &str) -> Duration {
    let threads = std::fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    let nanoseconds = threads.filter_map(|thread| {
        let stat = std::fs::read_to_string(thread.path().join("schedstat")).ok()?;
        stat.split(' ').next()?.parse::<u64>().ok()
    });
    Duration::from_nanos(nanoseconds.sum())
}

/// Bytes of this process in memory.
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
        ..StreamFacts::empty()
    };
    let groups = (0..GROUPS).map(|group| GroupFacts {
        pending: Known::Is((group + n % 11) as i64),
        cursor: EntryId::new(now_ms - 10 * group, 0),
        entries_read: Known::Is(1000 + n as i64 - group as i64),
        reported_lag: Known::Is(group as i64),
        ..GroupFacts::fresh(Name::from(format!("workers-{group}").as_str()))
    });
    StreamSample {
        facts: Ok(facts),
        groups: Ok(groups.collect()),
        ..StreamSample::unasked(Name::from(format!("orders:{stream:04}").as_str()))
    }
}

/// Samples every group each second, which is more than the dashboard does.
fn ten_minutes(busy: bool) {
    let before = resident();
    let keys = (0..STREAMS).map(|n| Name::from(format!("orders:{n:04}").as_str())).collect();
    let mut store = Store::new(Settings { keys, ..Settings::default() });
    let mut times = Vec::new();
    for second in 0..SECONDS {
        let mono = Mono(second * 1000);
        let streams = (0..STREAMS).map(|n| stream(n, second, busy)).collect();
        let sample = Sample { at: mono, streams, ..Sample::default() };
        let start = at_work("self");
        store.fold(sample, Now { mono, wall_ms: 0 }, Reading::Tick);
        times.push(at_work("self").saturating_sub(start));
    }
    times.sort_unstable();
    let points: usize = store.groups().map(|(_, group)| group.history.points().len()).sum();
    println!(
        "{} groups, {}, {SECONDS} samples of each: {} MB more in memory; a group takes {} bytes besides {} points in {} bytes; all folded and judged in {:?}, p99 {:?}",
        STREAMS * GROUPS,
        if busy { "all busy" } else { "all quiet" },
        resident().saturating_sub(before) / 1_000_000,
        size_of::<GroupState>(),
        points as u64 / (STREAMS * GROUPS),
        store.groups().map(|(_, group)| group.history.bytes()).sum::<usize>() as u64 / (STREAMS * GROUPS),
        times[times.len() / 2],
        times[times.len() * 99 / 100],
    );
}
