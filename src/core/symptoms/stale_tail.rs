//! Old pending entries lie behind fresh ones that are delivered again all the time. An XAUTOCLAIM from 0-0 that looks only at the
//! beginning of the list, or stops at an empty reply, never reaches them (docs/server-facts.md 13.5). Their holder may be alive, so
//! `holder-gone` does not report them. "Tail" means the end of the pending list.

use super::{About, Argv, Case, Level, Verdict, entries};
use crate::core::{
    model::{FATAL_DELIVERIES, PendingRow},
    time::age_words,
};

pub(super) const ABOUT: About = About {
    id: "stale-tail",
    levels: &[Level::Warn],
    says: "Old pending entries lie behind others that are delivered again all the time: no XAUTOCLAIM gets as far as them",
    cause: "XAUTOCLAIM looks at ten entries for each one of COUNT and is started from 0-0 each time, or an empty reply is taken for the end",
    remedy: "go on with the id that XAUTOCLAIM returns until it is 0-0, and find out why the first ones fail each time",
};

/// XAUTOCLAIM with COUNT 1 looks at this many entries (docs/server-facts.md 4.2): with fewer in front, every XAUTOCLAIM reaches the tail.
const IN_FRONT: usize = 10;
/// The tail must have waited this many times as long as the entries in front.
const TIMES: i64 = 10;

pub(super) fn judge(case: &Case) -> Verdict {
    let group = case.group;
    if case.pending <= IN_FRONT as i64 {
        return Verdict::Ok;
    }
    if !group.pel.is_fetched() || group.pel.is_stale() {
        return Verdict::NotEnoughData;
    }
    let limit = case.gone_after_ms();
    let idle = |row: &PendingRow| row.idle_ms.map_or(0, |idle| group.aged_ms(idle, group.pel.at, case.now.mono));
    let rows = &group.pel.rows;
    let front = rows.iter().take_while(|row| idle(row) <= limit).count();
    let (front, tail) = rows.split_at(front);
    // once fired, the finding stays until an XAUTOCLAIM reaches the tail
    let again = front.iter().filter(|row| row.deliveries > 1 && row.deliveries < FATAL_DELIVERIES);
    let floor = if case.fired(ABOUT) { IN_FRONT / 2 } else { IN_FRONT };
    let freshest = front.iter().map(idle).max().unwrap_or(0);
    // a worker that keeps XAUTOCLAIM's cursor reaches the tail, too, only later: nearly as many deliveries there show it
    let deliveries = again.clone().map(|row| row.deliveries).max().unwrap_or(0);
    let reached = |row: &PendingRow| row.deliveries.saturating_mul(2) > deliveries;
    let stale: Vec<&PendingRow> =
        tail.iter().filter(|row| idle(row) > limit.max(freshest.saturating_mul(TIMES)) && !reached(row)).collect();
    let in_front = again.clone().count();
    let Some(oldest) = stale.iter().max_by_key(|row| idle(row)).filter(|_| in_front >= floor) else {
        return Verdict::Ok;
    };
    let count = stale.len() as i64;
    let least = if group.pel.complete { "" } else { "at least " };
    let (lie, them) = if count == 1 { ("lies", "it") } else { ("lie", "them") };
    let text = format!(
        "{least}{}, idle for up to {}, {lie} in the pending list behind {in_front} that are delivered again all the time (up to {deliveries} times): an XAUTOCLAIM that starts from the beginning each time never reaches {them}",
        entries(count),
        age_words(idle(oldest))
    );
    let from = stale[0].id.to_string();
    let owner = oldest.owner.clone().filter(|owner| stale.iter().all(|row| row.owner.as_ref() == Some(owner)));
    let check = Argv::of(&[b"XPENDING", case.stream.key.bytes(), group.name().bytes(), from.as_bytes(), b"+", b"10"]);
    ABOUT
        .finding(Level::Warn, text, check)
        .lasting(idle(oldest))
        .with("stale", count)
        .with("in_front", in_front as i64)
        .with("oldest_idle_ms", idle(oldest))
        .with("max_deliveries_in_front", deliveries)
        .with("pending", case.pending)
        .about(owner)
        .into()
}
