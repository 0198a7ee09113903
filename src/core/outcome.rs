//! The outcome of an executed plan.

use super::{
    command::Argv,
    id::EntryId,
    lag::Count,
    model::{PendingRow, PendingSummary},
    name::Name,
    words::entries,
};
use std::{
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet},
};

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

/// Pending entries before and after an action, counted by the server. Other clients may have changed them, too.
#[derive(Clone, Debug, PartialEq)]
pub struct Counted {
    before: PendingSummary,
    after: PendingSummary,
}

/// How many consumers are named with their numbers.
const NAMED: usize = 3;

impl Counted {
    pub fn new(before: PendingSummary, after: PendingSummary) -> Self {
        Self { before, after }
    }

    /// `pending 7 -> 5`, and of whom, the largest changes first; `None` where nothing changed.
    fn text(&self) -> Option<String> {
        let of = |summary: &PendingSummary| summary.holders.iter().cloned().collect::<BTreeMap<Name, i64>>();
        let (before, after) = (of(&self.before), of(&self.after));
        let names: BTreeSet<&Name> = before.keys().chain(after.keys()).collect();
        let count = |held: &BTreeMap<Name, i64>, name: &Name| held.get(name).copied().unwrap_or(0);
        let mut changed: Vec<(&Name, i64, i64)> = names
            .into_iter()
            .map(|name| (name, count(&before, name), count(&after, name)))
            .filter(|(_, before, after)| before != after)
            .collect();
        changed.sort_by_key(|(_, before, after)| Reverse(before.abs_diff(*after)));
        let mut parts: Vec<String> = Vec::new();
        if self.before.total != self.after.total {
            parts.push(format!("pending {} -> {}", self.before.total, self.after.total));
        }
        parts.extend(
            changed.iter().take(NAMED).map(|(name, before, after)| format!("{name} holds {before} -> {after}")),
        );
        if changed.len() > NAMED {
            parts.push(format!("{} more consumers changed", changed.len() - NAMED));
        }
        (!parts.is_empty()).then(|| parts.join(", "))
    }
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
    /// What the pending list was before and after; `None` where it could not be counted.
    pub counted: Option<Counted>,
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
        parts.extend(self.counted.as_ref().and_then(Counted::text));
        parts.extend(self.note.clone());
        if parts.is_empty() { "nothing".to_owned() } else { parts.join(", ") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn summary(total: i64, holders: &[(&str, i64)]) -> PendingSummary {
        PendingSummary { total, holders: holders.iter().map(|(name, held)| (Name::from(*name), *held)).collect() }
    }

    #[test]
    fn what_changed_is_counted_the_largest_change_first() {
        let text = |before, after| Counted::new(before, after).text();
        let before = summary(9, &[("dead", 5), ("w1", 1), ("w2", 3)]);
        assert_eq!(text(before.clone(), before.clone()), None);
        let claimed = summary(9, &[("w1", 6), ("w2", 3)]);
        assert_eq!(text(before.clone(), claimed).as_deref(), Some("dead holds 5 -> 0, w1 holds 1 -> 6"));
        let acknowledged = summary(7, &[("dead", 3), ("w1", 1), ("w2", 3)]);
        assert_eq!(text(before.clone(), acknowledged).as_deref(), Some("pending 9 -> 7, dead holds 5 -> 3"));
        let crowd = summary(5, &[("a", 1), ("b", 1), ("c", 1), ("d", 1), ("e", 1)]);
        let one = text(crowd, summary(5, &[("z", 5)]));
        let expected = "z holds 0 -> 5, a holds 1 -> 0, b holds 1 -> 0, 3 more consumers changed";
        assert_eq!(one.as_deref(), Some(expected));
        // an entry without an owner
        let released = summary(9, &[("w1", 1), ("w2", 3)]);
        assert_eq!(text(before, released).as_deref(), Some("dead holds 5 -> 0"));
    }
}
