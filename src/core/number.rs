//! Conversions between numbers that cannot go wrong unseen: what does not fit becomes the nearest number that does.

use std::time::Duration;

/// A number without its fraction; the ends of the range for what lies beyond them, 0 for what is not a number.
#[expect(clippy::cast_possible_truncation, reason = "`as` takes the nearest number that fits")]
pub fn whole(n: f64) -> i64 {
    n as i64
}

/// A number of things in memory.
pub fn size(n: impl TryInto<usize>) -> usize {
    n.try_into().unwrap_or(usize::MAX)
}

/// A number of rows or columns.
pub fn cells(n: impl TryInto<u16>) -> u16 {
    n.try_into().unwrap_or(u16::MAX)
}

/// A length of time in milliseconds.
pub fn ms(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// A length of time in microseconds.
pub fn us(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}

/// The same, to be compared with idle times, which are signed.
pub fn signed_ms(time: Duration) -> i64 {
    i64::try_from(time.as_millis()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_is_the_nearest_that_does() {
        assert_eq!((whole(2.9), whole(-2.9), whole(1e30), whole(f64::NAN)), (2, -2, i64::MAX, 0));
        assert_eq!((size(7_u64), size(-1_i64)), (7, usize::MAX));
        assert_eq!((cells(7_usize), cells(70_000_usize)), (7, u16::MAX));
        assert_eq!((ms(Duration::MAX), us(Duration::MAX), signed_ms(Duration::MAX)), (u64::MAX, u64::MAX, i64::MAX));
    }
}
