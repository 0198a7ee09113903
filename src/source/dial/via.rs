//! A connection through the input and output of a command, as ssh's `ProxyCommand`: `ssh -W %h:%p bastion`, `kubectl exec -i … nc %h %p`.

use super::{Reason, shell};
use crate::core::name::visible;
use std::{
    pin::Pin,
    process::Stdio,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll},
};
use tokio::{
    io::{AsyncBufReadExt, AsyncRead, AsyncWrite, BufReader, ReadBuf},
    process::{Child, ChildStderr, ChildStdin, ChildStdout},
};

/// Longest line of a command that is shown, in characters.
const LONGEST: usize = 200;

/// The command, as it was typed.
#[derive(Clone, Debug)]
pub struct Via {
    command: String,
    /// It may ask the user something on the terminal, such as for a passphrase. That ends when the dashboard takes the screen.
    may_ask: Arc<AtomicBool>,
}

impl Via {
    pub fn new(command: String) -> Self {
        Self { command, may_ask: Arc::new(AtomicBool::new(true)) }
    }

    pub fn may_ask(&self) -> bool {
        self.may_ask.load(Ordering::Relaxed)
    }

    /// From now on the screen is taken: commands are started without a terminal.
    pub fn ask_no_more(&self) {
        self.may_ask.store(false, Ordering::Relaxed);
    }

    /// The command with the address in it. Cluster nodes announce hosts, so one that a shell could take for something else is refused.
    fn words(&self, host: &str, port: u16) -> Result<String, String> {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || ".:-_%".contains(c);
        if host.is_empty() || host.starts_with('-') || !host.chars().all(is_plain) {
            return Err(format!("the host {} is not given to a command", visible(host.as_bytes())));
        }
        let mut words = String::new();
        let mut rest = self.command.chars();
        while let Some(c) = rest.next() {
            match (c, if c == '%' { rest.next() } else { None }) {
                ('%', Some('h')) => words.push_str(host),
                ('%', Some('p')) => words.push_str(&port.to_string()),
                ('%', Some('%')) => words.push('%'),
                (c, next) => {
                    words.push(c);
                    words.extend(next);
                }
            }
        }
        Ok(words)
    }

    /// Starts it. Its last line of standard error becomes the reason when the connection ends.
    pub(in crate::source) fn start(&self, host: &str, port: u16, reason: &Reason) -> Result<Piped, String> {
        let line = format!("exec {}", self.words(host, port)?);
        let mut command = shell::command(&line, self.may_ask());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let failed = |error: std::io::Error| format!("the command of --via cannot be started: {error}");
        let mut child = command.spawn().map_err(failed)?;
        let (Some(input), Some(output), Some(errors)) = (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            return Err("the command of --via has no input and output".to_owned());
        };
        tokio::spawn(listen(errors, reason.clone()));
        Ok(Piped { input, output, _child: child })
    }
}

/// Keeps the last line that says something.
async fn listen(errors: ChildStderr, reason: Reason) {
    let mut lines = BufReader::new(errors).split(b'\n');
    while let Ok(Some(line)) = lines.next_segment().await {
        let text = visible(line.trim_ascii());
        if !text.is_empty() {
            reason.set(format!("the command of --via says: {}", text.chars().take(LONGEST).collect::<String>()));
        }
    }
}

/// A running command as a stream. It ends with the connection.
#[derive(Debug)]
pub(in crate::source) struct Piped {
    input: ChildStdin,
    output: ChildStdout,
    _child: Child,
}

impl AsyncRead for Piped {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<std::io::Result<()>> {
        Pin::new(&mut self.output).poll_read(cx, buf)
    }
}

impl AsyncWrite for Piped {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<std::io::Result<usize>> {
        Pin::new(&mut self.input).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Pin::new(&mut self.input).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Pin::new(&mut self.input).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_address_stands_where_the_command_wants_it() {
        let words = |command: &str, host| Via::new(command.to_owned()).words(host, 6379);
        assert_eq!(words("ssh -W %h:%p b", "10.0.0.1").as_deref(), Ok("ssh -W 10.0.0.1:6379 b"));
        assert_eq!(words("nc %h %p 100%% %x %", "::1").as_deref(), Ok("nc ::1 6379 100% %x %"));
        for host in ["", "-oProxyCommand=x", "a;b", "$(x)", "a b", "a\nb", "'"] {
            assert!(words("nc %h %p", host).is_err_and(|why| why.contains("is not given to a command")), "{host}");
        }
    }
}
