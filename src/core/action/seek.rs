//! Moving a group's cursor: which entries come again, or are never given to it.

pub use super::place::Place;
use super::{
    Ask, Asked, Counted, Form, Objections, Plan, Planned, PreviewLine, Warning, Weight, form::Field, note, object,
    server_refusal, warning,
};
use crate::core::{
    command::Argv,
    id::EntryId,
    json,
    lag::Count,
    model::{ConsumerFacts, GroupFacts, PendingRow, ServerFacts, StreamFacts},
    name::Name,
    outcome::{Done, OwnAction},
    time::age_words,
    words::count,
};
use serde_json::{Map, Value, json};

/// What is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeekAsk {
    /// The stream.
    pub key: Name,
    /// The group.
    pub group: Name,
    /// Where to.
    pub place: Place,
    /// A target past the end was typed out on purpose.
    pub beyond_end: bool,
}

/// What holds the write back if the cursor moved meanwhile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Guard {
    /// One script compares and sets.
    Eval,
    /// EVAL is not allowed: the cursor is read once more directly before, which leaves a moment.
    Reread,
}

impl Guard {
    /// The word in JSON.
    pub fn word(self) -> &'static str {
        match self {
            Self::Eval => "eval",
            Self::Reread => "reread",
        }
    }
}

/// Which way the cursor goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// To smaller ids: entries are delivered again.
    Back,
    /// To larger ids: entries are skipped.
    Forward,
    /// Nowhere.
    None,
}

impl Direction {
    /// The word in JSON.
    pub fn word(self) -> &'static str {
        match self {
            Self::Back => "back",
            Self::Forward => "forward",
            Self::None => "none",
        }
    }
}

/// What the plan is made from.
pub struct SeekFacts<'a> {
    /// Who answers.
    pub server: &'a ServerFacts,
    /// The stream.
    pub stream: &'a StreamFacts,
    /// The group.
    pub group: &'a GroupFacts,
    /// Its pending entries.
    pub pending: i64,
    /// Its consumers.
    pub consumers: &'a [ConsumerFacts],
    /// The target, resolved to an id.
    pub target: EntryId,
    /// Entries that lie between target and cursor, in id order, without the lower and with the upper of the two.
    pub between: &'a [EntryId],
    /// Whether those are all.
    pub between_complete: bool,
    /// Pending rows between them.
    pub pending_between: &'a [PendingRow],
    /// Whether those are all.
    pub pending_complete: bool,
    /// A consumer seen within this many milliseconds counts as active.
    pub active_ms: i64,
    /// What holds the write back.
    pub guard: Guard,
    /// The server's clock, milliseconds since 1970; `None` where it may not be asked.
    pub now_ms: Option<i64>,
}

/// The plan.
#[derive(Clone, Debug, PartialEq)]
pub struct SeekPlan {
    /// What was asked for.
    pub ask: SeekAsk,
    /// Where the cursor is.
    pub cursor: EntryId,
    /// Where it would be.
    pub target: EntryId,
    /// Which way.
    pub direction: Direction,
    /// Entries that the cursor would move over.
    pub between: Counted,
    /// Entries the group would never get.
    pub skipped: Counted,
    /// The first and the last of them.
    pub skipped_span: Option<(EntryId, EntryId)>,
    /// Entries it would get again.
    pub redelivered: Counted,
    /// Of these, pending ones: they change hands and their counts start again.
    pub redelivered_pending: i64,
    /// Pending entries that stay as they are.
    pub pending_untouched: i64,
    /// Whether "acked" can be taken at its word.
    pub acked_sure: bool,
    pub objections: Objections,
    /// The command.
    pub command: Argv,
    /// The way back.
    pub undo: Argv,
    /// What holds the write back.
    pub guard: Guard,
    /// The last id ever given out at the time of the preview.
    pub end: EntryId,
    /// Highest cursor that the guard accepts besides the one previewed: set once "the cursor is moving" is acknowledged.
    pub accept_up_to: Option<EntryId>,
}

/// XGROUP SETID, without ENTRIESREAD: a wrong one makes lag lie, and Redis 8.10 refuses to load it (docs/server-facts.md 5.3).
fn setid(ask: &SeekAsk, id: EntryId) -> Argv {
    let id = id.to_string();
    Argv::of(&[b"XGROUP", b"SETID", ask.key.bytes(), ask.group.bytes(), id.as_bytes()])
}

impl SeekPlan {
    /// The way back to a cursor: that of the preview, or where the guard found it while it was moving.
    pub fn back_to(&self, cursor: EntryId) -> Argv {
        setid(&self.ask, cursor)
    }

    /// How many entries were past the cursor before it moved, from the number that is past it now.
    pub fn lag_before(&self, lag: Count, moved_from: EntryId) -> Option<i64> {
        let counted = lag.complete && self.between.exact && moved_from == self.cursor;
        counted.then(|| match self.direction {
            Direction::Forward => lag.entries.saturating_add(self.between.value),
            Direction::Back => lag.entries.saturating_sub(self.between.value),
            Direction::None => lag.entries,
        })
    }

    /// The highest cursor that is accepted once "the cursor is moving" is acknowledged. Forward: the target, since beyond it the move
    /// would become a rewind. Back: what a minute may add to the ids, so that the readers' progress while one types is covered.
    pub fn moving_bound(&self) -> EntryId {
        match self.direction {
            Direction::Forward => self.target,
            _ => EntryId::new(self.end.ms.saturating_add(60_000), self.end.seq),
        }
    }

    /// Accepts a moving cursor, up to the bound; or takes that back.
    pub fn accept_moving(&mut self, accept: bool) {
        self.accept_up_to = accept.then(|| self.moving_bound());
        self.objections.warnings.retain(|warning| warning.id != "cursor-moving");
        if let Some(bound) = self.accept_up_to {
            let low = self.cursor.min(self.target);
            self.objections.warnings.push(warning(
                "cursor-moving",
                format!("the cursor is moving: any cursor from {low} to {bound} is accepted"),
            ));
        }
    }
}

/// Makes the plan.
pub fn plan(ask: SeekAsk, facts: &SeekFacts) -> SeekPlan {
    let (cursor, target) = (facts.group.cursor, facts.target);
    let direction = match target.cmp(&cursor) {
        std::cmp::Ordering::Less => Direction::Back,
        std::cmp::Ordering::Greater => Direction::Forward,
        std::cmp::Ordering::Equal => Direction::None,
    };
    let between = Counted { value: facts.between.len() as i64, exact: facts.between_complete };
    let pending =
        facts.pending_between.iter().filter(|row| facts.between.binary_search(&row.id).is_ok()).count() as i64;
    let (skipped, redelivered, redelivered_pending) = match direction {
        // what is pending ahead of the cursor, after a rewind, is not lost: it stays with its consumer
        Direction::Forward if facts.pending_complete => {
            (Counted { value: between.value - pending, ..between }, Counted::exact(0), 0)
        }
        Direction::Forward => {
            (Counted { value: (between.value - facts.pending).max(0), exact: false }, Counted::exact(0), 0)
        }
        Direction::Back => {
            let exact = between.exact && facts.pending_complete;
            (Counted::exact(0), Counted { exact, ..between }, pending)
        }
        Direction::None => (Counted::exact(0), Counted::exact(0), 0),
    };
    let held = |id: &&EntryId| facts.pending_between.binary_search_by_key(*id, |row| row.id).is_ok();
    let mut lost = facts.between.iter().filter(|id| direction == Direction::Forward && !held(id));
    let skipped_span = lost.next().map(|first| (*first, *lost.next_back().unwrap_or(first)));
    let mut plan = SeekPlan {
        cursor,
        target,
        direction,
        between,
        skipped,
        skipped_span,
        redelivered,
        redelivered_pending,
        pending_untouched: facts.pending - redelivered_pending,
        acked_sure: facts.group.entries_read.value().is_some(),
        objections: Objections::default(),
        command: setid(&ask, target),
        undo: setid(&ask, cursor),
        guard: facts.guard,
        end: facts.stream.last_generated,
        accept_up_to: None,
        ask,
    };
    plan.objections.warnings = warnings(&plan, facts);
    plan.objections.refused = refusal(&plan, facts);
    plan
}

fn warnings(plan: &SeekPlan, facts: &SeekFacts) -> Vec<Warning> {
    let mut out = Vec::new();
    let active: Vec<&ConsumerFacts> =
        facts.consumers.iter().filter(|consumer| consumer.idle_ms <= facts.active_ms).collect();
    if plan.direction != Direction::None && !active.is_empty() {
        let names: Vec<String> = active.iter().take(3).map(|consumer| consumer.name.shown()).collect();
        let more = if active.len() > 3 { format!(" and {} more", active.len() - 3) } else { String::new() };
        let text = format!(
            "{}{more} seen within {}: the cursor may move while you decide",
            names.join(", "),
            age_words(facts.active_ms)
        );
        out.push(warning("consumers-active", text));
    }
    let ahead = facts.pending_between.len();
    if plan.direction == Direction::Forward && ahead > 0 {
        let text = format!(
            "{} between already pending, ahead of the cursor: they stay with their consumers",
            count(ahead as i64, "entry is", "entries are")
        );
        out.push(warning("pending-ahead", text));
    }
    if plan.target > facts.stream.last_generated {
        let text = format!(
            "{} is past the last id ever given out, {}: new entries up to it will never be delivered",
            plan.target, facts.stream.last_generated
        );
        out.push(warning("beyond-end", text));
    }
    if plan.direction == Direction::Back && plan.redelivered.value > 0 {
        let text = "readers that are blocked now are not woken by this: they get the entries after the next XADD or their time-out";
        out.push(note("readers-blocked", text));
    }
    if plan.guard == Guard::Reread {
        let text = "EVAL is not allowed: the cursor is only read once more directly before, so a reader may move it in between";
        out.push(warning("weak-guard", text));
    }
    if let Some(ms) = facts.stream.last.and_then(|id| i64::try_from(id.ms).ok())
        && facts.now_ms.is_some_and(|now_ms| ms > now_ms.saturating_add(86_400_000))
        && matches!(plan.ask.place, Place::Ago(_) | Place::Time(_))
    {
        out.push(warning(
            "future-ids",
            "the stream's ids lie in the future by the server's clock: are they times at all?",
        ));
    }
    out
}

fn refusal(plan: &SeekPlan, facts: &SeekFacts) -> Option<String> {
    if let Some(refusal) = server_refusal(facts.server) {
        return Some(refusal);
    }
    if plan.target > facts.stream.last_generated && plan.direction == Direction::Forward && !plan.ask.beyond_end {
        return Some(format!(
            "{} is past the last id ever given out, {}: everything added up to it would be skipped; if it is meant, say so (--beyond-end)",
            plan.target, facts.stream.last_generated
        ));
    }
    None
}

/// Compares and sets in one go on the server. KEYS: the stream. ARGV: group, cursor previewed, target, and, when "the cursor is
/// moving" was acknowledged, the lowest and the highest cursor accepted besides. Ids are compared as texts, the longer being the
/// larger, since Lua's numbers lose digits of 64 bits. Answers OK, MISMATCH or NOGROUP with the cursor found.
pub const SCRIPT: &str = r"
local function parts(id) return string.match(id, '^(%d+)-(%d+)$') end
local function less(a, b) if #a ~= #b then return #a < #b end return a < b end
local function at_most(a, b)
  local am, as = parts(a) local bm, bs = parts(b)
  if am ~= bm then return less(am, bm) end
  return as == bs or less(as, bs)
end
for _, group in ipairs(redis.call('XINFO', 'GROUPS', KEYS[1])) do
  local name, cursor
  for i = 1, #group, 2 do
    if group[i] == 'name' then name = group[i + 1] end
    if group[i] == 'last-delivered-id' then cursor = group[i + 1] end
  end
  if name == ARGV[1] then
    local inside = ARGV[4] and at_most(ARGV[4], cursor) and at_most(cursor, ARGV[5])
    if cursor ~= ARGV[2] and not inside then return {'MISMATCH', cursor} end
    redis.call('XGROUP', 'SETID', KEYS[1], ARGV[1], ARGV[3])
    return {'OK', cursor}
  end
end
return {'NOGROUP', ''}
";

impl Asked for SeekAsk {
    fn key(&self) -> &Name {
        &self.key
    }

    fn group(&self) -> &Name {
        &self.group
    }

    fn name(&self) -> &'static str {
        "seek"
    }

    fn title(&self) -> String {
        "Move the cursor".to_owned()
    }

    fn fields(&self) -> &'static [Field] {
        &[Field::Place]
    }

    fn filled(&self, form: &Form) -> Result<Ask, String> {
        Ok(Ask::Seek(Self { place: Place::parse(&form.place)?, ..self.clone() }))
    }
}

impl Planned for SeekPlan {
    fn ask(&self) -> Ask {
        Ask::Seek(self.ask.clone())
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
        let from = format!("the cursor would go from {} to ", self.cursor);
        let mut lines = vec![PreviewLine::new(Weight::Plain, from).then(Weight::Accent, self.target.to_string())];
        match self.direction {
            Direction::Back => {
                let or_never = if self.acked_sure { "" } else { " or never delivered" };
                let acked = self.redelivered.value - self.redelivered_pending;
                let again = self.redelivered.of("entry", "entries");
                let what = format!(
                    " would be delivered again: {acked} acknowledged{or_never} (processed again), {} pending (to the new reader, delivery \
                     count reset)",
                    self.redelivered_pending
                );
                lines.push(PreviewLine::new(Weight::Number, again).then(Weight::Plain, what));
            }
            Direction::Forward => {
                let ids = self.skipped_span.map_or(String::new(), |(first, last)| format!(", {first} to {last}"));
                let skipped = self.skipped.of("unread entry", "unread entries");
                let what = format!(" would be lost to this group{ids}");
                lines.push(PreviewLine::new(Weight::Loud, skipped).then(Weight::Plain, what));
            }
            Direction::None => lines.push(PreviewLine::new(Weight::Quiet, "the cursor is there already")),
        }
        let rest = count(self.pending_untouched, "pending entry", "pending entries");
        lines.push(PreviewLine::new(Weight::Quiet, format!("{rest} and all other groups stay as they are")));
        lines
    }

    fn before(&self) -> Value {
        json!({"cursor": self.cursor.to_string(), "target": self.target.to_string()})
    }

    fn json(&self) -> Map<String, Value> {
        let mut skipped = self.skipped.json();
        skipped["first_id"] = json!(self.skipped_span.map(|(first, _)| first.to_string()));
        skipped["last_id"] = json!(self.skipped_span.map(|(_, last)| last.to_string()));
        let mut redelivered = self.redelivered.json();
        redelivered["acked"] = json!(self.redelivered.value - self.redelivered_pending);
        redelivered["pending"] = json!(self.redelivered_pending);
        redelivered["acked_sure"] = json!(self.acked_sure);
        object(json!({
            "cursor": self.cursor.to_string(),
            "target": self.target.to_string(),
            "direction": self.direction.word(),
            "skipped": skipped,
            "redelivered": redelivered,
            "pending_untouched": self.pending_untouched,
            "entries_read": null,
            "command": json::argv(&self.command),
            "undo": json::argv(&self.undo),
            "guard": self.guard.word(),
        }))
    }

    fn outcome_json(&self, done: &Done) -> Map<String, Value> {
        object(json!({
            "cursor": done.cursor.map(|id| id.to_string()),
            "lag": done.lag.map(|lag| Counted { value: lag.entries, exact: lag.complete }.json()),
            "lag_before": done.lag_before,
        }))
    }

    fn own_action(&self, _done: &Done) -> OwnAction {
        OwnAction { cursor: self.direction != Direction::None, ..OwnAction::default() }
    }

    fn way_back(&self, done: &Done, _passed_ms: i64) -> Option<Ask> {
        let place = Place::Id(done.cursor_before.unwrap_or(self.cursor));
        Some(Ask::Seek(SeekAsk { place, beyond_end: false, ..self.ask.clone() }))
    }
}

impl From<SeekPlan> for Plan {
    fn from(plan: SeekPlan) -> Self {
        Self::Seek(plan)
    }
}
