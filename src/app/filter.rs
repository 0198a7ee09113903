//! A filter that is typed: of the overview, the consumers, the log.

use super::key::Key;

/// A filter is not longer than this, in bytes.
const LONGEST: usize = 100;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// Only rows that contain this; `!` in front inverts it.
    pub text: String,
    /// It is being typed.
    pub typing: bool,
}

impl Filter {
    /// Keys while it is typed; false for those that mean something else, and while it is not typed.
    pub fn press(&mut self, key: Key) -> bool {
        if !self.typing {
            return false;
        }
        match key {
            Key::Enter => self.typing = false,
            Key::Esc => *self = Self::default(),
            Key::Backspace => {
                self.text.pop();
            }
            Key::Ctrl('u') => self.text.clear(),
            Key::Char(c) => self.add(c),
            _ => return false,
        }
        true
    }

    /// Pasted text is typed text.
    pub fn paste(&mut self, text: &str) {
        text.chars().for_each(|c| self.add(c));
    }

    fn add(&mut self, c: char) {
        if !c.is_control() && self.text.len() < LONGEST {
            self.text.push(c);
        }
    }

    /// Whether one of these texts contains it, in letters of any size.
    pub fn passes(&self, texts: &[&str]) -> bool {
        let (turned, text) = match self.text.strip_prefix('!') {
            Some(rest) => (true, rest),
            None => (false, self.text.as_str()),
        };
        let text = text.to_lowercase();
        text.is_empty() || texts.iter().any(|held| held.to_lowercase().contains(&text)) != turned
    }
}
