//! Very many streams and consumers: keys respond, lists scroll, and every row gets its numbers.

use std::time::Duration;

use crate::session::{newest, polls, start};
use pelwatch::testing::{
    TestServer,
    pty::{Terminal, text_of},
    wait_until,
};

/// Long, because a debug build on a busy machine reads and draws all rows.
const LIMIT: Duration = Duration::from_secs(60);
const STREAMS: u64 = 2000;

/// Streams s0000, s0001, … with groups a, b and c: a has read nothing, b everything, and c holds two entries.
fn many_streams() -> TestServer {
    let server = TestServer::start(&newest());
    // not a script: before 6.0 a script must not call XREADGROUP
    let mut connection = server.connect().unwrap();
    for from in (0..STREAMS).step_by(500) {
        let mut seed = redis::pipe();
        for key in (from..from + 500).map(|n| format!("s{n:04}")) {
            for entry in 1..=5 {
                seed.cmd("XADD").arg(&key).arg(format!("{entry}-0")).arg("n").arg(entry);
            }
            for (group, at) in [("a", "0"), ("b", "$"), ("c", "0")] {
                seed.cmd("XGROUP").arg("CREATE").arg(&key).arg(group).arg(at);
            }
            seed.cmd("XREADGROUP").arg("GROUP").arg("c").arg("w").arg("COUNT").arg(2).arg("STREAMS").arg(&key).arg(">");
        }
        seed.exec(&mut connection).unwrap();
    }
    server
}

/// Waits until the picked row names this stream and group and shows this lag and pending count.
#[track_caller]
fn wait_picked(terminal: &Terminal, words: &[&str]) {
    terminal.wait_for(&format!("{words:?} picked"), LIMIT, |screen| {
        let text = text_of(screen);
        let picked = text.lines().find(|line| line.starts_with("│▌")).unwrap_or_default();
        let found: Vec<&str> = picked.split_whitespace().collect();
        words.iter().all(|word| found.contains(word))
    });
}

#[test]
fn two_thousand_streams_are_all_read_and_keys_answer_meanwhile() {
    let server = many_streams();
    let before = polls(&server);
    let socket = server.socket();
    // once a second, the default
    let mut terminal = start(&["-s", socket.to_str().unwrap()], (120, 40), &[]);
    terminal.wait_text("6000 groups", LIMIT);
    // rolled up, their sums are those of all
    wait_picked(&terminal, &["s*", "a", "10000", "0"]);
    terminal.send("u");
    wait_picked(&terminal, &["s0000", "a", "5", "0"]);
    for (key, words) in [
        ("j", ["s0000", "b", "0"]),
        ("j", ["s0000", "c", "3"]),
        ("j", ["s0001", "a", "5"]),
        ("G", ["s1999", "c", "3"]),
        ("k", ["s1999", "b", "0"]),
        ("g", ["s0000", "a", "5"]),
    ] {
        terminal.send(key);
        wait_picked(&terminal, &words);
    }
    terminal.wait_text("numbers up to", LIMIT);
    wait_until("each stream was asked for twice and more", LIMIT, || polls(&server) >= before + 5 * STREAMS);

    // a change in a stream far from the screen shows when its turn comes
    server.run("XADD s1500 9-0 n 9");
    terminal.send("/s1500\r");
    wait_picked(&terminal, &["s1500", "a", "6"]);
    terminal.send("\r");
    terminal.wait_text("┌ s1500 › a", LIMIT);
    terminal.wait_text("·9-0", LIMIT);
    terminal.send("qq");
    assert_eq!(terminal.wait_exit(LIMIT), 0);
}

#[test]
fn twenty_thousand_consumers_scroll_and_say_how_old_their_list_is() {
    let server = TestServer::start(&newest());
    server.run("XADD jobs 1-0 n 1");
    server.run("XADD jobs 2-0 n 2");
    server.run("XGROUP CREATE jobs crowd 0");
    // a read of its own history creates a consumer on every version
    let mut seed = redis::pipe();
    for n in 1..=20_000 {
        seed.cmd("XREADGROUP").arg("GROUP").arg("crowd").arg(format!("w{n:05}")).arg("STREAMS").arg("jobs").arg("0");
    }
    seed.exec(&mut server.connect().unwrap()).unwrap();
    server.run("XREADGROUP GROUP crowd w10000 COUNT 1 STREAMS jobs >");
    let before = consumer_lists(&server);
    let socket = server.socket();
    let mut terminal = start(&["-s", socket.to_str().unwrap(), "--interval", "100ms"], (120, 40), &[]);
    wait_picked(&terminal, &["jobs", "crowd", "1"]);
    terminal.send("\r");
    terminal.wait_text("20000, 1 holding", LIMIT);
    // the holder comes first and is unfolded
    terminal.wait_text("▾ w10000", LIMIT);
    terminal.send("G");
    terminal.wait_text("▌   w20000", LIMIT);
    terminal.send("k");
    terminal.wait_text("▌   w19999", LIMIT);
    terminal.send("g");
    terminal.wait_text("▌ ▾ w10000", LIMIT);
    terminal.wait_text("list 7.", LIMIT);
    // before 7.0 the server counts all XINFO subcommands together
    if let Some(before) = before {
        let lists = consumer_lists(&server).unwrap() - before;
        assert!((2..=3).contains(&lists), "{} lists of 20,000 consumers in about 7 s", lists - 1);
    }
}

/// How often XINFO CONSUMERS was called, if the server counts it separately (7.0).
fn consumer_lists(server: &TestServer) -> Option<u64> {
    server.run("XINFO CONSUMERS jobs crowd");
    let stats = crate::session::text(server, "INFO commandstats");
    let line = stats.lines().find(|line| line.starts_with("cmdstat_xinfo|consumers:"))?;
    line.split("calls=").nth(1)?.split(',').next()?.parse().ok()
}
