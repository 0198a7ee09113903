//! Everything that can be done in the place where the user is, found by typing a part of it. The list comes from the table of keys.

use super::{
    App,
    key::Key,
    keymap::{Action, BINDINGS, Binding},
};

/// The list, as far as it was typed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Commands {
    pub typed: String,
    /// Index of the picked row among those that fit.
    pub picked: usize,
    /// Indexes in the table of keys.
    rows: Vec<usize>,
}

/// What became of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pressed {
    /// The list took it.
    Taken,
    /// This was chosen.
    Chosen(Action),
    /// It is not for the list.
    Other,
}

impl Commands {
    /// What can be done in the place under the list.
    pub fn here(app: &App) -> Self {
        let here = |binding: &Binding| binding.scope.includes(&app.place) && binding.action != Action::Commands;
        let rows = BINDINGS.iter().enumerate().filter(|(_, binding)| here(binding)).map(|(index, _)| index);
        Self { rows: rows.collect(), ..Self::default() }
    }

    /// The rows that contain each typed word, in their keys or in their text.
    pub fn fitting(&self) -> Vec<&'static Binding> {
        let words: Vec<String> = self.typed.split_whitespace().map(str::to_lowercase).collect();
        let fits = |binding: &&Binding| {
            let text = format!("{} {}", binding.word, binding.help).to_lowercase();
            let is_key = |word: &str| binding.keys.iter().any(|key| key.to_string().to_lowercase() == word);
            words.iter().all(|word| text.contains(word) || is_key(word))
        };
        self.rows.iter().map(|index| &BINDINGS[*index]).filter(fits).collect()
    }

    /// A key while the list is open.
    pub fn press(&mut self, key: Key) -> Pressed {
        let last = self.fitting().len().saturating_sub(1);
        match key {
            Key::Enter => {
                return self.fitting().get(self.picked).map_or(Pressed::Taken, |row| Pressed::Chosen(row.action));
            }
            Key::Down => self.picked = (self.picked + 1).min(last),
            Key::Up => self.picked = self.picked.saturating_sub(1),
            Key::Home => self.picked = 0,
            Key::End => self.picked = last,
            Key::Backspace => {
                self.typed.pop();
                self.picked = 0;
            }
            Key::Ctrl('u') => {
                self.typed.clear();
                self.picked = 0;
            }
            Key::Char(c) => self.add(c),
            _ => return Pressed::Other,
        }
        Pressed::Taken
    }

    /// Pasted text is typed text.
    pub fn paste(&mut self, text: &str) {
        text.chars().for_each(|c| self.add(c));
    }

    fn add(&mut self, c: char) {
        if !c.is_control() && self.typed.len() < 100 {
            self.typed.push(c);
            self.picked = 0;
        }
    }
}
