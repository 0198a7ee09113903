//! Consumer names pile up: they hold nothing and were not seen for long (docs/server-facts.md 13.1), or there are very many already and
//! more by the minute, which the server's count shows even where the list is too long to be read often.

use super::{About, Argv, Case, LEFT_OVER_MS, Level, Threshold, Verdict, idle_now};
use crate::core::time::age_words;

/// Fewer left-over consumers do not matter.
const LEFT_OVER: usize = 20;
/// Once fired, the finding stays down to this many.
const STILL_LEFT_OVER: usize = 10;

/// A thousand consumers are not all workers, and their growth within a minute is no scale-up.
const VERY_MANY: i64 = 1000;
const GROWTH: Threshold<i64> = Threshold { fires: 20, stays: 5 };

pub(super) const ABOUT: About = About {
    id: "consumer-churn",
    levels: &[Level::Info],
    says: "Many consumers hold nothing and were not seen for over a day (told from 7.2 on), or there are over a thousand and more by the minute",
    cause: "consumers are named after processes or pods, and nobody deletes the names of those that ended",
    remedy: "give workers stable names, or delete consumers that hold nothing; deleting one that holds entries loses them",
};

pub(super) fn judge(case: &Case) -> Verdict {
    let group = case.group;
    let count = group.facts.consumers.value().unwrap_or(0);
    if let Some((growth, span_ms)) = group.headcount.growth()
        && count >= VERY_MANY
        && growth >= GROWTH.at(case.fired(ABOUT))
    {
        let text =
            format!("{count} consumers, {growth} more than {} ago: new names pile up", age_words(span_ms as i64));
        let check = Argv::of(&[b"XINFO", b"GROUPS", case.stream.key.bytes()]);
        let finding = ABOUT.finding(Level::Info, text, check).with("consumers", count).with("growth", growth);
        return finding.with("window_ms", span_ms as i64).into();
    }
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
