//! How the program can fail, and its exit codes: 0 done, 1 the terminal or the output failed, 2 bad usage, 3 server not reached, 4 refused,
//! 5 outcome unknown.

use crate::{
    demo::DemoError,
    source::{LinkFault, TargetError},
};
use std::{io, process::ExitCode};

/// Why pelwatch ends without having done what it was asked for.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// The command line cannot be followed.
    #[error("{0}")]
    Usage(String),
    /// The server's address is invalid.
    #[error(transparent)]
    Target(#[from] TargetError),
    /// The server was not reached.
    #[error(transparent)]
    Link(#[from] LinkFault),
    /// The demo could not run.
    #[error(transparent)]
    Demo(#[from] DemoError),
    /// A plan was refused; said already.
    #[error("refused: {0}")]
    Refused(String),
    /// What became of an action is not known; said already.
    #[error("{0}")]
    Unknown(String),
    /// The terminal or the output failed.
    #[error("{0}")]
    Io(#[from] io::Error),
}

impl Failure {
    /// The exit code for scripts.
    pub fn code(&self) -> ExitCode {
        ExitCode::from(match self {
            Self::Usage(_) | Self::Target(_) => 2,
            Self::Link(_) | Self::Demo(_) => 3,
            Self::Refused(_) => 4,
            Self::Unknown(_) => 5,
            Self::Io(_) => 1,
        })
    }
}
