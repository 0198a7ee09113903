//! Tests that need no server, no terminal and no clock. Try not to add files here: a new case usually fits one of these.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a test whose numbers are its own"
)]

/// The imports of each folder stay within the rules of CONTRIBUTING.md.
mod architecture;
/// What the dialogs of actions begin with.
mod dialogs;
/// The tables in the documents match the program.
mod docs;
/// The bodies of the fuzz targets on fixed inputs.
mod fuzzing;
/// Keys that people bring from other programs.
mod keys;
/// Findings that the user marked as known.
mod known;
/// The log of what happened, the title and the bell.
mod log;
/// Cargo.toml keeps its promises.
mod manifest;
mod manual;
/// Clicks.
mod mouse;
/// Rows that are rolled up.
mod patterns;
/// The polling task on a scripted source.
mod polling;
/// Random keys, samples and sizes.
mod random;
/// The player of the TOML scenarios.
mod scenario;
/// Program state fed by a model of a server, drawn into memory.
mod scenes;
/// Every screen in its states, as text and styles.
mod screens;
/// Rows that hold still, and the way from a finding to what it is about.
mod steady;
/// Symptoms: what fires and what must not, from `scenarios/*.toml`.
mod symptoms;
/// The update function: what each key does in each place.
mod update;
