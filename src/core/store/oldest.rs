//! How old the oldest pending entry was over the last ten minutes. An entry that stays the oldest takes one segment, however long.

use super::Extreme;
use crate::core::time::Mono;
use std::collections::VecDeque;

/// How far it looks back, in milliseconds: the span of the chart.
const KEEP_MS: u64 = 600_000;
/// Most segments kept; in a busy group each poll has another oldest entry.
const SEGMENTS: usize = 300;
/// Two readings of one delivery differ by less than this, in milliseconds.
const SAME_MS: i64 = 500;

/// While one entry was the oldest, or several that were delivered together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Segment {
    from: Mono,
    to: Mono,
    /// When it was delivered; before the program began it is negative.
    delivered: i64,
}

impl Segment {
    fn age_at(&self, at: Mono) -> i64 {
        (at.0 as i64).saturating_sub(self.delivered).max(0)
    }
}

#[derive(Clone, Debug, Default)]
pub struct Oldest {
    segments: VecDeque<Segment>,
    /// The time from the first reading to the last.
    read: Option<(Mono, Mono)>,
}

impl Oldest {
    /// Adds what was read at that moment. A reading that proves nothing is left out.
    pub(super) fn push(&mut self, at: Mono, oldest: Extreme) {
        let idle_ms = match oldest {
            Extreme::Exact(found) => found.map(|(idle_ms, _)| idle_ms),
            Extreme::AtLeast(idle_ms, _) => Some(idle_ms),
            Extreme::Unknown => return,
        };
        self.read = Some((self.read.map_or(at, |(first, _)| first), at));
        let Some(idle_ms) = idle_ms else { return };
        let delivered = (at.0 as i64).saturating_sub(idle_ms);
        match self.segments.back_mut() {
            Some(last) if last.delivered.abs_diff(delivered) < SAME_MS.unsigned_abs() => last.to = at,
            _ => self.segments.push_back(Segment { from: at, to: at, delivered }),
        }
        let old = |segment: &Segment| at.since(segment.to) > KEEP_MS;
        while self.segments.len() > SEGMENTS || self.segments.front().is_some_and(old) {
            self.segments.pop_front();
        }
    }

    /// The ages in each segment at its two ends, in milliseconds, oldest first.
    pub fn lines(&self) -> impl Iterator<Item = [(Mono, i64); 2]> + '_ {
        self.segments.iter().map(|segment| [segment.from, segment.to].map(|at| (at, segment.age_at(at))))
    }

    /// The largest age from `from` to `to`, in milliseconds; 0 while nothing was pending, `None` where nothing was read.
    pub fn largest(&self, from: Mono, to: Mono) -> Option<i64> {
        let within = self.segments.iter().filter(|segment| segment.to >= from && segment.from <= to);
        let largest = within.map(|segment| segment.age_at(segment.to.min(to))).max();
        let was_read = self.read.is_some_and(|(first, last)| last >= from && first <= to);
        largest.or(was_read.then_some(0))
    }

    /// The moment of the last reading.
    pub fn newest(&self) -> Option<Mono> {
        self.read.map(|(_, last)| last)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::id::EntryId;

    fn held(idle_ms: i64) -> Extreme {
        Extreme::Exact(Some((idle_ms, EntryId::new(1, 0))))
    }

    #[test]
    fn one_that_stays_the_oldest_is_one_line_that_rises() {
        let mut oldest = Oldest::default();
        assert_eq!(oldest.largest(Mono(0), Mono(9000)), None);
        for second in 0..900_u64 {
            // the server's clock and ours tick differently
            oldest.push(Mono(second * 1000), held(5000 + second as i64 * 1000 + second as i64 % 3));
        }
        let lines: Vec<_> = oldest.lines().collect();
        assert_eq!(lines.len(), 1);
        assert_eq!(lines[0][1].1, 904_000);
        assert_eq!(oldest.largest(Mono(890_000), Mono(895_000)), Some(900_000));
    }

    #[test]
    fn another_oldest_begins_another_line_and_nothing_pending_is_zero() {
        let mut oldest = Oldest::default();
        oldest.push(Mono(1000), held(10_000));
        oldest.push(Mono(2000), Extreme::Exact(None));
        oldest.push(Mono(3000), Extreme::Unknown);
        oldest.push(Mono(9000), held(200));
        assert_eq!(oldest.lines().count(), 2);
        assert_eq!(oldest.largest(Mono(1500), Mono(2500)), Some(0));
        assert_eq!(oldest.largest(Mono(8000), Mono(9000)), Some(200));
        assert_eq!(oldest.largest(Mono(9001), Mono(9999)), None, "not read so far");
    }

    #[test]
    fn a_busy_group_keeps_so_much_and_no_more() {
        let mut oldest = Oldest::default();
        for second in 0..5000_u64 {
            oldest.push(Mono(second * 1000), held((second as i64 % 7) * 700));
        }
        assert!(oldest.segments.len() <= SEGMENTS);
        assert!(oldest.segments.front().is_some_and(|first| first.to.0 > 4_999_000 - KEEP_MS));
    }
}
