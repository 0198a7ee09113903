//! Entries that this program gave to a consumer are still pending there: a claim silences the alarm and handles nothing by itself.

use super::{About, Argv, Case, Level, Verdict, idle_now};
use crate::core::{store::Given, time::age_words, words::entries};

pub(super) const ABOUT: About = About {
    id: "claimed",
    levels: &[Level::Info, Level::Warn],
    says: "Entries that were claimed or handed over here are not acknowledged yet",
    cause: "a consumer gets claimed entries only when it reads its own history (XREADGROUP with 0) or claims them itself; most never do",
    remedy: "restart it, if it reads its history at its start; else hand the entries to one that does (V marks, C), or handle them and acknowledge them (A)",
};

/// What fits when it got them since.
const GOT_CAUSE: &str = "the consumer got them and has not acknowledged them yet: it is at work on them, or fails";
const GOT_REMEDY: &str = "give it its usual time, then read its log for these entries";
/// What fits when the consumer itself is not there.
const GONE_CAUSE: &str = "the consumer that owns them was not seen since";
const GONE_REMEDY: &str = "start it, or hand the entries to a consumer that is there (v marks them, C hands them over)";

/// Without progress for this many times the slowest handling seen it is a warning.
const TIMES_SLOWEST: i64 = 3;

pub(super) fn judge(case: &Case) -> Verdict {
    let given = &case.group.own.given;
    if given.is_empty() {
        Verdict::Ok
    } else {
        Verdict::Found(given.iter().map(|given| finding(case, given)).collect())
    }
}

fn finding(case: &Case, given: &Given) -> super::Finding {
    let group = case.group;
    let ago = |at| i64::try_from(case.now.mono.since(at)).unwrap_or(i64::MAX);
    let patience = case.gone_after_ms().max(group.seen.handling_ms(1.0).unwrap_or(0).saturating_mul(TIMES_SLOWEST));
    let level = if ago(given.progressed) > patience { Level::Warn } else { Level::Info };
    let handled = match given.all_seen {
        Some(true) => format!(", {} handled", given.handled),
        Some(false) => format!(", at least {} handled", given.handled),
        None => String::new(),
    };
    let elsewhere = match given.elsewhere {
        0 => String::new(),
        n => format!(", {n} held by others now"),
    };
    let seen = |name| group.consumers().iter().find(|one| one.name == name);
    let unseen = seen(given.to.clone())
        .is_some_and(|one| idle_now(group, one.idle_ms, case.now.mono) >= ago(given.at.mono).max(case.gone_after_ms()));
    let (how, cause, remedy) = match given.delivered {
        0 if unseen && case.idle_is_attempt => ("; it was not seen since".to_owned(), GONE_CAUSE, GONE_REMEDY),
        0 => ("; it gets them only when it reads its history".to_owned(), ABOUT.cause, ABOUT.remedy),
        n => (format!("; it got {n} of them since"), GOT_CAUSE, GOT_REMEDY),
    };
    let text = format!(
        "{} given to {} {} ago{handled}{elsewhere}{how}",
        entries(given.entries as i64),
        given.to,
        age_words(ago(given.at.mono)),
    );
    let (key, name, to) = (case.stream.key.bytes(), group.name().bytes(), given.to.bytes());
    ABOUT
        .finding(level, text, Argv::of(&[b"XPENDING", key, name, b"-", b"+", b"10", to]))
        .because(cause)
        .advising(remedy)
        .about(Some(given.to.clone()))
        .of_entries(given.left.iter().copied())
        .with("given", given.entries as i64)
        .with("handled", given.handled as i64)
        .with("still_pending", given.left.len() as i64)
        .lasting(ago(given.at.mono))
        .with("since_ms", ago(given.at.mono))
}
