//! Entries are delivered again or change hands while somebody may still be working on them. `claim-ping-pong` reports entries that go
//! back and forth between the same consumers; a consumer that gets its own entries again is reported here, by name.

use super::{About, Argv, Case, Level, Verdict, WINDOW_MS, claim_ping_pong, enough, entries};
use crate::core::time::{age, age_words};
use std::collections::BTreeMap;

pub(super) const ABOUT: About = About {
    id: "redelivered",
    levels: &[Level::Warn],
    says: "Entries are delivered again or change hands while somebody may still be at work on them",
    cause: "a claim of what its holder did not finish, a consumer that re-reads its own history, or a cursor that was moved back",
    remedy: "make the handling idempotent; see in the holder's log why it did not acknowledge",
};

/// What fits when claims came before the slowest usual handling was over.
const EARLY_CAUSE: &str = "a claim with a min-idle below the time that handling takes";
const EARLY_REMEDY: &str =
    "raise the min-idle of the claims above the slowest normal handling, and make the handling idempotent";
/// What fits when no entry changed its owner.
const OWN_CAUSE: &str = "the consumer reads its own history, or claims its own entries: it was restarted, did not acknowledge, or renews a lease";
const OWN_REMEDY: &str = "see whether it acknowledges what it handled; make the handling idempotent";

/// Fewer redeliveries within the window are a normal reclaim.
const FLOOR: usize = 3;

pub(super) fn judge(case: &Case) -> Verdict {
    let group = case.group;
    let elsewhere = claim_ping_pong::reported(case);
    let recent: Vec<_> = group
        .seen
        .redeliveries
        .iter()
        .filter(|seen| seen.is_delivery && case.now.mono.since(seen.at) <= WINDOW_MS)
        .filter(|seen| !elsewhere.contains_key(&seen.id))
        .collect();
    if recent.is_empty() {
        let blind = case.pending > 0 && !enough(group);
        return if blind { Verdict::NotEnoughData } else { Verdict::Ok };
    }
    let mut times: BTreeMap<_, i64> = BTreeMap::new();
    for seen in &recent {
        *times.entry(seen.id).or_default() += 1;
    }
    let again = times.values().filter(|times| **times > 1).count() as i64;
    let Some((worst, worst_times)) = times.iter().max_by_key(|(_, times)| **times) else { return Verdict::Ok };
    // once fired, the finding stays until a whole window passed without a redelivery
    if recent.len() < FLOOR && *worst_times < 2 && !case.fired(ABOUT) {
        return Verdict::Ok;
    }
    let moved = recent.iter().filter(|seen| seen.from != seen.to).count() as i64;
    let slow = group.seen.handling_ms(0.99);
    let too_soon = |idle: Option<i64>| slow.zip(idle).is_some_and(|(slow, idle)| idle < slow);
    let early = recent.iter().filter(|seen| seen.from != seen.to && too_soon(seen.idle_before_ms)).count() as i64;
    let deliveries = recent.iter().map(|seen| seen.deliveries).max().unwrap_or(0);
    let sooner = match slow {
        Some(slow) if early > 0 => {
            format!("; {early} of them sooner than handling can take here ({}): claims come too soon", age(slow))
        }
        _ => String::new(),
    };
    let most = if deliveries > 1 { format!(", up to {deliveries} deliveries") } else { String::new() };
    // always the same consumer: it reads its own history again, nobody claims
    let own = recent[0].to.clone().filter(|own| moved == 0 && recent.iter().all(|seen| seen.to.as_ref() == Some(own)));
    let to = match &own {
        Some(own) => format!("each time to {own}, which holds them already"),
        None => format!("{moved} of {} times to another consumer", recent.len()),
    };
    let text = format!(
        "{} delivered again in the last {}, {to}{most} ({worst}){sooner}",
        entries(times.len() as i64),
        age_words(WINDOW_MS as i64),
    );
    let id = worst.to_string();
    let (cause, remedy) = match (early, moved) {
        (1.., _) => (EARLY_CAUSE, EARLY_REMEDY),
        (_, 0) => (OWN_CAUSE, OWN_REMEDY),
        _ => (ABOUT.cause, ABOUT.remedy),
    };
    ABOUT
        .finding(
            Level::Warn,
            text,
            Argv::of(&[b"XPENDING", case.stream.key.bytes(), group.name().bytes(), id.as_bytes(), id.as_bytes(), b"1"]),
        )
        .because(cause)
        .advising(remedy)
        .about(own)
        .of_entries(times.keys().copied())
        .with("entries", times.len() as i64)
        .with("redeliveries", recent.len() as i64)
        .with("owner_changes", moved)
        .with("more_than_once", again)
        .with("max_deliveries", deliveries)
        .with_known("slow_handling_ms", slow)
        .with("sooner_than_slow", early)
        .into()
}
