//! However the program ends, it restores the terminal.

use std::fs;

use crate::session::{LIMIT, newest, open_group, seed_orders, start, watch, watch_orders};
use pelwatch::testing::{
    TestServer,
    pty::{Terminal, keys},
    wait_until,
};

fn seeded() -> TestServer {
    let server = TestServer::start(&newest());
    seed_orders(&server);
    server
}

#[track_caller]
fn assert_taken(terminal: &Terminal) {
    let screen = terminal.screen();
    assert!(screen.alternate_screen() && screen.hide_cursor() && screen.bracketed_paste());
    assert_eq!(terminal.edits_lines(), Some(false));
}

#[track_caller]
fn assert_given_back(terminal: &Terminal) {
    let screen = terminal.screen();
    assert!(!screen.alternate_screen(), "still on the alternate screen");
    assert!(!screen.hide_cursor(), "the cursor is still hidden");
    assert!(!screen.bracketed_paste(), "pastes are still bracketed");
    assert_ne!(terminal.edits_lines(), Some(false), "still in raw mode");
}

#[test]
fn keys_and_signals_that_end_it_give_the_terminal_back() {
    let server = seeded();
    for (end, key) in [("q twice", "qq"), ("Ctrl-C", keys::CTRL_C), ("TERM", ""), ("HUP", ""), ("INT", "")] {
        println!("by {end}");
        let mut terminal = watch_orders(&server);
        open_group(&mut terminal);
        assert_taken(&terminal);
        if key.is_empty() {
            terminal.signal(end);
        } else {
            terminal.send(key);
        }
        assert_eq!(terminal.wait_exit(LIMIT), 0, "by {end}");
        assert_given_back(&terminal);
        assert_eq!(terminal.text().trim(), "", "nothing is left behind on the main screen");
    }
}

#[test]
fn q_twice_ends_it_while_help_is_open_and_while_the_server_is_gone() {
    let mut server = seeded();
    let mut terminal = watch_orders(&server);
    terminal.send("?");
    terminal.wait_text("Keys here", LIMIT);
    server.kill();
    terminal.wait_text("○ no answer for", LIMIT);
    terminal.send("qq");
    assert_eq!(terminal.wait_exit(LIMIT), 0);
    assert_given_back(&terminal);
}

#[test]
fn capital_q_leaves_the_state_as_text_on_the_main_screen() {
    let server = seeded();
    let mut terminal = watch_orders(&server);
    terminal.send("Q");
    assert_eq!(terminal.wait_exit(LIMIT), 0);
    assert_given_back(&terminal);
    let text = terminal.text();
    for part in ["Orders", "workers", "3-0 pending c1, 4-0 pending c2 | cursor | 5-0 new"] {
        assert!(text.contains(part), "{part:?} is missing in:\n{text}");
    }
    // each line begins at the left: the terminal had left raw mode before it was written
    let indented = |line: &&str| line.chars().take_while(|c| *c == ' ').count() > 8;
    assert_eq!(text.lines().find(indented), None, "{text}");
}

#[test]
fn a_panic_in_a_task_gives_the_terminal_back_before_its_report() {
    let server = seeded();
    let socket = server.socket();
    let args = ["-s", socket.to_str().unwrap()];
    let mut terminal = start(&args, (120, 40), &[("PELWATCH_REHEARSE_PANIC", "1")]);
    let code = terminal.wait_exit(LIMIT);
    assert_given_back(&terminal);
    let text = terminal.text();
    assert!(text.contains("a panic rehearsed in the polling task"), "{text}");
    assert!(text.contains("pelwatch: a task panicked"), "{text}");
    assert_eq!(code, 1);
}

#[test]
fn ctrl_z_stops_it_with_the_terminal_given_back_and_it_goes_on() {
    let server = seeded();
    let mut terminal = watch_orders(&server);
    open_group(&mut terminal);
    let stat = format!("/proc/{}/stat", terminal.pid().unwrap());
    for _ in 0..2 {
        terminal.send(keys::CTRL_Z);
        if fs::exists(&stat).unwrap() {
            wait_until("it is stopped", LIMIT, || state(&stat) == Some('T'));
        }
        terminal.wait_for("the main screen", LIMIT, |screen| !screen.alternate_screen());
        assert_given_back(&terminal);
        terminal.signal("CONT");
        terminal.wait_text("┃ ·5-0", LIMIT);
        wait_until("the terminal is taken again", LIMIT, || {
            terminal.edits_lines() != Some(true) && terminal.screen().hide_cursor()
        });
        assert_taken(&terminal);
    }
    server.run("XADD Orders 7-0 n 7");
    terminal.wait_text("·7-0", LIMIT);
    terminal.send("qq");
    assert_eq!(terminal.wait_exit(LIMIT), 0);
    assert_given_back(&terminal);
}

/// The letter in /proc/PID/stat after the program's name in parentheses.
fn state(stat: &str) -> Option<char> {
    let text = fs::read_to_string(stat).ok()?;
    text.rsplit(") ").next()?.chars().next()
}

#[test]
fn a_key_typed_right_after_the_start_is_not_lost() {
    let server = seeded();
    let mut terminal = watch(&server, &[]);
    terminal.wait_for("the screen", LIMIT, vt100::Screen::alternate_screen);
    terminal.send("q");
    assert_eq!(terminal.wait_exit(LIMIT), 0);
    assert_given_back(&terminal);
}
