//! Claims and moves of the cursor against real servers: the preview is exactly what is done, and nothing else is written.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod support;

#[path = "actions/desk.rs"]
mod desk;
#[path = "actions/random.rs"]
mod random;
