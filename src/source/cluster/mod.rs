//! All nodes of a cluster as one source. Each stream is asked of the node that serves its slot, all nodes at the same time. A slow node
//! must not hold up a tick: it is waited for only briefly, and its late answer is used in the next tick. Redirections are followed up to
//! a limit. A lost node is retried forever.

mod node;
mod round;
mod scan;
mod slots;

use super::{Link, LinkFault, Source, Target, commands, decode};
use crate::{
    clock::Clock,
    core::{
        census::{Answer, Step},
        cluster::{ClusterFacts, NodeFacts},
        id::EntryId,
        model::{LagFamily, ServerFacts},
        name::Name,
        sample::{Cost, EntryPayload, Fault, Request, Sample},
        time::Mono,
    },
};
use node::{Done, Job, Node};
use redis::Value;
use round::{Jobs, Redirect, Round, split};
use scan::Scan;
use slots::{Place, SlotMap};
use std::{
    collections::{BTreeMap, HashSet},
    time::Duration,
};

pub(super) use slots::Place as NodePlace;

/// A stream is redirected at most this many times in one tick.
pub(super) const REDIRECTIONS: usize = 5;
/// The slot map is read again after this time in ms, even without a cause.
const REFRESH_MS: u64 = 30_000;
/// While a node is unreachable the map is read again after this time in ms, because another node may have taken over its slots.
const REFRESH_IN_TROUBLE_MS: u64 = 1000;
/// How long a request for one entry may take: a person is waiting for it.
const ENTRY_PATIENCE: Duration = Duration::from_secs(1);

/// The nodes of a cluster that serve slots.
#[derive(Debug)]
pub struct Cluster {
    seed: Target,
    clock: Clock,
    /// Wait longer for each node: a script needs a complete reading, a tick of the screen does not.
    patient: bool,
    nodes: BTreeMap<String, Node>,
    slots: SlotMap,
    /// The slot map is the cluster's own. False where CLUSTER SLOTS is forbidden and the map is a guess.
    all_known: bool,
    refreshed: Mono,
    /// A redirection or a failed node shows that the slot map is outdated.
    outdated: bool,
    turn: usize,
    scan: Scan,
    /// The cost of finding the nodes, added to the first sample's cost.
    unbilled: Cost,
}

impl Cluster {
    /// Opens the cluster through one of its nodes. Gives the link back when the server is not in a cluster.
    pub async fn open(mut link: Link, seed: &Target, clock: Clock) -> Result<Result<Self, Box<Link>>, LinkFault> {
        let (replies, mut unbilled) = link.send(&[commands::plain("CLUSTER SLOTS")]).await?;
        let reply = replies.first().unwrap_or(&Value::Nil);
        let refused = matches!(reply, Value::ServerError(error) if error.code() == "NOPERM");
        let here = Place { host: seed.host().to_owned(), port: seed.port(), ip: None };
        let map = SlotMap::read(reply, seed.host());
        let is_cluster = link.server().cluster || link.server().flavor == "unknown";
        let (slots, all_known) = match map {
            Some(map) => (map, true),
            None if refused && is_cluster => (guess(&mut link, &here, &mut unbilled).await?, false),
            None => return Ok(Err(Box::new(link))),
        };
        let mut cluster = Self {
            seed: seed.clone(),
            clock,
            patient: false,
            nodes: BTreeMap::new(),
            slots,
            all_known,
            refreshed: clock.mono(),
            outdated: false,
            turn: 0,
            scan: Scan::default(),
            unbilled,
        };
        cluster.reconcile();
        if cluster.nodes.is_empty() || !all_known {
            // no node serves a slot yet, or the map is only a guess: keep the node that is known
            let node = Node::new(here.name(), seed.clone(), None, clock);
            cluster.nodes.insert(here.name(), node);
        }
        if let Some(node) = cluster.nodes.get_mut(&here.name()) {
            node.give(link);
        }
        Ok(Ok(cluster))
    }

    pub fn patient(self) -> Self {
        Self { patient: true, ..self }
    }

    fn node(&mut self, place: &Place) -> &mut Node {
        let target = self.seed.at(&place.host, place.port);
        let by_ip = place.ip.as_ref().filter(|ip| **ip != place.host).map(|ip| self.seed.at(ip, place.port));
        let name = place.name();
        let clock = self.clock;
        self.nodes.entry(name.clone()).or_insert_with(|| Node::new(name, target, by_ip, clock))
    }

    /// Watches the nodes that serve slots and drops all others.
    fn reconcile(&mut self) {
        let places: Vec<Place> = self.slots.places().into_iter().cloned().collect();
        for place in &places {
            self.node(place);
        }
        if !places.is_empty() {
            let serving: HashSet<String> = places.iter().map(Place::name).collect();
            self.nodes.retain(|name, _| serving.contains(name));
        }
        self.seed.set_peers(places.into_iter().map(|place| (place.host, place.port)).collect());
    }

    fn put_topology(&mut self, jobs: &mut Jobs) {
        let age = self.clock.mono().since(self.refreshed);
        let in_trouble = self.nodes.values().any(|node| node.words(self.clock, false).is_some());
        let due = self.outdated || age > if in_trouble { REFRESH_IN_TROUBLE_MS } else { REFRESH_MS };
        if !due || !self.all_known {
            return;
        }
        // ask one healthy idle node, in turn; if there is none, ask every node (the unreachable ones only when their retry is due)
        let well = |node: &&Node| !node.is_in_trouble() && node.is_free(false);
        let names: Vec<String> = self.nodes.values().filter(well).map(|node| node.name.clone()).collect();
        self.turn += 1;
        let asked = match names.len() {
            0 => self.nodes.keys().cloned().collect(),
            n => vec![names[self.turn % n].clone()],
        };
        for name in asked {
            jobs.entry(name).or_default().topology = true;
        }
    }

    /// Starts the jobs of the nodes that can be asked now, and returns the names of those nodes.
    fn start(&mut self, jobs: Jobs, paced: bool, round: &mut Round) -> Vec<String> {
        let mut started = Vec::new();
        for (name, job) in jobs {
            let Some(node) = self.nodes.get_mut(&name) else { continue };
            if node.is_free(paced) {
                node.start(job, self.clock);
                started.push(name);
                continue;
            }
            // the stream's slot is migrating to this node, and the slot's owner is healthy: `explain` would look at the owner and find no
            // reason, so it must be given here
            let words = node.words(self.clock, true).unwrap_or(format!("node {name} does not answer"));
            for stream in &job.asking {
                round.away(&stream.key, Some((&name, self.clock.mono())), words.clone());
            }
        }
        started
    }

    /// Takes in one node's answer. Returns the jobs for the streams that it redirected.
    fn take(&mut self, name: &str, done: Done, round: &mut Round, late: bool) -> Jobs {
        let mut jobs = Jobs::new();
        let Some(node) = self.nodes.get_mut(name) else { return jobs };
        node.note(&done, self.clock, self.patient);
        let host = node.host().to_owned();
        let Ok(mut answer) = done.answer else {
            self.outdated = true;
            self.scan.lose(name);
            return jobs;
        };
        node.server = answer.sample.server.take().or(node.server.take());
        if let Some(found) = answer.sample.scan.take() {
            self.scan.take(name, answer.pass, found);
        }
        let topology = answer.topology.take();
        for Redirect { key, slot, place, once } in round.take(name, &host, answer, late) {
            if !once {
                self.slots.set(slot, place.clone());
                self.outdated = true;
            }
            self.node(&place);
            if let Some(stream) = round.request_of(&key).filter(|_| !late) {
                let job = jobs.entry(place.name()).or_default();
                if once { job.asking.push(stream.clone()) } else { job.request.streams.push(stream.clone()) }
            }
        }
        match topology.as_ref().map(|reply| SlotMap::read(reply, &host)) {
            Some(Some(map)) if !map.places().is_empty() => {
                self.slots = map;
                self.reconcile();
                self.refreshed = self.clock.mono();
                self.outdated = false;
            }
            _ => {}
        }
        jobs
    }

    async fn harvest(&mut self, round: &mut Round<'_>) {
        let names: Vec<String> = self.nodes.keys().cloned().collect();
        for name in names {
            let Some(node) = self.nodes.get_mut(&name) else { continue };
            if let Some(done) = node.harvest().await {
                self.take(&name, done, round, true);
            }
        }
    }

    /// Waits for all started nodes together: each node's patience counts from the same start, not from the end of the previous wait.
    async fn gather(&mut self, started: &[String], round: &mut Round<'_>) -> Jobs {
        let begin = tokio::time::Instant::now();
        let mut again = Jobs::new();
        for name in started {
            let Some(node) = self.nodes.get_mut(name) else { continue };
            let left = node.patience(self.patient).saturating_sub(begin.elapsed());
            let Some(done) = node.wait(left).await else { continue };
            for (to, job) in self.take(name, done, round, false) {
                let all = again.entry(to).or_default();
                all.request.streams.extend(job.request.streams);
                all.asking.extend(job.asking);
            }
        }
        again
    }

    /// Gives a reason for every stream without an answer. A stream gets none while its node is only slightly late.
    fn explain(&self, round: &mut Round) {
        for key in round.unsettled() {
            let slot = slots::slot(key.bytes());
            let Some(place) = self.slots.owner(slot) else { continue };
            let Some(node) = self.nodes.get(&place.name()) else { continue };
            if let Some(words) = node.words(self.clock, self.patient) {
                round.away(key, Some((&node.name, self.clock.mono())), words);
            }
        }
    }

    fn facts(&self) -> ClusterFacts {
        let serving: HashSet<String> = self.slots.places().into_iter().map(Place::name).collect();
        let told = |node: &Node| NodeFacts { name: node.name.clone(), trouble: node.words(self.clock, self.patient) };
        let nodes = self.nodes.values().filter(|node| serving.is_empty() || serving.contains(&node.name)).map(told);
        ClusterFacts { nodes: nodes.collect(), all_known: self.all_known, all_searched: self.scan.whole }
    }

    /// While the nodes' versions differ, reports the server with the least trustworthy numbers.
    fn server(&self) -> Option<ServerFacts> {
        let trust = |facts: &&ServerFacts| match facts.lag_family() {
            LagFamily::Unknown => 0,
            LagFamily::A => 1,
            LagFamily::B => 2,
            LagFamily::C => 3,
        };
        let all = self.nodes.values().filter_map(|node| node.server.as_ref());
        all.min_by_key(|facts| (trust(facts), facts.version_numbers())).cloned()
    }
}

/// Guesses the slot map where CLUSTER is forbidden. It reads about a thousand keys that do not exist, once and in one round trip; the
/// redirections show which node serves each key's slot.
async fn guess(link: &mut Link, here: &Place, unbilled: &mut Cost) -> Result<SlotMap, LinkFault> {
    let probes: Vec<_> = slots::probes().into_iter().map(|key| commands::xinfo_groups(&Name::new(key))).collect();
    let (replies, cost) = link.send(&probes).await?;
    unbilled.add(cost);
    let place = |reply: &Value| match decode::groups(reply) {
        Err(Fault::Elsewhere { node, .. }) => Place::parse(&node, &here.host),
        _ => None,
    };
    Ok(SlotMap::guess(here.clone(), replies.iter().map(place)))
}

impl Source for Cluster {
    async fn sample(&mut self, request: &Request) -> Result<Sample, LinkFault> {
        let mut round = Round::new(request);
        self.harvest(&mut round).await;
        let (mut jobs, unserved) = split(&request.streams, &self.slots);
        for (key, slot) in unserved {
            round.away(key, None, format!("no node serves slot {slot}"));
        }
        for name in self.nodes.keys() {
            let job = jobs.entry(name.clone()).or_default();
            (job.request.clients, job.request.server) = (request.clients, request.server);
            job.request.condition.clone_from(&request.condition);
        }
        if let Some(scan) = &request.scan {
            let (clock, patient) = (self.clock, self.patient);
            let lost = |node: &Node| node.words(clock, patient).is_some();
            self.scan.put(scan, self.nodes.values(), lost, &mut jobs);
        }
        self.put_topology(&mut jobs);
        let mut paced = !self.patient;
        for _ in 0..=REDIRECTIONS {
            let started = self.start(std::mem::take(&mut jobs), paced, &mut round);
            jobs = self.gather(&started, &mut round).await;
            // follow a redirection at once
            paced = false;
            if jobs.is_empty() {
                break;
            }
        }
        for stream in jobs.values().flat_map(|job| job.request.streams.iter().chain(&job.asking)) {
            round.away(&stream.key, None, "the nodes send the question from one to the other".to_owned());
        }
        self.explain(&mut round);
        let scan = request.scan.as_ref().map(|_| self.scan.step());
        let mut sample = round.finish(self.clock.mono(), self.facts(), scan);
        sample.server = self.server();
        sample.cost.add(std::mem::take(&mut self.unbilled));
        Ok(sample)
    }

    async fn entry(&mut self, key: &Name, id: EntryId) -> Result<EntryPayload, LinkFault> {
        let slot = slots::slot(key.bytes());
        let away = |words: String| Ok(EntryPayload { key: key.clone(), id, fields: Err(Fault::Away(words)) });
        let Some(mut place) = self.slots.owner(slot).cloned() else {
            return away(format!("no node serves slot {slot}"));
        };
        let mut asking = false;
        for _ in 0..=REDIRECTIONS {
            let (clock, patient) = (self.clock, self.patient);
            let node = self.node(&place);
            let silent = format!("node {} does not answer", node.name);
            if !node.is_free(false) {
                return away(node.words(clock, true).unwrap_or(silent));
            }
            node.start(Job { entry: Some((key.clone(), id, asking)), ..Job::default() }, clock);
            let Some(done) = node.wait(ENTRY_PATIENCE).await else { return away(silent) };
            if done.answer.is_err() {
                node.note(&done, clock, patient);
            }
            let host = node.host().to_owned();
            match done.answer.map(|answer| answer.entry.unwrap_or(Ok(None))) {
                Err(fault) => return away(fault.to_string()),
                Ok(Err(Fault::Elsewhere { node, once, .. })) => {
                    let Some(next) = Place::parse(&node, &host) else { return away(silent) };
                    (place, asking) = (next, once);
                }
                Ok(fields) => return Ok(EntryPayload { key: key.clone(), id, fields }),
            }
        }
        away("the nodes send the question from one to the other".to_owned())
    }

    async fn census(&mut self, key: &Name, group: &Name, step: &Step) -> Result<(Answer, Cost), LinkFault> {
        let (clock, patient) = (self.clock, self.patient);
        let owner = self.slots.owner(slots::slot(key.bytes())).map(Place::name);
        let answered = match owner.and_then(|name| self.nodes.get_mut(&name)).filter(|node| node.is_free(false)) {
            None => None,
            Some(node) => {
                let census = Some((key.clone(), group.clone(), step.clone()));
                node.start(Job { census, ..Job::default() }, clock);
                let done = node.wait(node.patience(patient)).await;
                if let Some(done) = done.as_ref().filter(|done| done.answer.is_err()) {
                    node.note(done, clock, patient);
                }
                done.and_then(|done| done.answer.ok()).and_then(|answer| answer.census)
            }
        };
        let away = || match step {
            Step::Page(_) | Step::Older(_) => Answer::Page(Err(Fault::Away("its node does not answer".to_owned()))),
            Step::Look(ids) | Step::Confirm(ids) => Answer::There(vec![None; ids.len()]),
        };
        Ok(answered.unwrap_or_else(|| (away(), Cost::default())))
    }
}
