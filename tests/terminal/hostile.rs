//! Names and payloads with control characters and hidden letters. Whatever the server holds, the terminal gets only what pelwatch means.

use std::time::Duration;

use vt100::Screen;

use crate::session::{LIMIT, frame_is_closed, newest, start, wait_consumers, watch, watch_sized};
use pelwatch::testing::{
    TestServer, each_server,
    pty::{Terminal, keys, text_of},
};

/// Data that a terminal would obey, or that hides or reverses text.
const HOSTILE: [&[u8]; 10] = [
    b"title\x1b]0;OWNED\x07",
    b"wipe\x1b[2J\x1b[HOWNED",
    b"clip\x1b]52;c;T1dORUQ=\x07",
    b"c1\xc2\x9b2J\xc2\x9d0;OWNED\xc2\x9c",
    b"back\x08\x08\x08\rOWNED\n\tdown\x0b\x0c\x00",
    "bidi\u{202e}DENWO\u{2066}\u{200f}\u{200b}\u{feff}".as_bytes(),
    b"bytes\xff\xfe\xc3\x28\xed\xa0\x80",
    "日本語の名前がとても長い列名前前前前前前前前".as_bytes(),
    "e\u{301}\u{308}👩\u{200d}👩\u{200d}👧🇩🇪가".as_bytes(),
    b"",
];

fn fill(server: &TestServer) {
    let mut names: Vec<Vec<u8>> = HOSTILE.iter().map(|name| name.to_vec()).collect();
    names.push(b"long\x1b[31m".repeat(900));
    for (index, name) in names.iter().enumerate() {
        let key = [b"s:".as_slice(), name].concat();
        for _ in 0..3 {
            server.command(&[b"XADD", &key, b"*", name, name, b"field\x1b]0;OWNED\x07", name]);
        }
        server.command(&[b"XGROUP", b"CREATE", &key, name, b"0"]);
        // some servers refuse a consumer with an empty name
        let consumer = if name.is_empty() { b"c".as_slice() } else { name };
        server.command(&[b"XREADGROUP", b"GROUP", name, consumer, b"COUNT", b"2", b"STREAMS", &key, b">"]);
        if index == 0 {
            server.command(&[b"XGROUP", b"CREATE", &key, b"second\x1b[5m", b"0"]);
        }
    }
}

/// Checks that the output has only printable characters and the control sequences of drawing.
#[track_caller]
fn assert_harmless(terminal: &Terminal) {
    let mut raw = terminal.raw();
    // the program still writes: drop the sequence that may be incomplete
    raw.truncate(raw.iter().rposition(|b| *b == b'\x1b').unwrap_or(0));
    let text = String::from_utf8(raw).expect("only valid UTF-8 is written");
    let chars: Vec<char> = text.chars().collect();
    let mut at = 0;
    while let Some(&c) = chars.get(at) {
        let around = || chars[at.saturating_sub(40)..chars.len().min(at + 40)].iter().collect::<String>();
        let hides =
            matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}');
        assert!(!hides && (!c.is_control() || "\x1b\r\n".contains(c)), "{c:?} in {:?}", around());
        let mut length = 1;
        if c == '\x1b' {
            // ESC ], the title, and BEL: what is in it is text, as everywhere; or the question for the background
            if chars.get(at + 1) == Some(&']') {
                let rest: String = chars[at + 2..].iter().collect();
                let asked = rest.starts_with("11;?\x1b\\");
                let end = rest.find(['\x07', '\x1b']).expect("it ends");
                let title = rest.starts_with("0;")
                    && rest[end..].starts_with('\x07')
                    && !rest[..end].contains(char::is_control);
                assert!(asked || title, "{rest:.40}");
                at += 3 + rest[..end].chars().count() + usize::from(asked);
                continue;
            }
            // ESC [, the parameters, and the final letter
            let rest = chars.get(at + 2..).unwrap_or_default();
            length = 3 + rest.iter().take_while(|c| !('@'..='~').contains(*c)).count();
            let sequence: String = chars[at + 1..chars.len().min(at + length)].iter().collect();
            let drawing = sequence.strip_prefix('[').is_some_and(is_of_drawing);
            assert!(drawing, "{sequence:?} is no sequence of drawing, in {:?}", around());
        }
        at += length;
    }
}

fn is_of_drawing(sequence: &str) -> bool {
    // the title is kept and given back; "c" asks who the terminal is
    let modes = ["22;0t", "23;0t", "c", "?1049h", "?1049l", "?25l", "?25h", "?2004h", "?2004l", "?2026h", "?2026l"];
    let (numbers, last) = sequence.split_at(sequence.len().saturating_sub(1));
    modes.contains(&sequence)
        || (["H", "m", "J", "K"].contains(&last)
            && numbers.bytes().all(|b| b.is_ascii_digit() || b == b';' || b == b':'))
}

#[track_caller]
fn wait_framed(terminal: &Terminal, what: &str, cond: impl Fn(&str) -> bool) {
    terminal.wait_for(what, LIMIT, |screen: &Screen| cond(&text_of(screen)) && frame_is_closed(screen));
}

/// Opens every group and something in it, and checks each frame on the way.
fn visit_all(server: &TestServer, size: (u16, u16)) {
    let mut terminal = watch_sized(server, &[], size);
    wait_framed(&terminal, "the overview", |text| text.contains("(empty)"));
    for _ in 0..HOSTILE.len() + 2 {
        terminal.send("\r");
        wait_framed(&terminal, "a group", |text| text.contains('┃') && text.contains("3 retained"));
        terminal.send("\t\t\r");
        terminal.send(keys::ESC);
        terminal.wait_still(Duration::from_millis(60), LIMIT);
        terminal.send(keys::ESC);
        wait_framed(&terminal, "the overview again", |text| text.contains("Streams and groups"));
        terminal.send("j");
    }
    assert_harmless(&terminal);
}

#[test]
fn hostile_names_reach_the_terminal_only_as_text_and_keep_the_columns() {
    each_server(|server, _| {
        fill(server);
        visit_all(server, (120, 40));
    });
}

#[test]
fn hostile_names_keep_the_columns_of_small_terminals() {
    let server = TestServer::start(&newest());
    fill(&server);
    visit_all(&server, (80, 24));
    visit_all(&server, (40, 12));
}

#[test]
fn a_hostile_payload_is_shown_written_out() {
    let server = TestServer::start(&newest());
    let mut args: Vec<&[u8]> = vec![b"XADD", b"s", b"1-0"];
    for bytes in HOSTILE {
        args.extend([bytes, bytes]);
    }
    server.command(&args);
    server.run("XGROUP CREATE s hearers 0");
    server.run("XREADGROUP GROUP hearers c COUNT 1 STREAMS s >");
    let mut terminal = watch(&server, &[]);
    wait_consumers(&terminal, "hearers", "/1");
    terminal.send("\r");
    wait_framed(&terminal, "the entry in the tree", |text| text.contains("present"));
    terminal.send("j\r");
    wait_framed(&terminal, "the payload", |text| text.contains("title\\x1b]0;OWNED\\x07") && text.contains("日本語の"));
    assert_harmless(&terminal);
}

#[test]
fn hostile_words_of_the_user_stay_text_too() {
    let server = TestServer::start(&newest());
    server.run("XADD s * n 1");
    let socket = server.socket();
    let args = ["-s", socket.to_str().unwrap(), "--stream", "nosuch\x1b]0;OWNED\x07", "--stream", "hex:ff1b5b324a"];
    let mut terminal = start(&args, (120, 40), &[]);
    wait_framed(&terminal, "the rows of both", |text| {
        text.lines().filter(|line| line.contains(" ! ") && line.contains("no such key")).count() == 2
    });
    terminal.send("/");
    terminal.send("\x1b[200~no\x07\u{9b}such\u{202e}\x1b[201~");
    wait_framed(&terminal, "the filter", |text| text.contains("matching nosuch"));
    assert_harmless(&terminal);
}
