//! Servers that require a password: every way to give it, and it never shows.

use crate::session::{LIMIT, seed_orders, start, wait_lag};
use pelwatch::testing::{TestServer, newest_from, pty::Terminal};

const PASSWORD: &str = "sesame-Xy7";
const WRONG: &str = "mustard-Qz3";

/// A server with a password for the default user, and with a user who may only read. Users need 6.0.
fn guarded() -> Option<TestServer> {
    let server = TestServer::start(&newest_from((6, 0, 0))?);
    seed_orders(&server);
    server.run(&format!("ACL SETUSER watcher on >{PASSWORD} ~* +@read +info +hello +client +multi +exec +time +scan"));
    server.run(&format!("CONFIG SET requirepass {PASSWORD}"));
    Some(server)
}

fn connect(server: &TestServer, args: &[&str], env: &[(&str, &str)]) -> Terminal {
    let socket = server.socket();
    let mut all = vec!["-s", socket.to_str().unwrap(), "--interval", "100ms"];
    all.extend(args);
    start(&all, (120, 40), env)
}

#[track_caller]
fn assert_secret(terminal: &Terminal) {
    let raw = String::from_utf8_lossy(&terminal.raw()).into_owned();
    for secret in [PASSWORD, WRONG] {
        assert!(!raw.contains(secret), "the password shows: {raw}");
    }
}

#[test]
fn the_password_is_taken_from_the_variable_the_flag_the_url_and_for_a_user() {
    let Some(server) = guarded() else { return };
    let env = [("REDISCLI_AUTH", PASSWORD)];
    let ways: [(&[&str], bool); 4] = [
        (&[], true),
        (&["-a", PASSWORD], false),
        (&["--user", "watcher", "-a", PASSWORD], false),
        (&["--user", "watcher"], true),
    ];
    for (args, in_variable) in ways {
        let env: &[_] = if in_variable { &env } else { &[] };
        let mut terminal = connect(&server, args, env);
        wait_lag(&terminal, "workers", "2");
        terminal.send("Y");
        terminal.wait_text("copied: redis-cli", LIMIT);
        terminal.send("?");
        terminal.wait_text("Keys here", LIMIT);
        terminal.send("Q");
        assert_eq!(terminal.wait_exit(LIMIT), 0);
        assert_secret(&terminal);
    }
    let url = format!("unix://{}?pass={PASSWORD}", server.socket().display());
    let terminal = start(&[&url], (120, 40), &[]);
    wait_lag(&terminal, "workers", "2");
    assert_secret(&terminal);
}

#[test]
fn a_password_typed_at_the_prompt_is_not_echoed() {
    let Some(server) = guarded() else { return };
    let mut terminal = connect(&server, &["--askpass"], &[]);
    terminal.wait_text("Password:", LIMIT);
    // undo a typing error
    terminal.send("oops\x15");
    terminal.send(&format!("{PASSWORD}!\x7f\r"));
    wait_lag(&terminal, "workers", "2");
    assert_secret(&terminal);
    assert!(!String::from_utf8_lossy(&terminal.raw()).contains("oops"));

    let mut terminal = connect(&server, &["--askpass"], &[]);
    terminal.wait_text("Password:", LIMIT);
    terminal.send("\x03");
    assert_ne!(terminal.wait_exit(LIMIT), 0);
    assert_ne!(terminal.edits_lines(), Some(false));
}

#[test]
fn no_password_and_a_wrong_one_are_said_in_one_sentence_with_3() {
    let Some(server) = guarded() else { return };
    let ways: [(&[&str], &str); 3] = [
        (&[], "--askpass"),
        (&["-a", WRONG], "refuses the login"),
        (&["--user", "nobody", "-a", PASSWORD], "refuses the login"),
    ];
    for (args, words) in ways {
        let mut terminal = connect(&server, args, &[]);
        assert_eq!(terminal.wait_exit(LIMIT), 3, "{args:?}: {}", terminal.text());
        let text = terminal.text();
        assert!(text.starts_with("pelwatch: unix:/") && text.contains(words), "{args:?}: {text}");
        assert!(!text.contains("panicked"), "{text}");
        assert_secret(&terminal);
    }
}

#[test]
fn a_password_set_meanwhile_is_said_in_the_header_and_one_taken_away_lets_it_in_again() {
    // before 6.0 a new password also applies to open connections, such as the test's own
    let Some(found) = newest_from((6, 0, 0)) else { return };
    let server = TestServer::start(&found);
    seed_orders(&server);
    let terminal = connect(&server, &[], &[]);
    wait_lag(&terminal, "workers", "2");
    server.run(&format!("CONFIG SET requirepass {PASSWORD}"));
    server.run("CLIENT KILL TYPE normal SKIPME yes");
    terminal.wait_text("○ no answer for", LIMIT);
    wait_lag(&terminal, "workers", "2");
    server.command(&[b"CONFIG", b"SET", b"requirepass", b""]);
    terminal.wait_text("● live", LIMIT);
    assert_secret(&terminal);
}
