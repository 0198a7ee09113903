//! Idempotent additions (XADD IDMP, 8.6+) that the server refused as duplicates, over the last minute.

use crate::core::{known::Known, model::StreamFacts, time::Mono};
use std::collections::VecDeque;

const WINDOW_MS: u64 = 60_000;
/// Most moments kept.
const MOST: usize = 120;

/// The counters of a stream that refused duplicates at all.
#[derive(Clone, Debug, Default)]
pub struct Duplicates {
    /// When, duplicates refused until then, entries added until then.
    moments: VecDeque<(Mono, i64, i64)>,
}

/// Growth of both counters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Growth {
    pub refused: i64,
    pub added: i64,
    pub span_ms: u64,
}

impl Duplicates {
    pub(super) fn push(&mut self, at: Mono, facts: &StreamFacts) {
        let (Known::Is(refused), Known::Is(added)) = (facts.duplicates, facts.entries_added) else { return };
        if self.moments.back().is_some_and(|(_, was, before)| refused < *was || added < *before) {
            self.moments.clear();
        }
        while self.moments.len() == MOST || self.moments.front().is_some_and(|(old, ..)| at.since(*old) > WINDOW_MS) {
            self.moments.pop_front();
        }
        // a stream without any takes no memory, but the moment before the first one counts
        if refused == 0 {
            self.moments.clear();
        }
        self.moments.push_back((at, refused, added));
    }

    /// What came within the last minute.
    pub fn growth(&self) -> Option<Growth> {
        let ((from, refused, added), (to, now, all)) = (self.moments.front()?, self.moments.back()?);
        Some(Growth { refused: now - refused, added: all - added, span_ms: to.since(*from) })
    }
}
