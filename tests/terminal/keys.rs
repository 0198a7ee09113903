//! The keys that a person types, and what they see.

use std::time::Duration;

use crate::session::{
    LIMIT, newest, open_group, seed_orders, shown, wait_consumers, wait_lag, wait_pending, wait_polls, watch,
    watch_orders,
};
use pelwatch::testing::{
    TestServer,
    pty::{Terminal, keys, text_of},
    wait_until,
};

fn seeded() -> TestServer {
    let server = TestServer::start(&newest());
    seed_orders(&server);
    server
}

/// Waits until the picked row, marked at its left, names this.
#[track_caller]
fn wait_picked(terminal: &Terminal, name: &str) {
    terminal.wait_for(&format!("{name} picked"), LIMIT, |screen| {
        text_of(screen).lines().any(|line| line.starts_with("│▌") && line.contains(name))
    });
}

#[test]
fn rows_are_walked_opened_and_left_and_esc_never_quits() {
    let server = TestServer::start(&newest());
    for name in ["one", "two", "three"] {
        server.run(&format!("XADD {name} 1-0 n 1"));
        server.run(&format!("XGROUP CREATE {name} of-{name} 0"));
    }
    let mut terminal = watch(&server, &[]);
    // quiet groups are sorted by name: one, three, two
    wait_picked(&terminal, "of-one");
    for (key, name) in [
        ("j", "of-three"),
        ("j", "of-two"),
        ("j", "of-two"),
        ("k", "of-three"),
        ("g", "of-one"),
        ("G", "of-two"),
        (keys::UP, "of-three"),
        (keys::DOWN, "of-two"),
        ("g", "of-one"),
    ] {
        terminal.send(key);
        wait_picked(&terminal, name);
    }
    terminal.send("j\r");
    terminal.wait_text("┌ three › of-three", LIMIT);
    terminal.send("n");
    terminal.wait_text("┌ two › of-two", LIMIT);
    terminal.send("N");
    terminal.wait_text("┌ three › of-three", LIMIT);
    for _ in 0..4 {
        terminal.send(keys::ESC);
        terminal.wait_text("Streams and groups", LIMIT);
        wait_picked(&terminal, "of-three");
    }
    wait_polls(&server, 3);
    terminal.send("q");
    assert_eq!(terminal.wait_exit(LIMIT), 0);
}

#[test]
fn tab_goes_through_the_panes_and_an_entry_is_opened_from_the_strip() {
    let server = seeded();
    let mut terminal = watch_orders(&server);
    open_group(&mut terminal);
    wait_picked(&terminal, "c1");
    terminal.send("j");
    wait_picked(&terminal, "3-0");
    // consumers, findings, strip
    terminal.send("\t\t");
    terminal.wait_text("◆4-0◂", LIMIT);
    terminal.send("l");
    terminal.wait_text("·5-0◂", LIMIT);
    terminal.send("hh");
    terminal.wait_text("◆3-0◂", LIMIT);
    terminal.send("\r");
    terminal.wait_text("held by c1", LIMIT);
    terminal.send(keys::ESC);
    terminal.wait_gone("held by c1", LIMIT);
    terminal.send(keys::BACK_TAB);
    terminal.send(keys::BACK_TAB);
    wait_picked(&terminal, "3-0");
}

#[test]
fn a_typed_filter_hides_the_other_rows_until_esc() {
    let server = seeded();
    server.run("XADD jobs 1-0 n 1");
    server.run("XGROUP CREATE jobs readers 0");
    let mut terminal = watch(&server, &[]);
    wait_pending(&terminal, "workers", "2");
    wait_lag(&terminal, "readers", "1");
    terminal.send("/");
    terminal.wait_text("Enter keep  Esc clear", LIMIT);
    // letters that are keys elsewhere are only letters here
    terminal.send("jobq\x7f");
    terminal.wait_gone("workers", LIMIT);
    terminal.wait_text("readers", LIMIT);
    terminal.send("\r");
    terminal.wait_text("matching job", LIMIT);
    terminal.send(keys::ESC);
    terminal.wait_text("workers", LIMIT);
    terminal.send("/!job\r");
    terminal.wait_gone("readers", LIMIT);
    terminal.wait_text("workers", LIMIT);
    terminal.send("/\x15nothing\r");
    terminal.wait_text("No row matches the filter.", LIMIT);
}

#[test]
fn help_lists_the_keys_of_the_place() {
    let server = seeded();
    let mut terminal = watch_orders(&server);
    terminal.send("?");
    let wait_keys = |terminal: &Terminal, what: &str, listed: &[&str]| {
        terminal.wait_for(what, LIMIT, |screen| {
            let text = text_of(screen);
            let has = |key: &&str| text.lines().any(|line| line.contains(&format!("│   {key}")));
            listed.iter().all(has) && !text.contains("Shift-Tab")
        });
    };
    wait_keys(&terminal, "what comes first", &["Enter  ", "/  ", "s  ", "y  ", "Y  ", "e  ", "c  ", "Esc  ", "j ↓"]);
    terminal.send("G");
    wait_keys(&terminal, "the end of the list", &["Space  ", "+ =", "-  ", "? F1", "Q  ", "q  "]);
    terminal.send("?");
    terminal.wait_gone("Keys here", LIMIT);
    open_group(&mut terminal);
    terminal.send("?G");
    terminal.wait_text("Shift-Tab", LIMIT);
    terminal.send(keys::ESC);
    terminal.wait_gone("Keys here", LIMIT);
    terminal.wait_text("┃ ·5-0", LIMIT);
}

#[test]
fn a_paused_screen_stands_still_and_catches_up() {
    let server = seeded();
    let mut terminal = watch_orders(&server);
    terminal.send(" ");
    terminal.wait_text("PAUSED", LIMIT);
    server.run("XADD Orders 7-0 n 7");
    server.run("XREADGROUP GROUP workers c1 COUNT 2 STREAMS Orders >");
    wait_polls(&server, 12);
    let screen = terminal.screen();
    assert_eq!(shown(&screen, "workers", "lag").as_deref(), Some("2"));
    assert_eq!(shown(&screen, "workers", "pending").as_deref(), Some("2"));
    terminal.send(" ");
    wait_lag(&terminal, "workers", "1");
    wait_pending(&terminal, "workers", "4");
    terminal.wait_gone("PAUSED", LIMIT);
}

#[test]
fn plus_and_minus_change_how_often_is_polled() {
    let server = seeded();
    let mut terminal = watch(&server, &["--stream", "Orders"]);
    wait_lag(&terminal, "workers", "2");
    terminal.send("---");
    terminal.wait_text("one poll every 1.0s", LIMIT);
    terminal.wait_text("● live 1.0s", LIMIT);
    terminal.send("++++");
    terminal.wait_text("one poll every 0.1s", LIMIT);
    terminal.wait_text("● live 0.1s", LIMIT);
    wait_polls(&server, 10);
}

/// Waits until this text was sent to the terminal's clipboard.
#[track_caller]
fn wait_copied(terminal: &Terminal, base64: &str) {
    let sequence = format!("\x1b]52;c;{base64}\x1b\\");
    wait_until(base64, LIMIT, || String::from_utf8_lossy(&terminal.raw()).contains(&sequence));
}

#[test]
fn names_and_commands_are_copied_through_the_terminal() {
    let server = seeded();
    let mut terminal = watch_orders(&server);
    terminal.send("y");
    wait_copied(&terminal, "d29ya2Vycw=="); // workers
    terminal.wait_text("copied: workers", LIMIT);
    open_group(&mut terminal);
    wait_picked(&terminal, "c1");
    terminal.send("j");
    wait_picked(&terminal, "3-0");
    terminal.send("y");
    wait_copied(&terminal, "My0w"); // 3-0
    terminal.send("Y");
    let socket = server.socket();
    let line = format!("redis-cli -s {} XRANGE Orders 3-0 3-0", socket.display());
    wait_copied(&terminal, &base64(line.as_bytes()));
}

fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::new();
    for chunk in bytes.chunks(3) {
        let bits = chunk.iter().chain([&0, &0]).take(3).fold(0_usize, |bits, byte| bits << 8 | usize::from(*byte));
        for place in 0..4 {
            let letter = char::from(LETTERS[bits >> (18 - 6 * place) & 63]);
            out.push(if place <= chunk.len() { letter } else { '=' });
        }
    }
    out
}

#[test]
fn events_tell_of_a_destroyed_group_and_a_consumer_that_took_its_entries_along() {
    let server = seeded();
    server.run("XGROUP CREATE Orders others 0");
    server.run("XREADGROUP GROUP others o1 COUNT 2 STREAMS Orders >");
    let mut terminal = watch(&server, &[]);
    wait_pending(&terminal, "others", "2");
    terminal.send("e");
    terminal.wait_text("nothing happened so far", LIMIT);

    terminal.send("G");
    wait_picked(&terminal, "workers");
    wait_consumers(&terminal, "workers", "/2");
    open_group(&mut terminal);
    wait_picked(&terminal, "c1");
    wait_polls(&server, 3);
    server.run("XGROUP DELCONSUMER Orders workers c1");
    server.run("XGROUP DESTROY Orders others");
    terminal.wait_text("e log", LIMIT);
    terminal.send("e");
    terminal.wait_text("Log of Orders › workers", LIMIT);
    terminal.send("a");
    terminal.wait_text("group-lost", LIMIT);
    terminal.wait_text("group others of Orders is gone; it stood at 2-0 with 2 pending", LIMIT);
    terminal.wait_text("consumer-vanished-with-pending", LIMIT);
    terminal.wait_text("consumer c1 of workers vanished; it held 1", LIMIT);
    terminal.send("e");
    terminal.wait_gone("group-lost", LIMIT);
}

#[test]
fn a_destroyed_group_is_said_to_be_gone_on_its_own_screen_and_comes_back() {
    let server = seeded();
    let mut terminal = watch_orders(&server);
    open_group(&mut terminal);
    server.run("XGROUP DESTROY Orders workers");
    terminal.wait_text("The group workers is not there.", LIMIT);
    server.run("XGROUP CREATE Orders workers 2-0");
    terminal.wait_text("▲ cursor 2-0", LIMIT);
    server.run("DEL Orders");
    terminal.wait_text("Orders: no such key.", LIMIT);
    assert!(terminal.wait_still(Duration::from_millis(10), LIMIT));
}
