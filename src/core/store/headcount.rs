//! How many consumers a group has over the last minute, by XINFO GROUPS: that costs nothing, however long the list of them is.

use crate::core::time::Mono;
use std::collections::VecDeque;

/// How far it looks back, in milliseconds.
const WINDOW_MS: u64 = 60_000;
/// Counts closer together than this are not kept, in milliseconds.
const CLOSEST_MS: u64 = 5_000;

/// Counts, oldest first.
#[derive(Clone, Debug, Default)]
pub struct Headcount {
    kept: VecDeque<(Mono, i64)>,
    now: Option<(Mono, i64)>,
}

impl Headcount {
    pub(super) fn push(&mut self, at: Mono, consumers: i64) {
        self.now = Some((at, consumers));
        // where polls are further apart than the window, the last two tell
        while self.kept.len() > 1 && self.kept.front().is_some_and(|(then, _)| at.since(*then) > WINDOW_MS) {
            self.kept.pop_front();
        }
        if self.kept.back().is_none_or(|(then, _)| at.since(*then) >= CLOSEST_MS) {
            self.kept.push_back((at, consumers));
        }
    }

    /// By how many it grew, and over how many milliseconds.
    pub fn growth(&self) -> Option<(i64, u64)> {
        let ((from, before), (to, now)) = (self.kept.front()?, self.now.as_ref()?);
        Some((now.saturating_sub(*before), to.since(*from)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_growth_is_that_of_the_last_minute() {
        let mut headcount = Headcount::default();
        assert_eq!(headcount.growth(), None);
        for second in 0..200 {
            headcount.push(Mono(second * 1000), 10_000 + if second < 100 { second as i64 } else { 100 });
        }
        assert_eq!(headcount.growth(), Some((0, 59_000)));
        headcount.push(Mono(200_000), 10_150);
        assert_eq!(headcount.growth().map(|(growth, _)| growth), Some(50));
    }
}
