//! The program itself, in a terminal or started from a script, as a person uses it. Try not to add files here.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a test whose numbers are its own"
)]

/// Dialogs: preview, typed confirmation, outcome, journal.
mod actions;
/// What is shown and kept after an action, or when it is cut short.
mod afterwards;
/// Flags that are wrong or contradict each other.
mod arguments;
/// Through a command: a bastion that goes away, a command that would write on the screen.
mod bastion;
/// `pelwatch demo`.
mod demo;
/// What goes wrong with groups, and how many keys lead to the cause and the act.
mod drills;
/// Faults of the server while it is watched.
mod faults;
/// Watching changes nothing.
mod harmless;
/// Names that a terminal would obey.
mod hostile;
/// Keys, pastes, copies.
mod keys;
/// All ways to end, and a clean terminal after each.
mod leaving;
/// Numbers that follow the server.
mod live;
/// Title, theme, and what a poor terminal gets.
mod looks;
/// Servers that answer differently, and servers that lie.
mod odd_replies;
/// Servers that go away and return.
mod outages;
/// Passwords and prompts.
mod passwords;
/// Sizes down to 1x1.
mod resize;
/// 2,000 streams, 20,000 consumers.
mod scale;
/// Starting the program and waiting for its screen.
mod session;
/// No green that was not earned.
mod verdict;
