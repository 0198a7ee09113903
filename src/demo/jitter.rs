//! Small irregularities that are the same on every run.

use std::time::Duration;

/// A linear congruential generator. It only keeps the workload from ticking like a clock and is not fit for anything else.
#[derive(Debug, Clone)]
pub(super) struct Jitter(u64);

impl Jitter {
    pub(super) fn new(seed: u64) -> Self {
        // nearby seeds would start with nearby numbers: mix the bits and drop the first number
        let mut jitter = Self(seed ^ 0x5DEE_CE66_D1CE_4E5B);
        jitter.next();
        jitter
    }

    /// A number from `low` to `high`, both included. `high` must not be less than `low`.
    pub(super) fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.next() % (high - low + 1)
    }

    /// A time from `low_ms` to `high_ms` milliseconds, both included.
    pub(super) fn millis(&mut self, low_ms: u64, high_ms: u64) -> Duration {
        Duration::from_millis(self.between(low_ms, high_ms))
    }

    /// One of `choices`, which must not be empty.
    pub(super) fn pick<'a>(&mut self, choices: &[&'a str]) -> &'a str {
        choices[usize::try_from(self.between(0, choices.len() as u64 - 1)).unwrap_or(0)]
    }

    fn next(&mut self) -> u64 {
        // multiplier and increment are Knuth's for MMIX; the low bits of such a generator are poor, so they are dropped
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 33
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_gives_the_same_numbers_within_bounds() {
        let draw = |seed| {
            let mut jitter = Jitter::new(seed);
            (0..1_000).map(|_| jitter.between(20, 60)).collect::<Vec<_>>()
        };
        let numbers = draw(7);
        assert_eq!(numbers, draw(7));
        assert_ne!(numbers, draw(8));
        assert_eq!((numbers.iter().min(), numbers.iter().max()), (Some(&20), Some(&60)));
        let mean = numbers.iter().sum::<u64>() / 1_000;
        assert!((38..=42).contains(&mean), "{mean}");
    }
}
