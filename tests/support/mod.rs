//! What the integration tests share: real servers of every version at hand, and waiting for
//! conditions.
#![allow(dead_code, unused_imports, clippy::unwrap_used, clippy::expect_used)]

pub mod fake;
mod found;
mod servers;

use std::thread;
use std::time::{Duration, Instant};

pub use found::{FoundServer, found_servers, newest_from};
pub use servers::TestServer;

/// Runs `test` against a fresh server of each version at hand, and says which on stdout.
pub fn each_server(test: impl Fn(&TestServer, &FoundServer)) {
    for found in found_servers() {
        println!("on {found}");
        test(&TestServer::start(&found), &found);
    }
}

/// Waits until `condition` holds, looking every 10 ms.
///
/// # Panics
/// When it does not hold within `limit`; the message says `what` was waited for.
pub fn wait_until(what: &str, limit: Duration, mut condition: impl FnMut() -> bool) {
    let started = Instant::now();
    while !condition() {
        assert!(started.elapsed() < limit, "waited {limit:?} in vain until {what}");
        // The one sleep of the tests: a look at the condition, never a guess of how long something
        // takes.
        thread::sleep(Duration::from_millis(10));
    }
}

/// Whether a process of that id exists. A zombie counts as one: it has not been waited for.
pub fn process_exists(pid: u32) -> bool {
    // The shell's own kill: the program of that name is missing on small systems.
    let probe = format!("kill -0 {pid} 2>/dev/null");
    std::process::Command::new("sh").args(["-c", &probe]).status().expect("sh runs").success()
}

pub mod pty;
