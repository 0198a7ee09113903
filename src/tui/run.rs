//! The loop: receive, update, carry out effects, draw once if something changed.

use super::{
    draw::draw,
    input,
    terminal::{self, Screen, install_panic_hook},
    theme::Theme,
};
use crate::{
    act::{Actor, Deed, Told},
    app::{App, effect::Effect, msg::Msg, screen},
    clock::{Clock, local_time},
    core::store::Settings,
    report,
    run::Failure,
    source::{Order, Plan, Poller, Report, Stop, Target, Wire},
};
use crossterm::{clipboard::CopyToClipboard, event::EventStream, execute};
use futures::StreamExt;
use std::{io, time::Duration};
use tokio::{
    signal::unix::{Signal, SignalKind, signal},
    sync::{mpsc, watch},
    task::JoinSet,
    time::MissedTickBehavior,
};

/// Ages on the screen tick so often.
const TICK: Duration = Duration::from_millis(250);
/// However much happens, no more frames than this are drawn.
const FRAME: Duration = Duration::from_millis(33);

/// An action under way gets so long to end before the program does: longer than any reply is waited for.
const LAST_WORDS: Duration = Duration::from_secs(8);

/// How the dashboard is started.
#[derive(Clone, Debug)]
pub struct Options {
    /// What to watch.
    pub settings: Settings,
    /// How often.
    pub interval: Duration,
    /// The look.
    pub theme: Theme,
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
pub async fn dashboard(
    target: Target,
    options: Options,
    clock: Clock,
    beside: JoinSet<Failure>,
) -> Result<(), Failure> {
    if !io::IsTerminal::is_terminal(&io::stdout()) {
        let why = "the dashboard needs a terminal; for scripts there is: pelwatch snapshot [--json]";
        return Err(Failure::Usage(why.to_owned()));
    }
    // reached once before the screen is taken, so that a wrong address is a plain sentence
    let link = Wire::connect(&target, clock).await?;
    install_panic_hook();
    let mut signals = Signals::listen()?;
    let screen = Screen::take()?;
    let mut dashboard = Dashboard::start(&target, &options, clock, link, beside, screen)?;
    let printing = dashboard.run(&mut signals).await;
    let Dashboard { app, screen, .. } = dashboard;
    drop(screen);
    if printing? {
        print!("{}", report::text(&app.watch, &app.endpoint, clock.now()));
    }
    Ok(())
}

struct Dashboard {
    app: App,
    screen: Screen,
    theme: Theme,
    clock: Clock,
    plan: watch::Sender<Plan>,
    orders: mpsc::Sender<Order>,
    deeds: mpsc::Sender<Deed>,
    told: mpsc::Receiver<Told>,
    stop: Stop,
    acting: bool,
    reports: mpsc::Receiver<Report>,
    tasks: JoinSet<Failure>,
    keys: EventStream,
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
        link: Wire,
        mut tasks: JoinSet<Failure>,
        screen: Screen,
    ) -> io::Result<Self> {
        let interval_ms = options.interval.as_millis() as u64;
        let mut app = App::new(options.settings.clone(), target.place(), target.cli_words(), interval_ms);
        let size = screen.terminal.size()?;
        app.size = (size.width, size.height);
        app.may_act = options.may_act;
        options.why_read_only.clone_into(&mut app.why_read_only);
        if let Some(path) = crate::journal::default_path(|name| std::env::var(name).ok()) {
            app.journal = crate::journal::tail(&path, 20);
        }
        let (deeds, ordered_deeds) = mpsc::channel(4);
        let (telling, told) = mpsc::channel(8);
        let active_ms = options.settings.gone_after_ms;
        let actor = Actor {
            target: target.clone(),
            clock,
            active_ms,
            allowed: options.may_act,
            deeds: ordered_deeds,
            told: telling,
        };
        tasks.spawn(async move {
            actor.run().await;
            Failure::Io(io::Error::other("the task for actions ended"))
        });
        let first = Plan { request: app.watch.store.wants(&app.focus(), clock.mono()), interval: options.interval };
        let (plan, plans) = watch::channel(first);
        let (orders, ordered) = mpsc::channel(8);
        let (reporting, reports) = mpsc::channel(4);
        let poller = Poller { target: target.clone(), clock, plan: plans, orders: ordered, reports: reporting };
        tasks.spawn(async move {
            poller.run(Some(link)).await;
            Failure::Io(io::Error::other("the poller ended"))
        });
        Ok(Self {
            app,
            screen,
            theme: options.theme,
            clock,
            plan,
            orders,
            deeds,
            told,
            stop: Stop::default(),
            acting: false,
            reports,
            tasks,
            keys: EventStream::new(),
        })
    }

    async fn run(&mut self, signals: &mut Signals) -> Result<bool, Failure> {
        let mut tick = tokio::time::interval(TICK);
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut frame = tokio::time::interval(FRAME);
        frame.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut dirty = true;
        loop {
            let next = tokio::select! {
                event = self.keys.next() => match event {
                    Some(Ok(event)) => match input::message(event) {
                        Some(msg) => self.take(msg)?,
                        None => continue,
                    },
                    // the terminal is gone: there is nobody to watch
                    Some(Err(_)) | None => Next::End { printing: false },
                },
                report = self.reports.recv() => match report {
                    Some(report) => self.take(told(report))?,
                    // the poller is gone: how it ended is the failure to tell, a panic is no quiet end
                    None => return Err(ending(self.tasks.join_next().await)),
                },
                told = self.told.recv() => match told {
                    Some(told) => {
                        self.acting &= !matches!(told, Told::Ended(..));
                        self.take(acted(told))?
                    }
                    None => continue,
                },
                _ = signals.terminate.recv() => self.take(Msg::Terminate)?,
                _ = signals.hang_up.recv() => self.take(Msg::Terminate)?,
                _ = signals.interrupt.recv() => self.take(Msg::Terminate)?,
                _ = signals.go_on.recv() => {
                    self.screen.resume()?;
                    Next::On
                }
                ended = self.tasks.join_next() => return Err(ending(ended)),
                _ = tick.tick() => self.take(Msg::Tick)?,
                _ = frame.tick(), if dirty => {
                    self.draw()?;
                    dirty = false;
                    continue;
                }
            };
            match next {
                Next::On => dirty = true,
                Next::End { printing } => {
                    self.let_action_end().await;
                    return Ok(printing);
                }
            }
        }
    }

    /// An action under way is stopped between two batches and gets its line in the journal before the program ends.
    async fn let_action_end(&mut self) {
        if !self.acting {
            return;
        }
        self.stop.ask();
        let ended = async {
            while let Some(told) = self.told.recv().await {
                if matches!(told, Told::Ended(..)) {
                    break;
                }
            }
        };
        let _ = tokio::time::timeout(LAST_WORDS, ended).await;
    }

    fn take(&mut self, msg: Msg) -> io::Result<Next> {
        for effect in crate::app::update::update(&mut self.app, msg, self.clock.now()) {
            match effect {
                Effect::Plan { request, interval_ms } => {
                    self.plan.send_replace(Plan { request: *request, interval: Duration::from_millis(interval_ms) });
                }
                Effect::PollNow => self.order(Order::PollNow),
                Effect::FetchEntry { key, id } => self.order(Order::Entry { key, id }),
                Effect::MakePlan { dialog, ask } => {
                    let _ = self.deeds.try_send(Deed::Plan(dialog, ask));
                }
                Effect::Execute { dialog, plan } => {
                    self.stop = Stop::default();
                    if self.deeds.try_send(Deed::Execute(dialog, plan, self.stop.clone())).is_err() {
                        let refused =
                            crate::core::outcome::Outcome::refused("an action is under way already".to_owned());
                        return self.take(Msg::Ended(dialog, Box::new(refused)));
                    }
                    self.acting = true;
                }
                Effect::StopAction => self.stop.ask(),
                Effect::Copy(text) => execute!(io::stdout(), CopyToClipboard::to_clipboard_from(text))?,
                Effect::Redraw => self.screen.forget()?,
                Effect::Suspend => self.suspend()?,
                Effect::Quit { printing } => return Ok(Next::End { printing }),
            }
        }
        Ok(Next::On)
    }

    /// A full queue means that the same was ordered just now; the key can be pressed again.
    fn order(&self, order: Order) {
        let _ = self.orders.try_send(order);
    }

    /// Raw mode swallows Ctrl-Z, so the program stops itself the way the shell would have it.
    fn suspend(&mut self) -> io::Result<()> {
        super::terminal::give_back();
        // the shell's own kill: small systems have no program of that name. Where it cannot be done, the screen just comes back
        let _ = std::process::Command::new("sh").args(["-c", "kill -STOP $PPID"]).status();
        self.screen.resume()
    }

    fn draw(&mut self) -> io::Result<()> {
        // after a panic in a task: its report is on the main screen, and stays readable
        if !terminal::is_ours() {
            return Ok(());
        }
        let view = screen::Screen::of(&self.app, self.clock.now(), &local_time());
        let theme = self.theme;
        let mut out = io::stdout();
        execute!(out, crossterm::terminal::BeginSynchronizedUpdate)?;
        self.screen.terminal.draw(|frame| draw(frame, &view, &theme))?;
        execute!(out, crossterm::terminal::EndSynchronizedUpdate)
    }
}

fn acted(told: Told) -> Msg {
    match told {
        Told::Planned(no, plan) => Msg::Planned(no, plan),
        Told::Progress(no, progress) => Msg::Progress(no, progress.claimed, progress.removed),
        Told::Ended(no, outcome) => Msg::Ended(no, outcome),
    }
}

fn told(report: Report) -> Msg {
    match report {
        Report::Sampled(sample, interval) => Msg::Sampled { sample, interval_ms: interval.as_millis() as u64 },
        Report::Entry(entry) => Msg::Entry(entry),
        Report::Down { fault, retry_at } => Msg::Down { why: fault.to_string(), retry_at },
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
