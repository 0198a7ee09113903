//! The server goes away and comes back; the dashboard stays.

use std::process::Command;

use vt100::Screen;

use crate::session::{LIMIT, newest, seed_orders, wait_lag, wait_pending, watch, watch_orders};
use pelwatch::testing::{TestServer, pty::text_of};

/// Whether the row that names `group` is drawn dim.
fn dimmed(screen: &Screen, group: &str) -> bool {
    let text = text_of(screen);
    let Some((row, line)) = text.lines().enumerate().find(|(_, line)| line.contains(group)) else {
        return false;
    };
    let column = line[..line.find(group).unwrap()].chars().count();
    let cell = screen.cell(row as u16, column as u16).unwrap();
    cell.dim() || cell.fgcolor() == vt100::Color::Idx(246)
}

#[test]
fn a_killed_server_leaves_its_last_numbers_dimmed_until_it_is_back() {
    let mut server = TestServer::start_with(&newest(), &["--appendonly", "yes"]);
    seed_orders(&server);
    let mut terminal = watch_orders(&server);
    assert!(!dimmed(&terminal.screen(), "workers"));

    server.kill();
    terminal.wait_text("○ no answer for", LIMIT);
    terminal.wait_text("next try in", LIMIT);
    terminal.wait_for("the old numbers, dimmed", LIMIT, |screen| dimmed(screen, "workers"));
    wait_lag(&terminal, "workers", "2");
    wait_pending(&terminal, "workers", "2");
    // keys still do what they can
    terminal.send("?");
    terminal.wait_text("Keys here", LIMIT);
    terminal.send("?");
    terminal.wait_gone("Keys here", LIMIT);

    server.restart();
    terminal.wait_text("● live", LIMIT);
    terminal.wait_for("the numbers bright again", LIMIT, |screen| !dimmed(screen, "workers"));
    server.run("XADD Orders 7-0 n 7");
    wait_lag(&terminal, "workers", "3");
    wait_pending(&terminal, "workers", "2");
}

#[test]
fn a_server_that_comes_back_empty_is_shown_as_empty() {
    let mut server = TestServer::start(&newest());
    seed_orders(&server);
    let mut terminal = watch_orders(&server);
    server.restart();
    // on the broken connection or on a new one: the loss is reported, and nothing of the group is left
    terminal.wait_gone("workers", LIMIT);
    terminal.send("e");
    terminal.wait_text("group-lost", LIMIT);
    terminal.wait_text("stood at 4-0 with 2 pending", LIMIT);
    terminal.send("e");
    seed_orders(&server);
    wait_lag(&terminal, "workers", "2");
}

#[test]
fn keys_work_while_a_server_hangs_and_it_is_heard_again_when_it_goes_on() {
    let server = TestServer::start(&newest());
    seed_orders(&server);
    let mut terminal = watch(&server, &[]);
    wait_lag(&terminal, "workers", "2");

    stop(&server, "STOP");
    terminal.send("?");
    terminal.wait_text("Keys here", LIMIT);
    terminal.send("?");
    terminal.wait_text("○ no answer for", LIMIT);
    wait_lag(&terminal, "workers", "2");
    stop(&server, "CONT");
    terminal.wait_text("● live", LIMIT);
    server.run("XADD Orders 7-0 n 7");
    wait_lag(&terminal, "workers", "3");
}

fn stop(server: &TestServer, signal: &str) {
    let script = format!("kill -{signal} {}", server.pid());
    assert!(Command::new("sh").args(["-c", &script]).status().unwrap().success());
}
