//! Drives a real program in a pseudo-terminal and watches its screen.
//!
//! Nothing here waits for a fixed time: each wait looks at the screen again whenever output arrives. It fails and shows the screen when
//! its limit has passed or the program has ended.

pub mod keys;
mod watch;

use portable_pty::{ChildKiller, CommandBuilder, ExitStatus, MasterPty, PtySize, native_pty_system};
use std::{
    ffi::OsStr,
    fmt::Display,
    io::{Read, Write},
    num::NonZeroU16,
    path::Path,
    process::Command,
    thread,
    time::{Duration, Instant},
};
use tempfile::TempDir;
use vt100::{Parser, Screen};
use watch::{Shared, State};

/// The arguments of a program without arguments.
pub const NO_ARGS: &[&str] = &[];

/// How long a program may take to clean up when its terminal goes away, before it is killed.
const TIDY_UP: Duration = Duration::from_secs(2);

/// A program running in its own pseudo-terminal. Dropping it ends the program.
pub struct Terminal {
    shared: Shared,
    writer: Box<dyn Write + Send>,
    /// `None` once the terminal was closed.
    master: Option<Box<dyn MasterPty + Send>>,
    hang_up: Box<dyn ChildKiller + Send + Sync>,
    pid: Option<u32>,
    _cwd: TempDir,
}

impl Terminal {
    /// Starts `bin` in an empty folder and a terminal of (columns, rows). It gets the environment of this process, plus `env`, minus
    /// everything that belongs to the user or would change colours or size. The folder is also its home.
    #[track_caller]
    pub fn start<A: AsRef<OsStr>>(bin: &Path, args: &[A], size: (u16, u16), env: &[(&str, &str)]) -> Self {
        assert!(bin.is_absolute() && bin.is_file(), "not the absolute path of a program: {}", bin.display());
        let cwd = must(tempfile::tempdir(), "a folder to run in");
        let mut command = CommandBuilder::new(bin);
        command.args(args);
        command.cwd(cwd.path());
        for name in ["NO_COLOR", "COLORTERM", "LINES", "COLUMNS", "TMUX", "STY"] {
            command.env_remove(name);
        }
        for name in super::USERS_OWN {
            command.env_remove(name);
        }
        for (name, folder) in super::own_folders(cwd.path()) {
            command.env(name, folder);
        }
        let fixed = [("TERM", "xterm-256color"), ("LANG", "C.UTF-8"), ("LC_ALL", "C.UTF-8")];
        for (name, value) in fixed.iter().chain(env) {
            command.env(name, value);
        }

        let pair = must(native_pty_system().openpty(pty_size(size)), "a pseudo-terminal");
        let mut reader = must(pair.master.try_clone_reader(), "reading from the terminal");
        let writer = must(pair.master.take_writer(), "writing to the terminal");
        let mut child = must(pair.slave.spawn_command(command), "starting the program");
        // While our own copy of this end is open, reading never ends.
        drop(pair.slave);

        let (cols, rows) = cells(size);
        let shared = Shared::new(State::new(Parser::new(rows, cols, 0)));
        let (pid, hang_up) = (child.process_id(), child.clone_killer());

        let reading = shared.clone();
        thread::spawn(move || {
            let mut buffer = vec![0; 16 * 1024];
            while let Ok(count @ 1..) = reader.read(&mut buffer) {
                reading.update(|state| {
                    state.raw.extend_from_slice(&buffer[..count]);
                    state.parser.process(&buffer[..count]);
                });
                if reading.lock().closing {
                    break;
                }
            }
            reading.update(|state| state.closed = true);
        });
        let waiting = shared.clone();
        thread::spawn(move || {
            let status = must(child.wait(), "waiting for the program");
            waiting.update(|state| state.exit = Some((exit_code(&status), Instant::now())));
        });
        Self { shared, writer, master: Some(pair.master), hang_up, pid, _cwd: cwd }
    }

    /// The current screen, for looking at cells and colours.
    pub fn screen(&self) -> Screen {
        self.shared.lock().parser.screen().clone()
    }

    /// The screen's text, one line per row, without trailing blanks.
    pub fn text(&self) -> String {
        text_of(self.shared.lock().parser.screen())
    }

    /// Every byte the program has written so far.
    pub fn raw(&self) -> Vec<u8> {
        self.shared.lock().raw.clone()
    }

    /// Whether the program is on the alternate screen.
    pub fn in_alternate_screen(&self) -> bool {
        self.shared.lock().parser.screen().alternate_screen()
    }

    /// Whether the program has hidden the cursor.
    pub fn cursor_hidden(&self) -> bool {
        self.shared.lock().parser.screen().hide_cursor()
    }

    /// Whether the terminal itself edits and echoes lines, as a shell expects; `None` where we cannot ask.
    pub fn edits_lines(&self) -> Option<bool> {
        let modes = self.master.as_ref()?.get_termios()?.local_flags;
        // By name, because the type of these flags belongs to a crate that we do not depend on.
        let named = format!("{modes:?}");
        Some(named.contains("ICANON") && named.contains("ECHO "))
    }

    /// Waits until `cond` holds. Past the limit, or once the program has ended, it panics with `what` and the screen. The screen is
    /// locked while `cond` looks at it: use its argument, not the terminal.
    #[track_caller]
    pub fn wait_for(&self, what: &str, limit: Duration, cond: impl Fn(&Screen) -> bool) {
        let seen = self.shared.watch(limit, |state| {
            let met = cond(state.parser.screen());
            (met || state.drained()).then_some(met)
        });
        match seen {
            Some(true) => {}
            Some(false) => {
                panic!("the program ended, still waiting for {what}; its last screen:\n{}", self.text().trim_end())
            }
            None => panic!("after {limit:?}, still waiting for {what}; the screen:\n{}", self.text().trim_end()),
        }
    }

    /// Waits until `needle` is on the screen, in one line or wrapped.
    #[track_caller]
    pub fn wait_text(&self, needle: &str, limit: Duration) {
        self.wait_for(&format!("{needle:?}"), limit, |screen| says(screen, needle));
    }

    /// Waits until `needle` is not, or no longer, on the screen.
    #[track_caller]
    pub fn wait_gone(&self, needle: &str, limit: Duration) {
        self.wait_for(&format!("{needle:?} to go"), limit, |screen| !says(screen, needle));
    }

    /// Waits until the screen, including colours and cursor, has not changed for `quiet`; false if it kept changing.
    pub fn wait_still(&self, quiet: Duration, limit: Duration) -> bool {
        let mut last = (String::new(), Instant::now());
        let still = self.shared.watch(limit, |state| {
            let now = state.parser.screen().state_formatted();
            if now != last.0 {
                last = (now, Instant::now());
            }
            (state.drained() || last.1.elapsed() >= quiet).then_some(())
        });
        still.is_some()
    }

    /// Types `keys` as bytes; see [`keys`] for keys without a character.
    pub fn send(&mut self, keys: &str) {
        let sent = self.writer.write_all(keys.as_bytes()).and_then(|()| self.writer.flush());
        must(sent, "typing into the terminal");
    }

    /// Changes the terminal's size; the program gets SIGWINCH.
    pub fn resize(&mut self, cols: u16, rows: u16) {
        let (width, height) = cells((cols, rows));
        // Our screen first: it must have the new size when the program draws for it.
        self.shared.update(|state| state.parser.set_size(height, width));
        if let Some(master) = &self.master {
            must(master.resize(pty_size((cols, rows))), "resizing the terminal");
        }
    }

    /// Closes the terminal as a window is closed: what the program writes from then on fails. Returns its exit status.
    ///
    /// # Panics
    /// When it does not end in time.
    #[track_caller]
    pub fn close(mut self, limit: Duration) -> u32 {
        // the thread that reads has the last copy of this end, and lets go after the next output
        self.shared.update(|state| state.closing = true);
        self.writer = Box::new(std::io::sink());
        self.master = None;
        let ended = self.shared.watch(limit, |state| state.exit);
        let Some((code, _)) = ended else { panic!("after {limit:?}, still waiting for the program to end") };
        code
    }

    /// The program's process id.
    pub fn pid(&self) -> Option<u32> {
        self.pid
    }

    /// Sends the signal with that name, such as `TERM`.
    #[track_caller]
    pub fn signal(&self, name: &str) {
        assert!(self.shared.lock().exit.is_none(), "no SIG{name} for a program that has ended");
        assert!(self.kill(name), "SIG{name} could not be sent");
    }

    /// Waits for the program's end and its last output. Returns its exit status, or 128 plus the signal's number.
    #[track_caller]
    pub fn wait_exit(&mut self, limit: Duration) -> u32 {
        let ended = self.shared.watch(limit, |state| state.exit.filter(|_| state.drained()));
        let Some((code, _)) = ended else {
            panic!("after {limit:?}, still waiting for the program to end; the screen:\n{}", self.text().trim_end());
        };
        code
    }

    fn kill(&self, name: &str) -> bool {
        // With the `kill` program: to send a signal from here we would need unsafe code or another crate.
        let Some(pid) = self.pid else { return false };
        Command::new("kill").arg(format!("-{name}")).arg(pid.to_string()).status().is_ok_and(|status| status.success())
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let ended = |state: &State| state.exit.map(drop);
        if ended(&self.shared.lock()).is_some() {
            return;
        }
        // As if its window were closed; a program that ignores this is killed.
        let _ = self.hang_up.kill();
        if self.shared.watch(TIDY_UP, ended).is_none() && self.kill("KILL") {
            self.shared.watch(TIDY_UP, ended);
        }
    }
}

/// The text of a screen, one line per row, without trailing blanks.
pub fn text_of(screen: &Screen) -> String {
    let lines: Vec<String> = screen.rows(0, screen.size().1.get()).map(|row| row.trim_end().to_owned()).collect();
    lines.join("\n")
}

/// Whether the screen shows `words`, in one line or wrapped at spaces within a pane: where a sentence wraps depends on the numbers in it.
fn says(screen: &Screen, words: &str) -> bool {
    let text = text_of(screen);
    text.contains(words) || unwrapped(&text).contains(words)
}

/// The lines without the borders of their pane, as one line with single spaces.
fn unwrapped(text: &str) -> String {
    let lines = text.lines().map(|line| line.trim_matches(|mark: char| mark.is_whitespace() || "│┃|".contains(mark)));
    lines.flat_map(str::split_whitespace).collect::<Vec<_>>().join(" ")
}

/// The exit status as a shell reports it.
fn exit_code(status: &ExitStatus) -> u32 {
    let numbers = [
        ("Hangup", 1),
        ("Interrupt", 2),
        ("Quit", 3),
        ("Aborted", 6),
        ("Killed", 9),
        ("Segmentation", 11),
        ("Terminated", 15),
    ];
    match status.signal() {
        None => status.exit_code(),
        Some(name) => 128 + numbers.iter().find(|(start, _)| name.starts_with(start)).map_or(0, |(_, number)| *number),
    }
}

fn cells((cols, rows): (u16, u16)) -> (NonZeroU16, NonZeroU16) {
    (NonZeroU16::new(cols).unwrap_or(NonZeroU16::MIN), NonZeroU16::new(rows).unwrap_or(NonZeroU16::MIN))
}

fn pty_size((cols, rows): (u16, u16)) -> PtySize {
    PtySize { rows, cols, pixel_width: 0, pixel_height: 0 }
}

#[track_caller]
fn must<T, E: Display>(result: Result<T, E>, what: &str) -> T {
    result.unwrap_or_else(|error| panic!("{what}: {error}"))
}
