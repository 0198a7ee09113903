//! What comes in.

use super::key::Key;
use crate::core::{
    action::Plan,
    outcome::Outcome,
    sample::{EntryPayload, Sample},
    time::Mono,
};

/// A message to the update function.
#[derive(Clone, Debug)]
pub enum Msg {
    /// A key was pressed.
    Key(Key),
    /// Text was pasted; only an input takes it.
    Paste(String),
    /// A tick's sample.
    Sampled {
        /// What it brought.
        sample: Box<Sample>,
        /// Time to the next tick, in milliseconds.
        interval_ms: u64,
    },
    /// The server is gone.
    Down {
        /// Why, in words.
        why: String,
        /// When the next try is made.
        retry_at: Mono,
    },
    /// An entry that was asked for.
    Entry(EntryPayload),
    /// A plan that was asked for, or why there is none.
    Planned(u64, Result<Box<Plan>, String>),
    /// How far an action has come: claimed and removed.
    Progress(u64, i64, i64),
    /// The end of an action.
    Ended(u64, Box<Outcome>),
    /// The terminal has this many columns and rows.
    Resized(u16, u16),
    /// Time passed: ages tick.
    Clock,
    /// A signal asks for the end.
    Terminate,
}
