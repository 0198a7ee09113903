//! What changes the owners of entries, or takes them off the list: claims, hand-overs, acknowledgements, the way back.

use super::{Executor, Progress, Stop, command, refusal};
use crate::{
    core::{
        action::{
            Ask, Plan, Planned,
            claim::{BATCH, ClaimPlan, Way},
            give_back::{self, GiveBackPlan},
            marked::{self, MarkedPlan, What},
        },
        id::EntryId,
        model::PendingRow,
        name::Name,
        number::size,
        outcome::{Done, Outcome},
        sample::PageRequest,
        words,
    },
    source::{Link, LinkFault, Planner, commands, decode},
};
use redis::{Cmd, Value};

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

impl Executor<'_> {
    /// The same plan, made now. Nothing was sent so far, so a lost link here is a plain refusal.
    async fn again(&mut self, ask: Ask) -> Result<Plan, String> {
        Planner::new(self.link, self.active_ms).plan(ask).await.map_err(|why| why.to_string())
    }

    pub(super) async fn claim(&mut self, plan: &ClaimPlan, stop: &Stop, progress: impl Fn(Progress)) -> Outcome {
        let now = match self.again(plan.ask()).await {
            Ok(Plan::Claim(now)) => now,
            Ok(_) => return Outcome::refused("another plan was made than asked for"),
            Err(why) => return Outcome::refused(why),
        };
        if let Some(why) = now.objections.refused.clone() {
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
        done.undo = give_back::commands(&now.ask.give_back(done.moved.clone(), passed));
        match result {
            Ok(None) => Outcome::Done(done),
            Ok(Some(error)) if done.claimed == 0 && done.removed == 0 => Outcome::refused(error),
            Ok(Some(error)) => {
                done.note = Some(format!("then the server refused: {error}"));
                done.refused = true;
                Outcome::Done(done)
            }
            Err(fault) => {
                let found = self
                    .found_with(&now.ask.key, &now.ask.group, Some(&now.ask.target), &now.moving, done.claimed)
                    .await;
                Outcome::Unknown(format!("{fault}; {found}"), done)
            }
        }
    }

    /// Batches along the returned cursor. An empty reply is not the end: only the cursor 0-0 is (docs/server-facts.md 4.2).
    pub(super) async fn autoclaim(
        &mut self,
        plan: &ClaimPlan,
        stop: &Stop,
        progress: &impl Fn(Progress),
        done: &mut Done,
    ) -> Result<Option<String>, LinkFault> {
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
                Value::Array(parts) => parts
                    .first()
                    .and_then(decode::text)
                    .and_then(|text| EntryId::parse(text.as_bytes()))
                    .map(|id| (parts, id)),
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
            if ids.len() < size(count) {
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

    pub(super) async fn xclaim(
        &mut self,
        plan: &ClaimPlan,
        stop: &Stop,
        progress: &impl Fn(Progress),
        done: &mut Done,
    ) -> Result<Option<String>, LinkFault> {
        for (argv, rows) in plan.commands.iter().zip(plan.moving.chunks(BATCH)) {
            if stop.is_asked() {
                done.stopped = true;
                done.scan_cursor = rows.first().map(|row| row.id);
                return Ok(None);
            }
            let reply = self.one(command(argv)).await?;
            if let Some(error) = refusal(&reply) {
                return Ok(Some(error));
            }
            let (mut ids, count) = claimed(&reply);
            if ids.len() < size(count) {
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
    pub(super) async fn found_with(
        &mut self,
        key: &Name,
        group: &Name,
        owner: Option<&Name>,
        rows: &[PendingRow],
        confirmed: i64,
    ) -> String {
        let (Some(first), Some(last)) = (rows.first(), rows.last()) else { return "nothing was to move".to_owned() };
        let Ok(mut link) = Link::connect(self.target, self.clock).await else {
            return "the server could not be asked again".to_owned();
        };
        let (mut held, mut from) = (0, Some(first.id));
        while let Some(start) = from {
            let page = PageRequest { from: start, to: last.id, count: 1000, consumer: owner.cloned() };
            let replies = link
                .send(&[commands::xpending_page(key, group, &page)])
                .await
                .map(|(replies, _)| replies)
                .unwrap_or_default();
            let Some(found) = replies.first().and_then(|reply| decode::pending(reply).ok()) else {
                return "the server could not be asked again".to_owned();
            };
            held += found.iter().filter(|row| rows.binary_search_by_key(&row.id, |row| row.id).is_ok()).count();
            from = found.last().filter(|_| found.len() == 1000).and_then(|row| row.id.next());
        }
        let (all, held) = (rows.len() as i64, held as i64);
        let all_words = words::entries(all);
        if let Some(owner) = owner {
            let fewer = "; that is less than was confirmed: some were acknowledged or claimed by others since";
            let fewer = if held < confirmed { fewer } else { "" };
            return format!("asked again: of {all_words}, {owner} holds {held} now{fewer}");
        }
        let more = "; that is more than the confirmed acknowledgements leave: they may have been delivered again";
        let more = if held > all - confirmed { more } else { "" };
        format!("asked again: of {all_words}, {held} are pending still{more}")
    }

    pub(super) async fn marked(&mut self, plan: &MarkedPlan) -> Outcome {
        let now = match self.again(plan.ask()).await {
            Ok(Plan::Marked(now)) => now,
            Ok(_) => return Outcome::refused("another plan was made than asked for"),
            Err(why) => return Outcome::refused(why),
        };
        if let Some(why) = now.objections.refused.clone() {
            return Outcome::refused(why);
        }
        let owners = |plan: &MarkedPlan| {
            plan.rows.iter().map(|row| (row.id, row.owner.clone(), row.deliveries)).collect::<Vec<_>>()
        };
        if owners(plan) != owners(&now) {
            return Outcome::refused(
                "the marked entries changed hands or were acknowledged since the preview".to_owned(),
            );
        }
        let mut done = Done::default();
        let scripted = now.ask.what == What::Acknowledge
            && matches!(Planner::new(self.link, self.active_ms).may_eval().await, Ok(true));
        for (argv, rows) in now.commands.iter().zip(now.rows.chunks(BATCH)) {
            let cmd = if scripted { acknowledge_unless_moved(&now, rows) } else { command(argv) };
            let reply = match self.one(cmd).await {
                Ok(reply) => reply,
                Err(fault) => {
                    let owner = match &now.ask.what {
                        What::MoveTo(target) => Some(target),
                        What::Acknowledge => None,
                    };
                    let found = self
                        .found_with(&now.ask.key, &now.ask.group, owner, &now.rows, done.claimed.max(done.acknowledged))
                        .await;
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
                    _ if done.acknowledged == 0 => {
                        return Outcome::refused("one of the marked entries changed hands at the last moment");
                    }
                    _ => {
                        done.note = Some("then one of the rest changed hands, so those were left alone".to_owned());
                        return Outcome::Done(done);
                    }
                },
            }
        }
        if let Some(back) = now.ask.give_back(done.moved.clone(), 0) {
            done.scan_complete = true;
            done.scan_cursor = Some(EntryId::MIN);
            done.undo = give_back::commands(&back);
        }
        Outcome::Done(done)
    }

    /// One command an entry, since each has its own counts, in pipelines; only those that the claim's target still holds.
    pub(super) async fn give_back(&mut self, plan: &GiveBackPlan) -> Outcome {
        let now = match self.again(plan.ask()).await {
            Ok(Plan::GiveBack(now)) => now,
            Ok(_) => return Outcome::refused("another plan was made than asked for"),
            Err(why) => return Outcome::refused(why),
        };
        if let Some(why) = now.objections.refused {
            return Outcome::refused(why);
        }
        let mut done = Done { scan_complete: true, scan_cursor: Some(EntryId::MIN), ..Done::default() };
        for batch in now.commands.chunks(BATCH) {
            let commands: Vec<Cmd> = batch.iter().map(command).collect();
            let replies = match self.link.send(&commands).await {
                Ok((replies, _)) => replies,
                Err(fault) => {
                    let ask = &now.ask;
                    let found = self.found_with(&ask.key, &ask.group, Some(&ask.holder), &now.rows, done.claimed).await;
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
}

/// XACK of entries that are still with the owners and the counts that were previewed, in one script.
fn acknowledge_unless_moved(plan: &MarkedPlan, rows: &[PendingRow]) -> Cmd {
    let mut cmd = Cmd::new();
    cmd.arg("EVAL").arg(marked::ACKNOWLEDGE).arg(1).arg(plan.ask.key.bytes()).arg(plan.ask.group.bytes());
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
