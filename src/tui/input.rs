//! Turns terminal events into messages.

use crate::app::{key::Key, msg::Msg};
use crossterm::{
    event::{self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers, MouseButton, MouseEventKind},
    terminal::{disable_raw_mode, enable_raw_mode},
};
use std::io::{self, IsTerminal, Write};

/// The message for an event; `None` for key releases and unused events.
pub fn message(event: Event) -> Option<Msg> {
    match event {
        Event::Key(key) if key.kind != KeyEventKind::Release => self::key(key).map(Msg::Key),
        Event::Paste(text) => Some(Msg::Paste(text)),
        // the wheel walks, as the arrow keys do
        Event::Mouse(mouse) if mouse.kind == MouseEventKind::ScrollDown => Some(Msg::Key(Key::Down)),
        Event::Mouse(mouse) if mouse.kind == MouseEventKind::ScrollUp => Some(Msg::Key(Key::Up)),
        Event::Resize(columns, rows) => Some(Msg::Resized(columns, rows)),
        _ => None,
    }
}

/// Where a button was pressed; `None` for everything else.
pub fn click(event: &Event) -> Option<(u16, u16)> {
    match event {
        Event::Mouse(mouse) if mouse.kind == MouseEventKind::Down(MouseButton::Left) => Some((mouse.column, mouse.row)),
        _ => None,
    }
}

fn key(event: KeyEvent) -> Option<Key> {
    let ctrl = event.modifiers.contains(KeyModifiers::CONTROL);
    // a fast Esc followed by a letter looks like Alt and that letter: Alt is unbound, so it must do nothing
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

/// The events of plain letters, Enter, Tab, Esc and control keys.
pub fn typed(bytes: &[u8]) -> Vec<Event> {
    let key = |c: char| {
        let (code, modifiers) = match c {
            '\r' | '\n' => (KeyCode::Enter, KeyModifiers::NONE),
            '\t' => (KeyCode::Tab, KeyModifiers::NONE),
            '\x1b' => (KeyCode::Esc, KeyModifiers::NONE),
            '\x7f' | '\x08' => (KeyCode::Backspace, KeyModifiers::NONE),
            // 1 is Ctrl-A
            '\x01'..='\x1a' => (KeyCode::Char(char::from(c as u8 + b'a' - 1)), KeyModifiers::CONTROL),
            c => (KeyCode::Char(c), KeyModifiers::NONE),
        };
        Event::Key(KeyEvent::new(code, modifiers))
    };
    String::from_utf8_lossy(bytes).chars().map(key).collect()
}

/// Asks for a password on the terminal without showing it, or reads one line from a pipe.
///
/// # Errors
/// When there is neither a terminal nor a pipe, or the user presses Ctrl-C.
pub fn askpass() -> io::Result<String> {
    if !io::stdin().is_terminal() {
        let mut line = String::new();
        io::stdin().read_line(&mut line)?;
        return Ok(line.trim_end_matches(['\r', '\n']).to_owned());
    }
    let mut err = io::stderr().lock();
    // turn echo off before the prompt appears: early typing must not show either
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
