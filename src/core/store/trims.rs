//! How fast trimming moves the beginning of a stream, over the last two minutes.

use crate::core::{id::EntryId, known::Known, model::StreamFacts, time::Mono};
use std::collections::VecDeque;

/// Older moves say nothing about the present.
const WINDOW_MS: u64 = 120_000;
/// A pace is not computed from fewer moves.
const MOVES: usize = 3;
/// A pace is not computed over less time, in milliseconds.
const SPAN_MS: u64 = 3_000;
/// Most moves kept.
const MOST: usize = 240;

/// A first entry of the stream, and when it was seen.
#[derive(Clone, Copy, Debug)]
struct Start {
    at: Mono,
    first: EntryId,
    /// Entries removed from the stream until then.
    removed: Option<i64>,
}

/// The first entries of a stream, one for each time it was seen to have moved.
#[derive(Clone, Debug, Default)]
pub struct Trims {
    starts: VecDeque<Start>,
    /// The last facts, and when entries were last removed behind a first entry that stayed: that is XDEL, since trimming removes the first.
    last: Option<(EntryId, i64, Option<i64>, Known<EntryId>)>,
    deleted: Option<Mono>,
}

/// How fast the beginning of a stream moves.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pace {
    /// Growth of the first half of the first id, per millisecond.
    pub speed: f64,
    /// Entries removed a second; `None` where the server does not count additions.
    pub removed_per_s: Option<f64>,
    /// The time over which it was measured, in milliseconds.
    pub span_ms: u64,
}

impl Trims {
    /// Adds the facts of one moment. A stream that is empty, or that was created again, starts over.
    pub fn push(&mut self, at: Mono, facts: &StreamFacts) {
        let removed = match facts.entries_added {
            Known::Is(added) => added.checked_sub(facts.length),
            _ => None,
        };
        self.note_deletes(at, facts, removed);
        let Some(first) = facts.first else { return self.starts.clear() };
        let last = self.starts.back().map(|start| start.first);
        if last == Some(first) {
            return;
        }
        if last.is_some_and(|last| first < last) {
            self.starts.clear();
        }
        while self.starts.len() == MOST || self.starts.front().is_some_and(|old| at.since(old.at) > WINDOW_MS) {
            self.starts.pop_front();
        }
        self.starts.push_back(Start { at, first, removed });
    }

    /// Notes that entries were deleted, not trimmed: the first entry stayed and others went, or the largest deleted id grew.
    fn note_deletes(&mut self, at: Mono, facts: &StreamFacts, removed: Option<i64>) {
        if let Some((first, length, before, max_deleted)) = self.last {
            let stayed = facts.first == Some(first);
            let fewer = match (before, removed) {
                (Some(before), Some(removed)) => removed > before,
                _ => facts.length < length,
            };
            let grew = matches!((max_deleted, facts.max_deleted), (Known::Is(old), Known::Is(new)) if new > old);
            if stayed && fewer || grew {
                self.deleted = Some(at);
            }
        }
        self.last = facts.first.map(|first| (first, facts.length, removed, facts.max_deleted));
    }

    /// The pace until `now`; `None` unless the beginning moved several times recently. When trimming stops, the pace falls, because the
    /// time after the last step counts. `None`, too, while entries are deleted one by one: what trimming does then cannot be told apart.
    pub fn pace(&self, now: Mono) -> Option<Pace> {
        if self.deleted.is_some_and(|at| now.since(at) <= WINDOW_MS) {
            return None;
        }
        let recent = || self.starts.iter().filter(|start| now.since(start.at) <= WINDOW_MS);
        let (old, new) = (recent().next()?, recent().next_back()?);
        let steps = recent().count();
        let moving = new.at.since(old.at);
        if steps < MOVES || moving < SPAN_MS {
            return None;
        }
        // the next step is expected after an average pause; only the time beyond it counts as standing still
        let pause = moving / (steps as u64 - 1);
        let span = moving.max(now.since(old.at).saturating_sub(pause));
        let removed = new.removed.zip(old.removed).map(|(new, old)| new.saturating_sub(old)).filter(|n| *n >= 0);
        Some(Pace {
            speed: new.first.ms.saturating_sub(old.first.ms) as f64 / span as f64,
            removed_per_s: removed.map(|n| n as f64 * 1000.0 / span as f64),
            span_ms: span,
        })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::expect_used)]
    use super::*;

    fn facts(first: u64, added: i64) -> StreamFacts {
        StreamFacts {
            length: 100,
            first: Some(EntryId::new(first, 0)),
            entries_added: Known::Is(added),
            max_deleted: Known::Unsupported,
            ..StreamFacts::empty()
        }
    }

    #[test]
    fn a_steady_trimming_has_a_pace_and_one_that_stopped_loses_it() {
        let mut trims = Trims::default();
        for second in 0..10 {
            assert_eq!(trims.pace(Mono(second * 1000)).is_some(), second > 3, "{second}");
            trims.push(Mono(second * 1000), &facts(500 + 20 * second, 1000 + 20 * second as i64));
        }
        let pace = trims.pace(Mono(9000)).expect("ten steps");
        assert!((pace.speed - 0.02).abs() < 1e-9, "{pace:?}");
        assert!(pace.removed_per_s.is_some_and(|rate| (rate - 20.0).abs() < 1e-6), "{pace:?}");
        let later = trims.pace(Mono(50_000)).expect("still within two minutes");
        assert!(later.speed < pace.speed / 4.0, "{later:?}");
        assert_eq!(trims.pace(Mono(200_000)), None);
    }

    #[test]
    fn a_stream_that_was_created_again_starts_over() {
        let mut trims = Trims::default();
        for second in 0..10 {
            trims.push(Mono(second * 1000), &facts(500 + second, 1000));
        }
        trims.push(Mono(10_000), &facts(1, 100));
        assert_eq!(trims.pace(Mono(10_000)), None);
    }
}
