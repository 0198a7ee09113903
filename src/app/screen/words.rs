//! What more than one place says of a group, in the same words and colours.

use super::{Span, Tone, bold, heat, span};
use crate::core::{
    lag::{Lag, LagKind},
    sample::Fault,
    store::{Extreme, GroupState, RowState, StreamState},
    symptoms::Level,
    time::{Now, age},
};

/// Whether the numbers of this stream's groups are old: the server's latest reply is an error.
pub fn is_old(stream: &StreamState) -> bool {
    !stream.is_ok() || stream.groups_fault.is_some()
}

/// Why numbers of a group are old or missing, in words.
pub fn fault_words(stream: &StreamState, group: &GroupState) -> Option<String> {
    let said = |command: &str, fault: &Fault| format!("{command}: {}", fault.words());
    match (&stream.state, &stream.groups_fault, stream.facts.fault()) {
        (RowState::Fault(fault), ..) => Some(fault.words()),
        (_, Some(fault), _) => Some(said("XINFO GROUPS", fault)),
        (.., Some(fault)) => Some(said("XINFO STREAM", fault)),
        _ => {
            let pel = group.pel_failure.as_ref().map(|failure| &failure.fault).map(|fault| said("XPENDING", fault));
            let consumers = || group.consumers.fault().map(|fault| said("XINFO CONSUMERS", fault));
            pel.or_else(consumers).or_else(|| group.doubt().map(str::to_owned))
        }
    }
}

/// The sign of a level.
pub fn level_mark(level: Option<Level>) -> Span {
    match level {
        Some(Level::Critical) => bold("▲", Tone::Critical),
        Some(Level::Warn) => bold("!", Tone::Warn),
        Some(Level::Info) => span("i", Tone::Info),
        None => span("✓", Tone::Dim),
    }
}

/// The tone of a level.
pub fn level_tone(level: Level) -> Tone {
    match level {
        Level::Critical => Tone::Critical,
        Level::Warn => Tone::Warn,
        Level::Info => Tone::Info,
    }
}

/// Lag with its kind and trend: `478 ↑`, `≥1000 →`, `?`.
pub fn lag_cell(group: &GroupState) -> Span {
    let lags: Vec<i64> = group.history.window(20_000).filter_map(|point| point.lag).collect();
    let arrow = match (lags.first(), lags.last()) {
        (Some(first), Some(last)) if lags.len() > 2 && last > first => " ↑",
        (Some(first), Some(last)) if lags.len() > 2 && last < first => " ↓",
        _ => "  ",
    };
    lag_words(&group.lag, arrow)
}

/// A lag with its kind, and what stands behind it.
pub fn lag_words(lag: &Lag, behind: &str) -> Span {
    let tone = match (lag.kind, lag.value) {
        (LagKind::Unknown, _) => Tone::Warn,
        (LagKind::Unsupported, _) | (_, Some(0)) => Tone::Dim,
        _ => Tone::New,
    };
    span(format!("{}{behind}", lag.text()), tone)
}

/// A count of entries; none at all is no matter.
pub fn count_cell(count: Option<i64>) -> Span {
    let tone = match count {
        Some(0) => Tone::Dim,
        Some(_) => Tone::Heat(0),
        None => Tone::Warn,
    };
    span(count_words(count), tone)
}

/// A count of the server, or `?` if it is impossible.
pub fn count_words(count: Option<i64>) -> String {
    count.map_or("?".to_owned(), |n| n.to_string())
}

/// The longest idle time of a pending entry, with `≥` in front if only a part of the PEL is known.
pub fn oldest_cell(group: &GroupState, now: Now) -> Span {
    // the rows are older than the pending count: some may be acknowledged by now, so the age stands still and is dim
    if group.pel.at < group.at {
        return match group.oldest_idle(group.pel.at).value() {
            Some(ms) => span(format!("({})", age(ms)), Tone::Dim),
            None => span("?", Tone::Dim),
        };
    }
    match group.oldest_idle(now.mono) {
        Extreme::Exact(Some((ms, _))) => span(age(ms), heat(ms)),
        Extreme::AtLeast(ms, _) => span(format!("≥{}", age(ms)), heat(ms)),
        Extreme::Exact(None) => span("-", Tone::Dim),
        Extreme::Unknown => span("?", Tone::Dim),
    }
}
