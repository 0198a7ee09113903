//! A consumer that was not seen for long holds entries, and nobody claims them. The finding says "not seen", never "dead": a long job
//! looks the same (docs/server-facts.md 13.7). A quiet poller holds no entries, so it is not reported (13.2).

use super::{About, Argv, Case, Finding, Level, Verdict, WINDOW_MS, entries, idle_now};
use crate::core::{
    model::{ConsumerFacts, total},
    store::{Extreme, LEAST_GONE_MS},
    time::{Mono, age_words},
};

pub(super) const ABOUT: About = About {
    id: "holder-gone",
    levels: &[Level::Warn, Level::Critical],
    says: "A consumer that was not seen for long holds entries, and nobody takes them over",
    cause: "its process ended or hangs before XACK, and no consumer claims entries that others left behind",
    remedy: "make sure that it is really gone; if workers reclaim by themselves, wait for their time-out; a claim by hand (c) helps only where the new owner reads its history",
};

/// With more holders than this, one finding speaks for all of them.
const NAMED: usize = 10;
/// A poll may notice this much later, in milliseconds, that an entry left.
const NOTICED_MS: i64 = 10_000;
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
    let unread = group.lag.value.filter(|waiting| *waiting > 0 && others == 0);
    let unread = unread.map_or(String::new(), |waiting| {
        format!(", and {} {} unread", group.lag.text(), if waiting == 1 { "waits" } else { "wait" })
    });
    if gone.len() > NAMED {
        let many = Many { gone: &gone, others, limit, unread: &unread };
        return many.finding(case).into();
    }
    let found = gone.iter().map(|(consumer, idle, oldest)| {
        let seen = if case.idle_is_attempt { "not seen" } else { "got nothing" };
        // what left before it was last seen it may have acknowledged itself, and a poll notices late
        let alone_ms = u64::try_from(idle.saturating_sub(NOTICED_MS)).unwrap_or(0).min(WINDOW_MS);
        let since = Mono(case.now.mono.0.saturating_sub(alone_ms));
        // only while its entries do not get fewer
        let get_fewer = group.seen.lost_some_since(&consumer.name, since);
        let rest = match others {
            0 => format!("no other consumer is active{unread}"),
            _ if get_fewer => "others take them over".to_owned(),
            1 => "1 other is active, and nobody reclaims them".to_owned(),
            n => format!("{n} others are active, and nobody reclaims them"),
        };
        // up to 7.0 a consumer that is at work on one entry, or waits for new ones, looks the same
        let rest =
            if case.idle_is_attempt { rest } else { format!("{rest}; or it is busy: this server does not tell") };
        let (for_long, pending_for) = (age_words(*idle), age_words(*oldest));
        let and_oldest =
            if for_long == pending_for { String::new() } else { format!(", the oldest pending for {pending_for}") };
        let text =
            format!("{} holds {}, {seen} for {for_long}{and_oldest}; {rest}", consumer.name, entries(consumer.pending));
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
            .lasting(*idle)
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

/// More holders than can be named: a consumer that is gone, its idle time and the age of its oldest entry, in milliseconds, each.
struct Many<'a> {
    gone: &'a [(&'a ConsumerFacts, i64, i64)],
    /// Consumers that are active.
    others: i64,
    limit: i64,
    /// What waits unread, as the end of a sentence.
    unread: &'a str,
}

impl Many<'_> {
    fn finding(&self, case: &Case) -> Finding {
        let held = total(self.gone.iter().map(|(consumer, ..)| consumer.pending));
        let idle = |pick: fn(i64, i64) -> i64| self.gone.iter().map(|(_, idle, _)| *idle).reduce(pick).unwrap_or(0);
        let (shortest, oldest) = (idle(i64::min), self.gone.iter().map(|(.., oldest)| *oldest).max().unwrap_or(0));
        let longest = self.gone.iter().max_by_key(|(_, idle, _)| *idle);
        let named = longest.map_or(String::new(), |(consumer, idle, _)| {
            format!("; {} for longest, {}", consumer.name, age_words(*idle))
        });
        let seen = if case.idle_is_attempt { "none seen" } else { "none got anything" };
        let others = match self.others {
            0 => format!("no other consumer is active{}", self.unread),
            1 => "1 other is active".to_owned(),
            n => format!("{n} others are active"),
        };
        let text = format!(
            "{} consumers hold {}, {seen} for {}{named}; {others}",
            self.gone.len(),
            entries(held),
            age_words(shortest)
        );
        let level = if oldest > self.limit.saturating_mul(CRITICAL_TIMES) { Level::Critical } else { Level::Warn };
        let (key, name) = (case.stream.key.bytes(), case.group.name().bytes());
        ABOUT
            .finding(level, text, Argv::of(&[b"XPENDING", key, name]))
            .lasting(self.gone.iter().map(|(_, idle, _)| *idle).max().unwrap_or(0))
            .with("holders_gone", self.gone.len() as i64)
            .with("pending", held)
            .with("oldest_idle_ms", oldest)
            .with("consumer_idle_ms", shortest)
            .with("active_consumers", self.others)
            .with("threshold_ms", self.limit)
    }
}
