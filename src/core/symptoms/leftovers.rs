//! A consumer that is alive holds old entries while it gets newer ones: it does not come back to them by itself. One sample decides.
//! `holder-gone` reports holders that were not seen; `never-acked` a list that grows.

use super::{About, Argv, Case, Finding, Level, Verdict, entries, idle_now};
use crate::core::{
    model::{ConsumerFacts, FATAL_DELIVERIES, PendingRow},
    store::LEAST_GONE_MS,
    time::{age, age_words},
};

pub(super) const ABOUT: About = About {
    id: "leftovers",
    levels: &[Level::Info, Level::Warn],
    says: "A consumer that is alive holds old entries and has got newer ones since",
    cause: "an exception before XACK, or a restart under the same name that reads only new entries (>)",
    remedy: "let the consumer read its history once (XREADGROUP with id 0), or claim the entries to another name (c); a claim to itself moves nothing",
};

/// An entry is left over after this many times the slowest handling seen.
const TIMES_SLOWEST: i64 = 10;
/// And after this many times the longest idle time that was seen before a reclaim.
const TIMES_RECLAIM: i64 = 2;
/// But not before this, in milliseconds.
const LEAST_MS: i64 = 60_000;
/// Without handlings seen, after this, in milliseconds.
const CAUTIOUS_MS: i64 = 900_000;
/// More such entries than this need a look.
const MANY: usize = 10;
/// Where handlings were seen, entries older than this many times the limit need a look, but not before `CAUTIOUS_MS`.
const WARN_TIMES: i64 = 3;
/// Without handlings seen, those older than this, in milliseconds.
const WARN_MS: i64 = 86_400_000;
/// Most consumers to report one by one.
const NAMED: usize = 3;

/// How old an entry must be, in milliseconds.
struct Limits {
    left_over: i64,
    warn: i64,
    /// The slowest handling seen.
    slowest: Option<i64>,
}

impl Limits {
    fn of(case: &Case) -> Self {
        let seen = &case.group.seen;
        let slowest = seen.handling_ms(1.0);
        let reclaimed = seen
            .redeliveries
            .iter()
            .filter(|seen| seen.from != seen.to)
            .filter_map(|seen| seen.idle_before_ms)
            .max()
            .unwrap_or(0);
        let left_over = slowest.map_or(CAUTIOUS_MS, |slowest| {
            LEAST_MS.max(slowest.saturating_mul(TIMES_SLOWEST)).max(reclaimed.saturating_mul(TIMES_RECLAIM))
        });
        let warn = slowest.map_or(WARN_MS, |_| CAUTIOUS_MS.max(left_over.saturating_mul(WARN_TIMES)));
        Self { left_over, warn, slowest }
    }
}

pub(super) fn judge(case: &Case) -> Verdict {
    let group = case.group;
    if case.pending == 0 {
        return Verdict::Ok;
    }
    let Some(consumers) = &group.consumers.value else { return Verdict::NotEnoughData };
    // rows and consumers of different moments prove nothing about each other, nor do old ones about now
    let unread = group.pel.rows.is_empty() && !group.pel.is_fetched();
    let age_ms = i64::try_from(group.at.since(group.consumers.at)).unwrap_or(i64::MAX);
    if unread || group.consumers.at != group.pel.at || age_ms > case.gone_after_ms().max(LEAST_GONE_MS) {
        return Verdict::NotEnoughData;
    }
    let limits = Limits::of(case);
    let mut found: Vec<(&ConsumerFacts, Vec<&PendingRow>)> = consumers
        .iter()
        .filter(|consumer| consumer.pending > 0)
        .filter(|consumer| idle_now(group, consumer.idle_ms, case.now.mono) <= case.gone_after_ms())
        .map(|consumer| (consumer, left_over(case, consumer, &limits)))
        .filter(|(_, rows)| !rows.is_empty())
        .collect();
    if found.is_empty() {
        return Verdict::Ok;
    }
    found.sort_by_key(|(consumer, rows)| (std::cmp::Reverse(rows.len()), &consumer.name));
    Verdict::Found(found.iter().take(NAMED).map(|(consumer, rows)| finding(case, consumer, rows, &limits)).collect())
}

/// Entries older than the limit, of a consumer that has got newer ones since they were delivered.
fn left_over<'a>(case: &'a Case, consumer: &'a ConsumerFacts, limits: &Limits) -> Vec<&'a PendingRow> {
    let group = case.group;
    // from 7.2 on `inactive` counts since it got entries; up to 7.0 `idle` does
    let got_ago = consumer.inactive_ms.value().filter(|ms| *ms >= 0).unwrap_or(consumer.idle_ms);
    let moved = group.history.points().next().is_some_and(|first| first.cursor < group.facts.cursor);
    let cursor_ms = group.facts.cursor.plausible_ms(case.server_ms);
    let is_left = |row: &&PendingRow| {
        let Some(idle) =
            row.idle_known_ms().filter(|idle| *idle > limits.left_over && row.deliveries < FATAL_DELIVERIES)
        else {
            return false;
        };
        // one sample does not show the cursor move: then its own time must be later than the delivery
        let delivered_ms = case.server_ms.saturating_sub(idle);
        let went_on = moved || cursor_ms.is_some_and(|cursor| cursor > delivered_ms);
        got_ago < idle && row.id < group.facts.cursor && went_on
    };
    group.pel.of(Some(&consumer.name)).filter(is_left).collect()
}

fn finding(case: &Case, consumer: &ConsumerFacts, rows: &[&PendingRow], limits: &Limits) -> Finding {
    let oldest = rows.iter().filter_map(|row| row.idle_ms).max().unwrap_or(0);
    let first = rows.iter().max_by_key(|row| row.idle_ms).map_or("-".to_owned(), |row| row.id.to_string());
    let least = if case.group.pel.complete { "" } else { "at least " };
    let usual =
        limits.slowest.map_or(String::new(), |slowest| format!("; handling takes {} at most here", age(slowest)));
    let text = format!(
        "{} is alive, has got newer entries since, and still holds {least}{} for up to {} ({first}){usual}",
        consumer.name,
        entries(rows.len() as i64),
        age_words(oldest)
    );
    let level = if rows.len() > MANY || oldest > limits.warn { Level::Warn } else { Level::Info };
    let (key, group, name) = (case.stream.key.bytes(), case.group.name().bytes(), consumer.name.bytes());
    ABOUT
        .finding(level, text, Argv::of(&[b"XPENDING", key, group, b"-", b"+", b"10", name]))
        .about(Some(consumer.name.clone()))
        .of_entries(rows.iter().map(|row| row.id))
        .lasting(oldest)
        .with("entries", rows.len() as i64)
        .with("oldest_idle_ms", oldest)
        .with("consumer_idle_ms", consumer.idle_ms)
        .with("threshold_ms", limits.left_over)
        .with_known("slowest_handling_ms", limits.slowest)
}
