//! What a server says before it hangs up. A server without room for another client, or in protected mode, writes one error line to every
//! new connection and closes it; the client library meets a broken pipe while it writes, and the line is lost. So after such a failure one
//! plain connection only listens.

use super::{LinkFault, Target, dial::Reason, target::Address};
use crate::core::name::visible;
use std::time::Duration;
use tokio::{
    io::{AsyncRead, AsyncReadExt},
    net::{TcpStream, UnixStream},
    time::{sleep, timeout},
};

/// The server speaks first, at once, or not at all.
const PATIENCE: Duration = Duration::from_millis(300);
/// Longest line that is read, in bytes.
const MOST: usize = 1024;

/// Adds what is known of the cause to a fault of connecting: what a layer below the protocol says, or the server's last words.
pub(super) async fn explain(fault: LinkFault, target: &Target, reason: &Reason) -> LinkFault {
    let (endpoint, why) = match &fault {
        LinkFault::Broken { endpoint, why } | LinkFault::NotReached { endpoint, why } => {
            (endpoint.clone(), why.clone())
        }
        _ => return fault,
    };
    if target.via().is_some() {
        // the command may end a moment after its output
        for _ in 0..10 {
            if reason.get().is_some() {
                break;
            }
            sleep(PATIENCE / 10).await;
        }
        let silent = || format!("the command of --via ended, without a word ({why})");
        return LinkFault::NotReached { endpoint, why: reason.get().unwrap_or_else(silent) };
    }
    if let Some(why) = reason.get() {
        return LinkFault::NotReached { endpoint, why };
    }
    let hung_up = matches!(fault, LinkFault::Broken { .. });
    if target.tls().is_some() {
        return fault;
    }
    match timeout(PATIENCE, hear(target.address())).await {
        Ok(Some(why)) => LinkFault::Answered { endpoint, why },
        _ if hung_up && matches!(target.address(), Address::Tcp { .. }) => {
            LinkFault::Broken { endpoint, why: format!("{why}; if this port wants TLS, give --tls") }
        }
        _ => fault,
    }
}

async fn hear(address: &Address) -> Option<String> {
    match address {
        Address::Unix(path) => line(UnixStream::connect(path).await.ok()?).await,
        Address::Tcp { host, port } => line(TcpStream::connect((host.as_str(), *port)).await.ok()?).await,
    }
}

async fn line(stream: impl AsyncRead + Unpin) -> Option<String> {
    let mut bytes = Vec::new();
    let _ = stream.take(MOST as u64).read_to_end(&mut bytes).await;
    sentence(&bytes)
}

/// The text of an error line.
fn sentence(bytes: &[u8]) -> Option<String> {
    let end = bytes.iter().position(|byte| matches!(byte, b'\r' | b'\n')).unwrap_or(bytes.len());
    let text = bytes[..end].strip_prefix(b"-")?;
    Some(visible(text.strip_prefix(b"ERR ").unwrap_or(text)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_error_line_is_a_last_word() {
        assert_eq!(
            sentence(b"-ERR max number of clients reached\r\n").as_deref(),
            Some("max number of clients reached")
        );
        assert_eq!(sentence(b"-DENIED Redis is \x1b[2J").as_deref(), Some("DENIED Redis is \\x1b[2J"));
        assert_eq!((sentence(b"+PONG\r\n"), sentence(b"")), (None, None));
    }
}
