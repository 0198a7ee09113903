//! The one table of actions: dispatch, footer, help and the README's table all come from it.

mod action;
mod guards;

use super::{App, Pane, Place, dialog::Action as Prepared, key::Key};
use guards::{
    box_open, consumers_unknown, group_missing, no_consumer_picked, no_entries_here, no_events, no_finding_picked,
    no_group_picked, nothing_marked, nothing_pending, nothing_rolled_up, nothing_to_mark,
};

pub use action::{Action, Section};

/// Where a binding holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Everywhere but while a filter is typed.
    Everywhere,
    /// In the overview.
    Overview,
    /// On the group screen.
    Group,
}

impl Scope {
    /// Whether a binding holds in a place with nothing over it.
    pub fn includes(self, place: &Place) -> bool {
        match self {
            Self::Everywhere => true,
            Self::Overview => matches!(place, Place::Overview),
            Self::Group => matches!(place, Place::Group { .. }),
        }
    }
}

/// Why an action can do nothing now, as a sentence for the footer; `None` if it can.
type Guard = fn(&App) -> Option<&'static str>;

/// One row of the table.
#[derive(Clone, Copy, Debug)]
pub struct Binding {
    /// What it does.
    pub action: Action,
    /// Its keys, the one to show first in front.
    pub keys: &'static [Key],
    /// Where it holds.
    pub scope: Scope,
    /// One word for the footer; empty where it is not shown there.
    pub word: &'static str,
    /// A line for help.
    pub help: &'static str,
    guards: &'static [Guard],
}

impl Binding {
    /// Refuses, in this order, with the first reason that a guard gives.
    const fn unless(self, guards: &'static [Guard]) -> Self {
        Self { guards, ..self }
    }
}

const fn row(action: Action, keys: &'static [Key], scope: Scope, word: &'static str, help: &'static str) -> Binding {
    Binding { action, keys, scope, word, help, guards: &[] }
}

use Key::{BackTab, Char, Ctrl, Down, End, Enter, Esc, F, Home, Left, PageDown, PageUp, Right, Tab, Up};

/// The table.
pub const BINDINGS: &[Binding] = &[
    row(
        Action::Open,
        &[Enter],
        Scope::Everywhere,
        "open",
        "open the row: a group, a consumer's entries, an entry; from a finding: to the entry or consumer that it is about",
    ),
    row(Action::Back, &[Esc], Scope::Everywhere, "back", "close, clear the filter, or go up; never quits"),
    row(Action::Down, &[Char('j'), Down], Scope::Everywhere, "", "one row down"),
    row(Action::Up, &[Char('k'), Up], Scope::Everywhere, "", "one row up"),
    row(
        Action::Right,
        &[Char('l'), Right],
        Scope::Group,
        "",
        "on the strip: next entry; on a consumer: show its entries; on a finding: all about it",
    ),
    row(
        Action::Left,
        &[Char('h'), Left],
        Scope::Group,
        "",
        "on the strip: previous entry; on a consumer: hide its entries",
    ),
    row(Action::First, &[Char('g'), Home], Scope::Everywhere, "", "to the first row"),
    row(Action::Last, &[Char('G'), End], Scope::Everywhere, "", "to the last row"),
    row(Action::PageDown, &[PageDown, Ctrl('d')], Scope::Everywhere, "", "half a screen down"),
    row(Action::PageUp, &[PageUp, Ctrl('u')], Scope::Everywhere, "", "half a screen up"),
    row(Action::Show(Pane::Strip), &[Char('1')], Scope::Group, "", "to the strip"),
    row(Action::Show(Pane::Consumers), &[Char('2')], Scope::Group, "", "to the consumers"),
    row(Action::Show(Pane::Symptoms), &[Char('3')], Scope::Group, "", "to the symptoms"),
    row(Action::NextPane, &[Tab], Scope::Group, "pane", "to the next pane"),
    row(Action::PreviousPane, &[BackTab], Scope::Group, "", "to the previous pane"),
    row(
        Action::Zoom,
        &[Char('z')],
        Scope::Group,
        "zoom",
        "zoom of the strip: entries with ids, one cell an entry, the whole stream",
    )
    .unless(&[group_missing]),
    row(Action::Oldest, &[Char('o')], Scope::Group, "oldest", "to the entry that is pending longest, as far as rows were read")
        .unless(&[nothing_pending]),
    row(Action::NextGroup, &[Char('n'), Char(']')], Scope::Group, "next group", "to the next group of the overview"),
    row(Action::PreviousGroup, &[Char('N'), Char('[')], Scope::Group, "", "to the previous group"),
    row(
        Action::Filter,
        &[Char('/')],
        Scope::Everywhere,
        "filter",
        "show only rows whose names contain a text, in the overview, among the consumers, in the log; ! in front inverts it; among the symptoms and in help: search",
    ),
    row(Action::Sort, &[Char('s')], Scope::Overview, "sort", "next order: level, name, lag, pending, oldest"),
    row(Action::SortLeft, &[Char('<')], Scope::Overview, "", "sort by the column to the left of the sorted one"),
    row(Action::SortRight, &[Char('>')], Scope::Overview, "", "sort by the column to the right of it"),
    row(Action::Reverse, &[Char('S')], Scope::Overview, "", "reverse the order"),
    row(
        Action::RollUp,
        &[Char('u')],
        Scope::Overview,
        "",
        "list every row by itself, or roll up streams of one pattern (orders:0 to orders:63) into one row that Enter opens",
    )
    .unless(&[nothing_rolled_up]),
    row(
        Action::Prepare(Prepared::Claim),
        &[Char('c')],
        Scope::Everywhere,
        "claim",
        "prepare a claim of idle entries: shows what would happen before anything is written",
    )
    .unless(&[box_open, no_group_picked, consumers_unknown]),
    row(
        Action::Prepare(Prepared::Seek),
        &[Char('m')],
        Scope::Everywhere,
        "move cursor",
        "prepare a move of the group's cursor: shows what would be skipped or delivered again",
    )
    .unless(&[box_open, no_group_picked]),
    row(Action::Mark, &[Char('v')], Scope::Group, "", "mark the entry, or remove its mark").unless(&[no_entries_here]),
    row(
        Action::MarkAll,
        &[Char('V')],
        Scope::Group,
        "",
        "mark all entries of the consumer, of the finding (as all without payload), or of the strip, as far as they were read; or remove their marks",
    )
    .unless(&[nothing_to_mark]),
    row(
        Action::Prepare(Prepared::HandOver),
        &[Char('C')],
        Scope::Group,
        "",
        "prepare handing the marked entries to a consumer",
    )
    .unless(&[box_open, no_group_picked, nothing_marked]),
    row(
        Action::Prepare(Prepared::Acknowledge),
        &[Char('A')],
        Scope::Group,
        "",
        "prepare acknowledging the marked entries unprocessed",
    )
    .unless(&[box_open, no_group_picked, nothing_marked]),
    row(
        Action::Prepare(Prepared::DeleteConsumer),
        &[Char('D')],
        Scope::Group,
        "",
        "prepare deleting the consumer; refused while it holds anything",
    )
    .unless(&[box_open, no_group_picked, no_consumer_picked]),
    row(
        Action::Prepare(Prepared::DeleteGroup),
        &[Char('X')],
        Scope::Everywhere,
        "",
        "prepare deleting the group (XGROUP DESTROY); refused while it is in use, unless that is typed out",
    )
    .unless(&[box_open, no_group_picked]),
    row(
        Action::MarkKnown,
        &[Char('a')],
        Scope::Everywhere,
        "",
        "the chosen finding is known: quiet for an hour, then for eight, then loud again",
    )
    .unless(&[no_finding_picked]),
    row(Action::Pause, &[Char(' ')], Scope::Everywhere, "pause", "freeze the screen; polling continues"),
    row(Action::Alone, &[Char('f')], Scope::Group, "full", "the pane in focus alone, and back to all panes"),
    row(Action::Poll, &[Char('r'), F(5)], Scope::Everywhere, "", "poll now, and put the rows in order by the present numbers"),
    row(Action::Faster, &[Char('+'), Char('=')], Scope::Everywhere, "", "poll more often"),
    row(Action::Slower, &[Char('-')], Scope::Everywhere, "", "poll less often"),
    row(
        Action::CopyName,
        &[Char('y')],
        Scope::Everywhere,
        "",
        "copy the name or id of the row, or the finding as a paragraph for the chat (through the terminal: OSC 52)",
    ),
    row(
        Action::CopyCommand,
        &[Char('Y')],
        Scope::Everywhere,
        "copy command",
        "copy the redis-cli command that shows the same",
    ),
    row(
        Action::Log,
        &[Char('e')],
        Scope::Everywhere,
        "log",
        "the log of this row: findings, losses, cursors moved, links lost, actions; a in it shows everything",
    )
    .unless(&[no_events]),
    row(Action::Help, &[Char('?'), F(1)], Scope::Everywhere, "help", "the keys that work here"),
    row(
        Action::Commands,
        &[Char(':')],
        Scope::Everywhere,
        "all keys",
        "a list of everything that can be done here; type to find it, Enter does it",
    ),
    row(Action::Redraw, &[Ctrl('l')], Scope::Everywhere, "", "redraw the screen"),
    row(Action::Suspend, &[Ctrl('z')], Scope::Everywhere, "", "to the shell; fg returns"),
    row(Action::QuitPrinting, &[Char('Q')], Scope::Everywhere, "", "quit and leave a text snapshot on the terminal"),
    row(Action::Leave, &[Char('q')], Scope::Everywhere, "quit", "one step back; in the overview: quit"),
    row(Action::Quit, &[Ctrl('c')], Scope::Everywhere, "", "quit; in a dialog: close it"),
];

/// Whether a binding holds where the user is.
pub fn holds(app: &App, scope: Scope) -> bool {
    scope == Scope::Everywhere || (app.overlay.is_none() && scope.includes(&app.place))
}

/// What a key does where the user is.
pub fn action(app: &App, key: Key) -> Option<Action> {
    BINDINGS
        .iter()
        .find(|binding| binding.keys.contains(&key) && holds(app, binding.scope))
        .map(|binding| binding.action)
}

/// Why an action can do nothing here; `None` when it can.
pub fn disabled_reason(app: &App, action: Action) -> Option<&'static str> {
    let binding = BINDINGS.iter().find(|binding| binding.action == action)?;
    binding.guards.iter().find_map(|guard| guard(app))
}

/// The table for the README, as Markdown.
pub fn markdown() -> String {
    let code = |key: &Key| format!("`{key}`");
    let rows = BINDINGS.iter().map(|binding| {
        let place = match binding.scope {
            Scope::Everywhere => "everywhere",
            Scope::Overview => "overview",
            Scope::Group => "group",
        };
        let keys: Vec<String> = binding.keys.iter().map(code).collect();
        format!("| {} | {place} | {} |\n", keys.join(" "), binding.help)
    });
    format!("| key | where | what it does |\n|---|---|---|\n{}", rows.collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    fn overlap(a: Scope, b: Scope) -> bool {
        a == b || a == Scope::Everywhere || b == Scope::Everywhere
    }

    #[test]
    fn no_key_does_two_things_in_one_place() {
        for (index, one) in BINDINGS.iter().enumerate() {
            for other in &BINDINGS[index + 1..] {
                let shared: Vec<_> = one.keys.iter().filter(|key| other.keys.contains(key)).collect();
                assert!(
                    shared.is_empty() || !overlap(one.scope, other.scope),
                    "{shared:?}: {:?} and {:?}",
                    one.action,
                    other.action
                );
            }
        }
    }

    #[test]
    fn every_action_is_listed_once_with_a_key_and_a_line() {
        let mut seen = HashSet::new();
        for binding in BINDINGS {
            assert!(!binding.keys.is_empty() && !binding.help.is_empty(), "{:?}", binding.action);
            assert!(seen.insert(binding.action), "{:?} twice", binding.action);
        }
    }
}
