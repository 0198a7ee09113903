//! Claiming: pending entries that were idle for long change hands. XAUTOCLAIM where there is one; XCLAIM of listed ids
//! before 6.2, where XAUTOCLAIM may not be sent, and where only one consumer's entries are meant, which it cannot tell apart.

use super::{
    Ask, Asked, Counted, Form, Objections, Plan, Planned, PreviewLine, Warning, Weight, at_least, form::Field,
    give_back::GiveBackAsk, note, object, server_refusal, warning,
};
use crate::core::{
    command::Argv,
    id::EntryId,
    json,
    model::{ConsumerFacts, PendingRow, ServerFacts},
    name::Name,
    outcome::{Done, OwnAction},
    time::age_words,
    words::entries,
};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// What is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClaimAsk {
    /// The stream.
    pub key: Name,
    /// The group.
    pub group: Name,
    /// Who gets them.
    pub target: Name,
    /// The target may be created by this.
    pub create: bool,
    /// Only entries that have been idle for so long, in milliseconds.
    pub min_idle_ms: i64,
    /// Only those of this consumer.
    pub from: Option<Name>,
    /// The most entries to claim.
    pub limit: Option<usize>,
    /// Delivery counts stay as they are, and payloads do not travel.
    pub justid: bool,
}

/// Entries that one XAUTOCLAIM or XCLAIM takes at most: the server is blocked for ten times that many look-ups.
pub const BATCH: usize = 100;

/// Former owners named in the preview.
const HOLDERS: usize = 10;

/// What the plan is made from.
pub struct ClaimFacts<'a> {
    /// Who answers.
    pub server: &'a ServerFacts,
    /// Consumers of the group, as sampled.
    pub consumers: &'a [ConsumerFacts],
    /// Pending rows in id order, from the first on.
    pub rows: &'a [PendingRow],
    /// Whether those are all.
    pub complete: bool,
    /// Whether an entry is still in the stream; `None` where it was not looked up.
    pub fate: &'a dyn Fn(EntryId) -> Option<bool>,
    /// A consumer seen within this many milliseconds counts as active.
    pub active_ms: i64,
    /// Why XAUTOCLAIM cannot be sent although the server's version has it, in the server's words.
    pub no_autoclaim: Option<&'a str>,
}

/// A former owner in the preview.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Holder {
    /// Its name; `None` for entries that nobody holds.
    pub consumer: Option<Name>,
    /// Entries that would leave it.
    pub entries: i64,
    /// Whether it was seen just now.
    pub active: bool,
    /// Idle time of the oldest of them, in milliseconds.
    pub oldest_idle_ms: Option<i64>,
}

/// Which command does it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// XAUTOCLAIM along its cursor.
    AutoClaim,
    /// XCLAIM of the ids in the preview.
    Claim,
}

/// The plan.
#[derive(Clone, Debug, PartialEq)]
pub struct ClaimPlan {
    /// What was asked for.
    pub ask: ClaimAsk,
    /// The target is a consumer of the group.
    pub target_exists: bool,
    /// It was seen just now.
    pub target_active: bool,
    /// Entries that would move, those without payload included where the server moves them (before 7.0).
    pub would_move: Counted,
    /// Of these, entries without payload.
    pub would_move_empty: i64,
    /// Entries that the target holds already and that XAUTOCLAIM claims anew on its way.
    pub restarting: Vec<PendingRow>,
    /// Of those that move or are claimed anew, the ones without payload: a reply with payloads has nil in their place (before 7.0).
    pub empty: Vec<EntryId>,
    /// Entries without payload that XAUTOCLAIM would drop from the pending list, whoever holds them (7.0+).
    pub would_remove: Counted,
    /// From whom.
    pub from: Vec<Holder>,
    /// The entries that would move, as they are now: for the way back, and for the re-check.
    pub moving: Vec<PendingRow>,
    pub objections: Objections,
    /// The limit cut the list: the rest stays where it is.
    pub cut: bool,
    /// How.
    pub way: Way,
    /// The commands; the first stands for the batches that follow its cursor.
    pub commands: Vec<Argv>,
}

impl ClaimAsk {
    /// The way back of what was moved `passed_ms` ago; the rows are those from before.
    pub fn give_back(&self, moved: Vec<PendingRow>, passed_ms: i64) -> GiveBackAsk {
        GiveBackAsk { key: self.key.clone(), group: self.group.clone(), holder: self.target.clone(), moved, passed_ms }
    }
}

impl Asked for ClaimAsk {
    fn key(&self) -> &Name {
        &self.key
    }

    fn group(&self) -> &Name {
        &self.group
    }

    fn name(&self) -> &'static str {
        "claim"
    }

    fn title(&self) -> String {
        "Claim idle entries".to_owned()
    }

    fn fields(&self) -> &'static [Field] {
        &[Field::Source, Field::Target, Field::MinIdle, Field::Limit]
    }

    fn filled(&self, form: &Form) -> Result<Ask, String> {
        let (target, min_idle_ms, limit) = (form.chosen_target()?, form.min_idle_ms()?, form.limit()?);
        let from = form.chosen_source();
        if from.as_ref() == Some(&target) {
            return Err(format!(
                "{target} holds them already, and a claim to itself moves nothing: choose another consumer"
            ));
        }
        Ok(Ask::Claim(Self { target, min_idle_ms, from, limit, ..self.clone() }))
    }
}

impl ClaimPlan {
    /// First and last id that would move.
    pub fn span(&self) -> Option<(EntryId, EntryId)> {
        Some((self.moving.first()?.id, self.moving.last()?.id))
    }

    /// Whether a later reading of the same ask differs so much that the preview no longer holds: other owners, more that
    /// would be dropped, or a count that is off by more than a tenth.
    pub fn differs_materially(&self, now: &Self) -> Option<String> {
        let owners = |plan: &Self| plan.from.iter().map(|holder| holder.consumer.clone()).collect::<Vec<_>>();
        if now.would_remove.value > self.would_remove.value {
            return Some(format!(
                "{} entries would be dropped now, not {}",
                now.would_remove.text(),
                self.would_remove.text()
            ));
        }
        if owners(now).iter().any(|owner| !owners(self).contains(owner)) {
            return Some("entries of other consumers qualify now".to_owned());
        }
        let active =
            |plan: &Self, name: &Option<Name>| plan.from.iter().any(|holder| holder.consumer == *name && holder.active);
        if let Some(holder) = now.from.iter().find(|holder| holder.active && !active(self, &holder.consumer)) {
            let name = holder.consumer.as_ref().map_or_else(String::new, ToString::to_string);
            return Some(format!("{name} was seen meanwhile: it may be at work on its entries"));
        }
        let previewed = |row: &PendingRow| self.moving.binary_search_by_key(&row.id, |row| row.id).is_ok();
        let others = now.moving.iter().filter(|row| !previewed(row)).count();
        if others * 10 > now.moving.len() {
            return Some(format!("{others} of {} entries are not those of the preview", now.moving.len()));
        }
        let (before, after) = (self.would_move.value, now.would_move.value);
        ((before - after).abs() * 10 > before).then(|| format!("{after} entries would move now, not {before}"))
    }
}

fn idle_enough(row: &PendingRow, ask: &ClaimAsk) -> bool {
    // what XNACK released is claimed whatever the min-idle says (docs/server-facts.md 4.2)
    row.idle_ms.is_none_or(|idle| idle >= ask.min_idle_ms)
}

/// Makes the plan.
pub fn plan(ask: ClaimAsk, facts: &ClaimFacts) -> ClaimPlan {
    let drops = at_least(facts.server, (7, 0));
    let listed = ask.from.is_some() || !at_least(facts.server, (6, 2)) || facts.no_autoclaim.is_some();
    let way = if listed { Way::Claim } else { Way::AutoClaim };
    let target = facts.consumers.iter().find(|consumer| consumer.name == ask.target);
    let seen_lately = |consumer: &ConsumerFacts| consumer.idle_ms <= facts.active_ms;
    let mut plan = ClaimPlan {
        target_exists: target.is_some(),
        target_active: target.is_some_and(seen_lately),
        would_move: Counted::exact(0),
        would_move_empty: 0,
        restarting: Vec::new(),
        empty: Vec::new(),
        would_remove: Counted::exact(0),
        from: Vec::new(),
        moving: Vec::new(),
        objections: Objections::default(),
        cut: false,
        way,
        commands: Vec::new(),
        ask,
    };
    sort_out(&mut plan, facts, drops);
    let mut holders: BTreeMap<Option<Name>, (i64, Option<i64>)> = BTreeMap::new();
    for row in &plan.moving {
        let entry = holders.entry(row.owner.clone()).or_default();
        entry.0 += 1;
        entry.1 = entry.1.max(row.idle_ms);
    }
    plan.from = holders
        .into_iter()
        .map(|(consumer, (entries, oldest_idle_ms))| {
            let active = facts.consumers.iter().any(|one| Some(&one.name) == consumer.as_ref() && seen_lately(one));
            Holder { consumer, entries, active, oldest_idle_ms }
        })
        .collect();
    plan.commands = commands(&plan);
    plan.objections.warnings = warnings(&plan, facts);
    plan.objections.refused = refusal(&plan, facts);
    plan
}

/// Walks the rows as the server would: in id order, up to the limit.
fn sort_out(plan: &mut ClaimPlan, facts: &ClaimFacts, drops: bool) {
    let mut sure = true;
    let mut removed = 0;
    let mut whole = facts.complete;
    for row in facts.rows {
        if plan.ask.limit.is_some_and(|limit| plan.moving.len() >= limit) {
            // the server stops scanning here, so nothing beyond is touched
            whole = true;
            plan.cut = true;
            break;
        }
        let fate = (facts.fate)(row.id);
        sure &= fate.is_some();
        let gone = fate == Some(false);
        if gone && drops {
            removed += i64::from(plan.way == Way::AutoClaim);
            continue;
        }
        let meant = plan.ask.from.is_none() || row.owner == plan.ask.from;
        if !meant || !idle_enough(row, &plan.ask) {
            continue;
        }
        if row.owner.as_ref() != Some(&plan.ask.target) {
            plan.would_move_empty += i64::from(gone);
            plan.moving.push(row.clone());
        } else if plan.way == Way::AutoClaim {
            plan.restarting.push(row.clone());
        } else {
            continue;
        }
        if gone {
            plan.empty.push(row.id);
        }
    }
    plan.cut |= !whole || (!facts.complete && plan.ask.limit.is_some_and(|limit| plan.moving.len() >= limit));
    plan.would_move = Counted { value: plan.moving.len() as i64, exact: whole && (sure || !drops) };
    plan.would_remove = Counted { value: removed, exact: whole && (sure || !drops || plan.way == Way::Claim) };
}

/// XAUTOCLAIM from the start of the pending list.
pub fn autoclaim(ask: &ClaimAsk) -> Argv {
    let mut command = head(ask, b"XAUTOCLAIM");
    let count = ask.limit.map_or(BATCH, |limit| limit.clamp(1, BATCH));
    command.extend([Name::from("0-0"), Name::from("COUNT"), Name::new(count.to_string())]);
    command.extend(ask.justid.then(|| Name::from("JUSTID")));
    command
}

fn head(ask: &ClaimAsk, command: &[u8]) -> Argv {
    let idle = ask.min_idle_ms.to_string();
    Argv::of(&[command, ask.key.bytes(), ask.group.bytes(), ask.target.bytes(), idle.as_bytes()])
}

fn commands(plan: &ClaimPlan) -> Vec<Argv> {
    let ask = &plan.ask;
    match plan.way {
        Way::AutoClaim => vec![autoclaim(ask)],
        Way::Claim => plan
            .moving
            .chunks(BATCH)
            .map(|rows| {
                let mut command = head(ask, b"XCLAIM");
                command.extend(rows.iter().map(|row| Name::new(row.id.to_string())));
                command.extend(ask.justid.then(|| Name::from("JUSTID")));
                command
            })
            .collect(),
    }
}

fn warnings(plan: &ClaimPlan, facts: &ClaimFacts) -> Vec<Warning> {
    let mut out = Vec::new();
    let target = &plan.ask.target;
    for holder in plan.from.iter().filter(|holder| holder.active) {
        let name = holder.consumer.as_ref().map_or_else(String::new, Name::shown);
        let text = format!(
            "{name} was seen just now: it may be at work on the {} that would be taken from it",
            entries(holder.entries)
        );
        out.push(warning("owner-active", text));
    }
    if plan.would_remove.value > 0 {
        let text = format!(
            "{} without payload would be removed from the pending list for good, whoever holds them and whatever the min-idle is",
            plan.would_remove.of("pending entry", "pending entries")
        );
        out.push(warning("removes-payload-gone", text));
    }
    if plan.would_move_empty > 0 {
        let text = format!(
            "{} of them have no payload any more: this server moves them all the same, as empty entries",
            plan.would_move_empty
        );
        out.push(warning("moves-empty", text));
    }
    if !plan.restarting.is_empty() && !plan.moving.is_empty() {
        let counts = if plan.ask.justid { "" } else { ", their delivery counts go up by one" };
        let text = format!(
            "{} that {target} holds already would be claimed again: their idle times start at 0, too{counts}",
            entries(plan.restarting.len() as i64)
        );
        out.push(warning("restarts-own", text));
    }
    let released = plan.moving.iter().filter(|row| row.owner.is_none()).count();
    if released > 0 {
        out.push(warning(
            "released-entries",
            format!("{released} were released by XNACK: they move whatever the min-idle is"),
        ));
    }
    match (plan.target_exists, plan.ask.create) {
        (false, true) => out.push(warning(
            "creates-consumer",
            format!("{target} is not a consumer of this group: it would be created"),
        )),
        (false, false) => out.push(warning("target-unknown", format!("{target} is not a consumer of this group"))),
        (true, _) if !plan.target_active => {
            let idle = facts.consumers.iter().find(|one| one.name == *target).map_or(0, |one| one.idle_ms);
            out.push(warning("target-idle", format!("{target} itself was not seen for {}", age_words(idle))));
        }
        _ => {}
    }
    if let (Some(why), None) = (facts.no_autoclaim, &plan.ask.from) {
        out.push(note("no-autoclaim", format!("XCLAIM is used, since XAUTOCLAIM cannot be: {why}")));
    }
    if !plan.moving.is_empty() {
        let counts = if plan.ask.justid { "delivery counts stay" } else { "delivery counts go up by one" };
        let text = format!(
            "{target} gets them only when it reads its own history (XREADGROUP … 0) or claims; idle times start at 0, {counts}; an entry that its \
             former owner still works on may be processed twice"
        );
        out.push(note("read-own-history", text));
    }
    out
}

fn refusal(plan: &ClaimPlan, facts: &ClaimFacts) -> Option<String> {
    if let Some(refusal) = server_refusal(facts.server) {
        return Some(refusal);
    }
    if !plan.target_exists && !plan.ask.create {
        return Some(format!(
            "{} is not a consumer of this group; to create it on purpose, say so (--create)",
            plan.ask.target
        ));
    }
    // CVE-2022-31144 and CVE-2022-35951: more payload-gone entries than COUNT overflow the heap
    let numbers: Vec<u32> = facts.server.version.split('.').filter_map(|part| part.parse().ok()).collect();
    let crashes = facts.server.flavor == "redis" && matches!(numbers.as_slice(), [7, 0, patch, ..] if *patch < 5);
    if crashes && plan.way == Way::AutoClaim {
        return Some("XAUTOCLAIM can crash Redis 7.0.0 to 7.0.4 (CVE-2022-35951): update the server, or claim from one consumer (--from)".to_owned());
    }
    None
}

impl Planned for ClaimPlan {
    fn ask(&self) -> Ask {
        Ask::Claim(self.ask.clone())
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
        let idle = age_words(self.ask.min_idle_ms);
        let text = format!(" idle for {idle} or longer would move to {}", self.ask.target);
        let moving = self.would_move.of("entry", "entries");
        let mut lines = vec![PreviewLine::new(Weight::Number, moving).then(Weight::Plain, text)];
        if let Some((first, last)) = self.span() {
            lines.push(PreviewLine::new(Weight::Quiet, format!("  ids {first} to {last}")));
        }
        for holder in self.from.iter().take(HOLDERS) {
            let from = holder.consumer.as_ref().map_or("nobody (released)".to_owned(), Name::shown);
            let idle = holder.oldest_idle_ms.map(|ms| format!(", the oldest idle for {}", age_words(ms)));
            let text = format!("  {} from {from}{}", holder.entries, idle.unwrap_or_default());
            let line = PreviewLine::new(Weight::Plain, text);
            lines.push(if holder.active { line.then(Weight::Loud, "  ACTIVE NOW") } else { line });
        }
        if self.from.len() > HOLDERS {
            let text = format!("  and from {} more consumers", self.from.len() - HOLDERS);
            lines.push(PreviewLine::new(Weight::Quiet, text));
        }
        lines
    }

    fn rows(&self) -> &[PendingRow] {
        &self.moving
    }

    fn before(&self) -> Value {
        json!({
            "would_move": self.would_move.value, "would_remove": self.would_remove.value,
            "first_id": self.span().map(|(first, _)| first.to_string()),
            "last_id": self.span().map(|(_, last)| last.to_string()),
        })
    }

    fn json(&self) -> Map<String, Value> {
        let holder = |holder: &Holder| {
            json!({
                "consumer": holder.consumer.as_ref().map(json::name),
                "entries": holder.entries,
                "active": holder.active,
                "oldest_idle_ms": holder.oldest_idle_ms,
            })
        };
        object(json!({
            "target": json::name(&self.ask.target),
            "target_exists": self.target_exists,
            "target_active": self.target_active,
            "min_idle_ms": self.ask.min_idle_ms,
            "justid": self.ask.justid,
            "would_move": self.would_move.json(),
            "would_move_empty": self.would_move_empty,
            "would_remove": self.would_remove.json(),
            "from": self.from.iter().map(holder).collect::<Vec<_>>(),
            "first_id": self.span().map(|(first, _)| first.to_string()),
            "last_id": self.span().map(|(_, last)| last.to_string()),
        }))
    }

    fn outcome_json(&self, done: &Done) -> Map<String, Value> {
        object(json!({
            "claimed": done.claimed, "removed": done.removed, "scan_complete": done.scan_complete,
            "cursor": done.scan_cursor.map(|id| id.to_string()), "undo": [], "undo_complete": true,
        }))
    }

    fn own_action(&self, done: &Done) -> OwnAction {
        let moves = done.moved.iter().map(|row| (row.id, self.ask.target.clone())).collect();
        OwnAction { moves, follow: true, cursor: false }
    }

    fn way_back(&self, done: &Done, passed_ms: i64) -> Option<Ask> {
        (!done.moved.is_empty()).then(|| Ask::GiveBack(self.ask.give_back(done.moved.clone(), passed_ms)))
    }
}

impl From<ClaimPlan> for Plan {
    fn from(plan: ClaimPlan) -> Self {
        Self::Claim(plan)
    }
}
