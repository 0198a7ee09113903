//! Plans: what an action would do, told before anything is written. Pure: what they look at comes in, the exact commands, the
//! preview with its counts, warnings, refusals and the way back come out.

pub mod claim;
pub mod consumer;
pub mod entries;
pub mod seek;
#[cfg(test)]
mod tests;
pub mod undo;

use super::{model::ServerFacts, name::Name};
use crate::core::command::Argv;

/// A count of a preview.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counted {
    /// The number.
    pub value: i64,
    /// Whether everything was looked at; else at least so many.
    pub exact: bool,
}

impl Counted {
    /// A number of which nothing was left out.
    pub fn exact(value: i64) -> Self {
        Self { value, exact: true }
    }

    /// As text: `5`, `≥5`.
    pub fn text(self) -> String {
        if self.exact { self.value.to_string() } else { format!("≥{}", self.value) }
    }
}

/// Something to know before confirming.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// Stable id, as in `owner-active`.
    pub id: &'static str,
    /// A sentence.
    pub text: String,
}

/// A warning.
fn warning(id: &'static str, text: impl Into<String>) -> Warning {
    Warning { id, text: text.into() }
}

/// Why nothing may be written to this server, if so: a replica takes no writes, whoever asks.
pub fn server_refusal(server: &ServerFacts) -> Option<String> {
    (server.role.as_deref() == Some("replica")).then(|| {
        let primary = server.primary.as_deref().map_or(String::new(), |primary| format!(" ({primary})"));
        format!("this is a read-only replica: do it on its primary{primary}")
    })
}

/// Whether the server is at least this version. Every Valkey counts as Redis 7.2 (it began as that).
pub fn at_least(server: &ServerFacts, version: (u32, u32)) -> bool {
    let numbers = if server.flavor == "valkey" { Some((7, 2)) } else { server.version_numbers() };
    numbers.is_some_and(|numbers| numbers >= version)
}

/// Any action, planned: what the dialog shows, what is written to the journal, and what is sent if it is confirmed.
#[derive(Clone, Debug, PartialEq)]
pub enum Plan {
    /// XAUTOCLAIM, or XCLAIM of chosen entries.
    Claim(claim::ClaimPlan),
    /// XGROUP SETID.
    Seek(seek::SeekPlan),
    /// XACK or XCLAIM of marked entries.
    Entries(entries::EntriesPlan),
    /// XGROUP DELCONSUMER.
    Consumer(consumer::DeletePlan),
    /// XCLAIM of claimed entries to their former owners.
    Undo(undo::UndoPlan),
}

/// What a plan is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ask {
    /// A claim.
    Claim(claim::ClaimAsk),
    /// A move of the cursor.
    Seek(seek::SeekAsk),
    /// Marked entries.
    Entries(entries::EntriesAsk),
    /// A consumer to delete.
    Consumer {
        /// The stream.
        key: Name,
        /// The group.
        group: Name,
        /// The consumer.
        consumer: Name,
    },
    /// The way back of a claim.
    Undo(undo::UndoAsk),
}

impl Ask {
    /// The stream.
    pub fn key(&self) -> &Name {
        match self {
            Self::Claim(ask) => &ask.key,
            Self::Seek(ask) => &ask.key,
            Self::Entries(ask) => &ask.key,
            Self::Consumer { key, .. } => key,
            Self::Undo(ask) => &ask.claim.key,
        }
    }
}

impl Plan {
    /// The stream.
    pub fn key(&self) -> &Name {
        match self {
            Self::Claim(plan) => &plan.ask.key,
            Self::Seek(plan) => &plan.ask.key,
            Self::Entries(plan) => &plan.ask.key,
            Self::Consumer(plan) => &plan.key,
            Self::Undo(plan) => &plan.ask.claim.key,
        }
    }

    /// The group.
    pub fn group(&self) -> &Name {
        match self {
            Self::Claim(plan) => &plan.ask.group,
            Self::Seek(plan) => &plan.ask.group,
            Self::Entries(plan) => &plan.ask.group,
            Self::Consumer(plan) => &plan.group,
            Self::Undo(plan) => &plan.ask.claim.group,
        }
    }

    /// Why it may not be executed, if so.
    pub fn refused(&self) -> Option<&str> {
        match self {
            Self::Claim(plan) => plan.refused.as_deref(),
            Self::Seek(plan) => plan.refused.as_deref(),
            Self::Entries(plan) => plan.refused.as_deref(),
            Self::Consumer(plan) => plan.refused.as_deref(),
            Self::Undo(plan) => plan.refused.as_deref(),
        }
    }

    /// What to know before confirming.
    pub fn warnings(&self) -> &[Warning] {
        match self {
            Self::Claim(plan) => &plan.warnings,
            Self::Seek(plan) => &plan.warnings,
            Self::Entries(plan) => &plan.warnings,
            Self::Consumer(plan) => &plan.warnings,
            Self::Undo(plan) => &plan.warnings,
        }
    }

    /// The commands, for a person to copy and for the journal.
    pub fn commands(&self) -> Vec<Argv> {
        match self {
            Self::Claim(plan) => plan.commands.clone(),
            Self::Seek(plan) => vec![plan.command.clone()],
            Self::Entries(plan) => plan.commands.clone(),
            Self::Consumer(plan) => vec![plan.command.clone()],
            Self::Undo(plan) => plan.commands.clone(),
        }
    }

    /// What it is called in the journal.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Claim(_) => "claim",
            Self::Seek(_) => "seek",
            Self::Entries(plan) => plan.ask.what.word(),
            Self::Consumer(_) => "delete-consumer",
            Self::Undo(_) => "give-back",
        }
    }
}
