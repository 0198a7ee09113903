//! Carries out a confirmed plan: re-checks, sends each command once, and tells from the replies what was done. Nothing is ever
//! sent again by itself: a time-out or a lost link after sending is "outcome unknown", and the state is read back.

mod entries;

use super::{Link, LinkFault, NoPlan, Planner, Target, commands, decode};
use crate::{
    clock::Clock,
    core::{
        action::{
            Asked, Plan, Scripted,
            seek::{self, Direction, Guard, SeekPlan},
        },
        command::Argv,
        id::EntryId,
        model::PendingSummary,
        name::{Name, visible},
        outcome::{Counted, Done, Outcome, Refusal},
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

    /// Takes the request back: the next action begins.
    pub fn clear(&self) {
        self.0.store(false, Ordering::Relaxed);
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

fn command(words: &Argv) -> Cmd {
    let mut cmd = Cmd::new();
    for word in words.words() {
        cmd.arg(word.bytes());
    }
    cmd
}

/// What the server refused with, in its own words.
fn refusal(value: &Value) -> Option<String> {
    match value {
        Value::ServerError(error) if matches!(error.code(), "MOVED" | "ASK") => {
            let to = error.details().and_then(|words| words.split(' ').nth(1)).unwrap_or("another node");
            let to = visible(to.as_bytes());
            Some(format!(
                "the slot moved to {to}, nothing was written: plan again, which asks the node that has it now"
            ))
        }
        Value::ServerError(error) => {
            Some(visible(format!("{} {}", error.code(), error.details().unwrap_or("")).trim().as_bytes()))
        }
        _ => None,
    }
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
        if let Some(scripted) = plan.detail().scripted() {
            return self.scripted(plan, scripted).await;
        }
        let moving = match plan {
            Plan::Claim(plan) => Some((&plan.ask.key, &plan.ask.group)),
            Plan::Marked(plan) => Some((&plan.ask.key, &plan.ask.group)),
            Plan::GiveBack(plan) => Some((&plan.ask.key, &plan.ask.group)),
            Plan::Seek(_) | Plan::DeleteConsumer(_) | Plan::DeleteGroup(_) => None,
        };
        let before = self.pending(moving).await;
        let outcome = match plan {
            Plan::Claim(plan) => self.claim(plan, stop, progress).await,
            Plan::Seek(plan) => self.seek(plan).await,
            Plan::Marked(plan) => self.marked(plan).await,
            Plan::GiveBack(plan) => self.give_back(plan).await,
            Plan::DeleteConsumer(_) | Plan::DeleteGroup(_) => Outcome::refused("this action has no script"),
        };
        match (outcome, before) {
            (Outcome::Done(done), Some(before)) => {
                let after = self.pending(moving).await;
                Outcome::Done(Done { counted: after.map(|after| Counted::new(before, after)), ..done })
            }
            (outcome, _) => outcome,
        }
    }

    /// The pending list, counted by the server. It only adds to what is said of an action, so no fault ends one.
    async fn pending(&mut self, of: Option<(&Name, &Name)>) -> Option<PendingSummary> {
        let (key, group) = of?;
        let reply = self.one(commands::xpending_summary(key, group)).await.ok()?;
        decode::summary(&reply).ok()
    }

    async fn one(&mut self, cmd: Cmd) -> Result<Value, LinkFault> {
        let (replies, _) = self.link.send(&[cmd]).await?;
        Ok(replies.into_iter().next().unwrap_or(Value::Nil))
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
                    Ok(mut link) => Executor::new(&mut link, self.target, self.clock, self.active_ms)
                        .cursor(&plan.ask.key, &plan.ask.group)
                        .await
                        .ok()
                        .flatten(),
                    Err(_) => None,
                };
                let words = found.map_or("the server could not be asked again".to_owned(), |cursor| {
                    format!("asked again: the cursor is at {cursor}")
                });
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
        let mut reader = Planner::new(self.link, self.active_ms);
        let facts = reader.facts(&plan.ask.key, &plan.ask.group).await.ok();
        let cursor = facts.map(|facts| facts.group.cursor);
        let lag = match cursor {
            Some(cursor) => reader.count_after(&plan.ask.key, cursor).await,
            None => None,
        };
        // if the group read on meanwhile, what it read is missing in the count
        let lag_before = lag.filter(|_| cursor == Some(plan.target)).and_then(|lag| plan.lag_before(lag, before));
        let note = match cursor {
            None => Some(format!("set to {}, which could not be read back", plan.target)),
            Some(now) if now > plan.target => {
                Some(format!("it was set to {}, and the group has read on since", plan.target))
            }
            Some(now) if now < plan.target => {
                Some(format!("it was set to {}, and somebody has moved it back since", plan.target))
            }
            Some(_) => None,
        };
        Outcome::Done(Done {
            cursor,
            cursor_before: Some(before),
            lag,
            lag_before,
            undo: vec![plan.back_to(before)],
            note,
            ..Done::default()
        })
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

    /// An action of one script, which checks and writes in one go. Without EVAL the plan is made again directly before and must be of
    /// the same state.
    async fn scripted(&mut self, plan: &Plan, scripted: &dyn Scripted) -> Outcome {
        let ask = plan.detail().ask();
        let cmd = if scripted.may_eval() {
            let mut cmd = Cmd::new();
            cmd.arg("EVAL").arg(scripted.script()).arg(1).arg(ask.detail().key().bytes());
            scripted.args().iter().for_each(|word| {
                cmd.arg(word.bytes());
            });
            cmd
        } else {
            let now = match Planner::new(self.link, self.active_ms).plan(ask.clone()).await {
                Ok(now) => now,
                Err(why) => return Outcome::refused(why.to_string()),
            };
            if let Some(why) = now.refused() {
                return Outcome::refused(why.to_owned());
            }
            if now.detail().before() != plan.detail().before() {
                return Outcome::refused("it changed since the preview: look at a new one".to_owned());
            }
            plan.detail().commands().first().map_or_else(Cmd::new, command)
        };
        let reply = match self.one(cmd).await {
            Ok(reply) => reply,
            Err(fault) => {
                let found = self.found(ask.detail(), scripted).await;
                return Outcome::Unknown(format!("{fault}; {found}"), Done::default());
            }
        };
        if let Some(error) = refusal(&reply) {
            return Outcome::refused(error);
        }
        let answer = match &reply {
            Value::Array(parts) => {
                let words: Vec<String> = parts.iter().map(|part| decode::text(part).unwrap_or_default()).collect();
                scripted.answer(&words)
            }
            Value::Int(count) => scripted.done(*count),
            _ => Err("the server's answer is not a number: what it did is not known".to_owned()),
        };
        answer.map_or_else(Outcome::refused, Outcome::Done)
    }

    /// After a lost link: what a new connection finds.
    async fn found(&self, ask: &dyn Asked, scripted: &dyn Scripted) -> String {
        let Ok(mut link) = Link::connect(self.target, self.clock).await else {
            return "the server could not be asked again".to_owned();
        };
        match Planner::new(&mut link, self.active_ms).facts(ask.key(), ask.group()).await {
            Ok(facts) => scripted.found(Ok(&facts)),
            Err(NoPlan::Impossible(why)) => scripted.found(Err(&why)),
            Err(NoPlan::Lost(_)) => "the server could not be asked again".to_owned(),
        }
    }
}

fn accepted(plan: &SeekPlan, now: EntryId) -> bool {
    let low = plan.cursor.min(plan.target);
    now == plan.cursor || plan.accept_up_to.is_some_and(|bound| (low..=bound).contains(&now))
}

fn moved(plan: &SeekPlan, now: EntryId) -> Outcome {
    Outcome::Refused(Refusal::CursorMoved { from: plan.cursor, to: now })
}
