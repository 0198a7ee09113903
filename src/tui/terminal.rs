//! Takes over the terminal and restores it: on quit, on an error, on a panic in any task, on signals.

use crossterm::{
    cursor,
    event::{DisableBracketedPaste, DisableMouseCapture, EnableBracketedPaste, EnableMouseCapture},
    execute,
    style::Print,
    terminal::{EnterAlternateScreen, LeaveAlternateScreen, SetTitle, disable_raw_mode, enable_raw_mode},
};
use ratatui::{
    Terminal,
    backend::CrosstermBackend,
    layout::{Position, Rect},
};
use std::{
    io::{self, IsTerminal, Stdout, Write},
    mem::ManuallyDrop,
    sync::{
        Mutex, TryLockError,
        atomic::{AtomicBool, Ordering},
    },
    thread::sleep,
    time::{Duration, Instant},
};

/// Whether pelwatch has taken the terminal. A static, because the panic hook can read nothing else.
static TAKEN: AtomicBool = AtomicBool::new(false);

/// Whether clicks go to pelwatch instead of the terminal's own selection.
static MOUSE: AtomicBool = AtomicBool::new(false);

/// Held while a frame is drawn, so that a panic on another thread does not restore the terminal in the middle of one.
static DRAWING: Mutex<()> = Mutex::new(());
/// A panic waits for a frame under way for so long. The frame that panics itself never ends.
const FRAME_ENDS: Duration = Duration::from_millis(200);

/// The terminal while pelwatch has it. Dropping this restores it.
pub struct Screen {
    // never dropped by itself: a Terminal whose terminal is gone would panic while it says so
    pub terminal: ManuallyDrop<Terminal<CrosstermBackend<Stdout>>>,
}

impl Screen {
    /// Takes over the terminal, with `mouse` its clicks as well.
    ///
    /// # Errors
    /// When standard output is not a terminal, or the terminal cannot be set up.
    pub fn take(mouse: bool) -> io::Result<Self> {
        MOUSE.store(mouse, Ordering::SeqCst);
        if !io::stdout().is_terminal() {
            return Err(io::Error::other(
                "the dashboard needs a terminal; for scripts there is: pelwatch snapshot [--json]",
            ));
        }
        let terminal = enter().and_then(|()| Terminal::new(CrosstermBackend::new(io::stdout())));
        // half taken is worse than not taken: the shell would stay in raw mode
        Ok(Self { terminal: ManuallyDrop::new(terminal.inspect_err(|_| give_back())?) })
    }

    /// Takes the terminal again after a pause, and clears it.
    pub fn resume(&mut self) -> io::Result<()> {
        enter()?;
        self.forget()
    }

    /// Clears the terminal, so that the next frame draws every cell. ratatui's `clear` must not be used: it asks the terminal for its
    /// cursor position, and a terminal that answers too late would end the program.
    pub fn forget(&mut self) -> io::Result<()> {
        let size = self.terminal.size()?;
        self.terminal.resize(Rect::from((Position::ORIGIN, size)))
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        give_back();
    }
}

fn enter() -> io::Result<()> {
    enable_raw_mode()?;
    TAKEN.store(true, Ordering::SeqCst);
    if has_titles() {
        execute!(io::stdout(), Print(KEEP_TITLE))?;
    }
    execute!(io::stdout(), EnterAlternateScreen, EnableBracketedPaste, cursor::Hide)?;
    if MOUSE.load(Ordering::SeqCst) { execute!(io::stdout(), EnableMouseCapture) } else { Ok(()) }
}

/// The terminal keeps its title on a stack, and takes it back (XTWINOPS 22 and 23).
const KEEP_TITLE: &str = "\x1b[22;0t";
const TITLE_BACK: &str = "\x1b[23;0t";

/// The Linux console has no title, and shows a part of what sets one.
fn has_titles() -> bool {
    std::env::var("TERM").is_ok_and(|term| term != "linux")
}

/// Sets the title of the window or tab.
///
/// # Errors
/// When nothing can be written.
pub fn set_title(title: &str) -> io::Result<()> {
    if has_titles() { execute!(io::stdout(), SetTitle(title)) } else { Ok(()) }
}

/// # Errors
/// When nothing can be written.
pub fn ring() -> io::Result<()> {
    execute!(io::stdout(), Print('\x07'))
}

/// Draws, if pelwatch has the terminal. It has not after a panic in a task: its report is on the main screen, and stays readable.
///
/// # Errors
/// Those of drawing.
pub fn while_ours(draw: impl FnOnce() -> io::Result<()>) -> io::Result<()> {
    let _drawing = DRAWING.lock();
    if TAKEN.load(Ordering::SeqCst) { draw() } else { Ok(()) }
}

/// Restores the terminal if pelwatch has taken it. Ignores errors: nobody is left to show them to.
pub fn give_back() {
    if TAKEN.swap(false, Ordering::SeqCst) {
        let mut out = io::stdout();
        if MOUSE.load(Ordering::SeqCst) {
            let _ = execute!(out, DisableMouseCapture);
        }
        let _ = execute!(out, DisableBracketedPaste, cursor::Show, LeaveAlternateScreen);
        if has_titles() {
            // a terminal without the stack shows no verdict that is over
            let _ = execute!(out, SetTitle(""), Print(TITLE_BACK));
        }
        let _ = disable_raw_mode();
        let _ = out.flush();
    }
}

/// Restores the terminal before any panic is reported, on any thread, so that the report can be read.
pub fn install_panic_hook() {
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        let deadline = Instant::now() + FRAME_ENDS;
        let drawing = loop {
            match DRAWING.try_lock() {
                Err(TryLockError::WouldBlock) if Instant::now() < deadline => sleep(Duration::from_millis(1)),
                drawing => break drawing,
            }
        };
        give_back();
        drop(drawing);
        before(panic);
    }));
}
