//! Names of consumers pile up: they hold nothing, and nobody was seen under them for long (docs/server-facts.md 13.1).

use super::{About, Argv, Case, LEFT_OVER_MS, Level, Verdict, idle_now};

/// Fewer left-over consumers are nobody's concern,
const LEFT_OVER: usize = 20;
/// and once it was said, it is said until there are only so many.
const STILL_LEFT_OVER: usize = 10;

pub(super) const ABOUT: About = About {
    id: "consumer-churn",
    levels: &[Level::Info],
    says: "Many consumers hold nothing and were not seen for over a day (told from 7.2 on)",
    cause: "consumers are named after processes or pods, and nobody deletes the names of those that ended",
    remedy: "give workers stable names, or delete consumers that hold nothing; deleting one that holds entries loses them",
};

pub(super) fn judge(case: &Case) -> Verdict {
    let group = case.group;
    let Some(consumers) = &group.consumers.value else { return Verdict::NotEnoughData };
    // before 7.2 idle counts from the last success, so that a quiet stream makes everybody look left over (docs/server-facts.md 13.2)
    if !case.idle_is_attempt {
        return Verdict::Ok;
    }
    let left = consumers
        .iter()
        .filter(|one| one.pending == 0 && idle_now(group, one.idle_ms, case.now.mono) > LEFT_OVER_MS)
        .count();
    // 7.2 cannot tell a reader that blocks for ever from one that is gone, unless others are seen
    let floor = if case.fired(ABOUT) { STILL_LEFT_OVER } else { LEFT_OVER };
    if left < floor {
        return Verdict::Ok;
    }
    let text = format!("{left} of {} consumers hold nothing and were not seen for over a day", consumers.len());
    let check = Argv::of(&[b"XINFO", b"CONSUMERS", case.stream.key.bytes(), group.name().bytes()]);
    ABOUT
        .finding(Level::Info, text, check)
        .with("left_over", left as i64)
        .with("consumers", consumers.len() as i64)
        .into()
}
