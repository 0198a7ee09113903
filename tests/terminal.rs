//! The program itself in a terminal, against real servers: what a person sees, types and finds when it has ended.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod support;

#[path = "terminal/actions.rs"]
mod actions;
#[path = "terminal/arguments.rs"]
mod arguments;
#[path = "terminal/demo.rs"]
mod demo;
#[path = "terminal/faults.rs"]
mod faults;
#[path = "terminal/harmless.rs"]
mod harmless;
#[path = "terminal/hostile.rs"]
mod hostile;
#[path = "terminal/keys.rs"]
mod keys;
#[path = "terminal/leaving.rs"]
mod leaving;
#[path = "terminal/live.rs"]
mod live;
#[path = "terminal/outages.rs"]
mod outages;
#[path = "terminal/passwords.rs"]
mod passwords;
#[path = "terminal/resize.rs"]
mod resize;
#[path = "terminal/scale.rs"]
mod scale;
#[path = "terminal/session.rs"]
mod session;
