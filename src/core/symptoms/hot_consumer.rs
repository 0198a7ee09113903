//! One consumer took nearly everything, while others wait for work.

use super::{About, Case, Finding, Level, Verdict, idle_now, words};
use crate::core::model::total;

/// Pending below which nothing is said, and what takes it back once it was said.
const FLOOR: (i64, i64) = (100, 50);
/// Share of one consumer, in percent, and what takes it back.
const SHARE: (i64, i64) = (80, 60);
/// Two consumers are never even.
const CONSUMERS: usize = 3;

/// The row of the documentation.
pub(super) const ABOUT: About = About {
    id: "hot-consumer",
    levels: &[Level::Warn],
    says: "One of several consumers holds nearly all that is pending, and is alive",
    cause: "it reads without COUNT, or with a large one, and takes the whole backlog into its memory",
    remedy: "read with a smaller COUNT; what it holds can be claimed by the others",
};

pub(super) fn judge(case: &Case) -> Verdict {
    let group = case.group;
    let (floor, share) = if case.fired(ABOUT.id) { (FLOOR.1, SHARE.1) } else { (FLOOR.0, SHARE.0) };
    if group.facts.pending < floor {
        return Verdict::Ok;
    }
    let Some(consumers) = &group.consumers else { return Verdict::NotEnoughData };
    let total = total(consumers.iter().map(|consumer| consumer.pending));
    let Some(hot) = consumers.iter().max_by_key(|consumer| consumer.pending).filter(|_| consumers.len() >= CONSUMERS)
    else {
        return Verdict::Ok;
    };
    // one that is not seen any more has a symptom of its own
    let alive = idle_now(group, hot.idle_ms, case.now.mono) <= group.gone_after_ms(case.settings);
    if !alive || hot.pending.saturating_mul(100) < total.saturating_mul(share) {
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
    Verdict::Found(vec![Finding {
        id: ABOUT.id,
        level: Level::Warn,
        consumer: Some(hot.name.clone()),
        text,
        evidence: vec![("held", hot.pending), ("pending", total), ("consumers", consumers.len() as i64)],
        cause: ABOUT.cause,
        check: words(&[b"XPENDING", case.stream.key.bytes(), group.name().bytes()]),
        remedy: ABOUT.remedy,
    }])
}
