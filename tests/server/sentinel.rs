//! Real sentinels: they name the master, and a failover is followed, also through a command.

use pelwatch::{
    clock::Clock,
    core::{
        name::Name,
        store::{Focus, Reading, Settings, Store},
    },
    source::{Connection, LinkFault, Sentinels, Source, Target, target::Parts},
    testing::{FoundServer, TestServer, found_servers, relay::Relay, wait_until},
};
use redis::{Client, Value};
use std::{
    fs,
    net::TcpListener,
    process::{Child, Command, Stdio},
    time::Duration,
};
use tokio::runtime::Builder;

const LONG: Duration = Duration::from_secs(30);

fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

pub struct Sentinel {
    pub port: u16,
    child: Child,
    _folder: tempfile::TempDir,
}

impl Drop for Sentinel {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Sentinel {
    fn start(found: &FoundServer, master: u16, more: &str) -> Self {
        let (port, folder) = (free_port(), tempfile::tempdir().unwrap());
        let file = folder.path().join("sentinel.conf");
        let lines = format!(
            "port {port}\nbind 127.0.0.1\nlogfile {}/log\nsentinel monitor orders 127.0.0.1 {master} 1\n\
             sentinel down-after-milliseconds orders 1000\nsentinel failover-timeout orders 5000\n{more}\n",
            folder.path().display()
        );
        fs::write(&file, lines).unwrap();
        let mut command = Command::new(&found.bin);
        command.arg(&file).arg("--sentinel").current_dir(folder.path());
        let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let sentinel = Self { port, child, _folder: folder };
        wait_until("the sentinel answers", LONG, || sentinel.ask(&["PING"]).is_some());
        sentinel
    }

    fn ask(&self, words: &[&str]) -> Option<Value> {
        let client = Client::open(format!("redis://127.0.0.1:{}", self.port)).unwrap();
        let mut connection = client.get_connection_with_timeout(Duration::from_secs(1)).ok()?;
        redis::cmd(words[0]).arg(&words[1..]).query(&mut connection).ok()
    }

    /// The port that it names as the master's.
    fn master(&self) -> Option<u16> {
        match self.ask(&["SENTINEL", "get-master-addr-by-name", "orders"])? {
            Value::Array(pair) => redis::from_redis_value::<String>(pair[1].clone()).unwrap().parse().ok(),
            _ => None,
        }
    }

    fn knows_replica(&self) -> bool {
        let reply =
            self.ask(&["SENTINEL", "replicas", "orders"]).or_else(|| self.ask(&["SENTINEL", "slaves", "orders"]));
        matches!(reply, Some(Value::Array(all)) if all.len() == 1)
    }
}

/// A master behind a relay, its replica, and a sentinel that sees the master through the same relay.
pub struct Replicated {
    master: TestServer,
    pub relay: Relay,
    replica: TestServer,
    replica_port: u16,
    pub sentinel: Sentinel,
}

impl Replicated {
    pub fn start(found: &FoundServer) -> Self {
        let master = TestServer::start_with(found, &["--repl-diskless-sync-delay", "0"]);
        let relay = Relay::to(&master.socket(), Duration::ZERO);
        let replica_port = free_port();
        let (port, of) = (replica_port.to_string(), format!("127.0.0.1 {}", relay.port()));
        // the master sees the relay on a socket, not the replica on its address
        let announced = ["--replica-announce-ip", "127.0.0.1", "--replica-announce-port", &port];
        let mut words = vec!["--port", &port, "--bind", "127.0.0.1"];
        words.extend(announced);
        words.push("--replicaof");
        words.extend(of.split(' '));
        let replica = TestServer::start_with(found, &words);
        for line in ["XADD orders 1-0 n 1", "XGROUP CREATE orders workers 0"] {
            master.run(line);
        }
        for id in 2..=20 {
            master.run(&format!("XADD orders {id}-0 n {id}"));
        }
        master.run("XREADGROUP GROUP workers w1 COUNT 10 STREAMS orders >");
        wait_until("the replica has it all", LONG, || {
            let pending = replica.try_command(&[b"XPENDING", b"orders", b"workers"]);
            matches!(pending, Ok(Value::Array(parts)) if parts[0] == Value::Int(10))
        });
        let sentinel = Sentinel::start(found, relay.port(), "");
        wait_until("the sentinel knows the replica", LONG, || sentinel.knows_replica());
        Self { master, relay, replica, replica_port, sentinel }
    }

    fn target(&self) -> Target {
        target(&format!("127.0.0.1:{}", self.sentinel.port), "orders", None)
    }
}

fn target(sentinels: &str, master: &str, via: Option<&str>) -> Target {
    let parts = Parts {
        sentinels: Some(Sentinels::new(sentinels, master, None, None).unwrap()),
        via: via.map(str::to_owned),
        reply_timeout: Some(Duration::from_millis(400)),
        connect_timeout: Some(Duration::from_secs(2)),
        ..Parts::default()
    };
    Target::new(parts).unwrap()
}

#[test]
fn a_failover_is_followed_and_what_it_lost_is_told() {
    for found in found_servers() {
        println!("on {found}");
        let set = Replicated::start(&found);
        let runtime = Builder::new_current_thread().enable_all().build().unwrap();
        let (clock, target) = (Clock::start(), set.target());
        let settings = Settings { keys: vec![Name::from("orders")], ..Settings::default() };
        let mut store = Store::new(settings);
        let mut wire = runtime.block_on(Connection::connect(&target, clock)).unwrap();
        let focus =
            Focus::Group { key: Name::from("orders"), group: Name::from("workers"), open: Vec::new(), strip_at: None };
        let mut tick = |wire: &mut Connection| {
            let request = store.next_request(&focus, clock.mono());
            let sample = runtime.block_on(wire.sample(&request))?;
            store.fold(sample, clock.now(), Reading::Tick);
            Ok::<_, LinkFault>(store.clone())
        };
        tick(&mut wire).unwrap();
        let named = |store: &Store| store.reached.clone().unwrap().endpoint;
        let before = tick(&mut wire).unwrap();
        assert_eq!(named(&before), format!("orders at 127.0.0.1:{}", set.relay.port()));
        // the replica falls behind, and then the master is cut off
        set.master.run("ACL SETUSER default -psync -sync");
        set.master.run("CLIENT KILL TYPE replica");
        set.master.run("XACK orders workers 1-0 2-0 3-0 4-0");
        tick(&mut wire).unwrap();
        set.relay.set_deaf(true);
        let mut faults = Vec::new();
        let fault = loop {
            match tick(&mut wire) {
                Ok(_) => {}
                Err(fault) => break fault,
            }
        };
        assert!(matches!(fault, LinkFault::Silent { .. }), "{fault}");
        let mut wire = loop {
            let elected = set.sentinel.master() == Some(set.replica_port);
            match runtime.block_on(Connection::connect(&target, clock)) {
                Ok(wire) => break wire,
                Err(fault) => {
                    assert!(!elected, "the first attempt after the election succeeds: {fault}");
                    faults.push(fault);
                }
            }
        };
        assert!(faults.iter().any(LinkFault::is_failing_over), "{faults:?}");
        let after = tick(&mut wire).unwrap();
        assert_eq!(named(&after), format!("orders at 127.0.0.1:{}", set.replica_port));
        assert!(after.reached.unwrap().cli_words.contains(&set.replica_port.to_string()));
        let events: Vec<&str> = after.events.iter().map(|event| event.id).collect();
        assert_eq!(events, ["failover", "acknowledgements-lost"], "{:?}", after.events);
        assert!(after.events[1].text.contains("at least 4 entries"), "{:?}", after.events);
        // the sentinel closed all connections to it
        wait_until("the new master says the same", LONG, || {
            let rows = set.replica.try_command(&[b"XPENDING", b"orders", b"workers", b"-", b"+", b"20"]);
            matches!(rows, Ok(Value::Array(rows)) if rows.len() == 10)
        });
    }
}
