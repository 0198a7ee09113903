//! The preview of a plan: one text, which the dialog shows in colours and the shell prints.

use crate::core::words::count;
use std::fmt;

/// How a piece of a line looks in the dialog.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weight {
    Plain,
    /// The number that matters.
    Number,
    /// A loss, or somebody who may be at work.
    Loud,
    /// Where the cursor goes.
    Accent,
    /// A secondary fact.
    Quiet,
}

/// A line of a preview, in pieces.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PreviewLine(pub Vec<(Weight, String)>);

impl PreviewLine {
    /// A line that begins with this piece.
    pub fn new(weight: Weight, text: impl Into<String>) -> Self {
        Self(vec![(weight, text.into())])
    }

    /// One more piece.
    #[must_use]
    pub fn then(mut self, weight: Weight, text: impl Into<String>) -> Self {
        self.0.push((weight, text.into()));
        self
    }
}

impl fmt::Display for PreviewLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|(_, text)| f.write_str(text))
    }
}

/// A count of a preview.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counted {
    pub value: i64,
    /// Whether everything was looked at; else it is at least the value.
    pub exact: bool,
}

impl Counted {
    /// A number of which nothing was left out.
    pub fn exact(value: i64) -> Self {
        Self { value, exact: true }
    }

    /// `5`, `≥5`.
    pub fn text(self) -> String {
        if self.exact { self.value.to_string() } else { format!("≥{}", self.value) }
    }

    /// `1 entry`, `≥5 entries`.
    pub fn of(self, one: &str, many: &str) -> String {
        format!("{}{}", if self.exact { "" } else { "≥" }, count(self.value, one, many))
    }

    /// As in JSON.
    pub fn json(self) -> serde_json::Value {
        serde_json::json!({"kind": if self.exact { "exact" } else { "at_least" }, "value": self.value})
    }
}
