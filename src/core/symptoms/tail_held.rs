//! One group is far behind while the others are past most of the stream: if entries are trimmed only after every group has read them,
//! they are kept for that one group. One sample decides. The check distinguishes a forgotten group from a slow one.

use super::{About, Argv, Case, Level, Threshold, Verdict, entries, idle_now};
use crate::core::{
    known::Known,
    lag::{Lag, LagKind},
    store::GroupState,
    time::age_words,
};

pub(super) const ABOUT: About = About {
    id: "tail-held",
    levels: &[Level::Info, Level::Warn],
    says: "One group stands far behind the others: most of what is retained is kept for it alone",
    cause: "a group that nobody needs any more and nobody destroyed, or one whose readers stopped",
    remedy: "start its readers, move its cursor (m), or delete the group (X); only then can the rest be trimmed without a loss",
};

/// Least number of held entries, if the group still reads.
const READING_FLOOR: i64 = 1000;
/// Least number of held entries, if its consumers were seen, but not to read.
const FLOOR: i64 = 100;
/// Least number of held entries, if nobody reads the group.
const FORGOTTEN_FLOOR: i64 = 5;
/// This many entries kept for a group that nobody reads cost memory that somebody should look at.
const MUCH: i64 = 1000;
/// Share of the stream, in percent, that must be held.
const SHARE: Threshold<i64> = Threshold { fires: 50, stays: 30 };

/// The least that can wait: the bound to use for the group that is behind.
fn least(lag: &Lag) -> Option<i64> {
    match lag.kind {
        LagKind::Exact | LagKind::Reported | LagKind::AtLeast => lag.value,
        _ => None,
    }
}

/// The most that can wait: the bound to use for the groups ahead.
fn most(lag: &Lag) -> Option<i64> {
    match lag.kind {
        LagKind::Exact | LagKind::Reported | LagKind::AtMost => lag.value,
        _ => None,
    }
}

pub(super) fn judge(case: &Case) -> Verdict {
    let (group, stream) = (case.group, case.stream);
    let (Some(facts), Some(behind)) = (&stream.facts.value, least(&group.lag)) else { return Verdict::Ok };
    let others: Vec<&GroupState> = stream.groups.values().filter(|other| other.name() != group.name()).collect();
    // other groups are past the entries if their lag is at most half; if most are not, this is not about one group
    let ahead: Vec<i64> =
        others.iter().filter_map(|other| most(&other.lag)).filter(|waits| *waits <= behind / 2).collect();
    let Some(slowest) = ahead.iter().copied().max().filter(|_| ahead.len() * 2 >= others.len()) else {
        return Verdict::Ok;
    };
    let held = behind.saturating_sub(slowest);
    let fired = case.fired(ABOUT);
    let share = SHARE.at(fired);
    // a count that stopped at its limit proves a number, not a share
    let part = held.saturating_mul(100) >= facts.length.saturating_mul(share)
        || group.lag.kind == LagKind::AtLeast && held >= MUCH / 2;
    let unread = unread_ms(case);
    let reads_on = group.history.points().next().is_some_and(|first| first.cursor < group.facts.cursor);
    let floor = match (unread, reads_on) {
        (Some(_), _) => FORGOTTEN_FLOOR,
        (None, false) => FLOOR,
        (None, true) => READING_FLOOR,
    };
    if !part || held < if fired { floor / 2 } else { floor } {
        return Verdict::Ok;
    }
    let who = match (unread, group.facts.consumers) {
        (_, Known::Is(0)) => "the server knows no consumer of it".to_owned(),
        (Some(idle), _) => format!("none of its consumers was seen for {}", age_words(idle)),
        (None, _) if reads_on => "it reads on, slowly".to_owned(),
        (None, _) => "its consumers were seen lately".to_owned(),
    };
    let least = if group.lag.kind == LagKind::AtLeast { "at least " } else { "" };
    let of_others = match ahead.len() {
        1 => "1 other group is past them".to_owned(),
        n => format!("{n} other groups are past them"),
    };
    let verb = if held == 1 { "is" } else { "are" };
    let text = format!(
        "{least}{} of the {} retained {verb} kept for {} alone, which stands at {}: {of_others}; {who}",
        entries(held),
        facts.length,
        group.name(),
        group.facts.cursor
    );
    let level = if unread.is_some() && held >= MUCH { Level::Warn } else { Level::Info };
    let check = Argv::of(&[b"XINFO", b"GROUPS", stream.key.bytes()]);
    ABOUT
        .finding(level, text, check)
        .with("held", held)
        .with("length", facts.length)
        .with("lag", behind)
        .with("groups_past", ahead.len() as i64)
        .with_known("unread_ms", unread.filter(|_| group.facts.consumers.exceeds(0)))
        .into()
}

/// How long no consumer of the group was seen, in milliseconds, once that is too long; 0 if there are no consumers. While entries wait, a
/// reader would have received some, so idle time counts on every version (docs/server-facts.md 6).
fn unread_ms(case: &Case) -> Option<i64> {
    let group = case.group;
    if group.facts.consumers == Known::Is(0) {
        return Some(0);
    }
    let idle = group.consumers().iter().map(|one| idle_now(group, one.idle_ms, case.now.mono)).min()?;
    (idle > case.gone_after_ms()).then_some(idle)
}
