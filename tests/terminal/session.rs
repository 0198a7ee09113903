//! Shared by these tests: starting the program, reading numbers from its screen, and the situation that most tests begin with.

use std::{path::Path, process::Command, time::Duration};

use vt100::Screen;

use pelwatch::testing::{
    FoundServer, TestServer, found_servers,
    pty::{Terminal, text_of},
    wait_until,
};

/// Far longer than anything takes; a test that waits this long has failed.
pub const LIMIT: Duration = Duration::from_secs(20);
/// The size that the screen is designed for.
pub const SIZE: (u16, u16) = (120, 40);

fn program() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_pelwatch"))
}

/// The program as a script starts it. Its home folder does not exist: it must not need or create anything there.
pub fn command() -> Command {
    pelwatch::testing::command(env!("CARGO_BIN_EXE_pelwatch"), Path::new("/nonexistent/home"))
}

/// The server with the newest commands, for tests that do not depend on the version.
pub fn newest() -> FoundServer {
    found_servers().into_iter().max_by_key(FoundServer::compat).unwrap()
}

/// Starts the dashboard with these arguments and without environment variables that would change it.
pub fn start(args: &[&str], size: (u16, u16), env: &[(&str, &str)]) -> Terminal {
    Terminal::start(program(), args, size, env)
}

/// Watches a server, ten times a second.
pub fn watch(server: &TestServer, more: &[&str]) -> Terminal {
    watch_sized(server, more, SIZE)
}

pub fn watch_sized(server: &TestServer, more: &[&str], size: (u16, u16)) -> Terminal {
    let socket = server.socket();
    let mut args = vec!["-s", socket.to_str().unwrap(), "--interval", "100ms"];
    args.extend(more);
    start(&args, size, &[])
}

/// Stream Orders with 1-0 to 6-0. Its group workers gave three entries to c1 and one to c2; two are acknowledged.
pub fn seed_orders(server: &TestServer) {
    for id in 1..=6 {
        server.run(&format!("XADD Orders {id}-0 n {id}"));
    }
    server.run("XGROUP CREATE Orders workers 0");
    server.run("XREADGROUP GROUP workers c1 COUNT 3 STREAMS Orders >");
    server.run("XREADGROUP GROUP workers c2 COUNT 1 STREAMS Orders >");
    server.run("XACK Orders workers 1-0 2-0");
}

/// Watches the Orders of [`seed_orders`] until the group's row is complete, including the consumers: Enter unfolds the consumer with the
/// most entries, but only if the consumers are known by then.
pub fn watch_orders(server: &TestServer) -> Terminal {
    let terminal = watch(server, &[]);
    wait_pending(&terminal, "workers", "2");
    wait_consumers(&terminal, "workers", "/2");
    terminal
}

/// Waits until the overview's row of a group shows its active consumers; `of` is the end of that text, such as `/2`.
#[track_caller]
pub fn wait_consumers(terminal: &Terminal, group: &str, of: &str) {
    terminal.wait_for(&format!("the consumers of {group}"), LIMIT, |screen| {
        shown(screen, group, "active").is_some_and(|active| active.ends_with(of) && !active.starts_with('?'))
    });
}

/// Opens the picked group and waits for its strip and for the entries of the first consumer.
pub fn open_group(terminal: &mut Terminal) {
    terminal.send("\r");
    terminal.wait_for("the strip and an entry", LIMIT, |screen| {
        let text = text_of(screen);
        text.contains("┃ ·5-0") && text.contains("present")
    });
    // whatever is wrong, to the consumers
    terminal.send("2");
}

/// Waits until the overview's row of a group shows this lag.
#[track_caller]
pub fn wait_lag(terminal: &Terminal, group: &str, lag: &str) {
    terminal.wait_for(&format!("lag {lag} of {group}"), LIMIT, |screen| {
        shown(screen, group, "lag").as_deref() == Some(lag)
    });
}

/// Waits until the overview's row of a group shows this many pending entries.
#[track_caller]
pub fn wait_pending(terminal: &Terminal, group: &str, pending: &str) {
    terminal.wait_for(&format!("{pending} pending of {group}"), LIMIT, |screen| {
        shown(screen, group, "pending").as_deref() == Some(pending)
    });
}

/// The overview's value in the row that names `group`, below the right-aligned head `column`.
pub fn shown(screen: &Screen, group: &str, column: &str) -> Option<String> {
    let text = text_of(screen);
    let head = text.lines().find(|line| line.contains("stream") && line.contains(column))?;
    let row = text.lines().find(|line| line.contains(group))?;
    let end = head[..head.find(column)?].chars().count() + column.len();
    let below: String = row.chars().take(end).skip(end.saturating_sub(9)).collect();
    // the number can have an arrow behind it, and another column can reach in from the left
    let mut words = below.split_whitespace().filter(|word| *word != "↑" && *word != "↓");
    words.next_back().map(str::to_owned)
}

/// Whether each row between the first and the last ends in a piece of the frame, in the last column.
pub fn frame_is_closed(screen: &Screen) -> bool {
    let (rows, columns) = (screen.size().0.get(), screen.size().1.get());
    (1..rows - 1).all(|row| {
        let last = screen.cell(row, columns - 1).unwrap().contents();
        ["│", "┐", "┤", "┘"].contains(&last)
    })
}

/// How often a server was asked anything about streams. The number grows with every poll.
pub fn polls(server: &TestServer) -> u64 {
    let stats = text(server, "INFO commandstats");
    let calls = stats.lines().filter(|line| line.starts_with("cmdstat_xinfo"));
    calls.filter_map(|line| line.split("calls=").nth(1)?.split(',').next()?.parse::<u64>().ok()).sum()
}

/// Waits until the server was polled `count` more times.
#[track_caller]
pub fn wait_polls(server: &TestServer, count: u64) {
    let before = polls(server);
    wait_until("the server is polled", LIMIT, || polls(server) >= before + count);
}

/// The text reply of a command.
pub fn text(server: &TestServer, line: &str) -> String {
    redis::from_redis_value(server.run(line)).unwrap()
}

/// A program under test gets its own folders, whatever the user's environment says.
#[test]
fn a_program_under_test_sees_nothing_of_the_user() {
    let own = tempfile::tempdir().unwrap();
    let printed = pelwatch::testing::command("/usr/bin/env", own.path()).env_remove("PATH").output().unwrap();
    let by_script = String::from_utf8_lossy(&printed.stdout).into_owned();
    let mut terminal = Terminal::start(Path::new("/usr/bin/env"), &["-0"], (500, 100), &[]);
    terminal.wait_exit(LIMIT);
    let in_terminal = String::from_utf8_lossy(&terminal.raw()).replace('\0', "\n");
    let temporary = std::env::temp_dir();
    for (text, home) in [(by_script, own.path()), (in_terminal, temporary.as_path())] {
        let value = |name: &str| {
            let line = text.lines().find(|line| line.starts_with(&format!("{name}=")));
            line.unwrap_or_else(|| panic!("{name} is not set:\n{text}")).split_once('=').unwrap().1.to_owned()
        };
        let at = value("HOME");
        assert!(Path::new(&at).starts_with(home), "{at}");
        for name in ["XDG_STATE_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_RUNTIME_DIR"] {
            assert!(value(name).starts_with(&at), "{name} is {}", value(name));
        }
        assert!(!text.contains("REDISCLI_AUTH="), "{text}");
    }
}
