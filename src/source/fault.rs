//! Why a server cannot be reached, in words.

use crate::core::name::visible;
use redis::{ErrorKind, RedisError};
use std::time::Duration;

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LinkFault {
    /// No connection could be made.
    #[error("cannot reach {endpoint}: {why}")]
    NotReached {
        endpoint: String,
        /// The operating system's message.
        why: String,
    },
    /// Authentication failed, or the server requires a password.
    #[error("{endpoint} refuses the login: {why}")]
    Refused {
        endpoint: String,
        /// The server's message.
        why: String,
    },
    /// The server answered the connection with an error, and serves nobody on it.
    #[error("{endpoint} answers: {why}")]
    Answered {
        endpoint: String,
        /// The server's message.
        why: String,
    },
    /// The server did not answer in time.
    #[error("{endpoint} did not answer within {}", humantime::format_duration(*limit))]
    Silent {
        endpoint: String,
        /// The time that passed.
        limit: Duration,
    },
    /// The sentinels are about to name another master.
    #[error("failing over: {why}")]
    FailingOver { why: String },
    /// The connection broke.
    #[error("the connection to {endpoint} broke: {why}")]
    Broken { endpoint: String, why: String },
}

impl LinkFault {
    /// Whether another server is about to take this one's place.
    pub fn is_failing_over(&self) -> bool {
        matches!(self, Self::FailingOver { .. })
    }
}

/// Turns an error of the connection into a fault.
pub(super) fn classify(endpoint: &str, limit: Duration, error: &RedisError) -> LinkFault {
    let endpoint = endpoint.to_owned();
    let why = visible(error.detail().map_or_else(|| error.to_string(), str::to_owned).as_bytes());
    let refused = matches!(error.kind(), ErrorKind::AuthenticationFailed)
        || matches!(error.code(), Some("WRONGPASS" | "NOAUTH" | "NOPERM"));
    if error.is_timeout() {
        LinkFault::Silent { endpoint, limit }
    } else if matches!(error.kind(), ErrorKind::AuthenticationFailed) {
        // the library keeps none of the server's words here
        let why = "wrong user or password, or the user is switched off".to_owned();
        LinkFault::Refused { endpoint, why }
    } else if refused {
        LinkFault::Refused { endpoint, why }
    } else if matches!(error.kind(), ErrorKind::Server(_)) || why.contains("DB index is out of range") {
        LinkFault::Answered { endpoint, why }
    } else if error.is_connection_dropped() {
        LinkFault::Broken { endpoint, why }
    } else {
        LinkFault::NotReached { endpoint, why }
    }
}
