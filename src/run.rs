//! From the command line to an exit code: 0 done, 2 bad usage, 3 server not reached.

use crate::{
    app::RollUp,
    cli::{
        ActArgs, ClaimArgs, DeleteGroupArgs, DemoArgs, ScreenArgs, SeekArgs, ServerArgs, ServerFlags, SnapshotArgs,
        WatchArgs,
    },
    clock::Clock,
    core::{
        action::{
            Ask, Plan,
            claim::ClaimAsk,
            delete_group::DeleteGroupAsk,
            seek::{Place, SeekAsk},
        },
        census::Limits,
        id::EntryId,
        name::{Name, visible},
        number::{signed_ms, us},
        outcome::Outcome,
        pattern::Given,
        store::Settings,
    },
    dashboard::{self, Options},
    demo::{self, PrivateServer},
    failure::Failure,
    report,
    source::{
        Connection, Executor, Link, NoPlan, Passwords, Planner, Sentinels, Stop, Target, TargetError, TlsFiles,
        connect_owner, target::Parts,
    },
    tasks::{self, FullReading, carry_out},
    tui::Theme,
};
use std::{
    ffi::{OsStr, OsString},
    io::{self, IsTerminal, Write},
    path::Path,
    time::Duration,
};
use tokio::{
    signal::unix::{SignalKind, signal},
    task::JoinSet,
    time::Instant,
};

/// The target that the flags name.
///
/// # Errors
/// When the flags contradict each other or no password can be read.
pub fn target(args: &ServerArgs) -> Result<Target, Failure> {
    reach(args.url.clone(), &args.flags)
}

fn reach(url: Option<String>, flags: &ServerFlags) -> Result<Target, Failure> {
    let url = match (url, &flags.uri) {
        (Some(_), Some(_)) => return Err(TargetError::Twice.into()),
        (one, other) => one.or_else(|| other.clone()),
    };
    let (password, passwords) = password(flags)?;
    let flags = flags.clone();
    let sentinels = match flags.sentinel.as_deref().zip(flags.master.as_deref()) {
        Some((list, master)) => {
            let password = std::env::var("PELWATCH_SENTINEL_AUTH").ok().filter(|password| !password.is_empty());
            Some(Sentinels::new(list, master, flags.sentinel_user, password).map_err(TargetError::NotASentinel)?)
        }
        None => None,
    };
    let tls_files = TlsFiles {
        sni: flags.sni,
        ca_file: flags.cacert,
        ca_folder: flags.cacertdir,
        certificate: flags.cert,
        key: flags.key,
        insecure: flags.insecure,
    };
    Ok(Target::new(Parts {
        url,
        host: flags.host,
        port: flags.port,
        socket: flags.socket,
        db: flags.db,
        user: flags.user,
        password,
        passwords,
        cluster: flags.cluster,
        tls: flags.tls,
        tls_files,
        via: flags.via,
        sentinels,
        connect_timeout: flags.connect_timeout,
        reply_timeout: flags.timeout,
    })?)
}

/// The password, or where to look it up: from one of the flags, else from `REDISCLI_AUTH`.
fn password(flags: &ServerFlags) -> Result<(Option<String>, Option<Passwords>), Failure> {
    let ways =
        [flags.password.is_some(), flags.askpass, flags.password_file.is_some(), flags.password_command.is_some()];
    if ways.into_iter().filter(|given| *given).count() > 1 {
        let ways = "-a, --askpass, --password-file or --password-command";
        return Err(Failure::Usage(format!("give the password in one way: {ways}")));
    }
    let from_environment = || std::env::var("REDISCLI_AUTH").ok().filter(|password| !password.is_empty());
    Ok(match (&flags.password, &flags.password_file, &flags.password_command) {
        (Some(password), ..) => (Some(password.clone()), None),
        (_, Some(path), _) => (None, Some(Passwords::of_file(path.clone()))),
        (.., Some(command)) => (None, Some(Passwords::of_command(command.clone(), flags.password_ttl))),
        _ if flags.askpass => (Some(crate::tui::askpass()?), None),
        _ => (from_environment(), None),
    })
}

/// What to watch, from the flags. `hex:` gives the bytes of names that a command line cannot carry.
///
/// # Errors
/// When a `hex:` name has odd digits.
pub fn settings(args: &WatchArgs) -> Result<Settings, Failure> {
    let mut settings = Settings {
        gone_after_ms: signed_ms(args.gone_after),
        quiet: args.quiet.clone(),
        census: Limits { second_us: us(args.census_budget), command_us: us(args.census_command) },
        only: args.only.clone(),
        ..Settings::default()
    };
    for pattern in &args.streams {
        let name = exact_name(pattern)?;
        let is_glob = !bytes_of(pattern).starts_with(b"hex:") && name.bytes().iter().any(|b| b"*?[".contains(b));
        if is_glob { settings.patterns.push(name) } else { settings.keys.push(name) }
    }
    for group in &args.groups {
        settings.groups.push(exact_name(group)?);
    }
    for group in &args.ignore_groups {
        settings.ignored.push(exact_name(group)?);
    }
    Ok(settings)
}

#[cfg(unix)]
fn bytes_of(text: &OsStr) -> &[u8] {
    std::os::unix::ffi::OsStrExt::as_bytes(text)
}

#[cfg(not(unix))]
fn bytes_of(text: &OsStr) -> &[u8] {
    text.to_str().unwrap_or_default().as_bytes()
}

fn exact_name(text: &OsStr) -> Result<Name, Failure> {
    let bytes = bytes_of(text);
    let Some(digits) = bytes.strip_prefix(b"hex:") else { return Ok(Name::new(bytes)) };
    let wrong = || Failure::Usage(format!("'{}' is not hex: write two digits 0-9 a-f for each byte", visible(bytes)));
    let (pairs, rest) = digits.as_chunks::<2>();
    if !rest.is_empty() {
        return Err(wrong());
    }
    let byte = |pair: &[u8; 2]| {
        let text = std::str::from_utf8(pair).ok().filter(|text| text.bytes().all(|b| b.is_ascii_hexdigit()))?;
        u8::from_str_radix(text, 16).ok()
    };
    pairs.iter().map(byte).collect::<Option<Vec<u8>>>().map(Name::new).ok_or_else(wrong)
}

/// `pelwatch snapshot`
///
/// # Errors
/// When the server is not reached or the output cannot be written.
pub async fn snapshot(args: &SnapshotArgs) -> Result<(), Failure> {
    let clock = Clock::start();
    let target = target(&args.server)?;
    let settings = Settings { pel_limit: args.pel_limit, database: target.db(), ..settings(&args.watch)? };
    let mut link = Connection::connect(&target, clock).await?.patient();
    let (watch, now) = tasks::settle(&mut link, settings, clock, args.settle, args.watch.interval).await?;
    let (endpoint, place) = match &watch.store.reached {
        Some(reached) => (reached.endpoint.clone(), reached.endpoint.clone()),
        None => (target.endpoint().to_owned(), target.place()),
    };
    let text = if args.json {
        format!("{:#}\n", report::json(&watch, &endpoint, now))
    } else {
        report::text(&watch, &place, now)
    };
    io::stdout().lock().write_all(text.as_bytes())?;
    Ok(())
}

/// Whether actions may be carried out, and why not. `--read-only` wins over everything.
fn permission(args: &ScreenArgs, by_default: bool) -> (bool, &'static str) {
    match (args.read_only, args.allow_actions || by_default) {
        (true, _) => (false, " (--read-only)"),
        (false, true) => (true, ""),
        (false, false) => (false, "; to carry plans out, start it with --allow-actions"),
    }
}

/// What to roll up.
fn roll_up(args: &ScreenArgs) -> Result<RollUp, Failure> {
    let none = args.roll_up.iter().any(|text| text == "none");
    if none {
        return Ok(RollUp::Nothing);
    }
    let fault = |text: &OsString| {
        let text = visible(bytes_of(text));
        Failure::Usage(format!(
            "--roll-up '{text}' fits one stream only: write * for what differs, as in 'orders:*', or none"
        ))
    };
    let given = |text: &OsString| Given::new(exact_name(text)?).ok_or_else(|| fault(text));
    Ok(RollUp::Patterns(args.roll_up.iter().map(given).collect::<Result<_, Failure>>()?))
}

fn theme(args: &ScreenArgs) -> Theme {
    Theme::choose(args.theme, args.color, args.ascii, |name| std::env::var(name).ok())
}

/// `pelwatch`: the dashboard.
///
/// # Errors
/// When the server is not reached, there is no terminal, or a task panics.
pub async fn dashboard(server: &ServerArgs, watch: &WatchArgs, screen: &ScreenArgs) -> Result<(), Failure> {
    let (may_act, why_read_only) = permission(screen, false);
    let target = target(server)?;
    let settings = Settings { database: target.db(), ..settings(watch)? };
    let options = Options {
        settings,
        interval: watch.interval,
        roll_up: roll_up(screen)?,
        theme: theme(screen),
        bell: screen.bell,
        mouse: screen.mouse,
        may_act,
        why_read_only,
    };
    dashboard::run(target, options, Clock::start(), JoinSet::new()).await
}

/// Text snapshots of the demo come so often.
const DEMO_EVERY: Duration = Duration::from_secs(2);

/// `pelwatch demo`: a private server with a real workload, watched on a terminal, or printed where there is none. The server
/// goes when this function is left, however that happens.
///
/// # Errors
/// When no server can be started, or the workload loses it.
pub async fn demo(args: &DemoArgs) -> Result<(), Failure> {
    // the same way out for all signals that end a program: leaving this scope stops the server
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut hang_up = signal(SignalKind::hangup())?;
    let server = PrivateServer::start()?;
    demo::seed(server.socket()).await?;
    let settings = Settings { gone_after_ms: demo::GONE_AFTER_MS as i64, ..Settings::default() };
    let mut workload = JoinSet::new();
    let socket = server.socket().to_owned();
    workload.spawn(async move {
        match demo::drive(socket).await {
            Ok(never) => match never {},
            Err(error) => Failure::Demo(error),
        }
    });
    if io::stdout().is_terminal() {
        let (may_act, why_read_only) = permission(&args.screen, true);
        let options = Options {
            settings,
            interval: Duration::from_secs(1),
            roll_up: roll_up(&args.screen)?,
            theme: theme(&args.screen),
            bell: args.screen.bell,
            mouse: args.screen.mouse,
            may_act,
            why_read_only,
        };
        return dashboard::run(Target::unix(server.socket())?, options, Clock::start(), workload).await;
    }
    tokio::select! {
        result = print_demo(server.socket(), settings, args.length) => result,
        Some(Ok(failure)) = workload.join_next() => Err(failure),
        _ = terminate.recv() => Ok(()),
        _ = interrupt.recv() => Ok(()),
        _ = hang_up.recv() => Ok(()),
    }
}

async fn print_demo(socket: &Path, settings: Settings, length: Duration) -> Result<(), Failure> {
    let clock = Clock::start();
    let target = Target::unix(socket)?;
    let mut link = Link::connect(&target, clock).await?;
    let mut reading = FullReading::new(settings, clock);
    let end = Instant::now() + length;
    loop {
        let next = Instant::now() + DEMO_EVERY;
        reading.once(&mut link).await?;
        let text = report::text(&reading.watch, target.endpoint(), clock.now());
        io::stdout().lock().write_all(format!("{text}\n").as_bytes())?;
        tokio::time::sleep_until(next.min(end)).await;
        if next >= end {
            return Ok(());
        }
    }
}

/// The min-idle of a claim that names none, in milliseconds, where no handling was observed.
const CAUTIOUS_IDLE_MS: i64 = 300_000;

/// `pelwatch claim`
///
/// # Errors
/// When the server is not reached, the plan is refused, or the outcome is unknown.
pub async fn claim(args: &ClaimArgs) -> Result<(), Failure> {
    let target = reach(None, &args.server)?;
    let ask = ClaimAsk {
        key: exact_name(&args.stream)?,
        group: exact_name(&args.group)?,
        target: exact_name(&args.to)?,
        create: args.create,
        min_idle_ms: args.min_idle.map_or(CAUTIOUS_IDLE_MS, signed_ms),
        from: args.from.as_deref().map(exact_name).transpose()?,
        limit: args.limit,
        justid: !args.no_justid,
    };
    let mut desk = Desk::open(&args.act, target, Ask::Claim(ask)).await?;
    let Some(mut plan) = desk.plan().await? else { return desk.impossible() };
    if let (Some(expected), None) = (args.expect_pending, plan.refused()) {
        let pending = desk.pending().await?;
        if pending != Some(expected) {
            let found = pending.map_or("no such group".to_owned(), |pending| pending.to_string());
            plan.detail_mut().refuse(format!("{expected} pending entries were expected, found: {found}"));
        }
    }
    desk.finish(&plan).await
}

/// `pelwatch seek`
///
/// # Errors
/// When the server is not reached, the plan is refused, or the outcome is unknown.
pub async fn seek(args: &SeekArgs) -> Result<(), Failure> {
    let target = reach(None, &args.server)?;
    let place = Place::parse(&args.to)
        .map_err(|help| Failure::Usage(format!("--to {}: {help}", visible(args.to.as_bytes()))))?;
    let expected = match &args.expect_cursor {
        None => None,
        Some(text) => {
            let wrong = || Failure::Usage(format!("--expect-cursor {} is not an entry id", visible(text.as_bytes())));
            Some(EntryId::parse(text.as_bytes()).ok_or_else(wrong)?)
        }
    };
    let ask =
        SeekAsk { key: exact_name(&args.stream)?, group: exact_name(&args.group)?, place, beyond_end: args.beyond_end };
    let mut desk = Desk::open(&args.act, target, Ask::Seek(ask)).await?;
    let Some(mut plan) = desk.plan().await? else { return desk.impossible() };
    if let (Some(expected), Plan::Seek(seek)) = (expected, &mut plan)
        && seek.objections.refused.is_none()
        && seek.cursor != expected
    {
        seek.objections.refused = Some(format!("the cursor was expected at {expected}, it is at {}", seek.cursor));
    }
    desk.finish(&plan).await
}

/// `pelwatch delete-group`
///
/// # Errors
/// When the server is not reached, the plan is refused, or the outcome is unknown.
pub async fn delete_group(args: &DeleteGroupArgs) -> Result<(), Failure> {
    let target = reach(None, &args.server)?;
    let (key, group) = (exact_name(&args.stream)?, exact_name(&args.group)?);
    let ask = Ask::DeleteGroup(DeleteGroupAsk { key, group, in_use: args.in_use });
    let mut desk = Desk::open(&args.act, target, ask).await?;
    let Some(plan) = desk.plan().await? else { return desk.impossible() };
    desk.finish(&plan).await
}

/// Where a plan from the shell is made and, if it is confirmed, carried out.
struct Desk {
    link: Link,
    target: Target,
    clock: Clock,
    act: ActArgs,
    ask: Ask,
    /// Why there is no plan.
    impossible: String,
}

impl Desk {
    async fn open(act: &ActArgs, target: Target, ask: Ask) -> Result<Self, Failure> {
        let clock = Clock::start();
        let (link, target) = connect_owner(&target, ask.detail().key(), clock).await?;
        Ok(Self { link, target, clock, act: act.clone(), ask, impossible: String::new() })
    }

    fn active_ms(&self) -> i64 {
        signed_ms(self.act.active_within)
    }

    fn planner(&mut self) -> Planner<'_> {
        let active_ms = self.active_ms();
        Planner::new(&mut self.link, active_ms)
    }

    /// The plan; `None` where there is nothing to plan on.
    async fn plan(&mut self) -> Result<Option<Plan>, Failure> {
        let ask = self.ask.clone();
        match self.planner().plan(ask).await {
            Ok(plan) => Ok(Some(plan)),
            Err(NoPlan::Lost(fault)) => Err(fault.into()),
            Err(NoPlan::Impossible(why)) => {
                self.impossible = why;
                Ok(None)
            }
        }
    }

    async fn pending(&mut self) -> Result<Option<i64>, Failure> {
        let ask = self.ask.clone();
        Ok(self.planner().pending(ask.detail().key(), ask.detail().group()).await?)
    }

    fn impossible(&self) -> Result<(), Failure> {
        let why = &self.impossible;
        let text = if self.act.json {
            format!("{:#}\n", report::plans::impossible_json(&self.ask, why))
        } else {
            report::plans::impossible_text(why)
        };
        io::stdout().lock().write_all(text.as_bytes())?;
        Err(Failure::Refused(why.clone()))
    }

    async fn finish(mut self, plan: &Plan) -> Result<(), Failure> {
        let outcome = if self.act.execute && plan.refused().is_none() { Some(self.execute(plan).await?) } else { None };
        let text = if self.act.json {
            format!("{:#}\n", report::plans::json(plan, outcome.as_ref()))
        } else {
            report::plans::text(plan, outcome.as_ref(), &self.target.cli_words())
        };
        io::stdout().lock().write_all(text.as_bytes())?;
        match outcome {
            Some(Outcome::Refused(why)) => Err(Failure::Refused(why.to_string())),
            Some(unknown @ Outcome::Unknown(..)) => Err(Failure::Unknown(unknown.text())),
            _ => plan.refused().map_or(Ok(()), |why| Err(Failure::Refused(why.to_owned()))),
        }
    }

    async fn execute(&mut self, plan: &Plan) -> Result<Outcome, Failure> {
        let typed = self.act.confirm.as_deref().map(exact_name).transpose()?;
        if typed.as_ref() != Some(self.ask.detail().group()) {
            return Ok(Outcome::refused("--confirm does not name the group".to_owned()));
        }
        let active_ms = self.active_ms();
        let (target, clock) = (self.target.clone(), self.clock);
        let mut executor = Executor::new(&mut self.link, &target, clock, active_ms);
        Ok(carry_out(&mut executor, plan, &target.place(), clock, &Stop::default(), |_| {}).await)
    }
}
