//! The polling task. It owns the connection, keeps the interval, never has two polls in flight and never gives up.

use super::{LinkFault, Source, Target, Walker, Wire};
use crate::{
    clock::Clock,
    core::{
        id::EntryId,
        name::Name,
        sample::{EntryPayload, Request, Sample},
        time::Mono,
    },
};
use std::time::Duration;
use tokio::{
    sync::{mpsc, watch},
    time::{Instant, sleep_until},
};

/// What to poll and how often. The latest plan applies.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    pub request: Request,
    /// From the start of one tick to the start of the next.
    pub interval: Duration,
}

/// A request outside the ticks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Order {
    /// Poll at once. The next tick follows one interval later.
    PollNow,
    /// Fetch one entry with its payload.
    Entry { key: Name, id: EntryId },
}

/// What the poller sends back.
#[derive(Debug)]
pub enum Report {
    /// A tick's sample, and the interval that was actually kept.
    Sampled(Box<Sample>, Duration),
    /// An entry that was requested.
    Entry(EntryPayload),
    /// The connection failed or was lost. The next attempt is at `retry_at`.
    Down { fault: LinkFault, retry_at: Mono },
}

/// A tick may take at most a tenth of the time; a slower reply stretches the interval.
const SHARE: u32 = 10;
const FIRST_WAIT: Duration = Duration::from_millis(250);
const LONGEST_WAIT: Duration = Duration::from_secs(5);

#[derive(Debug)]
pub struct Poller {
    pub target: Target,
    pub clock: Clock,
    pub plan: watch::Receiver<Plan>,
    pub orders: mpsc::Receiver<Order>,
    pub reports: mpsc::Sender<Report>,
}

impl Poller {
    /// Runs until no one receives its reports. `link` is the connection made before the screen opened.
    pub async fn run(mut self, mut link: Option<Wire>) {
        let mut tries = 0;
        loop {
            let fault = match link.take() {
                Some(open) => {
                    let Some(fault) = self.poll(open, &mut tries).await else { return };
                    fault
                }
                None => match Wire::connect(&self.target, self.clock).await {
                    Ok(open) => {
                        link = Some(open);
                        continue;
                    }
                    Err(fault) => fault,
                },
            };
            tries += 1;
            let wait = FIRST_WAIT.saturating_mul(1 << (tries - 1).min(8)).min(LONGEST_WAIT);
            let retry_at = Mono(self.clock.mono().0 + wait.as_millis() as u64);
            if self.reports.send(Report::Down { fault, retry_at }).await.is_err() {
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
                order = self.orders.recv() => match order {
                    Some(Order::PollNow) => return true,
                    Some(Order::Entry { .. }) => {}
                    None => return false,
                },
            }
        }
    }

    /// Ticks on one connection until it breaks; `None` when no one listens any more.
    async fn poll(&mut self, mut link: Wire, tries: &mut u32) -> Option<LinkFault> {
        let mut next = Instant::now();
        let mut earliest = next;
        let mut walker = Walker::default();
        loop {
            tokio::select! {
                () = sleep_until(next) => {}
                () = sleep_until(walker.due().unwrap_or(next)), if walker.due().is_some_and(|due| due < next) => {
                    if let Err(fault) = walker.step(&mut link, self.clock).await {
                        return Some(fault);
                    }
                    continue;
                }
                order = self.orders.recv() => match order? {
                    // at once, but a slow server must not be polled without a pause
                    Order::PollNow => {
                        next = next.min(earliest.max(Instant::now()));
                        continue;
                    }
                    Order::Entry { key, id } => {
                        match link.entry(&key, id).await {
                            Ok(entry) => self.reports.send(Report::Entry(entry)).await.ok()?,
                            Err(fault) => return Some(fault),
                        }
                        continue;
                    }
                },
            }
            let start = Instant::now();
            let plan = self.plan.borrow_and_update().clone();
            let mut sample = match link.sample(&plan.request).await {
                Ok(sample) => sample,
                Err(fault) => return Some(fault),
            };
            *tries = 0;
            rehearse_panic();
            // counted from the start of the tick: a late tick is dropped, not made up for
            let least = link.spent(start.elapsed()).saturating_mul(SHARE);
            earliest = start + least;
            let interval = plan.interval.max(least);
            next = start + interval;
            walker.follow(plan.request.census.as_ref(), self.clock);
            walker.report(&mut sample);
            self.reports.send(Report::Sampled(Box::new(sample), interval)).await.ok()?;
        }
    }
}

/// Debug builds only: the end-to-end test must be able to cause a panic in a task.
fn rehearse_panic() {
    #[cfg(debug_assertions)]
    assert!(std::env::var_os("PELWATCH_REHEARSE_PANIC").is_none(), "a panic rehearsed in the polling task");
}
