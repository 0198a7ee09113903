//! Consumer names pile up: they hold nothing and were not seen for long (docs/server-facts.md 13.1).

use super::{About, Argv, Case, LEFT_OVER_MS, Level, Verdict, idle_now};

/// Fewer left-over consumers do not matter.
const LEFT_OVER: usize = 20;
/// Once fired, the finding stays down to this many.
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
    // before 7.2 idle counts from the last success, so in a quiet stream everybody looks left over (docs/server-facts.md 13.2)
    if !case.idle_is_attempt {
        return Verdict::Ok;
    }
    let left = consumers
        .iter()
        .filter(|one| one.pending == 0 && idle_now(group, one.idle_ms, case.now.mono) > LEFT_OVER_MS)
        .count();
    // even 7.2 cannot distinguish a reader that blocks forever from one that is gone, so a few names are not enough
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
