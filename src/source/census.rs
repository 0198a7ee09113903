//! Walks a census between the ticks. After each command it rests long enough to keep the share of the server's time within the limit.

use super::{LinkFault, Source, commands, decode};
use crate::{
    clock::Clock,
    core::{
        census::{Answer, CensusRequest, Step, Walk},
        name::Name,
        sample::{Cost, PageRequest, Sample},
    },
};
use redis::{Cmd, Value};
use std::time::Duration;
use tokio::time::Instant;

/// The census reads at most this many bytes a second.
const BYTES_A_SECOND: u64 = 2 << 20;

/// The walk in progress, if one is requested.
#[derive(Debug)]
pub struct Walker {
    walk: Option<Walk>,
    due: Instant,
    /// Spent since the last tick, not reported yet.
    unbilled: Cost,
}

impl Default for Walker {
    fn default() -> Self {
        Self { walk: None, due: Instant::now(), unbilled: Cost::default() }
    }
}

impl Walker {
    /// Follows the latest request: continue the walk, start another, or stop.
    pub fn follow(&mut self, request: Option<&CensusRequest>, clock: Clock) {
        match request {
            None => self.walk = None,
            Some(request) => {
                if !self.walk.as_mut().is_some_and(|walk| walk.follow(request)) {
                    self.walk = Some(Walk::new(request.clone(), clock.mono()));
                }
            }
        }
    }

    /// When the next command may be sent; `None` when there is nothing to send.
    pub fn due(&self) -> Option<Instant> {
        self.walk.as_ref().filter(|walk| walk.tally().ended.is_none()).map(|_| self.due)
    }

    /// Sends the next command, then sets how long to rest.
    pub async fn step(&mut self, source: &mut impl Source, clock: Clock) -> Result<(), LinkFault> {
        let Some(walk) = &mut self.walk else { return Ok(()) };
        let Some(step) = walk.next(clock.mono()) else { return Ok(()) };
        let request = walk.request();
        let (answer, cost) = source.census(&request.key, &request.group, &step).await?;
        // without the server's TIME the reply time stands in for it: it is longer, which errs on the safe side
        let spent_us = cost.server_us.unwrap_or(cost.slowest_reply_us);
        let rest_us = spent_us.saturating_mul(1_000_000) / request.limits.second_us.max(1);
        // payloads that come along cost more on the network than on the server
        let rest = Duration::from_micros(rest_us.max(cost.bytes_in.saturating_mul(1_000_000) / BYTES_A_SECOND));
        self.due = Instant::now() + rest;
        self.unbilled.add(cost);
        walk.take(&step, answer, spent_us, clock.mono());
        Ok(())
    }

    /// Writes into a tick's sample how far the walk is, and what it cost since the last tick.
    pub fn report(&mut self, sample: &mut Sample) {
        sample.census = self.walk.as_ref().map(|walk| Box::new(walk.sample()));
        sample.walked = std::mem::take(&mut self.unbilled);
    }
}

pub(super) fn commands_of(key: &Name, group: &Name, step: &Step) -> Vec<Cmd> {
    let one = |id| PageRequest { from: id, to: id, count: 1, consumer: None };
    match step {
        Step::Older(older) => vec![commands::xpending_older(key, group, older)],
        Step::Page(page) => vec![commands::xpending_page(key, group, page)],
        Step::Look(ids) => ids.iter().map(|id| commands::one_entry(key, *id)).collect(),
        Step::Confirm(ids) => ids.iter().map(|id| commands::xpending_page(key, group, &one(*id))).collect(),
    }
}

pub(super) fn answer(step: &Step, replies: &[Value]) -> Answer {
    match step {
        Step::Page(_) | Step::Older(_) => Answer::Page(decode::pending(replies.first().unwrap_or(&Value::Nil))),
        Step::Look(_) => {
            Answer::There(replies.iter().map(|reply| decode::entry(reply).ok().map(|entry| entry.is_some())).collect())
        }
        Step::Confirm(_) => Answer::There(
            replies.iter().map(|reply| decode::pending(reply).ok().map(|rows| !rows.is_empty())).collect(),
        ),
    }
}
