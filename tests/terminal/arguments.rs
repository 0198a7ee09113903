//! Wrong command lines: one sentence, an exit code for scripts, and nothing that looks like a crash.

use std::process::Stdio;

use crate::session::{LIMIT, command, newest, start};
use pelwatch::testing::TestServer;

struct Outcome {
    code: i32,
    out: String,
    err: String,
}

/// Runs the program without a terminal on standard output.
fn run(args: &[&str]) -> Outcome {
    let output = command().args(args).stdin(Stdio::null()).output().unwrap();
    let outcome = Outcome {
        code: output.status.code().unwrap(),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    };
    for text in [&outcome.out, &outcome.err] {
        assert!(!text.contains("panicked") && !text.contains("RUST_BACKTRACE"), "{args:?}: {text}");
    }
    outcome
}

#[track_caller]
fn assert_refused(args: &[&str], code: i32, words: &str) {
    let outcome = run(args);
    assert_eq!((outcome.code, outcome.out.as_str()), (code, ""), "{args:?}: {}", outcome.err);
    assert!(outcome.err.contains(words), "{args:?}: {}", outcome.err);
}

/// Checks for one line on stderr that begins with the program's name.
#[track_caller]
fn assert_one_sentence(args: &[&str], code: i32, words: &str) {
    assert_refused(args, code, words);
    let err = run(args).err;
    assert!(err.starts_with("pelwatch: ") && err.trim_end().lines().count() == 1, "{args:?}: {err}");
}

#[test]
fn a_wrong_address_or_flag_exits_with_2() {
    for args in [["snapshot", "http://127.0.0.1"], ["snapshot", "redis://h:port"], ["snapshot", "nonsense"]] {
        assert_one_sentence(&args, 2, "is not a server address");
    }
    assert_one_sentence(&["snapshot", "rediss://127.0.0.1:1"], 3, "cannot reach 127.0.0.1:1");
    assert_one_sentence(&["snapshot", "-s", "/a", "-p", "1"], 2, "once");
    assert_one_sentence(&["snapshot", "--stream", "hex:zz"], 2, "'hex:zz' is not hex");
    assert_one_sentence(&["snapshot", "--group", "hex:0"], 2, "'hex:0' is not hex");
    assert_refused(&["--nosuch"], 2, "--nosuch");
    assert_refused(&["--interval", "10ms"], 2, "100ms");
    assert_refused(&["--interval", "soon"], 2, "--interval");
    assert_refused(&["-p", "99999"], 2, "99999");
    assert_refused(&["--quiet", "nosuch"], 2, "holder-gone");
    assert_refused(&["--only", "nosuch"], 2, "claim-ping-pong");
    assert_refused(&["snapshot", "--json", "--text"], 2, "--text");
}

#[test]
fn without_a_terminal_the_dashboard_points_to_snapshot() {
    let server = TestServer::start(&newest());
    let socket = server.socket();
    assert_one_sentence(&["-s", socket.to_str().unwrap()], 2, "pelwatch snapshot");
}

#[test]
fn a_server_that_is_not_there_is_said_in_one_sentence_with_3() {
    assert_one_sentence(&["snapshot", "-s", "/nosuch/redis.sock"], 3, "cannot reach unix:/nosuch/redis.sock");
    assert_one_sentence(&["snapshot", "-h", "127.0.0.1", "-p", "1"], 3, "cannot reach 127.0.0.1:1");

    // the same on a terminal, which must stay untouched
    let mut terminal = start(&["-s", "/nosuch/redis.sock"], (120, 40), &[]);
    assert_eq!(terminal.wait_exit(LIMIT), 3);
    let text = terminal.text();
    assert!(
        text.starts_with("pelwatch: cannot reach unix:/nosuch/redis.sock") && text.trim().lines().count() == 1,
        "{text}"
    );
    assert!(!String::from_utf8_lossy(&terminal.raw()).contains("\x1b[?1049h"));
}

#[test]
fn help_and_version_go_to_standard_output() {
    let help = run(&["--help"]);
    assert_eq!((help.code, help.err.as_str()), (0, ""));
    assert!(help.out.contains("--interval") && help.out.contains("snapshot") && help.out.contains("demo"));
    let version = run(&["--version"]);
    assert_eq!((version.code, version.err.as_str()), (0, ""));
    assert!(version.out.starts_with("pelwatch "));
}
