//! What a server says before it hangs up. A server without room for another client, or in protected mode, writes one error line to every
//! new connection and closes it; the client library meets a broken pipe while it writes, and the line is lost. So after such a failure one
//! plain connection only listens.

use super::{LinkFault, Target, target::Address};
use crate::core::name::visible;
use std::time::Duration;
use tokio::{
    io::{AsyncRead, AsyncReadExt},
    net::{TcpStream, UnixStream},
    time::timeout,
};

/// The server speaks first, at once, or not at all.
const PATIENCE: Duration = Duration::from_millis(300);
/// Longest line that is read, in bytes.
const MOST: usize = 1024;

/// Adds the server's last words to a fault of connecting, if it has any.
pub(super) async fn explain(fault: LinkFault, target: &Target) -> LinkFault {
    let (LinkFault::Broken { endpoint, .. } | LinkFault::NotReached { endpoint, .. }) = &fault else { return fault };
    match timeout(PATIENCE, hear(target.address())).await {
        Ok(Some(why)) => LinkFault::Answered { endpoint: endpoint.clone(), why },
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
