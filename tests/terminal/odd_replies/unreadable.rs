//! Bytes that are not a reply. They break the connection, and the program says so.

use std::time::Duration;

use super::oracle::{group_with, honest, snapshot};
use crate::session::start;
use pelwatch::testing::fake::{FakeServer, HANG_UP, flat, line, list};

const LIMIT: Duration = Duration::from_secs(20);

/// Replies of an odd server to XINFO GROUPS.
fn unreadable() -> Vec<(&'static str, Vec<u8>)> {
    let cut = |bytes: &[u8]| [bytes, HANG_UP].concat();
    let pending = |value: Vec<u8>| list([flat(group_with("pending", value))]);
    vec![
        ("an integer above 64 signed bits", pending(line(":18446744073709551615"))),
        ("an error that is no text", line(b"-ERR \xff\xfe")),
        ("cut in the middle of a number", cut(b"*1\r\n*12\r\n$4\r\nname\r\n$1\r\ng\r\n$7\r\npending\r\n:1")),
        ("cut before it began", cut(b"")),
        ("garbage", line("HTTP/1.1 400 Bad Request")),
        ("zeros", vec![0; 64]),
        ("a text longer than memory, cut", cut(b"$99999999999999\r\nabc")),
        ("a list longer than memory, cut", cut(b"*999999999\r\n:1\r\n")),
        ("a map longer than memory, cut", cut(b"%9223372036854775807\r\n:1\r\n")),
        ("a length that is no number", line("$many")),
        ("lists in lists without end", b"*1\r\n".repeat(5000)),
    ]
}

#[test]
fn a_snapshot_ends_with_3_and_one_sentence() {
    for (name, bytes) in unreadable() {
        let mut answers = honest();
        answers.insert("MULTI", line("-ERR unknown command"));
        answers.insert("XINFO GROUPS", bytes);
        let server = FakeServer::start(answers);
        let output = snapshot(&server.socket(), &["--stream", "s"]);
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(3), "{name}: {stderr}");
        assert!(output.stdout.is_empty(), "{name}: half a document");
        println!("{name}: {stderr}");
        assert_eq!(stderr.lines().count(), 1, "{name}: {stderr}");
        assert!(stderr.contains("connection to unix:") && stderr.contains("broke"), "{name}: {stderr}");
        assert!(!stderr.contains("panicked"), "{name}: {stderr}");
    }
}

#[test]
fn a_server_that_does_not_let_us_in_is_said_to() {
    for (hello, words) in [
        ("-NOAUTH HELLO must be called with the client already authenticated", "password"),
        ("-ERR max number of clients reached", "max number of clients"),
    ] {
        let mut answers = honest();
        for key in ["HELLO", "CLIENT", "INFO"] {
            answers.insert(key, line(hello));
        }
        let server = FakeServer::start(answers);
        let output = snapshot(&server.socket(), &["--stream", "s"]);
        let stderr = String::from_utf8(output.stderr).unwrap();
        if output.status.code() == Some(3) {
            assert!(stderr.contains(words), "{stderr}");
        } else {
            assert_eq!(output.status.code(), Some(0), "{stderr}");
        }
    }
}

/// Redis's own errors repeat names, and a fork's counters wrap. Either breaks the connection at every poll. The screen must say so, and
/// the attempts must become less frequent instead of continuing unnoticed.
#[test]
fn the_dashboard_says_what_breaks_it_and_tries_less_and_less() {
    let mut answers = honest();
    answers.insert("XINFO GROUPS", list([flat(group_with("pending", line(":18446744073709551615")))]));
    let server = FakeServer::start(answers);
    let socket = server.socket();
    let args = ["-s", socket.to_str().unwrap(), "--stream", "s", "--interval", "100ms"];
    let mut terminal = start(&args, (160, 30), &[]);
    terminal.wait_text("○ no answer for", LIMIT);
    terminal.wait_text("next try in 4 s", LIMIT);
    // 0.25, 0.5, 1, 2 and 4 seconds apart
    let seen = server.connections();
    assert!((2..=8).contains(&seen), "{seen} connections");
    assert!(terminal.text().contains("its answer cannot be read"), "{}", terminal.text());
    terminal.send("q");
    assert_eq!(terminal.wait_exit(LIMIT), 0);
}
