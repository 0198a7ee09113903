//! Claims and moves of the cursor against real servers: the preview is exactly what is done, and nothing else is written.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod support;

#[path = "actions/access.rs"]
mod access;
#[path = "actions/cli.rs"]
mod cli;
#[path = "actions/cut.rs"]
mod cut;
#[path = "actions/desk.rs"]
mod desk;
#[path = "actions/large.rs"]
mod large;
#[path = "actions/moving.rs"]
mod moving;
#[path = "actions/proxy.rs"]
mod proxy;
#[path = "actions/random.rs"]
mod random;
