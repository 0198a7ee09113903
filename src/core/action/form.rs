//! What is typed into the fields of an action's dialog.

use super::place::Place;
use crate::core::name::Name;

/// A field of a dialog.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Field {
    /// The consumer whose entries are meant, or anybody's.
    Source,
    /// The consumer that gets the entries.
    Target,
    /// The least idle time.
    MinIdle,
    /// The most entries.
    Limit,
    /// Where the cursor goes.
    Place,
    /// That the group is in use, and is meant all the same.
    InUse,
}

/// The fields of all dialogs; each action reads its own.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Form {
    /// Consumers that hold entries, and the chosen one; `None` stands for all of them.
    pub sources: Vec<Option<Name>>,
    pub source: usize,
    /// Consumers to choose from, and the chosen one.
    pub targets: Vec<Name>,
    pub target: usize,
    /// As typed.
    pub min_idle: String,
    pub limit: String,
    pub place: String,
    pub in_use: String,
}

/// What has to be typed to delete a group that is in use.
pub const IN_USE: &str = "in use";

impl Form {
    /// The text of a field that is typed into.
    pub fn text_mut(&mut self, field: Field) -> Option<&mut String> {
        match field {
            Field::Source | Field::Target => None,
            Field::MinIdle => Some(&mut self.min_idle),
            Field::Limit => Some(&mut self.limit),
            Field::Place => Some(&mut self.place),
            Field::InUse => Some(&mut self.in_use),
        }
    }

    /// The consumer whose entries are meant; `None` for anybody's.
    pub fn chosen_source(&self) -> Option<Name> {
        self.sources.get(self.source).cloned().flatten()
    }

    /// # Errors
    /// When there is nobody to choose.
    pub fn chosen_target(&self) -> Result<Name, String> {
        let chosen = self.targets.get(self.target).cloned();
        chosen.ok_or_else(|| "the group has no other consumer to give them to".to_owned())
    }

    /// `5m`, `90s`, `0` in milliseconds.
    ///
    /// # Errors
    /// When it is not a time.
    pub fn min_idle_ms(&self) -> Result<i64, String> {
        match Place::parse(&format!("{}-ago", self.min_idle.trim())) {
            _ if self.min_idle.trim() == "0" => Ok(0),
            Ok(Place::Ago(ms)) => Ok(ms),
            _ => Err("the least idle time is written as 90s, 5m or 1h".to_owned()),
        }
    }

    /// # Errors
    /// When it is neither empty nor a number of entries.
    pub fn limit(&self) -> Result<Option<usize>, String> {
        match self.limit.trim() {
            "" => Ok(None),
            text => {
                let number = text.parse().ok().filter(|n| *n > 0);
                number.map(Some).ok_or_else(|| "the limit is a number of entries, or empty for no limit".to_owned())
            }
        }
    }

    /// Whether it was typed out that a group in use is meant.
    pub fn is_in_use(&self) -> bool {
        self.in_use.trim() == IN_USE
    }
}
