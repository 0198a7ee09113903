//! Times as numbers. No clock is read here.

/// A point on the monotonic clock, in milliseconds since pelwatch started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Mono(pub u64);

impl Mono {
    /// Milliseconds from `earlier` to this point; 0 if it is later.
    pub fn since(self, earlier: Self) -> u64 {
        self.0.saturating_sub(earlier.0)
    }
}

/// The moment at which something is shown or folded. The caller reads the clocks.
#[derive(Clone, Copy, Debug, Default)]
pub struct Now {
    /// Monotonic, for ages.
    pub mono: Mono,
    /// Wall clock of this machine, milliseconds since 1970, for time stamps only.
    pub wall_ms: i64,
}

/// A duration in at most six cells, so that a ticking column keeps its width: `0.4s`, `59s`, `14m02s`, `3h05m`, `29d`, `4y`.
pub fn age(ms: i64) -> String {
    let ms = ms.max(0);
    let s = ms / 1000;
    match s {
        0..10 => format!("{}.{}s", s, ms % 1000 / 100),
        10..60 => format!("{s}s"),
        60..3600 => format!("{}m{:02}s", s / 60, s % 60),
        3600..86_400 => format!("{}h{:02}m", s / 3600, s % 3600 / 60),
        86_400..864_000 => format!("{}d{:02}h", s / 86_400, s % 86_400 / 3600),
        864_000..315_360_000 => format!("{}d", s / 86_400),
        _ => format!("{}y", s / 31_536_000),
    }
}

/// A duration for a sentence, in its largest unit: `29 d`, `14 min`, `8 s`.
pub fn age_words(ms: i64) -> String {
    let s = ms.max(0) / 1000;
    match s {
        0..120 => format!("{s} s"),
        120..7200 => format!("{} min", s / 60),
        7200..172_800 => format!("{} h", s / 3600),
        _ => format!("{} d", s / 86_400),
    }
}

/// As in `14:00 UTC`.
pub fn utc_minute(wall_ms: i64) -> String {
    format!("{} UTC", rfc3339(wall_ms).get(11..16).unwrap_or_default())
}

/// As in `14:00:05 UTC`.
pub fn utc_clock(wall_ms: i64) -> String {
    format!("{} UTC", rfc3339(wall_ms).get(11..19).unwrap_or_default())
}

/// UTC time of `wall_ms` as RFC 3339 with milliseconds, by the civil-from-days rule. It needs no time zone data.
pub fn rfc3339(wall_ms: i64) -> String {
    let (days, ms) = (wall_ms.div_euclid(86_400_000), wall_ms.rem_euclid(86_400_000));
    // days since 0000-03-01, in eras of 400 years: leap days then fall at the end of a year
    let z = days + 719_468;
    let era = z.div_euclid(146_097);
    let day_of_era = z.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_index = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_index + 2) / 5 + 1;
    let month = if month_index < 10 { month_index + 3 } else { month_index - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    let (h, m, s) = (ms / 3_600_000, ms / 60_000 % 60, ms / 1000 % 60);
    format!("{year:04}-{month:02}-{day:02}T{h:02}:{m:02}:{s:02}.{:03}Z", ms % 1000)
}

/// `90s`, `10m`, `2h30m`, `1d` in milliseconds.
pub fn duration_ms(text: &str) -> Option<i64> {
    let mut total: i64 = 0;
    let mut rest = text.trim();
    if rest.is_empty() {
        return None;
    }
    while !rest.is_empty() {
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let number: i64 = rest.get(..digits)?.parse().ok()?;
        rest = &rest[digits..];
        let unit = rest.bytes().take_while(u8::is_ascii_alphabetic).count();
        let factor = match &rest[..unit] {
            "ms" => 1,
            "s" | "sec" => 1000,
            "m" | "min" => 60_000,
            "h" => 3_600_000,
            "d" => 86_400_000,
            _ => return None,
        };
        total = total.checked_add(number.checked_mul(factor)?)?;
        rest = rest[unit..].trim_start();
    }
    Some(total)
}

/// `2026-11-30T12:00:00[.123](Z|+01:00)` in milliseconds since 1970.
pub fn rfc3339_ms(text: &str) -> Option<i64> {
    let number = |range: std::ops::Range<usize>| -> Option<i64> {
        let part = text.get(range)?;
        part.bytes().all(|b| b.is_ascii_digit()).then(|| part.parse().ok())?
    };
    let bytes = text.as_bytes();
    let marks = [(4, b'-'), (7, b'-'), (13, b':'), (16, b':')];
    if bytes.len() < 20
        || marks.iter().any(|(at, mark)| bytes[*at] != *mark)
        || !matches!(bytes[10], b'T' | b't' | b' ')
    {
        return None;
    }
    let (year, month, day) = (number(0..4)?, number(5..7)?, number(8..10)?);
    let (hour, minute, second) = (number(11..13)?, number(14..16)?, number(17..19)?);
    if !(1..=12).contains(&month) || !(1..=31).contains(&day) || hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    let mut rest = text.get(19..)?;
    let mut ms = 0;
    if let Some(fraction) = rest.strip_prefix('.') {
        let digits = fraction.bytes().take_while(u8::is_ascii_digit).count();
        let padded: String = fraction.get(..digits.min(3))?.chars().chain("000".chars()).take(3).collect();
        ms = padded.parse().ok().filter(|_| digits > 0)?;
        rest = fraction.get(digits..)?;
    }
    let offset_minutes = match rest {
        "Z" | "z" => 0,
        _ => {
            let sign = if rest.starts_with('-') { -1 } else { 1 };
            let (hours, minutes) = rest.strip_prefix(['+', '-'])?.split_once(':')?;
            sign * (hours.parse::<i64>().ok()? * 60 + minutes.parse::<i64>().ok()?)
        }
    };
    // days from civil, years beginning in March so that leap days fall at their end
    let y = if month <= 2 { year - 1 } else { year };
    let era = y.div_euclid(400);
    let year_of_era = y.rem_euclid(400);
    let day_of_year = (153 * (month + if month > 2 { -3 } else { 9 }) + 2) / 5 + day - 1;
    let days = era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468;
    Some(((days * 24 + hour) * 60 + minute - offset_minutes) * 60_000 + second * 1000 + ms)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_age_never_needs_more_than_six_cells() {
        let table = [
            (0, "0.0s"),
            (950, "0.9s"),
            (9_999, "9.9s"),
            (59_999, "59s"),
            (842_000, "14m02s"),
            (11_100_000, "3h05m"),
            (86_400_000, "1d00h"),
            (2_551_364_210, "29d"),
            (i64::MAX, "292471208y"),
            (-5, "0.0s"),
        ];
        for (ms, text) in table {
            assert_eq!(age(ms), text);
            assert!(age(ms).len() <= 6 || ms == i64::MAX, "{ms}");
        }
    }

    #[test]
    fn wall_times_are_written_in_utc() {
        assert_eq!(rfc3339(0), "1970-01-01T00:00:00.000Z");
        assert_eq!(rfc3339(1_764_504_000_123), "2025-11-30T12:00:00.123Z");
        assert_eq!(rfc3339(951_782_400_000), "2000-02-29T00:00:00.000Z");
        assert_eq!(rfc3339(-1), "1969-12-31T23:59:59.999Z");
        for ms in [0, 1, 1_764_504_000_123, 951_782_400_000, 4_102_444_799_999] {
            assert_eq!(rfc3339_ms(&rfc3339(ms)), Some(ms), "read back as it was written");
        }
    }
}
