//! Reads what a plan needs, and makes it. Nothing here writes: a plan can be had by a user who may only read.

mod reads;

use super::{Link, LinkFault};
use crate::core::{
    action::{
        Ask, Facts, Plan, at_least,
        claim::{self, ClaimAsk, ClaimFacts, ClaimPlan},
        delete_consumer, delete_group,
        give_back::{self, GiveBackAsk, GiveBackPlan},
        marked::{self, MarkedAsk, MarkedPlan},
        seek::{self, Guard, Place, SeekAsk, SeekFacts, SeekPlan},
    },
    id::EntryId,
    sample::PageRequest,
};
use std::collections::HashMap;

/// Why there is no plan.
#[derive(Debug, thiserror::Error)]
pub enum NoPlan {
    /// The connection is lost.
    #[error(transparent)]
    Lost(#[from] LinkFault),
    /// There is nothing to plan on: the stream or the group is missing, a read is refused, or the target cannot be found.
    #[error("{0}")]
    Impossible(String),
}

/// Rows of one XPENDING: about half a millisecond.
const PAGE: usize = 1000;
/// A preview looks at this many pending rows at most; with more it says "at least".
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

    /// The plan of any action.
    ///
    /// # Errors
    /// When there is nothing to plan on, or the server is lost.
    pub async fn plan(&mut self, ask: Ask) -> Result<Plan, NoPlan> {
        let mut plan: Plan = match ask {
            Ask::Claim(ask) => self.claim(ask).await?.into(),
            Ask::Seek(ask) => self.seek(ask).await?.into(),
            Ask::Marked(ask) => self.marked(ask).await?.into(),
            Ask::GiveBack(ask) => self.give_back(ask).await?.into(),
            Ask::DeleteConsumer(ask) => {
                let facts = self.facts_and_readers(&ask.key, &ask.group).await?;
                delete_consumer::plan(ask, &facts).into()
            }
            Ask::DeleteGroup(ask) => {
                let facts = self.facts_and_readers(&ask.key, &ask.group).await?;
                delete_group::plan(ask, &facts).into()
            }
        };
        let first = plan.detail().commands().into_iter().next();
        if let (None, Some(command)) = (plan.refused(), first)
            && let Some(why) = self.forbidden(&command).await?
        {
            plan.detail_mut().refuse(why);
        }
        Ok(plan)
    }

    async fn give_back(&mut self, ask: GiveBackAsk) -> Result<GiveBackPlan, NoPlan> {
        let (key, group) = (ask.key.clone(), ask.group.clone());
        let facts = self.facts(&key, &group).await?;
        let ids: Vec<EntryId> = ask.moved.iter().map(|row| row.id).collect();
        let rows = self.rows(&key, &group, &ids).await?;
        Ok(give_back::plan(ask, &facts.server, &facts.consumers, &rows, self.active_ms))
    }

    async fn claim(&mut self, ask: ClaimAsk) -> Result<ClaimPlan, NoPlan> {
        let facts = self.facts(&ask.key, &ask.group).await?;
        let no_autoclaim = if at_least(&facts.server, (6, 2)) && ask.from.is_none() {
            self.forbidden(&claim::autoclaim(&ask)).await?
        } else {
            None
        };
        let (mut rows, mut fates) = (Vec::new(), HashMap::new());
        let (mut from, mut complete, mut lookups) = (Some(EntryId::MIN), facts.pending == 0, self.most(MOST_LOOKUPS));
        let mut enough = 0;
        while let (Some(start), false) = (from, complete || rows.len() >= MOST_ROWS) {
            let page = PageRequest { from: start, to: EntryId::MAX, count: PAGE, consumer: None };
            let found = self.page(&ask.key, &ask.group, &page).await?;
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
        let facts = ClaimFacts {
            server: &facts.server,
            consumers: &facts.consumers,
            rows: &rows,
            complete,
            fate: &|id| fates.get(&id).copied(),
            active_ms: self.active_ms,
            no_autoclaim: no_autoclaim.as_deref(),
        };
        Ok(claim::plan(ask, &facts))
    }

    /// The id that a place stands for.
    async fn resolve(&mut self, ask: &SeekAsk, facts: &Facts) -> Result<EntryId, NoPlan> {
        let cursor = facts.group.cursor;
        // to the last id of the millisecond before: the entries of that time are given again
        let until = |ms: i64| match u64::try_from(ms) {
            Ok(0) | Err(_) => EntryId::MIN,
            Ok(ms) => EntryId::new(ms - 1, u64::MAX),
        };
        Ok(match ask.place {
            Place::Id(id) => id,
            Place::End => facts.stream.last_generated,
            Place::Ago(_) | Place::Time(_) => {
                let impossible = |why: &str| NoPlan::Impossible(why.to_owned());
                let Some(now_ms) = facts.now_ms else {
                    return Err(impossible(
                        "the server does not tell its clock (TIME is forbidden), so times cannot be judged: give an id",
                    ));
                };
                let year_ahead = now_ms.saturating_add(366 * 86_400_000);
                if facts.stream.last.is_some_and(|last| last.plausible_ms(year_ahead).is_none()) {
                    return Err(impossible("the ids of this stream are not times: give an id"));
                }
                until(match ask.place {
                    Place::Ago(ms) => now_ms.saturating_sub(ms),
                    Place::Time(ms) => ms,
                    _ => now_ms,
                })
            }
            Place::Forward(0) | Place::Back(0) => cursor,
            Place::Forward(n) | Place::Back(n) if n > self.most(MOST_BETWEEN) => {
                let most = self.most(MOST_BETWEEN);
                return Err(NoPlan::Impossible(format!(
                    "more than {most} entries of this size are not counted off: give an id"
                )));
            }
            Place::Forward(n) => match cursor.next() {
                Some(from) => self.nth(&ask.key, from, n, false).await?.0.unwrap_or(cursor),
                None => cursor,
            },
            // one more than the entries to give again: the cursor goes onto that one, or before everything
            Place::Back(n) => {
                let (last, all) = self.nth(&ask.key, cursor, n + 1, true).await?;
                last.filter(|_| all).unwrap_or(EntryId::MIN)
            }
        })
    }

    async fn seek(&mut self, ask: SeekAsk) -> Result<SeekPlan, NoPlan> {
        let facts = self.facts(&ask.key, &ask.group).await?;
        let target = self.resolve(&ask, &facts).await?;
        let cursor = facts.group.cursor;
        let (low, high) = (cursor.min(target), cursor.max(target));
        let (between, between_complete) =
            if low == high { (Vec::new(), true) } else { self.ids(&ask.key, low, high).await? };
        let mut pending = Vec::new();
        let mut from = low.next().filter(|_| low < high && facts.pending > 0);
        let mut pending_complete = true;
        while let Some(start) = from {
            let page = PageRequest { from: start, to: high, count: PAGE, consumer: None };
            let found = self.page(&ask.key, &ask.group, &page).await?;
            from = found.last().filter(|_| found.len() == PAGE).and_then(|row| row.id.next());
            pending.extend(found);
            if pending.len() >= MOST_BETWEEN {
                pending_complete = from.is_none();
                break;
            }
        }
        let guard = if self.may_eval().await? { Guard::Eval } else { Guard::Reread };
        let facts = SeekFacts {
            server: &facts.server,
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
        Ok(seek::plan(ask, &facts))
    }

    async fn marked(&mut self, ask: MarkedAsk) -> Result<MarkedPlan, NoPlan> {
        let facts = self.facts(&ask.key, &ask.group).await?;
        let rows = self.rows(&ask.key, &ask.group, &ask.ids).await?;
        let pending: Vec<EntryId> = rows.iter().map(|row| row.id).collect();
        let fates = self.fates(&ask.key, &facts.stream, &pending, &mut MOST_LOOKUPS.clone()).await?;
        let gone = |id| fates.get(&id) == Some(&false);
        let may_eval = self.may_eval().await?;
        Ok(marked::plan(ask, &facts.server, &facts.consumers, rows, &gone, self.active_ms, may_eval))
    }
}
