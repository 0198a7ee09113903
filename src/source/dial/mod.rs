//! What connections are made of: transports (TCP, a command's input and output) and TLS.

pub(super) mod shell;
pub(super) mod tcp;
mod tls;
mod via;

use std::sync::{Arc, Mutex, PoisonError};
use tokio::io::{AsyncRead, AsyncWrite};

pub use tls::{Tls, TlsError, TlsFiles};
pub use via::Via;

/// Bytes to a server and back.
pub(in crate::source) trait Wire: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Wire for T {}

/// Why a connection ended, from a layer that knows more than the one above it: TLS, or the command that carries it.
#[derive(Clone, Debug, Default)]
pub(in crate::source) struct Reason(Arc<Mutex<Option<String>>>);

impl Reason {
    fn set(&self, why: String) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(why);
    }

    pub(in crate::source) fn get(&self) -> Option<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
