//! Marked entries: handed to a consumer (XCLAIM), or acknowledged although nobody handled them (XACK).

use super::{Warning, at_least, claim::ClaimAsk, server_refusal, warning};
use crate::core::{
    command::Argv,
    id::EntryId,
    model::{ConsumerFacts, PendingRow, ServerFacts},
    name::Name,
};

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
            Self::MoveTo(_) => "claim-entries",
            Self::Acknowledge => "acknowledge",
        }
    }
}

/// What is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntriesAsk {
    /// The stream.
    pub key: Name,
    /// The group.
    pub group: Name,
    /// Which entries.
    pub ids: Vec<EntryId>,
    /// What with them.
    pub what: What,
}

impl EntriesAsk {
    /// Handing over as the claim that it is, for its way back; `None` for an acknowledgement, which has none.
    pub fn as_claim(&self) -> Option<ClaimAsk> {
        let What::MoveTo(target) = &self.what else { return None };
        Some(ClaimAsk {
            key: self.key.clone(),
            group: self.group.clone(),
            target: target.clone(),
            create: false,
            min_idle_ms: 0,
            from: None,
            limit: None,
            justid: true,
        })
    }
}

/// The plan.
#[derive(Clone, Debug, PartialEq)]
pub struct EntriesPlan {
    /// What was asked for.
    pub ask: EntriesAsk,
    /// The marked entries that are pending now, as they are.
    pub rows: Vec<PendingRow>,
    /// Marked entries that are no longer pending.
    pub vanished: Vec<EntryId>,
    /// Marked entries that are pending without payload, where this server would drop them instead of moving them (7.0+).
    pub left: Vec<EntryId>,
    /// What to know.
    pub warnings: Vec<Warning>,
    /// Why it may not be done.
    pub refused: Option<String>,
    /// The commands.
    pub commands: Vec<Argv>,
}

/// Makes the plan from the rows that are pending now.
pub fn plan(
    ask: EntriesAsk,
    server: &ServerFacts,
    consumers: &[ConsumerFacts],
    mut rows: Vec<PendingRow>,
    gone: &dyn Fn(EntryId) -> bool,
    active_ms: i64,
) -> EntriesPlan {
    let vanished: Vec<EntryId> = ask.ids.iter().copied().filter(|id| !rows.iter().any(|row| row.id == *id)).collect();
    let mut warnings = Vec::new();
    let mut left = Vec::new();
    if matches!(ask.what, What::MoveTo(_)) && at_least(server, (7, 0)) {
        left = rows.extract_if(.., |row| gone(row.id)).map(|row| row.id).collect();
    }
    if !left.is_empty() {
        let text = format!(
            "{} have no payload any more: XCLAIM would drop them, so they are left out; they can be acknowledged",
            left.len()
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
    let mut plan = EntriesPlan { ask, rows, vanished, left, warnings, refused, commands: Vec::new() };
    plan.commands = plan.rows.chunks(super::claim::BATCH).map(|rows| command(&plan.ask, rows)).collect();
    plan
}

/// The idle time goes along, so that an entry that somebody takes meanwhile is left alone: its idle time starts anew.
fn command(ask: &EntriesAsk, rows: &[PendingRow]) -> Argv {
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
