//! Counts with their nouns.

/// `1 entry`, `5 entries`.
pub fn count(n: i64, one: &str, many: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { many })
}

pub fn entries(n: i64) -> String {
    count(n, "entry", "entries")
}
