//! Reads what a plan needs, and makes it. Nothing here writes: a plan can be had by a user who may only read.

use super::{Link, LinkFault, Source, commands, decode};
use crate::core::{
    id::EntryId,
    model::{ConsumerFacts, GroupFacts, PendingRow, StreamFacts},
    name::Name,
    plan::{
        claim::{self, ClaimAsk, ClaimFacts, ClaimPlan},
        consumer::{self, DeletePlan},
        entries::{self, EntriesAsk, EntriesPlan},
        seek::{self, Guard, Place, SeekAsk, SeekFacts, SeekPlan},
        undo::{self, UndoAsk, UndoPlan},
        Ask, Plan, at_least,
    },
    sample::{Fault, GroupRequest, PageRequest, RangeRequest, Request, StreamRequest},
};
use redis::Value;
use std::collections::HashMap;

/// Rows of one XPENDING: about half a millisecond.
const PAGE: usize = 1000;
/// A preview looks at so many pending rows at most, and says "at least" beyond.
const MOST_ROWS: usize = 1_000_000;
/// Entries looked up one by one to see whether they are still there.
const MOST_LOOKUPS: usize = 20_000;
/// Entries counted between cursor and target, at most.
const MOST_BETWEEN: usize = 100_000;
/// Entries fetched by one XRANGE of a preview, at most.
const RANGE: usize = 500;
/// Payloads come along, so a reply stays below about this, in bytes.
const REPLY_BYTES: u64 = 1 << 20;
/// And a whole preview below about this.
const PREVIEW_BYTES: u64 = 256 << 20;

/// A connection used for plans.
#[derive(Debug)]
pub struct Planner<'a> {
    link: &'a mut Link,
    /// A consumer seen within this many milliseconds counts as active.
    active_ms: i64,
    /// What an entry of the stream weighs, guessed from the first and the last, in bytes.
    entry_bytes: u64,
}

/// Stream, group and consumers at one moment.
struct Facts {
    stream: StreamFacts,
    group: GroupFacts,
    consumers: Vec<ConsumerFacts>,
    /// The server's clock; `None` where TIME is forbidden.
    now_ms: Option<i64>,
}

impl<'a> Planner<'a> {
    /// A planner on this connection.
    pub fn new(link: &'a mut Link, active_ms: i64) -> Self {
        Self { link, active_ms, entry_bytes: 100 }
    }

    /// Entries of one reply.
    fn step(&self) -> usize {
        (REPLY_BYTES / self.entry_bytes).clamp(1, RANGE as u64) as usize
    }

    /// Entries that a preview may fetch, below a bound.
    fn most(&self, bound: usize) -> usize {
        (PREVIEW_BYTES / self.entry_bytes).clamp(1, bound as u64) as usize
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

    /// What the server's ACL says of a command before it is sent (7.0+, where we may ask); `None` when it allows it or will not tell.
    async fn forbidden(&mut self, command: &[Name]) -> Result<Option<String>, LinkFault> {
        if !at_least(self.link.server(), (7, 0)) {
            return Ok(None);
        }
        let (who, _) = self.link.send(&[commands::plain("ACL WHOAMI")]).await?;
        let Some(user) = who.first().and_then(decode::text) else { return Ok(None) };
        let mut dry = redis::Cmd::new();
        dry.arg("ACL").arg("DRYRUN").arg(user);
        for word in command {
            dry.arg(word.bytes());
        }
        let (replies, _) = self.link.send(&[dry]).await?;
        Ok(replies.first().and_then(decode::text).filter(|answer| answer != "OK").map(|answer| crate::core::name::visible(answer.as_bytes())))
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

    /// The pending rows of these ids, as they are now.
    async fn rows(&mut self, key: &Name, group: &Name, ids: &[EntryId]) -> Result<Result<Vec<PendingRow>, String>, LinkFault> {
        let mut rows = Vec::new();
        for chunk in ids.chunks(500) {
            let one = |id: &EntryId| PageRequest { from: *id, to: *id, count: 1, consumer: None };
            let asks: Vec<_> = chunk.iter().map(|id| commands::xpending_page(key, group, &one(id))).collect();
            let (replies, _) = self.link.send(&asks).await?;
            for reply in &replies {
                match decode::pending(reply) {
                    Ok(found) => rows.extend(found),
                    Err(fault) => return Ok(Err(said(key, group, fault))),
                }
            }
        }
        Ok(Ok(rows))
    }

    /// The facts, or a sentence why there is nothing to act on.
    async fn facts(&mut self, key: &Name, group: &Name) -> Result<Result<Facts, String>, LinkFault> {
        let details = GroupRequest { name: group.clone(), consumers: true, summary: false, pages: Vec::new() };
        let stream = StreamRequest { key: key.clone(), facts: true, groups: vec![details], ranges: Vec::new() };
        let sample = self.link.sample(&Request { streams: vec![stream], scan: None, clients: false, server: true }).await?;
        let Some(one) = sample.streams.into_iter().next() else { return Ok(Err("the server did not answer".to_owned())) };
        let words = |fault| said(key, group, fault);
        let (stream, groups) = match (one.facts, one.groups) {
            (Ok(stream), Ok(groups)) => (stream, groups),
            (Err(fault), _) | (_, Err(fault)) => return Ok(Err(words(fault))),
        };
        self.entry_bytes = (stream.reply_bytes / 2).max(100);
        let Some(found) = groups.into_iter().find(|one| one.name == *group) else {
            return Ok(Err(format!("{key} has no group {group}")));
        };
        let consumers = one.details.into_iter().next().and_then(|detail| detail.consumers);
        let consumers = match consumers {
            Some(Ok(consumers)) => consumers,
            Some(Err(fault)) => return Ok(Err(words(fault))),
            None => Vec::new(),
        };
        Ok(Ok(Facts { stream, group: found, consumers, now_ms: sample.time_ms }))
    }

    /// Entries pending in a group now; `None` when there is no such group.
    ///
    /// # Errors
    /// When the server is lost.
    pub async fn pending(&mut self, key: &Name, group: &Name) -> Result<Option<i64>, LinkFault> {
        Ok(self.facts(key, group).await?.ok().map(|facts| facts.group.pending))
    }

    /// A refused page is no empty one: a preview that counts nothing would be untrue.
    async fn page(&mut self, key: &Name, group: &Name, page: &PageRequest) -> Result<Result<Vec<PendingRow>, String>, LinkFault> {
        let (replies, _) = self.link.send(&[commands::xpending_page(key, group, page)]).await?;
        Ok(decode::pending(replies.first().unwrap_or(&Value::Nil)).map_err(|fault| said(key, group, fault)))
    }

    /// Which of these ids are in the stream. Those below the first entry are gone; those past the largest id ever deleted, and not past
    /// what the stream had given out when its facts were taken, are not; all others are looked up.
    async fn fates(&mut self, key: &Name, facts: &StreamFacts, ids: &[EntryId], left: &mut usize) -> Result<HashMap<EntryId, bool>, LinkFault> {
        let mut fates = HashMap::new();
        let mut open = Vec::new();
        for id in ids {
            let below = facts.first.map_or(*id <= facts.last_generated, |first| *id < first);
            let untouched = *id <= facts.last_generated && facts.max_deleted.value().is_some_and(|deleted| *id > deleted);
            if below || untouched {
                fates.insert(*id, !below);
            } else if *left > 0 {
                *left -= 1;
                open.push(*id);
            }
        }
        for chunk in open.chunks(100) {
            let asks: Vec<_> = chunk.iter().map(|id| commands::one_entry(key, *id)).collect();
            let (replies, _) = self.link.send(&asks).await?;
            let found = chunk.iter().zip(&replies).filter_map(|(id, reply)| Some((*id, decode::entry(reply).ok()?.is_some())));
            fates.extend(found);
        }
        Ok(fates)
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
        let (mut from, mut complete, mut lookups) = (Some(EntryId::MIN), facts.group.pending == 0, self.most(MOST_LOOKUPS));
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
                .filter(|row| row.idle_ms.is_none_or(|idle| idle >= ask.min_idle_ms) && row.owner.as_ref() != Some(&ask.target))
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

    /// Ids of a part of the stream, up to a bound.
    async fn ids(&mut self, key: &Name, after: EntryId, up_to: EntryId) -> Result<Result<(Vec<EntryId>, bool), String>, LinkFault> {
        let mut ids: Vec<EntryId> = Vec::new();
        let mut from = after.next();
        while let Some(start) = from {
            let count = self.step();
            let range = RangeRequest { from: start, count, backward: false };
            let found = match self.range(key, range).await? {
                Ok(found) => found,
                Err(why) => return Ok(Err(why)),
            };
            let full = found.len() == count;
            from = found.last().filter(|last| full && **last < up_to).and_then(|last| last.next());
            ids.extend(found.into_iter().filter(|id| *id <= up_to));
            if ids.len() >= self.most(MOST_BETWEEN) {
                return Ok(Ok((ids, from.is_none())));
            }
        }
        Ok(Ok((ids, true)))
    }

    /// A refused range is no empty one, as with [`Planner::page`].
    async fn range(&mut self, key: &Name, range: RangeRequest) -> Result<Result<Vec<EntryId>, String>, LinkFault> {
        let (replies, _) = self.link.send(&[commands::xrange(key, &range)]).await?;
        let found = decode::range_ids(replies.first().unwrap_or(&Value::Nil), range.backward);
        Ok(found.map(|found| found.ids).map_err(|fault| said(key, &Name::default(), fault)))
    }

    /// The entry that is `n` entries on from an id (or back, that id counting as the first), or the last one there is: payloads
    /// come along, so it is walked in steps. `None` when fewer are there.
    async fn nth(&mut self, key: &Name, from: EntryId, n: usize, backward: bool) -> Result<Result<(Option<EntryId>, bool), String>, LinkFault> {
        let (mut start, mut left, mut last) = (Some(from), n, None);
        while let (Some(from), true) = (start, left > 0) {
            let count = left.min(self.step());
            let mut found = match self.range(key, RangeRequest { from, count, backward }).await? {
                Ok(found) => found,
                Err(why) => return Ok(Err(why)),
            };
            if backward {
                found.reverse();
            }
            left = left.saturating_sub(found.len());
            last = found.last().copied().or(last);
            let full = found.len() == count;
            start = found.last().filter(|_| full).and_then(|id| if backward { before(*id) } else { id.next() });
        }
        Ok(Ok((last, left == 0)))
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
                return Ok(Err("the server does not tell its clock (TIME is forbidden), so times cannot be judged: give an id".to_owned()));
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
            Place::Forward(n) | Place::Back(n) if n > self.most(MOST_BETWEEN) => {
                Err(format!("more than {} entries of this size are not counted off: give an id", self.most(MOST_BETWEEN)))
            }
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
        let mut from = low.next().filter(|_| low < high && facts.group.pending > 0);
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

    /// Whether scripts are allowed: one that does nothing is tried.
    pub(super) async fn may_eval(&mut self) -> Result<bool, LinkFault> {
        let mut probe = redis::Cmd::new();
        probe.arg("EVAL").arg("return 1").arg(0);
        let (replies, _) = self.link.send(&[probe]).await?;
        Ok(matches!(replies.first(), Some(Value::Int(1))))
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

/// What the server said, as a sentence.
fn said(key: &Name, group: &Name, fault: Fault) -> String {
    match fault {
        Fault::Missing => format!("there is no stream {key}"),
        Fault::WrongType => format!("{key} is not a stream"),
        Fault::NoGroup => format!("{key} has no group {group}"),
        fault @ Fault::Unasked => fault.words(),
        Fault::Denied(text) | Fault::Other(text) => text,
    }
}

/// The id directly before.
fn before(id: EntryId) -> Option<EntryId> {
    match (id.ms, id.seq) {
        (0, 0) => None,
        (ms, 0) => Some(EntryId::new(ms - 1, u64::MAX)),
        (ms, seq) => Some(EntryId::new(ms, seq - 1)),
    }
}
