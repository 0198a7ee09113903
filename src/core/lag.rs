//! How many entries a group still has to receive, and how reliable that number is.
//!
//! The rules are in docs/server-facts.md 3.4. Each number carries its kind, and the server's own number is kept beside it. `Exact` is
//! never wrong unless somebody sets the server's counters by hand.

mod sum;

pub use sum::sum;

use super::{
    id::EntryId,
    known::Known,
    model::{GroupFacts, LagFamily, StreamFacts},
};

/// How far a lag can be trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LagKind {
    /// The true number.
    Exact,
    /// The server's number: within bounds, but from a family whose counters are known to drift.
    Reported,
    /// Counted up to a limit: at least this many.
    AtLeast,
    /// An upper bound: what the stream holds.
    AtMost,
    /// It cannot be determined; the reason says why.
    Unknown,
    /// The server reports no lag, and no rule applies.
    Unsupported,
}

impl LagKind {
    /// The word in JSON.
    pub fn word(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::Reported => "reported",
            Self::AtLeast => "at_least",
            Self::AtMost => "at_most",
            Self::Unknown => "unknown",
            Self::Unsupported => "unsupported",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lag {
    pub kind: LagKind,
    /// `None` for `Unknown` and `Unsupported`; never 0 in their place.
    pub value: Option<i64>,
    /// The server's number, whether used or not.
    pub reported: Option<i64>,
    /// Why it is not exact.
    pub reason: Option<&'static str>,
    /// The cursor lies after every id the stream ever generated: entries added below it will be skipped.
    pub beyond_end: bool,
}

impl Lag {
    pub fn unknown(reason: &'static str) -> Self {
        Self { kind: LagKind::Unknown, value: None, reported: None, reason: Some(reason), beyond_end: false }
    }

    pub fn exact(&self) -> Option<i64> {
        if self.kind == LagKind::Exact { self.value } else { None }
    }

    /// Whether the server's number contradicts the one shown.
    pub fn server_differs(&self) -> bool {
        match (self.kind, self.value, self.reported) {
            (LagKind::Exact, Some(value), Some(reported)) => value != reported,
            (_, _, Some(reported)) => reported < 0,
            _ => false,
        }
    }

    /// As text: `2`, `~2` (reported), `≥1000`, `≤9`, `?`, `n/a`.
    pub fn text(&self) -> String {
        match (self.kind, self.value) {
            (LagKind::Exact, Some(n)) => n.to_string(),
            (LagKind::Reported, Some(n)) => format!("~{n}"),
            (LagKind::AtLeast, Some(n)) => format!("≥{n}"),
            (LagKind::AtMost, Some(n)) => format!("≤{n}"),
            (LagKind::Unsupported, _) => "n/a".to_owned(),
            _ => "?".to_owned(),
        }
    }
}

/// Entries after the cursor, counted with XRANGE.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Count {
    pub entries: i64,
    /// Whether the count reached the end of the stream.
    pub complete: bool,
}

impl Count {
    /// `1214`, `≥50000`.
    pub fn text(self) -> String {
        format!("{}{}", if self.complete { "" } else { "≥" }, self.entries)
    }
}

/// How far the counters of family A are off for one group; `None` while unknown.
pub type Drift = Option<i64>;

/// Everything the rules look at.
#[derive(Clone, Copy, Debug)]
pub struct Inputs<'a> {
    pub stream: &'a StreamFacts,
    /// Its element of XINFO GROUPS. It is of the same moment as the stream, except in [`follow_apart`].
    pub group: &'a GroupFacts,
    pub family: LagFamily,
    /// The drift known so far (family A only).
    pub drift: Drift,
    /// Entries after the cursor, if they were counted.
    pub count: Option<Count>,
}

/// Applies the rules of docs/server-facts.md 3.4, in their order.
pub fn resolve(inputs: &Inputs) -> Lag {
    let Inputs { stream, group, family, drift, count } = *inputs;
    let reported = group.reported_lag.value();
    let beyond_end = group.cursor > stream.last_generated;
    let of = |kind, value, reason| Lag { kind, value: Some(value), reported, reason, beyond_end };
    if let Some(waiting) = by_position(stream, group.cursor) {
        return of(LagKind::Exact, waiting, None);
    }
    if beyond_end {
        return Lag { reported, beyond_end, ..Lag::unknown("the cursor is beyond the end of the stream") };
    }
    // from here on: 1 <= waiting <= length - 1
    let most = stream.length.saturating_sub(1);
    if most < 1 {
        return Lag { reported, ..Lag::unknown("the server's numbers contradict each other") };
    }
    if let Some(count) = count
        && count.complete
        && (1..=most).contains(&count.entries)
    {
        return of(LagKind::Exact, count.entries, None);
    }
    let trusted = reported.filter(|_| counters_agree(stream, group));
    match (trusted, family) {
        (Some(n), LagFamily::B | LagFamily::C) if (1..=most).contains(&n) && !counted_more(count, n) => {
            return of(LagKind::Exact, n, None);
        }
        (Some(n), LagFamily::A | LagFamily::Unknown) => match drift.or(untouched(stream)) {
            Some(drift) if family == LagFamily::A => {
                if let Some(n) = n.checked_sub(drift).filter(|n| (1..=most).contains(n)) {
                    return of(LagKind::Exact, n, None);
                }
            }
            // the drift rule holds for family A only: for a server that could not be identified, its own number is all there is
            _ if (1..=most).contains(&n) && !counted_more(count, n) => {
                return of(
                    LagKind::Reported,
                    n,
                    Some("the server's word; its counter is known to drift after trimming"),
                );
            }
            _ => {}
        },
        _ => {}
    }
    if let Some(count) = count
        && count.entries > 0
    {
        return of(LagKind::AtLeast, count.entries.min(most), Some("counted up to a limit"));
    }
    let reason = match group.reported_lag {
        Known::Unsupported => {
            let reason = Some("not reported by this server");
            return Lag { kind: LagKind::Unsupported, value: None, reported, reason, beyond_end: false };
        }
        Known::Undetermined => {
            "the server cannot tell after a delete ahead, a move of the cursor, or a group created at $"
        }
        Known::Is(n) if n < 0 => "the server reports a negative lag",
        Known::Is(_) | Known::Contradictory => "the server's number is impossible here",
        Known::Denied | Known::Unasked => "not asked for",
    };
    of(LagKind::AtMost, most, Some(reason))
}

/// The lag of a group when its stream may not be read: the server's number, with nothing to check it against.
pub fn unchecked(group: &GroupFacts) -> Lag {
    let denied = "XINFO STREAM is refused, so nothing is known to check it against";
    let reported = group.reported_lag.value();
    match (group.reported_lag, reported) {
        (_, Some(n)) if n >= 0 => {
            Lag { kind: LagKind::Reported, value: reported, reported, reason: Some(denied), beyond_end: false }
        }
        (Known::Unsupported, _) => Lag {
            kind: LagKind::Unsupported,
            value: None,
            reported,
            reason: Some("not reported by this server"),
            beyond_end: false,
        },
        _ => Lag { reported, ..Lag::unknown(denied) },
    }
}

/// If nothing was ever removed from the stream, the counters cannot have missed anything: the drift is 0.
fn untouched(stream: &StreamFacts) -> Drift {
    let whole = stream.entries_added.value() == Some(stream.length);
    (whole && stream.max_deleted.value() == Some(EntryId::MIN)).then_some(0)
}

fn counted_more(count: Option<Count>, reported: i64) -> bool {
    count.is_some_and(|count| count.entries > reported)
}

fn counters_agree(stream: &StreamFacts, group: &GroupFacts) -> bool {
    match (group.entries_read.value(), stream.entries_added.value()) {
        // more read than added, or fewer added than retained: the server lost its counters (Dragonfly after a reload,
        // docs/server-facts.md 12)
        (Some(read), Some(added)) => read <= added && added >= stream.length,
        // without entries-read the server computes lag from the position alone, so it is right (docs/server-facts.md 3.1, step 5)
        (None, _) => true,
        (Some(_), None) => false,
    }
}

/// Rules 1 to 3, which look at positions only: nothing retained, nothing after the cursor, or everything after it. In a stream that holds
/// entries, a cursor beyond the end does not mean "caught up": entries added below it will be skipped.
fn by_position(stream: &StreamFacts, cursor: EntryId) -> Option<i64> {
    if stream.length == 0 {
        return Some(0);
    }
    let (first, last) = (stream.first?, stream.last?);
    if cursor > stream.last_generated {
        None
    } else if cursor >= last {
        Some(0)
    } else {
        (cursor < first && stream.length > 0).then_some(stream.length)
    }
}

/// The lag of one more sample and the drift after it, if stream and group were read at one moment. `before` is the previous sample of
/// that kind.
pub fn follow(inputs: &Inputs, before: Option<(&StreamFacts, &GroupFacts)>) -> (Lag, Drift) {
    let Inputs { stream, group, count, .. } = *inputs;
    let drift = next_drift(inputs.drift, before, (stream, group), &resolve(inputs));
    // a second pass: this sample may have invalidated the drift that the first pass relied on
    let lag = resolve(&Inputs { drift, ..*inputs });
    match (lag.exact(), count) {
        (Some(waiting), Some(count)) if count.complete => (lag, measured_drift(stream, group, waiting)),
        _ => (lag, drift),
    }
}

/// Like [`follow`], if stream and group were read at two moments. The two cannot be compared, so no drift is measured. A change of the
/// group alone can still invalidate the known drift. `before` is the group in the previous sample.
pub fn follow_apart(inputs: &Inputs, before: Option<&GroupFacts>) -> (Lag, Drift) {
    let (stream, group) = (inputs.stream, inputs.group);
    // we did not see whether the stream was trimmed in between: a cursor before its first entry may have been overtaken
    let kept = inputs.drift.filter(|_| before.is_some_and(|old| stream.first.is_none_or(|first| first <= old.cursor)));
    let before = before.map(|old| (stream, old));
    let drift = next_drift(kept, before, (stream, group), &Lag::unknown("read at two moments"));
    (resolve(&Inputs { drift, ..*inputs }), drift)
}

/// How far a group's counters are off, given the true lag; `None` when the counters say nothing.
fn measured_drift(stream: &StreamFacts, group: &GroupFacts, waiting: i64) -> Drift {
    match (stream.entries_added.value(), group.entries_read) {
        (Some(_), Known::Undetermined) => Some(0),
        (Some(added), Known::Is(read)) => added.checked_sub(read)?.checked_sub(waiting),
        _ => None,
    }
}

/// The drift after one more sample (family A): measured where the true lag is known, kept where nothing can have changed it, else
/// unknown.
///
/// Three things change it. The group reads past a deleted entry, or an entry ahead of it is deleted. Trimming passes the previous cursor:
/// the group then continues from the new first entry, and its counter misses the gap. Somebody moves the cursor: the server then discards
/// its count and makes a new one.
///
/// Limit: a cursor that was moved back and then read past its old place, all between two samples, looks like a cursor that read on.
fn next_drift(
    kept: Drift,
    before: Option<(&StreamFacts, &GroupFacts)>,
    now: (&StreamFacts, &GroupFacts),
    lag: &Lag,
) -> Drift {
    let (stream, group) = now;
    if let Some(waiting) = lag.exact().filter(|_| by_position(stream, group.cursor).is_some()) {
        return measured_drift(stream, group, waiting);
    }
    if group.entries_read == Known::Undetermined {
        return Some(0);
    }
    let (old_stream, old_group) = before?;
    // the server makes a new count when a group reads past a deleted entry, including an entry at the cursor itself
    let deleted = stream.max_deleted.value().filter(|id| *id > EntryId::MIN);
    let deleted_ahead = deleted.is_some_and(|id| id >= old_group.cursor.min(group.cursor))
        && (stream.max_deleted != old_stream.max_deleted || group.cursor != old_group.cursor);
    let overtaken = stream.first != old_stream.first && stream.first.is_some_and(|first| first > old_group.cursor);
    let reread = group.cursor == old_group.cursor && group.entries_read != old_group.entries_read;
    let moved_by_hand = reread
        || group.cursor < old_group.cursor
        || old_group.entries_read == Known::Undetermined
        || group.entries_read.value() < old_group.entries_read.value();
    if deleted_ahead || overtaken || moved_by_hand { None } else { kept }
}

#[cfg(test)]
mod edges;
#[cfg(test)]
mod tests;
