//! One node of the cluster: its link, its current job, and how well it answers.

use crate::{
    clock::Clock,
    core::{
        census::{Answer as Walked, Step},
        id::EntryId,
        model::ServerFacts,
        name::{Name, visible},
        sample::{Cost, Fault, Field, Part, Request, Sample, StreamRequest, StreamSample},
        time::{Now, rfc3339},
    },
    source::{Link, LinkFault, Source, Target, block, commands, decode},
};
use redis::Value;
use std::time::Duration;
use tokio::{
    task::JoinHandle,
    time::{Instant, timeout},
};

const FIRST_WAIT: Duration = Duration::from_millis(250);
const LONGEST_WAIT: Duration = Duration::from_secs(5);
/// A node may be busy with polls for at most a tenth of the time, like a single server.
const SHARE: u32 = 10;
/// A slow node is paused for at most this long.
const LONGEST_PAUSE: Duration = Duration::from_secs(5);
/// A node that has not answered for this long, in ms, is reported as unreachable.
const SILENT_MS: u64 = 2500;

/// One round of questions to a node.
#[derive(Clone, Debug, Default)]
pub(super) struct Job {
    pub(super) request: Request,
    /// Streams with a slot that is migrating to this node.
    pub(super) asking: Vec<StreamRequest>,
    /// Whether to read the slot map.
    pub(super) topology: bool,
    /// An entry that a person wants to read, and whether its slot is migrating to this node.
    pub(super) entry: Option<(Name, EntryId, bool)>,
    pub(super) census: Option<(Name, Name, Step)>,
    /// The pass of the key scan that the request's scan belongs to.
    pub(super) pass: u64,
}

#[derive(Debug, Default)]
pub(super) struct Answer {
    pub(super) sample: Sample,
    pub(super) asked: Vec<StreamSample>,
    pub(super) topology: Option<Value>,
    pub(super) entry: Option<Part<Option<Vec<Field>>>>,
    pub(super) census: Option<(Walked, Cost)>,
    pub(super) pass: u64,
}

/// A finished job. The link is missing if the connection broke.
#[derive(Debug)]
pub(super) struct Done {
    link: Option<Box<Link>>,
    pub(super) answer: Result<Answer, LinkFault>,
    started: Instant,
    took: Duration,
}

#[derive(Debug)]
enum State {
    Idle(Option<Box<Link>>),
    Busy(Task),
}

/// A running job. It is aborted when the node is dropped.
#[derive(Debug)]
struct Task(JoinHandle<Done>);

impl Drop for Task {
    fn drop(&mut self) {
        self.0.abort();
    }
}

#[derive(Debug)]
struct Trouble {
    since: Now,
    why: String,
    tries: u32,
    retry_at: Instant,
}

#[derive(Debug)]
pub(super) struct Node {
    pub(super) name: String,
    pub(super) server: Option<ServerFacts>,
    target: Target,
    /// The same node by its IP address, in case its host name cannot be resolved here.
    by_ip: Option<Target>,
    state: State,
    born: Now,
    heard: Option<Now>,
    trouble: Option<Trouble>,
    /// The last answer exceeded the patience. Until the node answers, a tick does not wait for it.
    late: bool,
    earliest: Instant,
}

impl Node {
    pub(super) fn new(name: String, target: Target, by_ip: Option<Target>, clock: Clock) -> Self {
        Self {
            name,
            server: None,
            target,
            by_ip,
            state: State::Idle(None),
            born: clock.now(),
            heard: None,
            trouble: None,
            late: false,
            earliest: Instant::now(),
        }
    }

    pub(super) fn give(&mut self, link: Link) {
        self.state = State::Idle(Some(Box::new(link)));
    }

    pub(super) fn host(&self) -> &str {
        self.target.host()
    }

    pub(super) fn is_in_trouble(&self) -> bool {
        self.trouble.is_some()
    }

    /// Whether the node rests because its last answer took long.
    pub(super) fn is_paused(&self) -> bool {
        matches!(self.state, State::Idle(_)) && self.trouble.is_none() && Instant::now() < self.earliest
    }

    /// Whether it can be asked now.
    pub(super) fn is_free(&self, paced: bool) -> bool {
        let due = self.trouble.as_ref().is_none_or(|trouble| Instant::now() >= trouble.retry_at);
        matches!(self.state, State::Idle(_)) && due && !(paced && self.is_paused())
    }

    /// How long to wait for its answer.
    pub(super) fn patience(&self, patient: bool) -> Duration {
        match (self.late || self.trouble.is_some(), self.heard, patient) {
            (true, ..) => Duration::ZERO,
            (_, None, true) => Duration::from_secs(5),
            (_, None, false) => Duration::from_secs(1),
            (_, Some(_), patient) => usual_patience(patient),
        }
    }

    /// Runs the job in a background task: an answer after the patience is late, but not lost.
    pub(super) fn start(&mut self, job: Job, clock: Clock) {
        let State::Idle(link) = &mut self.state else { return };
        let work = work(link.take(), self.target.clone(), self.by_ip.clone(), clock, job);
        self.state = State::Busy(Task(tokio::spawn(work)));
    }

    /// The answer, if it arrives within this time.
    pub(super) async fn wait(&mut self, patience: Duration) -> Option<Done> {
        let State::Busy(task) = &mut self.state else { return None };
        if let Ok(joined) = timeout(patience, &mut task.0).await {
            Some(self.settle(joined))
        } else {
            self.late = true;
            None
        }
    }

    /// A late answer, if it has arrived by now.
    pub(super) async fn harvest(&mut self) -> Option<Done> {
        match &mut self.state {
            State::Busy(task) if task.0.is_finished() => {
                let joined = (&mut task.0).await;
                Some(self.settle(joined))
            }
            _ => None,
        }
    }

    fn settle(&mut self, joined: Result<Done, tokio::task::JoinError>) -> Done {
        match joined {
            Ok(mut done) => {
                self.state = State::Idle(done.link.take());
                done
            }
            Err(error) if error.is_panic() => std::panic::resume_unwind(error.into_panic()),
            Err(error) => {
                self.state = State::Idle(None);
                let fault = LinkFault::Broken { endpoint: self.name.clone(), why: error.to_string() };
                Done { link: None, answer: Err(fault), started: Instant::now(), took: Duration::ZERO }
            }
        }
    }

    /// Records how a job went, and when the node may be asked next.
    pub(super) fn note(&mut self, done: &Done, clock: Clock, patient: bool) {
        match &done.answer {
            Ok(_) => {
                self.trouble = None;
                self.heard = Some(clock.now());
                self.late = self.late && done.took > usual_patience(patient);
                self.earliest = done.started + done.took.saturating_mul(SHARE).min(LONGEST_PAUSE);
            }
            Err(fault) => {
                let tries = self.trouble.as_ref().map_or(1, |trouble| trouble.tries + 1);
                let since = self.trouble.as_ref().map_or(clock.now(), |trouble| trouble.since);
                let wait = FIRST_WAIT.saturating_mul(1 << (tries - 1).min(8)).min(LONGEST_WAIT);
                self.late = false;
                self.trouble = Some(Trouble { since, why: short(fault), tries, retry_at: Instant::now() + wait });
            }
        }
    }

    /// Why the node does not answer, as a sentence; `None` while it does.
    pub(super) fn words(&self, clock: Clock, at_once: bool) -> Option<String> {
        let (since, why) = if let Some(trouble) = &self.trouble {
            (trouble.since, trouble.why.as_str())
        } else {
            let last = self.heard.unwrap_or(self.born);
            let silent = self.late && (at_once || clock.mono().since(last.mono) > SILENT_MS);
            (last, silent.then_some("it does not answer")?)
        };
        let since = rfc3339(since.wall_ms / 1000 * 1000).replace(".000", "");
        Some(format!("node {} unreachable since {since}: {why}", self.name))
    }
}

/// How long a healthy node may take. A tick of the screen continues without a slower node; a reading for a script waits.
fn usual_patience(patient: bool) -> Duration {
    Duration::from_millis(if patient { 2000 } else { 200 })
}

/// The reason without the node's name, because the sentence already has it.
fn short(fault: &LinkFault) -> String {
    match fault {
        LinkFault::NotReached { why, .. }
        | LinkFault::Refused { why, .. }
        | LinkFault::Answered { why, .. }
        | LinkFault::FailingOver { why }
        | LinkFault::Broken { why, .. } => why.clone(),
        LinkFault::Silent { limit, .. } => format!("no answer within {}", humantime::format_duration(*limit)),
    }
}

async fn work(link: Option<Box<Link>>, target: Target, by_ip: Option<Target>, clock: Clock, job: Job) -> Done {
    let started = Instant::now();
    let link = match (link, by_ip) {
        (Some(link), _) => Ok(link),
        (None, by_ip) => match (Link::connect(&target, clock).await, by_ip) {
            (Err(LinkFault::NotReached { .. }), Some(target)) => Link::connect(&target, clock).await.map(Box::new),
            (link, _) => link.map(Box::new),
        },
    };
    match link {
        Err(fault) => Done { link: None, answer: Err(fault), started, took: started.elapsed() },
        Ok(mut link) => {
            // the time of connecting is no load on the server, so it earns no pause
            let started = Instant::now();
            let answer = ask(&mut link, &job).await;
            let link = answer.is_ok().then_some(link);
            Done { link, answer, started, took: started.elapsed() }
        }
    }
}

async fn ask(link: &mut Link, job: &Job) -> Result<Answer, LinkFault> {
    let mut answer = Answer { pass: job.pass, ..Answer::default() };
    if let Some((key, id, asking)) = &job.entry {
        let mut commands = vec![commands::plain("ASKING"); usize::from(*asking)];
        commands.push(commands::one_entry(key, *id));
        let (replies, _) = link.send(&commands).await?;
        answer.entry = replies.last().map(decode::entry);
        return Ok(answer);
    }
    if let Some((key, group, step)) = &job.census {
        answer.census = Some(link.census(key, group, step).await?);
        return Ok(answer);
    }
    if !job.asking.is_empty() {
        let (asked, cost) = asking(link, &job.asking).await?;
        answer.asked = asked;
        answer.sample.cost.add(cost);
        answer.sample.at = link.clock().mono();
    }
    if job.asking.is_empty() || job.request != Request::default() {
        let mut sample = link.sample(&job.request).await?;
        sample.cost.add(answer.sample.cost);
        answer.sample = sample;
    }
    if job.topology {
        let (replies, cost) = link.send(&[commands::plain("CLUSTER SLOTS")]).await?;
        answer.topology = replies.into_iter().next();
        answer.sample.cost.add(cost);
    }
    Ok(answer)
}

/// Asks for streams with a slot that is migrating to this node. Until the migration ends the node answers for them only after ASKING.
async fn asking(link: &mut Link, streams: &[StreamRequest]) -> Result<(Vec<StreamSample>, Cost), LinkFault> {
    let plans: Vec<_> = streams
        .iter()
        .map(|stream| {
            let multi = link.asks_whole(&stream.key);
            (stream, block::steps_in_order(stream, multi), multi)
        })
        .collect();
    let commands: Vec<_> = plans.iter().flat_map(|(_, steps, multi)| block::block(steps, *multi, true)).collect();
    let (replies, cost) = link.send(&commands).await?;
    let mut replies = replies.into_iter();
    let mut samples = Vec::new();
    for (stream, steps, multi) in plans {
        let sample = if multi {
            // ASKING, MULTI, the commands, EXEC
            let part: Vec<Value> = replies.by_ref().take(steps.len() + 3).skip(1).collect();
            let opening = part.first().cloned().unwrap_or(Value::Nil);
            match block::unpack(part) {
                block::Block::Whole(values) => link.collect(stream, &steps, &values, true),
                block::Block::Astray(values) => link.collect(stream, &steps, &values, false),
                block::Block::Skewed(values) => {
                    // MULTI was refused and used up the ASKING, so these replies are redirections; without MULTI each command gets its
                    // own ASKING
                    link.ask_singly(&opening);
                    link.collect(stream, &steps, &values, false)
                }
                block::Block::Aborted => unanswered(link, stream),
            }
        } else {
            let part: Vec<Value> = replies.by_ref().take(steps.len() * 2).skip(1).step_by(2).collect();
            link.collect(stream, &steps, &part, false)
        };
        samples.push(sample);
    }
    Ok((samples, cost))
}

/// One command was refused, so EXEC ran none of them. When the slot has moved, the stream is asked command by command.
fn unanswered(link: &mut Link, stream: &StreamRequest) -> StreamSample {
    let mut sample = link.collect(stream, &[], &[], false);
    let fault = Fault::Away(format!("the slot of {} is moving", visible(stream.key.bytes())));
    sample.facts = Err(fault.clone());
    sample.groups = Err(fault);
    sample
}
