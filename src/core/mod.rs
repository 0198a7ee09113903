//! The pure core of pelwatch: what a stream, a group and a pending entry are, what a sample says about them, and what follows from it.
//!
//! Nothing here may do I/O, know a terminal, a socket or a runtime, or read a clock: times are arguments. `tests/offline/architecture.rs` reads
//! the imports of this folder and fails on a breach.

pub mod action;
pub mod by_name;
pub mod census;
pub mod cluster;
pub mod command;
pub mod condition;
pub mod event;
pub mod fault;
pub mod history;
pub mod id;
pub mod json;
pub mod known;
pub mod lag;
pub mod loss;
pub mod model;
pub mod name;
pub mod number;
pub mod observed;
pub mod outcome;
pub mod page;
pub mod pattern;
pub mod sample;
pub mod store;
pub mod strip;
pub mod summary;
pub mod symptoms;
pub mod time;
pub mod watch;
pub mod words;
