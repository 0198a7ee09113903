//! Servers that require a password: every way to give it, and it never shows.

use crate::session::{LIMIT, seed_orders, start, wait_lag};
use pelwatch::testing::{TestServer, newest_from, pty::Terminal, wait_until};
use redis::Value;
use std::{fs, path::Path, process::Command};

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

#[test]
fn a_password_that_is_rotated_is_looked_up_and_pelwatch_comes_back_by_itself() {
    let Some(server) = guarded() else { return };
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("secret");
    fs::write(&file, format!("{PASSWORD}\n")).unwrap();
    let file = file.to_str().unwrap();
    let command = format!("cat {file}");
    for way in [["--password-file", file], ["--password-command", &command]] {
        fs::write(file, format!("{PASSWORD}\n")).unwrap();
        server.run(&format!("CONFIG SET requirepass {PASSWORD}"));
        let terminal = connect(&server, &way, &[]);
        wait_lag(&terminal, "workers", "2");
        server.run(&format!("CONFIG SET requirepass {WRONG}"));
        server.run("CLIENT KILL TYPE normal SKIPME yes");
        terminal.wait_text("refuses the login", LIMIT);
        fs::write(file, format!("{WRONG}\n")).unwrap();
        terminal.wait_text("● live", LIMIT);
        assert_secret(&terminal);
    }
}

#[test]
fn a_password_that_ends_is_renewed_on_the_same_connection() {
    let Some(server) = guarded() else { return };
    let command = format!("echo {PASSWORD}");
    let terminal = connect(&server, &["--password-command", &command, "--password-ttl", "500ms"], &[]);
    wait_lag(&terminal, "workers", "2");
    let connections = || number(&server, "stats", "total_connections_received:");
    let logins = || number(&server, "commandstats", "cmdstat_auth:calls=");
    let (before, at_first) = (connections(), logins());
    wait_until("three logins", LIMIT, || logins() >= at_first + 3);
    assert_eq!(connections(), before);
    terminal.wait_text("● live", LIMIT);
    assert_secret(&terminal);
}

/// A number of INFO.
fn number(server: &TestServer, section: &str, name: &str) -> i64 {
    let text: String = match server.run(&format!("INFO {section}")) {
        Value::BulkString(bytes) => String::from_utf8(bytes).unwrap(),
        Value::VerbatimString { text, .. } => text,
        other => panic!("{other:?}"),
    };
    let digits = |rest: &str| rest.chars().take_while(char::is_ascii_digit).collect::<String>().parse().unwrap();
    text.split(name).nth(1).map_or(0, digits)
}

/// Every file below a folder.
fn files(folder: &Path) -> Vec<Vec<u8>> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let below =
        |path: std::path::PathBuf| if path.is_dir() { files(&path) } else { vec![fs::read(path).unwrap_or_default()] };
    entries.flatten().flat_map(|entry| below(entry.path())).collect()
}

#[test]
fn the_password_is_in_no_file_no_output_and_no_list_of_processes() {
    let Some(server) = guarded() else { return };
    let home = tempfile::tempdir().unwrap();
    let secret = home.path().join("secret");
    fs::write(&secret, PASSWORD).unwrap();
    let (socket, file) = (server.socket(), secret.to_str().unwrap().to_owned());
    let command = format!("cat {file}");
    let claim =
        ["claim", "Orders", "workers", "--to", "c2", "--min-idle", "0s", "--json", "--execute", "--confirm", "workers"];
    let ways: [&[&str]; 4] = [&["--password-command", &command], &["--password-file", &file], &[], &["-a", PASSWORD]];
    for way in ways {
        // a claim that is done, one that is refused, a login that fails, a server that is not there
        for (more, user) in [(&claim[..], None), (&claim[..6], None), (&["snapshot", "--json"][..], Some("nobody"))] {
            let mut run = pelwatch::testing::command(env!("CARGO_BIN_EXE_pelwatch"), home.path());
            run.args(more).arg("-s").arg(&socket).args(way);
            run.args(user.iter().flat_map(|user| ["--user", user]));
            if way.is_empty() {
                run.env("REDISCLI_AUTH", PASSWORD);
            }
            let output = run.output().unwrap();
            let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
            assert!(!said.contains(PASSWORD), "{way:?} {more:?}: {said}");
        }
    }
    fs::remove_file(&secret).unwrap();
    let kept = files(home.path());
    assert!(kept.iter().any(|bytes| String::from_utf8_lossy(bytes).contains("XCLAIM")), "there is a journal");
    assert!(kept.iter().all(|bytes| !String::from_utf8_lossy(bytes).contains(PASSWORD)));

    fs::write(&secret, PASSWORD).unwrap();
    let terminal = connect(&server, &["--password-command", &command], &[]);
    wait_lag(&terminal, "workers", "2");
    let pid = terminal.pid().unwrap();
    let proc = |name: &str| fs::read_to_string(format!("/proc/{pid}/{name}")).unwrap();
    assert!(!proc("cmdline").contains(PASSWORD) && !proc("environ").contains(PASSWORD));
    let limit = proc("limits").lines().find(|line| line.starts_with("Max core file size")).unwrap().to_owned();
    assert_eq!(limit.split_whitespace().nth(4), Some("0"), "no core dumps: {limit}");
    let listed =
        Command::new("sh").args(["-c", "cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' ' '"]).output().unwrap();
    assert!(!String::from_utf8_lossy(&listed.stdout).contains(PASSWORD));
}
