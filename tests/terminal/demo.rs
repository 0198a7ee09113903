//! The demo in a terminal. Nothing of it may remain afterwards.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use redis::{Client, ConnectionAddr};

use crate::session::{LIMIT, command, newest, start};
use pelwatch::testing::{
    process_exists,
    pty::{Terminal, keys},
    wait_until,
};

/// The socket of the demo's server, in its own folder in `parent`.
fn socket_in(parent: &Path) -> Option<PathBuf> {
    let folders = fs::read_dir(parent).ok()?.flatten();
    folders.map(|folder| folder.path().join("redis.sock")).find(|socket| socket.exists())
}

/// The process id of the server behind a socket.
fn server_pid(socket: &Path) -> u32 {
    let mut connection = Client::open(ConnectionAddr::Unix(socket.to_owned())).unwrap().get_connection().unwrap();
    let info: String = redis::cmd("INFO").arg("server").query(&mut connection).unwrap();
    let pid = info.lines().find_map(|line| line.strip_prefix("process_id:")).unwrap();
    pid.trim().parse().unwrap()
}

/// Starts the demo with its own folder for temporary files.
fn demo(parent: &Path, more: &[(&str, &str)]) -> Terminal {
    let bin = newest().bin;
    let mut env = vec![("TMPDIR", parent.to_str().unwrap()), ("PELWATCH_SERVER_BIN", bin.to_str().unwrap())];
    env.extend(more);
    start(&["demo"], (120, 40), &env)
}

#[track_caller]
fn assert_nothing_left(parent: &Path, pid: Option<u32>) {
    let left: Vec<_> = fs::read_dir(parent).unwrap().flatten().map(|entry| entry.path()).collect();
    assert_eq!(left, Vec::<PathBuf>::new());
    if let Some(pid) = pid {
        assert!(!process_exists(pid), "the server still runs");
    }
}

#[test]
fn the_demo_shows_its_groups_and_leaves_nothing_behind_however_it_ends() {
    for (end, key) in [("q", "q"), ("Ctrl-C", keys::CTRL_C), ("TERM", ""), ("HUP", "")] {
        println!("by {end}");
        let parent = tempfile::tempdir_in("/tmp").unwrap();
        let mut terminal = demo(parent.path(), &[]);
        for group in ["billing", "analytics", "mailer"] {
            terminal.wait_text(group, LIMIT);
        }
        let pid = server_pid(&socket_in(parent.path()).unwrap());
        if key.is_empty() {
            terminal.signal(end);
        } else {
            terminal.send(key);
        }
        assert_eq!(terminal.wait_exit(LIMIT), 0, "{}", terminal.text());
        assert_nothing_left(parent.path(), Some(pid));
        assert!(!terminal.in_alternate_screen());
    }
}

#[test]
fn a_panic_during_the_demo_leaves_no_server_behind() {
    let parent = tempfile::tempdir_in("/tmp").unwrap();
    let mut terminal = demo(parent.path(), &[("PELWATCH_REHEARSE_PANIC", "1")]);
    let mut pid = None;
    wait_until("the demo has a server or has ended", LIMIT, || {
        pid = socket_in(parent.path())
            .filter(|socket| std::os::unix::net::UnixStream::connect(socket).is_ok())
            .map(|socket| server_pid(&socket));
        // a fast machine can finish before the test looks
        pid.is_some() || terminal.text().contains("a panic rehearsed")
    });
    assert_ne!(terminal.wait_exit(LIMIT), 0);
    assert!(terminal.text().contains("a panic rehearsed"), "{}", terminal.text());
    assert_nothing_left(parent.path(), pid);
}

#[test]
fn a_demo_whose_server_is_killed_ends_with_a_sentence() {
    let parent = tempfile::tempdir_in("/tmp").unwrap();
    let mut terminal = demo(parent.path(), &[]);
    terminal.wait_text("mailer", LIMIT);
    let pid = server_pid(&socket_in(parent.path()).unwrap());
    assert!(Command::new("sh").args(["-c", &format!("kill -KILL {pid}")]).status().unwrap().success());
    assert_eq!(terminal.wait_exit(LIMIT), 3, "{}", terminal.text());
    assert!(terminal.text().trim().starts_with("pelwatch: "), "{}", terminal.text());
    assert_nothing_left(parent.path(), Some(pid));
}

#[test]
fn without_a_terminal_the_demo_prints_snapshots_for_a_while() {
    let parent = tempfile::tempdir_in("/tmp").unwrap();
    let output = command()
        .args(["demo", "--for", "3s"])
        .env("TMPDIR", parent.path())
        .env("PELWATCH_SERVER_BIN", newest().bin)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!((output.status.code(), err.as_ref()), (Some(0), ""));
    for group in ["billing", "analytics", "mailer"] {
        assert!(out.matches(group).count() >= 2, "{group} in two snapshots:\n{out}");
    }
    assert_nothing_left(parent.path(), None);
}
