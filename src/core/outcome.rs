//! The outcome of an executed plan.

use super::{id::EntryId, lag::Count, model::PendingRow, name::Name, words::entries};
use crate::core::command::Argv;

/// What an action of this program did to a group.
#[derive(Clone, Debug, Default)]
pub struct OwnAction {
    /// New owners of entries.
    pub moves: Vec<(EntryId, Name)>,
    /// Whether they are meant to handle the entries. One that gets them back had them before.
    pub follow: bool,
    /// The cursor was moved.
    pub cursor: bool,
}

/// Why nothing was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The cursor is not where the preview saw it. On a live group this is normal.
    CursorMoved {
        /// As previewed.
        from: EntryId,
        /// As found.
        to: EntryId,
    },
    /// Anything else, as a sentence.
    Other(String),
}

impl std::fmt::Display for Refusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::CursorMoved { from, to } => write!(f, "the cursor moved from {from} to {to} since the preview"),
            Self::Other(why) => f.write_str(why),
        }
    }
}

impl From<&str> for Refusal {
    fn from(why: &str) -> Self {
        Self::Other(why.to_owned())
    }
}

impl From<String> for Refusal {
    fn from(why: String) -> Self {
        Self::Other(why)
    }
}

/// How an action ended.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// It was done, with what the server's replies report.
    Done(Done),
    /// Nothing was written, and why.
    Refused(Refusal),
    /// The link broke, or the server did not answer after something was sent: we do not know whether it was done. It is never sent again
    /// automatically. The sentence includes what a look afterwards found.
    Unknown(String, Done),
}

/// What was done, according to the replies.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Done {
    /// Entries that changed hands.
    pub claimed: i64,
    /// Entries dropped from the pending list because their payload is gone.
    pub removed: i64,
    pub acknowledged: i64,
    /// The whole pending list was scanned.
    pub scan_complete: bool,
    /// Where the scan stopped; `0-0` at its end.
    pub scan_cursor: Option<EntryId>,
    /// The group's cursor, read back.
    pub cursor: Option<EntryId>,
    /// The cursor directly before the action.
    pub cursor_before: Option<EntryId>,
    /// Entries past the cursor, counted after it was moved; `None` where that was not possible.
    pub lag: Option<Count>,
    /// And those past it before, by the entries that it was moved over.
    pub lag_before: Option<i64>,
    /// The user stopped the action between two batches.
    pub stopped: bool,
    /// The server refused a batch, which ended the action; `note` has its words.
    pub refused: bool,
    /// An additional remark, such as the error that ended the action half-way.
    pub note: Option<String>,
    /// What was deleted, as in `the consumer c1`.
    pub deleted: Option<String>,
    /// The moved entries as they were before, to undo the action.
    pub moved: Vec<PendingRow>,
    /// The commands that undo the action; empty if there are none.
    pub undo: Vec<Argv>,
}

impl Outcome {
    pub fn refused(why: impl Into<Refusal>) -> Self {
        Self::Refused(why.into())
    }

    /// As one sentence.
    pub fn text(&self) -> String {
        match self {
            Self::Done(done) => done.text(),
            Self::Refused(why) => format!("nothing was written: {why}"),
            Self::Unknown(why, done) => format!("outcome unknown: {why}; confirmed before that: {}", done.text()),
        }
    }

    /// The word in the journal.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Done(_) => "done",
            Self::Refused(_) => "refused",
            Self::Unknown(..) => "unknown",
        }
    }
}

impl Done {
    fn text(&self) -> String {
        let mut parts = Vec::new();
        if let Some(cursor) = self.cursor {
            parts.push(format!("the cursor is at {cursor}"));
        }
        match (self.lag, self.lag_before) {
            (Some(now), Some(before)) => {
                parts.push(format!("lag {before} -> {}, counted", now.text()));
            }
            (Some(now), None) => parts.push(format!("lag {}, counted", now.text())),
            (None, _) => {}
        }
        if self.acknowledged > 0 {
            parts.push(format!("{} acknowledged", self.acknowledged));
        }
        parts.extend(self.deleted.as_ref().map(|what| format!("{what} is deleted")));
        if self.claimed > 0 || self.removed > 0 || self.scan_cursor.is_some() {
            parts.push(format!("{} claimed", entries(self.claimed)));
        }
        if self.removed > 0 {
            parts.push(format!("{} without payload removed", entries(self.removed)));
        }
        match self.scan_cursor {
            Some(cursor) if self.stopped => parts.push(format!("stopped at {cursor}")),
            Some(cursor) if self.refused => parts.push(format!("ended at {cursor}")),
            Some(cursor) if !self.scan_complete => parts.push(format!("the limit was reached at {cursor}")),
            _ => {}
        }
        parts.extend(self.note.clone());
        if parts.is_empty() { "nothing".to_owned() } else { parts.join(", ") }
    }
}
