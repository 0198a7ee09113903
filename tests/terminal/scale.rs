//! Very many streams, and very many consumers: keys answer, lists scroll, and every row gets its numbers.

use std::time::Duration;

use crate::session::{newest, polls, start};
use crate::support::pty::{Terminal, text_of};
use crate::support::{TestServer, wait_until};

/// All rows are read and drawn by a debug build on a busy machine.
const LIMIT: Duration = Duration::from_secs(60);
const STREAMS: u64 = 2000;

/// Streams s0000, s0001, … with groups a, b and c: a read nothing, b everything, c holds two entries.
fn many_streams() -> TestServer {
    let server = TestServer::start(&newest());
    let script = "for n=tonumber(ARGV[1]),tonumber(ARGV[2]) do
        local key = string.format('s%04d', n)
        for i=1,5 do redis.call('XADD', key, i..'-0', 'n', i) end
        redis.call('XGROUP', 'CREATE', key, 'a', '0')
        redis.call('XGROUP', 'CREATE', key, 'b', '$')
        redis.call('XGROUP', 'CREATE', key, 'c', '0')
        redis.call('XREADGROUP', 'GROUP', 'c', 'w', 'COUNT', '2', 'STREAMS', key, '>')
    end";
    for from in (0..STREAMS).step_by(500) {
        let to = from + 499;
        server.command(&[b"EVAL", script.as_bytes(), b"0", from.to_string().as_bytes(), to.to_string().as_bytes()]);
    }
    server
}

/// Waits until the picked row names this stream and this group, with this lag and so much pending.
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
    // once a second, as it is started by default
    let mut terminal = start(&["-s", socket.to_str().unwrap()], (120, 40), &[]);
    terminal.wait_text("6000 groups", LIMIT);
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

    // a change in a stream far from what is on the screen shows up in its turn
    server.run("XADD s1500 9-0 n 9");
    terminal.send("/s1500\r");
    wait_picked(&terminal, &["s1500", "a", "6"]);
    terminal.send("\r");
    terminal.wait_text("┌ s1500 › a", LIMIT);
    terminal.wait_text("·9-0", LIMIT);
    terminal.send("q");
    assert_eq!(terminal.wait_exit(LIMIT), 0);
}

#[test]
fn twenty_thousand_consumers_scroll_and_say_how_old_their_list_is() {
    let server = TestServer::start(&newest());
    server.run("XADD jobs 1-0 n 1");
    server.run("XADD jobs 2-0 n 2");
    server.run("XGROUP CREATE jobs crowd 0");
    let script = "for n=1,20000 do
        redis.call('XGROUP', 'CREATECONSUMER', 'jobs', 'crowd', string.format('w%05d', n))
    end";
    server.command(&[b"EVAL", script.as_bytes(), b"0"]);
    server.run("XREADGROUP GROUP crowd w10000 COUNT 1 STREAMS jobs >");
    let before = consumer_lists(&server);
    let socket = server.socket();
    let mut terminal = start(&["-s", socket.to_str().unwrap(), "--interval", "100ms"], (120, 40), &[]);
    wait_picked(&terminal, &["jobs", "crowd", "1"]);
    terminal.send("\r");
    terminal.wait_text("20000, 1 holding", LIMIT);
    // the holder stands in front and is unfolded
    terminal.wait_text("▾ w10000", LIMIT);
    terminal.send("G");
    terminal.wait_text("▌   w20000", LIMIT);
    terminal.send("k");
    terminal.wait_text("▌   w19999", LIMIT);
    terminal.send("g");
    terminal.wait_text("▌ ▾ w10000", LIMIT);
    terminal.wait_text("list 7.", LIMIT);
    let lists = consumer_lists(&server) - before;
    assert!((1..=2).contains(&lists), "{lists} lists of 20,000 consumers in about 7 s");
}

/// How often XINFO CONSUMERS was asked for.
fn consumer_lists(server: &TestServer) -> u64 {
    let stats = crate::session::text(server, "INFO commandstats");
    let line = stats.lines().find(|line| line.starts_with("cmdstat_xinfo|consumers:"));
    line.and_then(|line| line.split("calls=").nth(1)?.split(',').next()?.parse().ok()).unwrap_or(0)
}
