//! The program's state and its one writer. Pure like core: keys, samples and times come in as messages, effects go out.

mod answering;
pub mod cells;
pub mod commands;
pub mod dialog;
pub mod effect;
pub mod filter;
pub mod group_screen;
pub mod key;
pub mod keymap;
mod known;
pub mod log;
pub mod msg;
pub mod overlay;
pub mod overview;
mod paragraph;
mod proposal;
pub mod screen;
pub mod update;

use crate::core::{
    name::Name,
    sample::Reached,
    store::{Focus, Settings},
    symptoms::Finding,
    time::{Mono, Now},
    watch::{JudgedGroup, Watch},
};
use dialog::Dialog;

pub use group_screen::{GroupScreen, Pane, TreeRow, Zoom};
pub use overlay::Overlay;
pub use overview::{Order, Overview, Picked, RollUp, RowId};

/// A notice stays for this time.
const NOTICE_MS: u64 = 3000;

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

/// The index `step` rows further on, among that many.
fn moved(index: usize, step: isize, len: usize) -> usize {
    index.saturating_add_signed(step).min(len.saturating_sub(1))
}

/// The connection as the header shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LinkState {
    /// Samples come in.
    Up,
    /// They do not.
    Down {
        /// Sentinels are about to name another server.
        failing_over: bool,
        /// Since when.
        since: Mono,
        /// Why, in words.
        why: String,
        /// When the next try is made.
        retry_at: Mono,
    },
}

/// A sentence that stays on the screen for a moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    pub text: String,
    /// Until when.
    pub until: Mono,
}

/// What holds for the whole run, and what was done in it.
#[derive(Clone, Debug, Default)]
pub struct Session {
    /// Where the samples come from, in words without secrets.
    pub endpoint: String,
    /// redis-cli's flags for the same place.
    pub cli_words: String,
    /// Whether actions may be carried out.
    pub may_act: bool,
    /// Why not, to be put behind "this session only reads".
    pub why_read_only: String,
    /// What must be said of the way to the server.
    pub caution: Option<&'static str>,
    /// What was done in this run, oldest first.
    pub actions: Vec<log::Acted>,
    /// What the journal has of earlier runs, oldest first.
    pub journal: Vec<String>,
}

impl Session {
    /// Names the server that sentinels led to, on the screen and in the commands to copy.
    fn follow(&mut self, reached: Option<&Reached>) {
        if let Some(reached) = reached {
            self.endpoint.clone_from(&reached.endpoint);
            self.cli_words.clone_from(&reached.cli_words);
        }
    }
}

/// What is known, what is shown of it, and where the user is.
#[derive(Clone, Debug)]
pub struct App {
    /// What was sampled, and what the checks say of it.
    pub watch: Watch,
    /// The screen stands still: what was known then, and when that was. Collection goes on.
    pub frozen: Option<Box<(Watch, Now)>>,
    /// The connection.
    pub link: LinkState,
    pub session: Session,
    /// Interval wanted, in milliseconds.
    pub interval_ms: u64,
    /// Interval kept, which a slow server stretches.
    pub kept_interval_ms: u64,
    /// The row picked is another one than that of the last plan made.
    pub unplanned: bool,
    /// Where the user is.
    pub place: Place,
    pub overview: Overview,
    pub group_screen: GroupScreen,
    /// What lies over the screen and takes all keys.
    pub overlay: Option<Overlay>,
    /// How many critical findings there were at the last sample.
    pub critical: usize,
    /// How many lines of the overlay are scrolled away.
    pub scroll: usize,
    /// Dialogs opened so far.
    pub asked: u64,
    /// A sentence for a moment.
    pub notice: Option<Notice>,
    /// Columns and rows of the terminal.
    pub size: (u16, u16),
}

impl App {
    /// A program that knows nothing so far.
    pub fn new(settings: Settings, endpoint: String, cli_words: String, interval_ms: u64) -> Self {
        Self {
            watch: Watch::new(settings),
            frozen: None,
            link: LinkState::Up,
            session: Session { endpoint, cli_words, ..Session::default() },
            interval_ms,
            kept_interval_ms: interval_ms,
            unplanned: false,
            place: Place::Overview,
            overview: Overview::default(),
            group_screen: GroupScreen::default(),
            overlay: None,
            critical: 0,
            scroll: 0,
            asked: 0,
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
        let open = self.group_screen.open.iter().flatten().cloned().collect();
        Focus::Group { key, group, open, strip_at: self.group_screen.entry }
    }

    /// The group on the screen, or the one picked in the overview.
    pub fn subject(&self) -> Option<(Name, Name)> {
        match (&self.place, self.overview.row()) {
            (Place::Group { key, group }, _) | (Place::Overview, Some(RowId { key, group: Some(group) })) => {
                Some((key.clone(), group.clone()))
            }
            (Place::Overview, _) => None,
        }
    }

    /// The dialog of the action that is being prepared.
    pub fn dialog(&self) -> Option<&Dialog> {
        match &self.overlay {
            Some(Overlay::Dialog(dialog)) => Some(dialog),
            _ => None,
        }
    }

    /// The dialog with that number, if it is still the one on the screen.
    fn dialog_mut(&mut self, id: u64) -> Option<&mut Dialog> {
        match &mut self.overlay {
            Some(Overlay::Dialog(dialog)) if dialog.id == id => Some(dialog),
            _ => None,
        }
    }

    /// The dialog to work on; [`Self::put_back`] shows it again.
    fn take_dialog(&mut self) -> Option<Box<Dialog>> {
        match self.overlay.take() {
            Some(Overlay::Dialog(dialog)) => Some(dialog),
            other => {
                self.overlay = other;
                None
            }
        }
    }

    fn put_back(&mut self, dialog: Box<Dialog>) {
        self.overlay = Some(Overlay::Dialog(dialog));
    }

    /// Lays something over the screen, in place of what lay there.
    fn show(&mut self, overlay: Overlay) {
        self.overlay = Some(overlay);
        self.scroll = 0;
    }

    fn show_dialog(&mut self, dialog: Dialog) {
        self.show(Overlay::Dialog(Box::new(dialog)));
    }

    /// The finding picked on the group screen. The group's findings come before the stream's.
    pub fn picked_finding(&self) -> Option<&Finding> {
        let seen = self.group()?;
        match &self.group_screen.finding {
            Some(picked) => seen.findings().find(|finding| finding.key() == *picked),
            None => seen.findings().next(),
        }
    }

    /// The consumer that the row picked in the tree stands for.
    pub fn picked_consumer(&self) -> Option<Name> {
        match self.group_screen.tree_row.as_ref()? {
            TreeRow::Consumer(name) => name.clone(),
            TreeRow::Entry(_) | TreeRow::Idle => None,
        }
    }

    /// Shows a sentence for that long.
    fn notify(&mut self, text: impl Into<String>, now: Now, for_ms: u64) {
        self.notice = Some(Notice { text: text.into(), until: Mono(now.mono.0 + for_ms) });
    }

    /// Stream and group of the group screen, as long as both are there.
    pub fn group(&self) -> Option<JudgedGroup<'_>> {
        match &self.place {
            Place::Group { key, group } => self.shown().group(key, group),
            Place::Overview => None,
        }
    }
}
