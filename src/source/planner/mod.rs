//! Reads what a plan needs, and makes it. Nothing here writes: a plan can be had by a user who may only read.

mod reads;

use super::{Link, LinkFault};
use crate::core::{
    id::EntryId,
    name::Name,
    plan::{
        Ask, Plan,
        claim::{self, ClaimAsk, ClaimFacts, ClaimPlan},
        consumer::{self, DeletePlan},
        entries::{self, EntriesAsk, EntriesPlan},
        seek::{self, Guard, Place, SeekAsk, SeekFacts, SeekPlan},
        undo::{self, UndoAsk, UndoPlan},
    },
    sample::PageRequest,
};
use reads::Facts;
use std::collections::HashMap;

/// Rows of one XPENDING: about half a millisecond.
const PAGE: usize = 1000;
/// A preview looks at so many pending rows at most, and says "at least" beyond.
const MOST_ROWS: usize = 1_000_000;
/// Entries looked up one by one to see whether they are still there.
const MOST_LOOKUPS: usize = 20_000;
/// Entries counted between cursor and target, at most.
const MOST_BETWEEN: usize = 100_000;
/// A connection used for plans.
#[derive(Debug)]
pub struct Planner<'a> {
    link: &'a mut Link,
    /// A consumer seen within this many milliseconds counts as active.
    active_ms: i64,
    /// What an entry of the stream weighs, guessed from the first and the last, in bytes.
    entry_bytes: u64,
}

impl<'a> Planner<'a> {
    /// A planner on this connection.
    pub fn new(link: &'a mut Link, active_ms: i64) -> Self {
        Self { link, active_ms, entry_bytes: 100 }
    }

    /// The plan of anything.
    ///
    /// # Errors
    /// When the server is lost.
    pub async fn plan(&mut self, ask: Ask) -> Result<Plan, LinkFault> {
        Ok(match ask {
            Ask::Claim(ask) => Plan::Claim(self.claim(ask).await?),
            Ask::Seek(ask) => Plan::Seek(self.seek(ask).await?),
            Ask::Entries(ask) => Plan::Entries(self.entries(ask).await?),
            Ask::Consumer { key, group, consumer } => Plan::Consumer(self.delete_consumer(key, group, consumer).await?),
            Ask::Undo(ask) => Plan::Undo(self.undo(ask).await?),
        })
    }

    /// The plan of a way back.
    ///
    /// # Errors
    /// When the server is lost.
    pub async fn undo(&mut self, ask: UndoAsk) -> Result<UndoPlan, LinkFault> {
        let (key, group) = (ask.claim.key.clone(), ask.claim.group.clone());
        let facts = self.facts(&key, &group).await?;
        let ids: Vec<EntryId> = ask.moved.iter().map(|row| row.id).collect();
        let (consumers, rows, absent) = match facts {
            Ok(facts) => match self.rows(&key, &group, &ids).await? {
                Ok(rows) => (facts.consumers, rows, None),
                Err(why) => (facts.consumers, Vec::new(), Some(why)),
            },
            Err(absent) => (Vec::new(), Vec::new(), Some(absent)),
        };
        let mut plan = undo::plan(ask, self.link.server(), &consumers, &rows, self.active_ms);
        if absent.is_some() {
            plan.refused = absent;
        }
        Ok(plan)
    }

    /// A claim that cannot be, and why.
    fn no_claim(&self, ask: ClaimAsk, why: String) -> ClaimPlan {
        let nothing = ClaimFacts {
            server: self.link.server(),
            consumers: &[],
            rows: &[],
            complete: false,
            fate: &|_| None,
            active_ms: self.active_ms,
            absent: Some(why),
        };
        claim::plan(ask, &nothing)
    }

    /// The plan of a claim.
    ///
    /// # Errors
    /// When the server is lost.
    pub async fn claim(&mut self, ask: ClaimAsk) -> Result<ClaimPlan, LinkFault> {
        let facts = match self.facts(&ask.key, &ask.group).await? {
            Ok(facts) => facts,
            Err(absent) => return Ok(self.no_claim(ask, absent)),
        };
        let (mut rows, mut fates) = (Vec::new(), HashMap::new());
        let (mut from, mut complete, mut lookups) = (Some(EntryId::MIN), facts.pending == 0, self.most(MOST_LOOKUPS));
        let mut enough = 0;
        while let (Some(start), false) = (from, complete || rows.len() >= MOST_ROWS) {
            let page = PageRequest { from: start, to: EntryId::MAX, count: PAGE, consumer: None };
            let found = match self.page(&ask.key, &ask.group, &page).await? {
                Ok(found) => found,
                Err(why) => return Ok(self.no_claim(ask, why)),
            };
            complete = found.len() < PAGE;
            from = found.last().and_then(|row| row.id.next());
            let ids: Vec<EntryId> = found.iter().map(|row| row.id).collect();
            fates.extend(self.fates(&ask.key, &facts.stream, &ids, &mut lookups).await?);
            enough += found
                .iter()
                .filter(|row| {
                    row.idle_ms.is_none_or(|idle| idle >= ask.min_idle_ms) && row.owner.as_ref() != Some(&ask.target)
                })
                .filter(|row| fates.get(&row.id) != Some(&false) && (ask.from.is_none() || row.owner == ask.from))
                .count();
            rows.extend(found);
            if ask.limit.is_some_and(|limit| enough >= limit) {
                break;
            }
        }
        let mut plan = {
            let facts = ClaimFacts {
                server: self.link.server(),
                consumers: &facts.consumers,
                rows: &rows,
                complete,
                fate: &|id| fates.get(&id).copied(),
                active_ms: self.active_ms,
                absent: None,
            };
            claim::plan(ask, &facts)
        };
        if let (None, Some(command)) = (&plan.refused, plan.commands.first()) {
            plan.refused = self.forbidden(&command.clone()).await?;
        }
        Ok(plan)
    }

    /// The id that a place stands for.
    async fn resolve(&mut self, ask: &SeekAsk, facts: &Facts) -> Result<Result<EntryId, String>, LinkFault> {
        let cursor = facts.group.cursor;
        // to the last id of the millisecond before: the entries of that time are given again
        let until = |ms: i64| match u64::try_from(ms) {
            Ok(0) | Err(_) => EntryId::MIN,
            Ok(ms) => EntryId::new(ms - 1, u64::MAX),
        };
        if let Place::Ago(_) | Place::Time(_) = ask.place {
            let Some(now_ms) = facts.now_ms else {
                return Ok(Err(
                    "the server does not tell its clock (TIME is forbidden), so times cannot be judged: give an id"
                        .to_owned(),
                ));
            };
            let year_ahead = now_ms.saturating_add(366 * 86_400_000);
            if facts.stream.last.is_some_and(|last| last.plausible_ms(year_ahead).is_none()) {
                return Ok(Err("the ids of this stream are no times: give an id".to_owned()));
            }
            return Ok(Ok(until(match ask.place {
                Place::Ago(ms) => now_ms.saturating_sub(ms),
                Place::Time(ms) => ms,
                _ => now_ms,
            })));
        }
        Ok(match ask.place {
            Place::Id(id) => Ok(id),
            Place::End => Ok(facts.stream.last_generated),
            Place::Ago(_) | Place::Time(_) | Place::Forward(0) | Place::Back(0) => Ok(cursor),
            Place::Forward(n) | Place::Back(n) if n > self.most(MOST_BETWEEN) => Err(format!(
                "more than {} entries of this size are not counted off: give an id",
                self.most(MOST_BETWEEN)
            )),
            Place::Forward(n) => {
                let Some(from) = cursor.next() else { return Ok(Ok(cursor)) };
                self.nth(&ask.key, from, n, false).await?.map(|(last, _)| last.unwrap_or(cursor))
            }
            // one more than is to come again: the cursor goes onto that one, or before everything
            Place::Back(n) => {
                let found = self.nth(&ask.key, cursor, n + 1, true).await?;
                found.map(|(last, all)| last.filter(|_| all).unwrap_or(EntryId::MIN))
            }
        })
    }

    /// The plan of a move of the cursor.
    ///
    /// # Errors
    /// When the server is lost.
    pub async fn seek(&mut self, ask: SeekAsk) -> Result<SeekPlan, LinkFault> {
        let facts = match self.facts(&ask.key, &ask.group).await? {
            Ok(facts) => facts,
            Err(absent) => return Ok(seek::impossible(ask, absent)),
        };
        let target = match self.resolve(&ask, &facts).await? {
            Ok(target) => target,
            Err(why) => return Ok(seek::impossible(ask, why)),
        };
        let cursor = facts.group.cursor;
        let (low, high) = (cursor.min(target), cursor.max(target));
        let between = if low == high { Ok((Vec::new(), true)) } else { self.ids(&ask.key, low, high).await? };
        let (between, between_complete) = match between {
            Ok(between) => between,
            Err(why) => return Ok(seek::impossible(ask, why)),
        };
        let mut pending = Vec::new();
        let mut from = low.next().filter(|_| low < high && facts.pending > 0);
        let mut pending_complete = true;
        while let Some(start) = from {
            let page = PageRequest { from: start, to: high, count: PAGE, consumer: None };
            let found = match self.page(&ask.key, &ask.group, &page).await? {
                Ok(found) => found,
                Err(why) => return Ok(seek::impossible(ask, why)),
            };
            from = found.last().filter(|_| found.len() == PAGE).and_then(|row| row.id.next());
            pending.extend(found);
            if pending.len() >= MOST_BETWEEN {
                pending_complete = from.is_none();
                break;
            }
        }
        let guard = if self.may_eval().await? { Guard::Eval } else { Guard::Reread };
        let facts = SeekFacts {
            server: self.link.server(),
            stream: &facts.stream,
            group: &facts.group,
            pending: facts.pending,
            consumers: &facts.consumers,
            target,
            between: &between,
            between_complete,
            pending_between: &pending,
            pending_complete,
            active_ms: self.active_ms,
            guard,
            now_ms: facts.now_ms,
        };
        let mut plan = seek::plan(ask, &facts);
        if plan.refused.is_none() {
            plan.refused = self.forbidden(&plan.command.clone()).await?;
        }
        Ok(plan)
    }

    /// The plan for marked entries.
    ///
    /// # Errors
    /// When the server is lost.
    pub async fn entries(&mut self, ask: EntriesAsk) -> Result<EntriesPlan, LinkFault> {
        let facts = match self.facts(&ask.key, &ask.group).await? {
            Ok(facts) => facts,
            Err(absent) => return Ok(self.no_entries(ask, absent)),
        };
        let rows = match self.rows(&ask.key, &ask.group, &ask.ids.clone()).await? {
            Ok(rows) => rows,
            Err(why) => return Ok(self.no_entries(ask, why)),
        };
        let pending: Vec<EntryId> = rows.iter().map(|row| row.id).collect();
        let fates = self.fates(&ask.key, &facts.stream, &pending, &mut MOST_LOOKUPS.clone()).await?;
        let gone = |id| fates.get(&id) == Some(&false);
        let mut plan = entries::plan(ask, self.link.server(), &facts.consumers, rows, &gone, self.active_ms);
        if let (None, Some(command)) = (&plan.refused, plan.commands.first()) {
            plan.refused = self.forbidden(&command.clone()).await?;
        }
        Ok(plan)
    }

    fn no_entries(&self, ask: EntriesAsk, why: String) -> EntriesPlan {
        let mut plan = entries::plan(ask, self.link.server(), &[], Vec::new(), &|_| false, self.active_ms);
        plan.refused = Some(why);
        plan
    }

    /// The plan for deleting a consumer.
    ///
    /// # Errors
    /// When the server is lost.
    pub async fn delete_consumer(&mut self, key: Name, group: Name, name: Name) -> Result<DeletePlan, LinkFault> {
        let (consumers, absent) = match self.facts(&key, &group).await? {
            Ok(facts) => (facts.consumers, None),
            Err(absent) => (Vec::new(), Some(absent)),
        };
        let mut plan = consumer::plan(key, group, name, self.link.server(), &consumers, self.active_ms);
        if absent.is_some() {
            plan.refused = absent;
        }
        Ok(plan)
    }
}
