//! What goes out.

use crate::core::{
    action::{Ask, Plan},
    id::EntryId,
    name::Name,
    sample::Request,
};

/// What the ticks ask for, and how often; the newest holds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Polling {
    pub request: Request,
    /// Time from the start of one tick to the start of the next, in milliseconds.
    pub interval_ms: u64,
}

/// Something that the program outside has to do.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// From now on, poll so.
    Poll(Box<Polling>),
    /// Poll at once.
    PollNow,
    /// Fetch one entry with its payload.
    FetchEntry {
        /// The stream.
        key: Name,
        /// The entry.
        id: EntryId,
    },
    /// Make a plan: reads only.
    MakePlan {
        /// Which dialog asks.
        dialog: u64,
        /// For what.
        ask: Box<Ask>,
    },
    /// Carry out a plan that was confirmed by typing: the only effect that writes.
    Execute {
        /// Which dialog asks.
        dialog: u64,
        /// What.
        plan: Box<Plan>,
    },
    /// Stop a running claim after the batch under way.
    StopAction,
    /// Put text into the terminal's clipboard.
    Copy(String),
    /// Something became critical.
    Ring,
    /// Clear and draw everything.
    Redraw,
    /// Stop, as Ctrl-Z asks for.
    Suspend,
    /// End; with `printing`, leave a text snapshot behind.
    Quit {
        /// Whether a snapshot is printed.
        printing: bool,
    },
}
