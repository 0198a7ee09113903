//! Whether the server answers at all, and how bad things are: nothing known before is a verdict of now.

use super::{App, LinkState};
use crate::core::{
    symptoms::Level,
    time::{Mono, Now},
};

impl App {
    /// Since when nobody answers: the link is down, or the server hangs; why stands at the header's right. A screen that stands still on
    /// purpose keeps its verdict.
    pub fn unanswered_since(&self, now: Now) -> Option<Mono> {
        if self.frozen.is_some() {
            return None;
        }
        let last = self.watch.store.sampled.map(|at| at.mono);
        match &self.link {
            LinkState::Down { since, .. } => Some(last.unwrap_or(*since)),
            LinkState::Up => last.filter(|last| now.mono.since(*last) > self.silence_ms()),
        }
    }

    /// How many critical findings there are, of groups, streams and servers.
    pub fn count_critical(&self) -> usize {
        self.ranked().critical + self.count_of_server(Level::Critical)
    }

    pub fn count_of_server(&self, level: Level) -> usize {
        self.shown().verdicts.server().iter().filter(|finding| finding.counts_as() == level).count()
    }

    pub fn is_unanswered(&self, now: Now) -> bool {
        self.unanswered_since(now).is_some()
    }

    /// Without a sample for longer than this, in milliseconds, a server hangs.
    pub fn silence_ms(&self) -> u64 {
        self.kept_interval_ms * 2 + 1000
    }
}
