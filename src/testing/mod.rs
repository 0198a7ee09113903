//! What tests, benches and fuzz targets share, compiled only with the feature `testing`: real servers of every version at hand, a server
//! made of plain values, a server that answers from a table, a program in a pseudo-terminal.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::missing_panics_doc,
    reason = "equipment of tests: a panic is its way to fail"
)]

pub mod bastion;
mod build;
pub mod fake;
mod found;
pub mod fuzzing;
pub mod pty;
pub mod relay;
mod servers;
pub mod world;

use std::{
    path::{Path, PathBuf},
    process::Command,
    thread,
    time::{Duration, Instant},
};

pub use found::{FoundServer, found_servers, newest_from};
pub use servers::TestServer;

/// Runs `test` against a new server of each version at hand, and prints which.
pub fn each_server(test: impl Fn(&TestServer, &FoundServer)) {
    for found in found_servers() {
        println!("on {found}");
        test(&TestServer::start(&found), &found);
    }
}

/// Waits until `condition` holds; checks it every 10 ms.
///
/// # Panics
/// When it does not hold within `limit`; the message names `what` was waited for.
pub fn wait_until(what: &str, limit: Duration, mut condition: impl FnMut() -> bool) {
    let started = Instant::now();
    while !condition() {
        assert!(started.elapsed() < limit, "waited {limit:?} in vain until {what}");
        // the only sleep in the tests: it polls the condition and does not guess how long something takes
        thread::sleep(Duration::from_millis(10));
    }
}

/// The variables that point a program to the user's own files, each replaced by a folder below `home`: a test sees no state,
/// configuration or cache but its own.
pub fn own_folders(home: &Path) -> [(&'static str, PathBuf); 6] {
    [
        ("HOME", home.to_owned()),
        ("XDG_STATE_HOME", home.join("state")),
        ("XDG_CONFIG_HOME", home.join("config")),
        ("XDG_CACHE_HOME", home.join("cache")),
        ("XDG_DATA_HOME", home.join("data")),
        ("XDG_RUNTIME_DIR", home.join("run")),
    ]
}

/// Variables of the user that would change pelwatch's behavior.
pub const USERS_OWN: [&str; 5] =
    ["PELWATCH_SENTINEL_AUTH", "REDISCLI_AUTH", "RUST_BACKTRACE", "SSL_CERT_DIR", "SSL_CERT_FILE"];

/// A command that starts `program` (pelwatch itself) with nothing that belongs to the user, and its own folders below `home`.
pub fn command(program: &str, home: &Path) -> Command {
    let mut command = Command::new(program);
    for name in USERS_OWN {
        command.env_remove(name);
    }
    command.envs(own_folders(home));
    command
}

/// Whether a process with that id exists. A zombie counts as existing: nobody waited for it yet.
pub fn process_exists(pid: u32) -> bool {
    // the shell's own kill, because small systems lack the program with that name
    let probe = format!("kill -0 {pid} 2>/dev/null");
    Command::new("sh").args(["-c", &probe]).status().expect("sh runs").success()
}
