//! What lies over the screen and takes all keys: one thing at a time.

use super::{App, commands::Commands, dialog::Dialog, keymap::Action, log::Log, paragraph::paragraph};
use crate::core::{command::Argv, id::EntryId, name::Name, sample::EntryPayload};

/// What lies over the screen.
#[derive(Clone, Debug, PartialEq)]
pub enum Overlay {
    /// The keys of this place.
    Help,
    /// Everything that can be done in this place, found by typing.
    Commands(Commands),
    /// What happened so far.
    Log(Log),
    /// One entry.
    Entry {
        /// Its stream.
        key: Name,
        id: EntryId,
        /// What came back; `None` while it is fetched.
        payload: Option<EntryPayload>,
    },
    /// One finding in full.
    Finding,
    /// The action that is being prepared. It has keys of its own.
    Dialog(Box<Dialog>),
}

/// The furthest that an overlay scrolls before its length is known.
const MOST_SCROLL: usize = 10_000;

/// The key that opened it also closes it.
pub fn toggle(app: &mut App, overlay: Overlay) {
    let same = |open: &Overlay| std::mem::discriminant(open) == std::mem::discriminant(&overlay);
    if app.overlay.as_ref().is_some_and(same) {
        app.overlay = None;
    } else {
        app.show(overlay);
    }
}

/// A key while something lies over the screen; false if it means nothing there.
pub fn act(app: &mut App, action: Action) -> bool {
    if action == Action::Back {
        app.overlay = None;
    } else if let Some(step) = action.step(app.size) {
        app.scroll = app.scroll.saturating_add_signed(step).min(MOST_SCROLL);
    } else {
        return false;
    }
    true
}

/// An entry that was asked for; nothing if its box was closed meanwhile.
pub fn take_entry(app: &mut App, entry: EntryPayload) {
    if let Some(Overlay::Entry { key, id, payload }) = &mut app.overlay
        && *key == entry.key
        && *id == entry.id
    {
        *payload = Some(entry);
    }
}

impl Overlay {
    /// Name or id of what it shows; `None` where the place below knows better.
    pub fn name(&self, app: &App) -> Option<String> {
        match self {
            Self::Entry { id, .. } => Some(id.to_string()),
            Self::Finding => app.picked_finding().map(|finding| paragraph(app, finding)),
            _ => None,
        }
    }

    /// The command that shows the same.
    pub fn command(&self) -> Option<Argv> {
        match self {
            Self::Entry { key, id, .. } => Some(Argv::entry(key, *id)),
            _ => None,
        }
    }
}
