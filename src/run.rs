//! From the command line to an exit code: 0 done, 2 bad usage, 3 server not reached.

use crate::{
    cli::{ServerArgs, SnapshotArgs, WatchArgs},
    clock::Clock,
    core::{name::{Name, visible}, store::Settings},
    report,
    source::{Link, LinkFault, Target, TargetError, target::Parts},
};
use std::{
    ffi::OsStr,
    io::{self, Write},
    process::ExitCode,
};

/// Why pelwatch ends without having done what it was asked for.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// The command line cannot be followed.
    #[error("{0}")]
    Usage(String),
    /// The server's address is no address.
    #[error(transparent)]
    Target(#[from] TargetError),
    /// The server was not reached.
    #[error(transparent)]
    Link(#[from] LinkFault),
    /// The demo could not run.
    #[error(transparent)]
    Demo(#[from] crate::demo::DemoError),
    /// The terminal or the output failed.
    #[error("{0}")]
    Io(#[from] io::Error),
}

impl Failure {
    /// The exit code for scripts.
    pub fn code(&self) -> ExitCode {
        ExitCode::from(match self {
            Self::Usage(_) | Self::Target(_) => 2,
            Self::Link(_) | Self::Demo(_) => 3,
            Self::Io(_) => 1,
        })
    }
}

/// The target that the flags name. The password comes from -a, a prompt, or `REDISCLI_AUTH`, in this order.
///
/// # Errors
/// When the flags contradict each other or no password can be read.
pub fn target(args: &ServerArgs) -> Result<Target, Failure> {
    let url = match (&args.url, &args.uri) {
        (Some(_), Some(_)) => return Err(TargetError::Twice.into()),
        (one, other) => one.clone().or_else(|| other.clone()),
    };
    let password = match (&args.password, args.askpass) {
        (Some(_), true) => return Err(Failure::Usage("give the password with -a or with --askpass, not both".to_owned())),
        (Some(password), false) => Some(password.clone()),
        (None, true) => Some(crate::tui::askpass()?),
        (None, false) => std::env::var("REDISCLI_AUTH").ok().filter(|password| !password.is_empty()),
    };
    let parts = Parts { url, host: args.host.clone(), port: args.port, socket: args.socket.clone(), db: args.db, user: args.user.clone(), password };
    Ok(Target::new(parts)?)
}

/// What to watch, from the flags. `hex:` gives the bytes of names that a command line cannot carry.
///
/// # Errors
/// When a `hex:` name has odd digits.
pub fn settings(args: &WatchArgs) -> Result<Settings, Failure> {
    let mut settings = Settings {
        gone_after_ms: args.gone_after.as_millis() as i64,
        quiet: args.quiet.clone(),
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
    let settings = Settings { pel_limit: args.pel_limit, ..settings(&args.watch)? };
    let mut link = Link::connect(&target, clock).await?;
    let (store, now) = report::settle(&mut link, settings, clock, args.settle, args.watch.interval).await?;
    let text = if args.json {
        format!("{:#}\n", report::json(&store, target.endpoint(), now))
    } else {
        report::text(&store, target.endpoint(), now)
    };
    io::stdout().lock().write_all(text.as_bytes())?;
    Ok(())
}
