//! Giving claimed entries back: each to its former owner, with the idle time and the delivery count it had.

use super::{Ask, Asked, Form, Objections, Plan, Planned, PreviewLine, Weight, object, server_refusal, warning};
use crate::core::{
    command::Argv,
    id::EntryId,
    json,
    model::{ConsumerFacts, PendingRow, ServerFacts},
    name::Name,
    outcome::{Done, OwnAction},
    words::count,
};
use serde_json::{Map, Value, json};
use std::collections::HashMap;

/// The way back of a claim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GiveBackAsk {
    pub key: Name,
    pub group: Name,
    /// The consumer that got the entries and holds them now.
    pub holder: Name,
    /// The entries as they were before it.
    pub moved: Vec<PendingRow>,
    /// Milliseconds since then.
    pub passed_ms: i64,
}

impl Asked for GiveBackAsk {
    fn key(&self) -> &Name {
        &self.key
    }

    fn group(&self) -> &Name {
        &self.group
    }

    fn name(&self) -> &'static str {
        "give-back"
    }

    fn title(&self) -> String {
        "Give claimed entries back".to_owned()
    }

    fn filled(&self, _: &Form) -> Result<Ask, String> {
        Ok(Ask::GiveBack(self.clone()))
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct GiveBackPlan {
    pub ask: GiveBackAsk,
    /// Entries that the target still holds, as they were before the claim.
    pub rows: Vec<PendingRow>,
    pub objections: Objections,
    /// One command an entry.
    pub commands: Vec<Argv>,
}

/// Makes the plan from the rows that are pending now.
pub fn plan(
    ask: GiveBackAsk,
    server: &ServerFacts,
    consumers: &[ConsumerFacts],
    now: &[PendingRow],
    active_ms: i64,
) -> GiveBackPlan {
    let target = &ask.holder;
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
            "{} of {} were acknowledged, moved again, or had no owner before: they stay as they are",
            ask.moved.len() - rows.len(),
            ask.moved.len()
        );
        warnings.push(warning("not-all", text));
    }
    if consumers.iter().any(|consumer| consumer.name == *target && consumer.idle_ms <= active_ms) {
        warnings.push(warning("owner-active", format!("{target} was seen just now: it may be at work on them")));
    }
    let refused =
        server_refusal(server).or_else(|| rows.is_empty().then(|| format!("{target} holds none of them any more")));
    // The idle time since the claim, which set it to 0, is the least that must have passed: an entry that somebody takes meanwhile is
    // left alone. It also tells how much longer the former owner has been at work, however long the plan was looked at.
    let back = |row: &PendingRow| {
        let held_ms = *held.get(&row.id)?;
        command(&ask.key, &ask.group, row, held_ms, ask.passed_ms.max(held_ms))
    };
    let commands = rows.iter().filter_map(back).collect();
    GiveBackPlan { ask, rows, objections: Objections { warnings, refused }, commands }
}

/// One entry back to its former owner, `passed_ms` after the claim, if the target has held it for at least `least_ms`. An entry that
/// nobody held cannot be given back.
fn command(key: &Name, group: &Name, row: &PendingRow, least_ms: i64, passed_ms: i64) -> Option<Argv> {
    let owner = row.owner.as_ref()?;
    let idle = row.idle_ms?.saturating_add(passed_ms).to_string();
    let (id, least, deliveries) = (row.id.to_string(), least_ms.to_string(), row.deliveries.to_string());
    Some(Argv::of(&[
        b"XCLAIM",
        key.bytes(),
        group.bytes(),
        owner.bytes(),
        least.as_bytes(),
        id.as_bytes(),
        b"IDLE",
        idle.as_bytes(),
        b"RETRYCOUNT",
        deliveries.as_bytes(),
        b"JUSTID",
    ]))
}

/// The way back of a claim as commands, for the journal and the shell: one an entry, since each has its own counts.
pub fn commands(ask: &GiveBackAsk) -> Vec<Argv> {
    ask.moved.iter().filter_map(|row| command(&ask.key, &ask.group, row, 0, ask.passed_ms)).collect()
}

impl Planned for GiveBackPlan {
    fn ask(&self) -> Ask {
        Ask::GiveBack(self.ask.clone())
    }

    fn objections(&self) -> &Objections {
        &self.objections
    }

    fn objections_mut(&mut self) -> &mut Objections {
        &mut self.objections
    }

    fn commands(&self) -> Vec<Argv> {
        self.commands.clone()
    }

    fn preview(&self) -> Vec<PreviewLine> {
        let entries = count(self.rows.len() as i64, "entry", "entries");
        let text = format!(" would go back from {} to the former owners, with idle times and counts", self.ask.holder);
        vec![PreviewLine::new(Weight::Number, entries).then(Weight::Plain, text)]
    }

    fn rows(&self) -> &[PendingRow] {
        &self.rows
    }

    fn before(&self) -> Value {
        json!({"ids": self.rows.iter().map(|row| row.id.to_string()).collect::<Vec<_>>()})
    }

    fn json(&self) -> Map<String, Value> {
        object(json!({"from": json::name(&self.ask.holder), "would_move": self.rows.len()}))
    }

    fn own_action(&self, done: &Done) -> OwnAction {
        // the replies count and do not name: only where all came back it is known which
        let all = usize::try_from(done.claimed).is_ok_and(|claimed| claimed == self.rows.len());
        let moves = self.rows.iter().filter(|_| all).filter_map(|row| Some((row.id, row.owner.clone()?))).collect();
        OwnAction { moves, follow: false, cursor: false }
    }

    fn outcome_json(&self, done: &Done) -> Map<String, Value> {
        object(json!({"claimed": done.claimed}))
    }
}

impl From<GiveBackPlan> for Plan {
    fn from(plan: GiveBackPlan) -> Self {
        Self::GiveBack(plan)
    }
}
