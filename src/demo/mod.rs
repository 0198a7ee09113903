//! The demonstration: a private server and a real workload that goes wrong on purpose.
//!
//! **The promise: the user's own Redis is never contacted.** [`PrivateServer`] starts a
//! `redis-server` or `valkey-server` of its own that listens on a unix socket in a fresh folder
//! only the user can enter. It opens no TCP port, reads no configuration file, keeps nothing on
//! disk, and is stopped and removed at the end. Everything in this module takes that socket's path
//! as its only address: no URL, no `REDISCLI_AUTH`, no profile is looked at.
//!
//! What is then seen is not played back: [`run`] has producers and workers talk to the server, each
//! over its own connection, and three faults are scripted:
//!
//! | stream / group | fault | symptom |
//! |---|---|---|
//! | `orders` / `analytics` | one worker, slower than the entries come | `falling-behind` |
//! | `orders` / `billing` | `billing-crash` stops with five entries in hand | `holder-gone` |
//! | `emails` / `mailer` | `mailer-noack` handles entries and forgets to acknowledge | `never-acked` |

mod binary;
mod error;
mod jitter;
mod launch;
mod producer;
mod reader;
mod seed;
mod server;
mod workers;
mod workload;

pub use binary::server_binary;
pub use error::{DemoError, SERVER_BIN_VARIABLE};
pub use seed::seed;
pub use server::PrivateServer;
pub use workload::{GONE_AFTER_MS, drive, run};
