//! The loop: receive, update, carry out effects, draw once if something changed.

use crate::{
    app::{
        App, RollUp,
        effect::{Effect, Polling},
        msg::{self, Msg},
        screen,
    },
    clock::{Clock, local_time},
    core::{number::ms, outcome::Outcome, store::Settings},
    failure::Failure,
    journal, report,
    source::{Connection, Stop, Target},
    tasks::{Actor, Poller, ToServer},
    tui::{
        self, Answer, Replies, Sorted, Theme, ask_background, click, message,
        terminal::{self, Screen, install_panic_hook},
        typed,
    },
};
use crossterm::{
    clipboard::CopyToClipboard,
    event::{Event, EventStream},
    execute,
};
use futures::StreamExt;
use std::{
    collections::VecDeque,
    io::{self, Write},
    time::{Duration, Instant},
};
use tokio::{
    signal::unix::{Signal, SignalKind, signal},
    sync::{mpsc, watch},
    task::JoinSet,
    time::{MissedTickBehavior, sleep_until},
};

/// Ages on the screen tick so often.
const TICK: Duration = Duration::from_millis(250);
/// However much happens, no more frames than this are drawn.
const FRAME: Duration = Duration::from_millis(5);

/// An action under way may take this long to end when the program quits: longer than any reply is waited for.
const LAST_WORDS: Duration = Duration::from_secs(8);

/// How the dashboard is started.
#[derive(Clone, Debug)]
pub struct Options {
    /// What to watch.
    pub settings: Settings,
    /// How often.
    pub interval: Duration,
    /// What to roll up.
    pub roll_up: RollUp,
    /// The look.
    pub theme: Theme,
    /// Take clicks and the wheel.
    pub mouse: bool,
    /// Ring the terminal's bell when something becomes critical.
    pub bell: bool,
    /// Whether actions may be carried out.
    pub may_act: bool,
    /// Why not, to be put behind "this session only reads".
    pub why_read_only: &'static str,
}

/// Signals that end or stop the program.
struct Signals {
    terminate: Signal,
    hang_up: Signal,
    interrupt: Signal,
    go_on: Signal,
}

impl Signals {
    fn listen() -> io::Result<Self> {
        Ok(Self {
            terminate: signal(SignalKind::terminate())?,
            hang_up: signal(SignalKind::hangup())?,
            interrupt: signal(SignalKind::interrupt())?,
            go_on: signal(SignalKind::from_raw(SIGCONT))?,
        })
    }
}

#[cfg(target_os = "linux")]
const SIGCONT: i32 = 18;
#[cfg(not(target_os = "linux"))]
const SIGCONT: i32 = 19;

/// Runs the dashboard until the user quits. `beside` are tasks that must live as long, such as the demo's workload: the first that
/// ends, ends the dashboard.
///
/// # Errors
/// When the server is not reached at the start, standard output is no terminal, or a task panics.
pub async fn run(target: Target, options: Options, clock: Clock, beside: JoinSet<Failure>) -> Result<(), Failure> {
    if !io::IsTerminal::is_terminal(&io::stdout()) {
        let why = "the dashboard needs a terminal; for scripts there is: pelwatch snapshot [--json]";
        return Err(Failure::Usage(why.to_owned()));
    }
    let term = std::env::var("TERM").unwrap_or_default();
    if term.is_empty() || term == "dumb" {
        let named = if term.is_empty() { "TERM is not set".to_owned() } else { format!("TERM is {term}") };
        let why = format!(
            "the dashboard needs a terminal that can move its cursor ({named}); for scripts there is: pelwatch snapshot [--json]"
        );
        return Err(Failure::Usage(why));
    }
    // reached once before the screen is taken, so that a wrong address is a plain sentence
    let link = Connection::connect(&target, clock).await?;
    // from here on the screen is ours: what carries connections may not ask anything
    target.ask_no_more();
    install_panic_hook();
    let mut signals = Signals::listen()?;
    let screen = Screen::take(options.mouse)?;
    let mut options = options;
    // before anybody reads keys
    let answer = if options.theme.asks() { ask_background()? } else { Answer { complete: true, ..Answer::default() } };
    options.theme = answer.background.map_or(options.theme, |background| options.theme.on(background));
    let mut dashboard = Dashboard::start(&target, &options, clock, link, beside, screen)?;
    dashboard.replies = Replies::after(&answer, Instant::now());
    dashboard.typed = typed(&answer.typed);
    let printing = dashboard.run(&mut signals).await;
    // also when the terminal failed: an action under way must not stay open in the journal
    dashboard.let_action_end().await;
    let Dashboard { app, screen, .. } = dashboard;
    drop(screen);
    if printing? {
        let text = report::text(&app.watch, &app.session.endpoint, clock.now());
        io::stdout().lock().write_all(text.as_bytes())?;
    }
    Ok(())
}

struct Dashboard {
    app: App,
    screen: Screen,
    theme: Theme,
    bell: bool,
    /// The title that the terminal shows.
    title: String,
    clock: Clock,
    polling: watch::Sender<Polling>,
    /// To the poller.
    polls: mpsc::Sender<Effect>,
    /// To the task that acts.
    actions: mpsc::Sender<Effect>,
    /// From both.
    messages: mpsc::Receiver<Msg>,
    stop: Stop,
    acting: bool,
    /// Parts of a sample that are still to be taken.
    parts: VecDeque<Msg>,
    tasks: JoinSet<Failure>,
    keys: EventStream,
    /// Keys that were typed while the terminal was asked.
    typed: Vec<Event>,
    /// The terminal's late answers among them.
    replies: Replies,
}

/// Why the loop goes on or ends.
enum Next {
    On,
    End { printing: bool },
}

impl Dashboard {
    fn start(
        target: &Target,
        options: &Options,
        clock: Clock,
        link: Connection,
        mut tasks: JoinSet<Failure>,
        screen: Screen,
    ) -> io::Result<Self> {
        let interval_ms = ms(options.interval);
        let mut app = App::new(options.settings.clone(), target.place(), target.cli_words(), interval_ms);
        app.overview.roll_up(options.roll_up.clone());
        let size = screen.terminal.size()?;
        app.size = (size.width, size.height);
        app.session.may_act = options.may_act;
        options.why_read_only.clone_into(&mut app.session.why_read_only);
        app.session.caution = target.caution();
        if let Some(path) = journal::default_path(|name| std::env::var(name).ok()) {
            app.session.journal = journal::tail(&path, 20);
        }
        let (sender, messages) = mpsc::channel(8);
        let (actions, to_act) = mpsc::channel(4);
        let stop = Stop::default();
        let actor = Actor {
            target: target.clone(),
            clock,
            active_ms: options.settings.gone_after_ms,
            allowed: options.may_act,
            stop: stop.clone(),
            effects: to_act,
            messages: sender.clone(),
        };
        tasks.spawn(async move {
            actor.run().await;
            Failure::Io(io::Error::other("the task for actions ended"))
        });
        let first = Polling { request: app.watch.store.next_request(&app.focus(), clock.mono()), interval_ms };
        let (polling, to_poll) = watch::channel(first);
        let (polls, poll_effects) = mpsc::channel(8);
        let connect = ToServer { target: target.clone(), clock };
        let poller = Poller { connect, clock, polling: to_poll, effects: poll_effects, messages: sender };
        tasks.spawn(async move {
            poller.run(Some(link)).await;
            Failure::Io(io::Error::other("the poller ended"))
        });
        Ok(Self {
            app,
            screen,
            theme: options.theme,
            bell: options.bell,
            title: String::new(),
            clock,
            polling,
            polls,
            actions,
            messages,
            stop,
            acting: false,
            parts: VecDeque::new(),
            tasks,
            keys: EventStream::new(),
            typed: Vec::new(),
            replies: Replies::default(),
        })
    }

    async fn run(&mut self, signals: &mut Signals) -> Result<bool, Failure> {
        let mut tick = tokio::time::interval(TICK);
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut frame = tokio::time::interval(FRAME);
        frame.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut dirty = true;
        let typed = std::mem::take(&mut self.typed);
        if let Some(Next::End { printing }) = self.take_events(typed)? {
            return Ok(printing);
        }
        loop {
            let due = self.replies.due().map_or_else(tokio::time::Instant::now, tokio::time::Instant::from_std);
            let next = tokio::select! {
                // in this order: what the user sees and types does not wait for what came from the server
                biased;
                _ = signals.terminate.recv() => self.take(Msg::Terminate)?,
                _ = signals.hang_up.recv() => self.take(Msg::Terminate)?,
                _ = signals.interrupt.recv() => self.take(Msg::Terminate)?,
                _ = signals.go_on.recv() => {
                    self.screen.resume()?;
                    Next::On
                }
                ended = self.tasks.join_next() => return Err(ending(ended)),
                _ = frame.tick(), if dirty => {
                    self.draw()?;
                    dirty = false;
                    continue;
                }
                event = self.keys.next() => match event {
                    Some(Ok(event)) => match self.replies.take(event, Instant::now()) {
                        Sorted::Keys(events) => match self.take_events(events)? {
                            Some(next) => next,
                            None => continue,
                        },
                        Sorted::Answer(background) => {
                            self.theme = background.map_or(self.theme, |background| self.theme.on(background));
                            self.screen.forget()?;
                            Next::On
                        }
                    },
                    // the terminal is gone: there is nobody to watch
                    Some(Err(_)) | None => Next::End { printing: false },
                },
                () = sleep_until(due), if self.replies.due().is_some() => {
                    let keys = self.replies.give_up();
                    match self.take_events(keys)? {
                        Some(next) => next,
                        None => continue,
                    }
                }
                _ = tick.tick() => self.take(Msg::Clock)?,
                // what comes after a sample waits until all parts of it are taken
                msg = self.messages.recv(), if self.parts.is_empty() => match msg {
                    Some(Msg::Sampled { sample, interval_ms }) => {
                        self.parts.extend(msg::parts(sample, interval_ms));
                        continue;
                    }
                    Some(msg) => {
                        self.acting &= !matches!(msg, Msg::Ended(..));
                        self.take(msg)?
                    }
                    // both tasks are gone: how they ended is the failure, and a panic must not pass for a quiet end
                    None => return Err(ending(self.tasks.join_next().await)),
                },
                () = std::future::ready(()), if !self.parts.is_empty() => match self.parts.pop_front() {
                    Some(part) => {
                        let next = self.take(part)?;
                        if !self.parts.is_empty() {
                            continue;
                        }
                        next
                    }
                    None => continue,
                },
            };
            match next {
                Next::On => dirty = true,
                Next::End { printing } => return Ok(printing),
            }
        }
    }

    /// Events in order, until one of them ends the program; `None` if none of them means anything.
    fn take_events(&mut self, events: Vec<Event>) -> io::Result<Option<Next>> {
        let mut next = None;
        let msgs: Vec<Msg> = events.into_iter().filter_map(|event| self.msg_of(event)).collect();
        for msg in msgs {
            next = Some(self.take(msg)?);
            if matches!(next, Some(Next::End { .. })) {
                break;
            }
        }
        Ok(next)
    }

    /// What an event means. A click means what stands there now.
    fn msg_of(&self, event: Event) -> Option<Msg> {
        let Some((column, row)) = click(&event) else { return message(event) };
        let view = screen::Screen::of(&self.app, self.clock.now(), &local_time());
        tui::target(&view, self.app.size, column, row).map(Msg::Click)
    }

    /// An action under way is stopped between two batches and gets its line in the journal before the program ends.
    async fn let_action_end(&mut self) {
        if !self.acting {
            return;
        }
        self.stop.ask();
        let ended = async {
            while let Some(msg) = self.messages.recv().await {
                if matches!(msg, Msg::Ended(..)) {
                    break;
                }
            }
        };
        let _ = tokio::time::timeout(LAST_WORDS, ended).await;
    }

    fn take(&mut self, msg: Msg) -> io::Result<Next> {
        for effect in crate::app::update::update(&mut self.app, msg, self.clock.now()) {
            match effect {
                Effect::Poll(polling) => {
                    self.polling.send_replace(*polling);
                }
                // a full queue means that the same was asked for just now; the key can be pressed again
                effect @ (Effect::PollNow | Effect::FetchEntry { .. }) => drop(self.polls.try_send(effect)),
                effect @ Effect::MakePlan { .. } => drop(self.actions.try_send(effect)),
                Effect::Execute { dialog, plan } => {
                    let free = !self.acting;
                    if free {
                        self.stop.clear();
                    }
                    if !free || self.actions.try_send(Effect::Execute { dialog, plan }).is_err() {
                        let refused = Outcome::refused("an action is under way already");
                        return self.take(Msg::Ended(dialog, Box::new(refused)));
                    }
                    self.acting = true;
                }
                Effect::StopAction => self.stop.ask(),
                Effect::Copy(text) => execute!(io::stdout(), CopyToClipboard::to_clipboard_from(text))?,
                Effect::Ring => {
                    if self.bell {
                        terminal::ring()?;
                    }
                }
                Effect::Redraw => self.screen.forget()?,
                Effect::Suspend => self.suspend()?,
                Effect::Quit { printing } => return Ok(Next::End { printing }),
            }
        }
        Ok(Next::On)
    }

    /// Raw mode swallows Ctrl-Z, so the program stops itself the way the shell would have it.
    fn suspend(&mut self) -> io::Result<()> {
        terminal::give_back();
        self.title.clear();
        // the shell's own kill: small systems have no program of that name. Where it cannot be done, the screen just comes back
        let _ = std::process::Command::new("sh").args(["-c", "kill -STOP $PPID"]).status();
        self.screen.resume()
    }

    fn draw(&mut self) -> io::Result<()> {
        let view = screen::Screen::of(&self.app, self.clock.now(), &local_time());
        if view.title != self.title {
            terminal::while_ours(|| terminal::set_title(&view.title))?;
            self.title.clone_from(&view.title);
        }
        let (theme, terminal) = (self.theme, &mut self.screen.terminal);
        terminal::while_ours(|| {
            let mut out = io::stdout();
            execute!(out, crossterm::terminal::BeginSynchronizedUpdate)?;
            terminal.draw(|frame| tui::draw(frame, &view, &theme))?;
            execute!(out, crossterm::terminal::EndSynchronizedUpdate)
        })
    }
}

/// A task that ended takes the dashboard with it: what it kept up to date would silently grow old.
fn ending(ended: Option<Result<Failure, tokio::task::JoinError>>) -> Failure {
    match ended {
        Some(Ok(failure)) => failure,
        Some(Err(error)) if error.is_panic() => {
            Failure::Io(io::Error::other("a task panicked; the report above says where"))
        }
        _ => Failure::Io(io::Error::other("all tasks ended")),
    }
}
