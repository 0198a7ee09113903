//! Entry ids: two unsigned 64-bit halves, compared as a pair.

use std::fmt;

/// The id of a stream entry, or a cursor. A cursor need not be the id of an existing entry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EntryId {
    /// First half; milliseconds since 1970 by convention only (docs/server-facts.md 13.8).
    pub ms: u64,
    /// Second half; counts the entries that share the first.
    pub seq: u64,
}

/// 2010-01-01 in milliseconds: smaller first halves are taken for counters, not times (docs/server-facts.md 13.8).
const FIRST_PLAUSIBLE_MS: u64 = 1_262_304_000_000;
const DAY_MS: i64 = 86_400_000;

impl EntryId {
    /// `0-0`: before every entry.
    pub const MIN: Self = Self { ms: 0, seq: 0 };
    /// The largest legal id.
    pub const MAX: Self = Self { ms: u64::MAX, seq: u64::MAX };

    pub const fn new(ms: u64, seq: u64) -> Self {
        Self { ms, seq }
    }

    /// Reads `ms-seq` or a bare `ms` (sequence 0). `None` when it is neither, or a half does not fit 64 bits.
    pub fn parse(text: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(text).ok()?;
        let number = |part: &str| {
            if part.bytes().all(|b| b.is_ascii_digit()) { part.parse::<u64>().ok() } else { None }
        };
        match text.split_once('-') {
            Some((ms, seq)) => Some(Self { ms: number(ms)?, seq: number(seq)? }),
            None => Some(Self { ms: number(text)?, seq: 0 }),
        }
    }

    /// The smallest id after this one, carrying into the first half; `None` after the largest. Paging uses it because it works on every
    /// server; exclusive ranges need 6.2 (docs/server-facts.md 4.1 and 13.15).
    pub fn next(self) -> Option<Self> {
        match self.seq.checked_add(1) {
            Some(seq) => Some(Self { ms: self.ms, seq }),
            None => Some(Self { ms: self.ms.checked_add(1)?, seq: 0 }),
        }
    }

    /// The largest id before this one; `None` before the smallest.
    pub fn previous(self) -> Option<Self> {
        match self.seq.checked_sub(1) {
            Some(seq) => Some(Self { ms: self.ms, seq }),
            None => Some(Self { ms: self.ms.checked_sub(1)?, seq: u64::MAX }),
        }
    }

    /// The time in the id, in milliseconds since 1970, if it is plausible: from 2010 to a day after `now_ms`.
    pub fn plausible_ms(self, now_ms: i64) -> Option<i64> {
        let ms = i64::try_from(self.ms).ok()?;
        (self.ms >= FIRST_PLAUSIBLE_MS && ms <= now_ms.saturating_add(DAY_MS)).then_some(ms)
    }
}

impl fmt::Display for EntryId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.ms, self.seq)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn reads_both_forms_and_nothing_else() {
        assert_eq!(EntryId::parse(b"5-3"), Some(EntryId::new(5, 3)));
        assert_eq!(EntryId::parse(b"5"), Some(EntryId::new(5, 0)));
        assert_eq!(EntryId::parse(b"18446744073709551615-18446744073709551615"), Some(EntryId::MAX));
        for bad in [&b""[..], b"-", b"5-", b"-5", b"+5-1", b"5-1-1", b"18446744073709551616-0", b"a-1", b"\xff"] {
            assert_eq!(EntryId::parse(bad), None, "{bad:?}");
        }
    }

    #[test]
    fn the_next_id_carries_and_ends_at_the_largest() {
        assert_eq!(EntryId::new(7, u64::MAX).next(), Some(EntryId::new(8, 0)));
        assert_eq!(EntryId::MAX.next(), None);
        assert_eq!(EntryId::new(8, 0).previous(), Some(EntryId::new(7, u64::MAX)));
        assert_eq!(EntryId::MIN.previous(), None);
    }

    #[test]
    fn only_plausible_milliseconds_are_times() {
        let now = 1_793_600_000_000;
        for no_time in [1, 18_000_001, 1_767_225_600, 1_767_225_600_000_000_000, u64::MAX] {
            assert_eq!(EntryId::new(no_time, 0).plausible_ms(now), None, "{no_time}");
        }
        assert_eq!(EntryId::new(1_793_600_000_001, 0).plausible_ms(now), Some(1_793_600_000_001));
    }

    proptest! {
        #[test]
        fn order_is_that_of_the_pair_and_text_round_trips(a: (u64, u64), b: (u64, u64)) {
            let (x, y) = (EntryId::new(a.0, a.1), EntryId::new(b.0, b.1));
            prop_assert_eq!(x.cmp(&y), a.cmp(&b));
            prop_assert_eq!(EntryId::parse(x.to_string().as_bytes()), Some(x));
            if let Some(next) = x.next() { prop_assert!(next > x && next.previous() == Some(x)); }
        }
    }
}
