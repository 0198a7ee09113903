//! What can go wrong around the demonstration, in sentences that say what to do.

use std::{io, path::PathBuf};

use thiserror::Error;

/// The environment variable that names the server binary by its absolute path, ahead of any search.
pub const SERVER_BIN_VARIABLE: &str = "PELWATCH_SERVER_BIN";

/// Why the demonstration could not start, or why it ended.
#[derive(Debug, Error)]
pub enum DemoError {
    /// Neither `redis-server` nor `valkey-server` is on `PATH`.
    #[error(
        "the demo runs a private server of its own, but neither redis-server nor valkey-server is on PATH. Install one \
         (Debian, Ubuntu: apt install redis-server; Fedora: dnf install valkey; Alpine: apk add redis; \
         macOS: brew install redis), or set {SERVER_BIN_VARIABLE} to the absolute path of one"
    )]
    NoServerBinary,
    /// The environment names a server binary that cannot be used.
    #[error("{SERVER_BIN_VARIABLE} is set to {}, which {reason}", path.display())]
    UnusableServerBinary {
        /// What the variable holds.
        path: PathBuf,
        /// The rest of the sentence: what is wrong with it.
        reason: &'static str,
    },
    /// The folder for the socket and the log could not be made.
    #[error("cannot make a private folder for the demo's server under {}: {source}", parent.display())]
    Folder {
        /// Where the folder was to be made.
        parent: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The operating system refused to start the binary, or to tell how it is doing.
    #[error("cannot start {}: {source}", bin.display())]
    CannotStart {
        /// The server binary.
        bin: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The server ended before it answered.
    #[error("{} ended before it answered ({status}){log}", bin.display())]
    EndedEarly {
        /// The server binary.
        bin: PathBuf,
        /// The exit status or signal, in words.
        status: String,
        /// The last lines the server wrote, ready to follow the sentence; empty when it wrote none.
        log: String,
    },
    /// The server runs but did not answer PING in time.
    #[error("{} did not answer PING within {limit_s} s{log}", bin.display())]
    NoAnswer {
        /// The server binary.
        bin: PathBuf,
        /// How long it was given, in seconds.
        limit_s: u64,
        /// The last lines the server wrote, ready to follow the sentence; empty when it wrote none.
        log: String,
    },
    /// A producer or worker could not go on, mostly because the server went away.
    #[error("the demo's workload stopped: {0}")]
    Workload(String),
}
