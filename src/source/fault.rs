//! Why a server cannot be heard, in words.

use crate::core::name::visible;
use redis::{ErrorKind, RedisError};
use std::time::Duration;

/// A server that is busy for so long is shown as gone, and comes back by itself.
pub(super) const REPLY_TIMEOUT: Duration = Duration::from_secs(5);

/// Why the server cannot be heard.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LinkFault {
    /// No connection could be made.
    #[error("cannot reach {endpoint}: {why}")]
    NotReached {
        /// Where.
        endpoint: String,
        /// The system's words.
        why: String,
    },
    /// The server wants a password, another one, or another user.
    #[error("{endpoint} refuses to let us in: {why}")]
    Refused {
        /// Where.
        endpoint: String,
        /// The server's words.
        why: String,
    },
    /// It did not answer in time.
    #[error("{endpoint} did not answer within {seconds} s")]
    Silent {
        /// Where.
        endpoint: String,
        /// How long it was waited for.
        seconds: u64,
    },
    /// The connection broke.
    #[error("the connection to {endpoint} broke: {why}")]
    Broken {
        /// Where.
        endpoint: String,
        /// What broke it.
        why: String,
    },
}

/// What an error of the connection comes down to.
pub(super) fn classify(endpoint: &str, error: &RedisError) -> LinkFault {
    let endpoint = endpoint.to_owned();
    let why = visible(error.detail().map_or_else(|| error.to_string(), str::to_owned).as_bytes());
    let refused = matches!(error.kind(), ErrorKind::AuthenticationFailed)
        || matches!(error.code(), Some("WRONGPASS" | "NOAUTH" | "NOPERM"));
    if error.is_timeout() {
        LinkFault::Silent { endpoint, seconds: REPLY_TIMEOUT.as_secs() }
    } else if refused {
        LinkFault::Refused { endpoint, why }
    } else if error.is_connection_dropped() {
        LinkFault::Broken { endpoint, why }
    } else {
        LinkFault::NotReached { endpoint, why }
    }
}
