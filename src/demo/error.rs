//! What can go wrong in the demo, in sentences that say what to do.

use std::{io, path::PathBuf};

use thiserror::Error;

/// The environment variable with the absolute path of the server binary. It takes precedence over the search.
pub const SERVER_BIN_VARIABLE: &str = "PELWATCH_SERVER_BIN";

/// Why the demo could not start, or why it ended.
#[derive(Debug, Error)]
pub enum DemoError {
    /// Neither `redis-server` nor `valkey-server` is on `PATH`.
    #[error(
        "the demo runs a private server of its own, but neither redis-server nor valkey-server is on PATH. Install one \
         (Debian, Ubuntu: apt install redis-server; Fedora: dnf install valkey; Alpine: apk add redis; \
         macOS: brew install redis), or set {SERVER_BIN_VARIABLE} to the absolute path of one"
    )]
    NoServerBinary,
    /// The environment variable names a server binary that cannot be used.
    #[error("{SERVER_BIN_VARIABLE} is set to {}, which {reason}", path.display())]
    UnusableServerBinary {
        /// The value of the variable.
        path: PathBuf,
        /// The rest of the sentence: what is wrong with the path.
        reason: &'static str,
    },
    /// The folder for the socket and the log could not be created.
    #[error("cannot make a private folder for the demo's server under {}: {source}", parent.display())]
    Folder {
        /// Where the folder should have been created.
        parent: PathBuf,
        source: io::Error,
    },
    /// The operating system could not start the binary or report its state.
    #[error("cannot start {}: {source}", bin.display())]
    CannotStart { bin: PathBuf, source: io::Error },
    /// The server ended before it answered.
    #[error("{} ended before it answered ({status}){log}", bin.display())]
    EndedEarly {
        bin: PathBuf,
        /// The exit status or signal, in words.
        status: String,
        /// The server's last lines, ready to follow the sentence; empty if it wrote none.
        log: String,
    },
    /// The server runs but did not answer PING in time.
    #[error("{} did not answer PING within {limit_s} s{log}", bin.display())]
    NoAnswer {
        bin: PathBuf,
        /// The time limit, in seconds.
        limit_s: u64,
        /// The server's last lines, ready to follow the sentence; empty if it wrote none.
        log: String,
    },
    /// A producer or worker failed, usually because the server went away.
    #[error("the demo's workload stopped: {0}")]
    Workload(String),
}
