//! The demo: a private server and a real workload that goes wrong on purpose.
//!
//! **The promise: the user's own Redis is never contacted.** [`PrivateServer`] starts its own `redis-server` or `valkey-server`. It
//! listens on a unix socket in a new folder that only the user can enter. It opens no TCP port, reads no configuration file and keeps
//! nothing on disk. At the end it is stopped and removed. The path of that socket is the only address in this module: it reads no URL, no
//! `REDISCLI_AUTH` and no profile.
//!
//! The screen shows live data, not a recording: [`run`] lets producers and workers talk to the server, each over its own connection.
//! Three faults are scripted:
//!
//! | stream / group | fault | symptom |
//! |---|---|---|
//! | `orders` / `analytics` | one worker, slower than entries arrive | `falling-behind` |
//! | `orders` / `billing` | `billing-crash` stops while it holds five entries | `holder-gone` |
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
