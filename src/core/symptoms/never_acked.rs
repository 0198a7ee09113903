//! Entries are delivered and hardly any are acknowledged: pending only grows while the lag is low and the holder is alive.

use super::{About, Argv, Case, Level, Threshold, Verdict, WINDOW_MS, enough, entries, idle_now};
use crate::core::time::age_words;

pub(super) const ABOUT: About = About {
    id: "never-acked",
    levels: &[Level::Warn, Level::Critical],
    says: "Entries go out and hardly any come back: pending only grows while the lag stays low",
    cause: "an exception before XACK, an XACK with a wrong id, key or group, or a reader that never acknowledges",
    remedy: "read the holder's log for the entry that is pending longest; if no acknowledgement is meant, read with NOACK",
};

/// Growth of pending over the window.
const FLOOR: Threshold<i64> = Threshold { fires: 10, stays: 3 };
/// No verdict over a shorter time, in milliseconds: with acknowledgement in batches, pending grows for some seconds.
const SPAN_MS: u64 = 7_000;
/// Share of the deliveries that stays pending.
const SHARE: Threshold<f64> = Threshold { fires: 0.2, stays: 0.1 };
/// Over a shorter time, in milliseconds, a batch that will be acknowledged looks like a leak, so the check is stricter.
const SHORT_MS: u64 = 25_000;
/// The stricter check: this share stays pending, and pending never goes down.
const NEARLY_ALL: f64 = 0.8;
/// At most one step in this many may go down.
const DIPS: Threshold<usize> = Threshold { fires: 5, stays: 3 };

/// Growth within the window, or entries in all, that need somebody now.
const HEAP: i64 = 1000;
/// When the oldest of them is that old, in milliseconds.
const OLD_MS: i64 = 30 * 60_000;

pub(super) fn judge(case: &Case) -> Verdict {
    let group = case.group;
    let fired = case.fired(ABOUT);
    let (floor, share, dip) = (FLOOR.at(fired), SHARE.at(fired), DIPS.at(fired));
    if case.pending < floor {
        return Verdict::Ok;
    }
    if !enough(group) || group.history.span_ms(WINDOW_MS) < SPAN_MS {
        return Verdict::NotEnoughData;
    }
    let window = group.history.window(WINDOW_MS);
    let (Some(first), Some(last)) = (window.clone().next(), window.clone().next_back()) else {
        return Verdict::NotEnoughData;
    };
    let (Some(before), Some(pending)) = (first.pending, last.pending) else { return Verdict::NotEnoughData };
    let growth = pending.saturating_sub(before);
    // in a healthy group pending goes up and down: deliveries are acknowledged within a few ticks
    let dips = window.clone().zip(window.clone().skip(1)).filter(|(a, b)| b.pending < a.pending).count();
    let steps = window.clone().count().saturating_sub(1);
    // with acknowledgement in batches, pending returns to the same low each time: so the lows must rise, too
    let middle = first.at.0 + last.at.since(first.at) / 2;
    let low = |late: bool| window.clone().filter(|p| (p.at.0 > middle) == late).filter_map(|p| p.pending).min();
    let risen = low(true).zip(low(false)).map_or(0, |(late, early)| late.saturating_sub(early)).saturating_mul(2);
    let delivered = first.delivered.zip(last.delivered).and_then(|(a, b)| b.checked_sub(a));
    let short = !fired && last.at.since(first.at) < SHORT_MS;
    let share = if short { NEARLY_ALL } else { share };
    let grows = growth >= floor && risen >= floor && if short { dips == 0 } else { dips * dip <= steps };
    let unreturned = delivered.is_none_or(|delivered| growth.min(risen) as f64 >= delivered as f64 * share);
    let lag_is_low = last.lag.is_none_or(|lag| lag <= growth.max(pending / 2));
    if !(grows && unreturned && lag_is_low) {
        return Verdict::Ok;
    }
    let limit = case.gone_after_ms();
    // among the consumers that are alive, the one that holds most; a holder that is gone has its own symptom
    let holder = group
        .consumers()
        .iter()
        .filter(|consumer| consumer.pending > 0 && idle_now(group, consumer.idle_ms, case.now.mono) <= limit)
        .max_by_key(|consumer| consumer.pending);
    let span = last.at.since(first.at) as i64;
    let who = holder
        .map_or(String::new(), |holder| format!("; {} is alive and holds {}", holder.name, entries(holder.pending)));
    let of = delivered.map_or(String::new(), |delivered| {
        format!("; {delivered} were delivered and {} acknowledged", delivered.saturating_sub(growth).max(0))
    });
    let text = format!("pending grew by {growth} to {pending} in {}{of}{who}", age_words(span));
    // a heap that has lain for long and still grows needs no second look
    let oldest = group.oldest_idle(case.now.mono).value().filter(|ms| *ms >= OLD_MS && pending >= HEAP);
    let text = format!("{text}{}", oldest.map_or(String::new(), |ms| format!("; the oldest for {}", age_words(ms))));
    ABOUT
        .finding(
            if growth >= HEAP || oldest.is_some() { Level::Critical } else { Level::Warn },
            text,
            Argv::of(&[b"XPENDING", case.stream.key.bytes(), group.name().bytes(), b"-", b"+", b"10"]),
        )
        .about(holder.map(|holder| holder.name.clone()))
        .with("pending", pending)
        .with("growth", growth)
        .with("window_ms", span)
        .with_known("delivered", delivered)
        .with_known("lag", last.lag)
        .into()
}
