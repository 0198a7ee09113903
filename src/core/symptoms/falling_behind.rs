//! More comes in than the group reads: the lag grows over the window although consumers are at work.

use super::{About, Argv, Case, Finding, Level, Verdict, WINDOW_MS, at_work, enough, idle_now};
use crate::core::{history::Point, model::total, number::whole, store::RATE_WINDOW_MS, time::age_words};

pub(super) const ABOUT: About = About {
    id: "falling-behind",
    levels: &[Level::Warn, Level::Critical],
    says: "More comes in than the group reads: the lag grows over the window",
    cause: "too few or too slow consumers for what is produced, or one entry at a time where a batch would do",
    remedy: "add consumers or read larger batches; see whether one consumer does all the work",
};

/// What fits when the group was too slow at first and its consumers are gone now.
const STOPPED_CAUSE: &str = "the consumers could not keep up, and now none of them is seen";
const STOPPED_REMEDY: &str = "see why the consumers stopped, and start them";

/// A group that reads in batches swings for some seconds: no verdict on a shorter time, in milliseconds.
const SPAN_MS: u64 = 8_000;
/// No finding below this growth, so that quiet groups stay quiet.
pub(super) const FLOOR: i64 = 20;
/// Over a shorter time, in milliseconds, a swing or a burst looks like a trend: the lag must then go up at most steps.
const SWING_MS: u64 = 25_000;

pub(super) fn judge(case: &Case) -> Verdict {
    let group = case.group;
    if group.lag.exact() == Some(0) {
        return Verdict::Ok;
    }
    if !enough(group) || group.history.span_ms(WINDOW_MS) < SPAN_MS {
        return Verdict::NotEnoughData;
    }
    let known: Vec<Point> = group.history.window(WINDOW_MS).filter(|point| point.lag.is_some()).collect();
    let quarter = known.len() / 4;
    // an unknown lag cannot be compared (docs/server-facts.md 13.4): only proven growth counts
    if quarter == 0 || known.len() * 5 < group.history.window(WINDOW_MS).count() * 4 {
        return proven(case).map_or(Verdict::NotEnoughData, |finding| Verdict::Found(vec![finding]));
    }
    let mean = |points: &[Point]| total(points.iter().filter_map(|point| point.lag)) / points.len().max(1) as i64;
    let (before, after) = (mean(&known[..quarter]), mean(&known[known.len() - quarter..]));
    let growth = after.saturating_sub(before);
    // once fired, the finding stays until the lag no longer grows at all
    let floor = if case.fired(ABOUT) { 0 } else { FLOOR.max(before / 20) };
    if growth <= floor || !case.fired(ABOUT) && swings(case, &known, growth) {
        return Verdict::Ok;
    }
    let (first, last) = (known[0], known[known.len() - 1]);
    let span = last.at.since(first.at);
    // nothing was added, so the growth of the lag has another reason
    if group.history.rates(WINDOW_MS).added.is_some_and(|added| added <= 0.0) {
        return Verdict::Ok;
    }
    // one burst that is being read: the lag is small again, or no longer grows
    let recent = known.iter().rev().find(|point| last.at.since(point.at) >= RATE_WINDOW_MS);
    let drains = recent.is_some_and(|recent| last.lag <= recent.lag);
    if last.lag.is_some_and(|lag| lag < FLOOR) || drains && !case.fired(ABOUT) {
        return Verdict::Ok;
    }
    let still = known.iter().all(|point| point.cursor == group.facts.cursor);
    let nobody = still && nobody_is_there(case);
    // what fired and goes on is not over because the last consumer stopped as well
    if nobody && !case.fired(ABOUT) {
        return Verdict::Ok;
    }
    let rates = group.rates(case.stream);
    let active = at_work(case);
    let pace = match (rates.added, rates.delivered) {
        (Some(added), Some(delivered)) if added > delivered => {
            format!(": {added:.1}/s come in, {delivered:.1}/s are read; at these rates it never catches up")
        }
        (Some(added), Some(delivered)) => format!(": {added:.1}/s come in, {delivered:.1}/s are read"),
        (Some(added), None) => format!(": {added:.1}/s come in"),
        (None, _) => String::new(),
    };
    let who = match (group.consumers.value.is_some(), active) {
        _ if nobody => ", and its consumers have stopped".to_owned(),
        (true, 0) => ", and no consumer is reading".to_owned(),
        (true, 1) => ", with 1 consumer at work".to_owned(),
        (true, n) => format!(", with {n} consumers at work"),
        (false, _) => String::new(),
    };
    let lag = last.lag.unwrap_or(after);
    let text =
        format!("the lag grew from {} to {lag} in {}{who}{pace}", first.lag.unwrap_or(before), age_words(span as i64));
    let (cause, remedy) = if nobody { (STOPPED_CAUSE, STOPPED_REMEDY) } else { (ABOUT.cause, ABOUT.remedy) };
    ABOUT
        .finding(
            if after > before.saturating_mul(4).max(10_000) { Level::Critical } else { Level::Warn },
            text,
            Argv::of(&[b"XINFO", b"CONSUMERS", case.stream.key.bytes(), group.name().bytes()]),
        )
        .because(cause)
        .advising(remedy)
        .with("lag", lag)
        .with("growth", growth)
        .with("window_ms", span as i64)
        .with("pending", case.pending)
        .with("active_consumers", active)
        .with_known("added_per_1000_s", rates.added.map(|n| whole(n * 1000.0)))
        .with_known("delivered_per_1000_s", rates.delivered.map(|n| whole(n * 1000.0)))
        .into()
}

/// Whether no consumer is there who could be busy: a group that delivers nothing is then not too slow, nobody reads it.
fn nobody_is_there(case: &Case) -> bool {
    let group = case.group;
    let limit = case.gone_after_ms();
    let there = |idle_ms: i64| idle_now(group, idle_ms, case.now.mono) <= limit;
    group.consumers.value.is_some() && !group.consumers().iter().any(|consumer| there(consumer.idle_ms))
}

/// Whether the lag goes up and down by more than it grew: then the group reads in batches and does not fall behind.
fn swings(case: &Case, known: &[Point], growth: i64) -> bool {
    let lags: Vec<i64> = known.iter().filter_map(|point| point.lag).collect();
    if case.group.history.span_ms(WINDOW_MS) < SWING_MS {
        let steps = lags.len() - 1;
        let count = |is: fn(&[i64]) -> bool| lags.windows(2).filter(|pair| is(pair)).count();
        return count(|pair| pair[1] < pair[0]) * 3 >= steps || count(|pair| pair[1] > pair[0]) * 2 <= steps;
    }
    let newest = &lags[lags.len() - lags.len() / 4..];
    let spread = newest.iter().max().zip(newest.iter().min()).map_or(0, |(most, least)| most.saturating_sub(*least));
    growth <= spread
}

/// A finding where the lag is known only within bounds, as for a group created at `$`. It grew if its lower bound now is above its upper
/// bound then. While the cursor stands still, it grows at least as much as the stream does, with or without trimming.
fn proven(case: &Case) -> Option<Finding> {
    let group = case.group;
    let mut window = group.history.window(WINDOW_MS);
    let still = window.clone().all(|point| point.cursor == group.facts.cursor);
    let (first, last) = (window.next()?, window.next_back()?);
    let less = |new: Option<i64>, old: Option<i64>| new?.checked_sub(old?);
    let apart = less(last.bounds.0, first.bounds.1);
    let stood = less(last.length, first.length).filter(|_| still);
    let growth = apart.max(stood).filter(|growth| *growth > FLOOR && !(still && nobody_is_there(case)))?;
    let span = last.at.since(first.at) as i64;
    let stands = if still { format!(" while the cursor stands at {}", group.facts.cursor) } else { String::new() };
    let text = format!(
        "the lag grew by {growth} or more in {}{stands}; how large it is the server does not say",
        age_words(span)
    );
    let check = Argv::of(&[b"XINFO", b"CONSUMERS", case.stream.key.bytes(), group.name().bytes()]);
    let finding = ABOUT.finding(Level::Warn, text, check).with("growth_at_least", growth).with("window_ms", span);
    Some(finding.with("pending", case.pending).with_known("lag_at_least", last.bounds.0))
}
