//! A connection that plans and runs actions as the program does, and the state of the group `g` of `k` in plain commands.

use std::{collections::BTreeMap, path::Path};

use pelwatch::{
    clock::Clock,
    core::{
        action::{
            Ask, Plan,
            claim::{ClaimAsk, ClaimPlan},
            delete_consumer::DeleteConsumerAsk,
            delete_group::{DeleteGroupAsk, DeleteGroupPlan},
            marked::{MarkedAsk, MarkedPlan, What},
            seek::{Place, SeekAsk, SeekPlan},
        },
        id::EntryId,
        name::Name,
        outcome::{Done, Outcome},
    },
    source::{Executor, Link, NoPlan, Planner, Progress, Stop, Target, target::Parts},
};
use redis::Value;
use tokio::runtime::{Builder, Runtime};

use pelwatch::testing::TestServer;

/// Consumers seen within this time count as active in these tests.
pub const ACTIVE_MS: i64 = 60_000;

pub struct Desk {
    runtime: Runtime,
    link: Link,
    target: Target,
    clock: Clock,
}

impl Desk {
    pub fn on(server: &TestServer) -> Self {
        Self::at(&server.socket())
    }

    pub fn at(socket: &Path) -> Self {
        Self::with(Parts { socket: Some(socket.to_owned()), ..Parts::default() })
    }

    pub fn with(parts: Parts) -> Self {
        let runtime = Builder::new_current_thread().enable_all().build().unwrap();
        let (clock, target) = (Clock::start(), Target::new(parts).unwrap());
        let link = runtime.block_on(Link::connect(&target, clock)).unwrap();
        Self { runtime, link, target, clock }
    }

    pub fn try_plan(&mut self, ask: Ask) -> Result<Plan, NoPlan> {
        self.runtime.block_on(Planner::new(&mut self.link, ACTIVE_MS).plan(ask))
    }

    pub fn plan(&mut self, ask: Ask) -> Plan {
        self.try_plan(ask).unwrap()
    }

    pub fn claim(&mut self, ask: ClaimAsk) -> ClaimPlan {
        let Plan::Claim(plan) = self.plan(Ask::Claim(ask)) else { unreachable!() };
        plan
    }

    pub fn seek(&mut self, place: Place) -> SeekPlan {
        self.seek_beyond(place, false)
    }

    pub fn seek_beyond(&mut self, place: Place, beyond_end: bool) -> SeekPlan {
        let ask = SeekAsk { key: "k".into(), group: "g".into(), place, beyond_end };
        let Plan::Seek(plan) = self.plan(Ask::Seek(ask)) else { unreachable!() };
        plan
    }

    pub fn entries(&mut self, ids: Vec<EntryId>, what: What) -> MarkedPlan {
        let ask = MarkedAsk { key: "k".into(), group: "g".into(), ids, what };
        let Plan::Marked(plan) = self.plan(Ask::Marked(ask)) else { unreachable!() };
        plan
    }

    pub fn delete(&mut self, consumer: &str) -> Plan {
        self.plan(Ask::DeleteConsumer(DeleteConsumerAsk {
            key: "k".into(),
            group: "g".into(),
            consumer: consumer.into(),
        }))
    }

    pub fn delete_group(&mut self, in_use: bool) -> DeleteGroupPlan {
        let ask = DeleteGroupAsk { key: "k".into(), group: "g".into(), in_use };
        let Plan::DeleteGroup(plan) = self.plan(Ask::DeleteGroup(ask)) else { unreachable!() };
        plan
    }

    /// The way back of a claim, planned right after it.
    pub fn way_back(&mut self, claim: &ClaimPlan, done: &Done) -> Plan {
        self.plan(Ask::GiveBack(claim.ask.give_back(done.moved.clone(), 0)))
    }

    pub fn run(&mut self, plan: &Plan) -> Outcome {
        self.run_with(plan, &Stop::default(), |_| {})
    }

    pub fn run_with(&mut self, plan: &Plan, stop: &Stop, progress: impl Fn(Progress)) -> Outcome {
        let mut executor = Executor::new(&mut self.link, &self.target, self.clock, ACTIVE_MS);
        self.runtime.block_on(executor.run(plan, stop, progress))
    }

    /// Runs a plan that must succeed.
    #[track_caller]
    pub fn done(&mut self, plan: &Plan) -> Done {
        match self.run(plan) {
            Outcome::Done(done) => done,
            other => panic!("{}: {} (plan: {plan:?})", other.word(), other.text()),
        }
    }

    /// Asks for a plan of which nothing may be written and runs it all the same. Gives the words, and whether they were said before
    /// it was run.
    #[track_caller]
    pub fn refusal(&mut self, ask: Ask) -> (String, bool) {
        match self.try_plan(ask) {
            Err(why) => (why.to_string(), true),
            Ok(plan) => {
                let beforehand = plan.refused().is_some();
                (self.refused(&plan), beforehand)
            }
        }
    }

    /// Runs a plan of which nothing may be written, and gives the words.
    #[track_caller]
    pub fn refused(&mut self, plan: &Plan) -> String {
        match self.run(plan) {
            Outcome::Refused(why) => why.to_string(),
            other => panic!("{}: {} (plan: {plan:?})", other.word(), other.text()),
        }
    }
}

/// A claim for `target` of everything that was idle for this long.
pub fn claim_for(target: &str, min_idle_ms: i64) -> ClaimAsk {
    ClaimAsk {
        key: "k".into(),
        group: "g".into(),
        target: target.into(),
        create: false,
        min_idle_ms,
        from: None,
        limit: None,
        justid: true,
    }
}

/// A pending entry: owner (`None` if released), idle time, deliveries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Held {
    pub owner: Option<Name>,
    pub idle: i64,
    pub count: i64,
}

pub fn id(text: &str) -> EntryId {
    EntryId::parse(text.as_bytes()).unwrap()
}

/// The whole pending list.
pub fn pending(server: &TestServer) -> BTreeMap<EntryId, Held> {
    let rows: Vec<(String, Vec<u8>, i64, i64)> =
        redis::from_redis_value(server.run("XPENDING k g - + 1000000")).unwrap();
    let held = |owner: Vec<u8>, idle, count| {
        let released = owner.is_empty() && idle < 0;
        Held { owner: (!released).then(|| Name::new(owner)), idle, count }
    };
    rows.into_iter().map(|(at, owner, idle, count)| (id(&at), held(owner, idle, count))).collect()
}

/// Owner and count of each pending entry: the parts that do not change by themselves.
pub fn holdings(server: &TestServer) -> Vec<(EntryId, Option<Name>, i64)> {
    pending(server).into_iter().map(|(id, held)| (id, held.owner, held.count)).collect()
}

/// Ids of the entries in the stream.
pub fn entries(server: &TestServer) -> Vec<EntryId> {
    let Value::Array(rows) = server.run("XRANGE k - +") else { panic!("no list") };
    rows.into_iter().map(row_id).collect()
}

/// The id at the beginning of an entry.
pub fn row_id(row: Value) -> EntryId {
    let (at, _): (String, Value) = redis::from_redis_value(row).unwrap();
    id(&at)
}

pub fn cursor(server: &TestServer) -> EntryId {
    let groups: Vec<BTreeMap<String, Value>> = redis::from_redis_value(server.run("XINFO GROUPS k")).unwrap();
    let group = groups.into_iter().find(|group| group["name"] == Value::BulkString(b"g".to_vec())).unwrap();
    let text: String = redis::from_redis_value(group["last-delivered-id"].clone()).unwrap();
    id(&text)
}

/// Everything stored about the group. If it is unchanged, nothing was written.
pub fn state(server: &TestServer) -> impl PartialEq + std::fmt::Debug + use<> {
    (server.run("XINFO GROUPS k"), holdings(server), entries(server), consumers(server))
}

pub fn consumers(server: &TestServer) -> Vec<String> {
    let all: Vec<BTreeMap<String, Value>> = redis::from_redis_value(server.run("XINFO CONSUMERS k g")).unwrap();
    all.into_iter().map(|one| redis::from_redis_value(one["name"].clone()).unwrap()).collect()
}

/// The entries that the next reader gets when it asks for new ones.
pub fn read_on(server: &TestServer, reader: &str) -> Vec<EntryId> {
    match server.run(&format!("XREADGROUP GROUP g {reader} COUNT 1000000 STREAMS k >")) {
        Value::Nil => Vec::new(),
        reply => {
            let [(_, rows)]: [(String, Vec<Value>); 1] = redis::from_redis_value(reply).unwrap();
            rows.into_iter().map(row_id).collect()
        }
    }
}
