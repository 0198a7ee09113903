//! Trimming approaches what a group has not finished: at the present rates the oldest pending entry, or the unread entries after the
//! cursor, will be removed within minutes. This check warns while there is time; afterwards it is `payload-gone` or `trimmed-unread`.

use super::{About, Argv, Case, Level, Threshold, Verdict, WINDOW_MS, enough};
use crate::core::{id::EntryId, number::whole, store::Pace, time::age_words};

pub(super) const ABOUT: About = About {
    id: "retention-race",
    levels: &[Level::Warn, Level::Critical],
    says: "At the present rates the oldest pending entry, or what the group has not read, is trimmed within minutes",
    cause: "the stream is trimmed to a length or age, and the group or one of its consumers is slower than that",
    remedy: "raise MAXLEN or lower MINID now, or stop the trimming; then see to the entry or the group that lags",
};

/// Time left, in milliseconds.
const SOON_MS: Threshold<f64> = Threshold { fires: 600_000.0, stays: 1_200_000.0 };
/// With less time left than this, in milliseconds, it is critical.
const NOW_MS: i64 = 60_000;
/// Entries pending for less than this, in milliseconds, are being worked on.
const IN_HAND_MS: i64 = 5_000;
/// It is a race only if the first entry moves this many times faster than the cursor.
const FASTER: f64 = 1.1;

/// What trimming approaches.
struct Target {
    id: EntryId,
    /// How fast it moves away from the trimming, in the unit of the first half of ids per millisecond.
    speed: f64,
    /// As words for a sentence.
    what: String,
    is_pending: bool,
}

pub(super) fn judge(case: &Case) -> Verdict {
    let (stream, group) = (case.stream, case.group);
    let Some((first, last)) = stream.facts.value.as_ref().and_then(|facts| facts.first.zip(facts.last)) else {
        return Verdict::Ok;
    };
    if case.pending == 0 && group.lag.exact() == Some(0) {
        return Verdict::Ok;
    }
    if !enough(group) {
        return Verdict::NotEnoughData;
    }
    let Some(pace) = stream.trims.pace(case.now.mono) else { return Verdict::Ok };
    let fired = case.fired(ABOUT);
    // a target in the newer half of the stream has most of its time before it
    let nearer = if fired { 2.0 } else { 1.0 };
    let worst = [pending(case), cursor(case)]
        .into_iter()
        .flatten()
        .filter(|target| target.id >= first && pace.speed > target.speed * FASTER)
        .filter(|target| apart(first, target.id) <= apart(target.id, last) * nearer)
        .map(|target| (apart(first, target.id) / (pace.speed - target.speed), target))
        .min_by(|a, b| a.0.total_cmp(&b.0));
    let Some((left_ms, target)) = worst.filter(|(left, _)| *left <= SOON_MS.at(fired)) else {
        return Verdict::Ok;
    };
    let left_ms = whole(left_ms);
    let level = if left_ms <= NOW_MS { Level::Critical } else { Level::Warn };
    let key = stream.key.bytes();
    let check = if target.is_pending {
        Argv::of(&[b"XPENDING", key, group.name().bytes(), b"-", b"+", b"1"])
    } else {
        Argv::of(&[b"XINFO", b"GROUPS", key])
    };
    ABOUT
        .finding(level, sentence(&pace, &target, first, left_ms), check)
        .with("left_ms", left_ms)
        .with("pending", case.pending)
        .with_known("lag", group.lag.value.filter(|_| !target.is_pending))
        .with_known("removed_per_1000_s", pace.removed_per_s.map(|rate| whole(rate * 1000.0)))
        .with("window_ms", pace.span_ms as i64)
        .into()
}

fn sentence(pace: &Pace, target: &Target, first: EntryId, left_ms: i64) -> String {
    let rate = pace.removed_per_s.map_or(String::new(), |rate| format!(", {rate:.1}/s are removed"));
    let time = match left_ms {
        ..1000 => "within a second".to_owned(),
        _ => format!("in about {}", age_words(left_ms)),
    };
    format!("{} will be trimmed {time} at the present rates: the stream begins at {first}{rate}", target.what)
}

/// The pending entry with the smallest id, unless somebody has just begun to work on it.
fn pending(case: &Case) -> Option<Target> {
    let group = case.group;
    let row = group.pel.rows.first().filter(|row| !group.pel.is_stale() && group.pel.known_to() >= row.id)?;
    let usual = group.seen.handling_ms(0.99).unwrap_or(0);
    row.idle_ms.is_none_or(|idle| idle > IN_HAND_MS.max(usual)).then(|| Target {
        id: row.id,
        speed: 0.0,
        what: match &row.owner {
            Some(owner) => format!("the oldest pending entry, {} of {owner},", row.id),
            None => format!("the oldest pending entry, {},", row.id),
        },
        is_pending: true,
    })
}

/// The cursor, if entries wait after it.
fn cursor(case: &Case) -> Option<Target> {
    let group = case.group;
    let waits = group.lag.exact() != Some(0) && !group.lag.beyond_end;
    let mut window = group.history.window(WINDOW_MS);
    let (old, new) = (window.next()?, window.next_back()?);
    let passed = new.at.since(old.at) as f64;
    (waits && passed > 0.0).then(|| Target {
        id: group.facts.cursor,
        speed: apart(old.cursor, new.cursor) / passed,
        what: format!("what {} has not read (it stands at {})", group.name(), group.facts.cursor),
        is_pending: false,
    })
}

/// The distance from the first id to the second, by their first halves: a scale that need not be time.
fn apart(from: EntryId, to: EntryId) -> f64 {
    to.ms.saturating_sub(from.ms) as f64
}
