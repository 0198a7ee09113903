//! A consumer is at work, entries wait, and the cursor stands still: it probably reads its own history instead of `>`.

use super::{About, Argv, Case, Level, Threshold, Verdict, WINDOW_MS, enough, entries, idle_now};
use crate::core::name::Name;

/// A consumer seen within this many milliseconds is active. It may ask at long intervals, so the limit is higher once the check fired.
const AT_WORK_MS: Threshold<i64> = Threshold { fires: 5_000, stays: 20_000 };

pub(super) const ABOUT: About = About {
    id: "reads-history",
    levels: &[Level::Warn],
    says: "A consumer was seen all the time, entries wait, and none is delivered",
    cause: "XREADGROUP is called with an id such as 0, which gives the consumer's own pending entries, instead of >",
    remedy: "read with > for new entries; the history is for the start, until it is empty",
};

pub(super) fn judge(case: &Case) -> Verdict {
    let group = case.group;
    let waiting = group.lag.value.filter(|waiting| *waiting > 0);
    let Some(waiting) = waiting else { return Verdict::Ok };
    let (Some(consumers), true) = (&group.consumers.value, enough(group)) else { return Verdict::NotEnoughData };
    let still = group
        .history
        .window(WINDOW_MS)
        .all(|point| point.cursor == group.facts.cursor && (case.pending > 0 || point.pending == Some(0)));
    // a consumer that holds entries may be at work on them; one that gets its own again was seen to read them
    let rereads = |name: &Name| {
        group.seen.redeliveries.iter().any(|seen| {
            seen.is_delivery
                && case.now.mono.since(seen.at) <= WINDOW_MS
                && seen.from == seen.to
                && seen.to.as_ref() == Some(name)
        })
    };
    // entries wait, so it cannot be an empty read with > that made it look active
    let at_work = case.threshold(ABOUT, AT_WORK_MS);
    let seen_ago = |idle_ms: i64| idle_now(group, idle_ms, case.now.mono);
    let busy = consumers
        .iter()
        .filter(|consumer| seen_ago(consumer.idle_ms) <= at_work)
        .filter(|consumer| case.pending == 0 || rereads(&consumer.name))
        .min_by_key(|consumer| consumer.idle_ms);
    let waited = group.history.window(WINDOW_MS).all(|point| point.lag.is_none_or(|lag| lag > 0));
    let Some(busy) = busy.filter(|_| still && waited) else { return Verdict::Ok };
    let does = if case.pending == 0 {
        "was seen just now, and nothing is delivered: nothing is pending".to_owned()
    } else {
        format!("gets entries again that it holds already, and no new ones: {} are pending", case.pending)
    };
    let text = format!(
        "{} {does}, the cursor stays at {}, {} {}; it probably reads its history instead of >",
        busy.name,
        group.facts.cursor,
        entries(waiting),
        if waiting == 1 { "waits" } else { "wait" }
    );
    ABOUT
        .finding(Level::Warn, text, Argv::of(&[b"XINFO", b"CONSUMERS", case.stream.key.bytes(), group.name().bytes()]))
        .about(Some(busy.name.clone()))
        .with("lag", waiting)
        .with("pending", case.pending)
        .with("consumer_idle_ms", busy.idle_ms)
        .with("window_ms", group.history.span_ms(WINDOW_MS) as i64)
        .into()
}
