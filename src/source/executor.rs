//! Carries out a confirmed plan: re-checks, sends each command once, and tells from the replies what was done. Nothing is ever
//! sent again by itself: a time-out or a lost link after sending is "outcome unknown", and the state is read back.

use super::{Link, LinkFault, Planner, Target, commands, decode};
use crate::{
    clock::Clock,
    core::{
        id::EntryId,
        model::PendingRow,
        name::{Name, visible},
        outcome::{Done, Outcome, Refusal},
        plan::{
            Plan,
            claim::{self, BATCH, ClaimPlan, Way},
            consumer::{self, DeletePlan},
            entries::{self, EntriesPlan, What},
            seek::{self, Direction, Guard, SeekPlan},
            undo::UndoPlan,
        },
        sample::PageRequest,
    },
};
use redis::{Cmd, Value};
use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

/// Asks a running claim to stop after the batch under way.
#[derive(Clone, Debug, Default)]
pub struct Stop(Arc<AtomicBool>);

impl Stop {
    /// Asks for it.
    pub fn ask(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    fn is_asked(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// How far a claim has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Claimed so far.
    pub claimed: i64,
    /// Removed so far.
    pub removed: i64,
}

/// Carries out plans on a connection of its own.
#[derive(Debug)]
pub struct Executor<'a> {
    link: &'a mut Link,
    target: &'a Target,
    clock: Clock,
    active_ms: i64,
}

fn command(words: &[Name]) -> Cmd {
    let mut cmd = Cmd::new();
    for word in words {
        cmd.arg(word.bytes());
    }
    cmd
}

/// What the server refused with, in its own words.
fn refusal(value: &Value) -> Option<String> {
    match value {
        Value::ServerError(error) => Some(visible(format!("{} {}", error.code(), error.details().unwrap_or("")).trim().as_bytes())),
        _ => None,
    }
}

/// The ids in a reply of XCLAIM or XAUTOCLAIM, with or without JUSTID; an entry without payload is nil before 7.0, and counts.
fn claimed(value: &Value) -> (Vec<EntryId>, i64) {
    let items = match value {
        Value::Array(items) => items.as_slice(),
        _ => &[],
    };
    let id = |item: &Value| match item {
        Value::BulkString(bytes) => EntryId::parse(bytes),
        Value::SimpleString(text) => EntryId::parse(text.as_bytes()),
        Value::Array(entry) => match entry.first() {
            Some(Value::BulkString(bytes)) => EntryId::parse(bytes),
            _ => None,
        },
        _ => None,
    };
    (items.iter().filter_map(id).collect(), items.len() as i64)
}

impl<'a> Executor<'a> {
    /// An executor on this connection; `target` is for reading back after the connection broke.
    pub fn new(link: &'a mut Link, target: &'a Target, clock: Clock, active_ms: i64) -> Self {
        Self { link, target, clock, active_ms }
    }

    /// Carries a plan out. The caller has the confirmation and the journal line.
    pub async fn run(&mut self, plan: &Plan, stop: &Stop, progress: impl Fn(Progress)) -> Outcome {
        if let Some(why) = plan.refused() {
            return Outcome::refused(why.to_owned());
        }
        match plan {
            Plan::Claim(plan) => self.claim(plan, stop, progress).await,
            Plan::Seek(plan) => self.seek(plan).await,
            Plan::Entries(plan) => self.entries(plan).await,
            Plan::Consumer(plan) => self.delete(plan).await,
            Plan::Undo(plan) => self.undo(plan).await,
        }
    }

    async fn one(&mut self, cmd: Cmd) -> Result<Value, LinkFault> {
        let (replies, _) = self.link.send(&[cmd]).await?;
        Ok(replies.into_iter().next().unwrap_or(Value::Nil))
    }

    async fn claim(&mut self, plan: &ClaimPlan, stop: &Stop, progress: impl Fn(Progress)) -> Outcome {
        // nothing was sent so far: a lost link here is a plain refusal
        let now = match Planner::new(self.link, self.active_ms).claim(plan.ask.clone()).await {
            Ok(now) => now,
            Err(fault) => return Outcome::refused(fault.to_string()),
        };
        if let Some(why) = now.refused.clone() {
            return Outcome::refused(why);
        }
        if let Some(change) = plan.differs_materially(&now) {
            return Outcome::refused(format!("it changed since the preview: {change}"));
        }
        if now.would_move.value == 0 && now.would_remove.value == 0 {
            return Outcome::refused("nothing qualifies".to_owned());
        }
        let began = self.clock.mono();
        let mut done = Done::default();
        let result = match now.way {
            Way::AutoClaim => self.autoclaim(&now, stop, &progress, &mut done).await,
            Way::Claim => self.xclaim(&now, stop, &progress, &mut done).await,
        };
        let passed = self.clock.mono().since(began) as i64;
        let ids: std::collections::HashSet<EntryId> = done.moved.iter().map(|row| row.id).collect();
        done.moved = now.moving.iter().filter(|row| ids.contains(&row.id)).cloned().collect();
        done.undo = claim::give_back(&now.ask, &done.moved, passed);
        match result {
            Ok(None) => Outcome::Done(done),
            Ok(Some(error)) if done.claimed == 0 && done.removed == 0 => Outcome::refused(error),
            Ok(Some(error)) => {
                done.note = Some(format!("then the server refused: {error}"));
                Outcome::Done(done)
            }
            Err(fault) => {
                let found = self.found_with(&now.ask.key, &now.ask.group, Some(&now.ask.target), &now.moving).await;
                Outcome::Unknown(format!("{fault}; {found}"), done)
            }
        }
    }

    /// Batches along the returned cursor. An empty reply is not the end: only the cursor 0-0 is (case 26).
    async fn autoclaim(&mut self, plan: &ClaimPlan, stop: &Stop, progress: &impl Fn(Progress), done: &mut Done) -> Result<Option<String>, LinkFault> {
        let ask = &plan.ask;
        let mut cursor = EntryId::MIN;
        done.scan_cursor = Some(cursor);
        loop {
            let left = ask.limit.map_or(BATCH as i64, |limit| limit as i64 - done.claimed);
            if left <= 0 {
                return Ok(None);
            }
            if stop.is_asked() {
                done.stopped = true;
                return Ok(None);
            }
            let mut cmd = Cmd::new();
            cmd.arg("XAUTOCLAIM").arg(ask.key.bytes()).arg(ask.group.bytes()).arg(ask.target.bytes());
            cmd.arg(ask.min_idle_ms).arg(cursor.to_string()).arg("COUNT").arg(left.min(BATCH as i64));
            if ask.justid {
                cmd.arg("JUSTID");
            }
            let reply = self.one(cmd).await?;
            if let Some(error) = refusal(&reply) {
                return Ok(Some(error));
            }
            let next = match &reply {
                Value::Array(parts) => parts.first().and_then(decode::text).and_then(|text| EntryId::parse(text.as_bytes())).map(|id| (parts, id)),
                _ => None,
            };
            // it was carried out, and what it did cannot be read
            let Some((parts, next)) = next else {
                let why = "the reply of XAUTOCLAIM has an unknown form".to_owned();
                return Err(LinkFault::Broken { endpoint: self.target.endpoint().to_owned(), why });
            };
            let (mut ids, count) = parts.get(1).map(claimed).unwrap_or_default();
            let begun = cursor;
            cursor = next;
            if ids.len() < count as usize {
                let end = Some(cursor).filter(|end| *end != EntryId::MIN);
                ids.extend(plan.empty.iter().filter(|id| **id >= begun && end.is_none_or(|end| **id < end)));
            }
            // entries that the target held already are claimed once more by the server, but did not move
            let own = ids.iter().filter(|id| plan.restarting.binary_search_by_key(*id, |row| row.id).is_ok()).count();
            done.claimed += (count - own as i64).max(0);
            done.moved.extend(ids.into_iter().map(bare));
            // the third part came with 7.0
            done.removed += parts.get(2).map_or(0, |gone| claimed(gone).1);
            done.scan_cursor = Some(cursor);
            progress(Progress { claimed: done.claimed, removed: done.removed });
            if cursor == EntryId::MIN {
                done.scan_complete = true;
                return Ok(None);
            }
        }
    }

    async fn xclaim(&mut self, plan: &ClaimPlan, stop: &Stop, progress: &impl Fn(Progress), done: &mut Done) -> Result<Option<String>, LinkFault> {
        for (words, rows) in plan.commands.iter().zip(plan.moving.chunks(BATCH)) {
            if stop.is_asked() {
                done.stopped = true;
                done.scan_cursor = rows.first().map(|row| row.id);
                return Ok(None);
            }
            let reply = self.one(command(words)).await?;
            if let Some(error) = refusal(&reply) {
                return Ok(Some(error));
            }
            let (mut ids, count) = claimed(&reply);
            if ids.len() < count as usize {
                ids.extend(rows.iter().map(|row| row.id).filter(|id| plan.empty.binary_search(id).is_ok()));
            }
            done.claimed += count;
            done.moved.extend(ids.into_iter().map(bare));
            progress(Progress { claimed: done.claimed, removed: done.removed });
        }
        done.scan_complete = !plan.cut;
        done.scan_cursor = Some(plan.moving.last().filter(|_| plan.cut).map_or(EntryId::MIN, |row| row.id));
        Ok(None)
    }

    /// After a lost link: how many of the entries this consumer holds now, or how many are pending at all, by a new connection.
    async fn found_with(&mut self, key: &Name, group: &Name, owner: Option<&Name>, rows: &[PendingRow]) -> String {
        let (Some(first), Some(last)) = (rows.first(), rows.last()) else { return "nothing was to move".to_owned() };
        let Ok(mut link) = Link::connect(self.target, self.clock).await else {
            return "the server could not be asked again".to_owned();
        };
        let (mut held, mut from) = (0, Some(first.id));
        while let Some(start) = from {
            let page = PageRequest { from: start, to: last.id, count: 1000, consumer: owner.cloned() };
            let replies = link.send(&[commands::xpending_page(key, group, &page)]).await.map(|(replies, _)| replies).unwrap_or_default();
            let Some(found) = replies.first().and_then(|reply| decode::pending(reply).ok()) else {
                return "the server could not be asked again".to_owned();
            };
            held += found.iter().filter(|row| rows.binary_search_by_key(&row.id, |row| row.id).is_ok()).count();
            from = found.last().filter(|_| found.len() == 1000).and_then(|row| row.id.next());
        }
        match owner {
            Some(owner) => format!("asked again: of {} entries, {owner} holds {held} now", rows.len()),
            None => format!("asked again: of {} entries, {held} are pending still", rows.len()),
        }
    }

    async fn cursor(&mut self, key: &Name, group: &Name) -> Result<Option<EntryId>, LinkFault> {
        let reply = self.one(commands::xinfo_groups(key)).await?;
        let groups = decode::groups(&reply).unwrap_or_default();
        Ok(groups.into_iter().find(|one| one.name == *group).map(|one| one.cursor))
    }

    async fn seek(&mut self, plan: &SeekPlan) -> Outcome {
        let mut before = plan.cursor;
        if plan.direction == Direction::None {
            return self.stay(plan).await;
        }
        let cmd = match plan.guard {
            Guard::Eval => {
                let mut cmd = Cmd::new();
                cmd.arg("EVAL").arg(seek::SCRIPT).arg(1).arg(plan.ask.key.bytes()).arg(plan.ask.group.bytes());
                cmd.arg(plan.cursor.to_string()).arg(plan.target.to_string());
                if let Some(bound) = plan.accept_up_to {
                    cmd.arg(plan.cursor.min(plan.target).to_string()).arg(bound.to_string());
                }
                cmd
            }
            Guard::Reread => match self.cursor(&plan.ask.key, &plan.ask.group).await {
                Err(fault) => return Outcome::refused(fault.to_string()),
                Ok(None) => return Outcome::refused("the group is gone".to_owned()),
                Ok(Some(now)) if !accepted(plan, now) => return moved(plan, now),
                Ok(Some(now)) => {
                    before = now;
                    command(&plan.command)
                }
            },
        };
        let reply = match self.one(cmd).await {
            Ok(reply) => reply,
            Err(fault) => {
                let found = match Link::connect(self.target, self.clock).await {
                    Ok(mut link) => Executor::new(&mut link, self.target, self.clock, self.active_ms).cursor(&plan.ask.key, &plan.ask.group).await.ok().flatten(),
                    Err(_) => None,
                };
                let words = found.map_or("the server could not be asked again".to_owned(), |cursor| format!("asked again: the cursor is at {cursor}"));
                return Outcome::Unknown(format!("{fault}; {words}"), Done { cursor: found, ..Done::default() });
            }
        };
        if let Some(error) = refusal(&reply) {
            return Outcome::refused(error);
        }
        if plan.guard == Guard::Eval {
            let Value::Array(parts) = &reply else {
                return Outcome::Unknown("the guard answered in an unknown form".to_owned(), Done::default());
            };
            let part = |index: usize| parts.get(index).and_then(decode::text).unwrap_or_default();
            match (part(0).as_str(), EntryId::parse(part(1).as_bytes())) {
                ("OK", found) => before = found.unwrap_or(before),
                ("MISMATCH", Some(found)) => return moved(plan, found),
                ("NOGROUP", _) => return Outcome::refused("the group is gone".to_owned()),
                _ => return Outcome::Unknown("the guard answered in an unknown form".to_owned(), Done::default()),
            }
        }
        let cursor = self.cursor(&plan.ask.key, &plan.ask.group).await.ok().flatten();
        let note = cursor.is_none().then(|| format!("set to {}, which could not be read back", plan.target));
        Outcome::Done(Done { cursor, cursor_before: Some(before), undo: vec![plan.way_back(before)], note, ..Done::default() })
    }

    /// Nothing is sent for a cursor that is there already: XGROUP SETID would make the server forget how much the group has read.
    async fn stay(&mut self, plan: &SeekPlan) -> Outcome {
        match self.cursor(&plan.ask.key, &plan.ask.group).await {
            Err(fault) => Outcome::refused(fault.to_string()),
            Ok(None) => Outcome::refused("the group is gone"),
            Ok(Some(now)) if now != plan.cursor => moved(plan, now),
            Ok(Some(now)) => {
                let note = Some("where it was already, so nothing was sent".to_owned());
                Outcome::Done(Done { cursor: Some(now), cursor_before: Some(now), note, ..Done::default() })
            }
        }
    }

    async fn entries(&mut self, plan: &EntriesPlan) -> Outcome {
        let now = match Planner::new(self.link, self.active_ms).entries(plan.ask.clone()).await {
            Ok(now) => now,
            Err(fault) => return Outcome::refused(fault.to_string()),
        };
        if let Some(why) = now.refused.clone() {
            return Outcome::refused(why);
        }
        let owners = |plan: &EntriesPlan| plan.rows.iter().map(|row| (row.id, row.owner.clone(), row.deliveries)).collect::<Vec<_>>();
        if owners(plan) != owners(&now) {
            return Outcome::refused("the marked entries changed hands or were acknowledged since the preview".to_owned());
        }
        let mut done = Done::default();
        let scripted = now.ask.what == What::Acknowledge && matches!(Planner::new(self.link, self.active_ms).may_eval().await, Ok(true));
        for (words, rows) in now.commands.iter().zip(now.rows.chunks(BATCH)) {
            let cmd = if scripted { acknowledge_unless_moved(&now, rows) } else { command(words) };
            let reply = match self.one(cmd).await {
                Ok(reply) => reply,
                Err(fault) => {
                    let owner = match &now.ask.what {
                        What::MoveTo(target) => Some(target),
                        What::Acknowledge => None,
                    };
                    let found = self.found_with(&now.ask.key, &now.ask.group, owner, &now.rows).await;
                    return Outcome::Unknown(format!("{fault}; {found}"), done);
                }
            };
            if let Some(error) = refusal(&reply) {
                if done == Done::default() {
                    return Outcome::refused(error);
                }
                done.note = Some(format!("then the server refused: {error}"));
                return Outcome::Done(done);
            }
            match &now.ask.what {
                What::MoveTo(_) => {
                    let (ids, count) = claimed(&reply);
                    done.claimed += count;
                    done.moved.extend(now.rows.iter().filter(|row| ids.contains(&row.id)).cloned());
                }
                What::Acknowledge => match reply {
                    Value::Int(n) => done.acknowledged += n,
                    _ if done.acknowledged == 0 => return Outcome::refused("one of the marked entries changed hands at the last moment"),
                    _ => {
                        done.note = Some("then one of the rest changed hands, so those were left alone".to_owned());
                        return Outcome::Done(done);
                    }
                },
            }
        }
        if let Some(claim) = now.ask.as_claim() {
            done.scan_complete = true;
            done.scan_cursor = Some(EntryId::MIN);
            done.undo = claim::give_back(&claim, &done.moved, 0);
        }
        Outcome::Done(done)
    }

    /// One command an entry, since each has its own counts, in pipelines; only those that the claim's target still holds.
    async fn undo(&mut self, plan: &UndoPlan) -> Outcome {
        let now = match Planner::new(self.link, self.active_ms).undo(plan.ask.clone()).await {
            Ok(now) => now,
            Err(fault) => return Outcome::refused(fault.to_string()),
        };
        if let Some(why) = now.refused {
            return Outcome::refused(why);
        }
        let mut done = Done { scan_complete: true, scan_cursor: Some(EntryId::MIN), ..Done::default() };
        for batch in now.commands.chunks(BATCH) {
            let commands: Vec<Cmd> = batch.iter().map(|words| command(words)).collect();
            let replies = match self.link.send(&commands).await {
                Ok((replies, _)) => replies,
                Err(fault) => {
                    let ask = &now.ask.claim;
                    let found = self.found_with(&ask.key, &ask.group, Some(&ask.target), &now.rows).await;
                    return Outcome::Unknown(format!("{fault}; {found}"), done);
                }
            };
            done.claimed += replies.iter().map(|reply| claimed(reply).1).sum::<i64>();
            if let Some(error) = replies.iter().find_map(refusal) {
                if done.claimed == 0 {
                    return Outcome::refused(error);
                }
                done.note = Some(format!("then the server refused: {error}"));
                return Outcome::Done(done);
            }
        }
        Outcome::Done(done)
    }

    /// After a lost link: whether the consumer is there still, by a new connection.
    async fn found_consumer(&self, plan: &DeletePlan) -> String {
        let consumers = match Link::connect(self.target, self.clock).await {
            Ok(mut link) => link.send(&[commands::xinfo_consumers(&plan.key, &plan.group)]).await.map(|(replies, _)| replies).unwrap_or_default(),
            Err(_) => Vec::new(),
        };
        match consumers.first().and_then(|reply| decode::consumers(reply).ok()) {
            None => "the server could not be asked again".to_owned(),
            Some(all) if all.iter().any(|one| one.name == plan.consumer) => format!("asked again: {} is there", plan.consumer),
            Some(_) => format!("asked again: {} is not there any more", plan.consumer),
        }
    }

    async fn delete(&mut self, plan: &DeletePlan) -> Outcome {
        let mut cmd = Cmd::new();
        cmd.arg("EVAL").arg(consumer::SCRIPT).arg(1).arg(plan.key.bytes()).arg(plan.group.bytes()).arg(plan.consumer.bytes());
        let reply = match self.one(cmd).await {
            Ok(reply) => reply,
            Err(fault) => {
                let found = self.found_consumer(plan).await;
                return Outcome::Unknown(format!("{fault}; {found}"), Done::default());
            }
        };
        if let Some(error) = refusal(&reply) {
            return Outcome::refused(error);
        }
        let part = |index: usize| match &reply {
            Value::Array(parts) => parts.get(index).and_then(decode::text).unwrap_or_default(),
            _ => String::new(),
        };
        match part(0).as_str() {
            "OK" => Outcome::Done(Done { deleted: true, ..Done::default() }),
            "HOLDS" => Outcome::refused(format!("{} holds {} entries now", plan.consumer, part(1))),
            _ => Outcome::refused(format!("{} is not a consumer of this group any more", plan.consumer)),
        }
    }
}

/// XACK of entries that are still with the owners and the counts that were previewed, in one script.
fn acknowledge_unless_moved(plan: &EntriesPlan, rows: &[PendingRow]) -> Cmd {
    let mut cmd = Cmd::new();
    cmd.arg("EVAL").arg(entries::ACKNOWLEDGE).arg(1).arg(plan.ask.key.bytes()).arg(plan.ask.group.bytes());
    for row in rows {
        let owner = row.owner.as_ref().map_or(&b""[..], Name::bytes);
        let count = if row.deliveries.unsigned_abs() < 1 << 53 { row.deliveries.to_string() } else { String::new() };
        cmd.arg(row.id.to_string()).arg(owner).arg(count);
    }
    cmd
}

fn bare(id: EntryId) -> PendingRow {
    PendingRow { id, owner: None, idle_ms: None, deliveries: 0 }
}

fn accepted(plan: &SeekPlan, now: EntryId) -> bool {
    let low = plan.cursor.min(plan.target);
    now == plan.cursor || plan.accept_up_to.is_some_and(|bound| (low..=bound).contains(&now))
}

fn moved(plan: &SeekPlan, now: EntryId) -> Outcome {
    Outcome::Refused(Refusal::CursorMoved { from: plan.cursor, to: now })
}
