//! A consumer that was not seen for long holds entries, and nobody claims them. The finding says "not seen", never "dead": a long job
//! looks the same (docs/server-facts.md 13.7). A quiet poller holds no entries, so it is not reported (13.2).

use super::{About, Argv, Case, Level, Verdict, entries, idle_now};
use crate::core::{
    store::{Extreme, LEAST_GONE_MS},
    time::age_words,
};

pub(super) const ABOUT: About = About {
    id: "holder-gone",
    levels: &[Level::Warn, Level::Critical],
    says: "A consumer that was not seen for long holds entries, and nobody takes them over",
    cause: "its process ended or hangs before XACK, and no consumer claims entries that others left behind",
    remedy: "make sure that it is really gone, then let a living consumer claim its entries (XAUTOCLAIM)",
};

/// Most holders to name one by one; the rest is counted.
const NAMED: usize = 10;
/// It is critical from this many times the threshold on.
const CRITICAL_TIMES: i64 = 10;

pub(super) fn judge(case: &Case) -> Verdict {
    let group = case.group;
    if case.pending == 0 {
        return Verdict::Ok;
    }
    let Some(consumers) = &group.consumers.value else { return Verdict::NotEnoughData };
    let limit = case.gone_after_ms();
    // the list is old: a consumer may have been back since, or may have gone
    if case.now.mono.since(group.consumers.at) as i64 > limit.max(LEAST_GONE_MS) {
        return Verdict::NotEnoughData;
    }
    let mut gone: Vec<_> = consumers
        .iter()
        .filter(|consumer| consumer.pending > 0)
        .map(|consumer| (consumer, idle_now(group, consumer.idle_ms, case.now.mono)))
        .filter(|(_, idle)| *idle > limit.max(LEAST_GONE_MS))
        .filter_map(|(consumer, idle)| {
            // a consumer that was not seen got no entries since, so its entries are at least as old
            let known = group.held_of_census(&consumer.name).map(|held| case.now.mono.0 as i64 - held.oldest.since);
            let oldest = match group.pel.oldest_idle_of(&consumer.name) {
                Extreme::Exact(Some((ms, _))) | Extreme::AtLeast(ms, _) => {
                    group.aged_ms(ms, group.pel.at, case.now.mono).max(known.unwrap_or(0))
                }
                Extreme::Exact(None) | Extreme::Unknown => known.unwrap_or(idle),
            };
            (oldest > limit).then_some((consumer, idle, oldest))
        })
        .collect();
    gone.sort_by_key(|(consumer, ..)| std::cmp::Reverse(consumer.pending));
    if gone.is_empty() {
        return Verdict::Ok;
    }
    let others = consumers.iter().filter(|other| idle_now(group, other.idle_ms, case.now.mono) <= limit).count() as i64;
    let key = case.stream.key.bytes();
    let unnamed = gone.len().saturating_sub(NAMED);
    let found = gone.iter().take(NAMED).enumerate().map(|(index, (consumer, idle, oldest))| {
        let seen = if case.idle_is_attempt { "not seen" } else { "got nothing" };
        let rest = match others {
            0 => "no other consumer is active".to_owned(),
            1 => "1 other is active, and nobody reclaims them".to_owned(),
            n => format!("{n} others are active, and nobody reclaims them"),
        };
        let (for_long, pending_for) = (age_words(*idle), age_words(*oldest));
        let and_oldest =
            if for_long == pending_for { String::new() } else { format!(", the oldest pending for {pending_for}") };
        let text =
            format!("{} holds {}, {seen} for {for_long}{and_oldest}; {rest}", consumer.name, entries(consumer.pending));
        // the worst holder also speaks for those that are not listed
        let text = match (index, unnamed) {
            (0, 1) => format!("{text}; 1 more than the {NAMED} named here is gone"),
            (0, 2..) => format!("{text}; {unnamed} more than the {NAMED} named here are gone"),
            _ => text,
        };
        // an open connection with that name suggests a long job; the absence of one proves nothing (docs/server-facts.md 13.7)
        let connected = case.client_names.is_some_and(|names| names.contains(&consumer.name));
        let text = if connected {
            format!("{text}; a connection named {} is open: it may be at work", consumer.name)
        } else {
            text
        };
        ABOUT
            .finding(
                if !connected && *oldest > limit.saturating_mul(CRITICAL_TIMES) {
                    Level::Critical
                } else {
                    Level::Warn
                },
                text,
                Argv::of(&[b"XPENDING", key, group.name().bytes(), b"-", b"+", b"10", consumer.name.bytes()]),
            )
            .about(Some(consumer.name.clone()))
            .with("pending", consumer.pending)
            .with("oldest_idle_ms", *oldest)
            .with("consumer_idle_ms", *idle)
            .with("active_consumers", others)
            .with("threshold_ms", limit)
            .with("connection_open", i64::from(connected))
            .with("holders_gone", gone.len() as i64)
    });
    Verdict::Found(found.collect())
}
