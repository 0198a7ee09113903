//! Readings for scripts: sample until nothing is lacking, or for as long as trends need.

use crate::{
    clock::Clock,
    core::{
        store::{Focus, Settings, Store},
        time::Now,
    },
    source::{LinkFault, Source, Walker},
};
use std::time::Duration;
use tokio::time::Instant;

/// Rounds of one full reading; a busy group that never holds still must not keep a script waiting.
const ROUNDS: usize = 64;

/// Samples fully again and again until `settle` has passed, at least once, and returns what is known then.
///
/// # Errors
/// When the server is lost.
pub async fn settle(
    source: &mut impl Source,
    settings: Settings,
    clock: Clock,
    settle: Duration,
    interval: Duration,
) -> Result<(Store, Now), LinkFault> {
    let mut reading = Reading::new(settings, clock);
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
    Ok((reading.store, now))
}

/// A store that is filled by full readings.
#[derive(Debug)]
pub struct Reading {
    /// What is known so far.
    pub store: Store,
    clock: Clock,
    walker: Walker,
}

impl Reading {
    /// Nothing read so far.
    pub fn new(settings: Settings, clock: Clock) -> Self {
        Self { store: Store::new(settings), clock, walker: Walker::default() }
    }

    /// One full reading: as many rounds as it takes, bounded.
    ///
    /// # Errors
    /// When the server is lost.
    pub async fn once(&mut self, source: &mut impl Source) -> Result<(), LinkFault> {
        self.store.begin_reading(self.clock.mono());
        let most = ROUNDS + self.store.settings.pel_limit / 1000;
        for round in 1..=most {
            let request = self.store.wants(&Focus::All, self.clock.mono());
            let mut sample = source.sample(&request).await?;
            self.walker.follow(request.census.as_ref(), self.clock);
            self.walker.report(&mut sample);
            self.store.fold(sample, request.scan.as_ref(), self.clock.now(), true);
            if !self.store.is_hungry(round) {
                break;
            }
        }
        Ok(())
    }

    /// Goes on with the census until the time comes.
    async fn walk_until(&mut self, source: &mut impl Source, until: Instant) -> Result<(), LinkFault> {
        while let Some(due) = self.walker.due().filter(|due| *due < until) {
            tokio::time::sleep_until(due).await;
            self.walker.step(source, self.clock).await?;
        }
        tokio::time::sleep_until(until).await;
        Ok(())
    }
}
