//! The first check of a finding is a command to paste. On every server found, real states make the symptoms fire. Each of their commands
//! runs through a shell and redis-cli, letter by letter as shown.

use crate::paced::Paced;
use pelwatch::{
    core::{
        name::Name,
        store::Settings,
        symptoms::{self, Finding},
    },
    testing::{FoundServer, TestServer, each_server},
};
use redis::Value;
use std::{collections::BTreeSet, env, process::Command};

/// Names that a shell would split. Each state's own name stands between these two.
const ODD: (&[u8], &[u8]) = (b"it's \"$HOME\" `", b" \x1b[31m\xff\n*;&\\");
/// The group of every state, just as hard to paste.
const GROUP: &[u8] = b"g's $1\t";

/// The key of a state.
fn key(name: &str) -> Vec<u8> {
    [ODD.0, name.as_bytes(), ODD.1].concat()
}

/// One state: a stream with a group, and commands on them. K and G stand for the two names.
struct State<'a> {
    server: &'a TestServer,
    key: Vec<u8>,
}

impl<'a> State<'a> {
    fn new(server: &'a TestServer, name: &str, entries: u64) -> Self {
        let state = Self { server, key: key(name) };
        state.run("XGROUP CREATE K G 0 MKSTREAM");
        state.add(1, entries);
        state
    }

    fn add(&self, from: u64, to: u64) {
        (from..=to).for_each(|n| drop(self.run(&format!("XADD K {n}-1 f v"))));
    }

    fn words<'w>(&'w self, line: &'w str) -> Vec<&'w [u8]> {
        let words = line.split_whitespace().map(|word| match word {
            "K" => &self.key[..],
            "G" => GROUP,
            other => other.as_bytes(),
        });
        words.collect()
    }

    fn run(&self, line: &str) -> Value {
        self.server.command(&self.words(line))
    }

    fn read(&self, consumer: &str, count: u64) {
        self.run(&format!("XREADGROUP GROUP G {consumer} COUNT {count} STREAMS K >"));
    }

    fn ack(&self, from: u64, to: u64) {
        (from..=to).for_each(|n| drop(self.run(&format!("XACK K G {n}-1"))));
    }
}

/// States that one sample decides.
fn still_states<'a>(server: &'a TestServer, found: &FoundServer) -> Vec<State<'a>> {
    let new = |name, entries| State::new(server, name, entries);
    let poison = new("poison", 10);
    poison.read("c", 4);
    poison.run("XCLAIM K G c 0 2-1 RETRYCOUNT 836 JUSTID");
    let stale = new("stale-tail", 40);
    stale.read("c", 40);
    (1..=20).for_each(|n| drop(stale.run(&format!("XCLAIM K G c 0 {n}-1 RETRYCOUNT 3 JUSTID"))));
    (21..=40).for_each(|n| drop(stale.run(&format!("XCLAIM K G c 0 {n}-1 IDLE 1209600000 JUSTID"))));
    let hot = new("hot-consumer", 200);
    hot.read("c1", 1);
    hot.read("c2", 1);
    hot.read("c3", 198);
    let unread = new("trimmed-unread", 100);
    unread.read("c", 10);
    unread.run("XTRIM K MAXLEN 20");
    let gone = new("payload-gone", 10);
    gone.read("c", 10);
    gone.run("XDEL K 3-1 4-1");
    let beyond = new("cursor-beyond-end", 10);
    beyond.run("XGROUP SETID K G 99-0");
    let ahead = new("entries-read-ahead", 10);
    ahead.read("c", 8);
    if found.compat() >= (7, 0, 0) {
        ahead.run("XGROUP SETID K G 3-1 ENTRIESREAD 9");
        ahead.read("c", 5);
    }
    let held = new("tail-held", 200);
    held.run("XGROUP CREATE K done 200-1");
    let unowned = new("unowned", 10);
    unowned.read("c", 5);
    if found.compat() >= (8, 8, 0) {
        unowned.run("XNACK K G SILENT IDS 2 2-1 3-1");
    }
    let noack = new("noack", 10);
    noack.run("XREADGROUP GROUP G c COUNT 5 NOACK STREAMS K >");
    let many = new("consumer-churn", 1);
    if found.compat() >= (6, 2, 0) {
        (0..25).for_each(|n| drop(many.run(&format!("XGROUP CREATECONSUMER K G pod-{n}"))));
    }
    let groups = new("group-churn", 10);
    (0..15).for_each(|n| drop(groups.run(&format!("XGROUP CREATE K pod-{n} 0"))));
    let kept = new("retention", 1000);
    kept.read("c", 1000);
    kept.ack(1, 1000);
    let full = new("ids-exhausted", 1);
    full.run("XADD K 18446744073709551615-18446744073709551615 f v");
    // the reader came before what waits; ids are times here
    let left = new("no-reader", 0);
    left.run("XADD K * f v");
    left.read("c", 1);
    left.run("XADD K * f v");
    let expiring = new("expires", 5);
    expiring.run("PEXPIRE K 500000");
    let fed = State { server, key: [b"prefix:", &key("split-key")[..]].concat() };
    fed.run("XADD K 1-1 f v");
    vec![
        poison,
        stale,
        hot,
        unread,
        gone,
        beyond,
        ahead,
        held,
        unowned,
        noack,
        many,
        groups,
        kept,
        full,
        left,
        expiring,
        fed,
        new("split-key", 0),
        new("no-consumers", 5),
    ]
}

/// A state and the function that advances it, with the seconds so far.
type Moving<'a> = (State<'a>, fn(&State, u64));

/// States that need some seconds; each advances before every look.
fn moving_states<'a>(server: &'a TestServer, found: &FoundServer) -> Vec<Moving<'a>> {
    let new = |name, entries| State::new(server, name, entries);
    let held = new("redelivered", 20);
    held.read("c", 5);
    let ball = new("claim-ping-pong", 20);
    ball.read("c1", 3);
    let race = new("retention-race", 200);
    race.read("c", 50);
    race.ack(1, 49);
    race.read("c", 150);
    race.ack(51, 200);
    race.run("XCLAIM K G c 0 50-1 IDLE 20000 JUSTID");
    let behind = new("leftovers", 100);
    behind.read("c", 5);
    (1..=5).for_each(|n| drop(behind.run(&format!("XCLAIM K G c 0 {n}-1 IDLE 90000000 JUSTID"))));
    let again: Moving = (new("duplicates-refused", 5), |state, _| drop(state.run("XADD K IDMP p same * f v")));
    let with_idempotent = found.compat() >= (8, 6, 0);
    let mut all: Vec<Moving> = vec![
        (behind, |state, t| {
            state.read("c", 1);
            state.ack(6 + t, 6 + t);
        }),
        (new("never-acked", 100), |state, _| state.read("c", 5)),
        (new("falling-behind", 100), |state, t| {
            state.add(101 + 20 * t, 120 + 20 * t);
            state.read("c", 1);
            state.ack(t + 1, t + 1);
        }),
        (new("reads-history", 8), |state, _| drop(state.run("XREADGROUP GROUP G c COUNT 5 STREAMS K 0"))),
        (held, |state, _| drop(state.run("XCLAIM K G c 0 1-1 2-1"))),
        (ball, |state, t| drop(state.run(&format!("XCLAIM K G c{} 0 1-1 2-1", 1 + t % 2)))),
        (race, |state, t| {
            state.add(201 + t, 201 + t);
            state.run("XTRIM K MAXLEN 200");
            state.read("c", 9);
            state.ack(201 + t, 201 + t);
        }),
    ];
    all.extend(with_idempotent.then_some(again));
    all
}

/// The words of a command line as bash splits them: plain, `'…'` and `$'…'`.
fn shell_words(line: &str) -> Vec<Vec<u8>> {
    let (mut words, mut rest) = (vec![Vec::new()], line.bytes().peekable());
    while let Some(byte) = rest.next() {
        let word = words.last_mut().unwrap();
        match byte {
            b' ' => words.push(Vec::new()),
            b'\\' => word.push(rest.next().expect("something after the backslash")),
            b'\'' => word.extend(rest.by_ref().take_while(|b| *b != b'\'')),
            b'$' if rest.next_if_eq(&b'\'').is_some() => loop {
                match rest.next().expect("the quote ends") {
                    b'\'' => break,
                    b'\\' => match rest.next().unwrap() {
                        b'x' => {
                            let digits = [rest.next().unwrap(), rest.next().unwrap()];
                            word.push(u8::from_str_radix(std::str::from_utf8(&digits).unwrap(), 16).unwrap());
                        }
                        other => word.push(other),
                    },
                    other => word.push(other),
                }
            },
            other => {
                assert!(
                    !b"$`\"*?;&|<>()[]{}~#!\n\t".contains(&other),
                    "a shell would not leave {} alone: {line}",
                    other as char
                );
                word.push(other);
            }
        }
    }
    words
}

/// Whether the shell and redis-cli are available.
fn can_paste() -> bool {
    let found = |name: &str| {
        env::split_paths(&env::var_os("PATH").unwrap_or_default()).any(|folder| folder.join(name).is_file())
    };
    found("bash") && found("redis-cli")
}

fn paste(server: &TestServer, line: &str) -> String {
    let script = format!("redis-cli -s \"$SOCKET\" --no-raw {line}");
    let output = Command::new("bash").args(["-c", &script]).env("SOCKET", server.socket()).output().unwrap();
    assert!(output.status.success(), "{line}: {output:?}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn check(server: &TestServer, found: &FoundServer, finding: &Finding) {
    let line = finding.check.to_string();
    let words: Vec<Vec<u8>> = finding.check.words().iter().map(|word| word.bytes().to_vec()).collect();
    assert_eq!(shell_words(&line), words, "{}: the shell must hand on each word as it is: {line}", finding.id);
    let command = (words[0].as_slice(), words.get(1).map_or(&b""[..], Vec::as_slice));
    let reads = matches!(
        command,
        (b"XPENDING" | b"XRANGE" | b"XLEN" | b"PTTL" | b"INFO", _) | (b"XINFO", b"STREAM" | b"GROUPS" | b"CONSUMERS")
    );
    assert!(reads, "{}: not a command that only reads: {line}", finding.id);
    let new = |word: &Vec<u8>| word.eq_ignore_ascii_case(b"IDLE") || word.first() == Some(&b'(');
    assert!(!words[2..].iter().any(new), "{}: before 6.2 no server knows this: {line}", finding.id);
    let plain: Vec<&[u8]> = words.iter().map(Vec::as_slice).collect();
    if let Err(error) = server.try_command(&plain) {
        panic!("on {found}, {}: {line} gives {error}", finding.id);
    }
    if can_paste() {
        let answer = paste(server, &line);
        assert!(!answer.starts_with("(error)"), "on {found}, {}: {line} gives {answer}", finding.id);
    }
}

/// Ids that this server cannot show, or that need more time than any state here has.
fn impossible(found: &FoundServer) -> BTreeSet<&'static str> {
    // only after an action of the same run: tests/terminal has it
    let mut ids = BTreeSet::from(["claimed"]);
    if found.compat() < (7, 0, 0) {
        ids.extend(["trimmed", "entries-read-ahead"]);
    }
    if found.compat() < (7, 2, 0) {
        ids.extend(["consumer-churn", "noack"]);
    }
    if found.compat() < (8, 6, 0) {
        ids.insert("duplicates-refused");
    }
    if found.compat() < (8, 8, 0) {
        ids.insert("unowned");
    }
    ids
}

#[test]
fn every_first_check_works_when_it_is_pasted() {
    each_server(|server, found| {
        let settings = || Settings { gone_after_ms: 10_000, ..Settings::default() };
        let mut seen: BTreeSet<&'static str> = BTreeSet::new();
        let mut hold = |findings: Vec<Finding>| {
            for finding in findings {
                // the same command for the same kind of finding is tried once
                if seen.insert(finding.id) || finding.consumer.is_some() {
                    check(server, found, &finding);
                }
                assert!(finding.text.len() > 30 && !finding.evidence.is_empty(), "{finding:?}");
            }
        };
        // before there is any stream: another database holds a key, and memory is too small for anything
        for line in ["SELECT 5", "SET other 1", "SELECT 0", "CONFIG SET maxmemory 1"] {
            server.run(line);
        }
        let mut empty = Paced::on(server, settings());
        empty.look();
        hold(empty.findings());
        server.run("CONFIG SET maxmemory 0");
        let moving = moving_states(server, found);
        let _still = still_states(server, found);
        let mut watcher = Paced::on(server, settings());
        for t in 0..12 {
            for (state, drive) in &moving {
                drive(state, t);
            }
            watcher.look();
            hold(watcher.findings());
        }
        // nobody is seen for a while, so the holders are gone; and for a day, so only their names remain
        for passed_ms in [10_000, 86_500_000] {
            let mut later = Paced::on(server, settings());
            later.look_and_wait(passed_ms);
            hold(later.findings());
        }
        let missing: Vec<&str> =
            symptoms::ids().filter(|id| !seen.contains(id) && !impossible(found).contains(id)).collect();
        assert!(missing.is_empty(), "on {found} nothing made {missing:?} fire");
    });
}

#[test]
fn the_words_of_a_shell() {
    let words = |line: &str| shell_words(line).into_iter().map(Name::new).collect::<Vec<_>>();
    assert_eq!(words(r"a 'b c' $'d\'\x01'"), [Name::from("a"), Name::from("b c"), Name::new(*b"d'\x01")]);
    assert_eq!(words(r"'it'\''s'"), [Name::from("it's")]);
    assert!(std::panic::catch_unwind(|| words("a $HOME")).is_err());
}
