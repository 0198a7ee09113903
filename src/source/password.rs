//! Passwords that are looked up at each connection: in a file, or from a command that prints one, as for tokens that end after minutes.
//! What the command prints goes nowhere else.

use super::dial::shell;
use crate::core::name::visible;
use std::{
    path::PathBuf,
    process::Stdio,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};
use tokio::{
    io::{AsyncRead, AsyncReadExt},
    sync::Mutex,
    task::JoinHandle,
    time::{Instant, timeout},
};

/// A command ends within this time, or is ended.
const LONGEST: Duration = Duration::from_secs(10);
/// As long as it may ask somebody.
const WHILE_ASKED: Duration = Duration::from_secs(120);
/// All connections that are made at once, as to the nodes of a cluster, share one run.
const SHARED: Duration = Duration::from_secs(10);
/// A failed run is shared less long than the first pause between two attempts to connect.
const FAILURE_SHARED: Duration = Duration::from_millis(200);
/// After a failed renewal on a live connection.
const NEXT_RENEWAL: Duration = Duration::from_secs(10);
/// Most bytes of a password.
const MOST: u64 = 65_536;

/// Where the password comes from. All copies share what was found last.
#[derive(Clone)]
pub struct Passwords(Arc<Inner>);

struct Inner {
    source: Source,
    /// How long a password is good for.
    ttl: Option<Duration>,
    may_ask: AtomicBool,
    last: Mutex<Option<(Result<String, String>, Instant)>>,
}

enum Source {
    File(PathBuf),
    Command(String),
}

/// Who wants to be let in, and where.
#[derive(Clone, Debug)]
pub(super) struct Door {
    pub(super) host: String,
    pub(super) port: u16,
    pub(super) user: String,
}

impl Passwords {
    fn new(source: Source, ttl: Option<Duration>) -> Self {
        Self(Arc::new(Inner { source, ttl, may_ask: AtomicBool::new(true), last: Mutex::default() }))
    }

    /// The text of a file, without one newline at its end.
    pub fn of_file(path: PathBuf) -> Self {
        Self::new(Source::File(path), None)
    }

    /// What a command prints, without one newline at its end; each password is good for `ttl`.
    pub fn of_command(command: String, ttl: Option<Duration>) -> Self {
        Self::new(Source::Command(command), ttl)
    }

    /// From now on the screen is taken.
    pub fn ask_no_more(&self) {
        self.0.may_ask.store(false, Ordering::Relaxed);
    }

    /// Looks it up.
    ///
    /// # Errors
    /// Why there is none, as a sentence without the command's output.
    pub(super) async fn get(&self, door: &Door) -> Result<String, String> {
        let mut last = self.0.last.lock().await;
        if let Some((found, at)) = &*last {
            let shared =
                if found.is_ok() { self.0.ttl.map_or(SHARED, |ttl| SHARED.min(ttl / 2)) } else { FAILURE_SHARED };
            if at.elapsed() < shared {
                return found.clone();
            }
        }
        let found = match &self.0.source {
            Source::File(path) => match std::fs::read_to_string(path) {
                Ok(text) => Ok(text),
                Err(error) => Err(format!("--password-file {}: {error}", visible(path.as_os_str().as_encoded_bytes()))),
            },
            Source::Command(command) => run(command, door, self.0.may_ask.load(Ordering::Relaxed)).await,
        };
        let found = found.map(without_newline);
        *last = Some((found.clone(), Instant::now()));
        found
    }

    /// The server refused it: the next connection looks it up again.
    pub(super) async fn forget(&self) {
        *self.0.last.lock().await = None;
    }

    /// When a live connection needs the next one: a fifth of its time before it ends.
    fn renewal(&self) -> Option<Duration> {
        self.0.ttl.map(|ttl| ttl * 4 / 5)
    }
}

/// Looks up the next password of a live connection before the present one ends.
pub(super) struct Renewal {
    passwords: Passwords,
    door: Door,
    due: Instant,
    looking: Option<JoinHandle<Result<String, String>>>,
}

impl Renewal {
    /// `None` if passwords do not end.
    pub(super) fn new(passwords: &Passwords, door: Door) -> Option<Self> {
        let due = Instant::now() + passwords.renewal()?;
        Some(Self { passwords: passwords.clone(), door, due, looking: None })
    }

    /// A new password, if it is time and the command has ended. Nothing is waited for.
    pub(super) async fn ready(&mut self) -> Option<String> {
        if Instant::now() < self.due {
            return None;
        }
        let Some(looking) = self.looking.take_if(|looking| looking.is_finished()) else {
            if self.looking.is_none() {
                let (passwords, door) = (self.passwords.clone(), self.door.clone());
                self.looking = Some(tokio::spawn(async move {
                    passwords.forget().await;
                    passwords.get(&door).await
                }));
            }
            return None;
        };
        let found = looking.await.ok().and_then(Result::ok);
        self.due = Instant::now() + if found.is_some() { self.passwords.renewal()? } else { NEXT_RENEWAL };
        found
    }
}

fn without_newline(text: String) -> String {
    let cut = text.strip_suffix('\n').map(|text| text.strip_suffix('\r').unwrap_or(text).to_owned());
    cut.unwrap_or(text)
}

async fn run(line: &str, door: &Door, may_ask: bool) -> Result<String, String> {
    let mut command = shell::command(line, may_ask);
    command.env("HOST", &door.host).env("PORT", door.port.to_string()).env("USER", &door.user);
    command.stdin(if may_ask { Stdio::inherit() } else { Stdio::null() }).stdout(Stdio::piped()).stderr(Stdio::piped());
    let failed = |error: std::io::Error| format!("the command of --password-command cannot be started: {error}");
    let mut child = command.spawn().map_err(failed)?;
    let (output, errors) = (child.stdout.take(), child.stderr.take());
    let limit = if may_ask { WHILE_ASKED } else { LONGEST };
    let all = async { tokio::join!(read(output), read(errors), child.wait()) };
    let Ok((output, errors, status)) = timeout(limit, all).await else {
        let limit = humantime::format_duration(limit);
        return Err(format!("the command of --password-command did not end within {limit}"));
    };
    let status = status.map_err(failed)?;
    let output = String::from_utf8(output).map_err(|_| "the command of --password-command printed no text".to_owned());
    if status.success() {
        return match output?.as_str() {
            "" | "\n" => Err("the command of --password-command printed nothing".to_owned()),
            text => Ok(text.to_owned()),
        };
    }
    let how = status.code().map_or("was ended".to_owned(), |code| format!("ended with {code}"));
    let errors = String::from_utf8_lossy(&errors);
    let last = errors.lines().map(str::trim).rfind(|line| !line.is_empty());
    let said: String = last.map_or(String::new(), |line| visible(line.as_bytes()).chars().take(200).collect());
    let colon = if said.is_empty() { "" } else { ": " };
    Err(format!("the command of --password-command {how}{colon}{said}"))
}

async fn read(from: Option<impl AsyncRead + Unpin>) -> Vec<u8> {
    let mut bytes = Vec::new();
    if let Some(from) = from {
        let _ = from.take(MOST).read_to_end(&mut bytes).await;
    }
    bytes
}

#[cfg(test)]
#[path = "password_tests.rs"]
mod tests;
