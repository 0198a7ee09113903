//! The polling task on a scripted source and a clock that stands still: what it sends, when, and that it never gives up.

use pelwatch::{
    app::{
        effect::{Effect, Polling},
        msg::Msg,
    },
    clock::Clock,
    core::{
        census::{Answer, Step},
        id::EntryId,
        name::Name,
        sample::{Cost, EntryPayload, Fault, Request, Sample},
    },
    source::{LinkFault, Source},
    tasks::{Connect, Poller},
};
use std::{
    collections::VecDeque,
    sync::{Arc, Mutex},
    time::Duration,
};
use tokio::{
    sync::{mpsc, watch},
    time::{Instant, sleep, timeout},
};

/// What happens at one connection.
#[derive(Clone, Copy, Debug)]
enum Act {
    /// A sample comes after so many milliseconds.
    Answer(u64),
    /// The connection breaks.
    Break,
}

/// When each request came, in milliseconds since the start of the script.
type Asked = Arc<Mutex<Vec<u64>>>;

struct Script {
    acts: VecDeque<Act>,
    start: Instant,
    asked: Asked,
}

fn broken() -> LinkFault {
    LinkFault::Broken { endpoint: "script".to_owned(), why: "it says so".to_owned() }
}

impl Source for Script {
    async fn sample(&mut self, _: &Request) -> Result<Sample, LinkFault> {
        self.asked.lock().unwrap().push(self.start.elapsed().as_millis() as u64);
        match self.acts.pop_front() {
            Some(Act::Answer(ms)) => {
                sleep(Duration::from_millis(ms)).await;
                Ok(Sample::default())
            }
            Some(Act::Break) | None => Err(broken()),
        }
    }

    async fn entry(&mut self, key: &Name, id: EntryId) -> Result<EntryPayload, LinkFault> {
        Ok(EntryPayload { key: key.clone(), id, fields: Err(Fault::Missing) })
    }

    async fn census(&mut self, _: &Name, _: &Name, _: &Step) -> Result<(Answer, Cost), LinkFault> {
        Err(broken())
    }
}

/// One entry for each try to connect: `None` is not reached.
struct Tries {
    left: VecDeque<Option<Vec<Act>>>,
    start: Instant,
    asked: Asked,
}

impl Connect for Tries {
    type Source = Script;

    async fn connect(&mut self) -> Result<Script, LinkFault> {
        match self.left.pop_front() {
            Some(Some(acts)) => Ok(Script { acts: acts.into(), start: self.start, asked: self.asked.clone() }),
            _ => Err(LinkFault::NotReached { endpoint: "script".to_owned(), why: "nobody there".to_owned() }),
        }
    }
}

/// A running poller and its ends.
struct Running {
    effects: mpsc::Sender<Effect>,
    messages: mpsc::Receiver<Msg>,
    polling: watch::Sender<Polling>,
    asked: Asked,
    task: tokio::task::JoinHandle<()>,
}

impl Running {
    fn start(interval_ms: u64, tries: &[Option<&[Act]>]) -> Self {
        let asked = Asked::default();
        let left = tries.iter().map(|acts| acts.map(<[Act]>::to_vec)).collect();
        let connect = Tries { left, start: Instant::now(), asked: asked.clone() };
        let (effects, for_poller) = mpsc::channel(8);
        let (to_app, messages) = mpsc::channel(8);
        let (polling, watched) = watch::channel(Polling { request: Request::default(), interval_ms });
        let poller = Poller { connect, clock: Clock::start(), polling: watched, effects: for_poller, messages: to_app };
        let task = tokio::spawn(poller.run(None));
        Self { effects, messages, polling, asked, task }
    }

    /// The next message in a word: the interval of a sample, or why the server is gone.
    async fn next(&mut self) -> String {
        let message = timeout(Duration::from_secs(600), self.messages.recv()).await.expect("a message comes");
        match message.expect("the poller runs") {
            Msg::Sampled { interval_ms, .. } => format!("sampled, next in {interval_ms}"),
            Msg::Down { why, .. } => why,
            Msg::Entry(entry) => format!("entry {}", entry.id),
            other => panic!("the poller sends no {other:?}"),
        }
    }

    fn asked(&self) -> Vec<u64> {
        self.asked.lock().unwrap().clone()
    }
}

const SAMPLED: &str = "sampled, next in 1000";
const BROKEN: &str = "the connection to script broke: it says so";
const NOBODY: &str = "cannot reach script: nobody there";

#[tokio::test(start_paused = true)]
async fn after_every_loss_it_connects_and_samples_again() {
    let mut running = Running::start(
        1000,
        &[
            None,
            Some(&[Act::Answer(1), Act::Answer(1), Act::Break]),
            None,
            None,
            Some(&[Act::Break]),
            Some(&[Act::Answer(1)]),
        ],
    );
    for expected in [NOBODY, SAMPLED, SAMPLED, BROKEN, NOBODY, NOBODY, BROKEN, SAMPLED, BROKEN, NOBODY] {
        assert_eq!(running.next().await, expected);
    }
}

#[tokio::test(start_paused = true)]
async fn waits_between_tries_grow_to_five_seconds_and_begin_small_after_a_success() {
    let mut tries: Vec<Option<&[Act]>> = vec![None; 9];
    tries.push(Some(&[Act::Answer(0)]));
    let mut running = Running::start(1000, &tries);
    let mut last = Instant::now();
    let mut waits = Vec::new();
    for _ in 0..9 {
        assert_eq!(running.next().await, NOBODY);
        waits.push(last.elapsed().as_millis());
        last = Instant::now();
    }
    for (wait, expected) in waits.iter().zip([0, 250, 500, 1000, 2000, 4000, 5000, 5000, 5000]) {
        // the timer counts in whole milliseconds
        assert!(wait.abs_diff(expected) <= 2, "{waits:?}");
    }
    assert_eq!(running.next().await, SAMPLED);
    assert_eq!(running.next().await, BROKEN);
    last = Instant::now();
    assert_eq!(running.next().await, NOBODY);
    assert!(last.elapsed().as_millis().abs_diff(250) <= 2, "after a success: {:?}", last.elapsed());
}

#[tokio::test(start_paused = true)]
async fn a_slow_server_is_asked_a_tenth_of_the_time_at_most_and_by_nobody_twice_at_once() {
    let mut running =
        Running::start(1000, &[Some(&[Act::Answer(400), Act::Answer(400), Act::Answer(10), Act::Answer(0)])]);
    assert_eq!(running.next().await, "sampled, next in 4000");
    for _ in 0..5 {
        // somebody leans on the key
        running.effects.send(Effect::PollNow).await.unwrap();
    }
    assert_eq!(running.next().await, "sampled, next in 4000");
    assert_eq!(running.next().await, SAMPLED);
    let asked = running.asked();
    assert_eq!(asked.len(), 3, "{asked:?}");
    assert!(asked.windows(2).all(|pair| pair[1] - pair[0] >= 4000), "{asked:?}");
}

#[tokio::test(start_paused = true)]
async fn a_poll_that_is_asked_for_comes_at_once_and_an_entry_between_the_ticks() {
    let mut running = Running::start(60_000, &[Some(&[Act::Answer(1), Act::Answer(1), Act::Answer(1)])]);
    assert_eq!(running.next().await, "sampled, next in 60000");
    let before = Instant::now();
    let key = Name::from("orders");
    running.effects.send(Effect::FetchEntry { key, id: EntryId { ms: 7, seq: 1 } }).await.unwrap();
    assert_eq!(running.next().await, "entry 7-1");
    assert_eq!(running.asked().len(), 1, "an entry is no poll");
    running.effects.send(Effect::PollNow).await.unwrap();
    assert_eq!(running.next().await, "sampled, next in 60000");
    assert!(before.elapsed() < Duration::from_secs(1), "{:?}", before.elapsed());
}

#[tokio::test(start_paused = true)]
async fn it_follows_a_new_interval_and_ends_when_nobody_listens() {
    let mut running = Running::start(1000, &[Some(&[Act::Answer(1); 9])]);
    assert_eq!(running.next().await, SAMPLED);
    running.polling.send(Polling { request: Request::default(), interval_ms: 30_000 }).unwrap();
    assert_eq!(running.next().await, "sampled, next in 30000");
    drop((running.effects, running.messages));
    timeout(Duration::from_secs(600), running.task).await.expect("it ends").unwrap();
}
