//! The reads that plans are made from. A refused read is an error in words, never an empty answer: a preview that counts nothing would
//! be untrue.

use super::{MOST_BETWEEN, NoPlan, Planner};
use crate::{
    core::{
        action::{Facts, at_least},
        command::Argv,
        id::EntryId,
        lag::Count,
        model::{PendingRow, StreamFacts},
        name::Name,
        number::size,
        sample::{Fault, GroupRequest, PageRequest, RangeRequest, Request, StreamRequest},
    },
    source::{LinkFault, Source, commands, decode},
};
use redis::Value;
use std::collections::HashMap;

/// Entries fetched by one XRANGE of a preview, at most.
const RANGE: usize = 500;
/// Entries past the cursor that are counted before a group is deleted: more are as good a reason not to.
const MOST_WAITING: usize = 100;
/// Payloads come along, so a reply stays below about this, in bytes.
const REPLY_BYTES: u64 = 1 << 20;
/// Entries counted past a cursor that was just moved, at most, and the bytes that this may take.
const MOST_COUNTED: usize = 50_000;
const COUNT_BYTES: u64 = 32 << 20;
const COUNT_TIME: std::time::Duration = std::time::Duration::from_secs(2);
/// And a whole preview below about this.
const PREVIEW_BYTES: u64 = 256 << 20;

impl Planner<'_> {
    /// Entries of one reply.
    pub(super) fn step(&self) -> usize {
        size(REPLY_BYTES / self.entry_bytes).clamp(1, RANGE)
    }

    /// Entries that a preview may fetch, below a bound.
    pub(super) fn most(&self, bound: usize) -> usize {
        size(PREVIEW_BYTES / self.entry_bytes).clamp(1, bound)
    }

    /// Why a command cannot be sent: the host renamed or removed it, or the ACL forbids it (7.0+, where we may ask). `None` when it is allowed
    /// or the server will not tell.
    pub(super) async fn forbidden(&mut self, command: &Argv) -> Result<Option<String>, LinkFault> {
        let Some(name) = command.words().first() else { return Ok(None) };
        let mut info = redis::Cmd::new();
        info.arg("COMMAND").arg("INFO").arg(name.bytes());
        let (known, _) = self.link.send(&[info]).await?;
        if matches!(known.first(), Some(Value::Array(parts)) if matches!(parts[..], [Value::Nil])) {
            return Ok(Some(format!("this server has no {name}: its host renamed or removed it")));
        }
        if !at_least(self.link.server(), (7, 0)) {
            return Ok(None);
        }
        let (who, _) = self.link.send(&[commands::plain("ACL WHOAMI")]).await?;
        let Some(user) = who.first().and_then(decode::text) else { return Ok(None) };
        let mut dry = redis::Cmd::new();
        dry.arg("ACL").arg("DRYRUN").arg(user);
        for word in command.words() {
            dry.arg(word.bytes());
        }
        let (replies, _) = self.link.send(&[dry]).await?;
        Ok(replies
            .first()
            .and_then(decode::text)
            .filter(|answer| answer != "OK")
            .map(|answer| crate::core::name::visible(answer.as_bytes())))
    }

    /// The pending rows of these ids, as they are now.
    pub(super) async fn rows(&mut self, key: &Name, group: &Name, ids: &[EntryId]) -> Result<Vec<PendingRow>, NoPlan> {
        let mut rows = Vec::new();
        for chunk in ids.chunks(500) {
            let one = |id: &EntryId| PageRequest { from: *id, to: *id, count: 1, consumer: None };
            let asks: Vec<_> = chunk.iter().map(|id| commands::xpending_page(key, group, &one(id))).collect();
            let (replies, _) = self.link.send(&asks).await?;
            for reply in &replies {
                match decode::pending(reply) {
                    Ok(found) => rows.extend(found),
                    Err(fault) => return Err(impossible(key, group, fault)),
                }
            }
        }
        Ok(rows)
    }

    /// The facts, or a sentence why there is nothing to act on.
    pub(in crate::source) async fn facts(&mut self, key: &Name, group: &Name) -> Result<Facts, NoPlan> {
        let details = GroupRequest { name: group.clone(), consumers: true, summary: false, pages: Vec::new() };
        let stream =
            StreamRequest { key: key.clone(), facts: true, ttl: false, groups: vec![details], ranges: Vec::new() };
        let sample = self.link.sample(&Request { streams: vec![stream], server: true, ..Request::default() }).await?;
        let Some(found) = sample.streams.into_iter().next() else {
            return Err(NoPlan::Impossible("the server did not answer".to_owned()));
        };
        let fault = |fault| impossible(key, group, fault);
        let (stream, groups) = (found.facts.map_err(fault)?, found.groups.map_err(fault)?);
        self.entry_bytes = (stream.reply_bytes / 2).max(100);
        let Some(state) = groups.into_iter().find(|state| state.name == *group) else {
            return Err(NoPlan::Impossible(format!("{key} has no group {group}")));
        };
        let Some(pending) = state.pending.value() else {
            return Err(NoPlan::Impossible(format!(
                "the server's count of pending entries of {group} cannot be true: nothing is planned on it"
            )));
        };
        let consumers = found.details.into_iter().next().and_then(|detail| detail.consumers);
        let consumers = consumers.unwrap_or(Ok(Vec::new())).map_err(fault)?;
        Ok(Facts {
            server: self.link.server().clone(),
            stream,
            group: state,
            pending,
            consumers,
            now_ms: sample.time_ms,
            blocked_readers: None,
            waiting: None,
            may_eval: true,
            active_ms: self.active_ms,
        })
    }

    /// The facts, whether scripts are allowed, how many readers are blocked, and a bounded count of what waits.
    pub(super) async fn facts_and_readers(&mut self, key: &Name, group: &Name) -> Result<Facts, NoPlan> {
        let mut facts = self.facts(key, group).await?;
        facts.may_eval = self.may_eval().await?;
        let (replies, _) = self.link.send(&[commands::plain("CLIENT LIST")]).await?;
        facts.blocked_readers = replies.first().and_then(decode::blocked_readers);
        if let Some(from) = facts.group.cursor.next() {
            let count = self.step().min(MOST_WAITING);
            // where entries must not be read, the counters alone tell
            if let Ok(found) = self.range(key, RangeRequest { from, count, backward: false }).await {
                facts.waiting = Some(Count { entries: found.len() as i64, complete: found.len() < count });
            }
        }
        Ok(facts)
    }

    /// Entries pending in a group now; `None` when there is no such group.
    ///
    /// # Errors
    /// When the server is lost.
    pub async fn pending(&mut self, key: &Name, group: &Name) -> Result<Option<i64>, LinkFault> {
        match self.facts(key, group).await {
            Ok(facts) => Ok(Some(facts.pending)),
            Err(NoPlan::Impossible(_)) => Ok(None),
            Err(NoPlan::Lost(fault)) => Err(fault),
        }
    }

    /// A refused page is not an empty one: a preview that counts nothing would be untrue.
    pub(super) async fn page(
        &mut self,
        key: &Name,
        group: &Name,
        page: &PageRequest,
    ) -> Result<Vec<PendingRow>, NoPlan> {
        let (replies, _) = self.link.send(&[commands::xpending_page(key, group, page)]).await?;
        decode::pending(replies.first().unwrap_or(&Value::Nil)).map_err(|fault| impossible(key, group, fault))
    }

    /// Which of these ids are in the stream. Those below the first entry are gone; those past the largest id ever deleted, and not past
    /// what the stream had given out when its facts were taken, are not; all others are looked up.
    pub(super) async fn fates(
        &mut self,
        key: &Name,
        facts: &StreamFacts,
        ids: &[EntryId],
        left: &mut usize,
    ) -> Result<HashMap<EntryId, bool>, LinkFault> {
        let mut fates = HashMap::new();
        let mut open = Vec::new();
        for id in ids {
            let below = facts.first.map_or(*id <= facts.last_generated, |first| *id < first);
            let untouched =
                *id <= facts.last_generated && facts.max_deleted.value().is_some_and(|deleted| *id > deleted);
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
            let found =
                chunk.iter().zip(&replies).filter_map(|(id, reply)| Some((*id, decode::entry(reply).ok()?.is_some())));
            fates.extend(found);
        }
        Ok(fates)
    }

    /// Ids of a part of the stream, up to a bound.
    pub(super) async fn ids(
        &mut self,
        key: &Name,
        after: EntryId,
        up_to: EntryId,
    ) -> Result<(Vec<EntryId>, bool), NoPlan> {
        let mut ids: Vec<EntryId> = Vec::new();
        let mut from = after.next();
        while let Some(start) = from {
            let count = self.step();
            let range = RangeRequest { from: start, count, backward: false };
            let found = self.range(key, range).await?;
            let full = found.len() == count;
            from = found.last().filter(|last| full && **last < up_to).and_then(|last| last.next());
            ids.extend(found.into_iter().filter(|id| *id <= up_to));
            if ids.len() >= self.most(MOST_BETWEEN) {
                return Ok((ids, from.is_none()));
            }
        }
        Ok((ids, true))
    }

    /// Counts the entries past a cursor that was just moved, up to a bound and for two seconds at most; `None` where entries must not be read.
    pub(in crate::source) async fn count_after(&mut self, key: &Name, cursor: EntryId) -> Option<Count> {
        let bound = size(COUNT_BYTES / self.entry_bytes).clamp(1, MOST_COUNTED);
        let (mut entries, mut from) = (0, cursor.next());
        let until = std::time::Instant::now() + COUNT_TIME;
        while let (Some(start), true) = (from, entries < bound && std::time::Instant::now() < until) {
            let count = self.step().min(bound - entries);
            let found = self.range(key, RangeRequest { from: start, count, backward: false }).await.ok()?;
            from = found.last().filter(|_| found.len() == count).and_then(|last| last.next());
            entries += found.len();
        }
        Some(Count { entries: entries as i64, complete: from.is_none() })
    }

    /// A refused range is not an empty one, as with [`Planner::page`].
    pub(super) async fn range(&mut self, key: &Name, range: RangeRequest) -> Result<Vec<EntryId>, NoPlan> {
        let (replies, _) = self.link.send(&[commands::xrange(key, &range)]).await?;
        let found = decode::range_ids(replies.first().unwrap_or(&Value::Nil), range.backward);
        found.map(|found| found.ids).map_err(|fault| impossible(key, &Name::default(), fault))
    }

    /// The entry that is `n` entries on from an id (or back, that id counting as the first), or the last one there is: payloads
    /// come along, so it is walked in steps. `None` when fewer are there.
    pub(super) async fn nth(
        &mut self,
        key: &Name,
        from: EntryId,
        n: usize,
        backward: bool,
    ) -> Result<(Option<EntryId>, bool), NoPlan> {
        let (mut start, mut left, mut last) = (Some(from), n, None);
        while let (Some(from), true) = (start, left > 0) {
            let count = left.min(self.step());
            let mut found = self.range(key, RangeRequest { from, count, backward }).await?;
            if backward {
                found.reverse();
            }
            left = left.saturating_sub(found.len());
            last = found.last().copied().or(last);
            let full = found.len() == count;
            start = found.last().filter(|_| full).and_then(|id| if backward { id.previous() } else { id.next() });
        }
        Ok((last, left == 0))
    }

    /// Whether scripts are allowed: one that does nothing is tried.
    pub(in crate::source) async fn may_eval(&mut self) -> Result<bool, LinkFault> {
        let mut probe = redis::Cmd::new();
        probe.arg("EVAL").arg("return 1").arg(0);
        let (replies, _) = self.link.send(&[probe]).await?;
        Ok(matches!(replies.first(), Some(Value::Int(1))))
    }
}

/// Why there can be no plan, from what the server answered.
fn impossible(key: &Name, group: &Name, fault: Fault) -> NoPlan {
    NoPlan::Impossible(match fault {
        Fault::Missing => format!("there is no stream {key}"),
        Fault::WrongType => format!("{key} is not a stream"),
        Fault::NoGroup => format!("{key} has no group {group}"),
        fault @ (Fault::Unasked | Fault::Elsewhere { once: false, .. }) => fault.words(),
        Fault::Elsewhere { slot, node, once: true } => {
            format!("slot {slot} is moving to node {node}: plan again when it is there")
        }
        Fault::Denied(text) | Fault::Other(text) | Fault::Away(text) => text,
    })
}
