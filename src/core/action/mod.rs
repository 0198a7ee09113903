//! Actions, one file each: what it asks for, the plan made from the facts, preview, warnings and refusals, the guarding script, what the
//! journal keeps, its JSON, and the way back. Pure: what a plan looks at comes in.
//!
//! docs/architecture.md lists the places that a new action touches.

pub mod claim;
pub mod delete_consumer;
pub mod delete_group;
pub mod form;
pub mod give_back;
pub mod marked;
pub mod place;
pub mod preview;
pub mod seek;
#[cfg(test)]
mod tests;

use super::{
    command::Argv,
    lag::Count,
    model::{ConsumerFacts, GroupFacts, PendingRow, ServerFacts, StreamFacts},
    name::Name,
    outcome::{Done, OwnAction},
};
use form::{Field, Form};
pub use preview::{Counted, PreviewLine, Weight};
use serde_json::{Map, Value};

/// Something to know before confirming.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// Stable id, as in `owner-active`.
    pub id: &'static str,
    /// A sentence.
    pub text: String,
    /// Whether it only explains, or warns of a harm.
    pub is_note: bool,
}

/// What speaks against a plan.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Objections {
    /// What to know before confirming.
    pub warnings: Vec<Warning>,
    /// Why it must not be executed, if so.
    pub refused: Option<String>,
}

fn warning(id: &'static str, text: impl Into<String>) -> Warning {
    Warning { id, text: text.into(), is_note: false }
}

fn note(id: &'static str, text: impl Into<String>) -> Warning {
    Warning { id, text: text.into(), is_note: true }
}

/// A group and its stream when a plan is made.
#[derive(Clone, Debug)]
pub struct Facts {
    pub server: ServerFacts,
    pub stream: StreamFacts,
    pub group: GroupFacts,
    /// Its pending entries, by a count that can be true.
    pub pending: i64,
    pub consumers: Vec<ConsumerFacts>,
    /// The server's clock in milliseconds since 1970; `None` where TIME is forbidden.
    pub now_ms: Option<i64>,
    /// Connections blocked in XREADGROUP on any stream; `None` where CLIENT LIST is forbidden or was not asked.
    pub blocked_readers: Option<usize>,
    /// A bounded count of the entries past the cursor; `None` where they were not counted.
    pub waiting: Option<Count>,
    /// Whether scripts are allowed.
    pub may_eval: bool,
    /// A consumer seen within this many milliseconds counts as active.
    pub active_ms: i64,
}

/// Why nothing may be written to this server, if so: a replica takes no writes, whoever asks.
pub fn server_refusal(server: &ServerFacts) -> Option<String> {
    (server.role.as_deref() == Some("replica")).then(|| {
        let primary = server.primary.as_deref().map_or(String::new(), |primary| format!(" ({primary})"));
        format!("this is a read-only replica: do it on its primary{primary}")
    })
}

/// Whether the server is at least this version. Every Valkey counts as Redis 7.2, from which it began.
pub fn at_least(server: &ServerFacts, version: (u32, u32)) -> bool {
    let numbers = if server.flavor == "valkey" { Some((7, 2)) } else { server.version_numbers() };
    numbers.is_some_and(|numbers| numbers >= version)
}

/// A request for a plan: what each action's file says of it.
pub trait Asked: Sync {
    fn key(&self) -> &Name;
    fn group(&self) -> &Name;
    /// The name in the journal and in JSON schemas, as in `delete-consumer`.
    fn name(&self) -> &'static str;
    /// The title of its dialog.
    fn title(&self) -> String;
    /// The fields that its dialog shows.
    fn fields(&self) -> &'static [Field] {
        &[]
    }
    /// The same request with what was typed into the fields.
    ///
    /// # Errors
    /// A sentence that says which field cannot be understood.
    fn filled(&self, form: &Form) -> Result<Ask, String>;
}

/// A plan: what each action's file says of it.
pub trait Planned: Sync {
    /// What was asked for.
    fn ask(&self) -> Ask;
    /// What speaks against it.
    fn objections(&self) -> &Objections;
    fn objections_mut(&mut self) -> &mut Objections;
    /// Why it must not be executed, if so.
    fn refused(&self) -> Option<&str> {
        self.objections().refused.as_deref()
    }
    fn refuse(&mut self, why: String) {
        self.objections_mut().refused = Some(why);
    }
    fn warnings(&self) -> &[Warning] {
        &self.objections().warnings
    }
    /// The commands, to copy and for the journal.
    fn commands(&self) -> Vec<Argv>;
    /// What would happen, in the dialog and in the shell.
    fn preview(&self) -> Vec<PreviewLine>;
    /// The entries as they are before, for the journal.
    fn rows(&self) -> &[PendingRow] {
        &[]
    }
    /// The state that the plan was made from, for the journal and for the re-check.
    fn before(&self) -> Value;
    /// The fields of its JSON that only this action has.
    fn json(&self) -> Map<String, Value>;
    /// The fields of the outcome's JSON that only this action has.
    fn outcome_json(&self, _done: &Done) -> Map<String, Value> {
        Map::new()
    }
    /// What it changed in the group, for what is watched from then on.
    fn own_action(&self, _done: &Done) -> OwnAction {
        OwnAction::default()
    }
    /// The request that takes back what was done `passed_ms` ago, if a dialog can.
    fn way_back(&self, _done: &Done, _passed_ms: i64) -> Option<Ask> {
        None
    }
    /// For an action of one script: the script and what to make of its answer.
    fn scripted(&self) -> Option<&dyn Scripted> {
        None
    }
}

/// An action that one script checks and carries out.
pub trait Scripted: Sync {
    /// KEYS: the stream. ARGV: [`Scripted::args`].
    fn script(&self) -> &'static str;
    fn args(&self) -> Vec<Name>;
    /// Whether EVAL is allowed. Without it the state is read again directly before the plain command, which is a weaker guard.
    fn may_eval(&self) -> bool;
    /// What the script's answer means.
    ///
    /// # Errors
    /// Why nothing was written.
    fn answer(&self, words: &[String]) -> Result<Done, String>;
    /// What the plain command did, by the number that it answered, where EVAL is not allowed.
    ///
    /// # Errors
    /// Why nothing was done.
    fn done(&self, count: i64) -> Result<Done, String>;
    /// What a look at the group after a lost link shows; `Err` says why the group cannot be shown.
    fn found(&self, now: Result<&Facts, &str>) -> String;
}

/// What a plan is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ask {
    Claim(claim::ClaimAsk),
    Seek(seek::SeekAsk),
    Marked(marked::MarkedAsk),
    DeleteConsumer(delete_consumer::DeleteConsumerAsk),
    DeleteGroup(delete_group::DeleteGroupAsk),
    GiveBack(give_back::GiveBackAsk),
}

/// Any action, planned.
#[derive(Clone, Debug, PartialEq)]
pub enum Plan {
    Claim(claim::ClaimPlan),
    Seek(seek::SeekPlan),
    Marked(marked::MarkedPlan),
    DeleteConsumer(delete_consumer::DeleteConsumerPlan),
    DeleteGroup(delete_group::DeleteGroupPlan),
    GiveBack(give_back::GiveBackPlan),
}

impl Ask {
    /// What its action says.
    pub fn detail(&self) -> &dyn Asked {
        match self {
            Self::Claim(ask) => ask,
            Self::Seek(ask) => ask,
            Self::Marked(ask) => ask,
            Self::DeleteConsumer(ask) => ask,
            Self::DeleteGroup(ask) => ask,
            Self::GiveBack(ask) => ask,
        }
    }
}

impl Plan {
    /// What its action says.
    pub fn detail(&self) -> &dyn Planned {
        match self {
            Self::Claim(plan) => plan,
            Self::Seek(plan) => plan,
            Self::Marked(plan) => plan,
            Self::DeleteConsumer(plan) => plan,
            Self::DeleteGroup(plan) => plan,
            Self::GiveBack(plan) => plan,
        }
    }

    pub fn detail_mut(&mut self) -> &mut dyn Planned {
        match self {
            Self::Claim(plan) => plan,
            Self::Seek(plan) => plan,
            Self::Marked(plan) => plan,
            Self::DeleteConsumer(plan) => plan,
            Self::DeleteGroup(plan) => plan,
            Self::GiveBack(plan) => plan,
        }
    }

    /// Why it must not be executed, if so.
    pub fn refused(&self) -> Option<&str> {
        self.detail().refused()
    }
}

/// An object of JSON from pairs.
fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(fields) => fields,
        _ => Map::new(),
    }
}
