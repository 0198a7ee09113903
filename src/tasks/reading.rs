//! Readings for scripts: samples until the data is complete, or for as long as trends need.

use crate::{
    clock::Clock,
    core::{
        store::{self, Focus, Settings},
        time::Now,
        watch::Watch,
    },
    source::{LinkFault, Source, Walker},
};
use std::time::Duration;
use tokio::time::Instant;

/// Most rounds of one full reading. A busy group never holds still, and a script must not wait for that.
const ROUNDS: usize = 64;

/// Repeats full readings until `settle` has passed, but at least one, and returns the result.
pub async fn settle(
    source: &mut impl Source,
    settings: Settings,
    clock: Clock,
    settle: Duration,
    interval: Duration,
) -> Result<(Watch, Now), LinkFault> {
    let mut reading = FullReading::new(settings, clock);
    let end = Instant::now() + settle;
    loop {
        let start = Instant::now();
        reading.once(source).await?;
        if Instant::now() >= end {
            break;
        }
        reading.walk_until(source, (start + interval).min(end)).await?;
    }
    let now = clock.now();
    Ok((reading.watch, now))
}

#[derive(Debug)]
pub struct FullReading {
    /// Everything read so far.
    pub watch: Watch,
    clock: Clock,
    walker: Walker,
}

impl FullReading {
    /// A reading with no data yet.
    pub fn new(settings: Settings, clock: Clock) -> Self {
        Self { watch: Watch::new(settings), clock, walker: Walker::default() }
    }

    /// One full reading. It takes as many rounds as needed, up to a limit.
    pub async fn once(&mut self, source: &mut impl Source) -> Result<(), LinkFault> {
        self.watch.store.begin_reading(self.clock.mono());
        let most = ROUNDS + self.watch.store.settings.pel_limit / 1000;
        for round in 1..=most {
            let request = self.watch.store.next_request(&Focus::All, self.clock.mono());
            let mut sample = source.sample(&request).await?;
            self.walker.follow(request.census.as_ref(), self.clock);
            self.walker.report(&mut sample);
            self.watch.take(sample, self.clock.now(), store::Reading::Full);
            if !self.watch.store.wants_more(round) {
                break;
            }
        }
        Ok(())
    }

    /// Continues the census until this time.
    async fn walk_until(&mut self, source: &mut impl Source, until: Instant) -> Result<(), LinkFault> {
        while let Some(due) = self.walker.due().filter(|due| *due < until) {
            tokio::time::sleep_until(due).await;
            self.walker.step(source, self.clock).await?;
        }
        tokio::time::sleep_until(until).await;
        Ok(())
    }
}
