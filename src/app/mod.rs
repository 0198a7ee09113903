//! The program's state and its one writer. Pure like core: keys, samples and times come in as messages, effects go out.

pub mod cells;
pub mod dialog;
pub mod effect;
pub mod key;
pub mod keymap;
pub mod msg;
mod overview;
mod ranking;
pub mod screen;
mod tree;
pub mod update;

use crate::core::{
    id::EntryId,
    name::Name,
    sample::EntryPayload,
    store::{Focus, Settings},
    time::{Mono, Now},
    watch::{JudgedGroup, Watch},
};
use std::collections::BTreeSet;

pub use overview::{Order, RowId};
pub use tree::TreeRow;

/// Where the user is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Place {
    /// All streams and groups.
    #[default]
    Overview,
    /// One group.
    Group {
        /// Its stream.
        key: Name,
        /// Its name.
        group: Name,
    },
}

/// A part of the group screen that takes keys.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Pane {
    /// The entries around the cursor.
    Strip,
    /// Consumers and what they hold.
    #[default]
    Consumers,
    /// What is wrong.
    Symptoms,
}

impl Pane {
    const ALL: [Self; 3] = [Self::Strip, Self::Consumers, Self::Symptoms];

    /// The pane `step` further on, round the edge.
    pub fn after(self, step: isize) -> Self {
        let index = Self::ALL.iter().position(|pane| *pane == self).unwrap_or(0) as isize;
        Self::ALL[(index + step).rem_euclid(Self::ALL.len() as isize) as usize]
    }
}

/// How close the strip is looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Zoom {
    /// Entries with their ids.
    #[default]
    Entries,
    /// One cell for each entry.
    Cells,
    /// The whole retained stream.
    Stream,
}

impl Zoom {
    /// The next of the three.
    pub fn next(self) -> Self {
        match self {
            Self::Entries => Self::Cells,
            Self::Cells => Self::Stream,
            Self::Stream => Self::Entries,
        }
    }
}

/// What lies over the screen and takes all keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Overlay {
    /// The keys of this place.
    Help,
    /// What happened so far.
    Events,
    /// One entry.
    Entry {
        /// Its stream.
        key: Name,
        /// Its id.
        id: EntryId,
        /// What came back; `None` while it is fetched.
        payload: Option<EntryPayload>,
    },
    /// One finding in full.
    Finding,
}

/// The connection as the header shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LinkState {
    /// Samples come in.
    Up,
    /// They do not.
    Down {
        /// Since when.
        since: Mono,
        /// Why, in words.
        why: String,
        /// When the next try is made.
        retry_at: Mono,
    },
}

/// A word that stays on the screen for a moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    /// The word.
    pub text: String,
    /// Until when.
    pub until: Mono,
}

/// Everything the program knows and where its user is.
#[derive(Clone, Debug)]
pub struct App {
    /// What was sampled.
    pub watch: Watch,
    /// Where it comes from, in words without secrets.
    pub endpoint: String,
    /// redis-cli's flags for the same place.
    pub cli_words: String,
    /// The screen stands still: what was known then, and when that was. Collection goes on.
    pub frozen: Option<Box<(Watch, Now)>>,
    /// The connection.
    pub link: LinkState,
    /// The row picked is another one than that of the last plan made.
    pub unplanned: bool,
    /// Order of the rows, as last computed.
    ranking: ranking::Ranking,
    /// Interval wanted, in milliseconds.
    pub interval_ms: u64,
    /// Interval kept, which a slow server stretches.
    pub kept_interval_ms: u64,
    /// Where the user is.
    pub place: Place,
    /// Row of the overview.
    pub selected: Option<RowId>,
    /// The row was chosen; until then the worst one is picked, whichever that is.
    pub chosen: bool,
    /// The largest holder of the group just opened is still to be unfolded: its consumers were not known so far.
    pub unfold: bool,
    /// Order of the overview.
    pub order: Order,
    /// The overview upside down.
    pub reversed: bool,
    /// Only rows whose names hold this; `!` in front turns it round.
    pub filter: String,
    /// The filter is being typed.
    pub typing: bool,
    /// Pane of the group screen.
    pub pane: Pane,
    /// Zoom of the strip.
    pub zoom: Zoom,
    /// Entry picked on the strip; the cursor's own when none.
    pub entry: Option<EntryId>,
    /// Row picked in the tree of consumers.
    pub tree_row: Option<TreeRow>,
    /// Consumers whose entries are shown.
    pub open: BTreeSet<Option<Name>>,
    /// Finding picked.
    pub finding: usize,
    /// What lies over the screen.
    pub overlay: Option<Overlay>,
    /// The action that is being prepared; takes all keys.
    pub dialog: Option<Box<dialog::Dialog>>,
    /// Dialogs opened so far.
    pub asked: u64,
    /// Entries marked on the group screen.
    pub marks: BTreeSet<EntryId>,
    /// Whether actions may be carried out in this session.
    pub may_act: bool,
    /// Why not, to be put behind "this session only reads".
    pub why_read_only: String,
    /// What was done in this session: when, and a sentence.
    pub actions: Vec<(i64, String)>,
    /// What the journal has of earlier sessions, oldest first.
    pub journal: Vec<String>,
    /// How far the overlay is scrolled.
    pub scroll: usize,
    /// A word for a moment.
    pub notice: Option<Notice>,
    /// Columns and rows of the terminal.
    pub size: (u16, u16),
}

impl App {
    /// A program that knows nothing so far.
    pub fn new(settings: Settings, endpoint: String, cli_words: String, interval_ms: u64) -> Self {
        Self {
            watch: Watch::new(settings),
            endpoint,
            cli_words,
            frozen: None,
            link: LinkState::Up,
            unplanned: false,
            ranking: ranking::Ranking::default(),
            interval_ms,
            kept_interval_ms: interval_ms,
            place: Place::Overview,
            selected: None,
            chosen: false,
            unfold: false,
            order: Order::Severity,
            reversed: false,
            filter: String::new(),
            typing: false,
            pane: Pane::Consumers,
            zoom: Zoom::Entries,
            entry: None,
            tree_row: None,
            open: BTreeSet::new(),
            finding: 0,
            overlay: None,
            dialog: None,
            asked: 0,
            marks: BTreeSet::new(),
            may_act: false,
            why_read_only: String::new(),
            actions: Vec::new(),
            journal: Vec::new(),
            scroll: 0,
            notice: None,
            size: (80, 24),
        }
    }

    /// What the screen shows: what is known, or what was known when it was told to stand still.
    pub fn shown(&self) -> &Watch {
        self.frozen.as_ref().map_or(&self.watch, |frozen| &frozen.0)
    }

    /// The moment that the screen shows: ages stand still with it, also while the server is gone.
    pub fn shown_at(&self, now: Now) -> Now {
        match (&self.frozen, &self.link) {
            (Some(frozen), _) => frozen.1,
            (None, LinkState::Down { .. }) => self.watch.store.sampled.unwrap_or(now),
            (None, LinkState::Up) => now,
        }
    }

    /// Where the attention is, for the next tick.
    pub fn focus(&self) -> Focus {
        let Some((key, group)) = self.subject() else { return Focus::None };
        let open = self.open.iter().flatten().cloned().collect();
        Focus::Group { key, group, open, strip_at: self.entry }
    }

    /// The group on the screen, or the one picked in the overview.
    pub fn subject(&self) -> Option<(Name, Name)> {
        match (&self.place, &self.selected) {
            (Place::Group { key, group }, _) | (Place::Overview, Some(RowId { key, group: Some(group) })) => {
                Some((key.clone(), group.clone()))
            }
            (Place::Overview, _) => None,
        }
    }

    /// Stream and group of the group screen, as long as both are there.
    pub fn group(&self) -> Option<JudgedGroup<'_>> {
        match &self.place {
            Place::Group { key, group } => self.shown().group(key, group),
            Place::Overview => None,
        }
    }
}
