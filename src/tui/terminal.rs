//! Taking the terminal and giving it back: on quit, on an error, on a panic in any task, on signals.

use crossterm::{
    cursor,
    event::{DisableBracketedPaste, EnableBracketedPaste},
    execute,
    terminal::{EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode},
};
use ratatui::{
    Terminal,
    backend::CrosstermBackend,
    layout::{Position, Rect},
};
use std::{
    io::{self, IsTerminal, Stdout, Write},
    sync::atomic::{AtomicBool, Ordering},
};

/// Whether the terminal is ours at the moment: a panic hook must know, and it knows only statics.
static TAKEN: AtomicBool = AtomicBool::new(false);

/// The terminal while it is ours; dropped, it is as it was.
pub struct Screen {
    /// For drawing.
    pub terminal: Terminal<CrosstermBackend<Stdout>>,
}

impl Screen {
    /// Takes the terminal.
    ///
    /// # Errors
    /// When standard output is no terminal, or it cannot be set up.
    pub fn take() -> io::Result<Self> {
        if !io::stdout().is_terminal() {
            return Err(io::Error::other(
                "the dashboard needs a terminal; for scripts there is: pelwatch snapshot [--json]",
            ));
        }
        enter()?;
        Ok(Self { terminal: Terminal::new(CrosstermBackend::new(io::stdout()))? })
    }

    /// Takes it again and forgets what was on it.
    ///
    /// # Errors
    /// When it cannot be set up.
    pub fn resume(&mut self) -> io::Result<()> {
        enter()?;
        self.forget()
    }

    /// Clears the terminal, so that the next frame draws every cell. Not with ratatui's `clear`: that asks the terminal where
    /// its cursor is, and one that does not answer in time would end the program.
    ///
    /// # Errors
    /// When it cannot be written to.
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
    execute!(io::stdout(), EnterAlternateScreen, EnableBracketedPaste, cursor::Hide)
}

/// Whether the terminal is taken at the moment.
pub fn is_ours() -> bool {
    TAKEN.load(Ordering::SeqCst)
}

/// Puts the terminal right if it is ours. Never fails: there is nobody left to tell.
pub fn give_back() {
    if TAKEN.swap(false, Ordering::SeqCst) {
        let mut out = io::stdout();
        let _ = execute!(out, DisableBracketedPaste, cursor::Show, LeaveAlternateScreen);
        let _ = disable_raw_mode();
        let _ = out.flush();
    }
}

/// Before any report of a panic, on whatever thread, the terminal is put right, so that the report can be read.
pub fn install_panic_hook() {
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        give_back();
        before(panic);
    }));
}
