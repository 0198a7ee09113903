//! Rows of the pending list, consumers and stream are set against each other only if they are of one moment. Through a slow link, while
//! two readers acknowledge and delete within milliseconds, numbers of different moments would contradict each other in nearly every
//! sample.

use pelwatch::{
    clock::Clock,
    core::{name::Name, store::Settings},
    source::{Link, Target, target::Parts},
    tasks::FullReading,
    testing::{TestServer, each_server, relay::Relay},
};
use std::{
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::Duration,
};
use tokio::runtime::Builder;

/// How long a byte takes, each way.
const DELAY: Duration = Duration::from_millis(15);
const SAMPLES: usize = 20;
/// How long an entry is handled, and how long until the next one comes: the workload's own pace, on which no check waits.
const PACE: Duration = Duration::from_millis(3);

/// Reads, and 3 ms later acknowledges and deletes in one MULTI, until it is told to stop.
fn handle(server: &TestServer, consumer: &str, stop: &AtomicBool) {
    let mut db = server.connect().unwrap();
    while !stop.load(Ordering::Relaxed) {
        // [[key, [[id, fields], …]], …]
        type Read = Option<Vec<(String, Vec<(String, redis::Value)>)>>;
        let read: Read = redis::cmd("XREADGROUP")
            .arg(&["GROUP", "g", consumer, "COUNT", "5", "STREAMS", "k", ">"])
            .query(&mut db)
            .unwrap();
        let ids: Vec<String> = read.into_iter().flatten().flat_map(|(_, entries)| entries).map(|(id, _)| id).collect();
        thread::sleep(PACE);
        if !ids.is_empty() {
            let mut both = redis::pipe();
            both.atomic().cmd("XACK").arg("k").arg("g").arg(&ids).cmd("XDEL").arg("k").arg(&ids);
            both.query::<redis::Value>(&mut db).unwrap();
        }
    }
}

fn add(server: &TestServer, stop: &AtomicBool) {
    let mut db = server.connect().unwrap();
    while !stop.load(Ordering::Relaxed) {
        redis::cmd("XADD").arg(&["k", "*", "n", "1"]).query::<redis::Value>(&mut db).unwrap();
        thread::sleep(PACE);
    }
}

#[test]
fn what_is_of_one_moment_agrees_through_a_slow_link() {
    each_server(|server, found| {
        server.run("XGROUP CREATE k g 0 MKSTREAM");
        let way = Relay::to(&server.socket(), DELAY);
        let stop = AtomicBool::new(false);
        thread::scope(|scope| {
            scope.spawn(|| add(server, &stop));
            scope.spawn(|| handle(server, "a", &stop));
            scope.spawn(|| handle(server, "b", &stop));
            let runtime = Builder::new_current_thread().enable_all().build().unwrap();
            let clock = Clock::start();
            let parts = Parts { host: Some("127.0.0.1".to_owned()), port: Some(way.port()), ..Parts::default() };
            let mut link = runtime.block_on(Link::connect(&Target::new(parts).unwrap(), clock)).unwrap();
            let settings = Settings { keys: vec![Name::from("k")], ..Settings::default() };
            let mut reading = FullReading::new(settings, clock);
            let (mut whole, mut wrong) = (0, Vec::new());
            for _ in 0..SAMPLES {
                runtime.block_on(reading.once(&mut link)).unwrap();
                let (stream, group) = reading.watch.store.group(&Name::from("k"), &Name::from("g")).expect("the group");
                let together = !stream.skewed && group.consumers.at == group.at && stream.facts.at == group.at;
                let rows_too = group.pel.at == group.at || group.facts.pending.value() == Some(0);
                if !together || !rows_too {
                    continue;
                }
                whole += 1;
                let rows = if group.facts.pending.value() == Some(0) { &[][..] } else { &group.pel.rows };
                for consumer in group.consumers() {
                    let held = rows.iter().filter(|row| row.owner.as_ref() == Some(&consumer.name)).count() as i64;
                    if held != consumer.pending {
                        wrong.push(format!("{} holds {} and has {held} rows", consumer.name, consumer.pending));
                    }
                }
                let gone = group.payload_gone(stream);
                if gone.is_some_and(|(gone, _)| gone > 0) {
                    wrong.push(format!("payload gone: {gone:?}"));
                }
                let findings = &reading.watch.verdicts.group(&stream.key, group.name()).findings;
                wrong.extend(findings.iter().filter(|one| one.id == "payload-gone").map(|one| one.text.clone()));
            }
            stop.store(true, Ordering::Relaxed);
            assert!(wrong.is_empty(), "{found}: {wrong:#?}");
            assert!(whole * 20 >= SAMPLES * 19, "{found}: only {whole} of {SAMPLES} samples are of one moment");
        });
    });
}

#[test]
fn without_multi_what_compares_a_stream_with_its_group_cannot_be_told() {
    each_server(|server, found| {
        let acl: Vec<&[u8]> = vec![b"ACL", b"SETUSER", b"watcher", b"on", b">secret", b"~*", b"+@all", b"-multi"];
        if server.try_command(&acl).is_err() {
            return; // before 6.0 there are no users
        }
        server.run("XGROUP CREATE k g 0 MKSTREAM");
        server.run("XADD k 1-0 n 1");
        server.run("XREADGROUP GROUP g c STREAMS k >");
        let runtime = Builder::new_current_thread().enable_all().build().unwrap();
        let clock = Clock::start();
        let parts = Parts {
            socket: Some(server.socket()),
            user: Some("watcher".into()),
            password: Some("secret".into()),
            ..Parts::default()
        };
        let mut link = runtime.block_on(Link::connect(&Target::new(parts).unwrap(), clock)).unwrap();
        let settings = Settings { keys: vec![Name::from("k")], ..Settings::default() };
        let mut reading = FullReading::new(settings, clock);
        let judged = |reading: &FullReading| {
            let judgement = reading.watch.verdicts.group(&Name::from("k"), &Name::from("g"));
            (judgement.cannot_tell.contains("trimmed-unread"), judgement.waiting.contains("trimmed-unread"))
        };
        runtime.block_on(reading.once(&mut link)).unwrap();
        runtime.block_on(reading.once(&mut link)).unwrap();
        assert_eq!(judged(&reading), (true, false), "{found}");
        assert!(reading.watch.store.denied.contains("MULTI"), "{found}");
    });
}
