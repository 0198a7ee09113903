//! The dialog of an action: what is asked for, the plan it gives, the typed confirmation, and what became of it. The focus begins on
//! Cancel, so that a key typed ahead does nothing; only a plan that is shown, not refused and confirmed by typing can be sent.

use super::{App, effect::Effect, key::Key, log::Acted, proposal};
use crate::core::{
    action::{
        Ask, Plan,
        claim::ClaimAsk,
        delete_consumer::DeleteConsumerAsk,
        delete_group::DeleteGroupAsk,
        form::{Field, Form},
        marked::{MarkedAsk, What},
        seek::{Place, SeekAsk},
    },
    name::Name,
    outcome::{Outcome, Refusal},
    time::{Mono, Now},
    words::count,
};

/// What takes keys in the dialog.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// A field of the action.
    Field(Field),
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
    /// What is asked for, before the fields are filled in.
    pub ask: Ask,
    /// Whether plans may be carried out in this session.
    pub may_act: bool,
    /// Tells answers to this dialog's questions from older ones.
    pub id: u64,
    /// What takes keys.
    pub part: Part,
    pub form: Form,
    /// Where the proposed min-idle comes from.
    pub min_idle_from: String,
    /// "The cursor is moving" is acknowledged.
    pub moving: bool,
    /// A mismatch showed that it does move, so that this may be acknowledged.
    pub may_move: bool,
    /// The confirmation, as typed.
    pub typed: String,
    /// What Enter was answered, where it could not lead on.
    pub answer: Option<String>,
    /// Leaving was asked for while the action is under way: the next time it is done.
    pub leaving: bool,
    /// The plan for what is asked now; `None` while it is made.
    pub plan: Option<Result<Box<Plan>, String>>,
    /// What is wrong with the fields.
    pub wrong: Option<String>,
    /// How far it has come.
    pub stage: Stage,
}

/// Names longer than this, or with signs that cannot be typed, are confirmed by a number instead.
const LONGEST_TYPED: usize = 40;
/// A notice of how an action ended stays for this time.
const OUTCOME_MS: u64 = 10_000;

impl Dialog {
    /// What must be typed.
    pub fn phrase(&self) -> String {
        let group = self.ask.detail().group();
        let shown = group.shown();
        let plain =
            group.hex().is_none() && shown.len() <= LONGEST_TYPED && !shown.trim().is_empty() && shown.is_ascii();
        if plain { shown } else { format!("yes {}", group.bytes().len()) }
    }

    /// Why nothing is done on Enter, and what to do about it.
    fn why_not(&self) -> String {
        let phrase = self.phrase();
        match (&self.plan, &self.wrong) {
            (_, Some(why)) => format!("{why}: change the field"),
            (None, None) => "the preview is not there yet: wait for it, and read it first".to_owned(),
            (Some(Err(why)), None) => why.clone(),
            (Some(Ok(_)), None) if self.typed.is_empty() => {
                format!("nothing is typed so far: type {phrase}, then Enter")
            }
            (Some(Ok(_)), None) => {
                let typed = crate::core::name::visible(self.typed.as_bytes());
                format!("\"{typed}\" is not {phrase}: Ctrl-U clears it")
            }
        }
    }

    /// The parts that take keys, in order.
    pub fn parts(&self) -> Vec<Part> {
        let mut parts: Vec<Part> = self.ask.detail().fields().iter().copied().map(Part::Field).collect();
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

    /// What is asked for now, or what is wrong with the fields.
    fn filled(&self) -> Result<Ask, String> {
        self.ask.detail().filled(&self.form)
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

/// The action that a key prepares.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Action {
    Claim,
    Seek,
    HandOver,
    Acknowledge,
    DeleteConsumer,
    DeleteGroup,
}

/// The request that an action begins with. What is missing in it is chosen or typed in the dialog.
fn template(app: &App, action: Action, key: Name, group: Name) -> Option<Ask> {
    let ids = || app.group_screen.marks.iter().copied().collect();
    Some(match action {
        Action::Claim => Ask::Claim(ClaimAsk {
            key,
            group,
            target: Name::default(),
            create: false,
            min_idle_ms: 0,
            from: None,
            limit: None,
            justid: true,
        }),
        Action::Seek => Ask::Seek(SeekAsk { key, group, place: Place::End, beyond_end: false }),
        Action::HandOver => Ask::Marked(MarkedAsk { key, group, ids: ids(), what: What::MoveTo(Name::default()) }),
        Action::Acknowledge => Ask::Marked(MarkedAsk { key, group, ids: ids(), what: What::Acknowledge }),
        Action::DeleteConsumer => {
            Ask::DeleteConsumer(DeleteConsumerAsk { key, group, consumer: app.picked_consumer()? })
        }
        Action::DeleteGroup => Ask::DeleteGroup(DeleteGroupAsk { key, group, in_use: false }),
    })
}

/// Opens the dialog of an action for the group on the screen, or picked in the overview.
pub fn prepare(app: &mut App, action: Action, now: Now, effects: &mut Vec<Effect>) {
    let asked = app.subject().and_then(|(key, group)| template(app, action, key, group));
    if let Some(asked) = asked {
        open(app, asked, now, effects);
    }
}

fn open(app: &mut App, asked: Ask, now: Now, effects: &mut Vec<Effect>) {
    let (key, name) = (asked.detail().key(), asked.detail().group());
    let Some(seen) = app.watch.group(key, name) else { return };
    let (form, min_idle_from) = proposal::of(app, &asked, seen, now);
    app.asked += 1;
    let mut dialog = Dialog {
        ask: asked,
        form,
        may_act: app.session.may_act,
        id: app.asked,
        part: Part::Cancel,
        min_idle_from,
        moving: false,
        may_move: false,
        typed: String::new(),
        answer: None,
        leaving: false,
        plan: None,
        wrong: None,
        stage: Stage::Asking,
    };
    ask(&mut dialog, effects);
    app.show_dialog(dialog);
}

/// Asks for the plan of what the fields say now; an older plan is never shown for newer fields.
fn ask(dialog: &mut Dialog, effects: &mut Vec<Effect>) {
    dialog.plan = None;
    match dialog.filled() {
        Ok(ask) => {
            dialog.wrong = None;
            effects.push(Effect::MakePlan { dialog: dialog.id, ask: Box::new(ask) });
        }
        Err(why) => dialog.wrong = Some(why),
    }
}

/// A key while the dialog is open.
pub fn press(app: &mut App, key: Key, now: Now, effects: &mut Vec<Effect>) {
    let Some(mut dialog) = app.take_dialog() else { return };
    let keep = match dialog.stage {
        Stage::Asking => asking(app, &mut dialog, key, now, effects),
        Stage::Running(..) => {
            running(app, &mut dialog, key, now, effects);
            true
        }
        Stage::Ended(..) => ended(app, &mut dialog, key, now, effects),
    };
    if keep && app.overlay.is_none() {
        app.put_back(dialog);
    }
}

/// Esc stops the action between two batches. Who wants to quit is asked once.
fn running(app: &mut App, dialog: &mut Dialog, key: Key, now: Now, effects: &mut Vec<Effect>) {
    match key {
        Key::Esc => effects.push(Effect::StopAction),
        Key::Char('q') | Key::Ctrl('c') if dialog.leaving => effects.push(Effect::Quit { printing: false }),
        Key::Char('q') | Key::Ctrl('c') => {
            dialog.leaving = true;
            let text = format!("an action is under way: {key} once more stops it after its batch and quits");
            app.notify(text, now, OUTCOME_MS);
        }
        _ => {}
    }
}

fn asking(app: &mut App, dialog: &mut Dialog, key: Key, now: Now, effects: &mut Vec<Effect>) -> bool {
    let parts = dialog.parts();
    let at = parts.iter().position(|part| *part == dialog.part).unwrap_or(0);
    dialog.answer = None;
    let step = |by: isize| parts[(at as isize + by).rem_euclid(parts.len() as isize) as usize];
    match (key, dialog.part) {
        (Key::Esc | Key::Ctrl('c'), _) | (Key::Enter, Part::Cancel) => return false,
        (Key::BackTab | Key::Up, _) => leave(dialog, step(-1), effects),
        (Key::Left | Key::Right, Part::Field(of @ (Field::Source | Field::Target))) => {
            let Form { sources, source, targets, target, .. } = &mut dialog.form;
            let (chosen, count) = if of == Field::Source { (source, sources.len()) } else { (target, targets.len()) };
            let by = if key == Key::Right { 1 } else { -1 };
            *chosen = (*chosen as isize + by).rem_euclid(count.max(1) as isize) as usize;
            // what was confirmed was another plan
            dialog.typed.clear();
            ask(dialog, effects);
        }
        (Key::Char(' ') | Key::Enter, Part::Moving) => {
            dialog.moving = !dialog.moving;
            if let Some(Ok(plan)) = &mut dialog.plan
                && let Plan::Seek(plan) = plan.as_mut()
            {
                plan.accept_moving(dialog.moving);
            }
        }
        (Key::Enter, Part::Do) => {
            if let Some(plan) = dialog.ready().filter(|_| app.session.may_act).cloned() {
                dialog.stage = Stage::Running(0, 0);
                effects.push(Effect::Execute { dialog: dialog.id, plan: Box::new(plan) });
            } else {
                dialog.answer = Some(dialog.why_not());
            }
        }
        // typed in full it leads on to the button; it never is the button
        (Key::Enter, Part::Confirm) => {
            if dialog.ready().is_some() {
                dialog.part = Part::Do;
            } else {
                dialog.answer = Some(dialog.why_not());
            }
        }
        (Key::Tab | Key::Down | Key::Enter, _) => leave(dialog, step(1), effects),
        (Key::Char('y'), Part::Cancel | Part::Do) => copy(app, dialog, now, effects),
        _ => edit(dialog, key),
    }
    true
}

/// Leaving a field that was changed asks for its plan.
fn leave(dialog: &mut Dialog, to: Part, effects: &mut Vec<Effect>) {
    let from = std::mem::replace(&mut dialog.part, to);
    if matches!(from, Part::Field(_)) && dialog.plan.is_none() {
        ask(dialog, effects);
    }
}

fn edit(dialog: &mut Dialog, key: Key) {
    let field = match dialog.part {
        Part::Field(field) => match dialog.form.text_mut(field) {
            Some(text) => text,
            None => return,
        },
        Part::Confirm => &mut dialog.typed,
        Part::Moving | Part::Cancel | Part::Do => return,
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

fn copy(app: &mut App, dialog: &Dialog, now: Now, effects: &mut Vec<Effect>) {
    if let Some(Ok(plan)) = &dialog.plan {
        let commands = plan.detail().commands();
        let lines: Vec<String> =
            commands.iter().map(|command| format!("redis-cli {} {command}", app.session.cli_words)).collect();
        let text = count(lines.len() as i64, "command", "commands");
        app.notify(format!("copied: {text}"), now, super::NOTICE_MS);
        effects.push(Effect::Copy(lines.join("\n")));
    } else {
        app.notify("the preview is not there yet: nothing to copy", now, super::NOTICE_MS);
    }
}

fn ended(app: &mut App, dialog: &mut Dialog, key: Key, now: Now, effects: &mut Vec<Effect>) -> bool {
    let Stage::Ended(outcome, at) = &dialog.stage else { return true };
    match key {
        Key::Char('b') => {
            if let Some(asked) = way_back(dialog, outcome, now.mono.since(*at) as i64) {
                open(app, asked, now, effects);
                return false;
            }
            true
        }
        Key::Esc | Key::Enter | Key::Char('q') | Key::Ctrl('c') => false,
        _ => true,
    }
}

/// The request that takes back what was done, if anything can be.
pub fn way_back(dialog: &Dialog, outcome: &Outcome, passed_ms: i64) -> Option<Ask> {
    let (Outcome::Done(done) | Outcome::Unknown(_, done)) = outcome else { return None };
    dialog.plan.as_ref()?.as_ref().ok()?.detail().way_back(done, passed_ms)
}

/// A plan that was asked for.
pub fn planned(app: &mut App, id: u64, plan: Result<Box<Plan>, String>) {
    let Some(dialog) = app.dialog_mut(id).filter(|dialog| dialog.stage == Stage::Asking) else {
        return;
    };
    // only the plan of what the fields say now
    let fits = match (&plan, dialog.filled()) {
        (Ok(plan), Ok(ask)) => plan.detail().ask() == ask,
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

/// The end of an action. A cursor that moved meanwhile is the normal case on a live group: nothing was written, the new preview is
/// asked for at once, and from then on "the cursor is moving" may be acknowledged.
pub fn ended_with(app: &mut App, id: u64, outcome: Box<Outcome>, now: Now, effects: &mut Vec<Effect>) {
    let (wall_ms, text) = (now.wall_ms, outcome.text());
    let row = app.dialog_mut(id).map(|dialog| (dialog.ask.detail().key().clone(), dialog.ask.detail().group().clone()));
    app.session.actions.push(Acted { wall_ms, row, text });
    let Some(dialog) = app.dialog_mut(id) else {
        return app.notify(outcome.text(), now, OUTCOME_MS);
    };
    let done = match &*outcome {
        Outcome::Done(done) | Outcome::Unknown(_, done) => Some(done),
        Outcome::Refused(_) => None,
    };
    if let (Some(done), Some(Ok(plan))) = (done, &dialog.plan) {
        let (action, ask) = (plan.detail().own_action(done), plan.detail().ask());
        app.watch.store.note_action(ask.detail().key(), ask.detail().group(), action, now);
    }
    let Some(dialog) = app.dialog_mut(id) else { return };
    let moved = matches!(*outcome, Outcome::Refused(Refusal::CursorMoved { .. }));
    if moved && matches!(dialog.ask, Ask::Seek(_)) {
        dialog.stage = Stage::Asking;
        dialog.may_move = true;
        dialog.part = Part::Moving;
        dialog.typed.clear();
        ask(dialog, effects);
        dialog.wrong = None;
        app.notify(outcome.text(), now, OUTCOME_MS);
    } else {
        dialog.stage = Stage::Ended(outcome, now.mono);
    }
    effects.push(Effect::PollNow);
}
