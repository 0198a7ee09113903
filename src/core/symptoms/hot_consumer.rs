//! One consumer took nearly everything, while others wait for work.

use super::{About, Argv, Case, Level, Threshold, Verdict, idle_now};
use crate::core::{
    model::{ConsumerFacts, PendingRow, total},
    store::Redelivery,
};

/// Least number of pending entries.
const FLOOR: Threshold<i64> = Threshold { fires: 100, stays: 50 };
/// Share of one consumer, in percent.
const SHARE: Threshold<i64> = Threshold { fires: 80, stays: 60 };
/// Least number of consumers: two never have equal shares.
const CONSUMERS: usize = 3;

pub(super) const ABOUT: About = About {
    id: "hot-consumer",
    levels: &[Level::Warn],
    says: "One of several consumers holds nearly all that is pending, and is alive",
    cause: "it reads without COUNT, or with a large one, and takes the whole backlog into its memory",
    remedy: "read with a smaller COUNT; what it holds can be claimed by the others (c)",
};

pub(super) fn judge(case: &Case) -> Verdict {
    let group = case.group;
    let (floor, share) = (case.threshold(ABOUT, FLOOR), case.threshold(ABOUT, SHARE));
    if case.pending < floor {
        return Verdict::Ok;
    }
    let Some(consumers) = &group.consumers.value else { return Verdict::NotEnoughData };
    let total = total(consumers.iter().map(|consumer| consumer.pending));
    let Some(hot) = consumers.iter().max_by_key(|consumer| consumer.pending).filter(|_| consumers.len() >= CONSUMERS)
    else {
        return Verdict::Ok;
    };
    // a consumer that is not seen any more has a symptom of its own
    let alive = idle_now(group, hot.idle_ms, case.now.mono) <= case.gone_after_ms();
    if !alive || hot.pending.saturating_mul(100) < total.saturating_mul(share) {
        return Verdict::Ok;
    }
    if !took_at_once(case, hot) {
        return Verdict::Ok;
    }
    let others = consumers.len() as i64 - 1;
    let text = format!(
        "{} holds {} of {total} pending ({} %); the other {others} hold {} between them",
        hot.name,
        hot.pending,
        hot.pending.saturating_mul(100) / total.max(1),
        total.saturating_sub(hot.pending)
    );
    ABOUT
        .finding(Level::Warn, text, Argv::of(&[b"XPENDING", case.stream.key.bytes(), group.name().bytes()]))
        .about(Some(hot.name.clone()))
        .with("held", hot.pending)
        .with("pending", total)
        .with("consumers", consumers.len() as i64)
        .into()
}

/// Deliveries within this many milliseconds count as one read.
const ONE_READ_MS: i64 = 1_000;
/// Share of what it holds, in percent, that must have come in one read. A reader that never acknowledges holds as much, but got it little
/// by little.
const ONE_READ_SHARE: usize = 40;

/// Whether the consumer took what it holds in one large read. Entries that were delivered more than once came by a claim, or failed:
/// they say nothing about how it reads. Without rows to look at, its count alone decides.
fn took_at_once(case: &Case, hot: &ConsumerFacts) -> bool {
    let rows: Vec<&PendingRow> = case.group.pel.of(Some(&hot.name)).collect();
    let seen = &case.group.seen;
    // a claim with JUSTID leaves the delivery count as it was
    let claimed = |id| {
        let came = |one: &Redelivery| one.id == id && one.from != one.to && one.to.as_ref() == Some(&hot.name);
        case.group.own.gave(id, &hot.name) || seen.redeliveries.iter().any(came)
    };
    let read = rows.iter().filter(|row| row.deliveries <= 1 && !claimed(row.id));
    let mut idle: Vec<i64> = read.filter_map(|row| row.idle_known_ms()).collect();
    idle.sort_unstable();
    let largest = (0..idle.len()).map(|from| idle[from..].partition_point(|ms| *ms <= idle[from] + ONE_READ_MS)).max();
    rows.is_empty() || largest.unwrap_or(0) * 100 >= rows.len() * ONE_READ_SHARE
}
