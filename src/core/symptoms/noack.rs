//! A group receives entries, but nothing is ever pending, and none of its consumers counts as having received one: it is read with NOACK.
//! That matters because a crash then loses the entries in hand, and "acked" means nothing.
//!
//! The sign is `inactive` of -1 ("never got an entry"), which the server does not change on a read with NOACK (7.2+, docs/server-facts.md
//! 6). Before 7.2 a reader with NOACK looks like one that acknowledges quickly, so nothing is reported.

use super::{About, Argv, Case, Level, Verdict, entries, idle_now};
use crate::core::known::Known;

pub(super) const ABOUT: About = About {
    id: "noack",
    levels: &[Level::Info],
    says: "The group is given entries, none is ever pending, and no consumer counts as having got one (told from 7.2 on)",
    cause: "its consumers read with NOACK: what is delivered counts as done; or those that read it before were deleted",
    remedy: "nothing, if a loss is acceptable when a consumer ends at a bad moment; else read without NOACK and acknowledge",
};

pub(super) fn judge(case: &Case) -> Verdict {
    let group = case.group;
    if case.pending > 0 || group.facts.consumers == Known::Is(0) {
        return Verdict::Ok;
    }
    let Some(consumers) = group.consumers.value.as_ref().filter(|list| !list.is_empty()) else {
        return Verdict::NotEnoughData;
    };
    if !consumers.iter().all(|one| one.inactive_ms == Known::Is(-1)) {
        return Verdict::Ok;
    }
    let window = || group.history.points();
    // somebody reads while we watch
    let moved = window().all(|point| point.pending == Some(0))
        && window().next().is_some_and(|first| first.cursor < group.facts.cursor);
    let read = group.facts.entries_read.value().filter(|read| *read > 0);
    let seen = consumers.iter().map(|one| idle_now(group, one.idle_ms, case.now.mono)).min().unwrap_or(i64::MAX);
    let active = case.fired(ABOUT) || seen <= case.gone_after_ms();
    if !active || !moved && read.is_none() {
        return Verdict::Ok;
    }
    let given = read.map_or("entries".to_owned(), entries);
    let who = match consumers.len() {
        1 => format!("its consumer {} never got one by the server's account", consumers[0].name),
        n => format!("none of its {n} consumers ever got one by the server's account"),
    };
    let why = if moved { "it is read with NOACK" } else { "it is read with NOACK, or who read it was deleted" };
    let text = format!("{} was given {given}, nothing is pending, and {who}: {why}", group.name());
    let check = Argv::of(&[b"XINFO", b"CONSUMERS", case.stream.key.bytes(), group.name().bytes()]);
    ABOUT
        .finding(Level::Info, text, check)
        .with("pending", 0)
        .with("consumers", consumers.len() as i64)
        .with("consumer_idle_ms", seen)
        .with_known("entries_read", read)
        .into()
}
