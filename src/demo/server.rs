//! A private server: its own socket, no TCP, no persistence, removed when dropped.

use std::{
    path::{Path, PathBuf},
    process::Child,
    thread,
    time::{Duration, Instant},
};

use tempfile::TempDir;

use super::{
    binary::server_binary,
    error::DemoError,
    launch::{answers_ping, last_words, private_folder, socket_in, spawn},
};

/// How long a server may take until it answers. An empty server needs far less than ten seconds.
const START_LIMIT: Duration = Duration::from_secs(10);
/// The pause between two checks on a starting server.
const LOOK_EVERY: Duration = Duration::from_millis(3);

/// A running server that only this user can reach. Dropping it kills the server and removes its folder.
///
/// The server stays in pelwatch's process group, so Ctrl-C and Ctrl-Z in a terminal apply to both.
#[derive(Debug)]
pub struct PrivateServer {
    child: Child,
    bin: PathBuf,
    socket: PathBuf,
    /// Must be the last field: the folder may go only after `Drop` has ended the server that writes into it.
    folder: TempDir,
}

impl PrivateServer {
    /// Finds a server binary ([`server_binary`]), starts it and waits until it answers.
    ///
    /// # Errors
    /// Every [`DemoError`] except [`DemoError::Workload`].
    pub fn start() -> Result<Self, DemoError> {
        Self::start_with(&server_binary()?)
    }

    /// Starts `bin` and waits until it answers.
    ///
    /// # Errors
    /// [`DemoError::Folder`], [`DemoError::CannotStart`], [`DemoError::EndedEarly`] and [`DemoError::NoAnswer`]. After any of them
    /// nothing is left running, and nothing is left on disk.
    pub fn start_with(bin: &Path) -> Result<Self, DemoError> {
        let folder = private_folder(&std::env::temp_dir())?;
        let socket = socket_in(folder.path());
        let child =
            spawn(bin, folder.path()).map_err(|source| DemoError::CannotStart { bin: bin.to_owned(), source })?;
        let mut server = Self { child, bin: bin.to_owned(), socket, folder };
        server.wait_until_it_answers()?;
        Ok(server)
    }

    /// The unix socket that the server listens on.
    pub fn socket(&self) -> &Path {
        &self.socket
    }

    /// The folder with the socket and the log. It is removed on drop.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub fn bin(&self) -> &Path {
        &self.bin
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    fn wait_until_it_answers(&mut self) -> Result<(), DemoError> {
        let started = Instant::now();
        loop {
            // checked before the PING: a server that has just ended must not be taken for a slow one
            let ended =
                self.child.try_wait().map_err(|source| DemoError::CannotStart { bin: self.bin.clone(), source })?;
            if let Some(status) = ended {
                let log = last_words(self.folder.path());
                return Err(DemoError::EndedEarly { bin: self.bin.clone(), status: status.to_string(), log });
            }
            if answers_ping(&self.socket) {
                return Ok(());
            }
            if started.elapsed() >= START_LIMIT {
                let log = last_words(self.folder.path());
                return Err(DemoError::NoAnswer { bin: self.bin.clone(), limit_s: START_LIMIT.as_secs(), log });
            }
            thread::sleep(LOOK_EVERY);
        }
    }
}

impl Drop for PrivateServer {
    fn drop(&mut self) {
        // SIGKILL loses nothing, because the server saves nothing; both calls fail only if it has ended already
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used)]
mod tests {
    use super::*;

    #[test]
    fn a_binary_that_ends_at_once_is_reported_with_its_status() {
        let sentence = PrivateServer::start_with(Path::new("false")).unwrap_err().to_string();
        assert!(sentence.contains("ended before it answered (exit status: 1)"), "{sentence}");
    }

    #[test]
    fn a_binary_that_is_not_there_is_reported_by_name() {
        let sentence = PrivateServer::start_with(Path::new("/nowhere/redis-server")).unwrap_err().to_string();
        assert!(sentence.starts_with("cannot start /nowhere/redis-server: "), "{sentence}");
    }
}
