//! A bounded ring of points per group, and the rates that follow from it.

use super::{
    known::Known,
    lag::Lag,
    lag::LagKind,
    model::{GroupFacts, StreamFacts},
    time::Mono,
};
use std::collections::VecDeque;

/// How many points are kept: ten minutes at one a second.
pub const POINTS: usize = 600;

/// Points closer than this count as one.
const CLOSEST_MS: u64 = 50;
/// A rate over less than this says nothing.
const SHORTEST_MS: u64 = 900;

/// One sample of a group, as far as trends need it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Point {
    /// When.
    pub at: Mono,
    /// Entries ever added to the stream.
    pub added: Option<i64>,
    /// Entries the group was ever given.
    pub delivered: Option<i64>,
    /// Entries in the PEL.
    pub pending: i64,
    /// Where the cursor was.
    pub cursor: super::id::EntryId,
    /// Entries waiting; `None` while unknown.
    pub lag: Option<i64>,
    /// No fewer wait than this, and no more; `None` where that is not proven.
    pub bounds: (Option<i64>, Option<i64>),
    /// Entries in the stream, all of them possibly ahead of the cursor; `None` where new ones may come in behind it.
    pub length: Option<i64>,
}

/// The points of one group.
#[derive(Clone, Debug, Default)]
pub struct History {
    points: VecDeque<Point>,
}

/// Entries a second over a window; `None` where a counter is missing or went back.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Rates {
    /// Added to the stream.
    pub added: Option<f64>,
    /// Given to the group for the first time.
    pub delivered: Option<f64>,
    /// Left the PEL: delivered minus the growth of pending.
    pub acked: Option<f64>,
}

impl Rates {
    /// How long until nothing waits, at these rates; `None` when it never ends or is not known.
    pub fn drain_ms(&self, lag: Option<i64>) -> Option<i64> {
        let (lag, gain) = (lag?, self.delivered? - self.added?);
        (lag > 0 && gain > 0.0).then(|| (lag as f64 / gain * 1000.0) as i64)
    }
}

impl History {
    /// Takes a sample in; `stream` is `None` where it was not read at this moment. A counter or a cursor that went
    /// back starts a new history: rates never go negative, and a lag that was made by hand is no trend.
    pub fn push(&mut self, at: Mono, stream: Option<&StreamFacts>, group: &GroupFacts, lag: &Lag) {
        let counted = matches!(lag.kind, LagKind::Exact | LagKind::Reported);
        let length = stream.map(|facts| facts.length).filter(|_| !lag.beyond_end);
        let point = Point {
            at,
            added: stream.and_then(|facts| facts.entries_added.value()),
            delivered: match group.entries_read {
                Known::Is(n) => Some(n),
                _ => None,
            },
            pending: group.pending,
            cursor: group.cursor,
            lag: lag.value.filter(|_| counted),
            bounds: match lag.kind {
                LagKind::Exact => (lag.value, lag.value),
                LagKind::AtLeast => (lag.value, length),
                LagKind::AtMost => (None, lag.value),
                LagKind::Reported | LagKind::Unknown | LagKind::Unsupported => (None, length),
            },
            length,
        };
        if let Some(last) = self.points.back() {
            let doubted = (last.pending < 0) != (point.pending < 0);
            let back = |old: Option<i64>, new: Option<i64>| matches!((old, new), (Some(old), Some(new)) if new < old);
            let went_back = back(last.added, point.added) || back(last.delivered, point.delivered);
            if went_back || point.cursor < last.cursor || doubted {
                self.points.clear();
            } else if at.since(last.at) < CLOSEST_MS {
                // rounds of one reading are one point in time
                self.points.pop_back();
            }
        }
        if self.points.len() == POINTS {
            self.points.pop_front();
        }
        self.points.push_back(point);
    }

    /// The points, oldest first.
    pub fn points(&self) -> impl DoubleEndedIterator<Item = &Point> + ExactSizeIterator {
        self.points.iter()
    }

    /// The points not older than `window_ms` before the newest.
    pub fn window(&self, window_ms: u64) -> impl DoubleEndedIterator<Item = &Point> + Clone {
        let newest = self.points.back().map_or(Mono(0), |point| point.at);
        self.points.iter().filter(move |point| newest.since(point.at) <= window_ms)
    }

    /// Milliseconds between the oldest and the newest point of a window.
    pub fn span_ms(&self, window_ms: u64) -> u64 {
        let mut window = self.window(window_ms);
        match (window.next(), window.next_back()) {
            (Some(first), Some(last)) => last.at.since(first.at),
            _ => 0,
        }
    }

    /// Rates over a window.
    pub fn rates(&self, window_ms: u64) -> Rates {
        let mut window = self.window(window_ms);
        let (Some(first), Some(last)) = (window.next(), window.next_back()) else { return Rates::default() };
        if last.at.since(first.at) < SHORTEST_MS {
            return Rates::default();
        }
        let seconds = last.at.since(first.at) as f64 / 1000.0;
        let delta = |old: Option<i64>, new: Option<i64>| new?.checked_sub(old?).filter(|n| *n >= 0);
        let delivered = delta(first.delivered, last.delivered);
        let growth = last.pending.checked_sub(first.pending).filter(|_| first.pending >= 0);
        let acked = delivered.and_then(|n| n.checked_sub(growth?)).filter(|n| *n >= 0);
        let per_second = |n: Option<i64>| n.map(|n| n as f64 / seconds);
        Rates {
            added: per_second(delta(first.added, last.added)),
            delivered: per_second(delivered),
            acked: per_second(acked),
        }
    }
}

#[cfg(test)]
#[path = "history_tests.rs"]
mod tests;
