//! The last ten minutes of a group in little memory, and the rates computed from them. The newest two minutes are kept as sampled, what
//! is older as one point every four seconds.

mod packed;

use super::{
    known::Known,
    lag::{Lag, LagKind},
    model::{GroupFacts, StreamFacts},
    time::Mono,
};
use crate::core::number::whole;
use packed::Chunk;
use std::collections::VecDeque;

/// Most points kept.
pub const POINTS: usize = 600;
/// Most thinned points among them.
const OLD_POINTS: usize = 160;

/// Points up to this age are kept as sampled: twice the window over which trends are judged.
pub const FINE_MS: u64 = 120_000;
/// Older points are thinned to one in this many milliseconds.
pub const COARSE_MS: u64 = 4_000;
/// The largest age kept: the span of the chart.
const KEEP_MS: u64 = 600_000;
/// Points up to this age are kept however little memory there is, because trends are judged over them.
const LEAST_MS: u64 = 65_000;

/// Points closer together than this count as one.
const CLOSEST_MS: u64 = 50;
/// Polls further apart than this do not belong together, in milliseconds.
pub(super) const LONGEST_GAP_MS: u64 = 180_000;
/// A rate over a shorter time is not meaningful.
pub(super) const SHORTEST_MS: u64 = 900;

/// One sample of a group, as far as trends need it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Point {
    pub at: Mono,
    /// Entries ever added to the stream.
    pub added: Option<i64>,
    /// Entries the group was ever given.
    pub delivered: Option<i64>,
    pub pending: Option<i64>,
    pub cursor: super::id::EntryId,
    /// Entries waiting; `None` while unknown.
    pub lag: Option<i64>,
    /// Proven bounds: at least and at most this many wait; `None` where it is not proven.
    pub bounds: (Option<i64>, Option<i64>),
    /// Entries in the stream, all of them possibly ahead of the cursor; `None` where new ones may be added behind it.
    pub length: Option<i64>,
}

#[derive(Clone, Debug, Default)]
pub struct History {
    /// Thinned points.
    old: VecDeque<Chunk>,
    /// Points as sampled.
    new: VecDeque<Chunk>,
    /// The newest point, which is also packed.
    last: Option<Point>,
}

/// Entries a second over a window; `None` where a counter is missing or went back.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Rates {
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
        (lag > 0 && gain > 0.0).then(|| whole(lag as f64 / gain * 1000.0))
    }
}

impl History {
    /// Adds a sample; `stream` is `None` where it was not read at this moment. A counter or a cursor that went back starts a new history:
    /// rates must not be negative, and a lag changed by hand is not a trend.
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
            pending: group.pending.value(),
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
        if let Some(last) = &self.last {
            let doubted = last.pending.is_none() != point.pending.is_none();
            let back = |old: Option<i64>, new: Option<i64>| matches!((old, new), (Some(old), Some(new)) if new < old);
            let went_back = back(last.added, point.added) || back(last.delivered, point.delivered);
            if went_back || point.cursor < last.cursor || doubted {
                *self = Self::default();
            } else if at.since(last.at) < CLOSEST_MS {
                // all rounds of one reading are one point in time
                self.drop_last();
            }
        }
        append(&mut self.new, self.last.as_ref(), &point);
        self.last = Some(point);
        self.thin(at);
    }

    fn drop_last(&mut self) {
        let mut left: Vec<Point> = self.new.pop_back().iter().flat_map(Chunk::points).collect();
        left.pop();
        let before = self.new.back().or(self.old.back()).and_then(|chunk| chunk.points().last());
        let mut last = None;
        for point in &left {
            append(&mut self.new, last, point);
            last = Some(point);
        }
        self.last = left.last().copied().or(before);
    }

    /// Thins points that became old, and drops the oldest.
    fn thin(&mut self, now: Mono) {
        let held = |chunks: &VecDeque<Chunk>| chunks.iter().map(|chunk| chunk.count).sum::<usize>();
        let mut fine = held(&self.new);
        while self.new.len() > 1 {
            let due = |chunk: &Chunk| fine > POINTS - OLD_POINTS || now.since(chunk.to) > FINE_MS;
            let Some(chunk) = pop_if(&mut self.new, due) else { break };
            fine -= chunk.count;
            let mut last = self.old.back().and_then(|chunk| chunk.points().last());
            for point in chunk.points() {
                if last.is_none_or(|last| last.at.0 / COARSE_MS != point.at.0 / COARSE_MS) {
                    append(&mut self.old, last.as_ref(), &point);
                    last = Some(point);
                }
            }
        }
        let mut coarse = held(&self.old);
        while let Some(gone) = pop_if(&mut self.old, |chunk| coarse > OLD_POINTS || now.since(chunk.to) > KEEP_MS) {
            coarse -= gone.count;
        }
    }

    /// Drops the oldest points until the rest takes at most `bytes`, but keeps those that trends need.
    pub fn fit(&mut self, bytes: usize) {
        let Some(now) = self.last.map(|last| last.at) else { return };
        while self.bytes() > bytes {
            let spare = |chunk: &Chunk| now.since(chunk.to) > LEAST_MS;
            if self.old.pop_front().is_none() && pop_if(&mut self.new, spare).is_none() {
                break;
            }
        }
    }

    /// Memory that the points take, in bytes.
    pub fn bytes(&self) -> usize {
        self.old.iter().chain(&self.new).map(Chunk::size).sum()
    }

    /// Oldest first.
    pub fn points(&self) -> impl DoubleEndedIterator<Item = Point> + ExactSizeIterator {
        self.window(u64::MAX)
    }

    /// The points not older than `window_ms` before the newest, oldest first.
    pub fn window(&self, window_ms: u64) -> std::vec::IntoIter<Point> {
        let newest = self.last.map_or(Mono(0), |point| point.at);
        let near = || self.old.iter().chain(&self.new).filter(|chunk| newest.since(chunk.to) <= window_ms);
        let mut points = Vec::with_capacity(near().map(|chunk| chunk.count).sum());
        for chunk in near() {
            points.extend(chunk.points().filter(|point| newest.since(point.at) <= window_ms));
        }
        points.into_iter()
    }

    /// The oldest and the newest point of a window.
    fn ends(&self, window_ms: u64) -> Option<(Point, Point)> {
        let last = self.last?;
        let mut near = self.old.iter().chain(&self.new).filter(|chunk| last.at.since(chunk.to) <= window_ms);
        let first = near.next()?.points().find(|point| last.at.since(point.at) <= window_ms)?;
        Some((first, last))
    }

    /// The point before the newest.
    fn before_last(&self) -> Option<Point> {
        let newest = self.old.iter().chain(&self.new).rev();
        let points = newest.take(2).flat_map(|chunk| {
            let mut points: Vec<Point> = chunk.points().collect();
            points.reverse();
            points
        });
        points.into_iter().nth(1)
    }

    /// The number of points in a window.
    pub fn count(&self, window_ms: u64) -> usize {
        let newest = self.last.map_or(Mono(0), |point| point.at);
        let near = |at: Mono| newest.since(at) <= window_ms;
        let of = |chunk: &Chunk| match (near(chunk.from), near(chunk.to)) {
            (true, _) => chunk.count,
            (false, true) => chunk.points().filter(|point| near(point.at)).count(),
            (false, false) => 0,
        };
        self.old.iter().chain(&self.new).map(of).sum()
    }

    /// Milliseconds between the oldest and the newest point of a window.
    pub fn span_ms(&self, window_ms: u64) -> u64 {
        self.ends(window_ms).map_or(0, |(first, last)| last.at.since(first.at))
    }

    /// Whether one more point is needed before the group's own rate can be told.
    pub fn is_early(&self) -> bool {
        let last = self.last.filter(|point| point.delivered.is_some());
        last.is_some() && self.span_ms(u64::MAX) < SHORTEST_MS
    }

    pub fn rates(&self, window_ms: u64) -> Rates {
        let Some((mut first, last)) = self.ends(window_ms) else { return Rates::default() };
        // polls that are further apart than the window: the last two tell
        if first.at == last.at
            && let Some(before) = self.before_last().filter(|before| last.at.since(before.at) <= LONGEST_GAP_MS)
        {
            first = before;
        }
        if last.at.since(first.at) < SHORTEST_MS {
            return Rates::default();
        }
        let seconds = last.at.since(first.at) as f64 / 1000.0;
        let delta = |old: Option<i64>, new: Option<i64>| new?.checked_sub(old?).filter(|n| *n >= 0);
        let delivered = delta(first.delivered, last.delivered);
        let growth = last.pending.zip(first.pending).and_then(|(last, first)| last.checked_sub(first));
        let acked = delivered.and_then(|n| n.checked_sub(growth?)).filter(|n| *n >= 0);
        let per_second = |n: Option<i64>| n.map(|n| n as f64 / seconds);
        Rates {
            added: per_second(delta(first.added, last.added)),
            delivered: per_second(delivered),
            acked: per_second(acked),
        }
    }
}

fn pop_if(chunks: &mut VecDeque<Chunk>, due: impl Fn(&Chunk) -> bool) -> Option<Chunk> {
    if chunks.front().is_some_and(due) { chunks.pop_front() } else { None }
}

fn append(chunks: &mut VecDeque<Chunk>, last: Option<&Point>, point: &Point) {
    if chunks.back().is_none_or(Chunk::is_full) {
        chunks.push_back(Chunk::default());
    }
    if let Some(chunk) = chunks.back_mut() {
        chunk.push(last, point);
    }
}

#[cfg(test)]
#[path = "history_tests.rs"]
mod tests;
