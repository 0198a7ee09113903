//! A real cluster: streams on all nodes, slots that move, nodes that hang, die and return.

use std::{
    collections::BTreeMap,
    net::TcpListener,
    process::Command,
    sync::Mutex,
    time::{Duration, Instant},
};

use pelwatch::{
    clock::Clock,
    core::{
        action::{
            Ask, Plan,
            seek::{Place, SeekAsk},
        },
        name::Name,
        outcome::Outcome,
        sample::Fault,
        store::{Focus, Reading, RowState, Settings, Store},
    },
    source::{Connection, Executor, Planner, Source, Stop, Target, connect_owner, target::Parts},
    testing::{FoundServer, TestServer, found_servers, wait_until},
};
use redis::Value;
use tokio::runtime::{Builder, Runtime};

const LONG: Duration = Duration::from_secs(20);
const TENANTS: [&str; 6] =
    ["jobs:{tenant1}", "jobs:{tenant2}", "jobs:{tenant3}", "jobs:{tenant4}", "jobs:{tenant5}", "jobs:{tenant6}"];

pub struct Node {
    server: TestServer,
    pub port: u16,
}

impl Node {
    fn start(found: &FoundServer) -> Self {
        let port = free_port();
        let text = port.to_string();
        let extra =
            ["--port", &text, "--bind", "127.0.0.1", "--cluster-enabled", "yes", "--cluster-node-timeout", "1000"];
        // the data must survive a kill
        let kept = ["--appendonly", "yes", "--appendfsync", "always", "--cluster-require-full-coverage", "no"];
        Self { server: TestServer::start_with(found, &[&extra[..], &kept[..]].concat()), port }
    }

    fn name(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    fn id(&self) -> String {
        text(&self.server.run("CLUSTER MYID"))
    }

    fn signal(&self, signal: &str) {
        let line = format!("kill -{signal} {}", self.server.pid());
        assert!(Command::new("sh").args(["-c", &line]).status().unwrap().success());
    }
}

fn text(value: &Value) -> String {
    match value {
        Value::BulkString(bytes) => String::from_utf8(bytes.clone()).unwrap(),
        Value::SimpleString(text) | Value::VerbatimString { text, .. } => text.clone(),
        other => panic!("no text: {other:?}"),
    }
}

/// A free port that no other test of this run has got; the bus port, 10,000 higher, is also free.
fn free_port() -> u16 {
    static GIVEN: Mutex<u16> = Mutex::new(0);
    let free = |port| TcpListener::bind(("127.0.0.1", port)).is_ok();
    let mut given = GIVEN.lock().unwrap();
    let start = 20_000 + (std::process::id() % 6000) as u16;
    let port = (start.max(*given + 1)..30_000).find(|port| free(*port) && free(*port + 10_000)).unwrap();
    *given = port;
    port
}

/// Three primaries with a third of the slots each, and a replica of the second.
pub struct Cluster {
    pub nodes: Vec<Node>,
}

impl Cluster {
    pub fn start(found: &FoundServer) -> Self {
        let nodes: Vec<Node> = (0..4).map(|_| Node::start(found)).collect();
        let cluster = Self { nodes };
        for (node, range) in cluster.nodes.iter().zip([0..5461, 5461..10_923, 10_923..16_384]) {
            let slots = range.map(|slot| slot.to_string()).collect::<Vec<_>>().join(" ");
            node.server.run(&format!("CLUSTER ADDSLOTS {slots}"));
        }
        for node in &cluster.nodes[1..] {
            node.server.run(&format!("CLUSTER MEET 127.0.0.1 {}", cluster.nodes[0].port));
        }
        let second = cluster.nodes[1].id();
        wait_until("the replica knows its primary", LONG, || {
            cluster.nodes[3].server.try_command(&[b"CLUSTER", b"REPLICATE", second.as_bytes()]).is_ok()
        });
        cluster.wait_until_ok();
        for key in TENANTS {
            let node = cluster.owner(key);
            node.server.run(&format!("XADD {key} 1-0 n 1"));
            node.server.run(&format!("XADD {key} 2-0 n 2"));
            node.server.run(&format!("XGROUP CREATE {key} workers 0"));
            node.server.run(&format!("XREADGROUP GROUP workers w1 COUNT 1 STREAMS {key} >"));
        }
        wait_until("the replica has it all", LONG, || {
            text(&cluster.nodes[3].server.run("INFO replication")).contains("master_link_status:up")
                && cluster.nodes[1].server.run("DBSIZE") == cluster.nodes[3].server.run("DBSIZE")
        });
        cluster
    }

    fn wait_until_ok(&self) {
        wait_until("all nodes say that the cluster is well", LONG, || {
            self.nodes.iter().all(|node| {
                let info = text(&node.server.run("CLUSTER INFO"));
                info.contains("cluster_state:ok")
                    && info.contains("cluster_known_nodes:4")
                    && info.contains("cluster_size:3")
            })
        });
    }

    fn slot(&self, key: &str) -> u16 {
        match self.nodes[0].server.run(&format!("CLUSTER KEYSLOT {key}")) {
            Value::Int(slot) => slot as u16,
            other => panic!("{other:?}"),
        }
    }

    fn owner(&self, key: &str) -> &Node {
        &self.nodes[usize::from(self.slot(key)) / 5462]
    }

    fn on(&self, node: usize) -> Vec<&'static str> {
        TENANTS.into_iter().filter(|key| self.owner(key).port == self.nodes[node].port).collect()
    }

    fn target(&self, node: usize, cluster: bool) -> Target {
        let port = Some(self.nodes[node].port);
        Target::new(Parts { host: Some("127.0.0.1".into()), port, cluster, ..Parts::default() }).unwrap()
    }
}

/// A watcher of the cluster.
struct Eye {
    runtime: Runtime,
    clock: Clock,
    wire: Connection,
    store: Store,
}

impl Eye {
    fn on(target: &Target, settings: Settings) -> Self {
        let runtime = Builder::new_current_thread().enable_all().build().unwrap();
        let clock = Clock::start();
        let wire = runtime.block_on(Connection::connect(target, clock)).unwrap();
        Self { runtime, clock, wire, store: Store::new(settings) }
    }

    /// One tick of the screen.
    fn tick(&mut self) {
        let request = self.store.next_request(&Focus::None, self.clock.mono());
        let sample = self.runtime.block_on(self.wire.sample(&request)).unwrap();
        self.store.fold(sample, self.clock.now(), Reading::Tick);
    }

    fn tick_until(&mut self, what: &str, condition: impl Fn(&Store) -> bool) {
        wait_until(what, LONG, || {
            self.tick();
            condition(&self.store)
        });
    }

    /// Ticks until there is a new answer for the stream: a node is not asked at every tick.
    fn tick_until_answered(&mut self, key: &str) {
        let start = self.clock.mono();
        self.tick_until("it is answered for", |store| {
            fault(store, key).is_some() || store.streams[&Name::from(key)].facts.at > start
        });
    }

    fn fault(&self, key: &str) -> Option<String> {
        fault(&self.store, key)
    }

    fn nodes(&self) -> BTreeMap<String, Option<String>> {
        self.store.streams.iter().map(|(key, stream)| (key.shown(), stream.node.clone())).collect()
    }
}

fn fault(store: &Store, key: &str) -> Option<String> {
    match &store.streams.get(&Name::from(key))?.state {
        RowState::Fault(fault) => Some(fault.words()),
        RowState::Loading => Some("loading".into()),
        RowState::Ok => None,
    }
}

fn is_whole(store: &Store) -> bool {
    store.streams.len() == TENANTS.len() && TENANTS.iter().all(|key| fault(store, key).is_none())
}

fn assert_numbers_stand(store: &Store) {
    for key in TENANTS {
        let stream = &store.streams[&Name::from(key)];
        assert_eq!(stream.facts.value.as_ref().map(|facts| facts.length), Some(2), "{key}");
        assert_eq!(stream.groups[&Name::from("workers")].facts.pending.value(), Some(1), "{key}");
    }
    assert!(store.events.is_empty(), "{:?}", store.events);
}

#[test]
fn a_cluster_is_watched_as_a_whole_whatever_happens_to_its_nodes() {
    for found in found_servers() {
        println!("on {found}");
        let mut cluster = Cluster::start(&found);
        let mut eye = Eye::on(&cluster.target(0, true), Settings::default());
        all_nodes_are_searched(&cluster, &mut eye);
        one_node_says_that_it_is_one(&cluster);
        who_may_not_ask_for_the_nodes_follows_redirections(&cluster);
        a_slot_moves(&cluster, &mut eye);
        a_node_that_hangs_stalls_nobody(&cluster, &mut eye);
        a_node_that_died_comes_back(&mut cluster, &mut eye);
        a_replica_takes_over(&mut cluster, &mut eye);
    }
}

fn all_nodes_are_searched(cluster: &Cluster, eye: &mut Eye) {
    eye.tick_until("all streams are found", is_whole);
    assert_numbers_stand(&eye.store);
    let expected = TENANTS.iter().map(|key| ((*key).to_owned(), Some(cluster.owner(key).name()))).collect();
    assert_eq!(eye.nodes(), expected);
    assert!(eye.store.is_discovery_complete());
    assert_eq!(eye.store.cluster_notes(), Vec::<String>::new());
    let facts = eye.store.cluster.clone().unwrap();
    assert_eq!((facts.up(), facts.nodes.len()), (3, 3), "{facts:?}");
    eye.tick();
    let nodes = TENANTS.iter().map(|key| cluster.owner(key).port).collect::<std::collections::BTreeSet<_>>();
    assert!(eye.store.last_cost.round_trips <= 3 && nodes.len() >= 2, "{:?}", eye.store.last_cost);
    // connecting to a replica also finds the cluster
    let mut other = Eye::on(&cluster.target(3, true), Settings::default());
    other.tick_until("all streams are found through the replica", is_whole);
    assert_eq!(other.nodes(), eye.nodes());
    let entry = eye.runtime.block_on(eye.wire.entry(&Name::from(TENANTS[1]), pelwatch::core::id::EntryId::new(2, 0)));
    assert_eq!(entry.unwrap().fields, Ok(Some(vec![(b"n".to_vec(), b"2".to_vec())])));
}

fn one_node_says_that_it_is_one(cluster: &Cluster) {
    let keys = TENANTS.map(Name::from).to_vec();
    let mut eye = Eye::on(&cluster.target(0, false), Settings { keys, ..Settings::default() });
    eye.tick();
    let here = cluster.on(0).len();
    let note = eye.store.one_node_note().unwrap();
    assert!(note.starts_with(&format!("cluster node: showing {here} stream")), "{note}");
    assert!(!eye.store.is_discovery_complete());
    let away = TENANTS.into_iter().find(|key| !cluster.on(0).contains(key)).unwrap();
    assert!(eye.fault(away).unwrap().contains("--cluster"));
    // a replica answers for its data; before 6.0 it redirects a MULTI even after READONLY
    if cluster.nodes[0].server.try_command(&[b"ACL", b"WHOAMI"]).is_err() {
        return;
    }
    let mut eye = Eye::on(&cluster.target(3, false), Settings::default());
    eye.tick();
    let known = eye.store.streams.len();
    assert_eq!(known, cluster.on(1).len());
    eye.tick();
    assert!(eye.store.streams.values().all(pelwatch::core::store::StreamState::is_ok));
}

fn who_may_not_ask_for_the_nodes_follows_redirections(cluster: &Cluster) {
    if cluster.nodes[0].server.try_command(&[b"ACL", b"WHOAMI"]).is_err() {
        return;
    }
    for node in &cluster.nodes {
        node.server.run("ACL SETUSER watcher on >secret ~* +@read +@connection");
    }
    let user = Parts {
        host: Some("127.0.0.1".into()),
        port: Some(cluster.nodes[0].port),
        user: Some("watcher".into()),
        password: Some("secret".into()),
        cluster: true,
        ..Parts::default()
    };
    let mut eye = Eye::on(&Target::new(user).unwrap(), Settings::default());
    eye.tick_until("redirections lead to every stream", is_whole);
    assert!(!eye.store.cluster.as_ref().unwrap().all_known);
    assert!(eye.store.cluster_notes().iter().any(|note| note.starts_with("CLUSTER is forbidden")));
}

fn a_slot_moves(cluster: &Cluster, eye: &mut Eye) {
    let key = TENANTS[1];
    let (from, to) = (cluster.owner(key), &cluster.nodes[0]);
    assert_ne!(from.port, to.port, "tenant2 is not on the first node");
    let slot = cluster.slot(key);
    let plan = seek_plan(cluster, eye, key);
    to.server.run(&format!("CLUSTER SETSLOT {slot} IMPORTING {}", from.id()));
    from.server.run(&format!("CLUSTER SETSLOT {slot} MIGRATING {}", to.id()));
    eye.tick_until_answered(key);
    assert_eq!(eye.fault(key), None, "as long as it is there, its old node answers");
    from.server.run(&format!("MIGRATE 127.0.0.1 {} {key} 0 5000", to.port));
    eye.tick_until_answered(key);
    assert_eq!(eye.fault(key), None, "ASK is followed");
    assert_eq!(eye.nodes()[key], Some(to.name()));
    // a user whose commands go one by one, because MULTI is forbidden
    if from.server.try_command(&[b"ACL", b"WHOAMI"]).is_ok() {
        let user = Parts {
            host: Some("127.0.0.1".into()),
            port: Some(from.port),
            user: Some("single".into()),
            password: Some("secret".into()),
            cluster: true,
            ..Parts::default()
        };
        for node in &cluster.nodes {
            node.server.run("ACL SETUSER single on >secret ~* +@all -multi");
        }
        let mut single = Eye::on(&Target::new(user).unwrap(), Settings::default());
        single.tick_until("ASK is followed without MULTI", is_whole);
        assert_numbers_stand(&single.store);
    }
    // a missing stream is missing once, not in two places
    assert_eq!(eye.store.streams.len(), TENANTS.len());
    for node in [to, from, &cluster.nodes[1], &cluster.nodes[2]] {
        node.server.run(&format!("CLUSTER SETSLOT {slot} NODE {}", to.id()));
    }
    eye.tick_until_answered(key);
    assert_eq!(eye.fault(key), None, "MOVED is followed");
    assert_eq!(eye.nodes()[key], Some(to.name()));
    assert_numbers_stand(&eye.store);
    // the plan was made while the stream was on its old node
    refused_where_it_was(cluster, eye, &plan, from);
    let plan = seek_plan(cluster, eye, key);
    assert_eq!(plan.refused(), None);
    give_back(cluster, key, slot, to, from);
    eye.tick_until("it is back", |store| store.streams[&Name::from(key)].node == Some(from.name()));
}

fn seek_plan(cluster: &Cluster, eye: &Eye, key: &str) -> Plan {
    let ask = SeekAsk {
        key: Name::from(key),
        group: Name::from("workers"),
        place: Place::parse("2-0").unwrap(),
        beyond_end: false,
    };
    let target = cluster.target(0, true);
    eye.runtime.block_on(async {
        let (mut link, _) = connect_owner(&target, &ask.key, eye.clock).await.unwrap();
        Planner::new(&mut link, 60_000).plan(Ask::Seek(ask)).await.unwrap()
    })
}

fn refused_where_it_was(cluster: &Cluster, eye: &Eye, plan: &Plan, from: &Node) {
    let index = cluster.nodes.iter().position(|node| node.port == from.port).unwrap();
    // without --cluster no other node is tried: as when the slot moves between connecting and sending
    let target = cluster.target(index, false);
    let outcome = eye.runtime.block_on(async {
        let (mut link, target) = connect_owner(&target, plan.detail().ask().detail().key(), eye.clock).await.unwrap();
        Executor::new(&mut link, &target, eye.clock, 60_000).run(plan, &Stop::default(), |_| {}).await
    });
    let Outcome::Refused(why) = outcome else { panic!("{outcome:?}") };
    assert!(why.to_string().contains("slot moved") && why.to_string().contains("nothing was written"), "{why}");
}

fn give_back(cluster: &Cluster, key: &str, slot: u16, from: &Node, to: &Node) {
    to.server.run(&format!("CLUSTER SETSLOT {slot} IMPORTING {}", from.id()));
    from.server.run(&format!("CLUSTER SETSLOT {slot} MIGRATING {}", to.id()));
    from.server.run(&format!("MIGRATE 127.0.0.1 {} {key} 0 5000", to.port));
    for node in [to, from, &cluster.nodes[1], &cluster.nodes[2]] {
        node.server.run(&format!("CLUSTER SETSLOT {slot} NODE {}", to.id()));
    }
}

fn a_node_that_hangs_stalls_nobody(cluster: &Cluster, eye: &mut Eye) {
    // not the node with a replica: the replica would take over
    let (hung, key) = (&cluster.nodes[2], *cluster.on(2).first().unwrap());
    let well = *cluster.on(0).first().unwrap();
    hung.signal("STOP");
    let mut slowest = Duration::ZERO;
    let mut ticks = 0;
    wait_until("it is said not to answer", LONG, || {
        let before = eye.store.streams[&Name::from(well)].facts.at;
        let start = Instant::now();
        eye.tick();
        slowest = slowest.max(start.elapsed());
        ticks += 1;
        assert_eq!(eye.fault(well), None);
        assert!(eye.store.streams[&Name::from(well)].facts.at >= before);
        eye.fault(key).is_some()
    });
    assert!(slowest < Duration::from_secs(1) && ticks > 5, "{slowest:?} at most in {ticks} ticks");
    assert!(eye.fault(key).unwrap().starts_with(&format!("node {} unreachable since ", hung.name())));
    assert_numbers_stand(&eye.store);
    assert!(eye.store.part_note().unwrap().ends_with(" of 6 streams"));
    hung.signal("CONT");
    eye.tick_until("it answers again", is_whole);
    assert_numbers_stand(&eye.store);
    cluster.wait_until_ok();
}

fn a_node_that_died_comes_back(cluster: &mut Cluster, eye: &mut Eye) {
    let key = *cluster.on(2).first().unwrap();
    cluster.nodes[2].server.kill();
    eye.tick_until("it is missed", |store| fault(store, key).is_some());
    let words = eye.fault(key).unwrap();
    assert!(words.starts_with(&format!("node {} unreachable since ", cluster.nodes[2].name())), "{words}");
    assert!(matches!(eye.store.streams[&Name::from(key)].state, RowState::Fault(Fault::Away(_))));
    assert_eq!(eye.store.cluster.as_ref().unwrap().up(), 2);
    assert!(!eye.store.is_discovery_complete());
    assert_numbers_stand(&eye.store);
    cluster.nodes[2].server.restart();
    eye.tick_until("it is back", is_whole);
    assert_numbers_stand(&eye.store);
    cluster.wait_until_ok();
}

fn a_replica_takes_over(cluster: &mut Cluster, eye: &mut Eye) {
    let key = *cluster.on(1).first().unwrap();
    cluster.nodes[1].server.kill();
    let replica = cluster.nodes[3].name();
    eye.tick_until("the replica answers in its place", |store| {
        is_whole(store) && store.streams[&Name::from(key)].node.as_ref() == Some(&replica)
    });
    assert_numbers_stand(&eye.store);
    let facts = eye.store.cluster.clone().unwrap();
    assert_eq!((facts.up(), facts.nodes.len()), (3, 3), "{facts:?}");
}

#[test]
fn a_server_outside_a_cluster_is_watched_with_the_cluster_flag() {
    pelwatch::testing::each_server(|server, _| {
        server.run("XADD s 1-0 f v");
        let parts = Parts { socket: Some(server.socket()), cluster: true, ..Parts::default() };
        let mut eye = Eye::on(&Target::new(parts).unwrap(), Settings::default());
        eye.tick();
        eye.tick();
        assert_eq!(eye.fault("s"), None);
        assert!(eye.store.is_discovery_complete() && eye.store.cluster.is_none());
    });
}
