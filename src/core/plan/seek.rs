//! Moving a group's cursor: which entries come again, or are never given to it.

use super::{Counted, Warning, server_refusal, warning};
use crate::core::{
    command::Argv,
    id::EntryId,
    model::{ConsumerFacts, GroupFacts, PendingRow, ServerFacts, StreamFacts},
    name::Name,
    time::age_words,
};

/// Where to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// An id.
    Id(EntryId),
    /// `$`: after the last id ever given out.
    End,
    /// So many entries on.
    Forward(usize),
    /// So many entries back.
    Back(usize),
    /// Before the entries of so many milliseconds ago.
    Ago(i64),
    /// Before the entries of this time, milliseconds since 1970.
    Time(i64),
}

impl Place {
    /// Reads `$`, `0`, an id, `+3`, `-3`, `10m-ago` or `10m ago`, or an RFC 3339 time.
    ///
    /// # Errors
    /// A sentence that says what is understood.
    pub fn parse(text: &str) -> Result<Self, String> {
        let text = text.trim();
        let count = |digits: &str| digits.parse::<usize>().ok().filter(|_| digits.bytes().all(|b| b.is_ascii_digit()));
        if text == "$" {
            return Ok(Self::End);
        }
        if let Some(n) = text.strip_prefix('+').and_then(count) {
            return Ok(Self::Forward(n));
        }
        if let Some(n) = text.strip_prefix('-').and_then(count) {
            return Ok(Self::Back(n));
        }
        if let Some(id) = EntryId::parse(text.as_bytes()) {
            return Ok(Self::Id(id));
        }
        if let Some(ms) = text.strip_suffix("-ago").or_else(|| text.strip_suffix(" ago")).and_then(duration_ms) {
            return Ok(Self::Ago(ms));
        }
        if let Some(ms) = rfc3339_ms(text) {
            return Ok(Self::Time(ms));
        }
        Err("give an id, $, 0, +N or -N entries, a time such as 10m-ago, or 2026-11-30T12:00:00Z".to_owned())
    }
}

/// `90s`, `10m`, `2h30m`, `1d` in milliseconds.
fn duration_ms(text: &str) -> Option<i64> {
    let mut total: i64 = 0;
    let mut rest = text.trim();
    if rest.is_empty() {
        return None;
    }
    while !rest.is_empty() {
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let number: i64 = rest.get(..digits)?.parse().ok()?;
        rest = &rest[digits..];
        let unit = rest.bytes().take_while(u8::is_ascii_alphabetic).count();
        let factor = match &rest[..unit] {
            "ms" => 1,
            "s" | "sec" => 1000,
            "m" | "min" => 60_000,
            "h" => 3_600_000,
            "d" => 86_400_000,
            _ => return None,
        };
        total = total.checked_add(number.checked_mul(factor)?)?;
        rest = rest[unit..].trim_start();
    }
    Some(total)
}

/// `2026-11-30T12:00:00[.123](Z|+01:00)` in milliseconds since 1970.
fn rfc3339_ms(text: &str) -> Option<i64> {
    let number = |range: std::ops::Range<usize>| -> Option<i64> {
        let part = text.get(range)?;
        part.bytes().all(|b| b.is_ascii_digit()).then(|| part.parse().ok())?
    };
    let bytes = text.as_bytes();
    let marks = [(4, b'-'), (7, b'-'), (13, b':'), (16, b':')];
    if bytes.len() < 20
        || marks.iter().any(|(at, mark)| bytes[*at] != *mark)
        || !matches!(bytes[10], b'T' | b't' | b' ')
    {
        return None;
    }
    let (year, month, day) = (number(0..4)?, number(5..7)?, number(8..10)?);
    let (hour, minute, second) = (number(11..13)?, number(14..16)?, number(17..19)?);
    if !(1..=12).contains(&month) || !(1..=31).contains(&day) || hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    let mut rest = text.get(19..)?;
    let mut ms = 0;
    if let Some(fraction) = rest.strip_prefix('.') {
        let digits = fraction.bytes().take_while(u8::is_ascii_digit).count();
        let padded: String = fraction.get(..digits.min(3))?.chars().chain("000".chars()).take(3).collect();
        ms = padded.parse().ok().filter(|_| digits > 0)?;
        rest = fraction.get(digits..)?;
    }
    let offset_minutes = match rest {
        "Z" | "z" => 0,
        _ => {
            let sign = if rest.starts_with('-') { -1 } else { 1 };
            let (hours, minutes) = rest.strip_prefix(['+', '-'])?.split_once(':')?;
            sign * (hours.parse::<i64>().ok()? * 60 + minutes.parse::<i64>().ok()?)
        }
    };
    // days from civil, years beginning in March so that leap days fall at their end
    let y = if month <= 2 { year - 1 } else { year };
    let era = y.div_euclid(400);
    let year_of_era = y.rem_euclid(400);
    let day_of_year = (153 * (month + if month > 2 { -3 } else { 9 }) + 2) / 5 + day - 1;
    let days = era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468;
    Some(((days * 24 + hour) * 60 + minute - offset_minutes) * 60_000 + second * 1000 + ms)
}

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
    /// What to know.
    pub warnings: Vec<Warning>,
    /// Why it may not be done.
    pub refused: Option<String>,
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

/// A plan that cannot be: the stream or the group is not there, or the target cannot be found.
pub fn impossible(ask: SeekAsk, why: String) -> SeekPlan {
    let (command, undo) = (setid(&ask, EntryId::MIN), setid(&ask, EntryId::MIN));
    SeekPlan {
        ask,
        cursor: EntryId::MIN,
        target: EntryId::MIN,
        direction: Direction::None,
        skipped: Counted::exact(0),
        skipped_span: None,
        redelivered: Counted::exact(0),
        redelivered_pending: 0,
        pending_untouched: 0,
        acked_sure: false,
        warnings: Vec::new(),
        refused: Some(why),
        command,
        undo,
        guard: Guard::Eval,
        end: EntryId::MIN,
        accept_up_to: None,
    }
}

impl SeekPlan {
    /// The way back to a cursor: that of the preview, or where the guard found it while it was moving.
    pub fn way_back(&self, cursor: EntryId) -> Argv {
        setid(&self.ask, cursor)
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
        self.warnings.retain(|warning| warning.id != "cursor-moving");
        if let Some(bound) = self.accept_up_to {
            let low = self.cursor.min(self.target);
            self.warnings.push(warning(
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
        skipped,
        skipped_span,
        redelivered,
        redelivered_pending,
        pending_untouched: facts.pending - redelivered_pending,
        acked_sure: facts.group.entries_read.value().is_some(),
        warnings: Vec::new(),
        refused: None,
        command: setid(&ask, target),
        undo: setid(&ask, cursor),
        guard: facts.guard,
        end: facts.stream.last_generated,
        accept_up_to: None,
        ask,
    };
    plan.warnings = warnings(&plan, facts);
    plan.refused = refusal(&plan, facts);
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
        let text =
            format!("{ahead} entries between are pending already, ahead of the cursor: they stay with their consumers");
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
        out.push(warning("readers-blocked", text));
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_read_as_people_write_them() {
        let table = [
            ("$", Ok(Place::End)),
            ("0", Ok(Place::Id(EntryId::MIN))),
            ("5-3", Ok(Place::Id(EntryId::new(5, 3)))),
            ("+2", Ok(Place::Forward(2))),
            ("-2", Ok(Place::Back(2))),
            ("10m-ago", Ok(Place::Ago(600_000))),
            ("1h30m ago", Ok(Place::Ago(5_400_000))),
            ("1970-01-01T00:00:01Z", Ok(Place::Time(1000))),
            ("2026-11-30T12:00:00.5+01:00", Ok(Place::Time(1_796_036_400_500))),
            ("2000-02-29T00:00:00Z", Ok(Place::Time(951_782_400_000))),
        ];
        for (text, place) in table {
            assert_eq!(Place::parse(text), place, "{text}");
        }
        for bad in ["", "ago", "-", "+", "5-", "10x-ago", "2026-13-01T00:00:00Z", "tomorrow", "-ago"] {
            assert!(Place::parse(bad).is_err(), "{bad}");
        }
    }
}
