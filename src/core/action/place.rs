//! A place in a stream, as people write it.

use crate::core::{
    id::EntryId,
    time::{duration_ms, rfc3339_ms},
};

/// Where a cursor goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// An id.
    Id(EntryId),
    /// `$`: after the last id ever given out.
    End,
    /// This many entries forward.
    Forward(usize),
    /// This many entries back.
    Back(usize),
    /// Before the entries of this many milliseconds ago.
    Ago(i64),
    /// Before the entries of this time, milliseconds since 1970.
    Time(i64),
}

impl Place {
    /// Reads `$`, `0`, an id, `+3`, `-3`, `10m-ago` or `10m ago`, or an RFC 3339 time.
    ///
    /// # Errors
    /// A sentence that says what is understood.
    pub fn parse(text: &str) -> Result<Self, String> {
        let text = text.trim();
        let count = |digits: &str| digits.parse::<usize>().ok().filter(|_| digits.bytes().all(|b| b.is_ascii_digit()));
        if text == "$" {
            return Ok(Self::End);
        }
        if let Some(n) = text.strip_prefix('+').and_then(count) {
            return Ok(Self::Forward(n));
        }
        if let Some(n) = text.strip_prefix('-').and_then(count) {
            return Ok(Self::Back(n));
        }
        if let Some(id) = EntryId::parse(text.as_bytes()) {
            return Ok(Self::Id(id));
        }
        if let Some(ms) = text.strip_suffix("-ago").or_else(|| text.strip_suffix(" ago")).and_then(duration_ms) {
            return Ok(Self::Ago(ms));
        }
        if let Some(ms) = rfc3339_ms(text) {
            return Ok(Self::Time(ms));
        }
        Err("give an id, $, 0, +N or -N entries, a time such as 10m-ago, or 2026-11-30T12:00:00Z".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_read_as_people_write_them() {
        let table = [
            ("$", Ok(Place::End)),
            ("0", Ok(Place::Id(EntryId::MIN))),
            ("5-3", Ok(Place::Id(EntryId::new(5, 3)))),
            ("+2", Ok(Place::Forward(2))),
            ("-2", Ok(Place::Back(2))),
            ("10m-ago", Ok(Place::Ago(600_000))),
            ("1h30m ago", Ok(Place::Ago(5_400_000))),
            ("1970-01-01T00:00:01Z", Ok(Place::Time(1000))),
            ("2026-11-30T12:00:00.5+01:00", Ok(Place::Time(1_796_036_400_500))),
            ("2000-02-29T00:00:00Z", Ok(Place::Time(951_782_400_000))),
        ];
        for (text, place) in table {
            assert_eq!(Place::parse(text), place, "{text}");
        }
        for bad in ["", "ago", "-", "+", "5-", "10x-ago", "2026-13-01T00:00:00Z", "tomorrow", "-ago"] {
            assert!(Place::parse(bad).is_err(), "{bad}");
        }
    }
}
