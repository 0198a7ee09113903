//! No green that was not earned: before everything was read, and while nobody answers.

use crate::session::{LIMIT, newest, seed_orders, watch, watch_orders};
use pelwatch::testing::{TestServer, pty::text_of};
use std::process::Command;

/// 60 streams with 2 groups each, all of them empty and well, but for one dead worker.
fn seed_fleet(server: &TestServer) {
    for stream in 0..60 {
        for group in ["billing", "mail"] {
            server.run(&format!("XGROUP CREATE shop:{stream:02} {group} 0 MKSTREAM"));
        }
        server.run(&format!("XADD shop:{stream:02} 1-0 n 1"));
        for group in ["billing", "mail"] {
            server.run(&format!("XREADGROUP GROUP {group} w STREAMS shop:{stream:02} >"));
            if (stream, group) != (37, "mail") {
                server.run(&format!("XACK shop:{stream:02} {group} 1-0"));
            }
        }
    }
}

#[test]
fn a_fleet_is_never_quiet_before_its_dead_worker_was_read() {
    let server = TestServer::start(&newest());
    seed_fleet(&server);
    let started = std::time::Instant::now();
    // the consumers must be idle for longer than the threshold
    pelwatch::testing::wait_until("the worker is idle for 11 s", LIMIT * 2, || started.elapsed().as_secs() >= 11);
    let terminal = watch(&server, &["--gone-after", "10s"]);
    terminal.wait_for("a warning in the header", LIMIT, |screen| {
        text_of(screen).lines().next().is_some_and(|header| header.contains("! 1 warn"))
    });
    let raw = String::from_utf8_lossy(&terminal.raw()).into_owned();
    assert!(!raw.contains("✓ quiet") && !raw.contains("all quiet"), "nothing was called quiet before");
}

#[test]
fn a_server_that_is_killed_or_hangs_leaves_no_verdict() {
    for kills in [true, false] {
        let mut server = TestServer::start(&newest());
        seed_orders(&server);
        let terminal = watch_orders(&server);
        terminal.wait_text("✓ quiet", LIMIT);
        if kills {
            server.kill();
        } else {
            Command::new("kill").args(["-STOP", &server.pid().to_string()]).status().unwrap();
        }
        terminal.wait_text("? not known", LIMIT);
        terminal.wait_gone("✓ quiet", LIMIT);
        if kills {
            server.restart();
        } else {
            Command::new("kill").args(["-CONT", &server.pid().to_string()]).status().unwrap();
        }
        terminal.wait_gone("? not known", LIMIT);
    }
}
