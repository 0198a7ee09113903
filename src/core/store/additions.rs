//! How fast entries come in: one number for a stream, whichever of its groups is looked at.

use super::RATE_WINDOW_MS;
use crate::core::{
    history::{LONGEST_GAP_MS, Rates, SHORTEST_MS},
    known::Known,
    model::StreamFacts,
    time::Mono,
};
use std::collections::VecDeque;

/// The server's count of all additions over the last seconds, oldest first. Where polls are further apart than that, the last two.
#[derive(Clone, Debug, Default)]
pub struct Additions(VecDeque<(Mono, i64)>);

impl Additions {
    pub(super) fn push(&mut self, at: Mono, facts: &StreamFacts) {
        let Known::Is(added) = facts.entries_added else { return self.0.clear() };
        // created again, or nothing was heard for long: a mean over an outage is no rate of now
        if self.0.back().is_some_and(|(then, last)| added < *last || at.since(*then) > LONGEST_GAP_MS) {
            self.0.clear();
        }
        self.0.push_back((at, added));
        let old = |(then, _): &(Mono, i64)| at.since(*then) > RATE_WINDOW_MS;
        while self.0.len() > 2 && self.0.front().is_some_and(old) {
            self.0.pop_front();
        }
    }

    /// Entries a second at `now`; `None` before a second poll, where the server does not count them, and once the last poll is older than a
    /// rate looks back.
    pub fn per_s(&self, now: Mono) -> Option<f64> {
        let ((from, before), (to, added)) = (self.0.front()?, self.0.back()?);
        let span_ms = to.since(*from);
        let is_new = now.since(*to) <= span_ms.max(RATE_WINDOW_MS);
        (span_ms >= SHORTEST_MS && is_new).then(|| added.saturating_sub(*before) as f64 * 1000.0 / span_ms as f64)
    }

    /// Whether a second poll will tell.
    pub fn is_early(&self) -> bool {
        let span_ms = self.0.front().zip(self.0.back()).map(|((from, _), (to, _))| to.since(*from));
        span_ms.is_some_and(|span_ms| span_ms < SHORTEST_MS)
    }
}

impl super::GroupState {
    /// Rates over the last ten seconds: what comes in is the stream's, what goes out the group's.
    pub fn rates(&self, stream: &super::StreamState) -> Rates {
        let added = stream.additions.per_s(self.at);
        let rates = self.history.rates(RATE_WINDOW_MS);
        // entries that were lost were not delivered
        if self.counts_lost_as_read(self.at, RATE_WINDOW_MS) {
            return Rates { added, delivered: None, acked: None };
        }
        Rates { added, ..rates }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(added: i64) -> StreamFacts {
        StreamFacts { entries_added: Known::Is(added), ..StreamFacts::empty() }
    }

    #[test]
    fn two_polls_tell_however_far_they_are_apart() {
        for apart_ms in [1_000, 5_000, 60_000] {
            let mut additions = Additions::default();
            additions.push(Mono(0), &facts(100));
            assert_eq!((additions.per_s(Mono(0)), additions.is_early()), (None, true));
            additions.push(Mono(apart_ms), &facts(100 + apart_ms as i64 / 100));
            assert_eq!(additions.per_s(Mono(apart_ms * 2)), Some(10.0), "{apart_ms}");
            assert_eq!(additions.per_s(Mono(apart_ms * 2 + 10_000)), None, "{apart_ms}");
        }
    }

    #[test]
    fn only_the_last_ten_seconds_count_and_a_stream_created_again_starts_over() {
        let mut additions = Additions::default();
        for second in 0..60 {
            additions.push(Mono(second * 1000), &facts(if second < 40 { 0 } else { (second as i64 - 39) * 5 }));
        }
        assert_eq!(additions.per_s(Mono(59_000)), Some(5.0));
        additions.push(Mono(60_000), &facts(3));
        assert_eq!(additions.per_s(Mono(60_000)), None);
        additions.push(Mono(61_000), &StreamFacts { entries_added: Known::Unsupported, ..facts(0) });
        assert!(!additions.is_early(), "a server that does not count never will");
    }
}
