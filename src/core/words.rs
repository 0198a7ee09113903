//! Counts with their nouns, and sentences that stand in more than one place.

use super::name::Name;

/// `1 entry`, `5 entries`.
pub fn count(n: i64, one: &str, many: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { many })
}

pub fn entries(n: i64) -> String {
    count(n, "entry", "entries")
}

/// That there is no stream with such a name: `no stream matches nope*`.
pub fn no_match(patterns: &[Name]) -> String {
    let shown: Vec<String> = patterns.iter().map(Name::shown).collect();
    format!("no stream matches {}", shown.join(" or "))
}
