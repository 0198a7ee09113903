//! The scenes themselves.

use super::{START_MS, Scene, World, id};
use pelwatch::core::{
    cluster::{ClusterFacts, NodeFacts},
    id::EntryId,
    known::Known,
    model::{FATAL_DELIVERIES, ServerFacts},
    name::Name,
    sample::Fault,
    store::Settings,
};

/// Ids `1-0` to `n-0`.
pub fn counted(n: u64) -> impl Iterator<Item = EntryId> {
    (1..=n).map(|ms| EntryId::new(ms, 0))
}

/// Ids that are times: `n` of them, `step` ms apart, the last one `ago` ms before the scene begins.
pub fn timed(n: u64, step: u64, ago: u64) -> Vec<EntryId> {
    let last = START_MS as u64 - ago;
    (0..n).map(|index| EntryId::new(last - (n - 1 - index) * step, 0)).collect()
}

/// The reference picture of the project: six orders, two acknowledged, two pending with two consumers, two new.
pub fn seed() -> World {
    let mut world = World::new("redis", "7.2.6");
    let group = world.stream("Orders", counted(6)).group("workers", "4-0");
    group.consumer("c1", 842_000, Some(842_000)).consumer("c2", 800, Some(800)).consumer("c3", 1100, None);
    group.holds("c1", "3-0", 842_000, 1).holds("c2", "4-0", 800, 1);
    world
}

/// The seed on the group screen, at its consumers.
pub fn seed_group() -> Scene {
    let mut scene = Scene::new(seed());
    scene.ticks(3).keys("<Enter>2").ticks(3);
    scene
}

/// Three streams with groups that keep up.
pub fn healthy() -> World {
    let mut world = World::new("redis", "7.4.1");
    for (key, n) in [("orders", 40), ("payments", 25), ("mail", 12)] {
        let ids = timed(n, 500, 200);
        let last = ids[ids.len() - 1].to_string();
        let stream = world.stream(key, ids);
        for group in if key == "orders" { &["billing", "shipping"][..] } else { &["workers"][..] } {
            stream.group(*group, &last).consumer("w1", 120, Some(400)).consumer("w2", 90, Some(900));
        }
    }
    world
}

/// Adds entries each tick. The group `shipping` of `orders` falls behind, `w9` of `mail` keeps what it got, and all others keep up.
pub fn trouble(world: &mut World, at: i64) {
    let keys: Vec<Name> = world.streams.keys().cloned().collect();
    for key in keys {
        let Some(stream) = world.streams.get_mut(&key) else {
            continue;
        };
        for step in 0..12 {
            stream.add(EntryId::new((START_MS + at - 900 + step * 70) as u64, 0));
        }
        let ids: Vec<EntryId> = stream.ids.iter().copied().collect();
        for (name, group) in &mut stream.groups {
            let behind = *name == Name::from("shipping");
            let target =
                if behind { ids.iter().position(|entry| *entry > group.cursor).unwrap_or(0) + 2 } else { ids.len() };
            let from = group.cursor;
            group.cursor = ids[target.min(ids.len()) - 1];
            for worker in &mut group.consumers {
                if worker.name != Name::from("w9") {
                    worker.seen = at - 120;
                    worker.got = Some(at - 400);
                }
            }
            if key == Name::from("mail") {
                let to = group.cursor;
                for entry in ids.iter().filter(|entry| **entry > from && **entry <= to) {
                    group.holds("w8", &entry.to_string(), 900 - at, 1);
                }
            }
        }
    }
}

/// All levels at once: a consumer gone for long, entries never acknowledged, a growing lag, entries lost unread, and an information.
pub fn troubled() -> Scene {
    let mut world = healthy();
    let gone = timed(5, 60_000, 40 * 86_400_000);
    let key: Name = "payments".into();
    let group = world.streams.get_mut(&key).unwrap().group("workers", "0-0");
    group.consumer("w9", 29 * 86_400_000, Some(29 * 86_400_000));
    for entry in gone {
        group.holds("w9", &entry.to_string(), 29 * 86_400_000, 3);
    }
    world.group("mail", "workers").consumer("w8", 100, Some(200));
    let audit = world.stream("audit", timed(200, 1000, 500));
    audit.added = Known::Is(500);
    audit.group("archive", &EntryId::new(START_MS as u64 - 400_000, 0).to_string()).read = Some(Known::Is(100));
    world.stream("log", timed(1200, 1000, 500)).group("reader", &EntryId::new(START_MS as u64 - 500, 0).to_string());
    let mut scene = Scene::new(world);
    scene.run(14, |world, at| {
        let quiet = ["audit", "log"].map(|key| world.streams.remove_entry(&Name::from(key)).unwrap());
        trouble(world, at);
        world.streams.extend(quiet);
    });
    scene
}

/// Keys that are requested by name and cannot be shown.
pub fn faulty() -> Scene {
    let mut world = seed();
    world.faulty("cart", Fault::WrongType);
    world.faulty("secrets", Fault::Denied("NOPERM no permissions to access a key".into()));
    world.faulty("slow", Fault::Other("BUSY Redis is busy running a script".into()));
    world.stream("shy", counted(3)).groups_fault = Some(Fault::Denied("NOPERM".into()));
    world.stream("lonely", counted(3));
    let keys = ["Orders", "cart", "secrets", "slow", "shy", "lonely", "missing"].map(Name::from).to_vec();
    let mut scene = Scene::watching(world, Settings { keys, ..Settings::default() });
    scene.ticks(3);
    scene
}

/// A group with many consumers, some of which hold entries.
pub fn crowd() -> Scene {
    let mut world = World::new("redis", "8.2.3");
    let ids = timed(2000, 100, 300);
    let cursor = ids[1899].to_string();
    let group = world.stream("jobs", ids.clone()).group("pool", &cursor);
    for n in 0..300_i64 {
        group.consumer(format!("worker-{n:03}").as_str(), 300 + n * 37, Some(900 + n * 91));
        for entry in (0..n % 4).map(|step| ids[(1000 + n * 3 + step) as usize]) {
            group.holds(format!("worker-{n:03}").as_str(), &entry.to_string(), 400 + n * 350, 1 + n % 3);
        }
    }
    let mut scene = Scene::new(world);
    scene.ticks(3).keys("<Enter>").ticks(4);
    scene
}

/// Every odd form of a pending entry.
pub fn odd_pending() -> Scene {
    let mut world = World::new("redis", "8.8.0");
    let stream = world.stream("Orders", counted(12));
    stream.ids.remove(&id("3-0"));
    stream.max_deleted = Known::Is(id("3-0"));
    let group = stream.group("workers", "7-0");
    group.consumer("c1", 61_000, Some(95_000)).consumer("", 4000, Some(20_000));
    group.holds("c1", "3-0", 95_000, 2).holds("c1", "5-0", 65_000, 7).holds("", "6-0", 20_000, 1);
    group
        .released("4-0", 1)
        .released("7-0", FATAL_DELIVERIES)
        .holds("c1", "9-0", 3000, 2)
        .holds("c1", "2-0", 61_000, -1);
    let mut scene = Scene::new(world);
    scene.ticks(3).keys("<Enter>").ticks(3);
    scene
}

/// One group for each kind of lag.
pub fn lags() -> Scene {
    let mut world = World::new("redis", "7.0.15");
    let n = 20_000;
    let exact = world.stream("a-exact", counted(n));
    exact.group("g", "19000-0");
    exact.group("done", "20000-0");
    let drifting = world.stream("b-reported", counted(n));
    drifting.added = Known::Is(30_000);
    drifting.max_deleted = Known::Is(id("100-0"));
    drifting.group("g", "9000-0");
    let negative = world.stream("c-negative", counted(n));
    negative.group("g", "9000-0").lag = Some(Known::Is(-17));
    negative.added = Known::Is(30_000);
    let nil = world.stream("d-nil", counted(n));
    nil.added = Known::Is(30_000);
    let group = nil.group("g", "9000-0");
    (group.lag, group.read) = (Some(Known::Undetermined), Some(Known::Undetermined));
    let beyond = world.stream("e-beyond", counted(n));
    beyond.group("g", "30000-0");
    let mut scene = Scene::new(world);
    scene.ticks(3);
    scene
}

/// The same on a server that reports no lag at all.
pub fn old_server() -> Scene {
    let mut world = World::new("redis", "6.2.14");
    let stream = world.stream("Orders", counted(20_000));
    (stream.added, stream.max_deleted) = (Known::Unsupported, Known::Unsupported);
    stream.group("workers", "9000-0").consumer("c1", 61_000, None).holds("c1", "3-0", 61_000, 1);
    stream.group("idle", "20000-0");
    let mut scene = Scene::new(world);
    scene.ticks(3);
    scene
}

/// A name that a terminal would obey (docs/server-facts.md 13.10).
pub fn hostile_name() -> Name {
    Name::new(&b"c1\x1b[2J\x1b]52;c;cm0gLXJmIH4=\x07\r\x08\x08fake\xc2\x9b2J\xff"[..])
}

/// Difficult names: long, wide, hostile, empty.
pub fn names() -> World {
    let mut world = World::new("valkey", "9.1.2");
    let long = "k".repeat(8192);
    for (key, group, consumer) in [
        (Name::from(long.as_str()), Name::from(long.as_str()), Name::from(long.as_str())),
        ("注文ストリーム".into(), "請求グループ".into(), "消費者その一".into()),
        (
            "한국어한국어한국어한국어한국어한국어한국어".into(),
            "组".repeat(40).as_str().into(),
            "消".repeat(60).as_str().into(),
        ),
        (hostile_name(), hostile_name(), hostile_name()),
        ("".into(), "".into(), "".into()),
        ("(empty)".into(), "it's $HOME".into(), "a b".into()),
    ] {
        let group = world.stream(key, counted(6)).group(group, "4-0");
        group.consumer(consumer.clone(), 842_000, None).holds(consumer, "3-0", 842_000, 1).holds("c2", "4-0", 800, 1);
    }
    world
}

/// A replica that has lost its primary.
pub fn replica() -> Scene {
    let mut world = seed();
    world.server = ServerFacts {
        role: Some("replica".into()),
        link_up: Some(false),
        primary: Some("10.0.0.7:6379".into()),
        ..world.server
    };
    let mut scene = Scene::new(world);
    scene.ticks(3);
    scene
}

/// A cluster that loses a node after a while. The node's streams keep their last numbers.
pub fn cluster() -> Scene {
    let mut world = seed();
    let mail = world.stream("mail", counted(9)).group("senders", "5-0");
    mail.consumer("m1", 400, Some(400)).holds("m1", "5-0", 400, 1);
    let node = |name: &str| NodeFacts { name: name.into(), trouble: None };
    let nodes = vec![node("10.0.0.1:6379"), node("10.0.0.2:6379"), node("10.0.0.3:6379")];
    world.cluster = Some(ClusterFacts { nodes, all_known: true, all_searched: true });
    let mut scene = Scene::new(world);
    scene.run(4, |_, _| {});
    scene
}

pub fn cluster_without_a_node() -> Scene {
    let mut scene = cluster();
    scene.run(3, |world, _| {
        let words = "node 10.0.0.2:6379 unreachable since 2026-11-30T12:00:04Z: connection refused".to_owned();
        if let Some(cluster) = &mut world.cluster {
            cluster.nodes[1].trouble = Some(words.clone());
        }
        if let Some(mail) = world.streams.get_mut(&Name::from("mail")) {
            mail.fault = Some(Fault::Away(words));
        }
    });
    scene
}

/// Twelve streams of one pattern with two groups each, and one stream beside them. A worker of `shop:07:orders` is gone with five entries.
pub fn fleet() -> Scene {
    let mut world = World::new("redis", "8.2.3");
    for number in 0..12 {
        let ids = timed(40, 500, 200);
        let last = ids[ids.len() - 1].to_string();
        let held: Vec<String> = ids.iter().take(5).map(EntryId::to_string).collect();
        let stream = world.stream(format!("shop:{number:02}:orders").as_str(), ids);
        for name in ["billing", "mailer"] {
            let group = stream.group(name, &last);
            group.consumer("w1", 120, Some(400));
            if (number, name) == (7, "billing") {
                group.consumer("w2", 600_000, Some(600_000));
                for entry in &held {
                    group.holds("w2", entry, 600_000, 1);
                }
            }
        }
    }
    let ids = timed(40, 500, 200);
    let last = ids[ids.len() - 1].to_string();
    world.stream("audit", ids).group("archive", &last).consumer("w1", 120, Some(400));
    let mut scene = Scene::new(world);
    scene.ticks(4);
    scene
}
