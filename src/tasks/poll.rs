//! The polling task. It owns the connection, keeps the interval, never has two polls in flight and never gives up.

use crate::{
    app::{
        effect::{Effect, Polling},
        msg::Msg,
    },
    clock::Clock,
    core::{number::ms, time::Mono},
    source::{Connection, LinkFault, Source, Target, Walker},
};
use std::time::Duration;
use tokio::{
    sync::{mpsc, watch},
    time::{Instant, sleep_until},
};

/// How a poller gets its source, at the start and after each loss: from a server, or from a script in a test.
pub trait Connect {
    type Source: Source + Send;

    fn connect(&mut self) -> impl Future<Output = Result<Self::Source, LinkFault>> + Send;
}

/// Connects to a server, or to all nodes of its cluster.
#[derive(Debug)]
pub struct ToServer {
    pub target: Target,
    pub clock: Clock,
}

impl Connect for ToServer {
    type Source = Connection;

    async fn connect(&mut self) -> Result<Connection, LinkFault> {
        Connection::connect(&self.target, self.clock).await
    }
}

/// A tick may take at most a tenth of the time; a slower reply stretches the interval.
const SHARE: u32 = 10;
const FIRST_WAIT: Duration = Duration::from_millis(250);
const LONGEST_WAIT: Duration = Duration::from_secs(5);

#[derive(Debug)]
pub struct Poller<C> {
    pub connect: C,
    /// For time stamps.
    pub clock: Clock,
    pub polling: watch::Receiver<Polling>,
    /// [`Effect::PollNow`] and [`Effect::FetchEntry`]; others are ignored.
    pub effects: mpsc::Receiver<Effect>,
    pub messages: mpsc::Sender<Msg>,
}

impl<C: Connect> Poller<C> {
    /// Runs until no one listens any more. `source` was connected before the screen opened.
    pub async fn run(mut self, mut source: Option<C::Source>) {
        let mut tries = 0;
        loop {
            let fault = match source.take() {
                Some(open) => {
                    let Some(fault) = self.poll(open, &mut tries).await else { return };
                    fault
                }
                None => match self.connect.connect().await {
                    Ok(open) => {
                        source = Some(open);
                        continue;
                    }
                    Err(fault) => fault,
                },
            };
            tries += 1;
            let wait = FIRST_WAIT.saturating_mul(1 << (tries - 1).min(8)).min(LONGEST_WAIT);
            let retry_at = Mono(self.clock.mono().0 + ms(wait));
            if self
                .messages
                .send(Msg::Down { failing_over: fault.is_failing_over(), why: fault.to_string(), retry_at })
                .await
                .is_err()
            {
                return;
            }
            if !self.wait_for_retry(Instant::now() + wait).await {
                return;
            }
        }
    }

    /// Waits for the time, or until someone orders a poll; false when no one listens any more.
    async fn wait_for_retry(&mut self, until: Instant) -> bool {
        loop {
            tokio::select! {
                () = sleep_until(until) => return true,
                effect = self.effects.recv() => match effect {
                    Some(Effect::PollNow) => return true,
                    Some(_) => {}
                    None => return false,
                },
            }
        }
    }

    /// Ticks on one connection until it breaks; `None` when no one listens any more.
    async fn poll(&mut self, mut source: C::Source, tries: &mut u32) -> Option<LinkFault> {
        let mut next = Instant::now();
        let mut earliest = next;
        let mut walker = Walker::default();
        loop {
            tokio::select! {
                () = sleep_until(next) => {}
                () = sleep_until(walker.due().unwrap_or(next)), if walker.due().is_some_and(|due| due < next) => {
                    if let Err(fault) = walker.step(&mut source, self.clock).await {
                        return Some(fault);
                    }
                    continue;
                }
                effect = self.effects.recv() => match effect? {
                    // at once, but a slow server must not be polled without a pause
                    Effect::PollNow => {
                        next = next.min(earliest.max(Instant::now()));
                        continue;
                    }
                    Effect::FetchEntry { key, id } => {
                        match source.entry(&key, id).await {
                            Ok(entry) => self.messages.send(Msg::Entry(entry)).await.ok()?,
                            Err(fault) => return Some(fault),
                        }
                        continue;
                    }
                    _ => continue,
                },
            }
            let start = Instant::now();
            let polling = self.polling.borrow_and_update().clone();
            let mut sample = match source.sample(&polling.request).await {
                Ok(sample) => sample,
                Err(fault) => return Some(fault),
            };
            *tries = 0;
            rehearse_panic();
            // counted from the start of the tick: a late tick is dropped, not made up for
            let least = source.spent(start.elapsed()).saturating_mul(SHARE);
            earliest = start + least;
            let interval = Duration::from_millis(polling.interval_ms).max(least);
            next = start + interval;
            walker.follow(polling.request.census.as_ref(), self.clock);
            walker.report(&mut sample);
            let interval_ms = ms(interval);
            self.messages.send(Msg::Sampled { sample: Box::new(sample), interval_ms }).await.ok()?;
        }
    }
}

/// Debug builds only: the end-to-end test must be able to cause a panic in a task.
fn rehearse_panic() {
    #[cfg(debug_assertions)]
    assert!(std::env::var_os("PELWATCH_REHEARSE_PANIC").is_none(), "a panic rehearsed in the polling task");
}
