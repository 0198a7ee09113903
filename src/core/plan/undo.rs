//! Giving claimed entries back: each to its former owner, with the idle time and the delivery count it had.

use super::{Warning, claim::ClaimAsk, server_refusal, warning};
use crate::core::{
    command::Argv,
    id::EntryId,
    model::{ConsumerFacts, PendingRow, ServerFacts},
};
use std::collections::HashMap;

/// What is asked for: the way back of a claim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UndoAsk {
    /// The claim that is taken back; its target holds the entries now.
    pub claim: ClaimAsk,
    /// The entries as they were before it.
    pub moved: Vec<PendingRow>,
    /// Milliseconds since then.
    pub passed_ms: i64,
}

/// The plan.
#[derive(Clone, Debug, PartialEq)]
pub struct UndoPlan {
    /// What was asked for.
    pub ask: UndoAsk,
    /// Entries that the target still holds, as they were before the claim.
    pub rows: Vec<PendingRow>,
    /// What to know.
    pub warnings: Vec<Warning>,
    /// Why it may not be done.
    pub refused: Option<String>,
    /// One command an entry.
    pub commands: Vec<Argv>,
}

/// Makes the plan from the rows that are pending now.
pub fn plan(
    ask: UndoAsk,
    server: &ServerFacts,
    consumers: &[ConsumerFacts],
    now: &[PendingRow],
    active_ms: i64,
) -> UndoPlan {
    let target = &ask.claim.target;
    let held: HashMap<EntryId, i64> = now
        .iter()
        .filter(|row| row.owner.as_ref() == Some(target))
        .filter_map(|row| Some((row.id, row.idle_ms?)))
        .collect();
    let still = |row: &&PendingRow| row.owner.is_some() && held.contains_key(&row.id);
    let rows: Vec<PendingRow> = ask.moved.iter().filter(still).cloned().collect();
    let mut warnings = Vec::new();
    if rows.len() < ask.moved.len() {
        let text = format!(
            "{} of {} were acknowledged, moved on, or had no owner before: they stay as they are",
            ask.moved.len() - rows.len(),
            ask.moved.len()
        );
        warnings.push(warning("not-all", text));
    }
    if consumers.iter().any(|one| one.name == *target && one.idle_ms <= active_ms) {
        warnings.push(warning("owner-active", format!("{target} was seen just now: it may be at work on them")));
    }
    let refused =
        server_refusal(server).or_else(|| rows.is_empty().then(|| format!("{target} holds none of them any more")));
    let commands = rows.iter().filter_map(|row| command(&ask, row, *held.get(&row.id)?)).collect();
    UndoPlan { ask, rows, warnings, refused, commands }
}

/// The idle time since the claim, which began at 0 by it, is the least that must have passed: an entry that somebody takes
/// meanwhile is left alone. It also tells how much longer the former owner has been at it, however long the plan was looked at.
fn command(ask: &UndoAsk, row: &PendingRow, held_ms: i64) -> Option<Argv> {
    let (owner, claim) = (row.owner.as_ref()?, &ask.claim);
    let idle = (row.idle_ms? + ask.passed_ms.max(held_ms)).to_string();
    let (id, least, count) = (row.id.to_string(), held_ms.to_string(), row.deliveries.to_string());
    let parts: [&[u8]; 11] = [
        b"XCLAIM",
        claim.key.bytes(),
        claim.group.bytes(),
        owner.bytes(),
        least.as_bytes(),
        id.as_bytes(),
        b"IDLE",
        idle.as_bytes(),
        b"RETRYCOUNT",
        count.as_bytes(),
        b"JUSTID",
    ];
    Some(Argv::of(&parts))
}
