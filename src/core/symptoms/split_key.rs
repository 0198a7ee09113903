//! Two keys with nearly the same name: one gets entries and has no group, the other has groups and gets no entry. Perhaps producer and
//! consumer spell the key differently, for example with a prefix that is added twice or on one side only (docs/server-facts.md 13.3).
//! This is only a question, so it is information, and it is reported for both streams.

use super::{About, Argv, Finding, Level, StreamCase, entries};
use crate::core::{id::EntryId, known::Known, model::StreamFacts, name::Name, store::StreamState};

pub(super) const ABOUT: About = About {
    id: "split-key",
    levels: &[Level::Info],
    says: "One stream gets entries and has no group; another of nearly the same name has groups and gets no entry",
    cause: "producer and consumer spell the key differently: a prefix on one side only or twice, another case, a separator too many",
    remedy: "ask whether both were meant to be one stream; if so, mend the name and delete the stray key",
};

/// Most pairs to compare: a database full of streams that nobody reads must not slow down a tick.
const MOST: usize = 64;

/// A stream that may be one half of such a pair.
#[derive(Clone, Debug)]
pub(super) struct Half {
    key: Name,
    /// The name without case, separators and braces.
    bare: Vec<u8>,
    length: i64,
    groups: usize,
    first_ms: u64,
    last_ms: Option<u64>,
}

/// The streams without a group that have entries, and those with groups that may get none.
#[derive(Clone, Debug, Default)]
pub(super) struct Halves {
    unread: Vec<Half>,
    unfed: Vec<Half>,
}

impl Halves {
    /// Sorts the streams into the two kinds.
    pub(super) fn of<'a>(streams: impl Iterator<Item = &'a StreamState> + Clone) -> Self {
        let readable = streams.filter(|stream| stream.is_ok() && stream.groups_fault.is_none());
        // a stream that never had an entry is the likelier half; only those few are looked at closer
        let with_groups = readable.clone().filter(|stream| !stream.groups.is_empty());
        let mut by_age: Vec<(Option<u64>, &StreamState)> =
            with_groups.filter_map(|stream| Some((last_ms(stream.facts.value.as_ref()?), stream))).collect();
        by_age.sort_by_key(|(last_ms, _)| *last_ms);
        let unfed: Vec<Half> = by_age.into_iter().take(MOST).filter_map(|(_, stream)| half(stream)).collect();
        if unfed.is_empty() {
            return Self::default();
        }
        let unread = readable.filter(|stream| stream.groups.is_empty()).filter_map(half).filter(|half| half.length > 0);
        Self { unread: unread.filter(|one| unfed.iter().any(|other| is_pair(one, other))).take(MOST).collect(), unfed }
    }
}

fn half(stream: &StreamState) -> Option<Half> {
    let facts = stream.facts.value.as_ref()?;
    Some(Half {
        key: stream.key.clone(),
        bare: bare(&stream.key),
        length: facts.length,
        groups: stream.groups.len(),
        first_ms: facts.first.map_or(0, |first| first.ms),
        last_ms: last_ms(facts),
    })
}

/// When the last entry came, by its id; `None` if there never was one.
fn last_ms(facts: &StreamFacts) -> Option<u64> {
    let never = facts.last_generated == EntryId::MIN && !matches!(facts.entries_added, Known::Is(1..));
    (!never).then_some(facts.last_generated.ms)
}

fn bare(key: &Name) -> Vec<u8> {
    key.bytes().iter().filter(|b| !b":_-./{}# ".contains(b)).map(u8::to_ascii_lowercase).collect()
}

/// Whether the second stream got nothing since the first one began, and the names differ only in spelling.
fn is_pair(unread: &Half, unfed: &Half) -> bool {
    unfed.last_ms.is_none_or(|last| last < unread.first_ms) && is_alike(&unread.bare, &unfed.bare)
}

/// Whether the names are equal except for case and separators, one is the end of the other, or they differ in one letter. Different
/// digits do not count: they number the parts of one set.
fn is_alike(one: &[u8], other: &[u8]) -> bool {
    let (short, long) = if one.len() <= other.len() { (one, other) } else { (other, one) };
    if short.len() < 3 {
        return short == long && !short.is_empty();
    }
    if long.ends_with(short) {
        return true;
    }
    let from_start = short.iter().zip(long).take_while(|(a, b)| a == b).count();
    let from_end =
        short.iter().rev().zip(long.iter().rev()).take_while(|(a, b)| a == b).count().min(short.len() - from_start);
    let (odd_short, odd_long) = (&short[from_start..short.len() - from_end], &long[from_start..long.len() - from_end]);
    let letters = odd_short.iter().chain(odd_long).all(u8::is_ascii_alphabetic);
    odd_short.len() <= 1 && odd_long.len() <= 1 && letters
}

pub(super) fn judge(case: &StreamCase) -> Option<Finding> {
    let (key, halves) = (&case.stream.key, case.halves);
    let pair = |unread: &Half, unfed: &Half| is_pair(unread, unfed);
    let (unread, unfed) = if let Some(unread) = halves.unread.iter().find(|half| half.key == *key) {
        (unread, halves.unfed.iter().find(|other| pair(unread, other))?)
    } else {
        let unfed = halves.unfed.iter().find(|half| half.key == *key)?;
        (halves.unread.iter().find(|other| pair(other, unfed))?, unfed)
    };
    let groups = if unfed.groups == 1 { "1 group".to_owned() } else { format!("{} groups", unfed.groups) };
    let fed = if unfed.last_ms.is_none() { "never had an entry" } else { "got no entry since" };
    let text = format!(
        "{} has {} and no group, {} has {groups} and {fed}: are they meant to be one stream?",
        unread.key,
        entries(unread.length),
        unfed.key
    );
    Some(
        ABOUT
            .finding(
                Level::Info,
                text,
                Argv::of(&[
                    b"XINFO",
                    b"STREAM",
                    if unread.key == *key { unfed.key.bytes() } else { unread.key.bytes() },
                ]),
            )
            .with("entries_without_group", unread.length)
            .with("groups_without_entries", unfed.groups as i64),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_are_alike() {
        let alike = |one: &str, other: &str| is_alike(&bare(&Name::from(one)), &bare(&Name::from(other)));
        for (one, other) in [
            ("Orders", "orders"),
            ("orders:", "orders"),
            ("ns:ns:orders", "ns:orders"),
            ("myapp_events", "events"),
            ("{orders}", "orders"),
            ("order", "orders"),
            ("order-created", "order_created"),
            ("oders", "orders"),
        ] {
            assert!(alike(one, other) && alike(other, one), "{one} {other}");
        }
        for (one, other) in [("orders:1", "orders:2"), ("orders", "payments"), ("a", "b"), ("", ""), ("mail", "events")]
        {
            assert!(!alike(one, other) && !alike(other, one), "{one} {other}");
        }
    }
}
