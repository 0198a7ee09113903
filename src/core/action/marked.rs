//! Marked entries: handed to a consumer (XCLAIM), or acknowledged although nobody handled them (XACK).

use super::{
    Ask, Asked, Form, Objections, Plan, Planned, PreviewLine, Weight, at_least, form::Field, give_back::GiveBackAsk,
    object, server_refusal, warning,
};
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

/// What happens to them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum What {
    /// They go to this consumer, counts unchanged.
    MoveTo(Name),
    /// They are taken off the pending list: this group will never process them.
    Acknowledge,
}

impl What {
    /// The word in the journal.
    pub fn word(&self) -> &'static str {
        match self {
            Self::MoveTo(_) => "hand-over",
            Self::Acknowledge => "acknowledge",
        }
    }
}

/// What is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MarkedAsk {
    /// The stream.
    pub key: Name,
    /// The group.
    pub group: Name,
    /// Which entries.
    pub ids: Vec<EntryId>,
    /// What with them.
    pub what: What,
}

impl MarkedAsk {
    /// The way back of what was handed over `passed_ms` ago; `None` for an acknowledgement, which has none.
    pub fn give_back(&self, moved: Vec<PendingRow>, passed_ms: i64) -> Option<GiveBackAsk> {
        let What::MoveTo(holder) = &self.what else { return None };
        Some(GiveBackAsk { key: self.key.clone(), group: self.group.clone(), holder: holder.clone(), moved, passed_ms })
    }
}

impl Asked for MarkedAsk {
    fn key(&self) -> &Name {
        &self.key
    }

    fn group(&self) -> &Name {
        &self.group
    }

    fn name(&self) -> &'static str {
        self.what.word()
    }

    fn title(&self) -> String {
        let entries = count(self.ids.len() as i64, "marked entry", "marked entries");
        match &self.what {
            What::MoveTo(_) => format!("Hand {entries} over"),
            What::Acknowledge => format!("Acknowledge {entries}"),
        }
    }

    fn fields(&self) -> &'static [Field] {
        match &self.what {
            What::MoveTo(_) => &[Field::Target],
            What::Acknowledge => &[],
        }
    }

    fn filled(&self, form: &Form) -> Result<Ask, String> {
        let what = match &self.what {
            What::MoveTo(_) => What::MoveTo(form.chosen_target()?),
            What::Acknowledge => What::Acknowledge,
        };
        Ok(Ask::Marked(Self { what, ..self.clone() }))
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct MarkedPlan {
    /// What was asked for.
    pub ask: MarkedAsk,
    /// The marked entries that are pending now, as they are.
    pub rows: Vec<PendingRow>,
    /// Marked entries that are no longer pending.
    pub vanished: Vec<EntryId>,
    /// Marked entries that are pending without payload, where this server would drop them instead of moving them (7.0+).
    pub left: Vec<EntryId>,
    pub objections: Objections,
    /// The commands.
    pub commands: Vec<Argv>,
}

/// Makes the plan from the rows that are pending now.
pub fn plan(
    ask: MarkedAsk,
    server: &ServerFacts,
    consumers: &[ConsumerFacts],
    mut rows: Vec<PendingRow>,
    gone: &dyn Fn(EntryId) -> bool,
    active_ms: i64,
    may_eval: bool,
) -> MarkedPlan {
    let vanished: Vec<EntryId> = ask.ids.iter().copied().filter(|id| !rows.iter().any(|row| row.id == *id)).collect();
    let mut warnings = Vec::new();
    let mut left = Vec::new();
    if matches!(ask.what, What::MoveTo(_)) && at_least(server, (7, 0)) {
        left = rows.extract_if(.., |row| gone(row.id)).map(|row| row.id).collect();
    }
    if !left.is_empty() {
        let text = format!(
            "{} without payload: XCLAIM would drop them, so they are left out; they can be acknowledged",
            count(left.len() as i64, "entry is", "entries are")
        );
        warnings.push(warning("left-payload-gone", text));
    }
    let mut owners: Vec<&Name> = rows.iter().filter_map(|row| row.owner.as_ref()).collect();
    owners.sort();
    owners.dedup();
    for owner in owners {
        let active = consumers.iter().any(|consumer| consumer.name == *owner && consumer.idle_ms <= active_ms);
        if active {
            warnings.push(warning("owner-active", format!("{owner} was seen just now: it may be at work on them")));
        }
    }
    if !vanished.is_empty() {
        warnings.push(warning(
            "no-longer-pending",
            format!("{} of the marked entries are no longer pending", vanished.len()),
        ));
    }
    let unknown = match &ask.what {
        What::MoveTo(target) => !consumers.iter().any(|consumer| consumer.name == *target),
        What::Acknowledge => {
            if !may_eval {
                let text = "EVAL is not allowed: the entries are only read once more directly before, so one may be claimed in between";
                warnings.push(warning("weak-guard", text));
            }
            warnings.push(warning(
                "never-processed",
                "they will never be processed by this group: there is no way back but moving its cursor",
            ));
            false
        }
    };
    let refused = server_refusal(server)
        .or_else(|| {
            (rows.is_empty() && !left.is_empty())
                .then(|| "the marked entries have no payload any more: this server cannot move them".to_owned())
        })
        .or_else(|| rows.is_empty().then(|| "none of the marked entries is pending any more".to_owned()))
        .or_else(|| unknown.then(|| "the target is not a consumer of this group".to_owned()));
    let mut plan =
        MarkedPlan { ask, rows, vanished, left, objections: Objections { warnings, refused }, commands: Vec::new() };
    plan.commands = plan.rows.chunks(super::claim::BATCH).map(|rows| command(&plan.ask, rows)).collect();
    plan
}

/// The idle time goes along, so that an entry that somebody takes meanwhile is left alone: its idle time starts again.
fn command(ask: &MarkedAsk, rows: &[PendingRow]) -> Argv {
    let ids = rows.iter().map(|row| Name::new(row.id.to_string()));
    let mut command = match &ask.what {
        What::MoveTo(target) => {
            let least = rows.iter().filter_map(|row| row.idle_ms).min().unwrap_or(0).to_string();
            Argv::of(&[b"XCLAIM", ask.key.bytes(), ask.group.bytes(), target.bytes(), least.as_bytes()])
        }
        What::Acknowledge => Argv::of(&[b"XACK", ask.key.bytes(), ask.group.bytes()]),
    };
    command.extend(ids);
    if matches!(ask.what, What::MoveTo(_)) {
        command.push(Name::from("JUSTID"));
    }
    command
}

/// Acknowledges entries only if all of them are still with the owners and the delivery counts of the preview. KEYS: the stream. ARGV:
/// group, then id, owner and count of each (an empty count is not compared: Lua loses digits of the largest). Answers how many were acknowledged, or MOVED with the first that is not as it was.
pub const ACKNOWLEDGE: &str = r"
local ids = {}
for i = 2, #ARGV, 3 do
  local row = redis.call('XPENDING', KEYS[1], ARGV[1], ARGV[i], ARGV[i], 1)[1]
  if not row or row[2] ~= ARGV[i + 1] or (ARGV[i + 2] ~= '' and string.format('%.0f', row[4]) ~= ARGV[i + 2]) then return {'MOVED', ARGV[i]} end
  ids[#ids + 1] = ARGV[i]
end
return redis.call('XACK', KEYS[1], ARGV[1], unpack(ids))
";

impl Planned for MarkedPlan {
    fn ask(&self) -> Ask {
        Ask::Marked(self.ask.clone())
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
        let of = count(self.ask.ids.len() as i64, "marked entry", "marked entries");
        let text = match &self.ask.what {
            What::MoveTo(target) => format!(" of {of} would go to {target}"),
            What::Acknowledge => format!(" of {of} would be acknowledged; this group will never process them"),
        };
        vec![PreviewLine::new(Weight::Number, self.rows.len().to_string()).then(Weight::Plain, text)]
    }

    fn rows(&self) -> &[PendingRow] {
        &self.rows
    }

    fn before(&self) -> Value {
        json!({"ids": self.rows.iter().map(|row| row.id.to_string()).collect::<Vec<_>>()})
    }

    fn json(&self) -> Map<String, Value> {
        let ids = |ids: &[EntryId]| ids.iter().map(ToString::to_string).collect::<Vec<_>>();
        let target = match &self.ask.what {
            What::MoveTo(target) => json::name(target),
            What::Acknowledge => Value::Null,
        };
        object(json!({
            "target": target,
            "marked": self.ask.ids.len(),
            "pending": self.rows.len(),
            "no_longer_pending": ids(&self.vanished),
            "left_payload_gone": ids(&self.left),
        }))
    }

    fn outcome_json(&self, done: &Done) -> Map<String, Value> {
        object(json!({"claimed": done.claimed, "acknowledged": done.acknowledged}))
    }

    fn own_action(&self, done: &Done) -> OwnAction {
        let moves = match &self.ask.what {
            What::MoveTo(target) => done.moved.iter().map(|row| (row.id, target.clone())).collect(),
            What::Acknowledge => Vec::new(),
        };
        OwnAction { moves, follow: true, cursor: false }
    }

    fn way_back(&self, done: &Done, passed_ms: i64) -> Option<Ask> {
        let ask = self.ask.give_back(done.moved.clone(), passed_ms)?;
        (!ask.moved.is_empty()).then_some(Ask::GiveBack(ask))
    }
}

impl From<MarkedPlan> for Plan {
    fn from(plan: MarkedPlan) -> Self {
        Self::Marked(plan)
    }
}
