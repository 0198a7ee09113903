//! What watching costs, measured in one run on one server: `cargo bench`. Prints numbers and ratios and asserts nothing.
//!
//! Server time comes from `INFO commandstats` before and after. The sums exclude `exec`: it contains the time of its commands, which are
//! also counted one by one.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use pelwatch::{
    app::{App, msg::Msg, screen::Screen, update::update},
    clock::Clock,
    core::{
        name::Name,
        store::{Focus, Reading, Settings, Store},
    },
    demo::PrivateServer,
    report,
    source::{Link, Source, Target},
    tui::{Theme, draw},
};
use ratatui::{Terminal, backend::TestBackend};
use std::{
    collections::BTreeMap,
    path::Path,
    time::{Duration, Instant},
};

const ENTRIES: usize = 1_000_000; // all of them pending
const CONSUMERS: usize = 100;
const TICKS: u32 = 50;

fn main() {
    // `cargo test --benches` only checks that it builds
    if std::env::args().any(|arg| arg == "--test") {
        return;
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let server = PrivateServer::start().expect("a server to measure");
    let mut db =
        redis::Client::open(format!("unix://{}", server.socket().display())).unwrap().get_connection().unwrap();
    println!("{}", version(&mut db));
    seed(&mut db);
    runtime.block_on(ticks(server.socket(), &mut db));
    runtime.block_on(frames(server.socket()));
    start_up(server.socket());
}

fn version(db: &mut redis::Connection) -> String {
    let info: String = redis::cmd("INFO").arg("server").query(db).unwrap();
    let line = info.lines().find(|line| line.starts_with("redis_version") || line.starts_with("valkey_version"));
    line.unwrap_or_default().to_owned()
}

fn seed(db: &mut redis::Connection) {
    println!("seeding {ENTRIES} entries, all pending, over {CONSUMERS} consumers in runs of 100 …");
    let add = "for i=1,10000 do redis.call('XADD',KEYS[1],'*','payload','0123456789abcdef0123') end";
    for _ in 0..ENTRIES / 10_000 {
        redis::cmd("EVAL").arg(add).arg(1).arg("big").exec(db).unwrap();
    }
    redis::cmd("XGROUP").arg(&["CREATE", "big", "workers", "0"]).exec(db).unwrap();
    let read =
        "for c=0,99 do redis.call('XREADGROUP','GROUP','workers','c'..c,'COUNT','100','STREAMS',KEYS[1],'>') end";
    for _ in 0..ENTRIES / (100 * CONSUMERS) {
        redis::cmd("EVAL").arg(read).arg(1).arg("big").exec(db).unwrap();
    }
}

/// Calls and microseconds by command since the last reset.
fn stats(db: &mut redis::Connection) -> BTreeMap<String, (u64, f64)> {
    let info: String = redis::cmd("INFO").arg("commandstats").query(db).unwrap();
    let read = |line: &str| {
        let (name, rest) = line.strip_prefix("cmdstat_")?.split_once(':')?;
        let field = |key: &str| rest.split(',').find_map(|pair| pair.strip_prefix(key)?.strip_prefix('='));
        Some((name.to_owned(), (field("calls")?.parse().ok()?, field("usec")?.parse().ok()?)))
    };
    info.lines()
        .filter_map(read)
        .filter(|(name, _)| !["info", "config|resetstat", "config", "exec"].contains(&name.as_str()))
        .collect()
}

fn reset(db: &mut redis::Connection) {
    redis::cmd("CONFIG").arg("RESETSTAT").exec(db).unwrap();
}

async fn ticks(socket: &Path, db: &mut redis::Connection) {
    let clock = Clock::start();
    let mut link = Link::connect(&Target::unix(socket).unwrap(), clock).await.unwrap();
    let settings = Settings { keys: vec![Name::from("big")], ..Settings::default() };
    let mut store = Store::new(settings);
    let focus = Focus::Group { key: "big".into(), group: "workers".into(), open: vec!["c7".into()], strip_at: None };
    let mut tick = async |store: &mut Store| {
        let request = store.next_request(&focus, clock.mono());
        let sample = link.sample(&request).await.unwrap();
        let cost = sample.cost;
        store.fold(sample, clock.now(), Reading::Tick);
        cost
    };
    for _ in 0..10 {
        tick(&mut store).await;
    }
    reset(db);
    let (mut bytes, mut trips) = (0, 0);
    for _ in 0..TICKS {
        let cost = tick(&mut store).await;
        bytes += cost.bytes_in;
        trips += cost.round_trips;
    }
    let ours = stats(db);
    let total: f64 = ours.values().map(|(_, usec)| usec).sum::<f64>() / f64::from(TICKS);
    println!("\none tick, group in focus, PEL of {ENTRIES}:");
    for (name, (calls, usec)) in &ours {
        println!("  {name:<20} {:>5.2} a tick {:>8.1} us each", *calls as f64 / f64::from(TICKS), usec / *calls as f64);
    }
    println!(
        "  {total:.0} us of server time, {} round trips, {} bytes",
        trips / u64::from(TICKS),
        bytes / u64::from(TICKS)
    );
    reset(db);
    let mut full_bytes = 0;
    for _ in 0..20 {
        let reply: redis::Value = redis::cmd("XINFO").arg(&["STREAM", "big", "FULL"]).query(db).unwrap();
        full_bytes = pelwatch::source::weight(&reply);
    }
    let full = stats(db).values().map(|(_, usec)| usec).sum::<f64>() / 20.0;
    println!("XINFO STREAM big FULL: {full:.0} us, {full_bytes} bytes");
    println!(
        "ratio: {:.3} of its server time, {:.3} of its bytes",
        total / full,
        bytes as f64 / f64::from(TICKS) / full_bytes as f64
    );
}

async fn frames(socket: &Path) {
    let clock = Clock::start();
    let mut link = Link::connect(&Target::unix(socket).unwrap(), clock).await.unwrap();
    let mut app = App::new(Settings::default(), "unix:/tmp/redis.sock".into(), String::new(), 1000);
    app.size = (200, 60);
    for round in 0..12 {
        let request = app.watch.store.next_request(&app.focus(), clock.mono());
        let sample = Box::new(link.sample(&request).await.unwrap());
        update(&mut app, Msg::Sampled { sample, interval_ms: 1000 }, clock.now());
        if round == 4 {
            update(&mut app, Msg::Key(pelwatch::app::key::Key::Enter), clock.now());
        }
    }
    let mut terminal = Terminal::new(TestBackend::new(200, 60)).unwrap();
    let theme = Theme::full();
    let (mut views, mut drawn, mut frames, mut empty) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for _ in 0..3000 {
        let start = Instant::now();
        let view = Screen::of(&app, clock.now(), "12:00:00");
        views.push(start.elapsed());
        terminal
            .draw(|frame| {
                draw(frame, &view, &theme);
                drawn.push(start.elapsed());
            })
            .unwrap();
        frames.push(start.elapsed());
    }
    let mut blank = Terminal::new(TestBackend::new(200, 60)).unwrap();
    for _ in 0..3000 {
        let start = Instant::now();
        blank.draw(|_| {}).unwrap();
        empty.push(start.elapsed());
    }
    let [views, drawn, frames, empty] = [views, drawn, frames, empty].map(|mut times| {
        times.sort_unstable();
        (times[1500], times[2970])
    });
    println!("\nfull group screen at 200x60, median and p99:");
    println!("  view model                            {views:?}");
    println!("  view model and drawing                {drawn:?}");
    println!("  with ratatui's comparison of frames   {frames:?}   (an empty frame: {empty:?})");
    let text = report::text(&app.watch, "", clock.now());
    assert!(text.contains("workers"), "the screen that was measured shows the group");
}

fn start_up(socket: &Path) {
    let socket = socket.to_str().unwrap();
    let mut times: Vec<Duration> = (0..20)
        .map(|_| {
            let start = Instant::now();
            let terminal = pelwatch::testing::pty::Terminal::start(
                Path::new(env!("CARGO_BIN_EXE_pelwatch")),
                &["-s", socket],
                (120, 40),
                &[],
            );
            terminal.wait_text("1000000", Duration::from_secs(10));
            start.elapsed()
        })
        .collect();
    times.sort_unstable();
    println!("\nfrom start to first data on the screen: median {:?}, slowest of 20 {:?}", times[10], times[19]);
}
