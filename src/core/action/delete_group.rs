//! Deleting a group (XGROUP DESTROY). It destroys the group's pending list, its consumers and its counters, so it is refused while
//! anything is pending, anything waits or anybody may read, unless that is typed out. One script compares the group with the one
//! previewed and destroys it.

use super::{
    Ask, Asked, Facts, Form, Objections, Plan, Planned, PreviewLine, Scripted, Warning, Weight,
    form::{Field, IN_USE},
    note, object, server_refusal, warning,
};
use crate::core::{
    command::Argv,
    id::EntryId,
    json,
    lag::{self, Inputs, Lag},
    name::Name,
    outcome::Done,
    words::count,
};
use serde_json::{Map, Value, json};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeleteGroupAsk {
    pub key: Name,
    pub group: Name,
    /// It was typed out that a group in use is meant.
    pub in_use: bool,
}

impl Asked for DeleteGroupAsk {
    fn key(&self) -> &Name {
        &self.key
    }

    fn group(&self) -> &Name {
        &self.group
    }

    fn name(&self) -> &'static str {
        "delete-group"
    }

    fn title(&self) -> String {
        format!("Delete the group {}", self.group)
    }

    fn fields(&self) -> &'static [Field] {
        &[Field::InUse]
    }

    fn filled(&self, form: &Form) -> Result<Ask, String> {
        Ok(Ask::DeleteGroup(Self { in_use: form.is_in_use(), ..self.clone() }))
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct DeleteGroupPlan {
    pub ask: DeleteGroupAsk,
    pub cursor: EntryId,
    pub pending: i64,
    /// Consumers listed, active or not.
    pub consumers: i64,
    /// Entries that wait for the group.
    pub lag: Lag,
    /// Connections blocked in XREADGROUP on any stream; `None` where CLIENT LIST is forbidden.
    pub blocked_readers: Option<usize>,
    pub may_eval: bool,
    pub objections: Objections,
    pub command: Argv,
    /// Creates the group again at its cursor.
    pub undo: Argv,
}

/// Makes the plan.
pub fn plan(ask: DeleteGroupAsk, facts: &Facts) -> DeleteGroupPlan {
    let (stream, group) = (&facts.stream, &facts.group);
    let inputs = Inputs { stream, group, family: facts.server.lag_family(), drift: None, count: facts.waiting };
    let cursor = group.cursor.to_string();
    let (key, name) = (ask.key.bytes(), ask.group.bytes());
    let mut plan = DeleteGroupPlan {
        cursor: group.cursor,
        pending: facts.pending,
        consumers: group.consumers.value().unwrap_or(facts.consumers.len() as i64),
        lag: lag::resolve(&inputs),
        blocked_readers: facts.blocked_readers,
        may_eval: facts.may_eval,
        objections: Objections::default(),
        command: Argv::of(&[b"XGROUP", b"DESTROY", key, name]),
        undo: Argv::of(&[b"XGROUP", b"CREATE", key, name, cursor.as_bytes()]),
        ask,
    };
    plan.objections.warnings = plan.warn();
    plan.objections.refused = server_refusal(&facts.server).or_else(|| plan.why_in_use().filter(|_| !plan.ask.in_use));
    plan
}

impl DeleteGroupPlan {
    /// What speaks against deleting it, as a sentence that tells how to do it all the same.
    fn why_in_use(&self) -> Option<String> {
        let mut uses = Vec::new();
        if self.pending > 0 {
            uses.push(format!("{} would be lost", count(self.pending, "pending entry", "pending entries")));
        }
        match self.lag.exact() {
            Some(0) => {}
            Some(waiting) => uses.push(format!("{} for it", count(waiting, "entry waits", "entries wait"))),
            None => uses.push(format!("how many entries wait for it is not known exactly ({})", self.lag.text())),
        }
        if self.consumers > 0 {
            uses.push(format!(
                "{} and may read at any moment",
                count(self.consumers, "consumer is listed", "consumers are listed")
            ));
        }
        let typed = format!("to delete it all the same, say so (--in-use, in the dialog: type {IN_USE:?})");
        (!uses.is_empty()).then(|| format!("{}; {typed}", uses.join(", ")))
    }

    fn warn(&self) -> Vec<Warning> {
        let mut out = Vec::new();
        if self.pending > 0 {
            let text = format!(
                "{} would be dropped unprocessed: no consumer of this group gets them again",
                count(self.pending, "pending entry", "pending entries")
            );
            out.push(warning("drops-pending", text));
        }
        // idle proves nothing of a reader: it may be blocked, or sleep between two reads
        match self.blocked_readers {
            Some(0) => out.push(note(
                "no-reader-shown",
                "CLIENT LIST shows no connection blocked in XREADGROUP; one that reads without BLOCK does not show there",
            )),
            Some(n) => {
                let readers = count(n as i64, "connection", "connections");
                let text = format!(
                    "CLIENT LIST shows {readers} blocked in XREADGROUP (on which stream it does not say): a reader of this group would get NOGROUP"
                );
                out.push(warning("readers-blocked", text));
            }
            None => out.push(warning("readers-unknown", "CLIENT LIST is not allowed: whether anybody reads is not known")),
        }
        if !self.may_eval {
            let text = "EVAL is not allowed: the group is only read again directly before, so it may change in between";
            out.push(warning("weak-guard", text));
        }
        let text = "the way back restores the cursor only: pending entries, consumers and entries-read (and with it the lag) are lost";
        out.push(warning("way-back-is-partial", text));
        out
    }
}

impl Planned for DeleteGroupPlan {
    fn ask(&self) -> Ask {
        Ask::DeleteGroup(self.ask.clone())
    }

    fn objections(&self) -> &Objections {
        &self.objections
    }

    fn objections_mut(&mut self) -> &mut Objections {
        &mut self.objections
    }

    fn commands(&self) -> Vec<Argv> {
        vec![self.command.clone()]
    }

    fn preview(&self) -> Vec<PreviewLine> {
        let consumers = count(self.consumers, "consumer", "consumers");
        vec![
            PreviewLine::new(Weight::Plain, "the group would be destroyed, with ")
                .then(Weight::Loud, count(self.pending, "pending entry", "pending entries"))
                .then(Weight::Plain, format!(" and {consumers}; lag {}", self.lag.text())),
            PreviewLine::new(
                Weight::Quiet,
                format!("its cursor is {}; the stream and other groups stay as they are", self.cursor),
            ),
        ]
    }

    fn before(&self) -> Value {
        json!({"cursor": self.cursor.to_string(), "pending": self.pending, "consumers": self.consumers})
    }

    fn json(&self) -> Map<String, Value> {
        object(json!({
            "cursor": self.cursor.to_string(),
            "pending": self.pending,
            "consumers": self.consumers,
            "lag": {"kind": self.lag.kind.word(), "value": self.lag.value},
            "blocked_readers": self.blocked_readers,
            "in_use": self.ask.in_use,
            "guard": if self.may_eval { "eval" } else { "reread" },
            "undo": json::argv(&self.undo),
        }))
    }

    fn outcome_json(&self, done: &Done) -> Map<String, Value> {
        object(json!({"deleted": done.deleted.is_some()}))
    }

    fn scripted(&self) -> Option<&dyn Scripted> {
        Some(self)
    }
}

/// Destroys only the group that was previewed. KEYS: the stream. ARGV: group, cursor, pending, consumers. Answers OK, CHANGED with
/// the cursor, pending and consumers found, or NOGROUP.
const SCRIPT: &str = r"
for _, group in ipairs(redis.call('XINFO', 'GROUPS', KEYS[1])) do
  local name, cursor, pending, consumers
  for i = 1, #group, 2 do
    if group[i] == 'name' then name = group[i + 1] end
    if group[i] == 'last-delivered-id' then cursor = group[i + 1] end
    if group[i] == 'pending' then pending = string.format('%.0f', group[i + 1]) end
    if group[i] == 'consumers' then consumers = string.format('%.0f', group[i + 1]) end
  end
  if name == ARGV[1] then
    if cursor ~= ARGV[2] or pending ~= ARGV[3] or consumers ~= ARGV[4] then return {'CHANGED', cursor, pending, consumers} end
    redis.call('XGROUP', 'DESTROY', KEYS[1], ARGV[1])
    return {'OK'}
  end
end
return {'NOGROUP'}
";

impl Scripted for DeleteGroupPlan {
    fn script(&self) -> &'static str {
        SCRIPT
    }

    fn args(&self) -> Vec<Name> {
        let numbers = [self.cursor.to_string(), self.pending.to_string(), self.consumers.to_string()];
        std::iter::once(self.ask.group.clone()).chain(numbers.map(Name::new)).collect()
    }

    fn may_eval(&self) -> bool {
        self.may_eval
    }

    fn answer(&self, words: &[String]) -> Result<Done, String> {
        match words {
            [word, ..] if word == "OK" => self.done(1),
            [word, cursor, pending, consumers, ..] if word == "CHANGED" => Err(format!(
                "the group changed since the preview: cursor {cursor}, {pending} pending, {consumers} consumers now"
            )),
            _ => Err("the group is gone".to_owned()),
        }
    }

    fn done(&self, destroyed: i64) -> Result<Done, String> {
        if destroyed == 0 {
            return Err("the group is gone".to_owned());
        }
        let deleted = Some(format!("the group {}", self.ask.group));
        Ok(Done { deleted, undo: vec![self.undo.clone()], ..Done::default() })
    }

    fn found(&self, now: Result<&Facts, &str>) -> String {
        match now {
            Ok(now) => format!("asked again: the group is there, its cursor at {}", now.group.cursor),
            Err(why) => format!("asked again: {why}"),
        }
    }
}

impl From<DeleteGroupPlan> for Plan {
    fn from(plan: DeleteGroupPlan) -> Self {
        Self::DeleteGroup(plan)
    }
}
