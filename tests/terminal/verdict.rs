//! No green that was not earned: before everything was read, and while nobody answers.

use crate::session::{LIMIT, newest, seed_orders, start, watch, watch_orders};
use pelwatch::testing::{
    TestServer, each_server, newest_from,
    pty::{Terminal, text_of},
    relay::Relay,
};
use std::{process::Command, time::Duration};

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

/// A user who may only read, on a server where everything is well.
fn watched_by_a_user() -> Option<(TestServer, Terminal)> {
    let server = TestServer::start(&newest_from((6, 2, 0))?);
    seed_orders(&server);
    server.run("ACL SETUSER watcher on >sesame ~* +@read +@connection +info +time +multi +exec");
    let terminal = watch(&server, &["--user", "watcher", "-a", "sesame"]);
    terminal.wait_text("✓ quiet", LIMIT);
    Some((server, terminal))
}

#[test]
fn who_may_no_longer_look_has_no_verdict() {
    let faults: [&[&str]; 4] = [
        &["ACL SETUSER watcher resetpass >other", "CLIENT KILL USER watcher"],
        &["ACL SETUSER watcher off", "CLIENT KILL USER watcher"],
        &["ACL DELUSER watcher"],
        &["ACL SETUSER watcher -xinfo"],
    ];
    for fault in faults {
        let Some((server, terminal)) = watched_by_a_user() else { return };
        for line in fault {
            server.run(line);
        }
        terminal.wait_for(fault[0], LIMIT, |screen| {
            let text = text_of(screen);
            text.lines().next().is_some_and(|header| header.contains("? not known") && !header.contains("quiet"))
        });
        assert!(!text_of(&terminal.screen()).contains("all quiet"), "{}: {}", fault[0], text_of(&terminal.screen()));
    }
}

#[test]
fn a_check_that_is_forbidden_is_named_and_the_rest_can_be_quiet() {
    let Some((server, terminal)) = watched_by_a_user() else { return };
    drop(terminal);
    server.run("ACL SETUSER watcher -info");
    let terminal = watch(&server, &["--user", "watcher", "-a", "sesame"]);
    terminal.wait_text("✓ quiet, 2 checks cannot tell (INFO denied)", LIMIT);
}

#[test]
fn a_server_out_of_memory_is_critical_until_it_takes_writes_again() {
    each_server(|server, found| {
        seed_orders(server);
        let terminal = watch_orders(server);
        terminal.wait_text("✓ quiet", LIMIT);
        server.run("CONFIG SET maxmemory 1");
        terminal.wait_text("is out of memory and refuses writes", LIMIT * 2);
        let header = text_of(&terminal.screen()).lines().next().unwrap_or_default().to_owned();
        assert!(header.contains("▲ 1 critical") && !header.contains("quiet"), "{found}: {header}");
        server.run("CONFIG SET maxmemory 0");
        terminal.wait_gone("refuses writes", LIMIT * 2);
    });
}

#[test]
fn a_half_open_connection_leaves_no_verdict() {
    let server = TestServer::start(&newest());
    seed_orders(&server);
    let way = Relay::to(&server.socket(), Duration::ZERO);
    let port = way.port().to_string();
    let terminal = start(&["-h", "127.0.0.1", "-p", &port, "--interval", "100ms"], (120, 40), &[]);
    terminal.wait_text("✓ quiet", LIMIT);
    way.set_deaf(true);
    terminal.wait_text("? not known since", LIMIT);
    terminal.wait_gone("quiet", LIMIT);
    way.set_deaf(false);
    terminal.wait_text("✓ quiet", LIMIT * 2);
}

fn snapshot(args: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_pelwatch")).arg("snapshot").args(args).output().unwrap();
    String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned()
}

#[test]
fn the_last_words_of_a_server_reach_the_reader() {
    each_server(|server, found| {
        let socket = server.socket();
        let socket = socket.to_str().unwrap();
        let said = snapshot(&["-s", socket, "-n", "99"]);
        assert!(said.contains("answers: DB index is out of range"), "{found}: {said}");
        server.run("CONFIG SET maxclients 3");
        let held: Vec<_> = (0..2).map(|_| server.connect()).collect();
        pelwatch::testing::wait_until("no client is taken any more", LIMIT, || {
            snapshot(&["-s", socket]).contains("answers: max number of clients reached")
        });
        drop(held);
    });
}

#[test]
fn a_server_that_is_busy_with_a_script_is_not_quiet() {
    let server = TestServer::start(&newest());
    let mut busy = server.connect().unwrap();
    server.run("CONFIG SET lua-time-limit 50");
    let script = std::thread::spawn(move || {
        redis::cmd("EVAL").arg("while true do end").arg(0).query::<redis::Value>(&mut busy).unwrap_err()
    });
    let socket = server.socket();
    pelwatch::testing::wait_until("the script runs", LIMIT, || {
        let said = snapshot(&["-s", socket.to_str().unwrap()]);
        assert!(!said.contains("BUSY") || said.contains("verdict: not known"), "{said}");
        said.contains("BUSY")
    });
    server.run("SCRIPT KILL");
    script.join().unwrap();
}
