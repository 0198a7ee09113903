//! How long a key has left to live, as far as it was asked for.

use crate::core::{fault::Part, observed::Observed, time::Mono};

/// The interval between two questions, in milliseconds.
const EVERY_MS: u64 = 60_000;
/// Below this many milliseconds, every tick asks.
const NEAR_MS: i64 = 600_000;
/// A time to live that ends this much later than before was set again: clocks differ by less, in milliseconds.
const RENEWED_MS: i64 = 1_000;

#[derive(Clone, Debug, Default)]
pub struct TimeToLive {
    /// Milliseconds left when it was read; the inner `None` means that the key lives for ever.
    pub left_ms: Observed<Option<i64>>,
    /// When it was first seen to run out, without being set again since.
    running_since: Option<Mono>,
    /// The shortest time seen before it was set again; `None` if it never was.
    shortest_ms: Option<i64>,
}

impl TimeToLive {
    /// Milliseconds left now; `None` where the key lives for ever or that is not known.
    pub fn left_ms(&self, now: Mono) -> Option<i64> {
        Some(self.left_ms.value??.saturating_sub_unsigned(self.left_ms.age_ms(now)).max(0))
    }

    /// For how many milliseconds it was seen to run out without being set again.
    pub fn running_ms(&self, now: Mono) -> u64 {
        self.running_since.map_or(0, |since| now.since(since))
    }

    /// The shortest time to live that was seen, if it is set again and again.
    pub fn shortest_ms(&self, now: Mono) -> Option<i64> {
        Some(self.shortest_ms?.min(self.left_ms(now)?))
    }

    pub(super) fn is_due(&self, now: Mono) -> bool {
        if self.left_ms.is_refused(now) {
            return false;
        }
        let asked = self.left_ms.value.is_some();
        !asked || self.left_ms.age_ms(now) >= EVERY_MS || self.left_ms(now).is_some_and(|left| left < NEAR_MS)
    }

    pub(super) fn take(&mut self, part: Part<Option<i64>>, at: Mono) {
        let expected = self.left_ms(at);
        match (&part, expected) {
            (Ok(Some(left)), Some(before)) if left.saturating_sub(before) > RENEWED_MS => {
                self.shortest_ms = Some(self.shortest_ms.map_or(before, |shortest| shortest.min(before)));
                self.running_since = Some(at);
            }
            (Ok(Some(_)), None) => self.running_since = Some(at),
            (Ok(None), _) => *self = Self::default(),
            _ => {}
        }
        self.left_ms.take(part, at);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_asked_for_rarely_until_the_end_is_near() {
        let mut ttl = TimeToLive::default();
        assert!(ttl.is_due(Mono(0)));
        ttl.take(Ok(None), Mono(0));
        assert!(!ttl.is_due(Mono(59_999)) && ttl.is_due(Mono(60_000)));
        ttl.take(Ok(Some(3_600_000)), Mono(60_000));
        assert!(!ttl.is_due(Mono(119_999)));
        ttl.take(Ok(Some(500_000)), Mono(120_000));
        assert!(ttl.is_due(Mono(120_001)));
    }

    #[test]
    fn one_that_is_set_again_remembers_the_shortest() {
        let mut ttl = TimeToLive::default();
        ttl.take(Ok(Some(9_000)), Mono(0));
        ttl.take(Ok(Some(5_000)), Mono(4_000));
        assert_eq!(
            (ttl.left_ms(Mono(6_000)), ttl.running_ms(Mono(6_000)), ttl.shortest_ms(Mono(6_000))),
            (Some(3_000), 6_000, None)
        );
        ttl.take(Ok(Some(9_000)), Mono(7_000));
        assert_eq!((ttl.running_ms(Mono(8_000)), ttl.shortest_ms(Mono(8_000))), (1_000, Some(2_000)));
        ttl.take(Ok(None), Mono(9_000));
        assert_eq!((ttl.left_ms(Mono(9_000)), ttl.shortest_ms(Mono(9_000))), (None, None));
    }
}
