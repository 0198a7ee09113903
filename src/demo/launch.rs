//! Starts a private server and checks on it: its folder, its command line, its first answer.

use std::{
    fs::{self, File, Permissions},
    io::{self, Read, Write},
    os::unix::{fs::PermissionsExt, net::UnixStream},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::Duration,
};

use tempfile::TempDir;

use super::error::DemoError;

/// The longest socket path in use, in bytes: macOS has room for 103 and Linux for 107.
const SOCKET_PATH_LIMIT_BYTES: usize = 100;
/// How many of the server's last lines an error quotes.
const QUOTED_LINES: usize = 5;

/// Creates a folder for this user alone under `parent`, or under `/tmp` if the socket's path would be too long.
pub(super) fn private_folder(parent: &Path) -> Result<TempDir, DemoError> {
    let make = |parent: &Path| {
        tempfile::Builder::new()
            .prefix("pelwatch-")
            .permissions(Permissions::from_mode(0o700))
            .tempdir_in(parent)
            .map_err(|source| DemoError::Folder { parent: parent.to_owned(), source })
    };
    let folder = make(parent)?;
    if socket_in(folder.path()).as_os_str().len() <= SOCKET_PATH_LIMIT_BYTES {
        return Ok(folder);
    }
    make(Path::new("/tmp"))
}

pub(super) fn socket_in(folder: &Path) -> PathBuf {
    folder.join("redis.sock")
}

/// Starts the server without a shell, so each argument arrives unchanged, whatever the folder is called.
pub(super) fn spawn(bin: &Path, folder: &Path) -> io::Result<Child> {
    // errors about the command line or from the dynamic linker come before there is a log
    let complaints = File::create(folder.join("stderr"))?;
    Command::new(bin)
        .args(["--port", "0", "--unixsocket"])
        .arg(socket_in(folder))
        .args(["--unixsocketperm", "700", "--save", "", "--appendonly", "no", "--dir"])
        .arg(folder)
        .arg("--logfile")
        .arg(folder.join("log"))
        .args(["--daemonize", "no"])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(complaints)
        .spawn()
}

pub(super) fn answers_ping(socket: &Path) -> bool {
    let ask = || -> io::Result<bool> {
        let mut stream = UnixStream::connect(socket)?;
        stream.set_read_timeout(Some(Duration::from_millis(500)))?;
        stream.write_all(b"PING\r\n")?;
        let mut answer = [0; 7];
        stream.read_exact(&mut answer)?;
        Ok(&answer == b"+PONG\r\n")
    };
    // every failure means the same here: not yet
    ask().unwrap_or(false)
}

/// The last lines of the log, or of stderr if the log is empty, ready to follow a sentence.
pub(super) fn last_words(folder: &Path) -> String {
    let lines = ["log", "stderr"]
        .iter()
        .filter_map(|name| fs::read(folder.join(name)).ok())
        .map(|bytes| String::from_utf8_lossy(&bytes).trim().to_owned())
        .find(|text| !text.is_empty());
    lines.map_or_else(String::new, |text| {
        let all: Vec<&str> = text.lines().collect();
        let last = &all[all.len().saturating_sub(QUOTED_LINES)..];
        format!("; its last words:\n  {}", last.join("\n  "))
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used)]
mod tests {
    use super::*;

    #[test]
    fn a_long_temp_folder_gives_way_to_a_short_one() {
        let outer = tempfile::tempdir().unwrap();
        let long = outer.path().join("x".repeat(120));
        fs::create_dir(&long).unwrap();
        let folder = private_folder(&long).unwrap();
        assert!(socket_in(folder.path()).as_os_str().len() <= SOCKET_PATH_LIMIT_BYTES);
        assert_eq!(fs::read_dir(&long).unwrap().count(), 0, "the long folder is not left behind");
    }

    #[test]
    fn the_folder_is_for_this_user_alone() {
        let folder = private_folder(&std::env::temp_dir()).unwrap();
        assert_eq!(folder.path().metadata().unwrap().permissions().mode() & 0o777, 0o700);
    }

    #[test]
    fn last_words_prefer_the_log_and_are_few() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(last_words(folder.path()), "");
        fs::write(folder.path().join("stderr"), "bad option\n").unwrap();
        assert_eq!(last_words(folder.path()), "; its last words:\n  bad option");
        fs::write(folder.path().join("log"), "1\n2\n3\n4\n5\n6\n").unwrap();
        assert_eq!(last_words(folder.path()), "; its last words:\n  2\n  3\n  4\n  5\n  6");
    }
}
