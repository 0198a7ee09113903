//! Actions: plans are made, confirmed plans carried out, each between two lines of the journal. On a connection of their own, so that
//! watching goes on meanwhile.

use crate::{
    app::{effect::Effect, msg::Msg},
    clock::Clock,
    core::{
        action::{Ask, Plan},
        outcome::Outcome,
    },
    journal::{self, Journal},
    source::{Executor, Planner, Progress, Stop, Target, connect_owner},
};
use std::io;
use tokio::sync::mpsc;

/// Journal, action, journal. Without a journal nothing is sent.
pub async fn carry_out(
    executor: &mut Executor<'_>,
    plan: &Plan,
    endpoint: &str,
    clock: Clock,
    stop: &Stop,
    progress: impl Fn(Progress),
) -> Outcome {
    let path = journal::default_path(|name| std::env::var(name).ok());
    let opened = path
        .ok_or_else(|| io::Error::other("neither XDG_STATE_HOME nor HOME is set"))
        .and_then(|path| Journal::open(&path));
    let mut journal = match opened {
        Ok(journal) => journal,
        Err(error) => return Outcome::refused(format!("the journal cannot be written: {error}")),
    };
    if let Err(error) = journal.begin(clock.now().wall_ms, endpoint, plan) {
        return Outcome::refused(format!("the journal cannot be written: {error}"));
    }
    let mut outcome = executor.run(plan, stop, progress).await;
    if let Err(error) = journal.end(clock.now().wall_ms, endpoint, plan, &outcome)
        && let Outcome::Done(done) | Outcome::Unknown(_, done) = &mut outcome
    {
        let lost = format!("the journal ({}) could not be completed: {error}", journal.path().display());
        done.note = Some(done.note.take().map_or(lost.clone(), |note| format!("{note}; {lost}")));
    }
    outcome
}

/// The task that acts.
#[derive(Debug)]
pub struct Actor {
    pub target: Target,
    /// For time stamps.
    pub clock: Clock,
    /// A consumer seen within this many milliseconds counts as active.
    pub active_ms: i64,
    /// Whether anything may be carried out in this session. Plans may always be made.
    pub allowed: bool,
    /// Asks a claim under way to stop.
    pub stop: Stop,
    /// [`Effect::MakePlan`] and [`Effect::Execute`]; others are ignored.
    pub effects: mpsc::Receiver<Effect>,
    pub messages: mpsc::Sender<Msg>,
}

impl Actor {
    /// Runs until nobody asks any more.
    pub async fn run(mut self) {
        while let Some(effect) = self.effects.recv().await {
            let msg = match effect {
                Effect::MakePlan { dialog, ask } => Msg::Planned(dialog, self.plan(*ask).await),
                Effect::Execute { dialog, plan } => Msg::Ended(dialog, Box::new(self.execute(dialog, &plan).await)),
                _ => continue,
            };
            if self.messages.send(msg).await.is_err() {
                return;
            }
        }
    }

    /// A connection for each plan and each action: an idle one may have been closed meanwhile, which after sending would be an unknown outcome.
    async fn plan(&self, ask: Ask) -> Result<Box<Plan>, String> {
        let owner = connect_owner(&self.target, ask.detail().key(), self.clock).await;
        let (mut link, _) = owner.map_err(|fault| fault.to_string())?;
        let plan = Planner::new(&mut link, self.active_ms).plan(ask).await.map_err(|why| why.to_string())?;
        Ok(Box::new(plan))
    }

    async fn execute(&self, dialog: u64, plan: &Plan) -> Outcome {
        if !self.allowed {
            return Outcome::refused("this session only reads".to_owned());
        }
        let (mut link, target) = match connect_owner(&self.target, plan.detail().ask().detail().key(), self.clock).await
        {
            Ok(owner) => owner,
            Err(fault) => return Outcome::refused(fault.to_string()),
        };
        let mut executor = Executor::new(&mut link, &target, self.clock, self.active_ms);
        let progress = |progress: Progress| {
            // a full queue only means that the screen is behind: the next one tells more
            let _ = self.messages.try_send(Msg::Progress(dialog, progress.claimed, progress.removed));
        };
        carry_out(&mut executor, plan, &target.place(), self.clock, &self.stop, progress).await
    }
}
