//! pelwatch: a terminal dashboard for Redis Streams consumer groups.
#![forbid(unsafe_code)]
pub mod app;
pub mod cli;
pub mod clock;
pub mod core;
pub mod dashboard;
pub mod demo;
pub mod failure;
pub mod journal;
pub mod manual;
pub mod report;
pub mod run;
pub mod source;
pub mod tasks;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
pub mod tui;
