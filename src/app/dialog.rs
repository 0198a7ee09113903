//! The dialog of an action: what is asked for, the plan it gives, the typed confirmation, and what became of it. The focus begins on
//! Cancel, so that a key typed ahead does nothing; only a plan that is shown, not refused and confirmed by typing can be sent.

use super::{App, Notice, effect::Effect, key::Key, tree::TreeRow};
use crate::core::{
    id::EntryId,
    name::Name,
    outcome::{Outcome, Refusal},
    plan::{
        Ask, Plan,
        claim::ClaimAsk,
        entries::{EntriesAsk, What},
        seek::{self, SeekAsk},
        undo::UndoAsk,
    },
    time::{Mono, Now, age_words},
};

/// Which action.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Claim what is idle.
    Claim,
    /// Move the cursor.
    Seek,
    /// Hand marked entries over.
    Hand(Vec<EntryId>),
    /// Acknowledge marked entries.
    Acknowledge(Vec<EntryId>),
    /// Delete a consumer.
    Delete(Name),
    /// Give claimed entries back.
    GiveBack(Box<UndoAsk>),
}

/// What takes keys in the dialog.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The consumer that gets the entries.
    Target,
    /// The least idle time.
    MinIdle,
    /// The most entries.
    Limit,
    /// Where the cursor goes.
    Where,
    /// "The cursor is moving."
    Moving,
    /// The typed confirmation.
    Confirm,
    /// Do nothing.
    Cancel,
    /// Do it.
    Do,
}

/// How far it has come.
#[derive(Clone, Debug, PartialEq)]
pub enum Stage {
    /// It is being asked for.
    Asking,
    /// It is under way: entries claimed and removed so far.
    Running(i64, i64),
    /// It came to its end, at this point in time.
    Ended(Box<Outcome>, Mono),
}

/// The dialog.
#[derive(Clone, Debug, PartialEq)]
pub struct Dialog {
    /// Which action.
    pub kind: Kind,
    /// The stream.
    pub key: Name,
    /// The group.
    pub group: Name,
    /// Whether plans may be carried out in this session.
    pub may_act: bool,
    /// Tells answers to this dialog's questions from older ones.
    pub no: u64,
    /// What takes keys.
    pub part: Part,
    /// Consumers to choose from.
    pub targets: Vec<Name>,
    /// The chosen one.
    pub target: usize,
    /// As typed.
    pub min_idle: String,
    /// Where the proposed value comes from.
    pub min_idle_from: String,
    /// As typed.
    pub limit: String,
    /// As typed.
    pub place: String,
    /// "The cursor is moving" is acknowledged.
    pub moving: bool,
    /// A mismatch showed that it does move, so that this may be acknowledged.
    pub may_move: bool,
    /// The confirmation, as typed.
    pub typed: String,
    /// The plan for what is asked now; `None` while it is made.
    pub plan: Option<Result<Box<Plan>, String>>,
    /// What is wrong with the fields.
    pub wrong: Option<String>,
    /// How far it has come.
    pub stage: Stage,
}

/// Names longer than this, or with signs that cannot be typed, are confirmed by a number instead.
const LONGEST_TYPED: usize = 40;
/// Without observed handling times nothing younger than this is proposed for a claim, in milliseconds.
const CAUTIOUS_IDLE_MS: i64 = 300_000;

impl Dialog {
    /// What must be typed.
    pub fn phrase(&self) -> String {
        let shown = self.group.shown();
        let plain =
            self.group.hex().is_none() && shown.len() <= LONGEST_TYPED && !shown.trim().is_empty() && shown.is_ascii();
        if plain { shown } else { format!("yes {}", self.group.bytes().len()) }
    }

    /// The parts that take keys, in order.
    pub fn parts(&self) -> Vec<Part> {
        let mut parts = match &self.kind {
            Kind::Claim => vec![Part::Target, Part::MinIdle, Part::Limit],
            Kind::Seek => vec![Part::Where],
            Kind::Hand(_) => vec![Part::Target],
            Kind::Acknowledge(_) | Kind::Delete(_) | Kind::GiveBack(_) => Vec::new(),
        };
        // nothing can be confirmed of a plan that is refused
        if !self.may_act || matches!(&self.plan, Some(Ok(plan)) if plan.refused().is_some()) {
            parts.push(Part::Cancel);
            return parts;
        }
        if self.may_move {
            parts.push(Part::Moving);
        }
        parts.extend([Part::Confirm, Part::Cancel, Part::Do]);
        parts
    }

    /// What is asked for, or what is wrong with the fields.
    pub fn ask(&self) -> Result<Ask, String> {
        let (key, group) = (self.key.clone(), self.group.clone());
        let target = || {
            self.targets
                .get(self.target)
                .cloned()
                .ok_or_else(|| "the group has no other consumer to give them to".to_owned())
        };
        Ok(match &self.kind {
            Kind::Claim => Ask::Claim(ClaimAsk {
                key,
                group,
                target: target()?,
                create: false,
                min_idle_ms: idle_ms(&self.min_idle)?,
                from: None,
                limit: match self.limit.trim() {
                    "" => None,
                    text => Some(
                        text.parse()
                            .ok()
                            .filter(|n| *n > 0)
                            .ok_or("the limit is a number of entries, or empty for no limit")?,
                    ),
                },
                justid: true,
            }),
            Kind::Seek => Ask::Seek(SeekAsk { key, group, place: seek::Place::parse(&self.place)?, beyond_end: false }),
            Kind::Hand(ids) => Ask::Entries(EntriesAsk { key, group, ids: ids.clone(), what: What::MoveTo(target()?) }),
            Kind::Acknowledge(ids) => {
                Ask::Entries(EntriesAsk { key, group, ids: ids.clone(), what: What::Acknowledge })
            }
            Kind::Delete(consumer) => Ask::Consumer { key, group, consumer: consumer.clone() },
            Kind::GiveBack(ask) => Ask::Undo((**ask).clone()),
        })
    }

    /// The plan, if there is one that may be carried out.
    pub fn ready(&self) -> Option<&Plan> {
        match (&self.plan, &self.wrong, &self.stage) {
            (Some(Ok(plan)), None, Stage::Asking) if plan.refused().is_none() && self.typed == self.phrase() => {
                Some(plan)
            }
            _ => None,
        }
    }
}

/// `5m`, `90s`, `0` in milliseconds.
fn idle_ms(text: &str) -> Result<i64, String> {
    match seek::Place::parse(&format!("{}-ago", text.trim())) {
        _ if text.trim() == "0" => Ok(0),
        Ok(seek::Place::Ago(ms)) => Ok(ms),
        _ => Err("the least idle time is written as 90s, 5m or 1h".to_owned()),
    }
}

/// Opens a dialog for the group on the screen, or picked in the overview.
pub fn open(app: &mut App, kind: Kind, now: Now, effects: &mut Vec<Effect>) {
    let Some((key, name)) = app.subject() else { return };
    let Some((_, group)) = app.watch.store.group(&key, &name) else { return };
    let gone_after = group.gone_after_ms(&app.watch.store.settings);
    let mut consumers: Vec<_> = group.consumers().iter().collect();
    // the one that is most alive is the likeliest to want them
    consumers.sort_by_key(|consumer| (consumer.idle_ms > gone_after, consumer.pending, consumer.name.clone()));
    let (proposed, from) = match group.seen.handling_ms(1.0) {
        Some(slowest) => (
            (slowest.saturating_mul(3)).max(10_000),
            format!("three times the slowest of {} handlings seen", group.seen.handled_ms.len()),
        ),
        None => (CAUTIOUS_IDLE_MS, "a cautious guess: no handling was seen so far".to_owned()),
    };
    // a claim of nothing is no help: say so where the entries are younger than what is proposed
    let from = match group.oldest_idle(now.mono).value() {
        Some(oldest) if oldest < proposed => format!("{from}; the oldest is idle for {}", age_words(oldest)),
        _ => from,
    };
    app.asked += 1;
    let mut dialog = Dialog {
        kind,
        may_act: app.may_act,
        no: app.asked,
        part: Part::Cancel,
        targets: consumers.iter().map(|consumer| consumer.name.clone()).collect(),
        target: 0,
        min_idle: format!("{}s", proposed / 1000),
        min_idle_from: from,
        limit: String::new(),
        place: app.entry.unwrap_or(group.facts.cursor).to_string(),
        moving: false,
        may_move: false,
        typed: String::new(),
        plan: None,
        wrong: None,
        stage: Stage::Asking,
        key,
        group: name,
    };
    ask(&mut dialog, effects);
    app.dialog = Some(Box::new(dialog));
}

/// Asks for the plan of what the fields say now; an older plan is never shown for newer fields.
fn ask(dialog: &mut Dialog, effects: &mut Vec<Effect>) {
    dialog.plan = None;
    match dialog.ask() {
        Ok(ask) => {
            dialog.wrong = None;
            effects.push(Effect::MakePlan { no: dialog.no, ask: Box::new(ask) });
        }
        Err(why) => dialog.wrong = Some(why),
    }
}

/// A key while the dialog is open.
pub fn press(app: &mut App, key: Key, now: Now, effects: &mut Vec<Effect>) {
    let Some(mut dialog) = app.dialog.take() else { return };
    let keep = match dialog.stage {
        Stage::Asking => asking(app, &mut dialog, key, effects),
        Stage::Running(..) => {
            if key == Key::Esc {
                effects.push(Effect::StopAction);
            }
            true
        }
        Stage::Ended(..) => ended(app, &mut dialog, key, now, effects),
    };
    if keep && app.dialog.is_none() {
        app.dialog = Some(dialog);
    }
}

fn asking(app: &mut App, dialog: &mut Dialog, key: Key, effects: &mut Vec<Effect>) -> bool {
    let parts = dialog.parts();
    let at = parts.iter().position(|part| *part == dialog.part).unwrap_or(0);
    let step = |by: isize| parts[(at as isize + by).rem_euclid(parts.len() as isize) as usize];
    match (key, dialog.part) {
        (Key::Esc | Key::Ctrl('c'), _) | (Key::Enter, Part::Cancel) => return false,
        (Key::BackTab | Key::Up, _) => leave(dialog, step(-1), effects),
        (Key::Left | Key::Right, Part::Target) if !dialog.targets.is_empty() => {
            let count = dialog.targets.len() as isize;
            let by = if key == Key::Right { 1 } else { -1 };
            dialog.target = (dialog.target as isize + by).rem_euclid(count) as usize;
            // what was confirmed was another plan
            dialog.typed.clear();
            ask(dialog, effects);
        }
        (Key::Char(' ') | Key::Enter, Part::Moving) => {
            dialog.moving = !dialog.moving;
            dialog.typed.clear();
            if let Some(Ok(plan)) = &mut dialog.plan
                && let Plan::Seek(plan) = plan.as_mut()
            {
                plan.accept_moving(dialog.moving);
            }
        }
        (Key::Enter, Part::Do) => {
            if let Some(plan) = dialog.ready().filter(|_| app.may_act).cloned() {
                dialog.stage = Stage::Running(0, 0);
                effects.push(Effect::Execute { no: dialog.no, plan: Box::new(plan) });
            }
        }
        // typed in full it leads on to the button; it never is the button
        (Key::Enter, Part::Confirm) => {
            if dialog.ready().is_some() {
                dialog.part = Part::Do;
            }
        }
        (Key::Tab | Key::Down | Key::Enter, _) => leave(dialog, step(1), effects),
        (Key::Char('y'), Part::Cancel | Part::Do) => copy(app, dialog, effects),
        _ => edit(dialog, key),
    }
    true
}

/// Leaving a field that was changed asks for its plan.
fn leave(dialog: &mut Dialog, to: Part, effects: &mut Vec<Effect>) {
    let from = std::mem::replace(&mut dialog.part, to);
    if matches!(from, Part::MinIdle | Part::Limit | Part::Where) && dialog.plan.is_none() {
        ask(dialog, effects);
    }
}

fn edit(dialog: &mut Dialog, key: Key) {
    let field = match dialog.part {
        Part::MinIdle => &mut dialog.min_idle,
        Part::Limit => &mut dialog.limit,
        Part::Where => &mut dialog.place,
        Part::Confirm => &mut dialog.typed,
        _ => return,
    };
    match key {
        Key::Char(c) if field.len() < 100 => field.push(c),
        Key::Backspace => {
            field.pop();
        }
        Key::Ctrl('u') => field.clear(),
        _ => return,
    }
    if dialog.part != Part::Confirm {
        // what was confirmed was another plan
        dialog.plan = None;
        dialog.typed.clear();
    }
}

/// Pasted text goes into fields, never into the confirmation: that has to be typed.
pub fn paste(dialog: &mut Dialog, text: &str) {
    if dialog.stage != Stage::Asking || dialog.part == Part::Confirm {
        return;
    }
    for c in text.chars().filter(|c| !c.is_control()).take(100) {
        edit(dialog, Key::Char(c));
    }
}

fn copy(app: &mut App, dialog: &Dialog, effects: &mut Vec<Effect>) {
    if let Some(Ok(plan)) = &dialog.plan {
        let lines: Vec<String> =
            plan.commands().iter().map(|command| format!("redis-cli {} {}", app.cli_words, command)).collect();
        effects.push(Effect::Copy(lines.join("\n")));
    }
}

fn ended(app: &mut App, dialog: &mut Dialog, key: Key, now: Now, effects: &mut Vec<Effect>) -> bool {
    let Stage::Ended(outcome, at) = &dialog.stage else { return true };
    match key {
        Key::Char('b') => {
            if let Some((kind, place)) = way_back(dialog, outcome, now.mono.since(*at) as i64) {
                open(app, kind, now, effects);
                if let (Some(opened), Some(place)) = (&mut app.dialog, place) {
                    opened.place = place;
                    ask(opened, effects);
                }
                return false;
            }
            true
        }
        Key::Esc | Key::Enter | Key::Char('q') | Key::Ctrl('c') => false,
        _ => true,
    }
}

/// The dialog that takes back what was done, if anything can be.
fn way_back(dialog: &Dialog, outcome: &Outcome, passed_ms: i64) -> Option<(Kind, Option<String>)> {
    let (Outcome::Done(done) | Outcome::Unknown(_, done)) = outcome else { return None };
    match dialog.plan.as_ref()?.as_ref().ok()?.as_ref() {
        Plan::Claim(plan) if !done.moved.is_empty() => {
            let ask = UndoAsk { claim: plan.ask.clone(), moved: done.moved.clone(), passed_ms };
            Some((Kind::GiveBack(Box::new(ask)), None))
        }
        Plan::Entries(plan) if !done.moved.is_empty() => {
            let claim = plan.ask.as_claim()?;
            Some((Kind::GiveBack(Box::new(UndoAsk { claim, moved: done.moved.clone(), passed_ms })), None))
        }
        Plan::Seek(plan) => Some((Kind::Seek, Some(done.cursor_before.unwrap_or(plan.cursor).to_string()))),
        _ => None,
    }
}

/// A plan that was asked for.
pub fn planned(app: &mut App, no: u64, plan: Result<Box<Plan>, String>) {
    let Some(dialog) = app.dialog.as_mut().filter(|dialog| dialog.no == no && dialog.stage == Stage::Asking) else {
        return;
    };
    // only the plan of what the fields say now
    let fits = match (&plan, dialog.ask()) {
        (Ok(plan), Ok(ask)) => asked(plan) == ask,
        _ => true,
    };
    if !fits {
        return;
    }
    // a second answer to the same question may count otherwise than the one that was confirmed
    if dialog.plan.is_some() && dialog.plan.as_ref() != Some(&plan) {
        dialog.typed.clear();
        if dialog.part == Part::Do {
            dialog.part = Part::Confirm;
        }
    }
    dialog.plan = Some(plan);
    if let (true, Some(Ok(plan))) = (dialog.moving, &mut dialog.plan)
        && let Plan::Seek(plan) = plan.as_mut()
    {
        plan.accept_moving(true);
    }
}

fn asked(plan: &Plan) -> Ask {
    match plan {
        Plan::Claim(plan) => Ask::Claim(plan.ask.clone()),
        Plan::Seek(plan) => Ask::Seek(plan.ask.clone()),
        Plan::Entries(plan) => Ask::Entries(plan.ask.clone()),
        Plan::Consumer(plan) => {
            Ask::Consumer { key: plan.key.clone(), group: plan.group.clone(), consumer: plan.consumer.clone() }
        }
        Plan::Undo(plan) => Ask::Undo(plan.ask.clone()),
    }
}

/// The end of an action. A cursor that moved meanwhile is the normal case on a live group: nothing was written, the new preview is
/// asked for at once, and from then on "the cursor is moving" may be acknowledged.
pub fn ended_with(app: &mut App, no: u64, outcome: Box<Outcome>, now: Now, effects: &mut Vec<Effect>) {
    app.actions.push((now.wall_ms, outcome.text()));
    let Some(dialog) = app.dialog.as_mut().filter(|dialog| dialog.no == no) else {
        app.notice = Some(Notice { text: outcome.text(), until: Mono(now.mono.0 + 10_000) });
        return;
    };
    let moved = matches!(*outcome, Outcome::Refused(Refusal::CursorMoved { .. }));
    if moved && dialog.kind == Kind::Seek {
        dialog.stage = Stage::Asking;
        dialog.may_move = true;
        dialog.part = Part::Moving;
        dialog.typed.clear();
        ask(dialog, effects);
        dialog.wrong = None;
        app.notice = Some(Notice { text: outcome.text(), until: Mono(now.mono.0 + 10_000) });
    } else {
        dialog.stage = Stage::Ended(outcome, now.mono);
    }
    effects.push(Effect::PollNow);
}

/// The consumer that the row in the tree stands for.
pub fn consumer_at(app: &App) -> Option<Name> {
    match app.tree_row.as_ref()? {
        TreeRow::Consumer(name) => name.clone(),
        TreeRow::Entry(_) => None,
    }
}
