//! Giving claimed entries back: each to its former owner, with the idle time and the delivery count it had.

use super::{Warning, claim::{self, ClaimAsk}, server_refusal, warning};
use crate::core::{
    model::{ConsumerFacts, PendingRow, ServerFacts},
    name::Name,
};

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
    pub commands: Vec<Vec<Name>>,
}

/// Makes the plan from the rows that are pending now.
pub fn plan(ask: UndoAsk, server: &ServerFacts, consumers: &[ConsumerFacts], now: &[PendingRow], active_ms: i64) -> UndoPlan {
    let target = &ask.claim.target;
    let still = |row: &&PendingRow| now.iter().any(|held| held.id == row.id && held.owner.as_ref() == Some(target));
    let rows: Vec<PendingRow> = ask.moved.iter().filter(still).filter(|row| row.owner.is_some()).cloned().collect();
    let mut warnings = Vec::new();
    if rows.len() < ask.moved.len() {
        let text = format!("{} of {} were acknowledged, moved on, or had no owner before: they stay as they are", ask.moved.len() - rows.len(), ask.moved.len());
        warnings.push(warning("not-all", text));
    }
    if consumers.iter().any(|one| one.name == *target && one.idle_ms <= active_ms) {
        warnings.push(warning("owner-active", format!("{target} was seen just now: it may be at work on them")));
    }
    let refused = server_refusal(server).or_else(|| rows.is_empty().then(|| format!("{target} holds none of them any more")));
    let commands = claim::give_back(&ask.claim, &rows, ask.passed_ms);
    UndoPlan { ask, rows, warnings, refused, commands }
}
