//! What the terminal says of itself, and what it shows besides the screen.

use crate::session::{LIMIT, newest, seed_orders, start, watch};
use pelwatch::testing::{
    TestServer,
    pty::{Terminal, keys, text_of},
    wait_until,
};
use std::time::Duration;

fn seeded() -> TestServer {
    let server = TestServer::start(&newest());
    seed_orders(&server);
    server
}

/// The sequences that a late answer consists of: a white background, and what every terminal says of itself.
const ANSWER: &str = "\x1b]11;rgb:ffff/ffff/ffff\x1b\\\x1b[?62;4c";

fn raw(terminal: &Terminal) -> String {
    String::from_utf8_lossy(&terminal.raw()).into_owned()
}

#[test]
fn a_late_answer_about_the_background_is_never_a_key_and_makes_the_screen_light() {
    let server = seeded();
    let mut terminal = watch(&server, &[]);
    terminal.wait_text("workers", LIMIT);
    // it is asked before the first frame, and this terminal has said nothing so far
    assert!(raw(&terminal).contains("\x1b]11;?"));
    terminal.send("m");
    terminal.wait_text("▌[ Close ]", LIMIT);
    terminal.send(ANSWER);
    // a colour of the light theme shows that it was taken
    terminal.wait_for("the light theme", LIMIT, |screen| {
        let (rows, columns) = screen.size();
        (0..rows.get()).any(|row| {
            (0..columns.get())
                .any(|column| screen.cell(row, column).is_some_and(|cell| cell.fgcolor() == vt100::Color::Idx(241)))
        })
    });
    terminal.wait_still(Duration::from_millis(300), LIMIT);
    let screen = terminal.text();
    assert!(screen.contains("▌[ Close ]") && screen.contains("the dialog takes all keys"), "{screen}");
    terminal.send(keys::ESC);
    terminal.wait_gone("▌[ Close ]", LIMIT);
    terminal.send("q");
    assert_eq!(terminal.wait_exit(LIMIT), 0);
}

#[test]
fn the_title_says_the_verdict_and_is_given_back() {
    let server = seeded();
    let mut terminal = watch(&server, &["--gone-after", "1s"]);
    let title = "1 critical: Orders/workers holder-gone - pelwatch ";
    wait_until("the title is set", LIMIT, || raw(&terminal).contains(title));
    terminal.send("q");
    assert_eq!(terminal.wait_exit(LIMIT), 0);
    let written = raw(&terminal);
    let (kept, back) = (written.find("\x1b[22;0t").unwrap(), written.rfind("\x1b[23;0t").unwrap());
    assert!(kept < written.find("\x1b]0;").unwrap() && written.rfind("\x1b]0;").unwrap() < back);
}

#[test]
fn a_terminal_that_cannot_move_its_cursor_is_refused_with_what_to_do() {
    let server = seeded();
    let socket = server.socket();
    for term in ["dumb", ""] {
        let mut terminal = start(&["-s", socket.to_str().unwrap()], (80, 24), &[("TERM", term)]);
        assert_eq!(terminal.wait_exit(LIMIT), 2, "{term}");
        let text = text_of(&terminal.screen());
        assert!(text.contains("pelwatch snapshot"), "{text}");
        assert!(!raw(&terminal).contains("\x1b[?1049h"));
    }
}

#[test]
fn the_linux_console_gets_ascii_and_neither_question_nor_title() {
    let server = seeded();
    let socket = server.socket();
    let mut terminal = start(&["-s", socket.to_str().unwrap()], (80, 24), &[("TERM", "linux")]);
    terminal.wait_text("workers", LIMIT);
    terminal.send("q");
    assert_eq!(terminal.wait_exit(LIMIT), 0);
    let written = raw(&terminal);
    assert!(!written.contains("\x1b]") && written.is_ascii(), "{written:.200}");
}

#[test]
fn the_mouse_is_the_terminals_unless_it_is_asked_for() {
    let server = seeded();
    let mut terminal = watch(&server, &["--mouse"]);
    terminal.wait_text("workers", LIMIT);
    assert!(raw(&terminal).contains("\x1b[?1000h"));
    // a press and a release of the left button on the first row, twice
    for _ in 0..2 {
        terminal.send("\x1b[<0;10;4M\x1b[<0;10;4m");
    }
    terminal.wait_text("┌ Orders › workers", LIMIT);
    terminal.send("qq");
    assert_eq!(terminal.wait_exit(LIMIT), 0);
    assert!(raw(&terminal).contains("\x1b[?1000l"));
    let terminal = watch(&server, &[]);
    terminal.wait_text("workers", LIMIT);
    assert!(!raw(&terminal).contains("\x1b[?1000h"));
}
