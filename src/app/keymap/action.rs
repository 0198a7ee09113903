//! What keys can do.

use crate::app::{Pane, dialog::Action as Prepared};

/// What a key does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Action {
    /// One row down, or right on the strip.
    Down,
    /// One row up.
    Up,
    /// To the right.
    Right,
    /// To the left.
    Left,
    /// To the first row.
    First,
    /// To the last row.
    Last,
    /// Half a screen down.
    PageDown,
    /// Half a screen up.
    PageUp,
    /// Open what is picked.
    Open,
    /// Close, clear, or go up.
    Back,
    /// To the next pane.
    NextPane,
    /// To the pane before.
    PreviousPane,
    /// To this pane.
    Show(Pane),
    /// The pane in focus alone, or all panes.
    Alone,
    /// To the entry that is pending longest.
    Oldest,
    /// The strip's next zoom.
    Zoom,
    /// Type a filter.
    Filter,
    /// The next order.
    Sort,
    /// Sort by the column to the left of the sorted one, or to the right.
    SortLeft,
    SortRight,
    /// Turn the order round.
    Reverse,
    /// Roll up rows of one pattern, or list every row.
    RollUp,
    /// To the next group.
    NextGroup,
    /// To the group before.
    PreviousGroup,
    /// Prepare an action: its dialog shows the plan.
    Prepare(Prepared),
    /// Mark an entry, or take the mark away.
    Mark,
    /// Mark all pending entries of the consumer, or of the strip.
    MarkAll,
    /// Say that a finding is known, for a while.
    MarkKnown,
    /// Stand still, or go on.
    Pause,
    /// Poll now.
    Poll,
    /// Poll more often.
    Faster,
    /// Poll less often.
    Slower,
    /// Copy the name or id.
    CopyName,
    /// Copy the command that shows the same.
    CopyCommand,
    /// What happened so far.
    Log,
    /// The keys.
    Help,
    /// Everything that can be done here, found by typing.
    Commands,
    /// Redraw.
    Redraw,
    /// To the shell and back.
    Suspend,
    /// Quit and leave a text snapshot on the terminal.
    QuitPrinting,
    /// One step back, or quit where there is none.
    Leave,
    /// Quit.
    Quit,
}

impl Action {
    /// By how many rows it walks, on a terminal of that size; `None` for what does not walk.
    pub fn step(self, size: (u16, u16)) -> Option<isize> {
        let half = isize::from(size.1 as i16 / 2).max(1);
        Some(match self {
            Self::Down => 1,
            Self::Up => -1,
            Self::PageDown => half,
            Self::PageUp => -half,
            Self::First => isize::MIN / 2,
            Self::Last => isize::MAX / 2,
            _ => return None,
        })
    }
}

/// What a key is for, as help groups them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Section {
    Moving,
    Looking,
    Acting,
    Program,
}

impl Section {
    pub const ALL: [Self; 4] = [Self::Looking, Self::Acting, Self::Moving, Self::Program];

    pub fn title(self) -> &'static str {
        match self {
            Self::Moving => "Moving about",
            Self::Looking => "Looking closer",
            Self::Acting => "Acting: each shows a plan first",
            Self::Program => "The program",
        }
    }
}

impl Action {
    pub fn section(self) -> Section {
        match self {
            Self::Prepare(_) | Self::Mark | Self::MarkAll | Self::MarkKnown => Section::Acting,
            Self::Open
            | Self::Oldest
            | Self::Zoom
            | Self::Alone
            | Self::Filter
            | Self::Sort
            | Self::SortLeft
            | Self::SortRight
            | Self::Reverse
            | Self::RollUp
            | Self::Log
            | Self::CopyName
            | Self::CopyCommand => Section::Looking,
            Self::Pause
            | Self::Poll
            | Self::Faster
            | Self::Slower
            | Self::Help
            | Self::Commands
            | Self::Redraw
            | Self::Suspend
            | Self::QuitPrinting
            | Self::Leave
            | Self::Quit => Section::Program,
            _ => Section::Moving,
        }
    }
}
