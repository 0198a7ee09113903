//! From the terminal's events to messages.

use crate::app::{key::Key, msg::Msg};
use crossterm::{
    event::{self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers},
    terminal::{disable_raw_mode, enable_raw_mode},
};
use std::io::{self, IsTerminal, Write};

/// The message that an event stands for; `None` for releases and what nobody needs.
pub fn message(event: Event) -> Option<Msg> {
    match event {
        Event::Key(key) if key.kind != KeyEventKind::Release => self::key(key).map(Msg::Key),
        Event::Paste(text) => Some(Msg::Paste(text)),
        Event::Resize(columns, rows) => Some(Msg::Resized(columns, rows)),
        _ => None,
    }
}

fn key(event: KeyEvent) -> Option<Key> {
    let ctrl = event.modifiers.contains(KeyModifiers::CONTROL);
    // Alt and a letter is also what a fast Esc and a letter look like: neither is bound, so neither does anything
    if event.modifiers.contains(KeyModifiers::ALT) {
        return None;
    }
    Some(match event.code {
        KeyCode::Char(c) if ctrl => Key::Ctrl(c.to_ascii_lowercase()),
        KeyCode::Char(c) => Key::Char(c),
        KeyCode::Enter => Key::Enter,
        KeyCode::Esc => Key::Esc,
        KeyCode::Tab => Key::Tab,
        KeyCode::BackTab => Key::BackTab,
        KeyCode::Backspace => Key::Backspace,
        KeyCode::Up => Key::Up,
        KeyCode::Down => Key::Down,
        KeyCode::Left => Key::Left,
        KeyCode::Right => Key::Right,
        KeyCode::Home => Key::Home,
        KeyCode::End => Key::End,
        KeyCode::PageUp => Key::PageUp,
        KeyCode::PageDown => Key::PageDown,
        KeyCode::F(n) => Key::F(n),
        _ => return None,
    })
}

/// Asks for a password on the terminal without showing it; from a pipe, reads one line.
///
/// # Errors
/// When there is neither, or Ctrl-C is pressed.
pub fn askpass() -> io::Result<String> {
    if !io::stdin().is_terminal() {
        let mut line = String::new();
        io::stdin().read_line(&mut line)?;
        return Ok(line.trim_end_matches(['\r', '\n']).to_owned());
    }
    let mut err = io::stderr().lock();
    // echo is off before the prompt asks for anything: what is typed at once must not show either
    enable_raw_mode()?;
    let password = write!(err, "Password: ").and_then(|()| err.flush()).and_then(|()| read_hidden());
    disable_raw_mode()?;
    writeln!(err)?;
    password
}

fn read_hidden() -> io::Result<String> {
    let mut password = String::new();
    loop {
        let Event::Key(event) = event::read()? else { continue };
        if event.kind == KeyEventKind::Release {
            continue;
        }
        match key(event) {
            Some(Key::Enter) => return Ok(password),
            Some(Key::Backspace) => {
                password.pop();
            }
            Some(Key::Ctrl('u')) => password.clear(),
            Some(Key::Ctrl('c') | Key::Esc) => {
                return Err(io::Error::new(io::ErrorKind::Interrupted, "no password given"));
            }
            Some(Key::Char(c)) => password.push(c),
            _ => {}
        }
    }
}
