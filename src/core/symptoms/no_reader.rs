//! Entries wait, and none of the group's consumers was seen since the oldest of them came. One sample decides. A reader that is there
//! would have got it, on every version (docs/server-facts.md 6), so idle times are comparable here.

use super::{About, Argv, Case, Level, Verdict, idle_now};
use crate::core::{id::EntryId, lag::LagKind, time::age_words};

pub(super) const ABOUT: About = About {
    id: "no-reader",
    levels: &[Level::Info, Level::Warn],
    says: "Entries wait, and none of the group's consumers was seen since the oldest of them came",
    cause: "the readers stopped, or wait for another stream, group or database",
    remedy: "see whether the readers run and what they read; if nobody needs the group, delete it (X)",
};

/// What fits after the cursor was moved back.
const REWOUND_CAUSE: &str = "the cursor was moved back, which wakes no reader that is blocked";
const REWOUND_REMEDY: &str = "add an entry, or restart the readers: the next XADD wakes them";

/// Nothing that waits for less, in milliseconds, is reported.
const LEAST_MS: i64 = 60_000;
/// A reader that comes at intervals is not late before this, in milliseconds.
const LATE_MS: i64 = 600_000;
/// Nor before this many times the threshold.
const TIMES: i64 = 2;
/// Nor before this many times the longest pause between deliveries that was seen.
const GAPS: i64 = 3;
/// A consumer that was not seen for this long, in milliseconds, will not come by itself.
const LONG_GONE_MS: i64 = 86_400_000;
/// Clocks of ids and of the server may differ by this, in milliseconds.
const CLOCKS_MS: i64 = 2_000;

pub(super) fn judge(case: &Case) -> Verdict {
    let group = case.group;
    let Some(waiting) = waiting(case) else { return Verdict::Ok };
    if case.is_replica {
        return Verdict::Ok;
    }
    let Some(consumers) = group.consumers.value.as_ref() else { return Verdict::NotEnoughData };
    // without consumers it is `no-consumers`
    let Some(seen_ago) = consumers.iter().map(|one| idle_now(group, one.idle_ms, case.now.mono)).min() else {
        return Verdict::Ok;
    };
    let Some(waits_ms) = waits_ms(case) else { return Verdict::NotEnoughData };
    let limit = case.gone_after_ms().max(LEAST_MS);
    // the list may be older than the newest sample: then both times are compared as of the list
    let listed_before = i64::try_from(group.at.since(group.consumers.at)).unwrap_or(i64::MAX);
    if listed_before > limit {
        return Verdict::NotEnoughData;
    }
    // after a start or a change of role readers need time to come back, but not those that were gone long before
    if case.serves_for_ms.is_some_and(|ms| ms <= limit && seen_ago.saturating_sub(ms) < LONG_GONE_MS) {
        return Verdict::NotEnoughData;
    }
    let waited_then = waits_ms.saturating_sub(listed_before);
    if waited_then <= limit || seen_ago < waited_then {
        return Verdict::Ok;
    }
    // a cursor later than the last time that anybody was seen: somebody reads whom the list does not show
    let last_seen_ms = case.server_ms.saturating_sub(seen_ago);
    let cursor_ms = group.facts.cursor.plausible_ms(case.server_ms);
    if cursor_ms.is_some_and(|cursor| cursor > last_seen_ms.saturating_add(CLOCKS_MS)) {
        return Verdict::NotEnoughData;
    }
    // all of them may be at work on what they hold: `holder-gone` speaks of those
    if seen_ago < LONG_GONE_MS && consumers.iter().any(|consumer| consumer.pending > 0) {
        return Verdict::Ok;
    }
    let gap = i64::try_from(group.longest_gap_ms).unwrap_or(i64::MAX).saturating_mul(GAPS);
    let late = limit.saturating_mul(TIMES).max(LATE_MS).max(gap);
    let level = if waits_ms >= late || seen_ago >= LONG_GONE_MS { Level::Warn } else { Level::Info };
    let rewound = group.seen.rewound.is_some_and(|(to, _)| to == group.facts.cursor);
    let (cause, remedy) = if rewound { (REWOUND_CAUSE, REWOUND_REMEDY) } else { (ABOUT.cause, ABOUT.remedy) };
    let who = match consumers.len() {
        1 => format!("its only consumer, {}, was not seen for {}", consumers[0].name, age_words(seen_ago)),
        n => format!("none of its {n} consumers was seen for {}", age_words(seen_ago)),
    };
    let text =
        format!("nobody reads {}: {}, the oldest for {}, and {who}", group.name(), waiting.text, age_words(waits_ms));
    let check = Argv::of(&[b"XINFO", b"CONSUMERS", case.stream.key.bytes(), group.name().bytes()]);
    ABOUT
        .finding(level, text, check)
        .because(cause)
        .advising(remedy)
        .with_known("lag", waiting.count)
        .lasting(waits_ms)
        .with("waiting_ms", waits_ms)
        .with("consumers", consumers.len() as i64)
        .with("seen_ms_ago", seen_ago)
        .with("threshold_ms", limit)
        .into()
}

/// What waits, if it is certain that something does.
struct Waiting {
    count: Option<i64>,
    text: String,
}

fn waiting(case: &Case) -> Option<Waiting> {
    let lag = &case.group.lag;
    if matches!(lag.kind, LagKind::Exact | LagKind::Reported | LagKind::AtLeast) {
        let count = lag.value?;
        let noun = if count == 1 { "entry waits" } else { "entries wait" };
        return (count > 0).then(|| Waiting { count: Some(count), text: format!("{} {noun}", lag.text()) });
    }
    let last = case.stream.facts.value.as_ref().filter(|_| !case.stream.skewed)?.last?;
    (last > case.group.facts.cursor).then(|| Waiting { count: None, text: "entries wait".to_owned() })
}

/// How long the oldest waiting entry has waited at least, in milliseconds: by its id where that is a time, and by how long the cursor was
/// seen to stand still before something that waits.
fn waits_ms(case: &Case) -> Option<i64> {
    let by_id =
        oldest_waiting(case).and_then(|id| id.plausible_ms(case.server_ms)).map(|ms| case.server_ms.saturating_sub(ms));
    let seen = case.group.waiting_since.map(|since| case.now.mono.since(since) as i64);
    by_id.max(seen)
}

/// The first entry past the cursor.
fn oldest_waiting(case: &Case) -> Option<EntryId> {
    let (cursor, facts) = (case.group.facts.cursor, case.stream.facts.value.as_ref()?);
    let first = facts.first.filter(|first| *first > cursor);
    first
        .or_else(|| case.group.next_waiting.filter(|(at, _)| *at == cursor).map(|(_, id)| id))
        .or_else(|| {
            let window = &case.stream.window;
            window.ids().find(|id| *id > cursor).filter(|_| window.covers(cursor))
        })
        // the last entry came after the first of those that wait: a lower bound
        .or(facts.last.filter(|last| *last > cursor))
}
