//! A connection that breaks around a write: the outcome is unknown, is read back, and the write is never sent again.

use pelwatch::core::{
    action::{Plan, claim::Way, marked::What, seek::Place},
    outcome::Outcome,
};

use super::{
    desk::{Desk, claim_for, id, state},
    proxy::{Cut, Proxy},
};
use pelwatch::testing::{FoundServer, TestServer, each_server, newest_from};

/// 1-0 to 4-0 are held by a, 5-0 is unread, z holds nothing.
fn seed(server: &TestServer) {
    server.run("FLUSHALL");
    for ms in 1..=5 {
        server.run(&format!("XADD k {ms}-0 f v"));
    }
    server.run("XGROUP CREATE k g 0");
    server.run("XREADGROUP GROUP g a COUNT 4 STREAMS k >");
    server.run("XREADGROUP GROUP g z COUNT 4 STREAMS k 0");
    server.run("XREADGROUP GROUP g b COUNT 4 STREAMS k 0");
    if server.try_command(&[b"XGROUP", b"CREATECONSUMER", b"k", b"g", b"z"]).is_ok() {
        server.run("XGROUP CREATECONSUMER k g b");
    }
}

/// A write, its name on the wire and in the statistics, and the server's state after the write and without it.
struct Case {
    name: &'static str,
    word: &'static str,
    calls: &'static str,
    plan: fn(&mut Desk) -> Plan,
    done: &'static str,
    not: &'static str,
}

const CASES: [Case; 7] = [
    Case {
        name: "XAUTOCLAIM",
        word: "XAUTOCLAIM",
        calls: "xautoclaim",
        plan: |desk| Plan::Claim(desk.claim(claim_for("b", 0))),
        done: "of 4 entries, b holds 4 now",
        not: "of 4 entries, b holds 0 now",
    },
    Case {
        name: "XCLAIM of one consumer's",
        word: "XCLAIM",
        calls: "xclaim",
        plan: |desk| {
            let mut ask = claim_for("b", 0);
            ask.from = Some("a".into());
            Plan::Claim(desk.claim(ask))
        },
        done: "of 4 entries, b holds 4 now",
        not: "of 4 entries, b holds 0 now",
    },
    Case {
        name: "a move of the cursor",
        word: "MISMATCH",
        calls: "xgroup|setid",
        plan: |desk| Plan::Seek(desk.seek(Place::Back(2))),
        done: "the cursor is at 2-0",
        not: "the cursor is at 4-0",
    },
    Case {
        name: "XACK",
        word: "XACK",
        calls: "xack",
        plan: |desk| Plan::Marked(desk.entries(vec![id("1-0"), id("3-0")], What::Acknowledge)),
        done: "of 2 entries, 0 are pending still",
        not: "of 2 entries, 2 are pending still",
    },
    Case {
        name: "XCLAIM of marked entries",
        word: "XCLAIM",
        calls: "xclaim",
        plan: |desk| Plan::Marked(desk.entries(vec![id("1-0"), id("3-0")], What::MoveTo("b".into()))),
        done: "of 2 entries, b holds 2 now",
        not: "of 2 entries, b holds 0 now",
    },
    Case {
        name: "XGROUP DELCONSUMER",
        word: "DELCONSUMER",
        calls: "xgroup|delconsumer",
        plan: |desk| desk.delete("z"),
        done: "z is not there any more",
        not: "z is there",
    },
    Case {
        name: "giving back",
        word: "RETRYCOUNT",
        calls: "xclaim",
        plan: |desk| {
            let mut ask = claim_for("b", 0);
            (ask.from, ask.limit) = (Some("a".into()), Some(1));
            let claim = desk.claim(ask);
            let done = desk.done(&Plan::Claim(claim.clone()));
            desk.way_back(&claim, &done)
        },
        done: "of 1 entry, b holds 0 now",
        not: "of 1 entry, b holds 1 now",
    },
];

/// How often the server ran a command. Before 7.0 it does not count the subcommands of XGROUP separately.
fn calls(server: &TestServer, found: &FoundServer, command: &str) -> u64 {
    let name = if found.compat() < (7, 0, 0) { command.split('|').next().unwrap() } else { command };
    let stats: String = redis::from_redis_value(server.run("INFO commandstats")).unwrap();
    let prefix = format!("cmdstat_{name}:calls=");
    let line = stats.lines().find_map(|line| line.strip_prefix(&prefix));
    line.map_or(0, |rest| rest.split(',').next().unwrap().parse().unwrap())
}

fn judge(server: &TestServer, found: &FoundServer, case: &Case, cut: Cut) {
    println!("{} cut {cut:?}", case.name);
    seed(server);
    let proxy = Proxy::to(&server.socket(), case.word, 1, cut);
    let mut desk = Desk::at(&proxy.socket());
    let plan = (case.plan)(&mut desk);
    assert_eq!(plan.refused(), None);
    let (before, state_before) = (calls(server, found, case.calls), state(server));
    let outcome = desk.run(&plan);
    let Outcome::Unknown(..) = outcome else { panic!("{}: {}", outcome.word(), outcome.text()) };
    let text = outcome.text();
    assert_eq!(proxy.seen(), 1, "it was sent once: {text}");
    let carried_out = calls(server, found, case.calls) - before;
    if cut == Cut::Before {
        assert_eq!(carried_out, 0);
        assert_eq!(state(server), state_before);
        assert!(text.contains(case.not), "{text}");
    } else {
        assert_eq!(carried_out, 1);
        assert!(text.contains(case.done), "{text}");
    }
    assert!(text.starts_with("outcome unknown: ") && text.contains("asked again: "), "{text}");
}

#[test]
fn what_was_cut_off_is_unknown_read_back_and_never_sent_again() {
    each_server(|server, found| {
        for case in &CASES {
            if case.word == "XAUTOCLAIM" && found.compat() < (6, 2, 0) {
                continue;
            }
            for cut in [Cut::Before, Cut::After] {
                judge(server, found, case, cut);
            }
        }
    });
}

#[test]
fn a_server_that_falls_silent_leaves_the_outcome_unknown() {
    // XAUTOCLAIM
    let Some(found) = newest_from((6, 2, 0)) else { return };
    judge(&TestServer::start(&found), &found, &CASES[0], Cut::Silence);
}

#[test]
fn batches_before_the_cut_are_told_as_confirmed() {
    each_server(|server, found| {
        server.run("XGROUP CREATE k g 0 MKSTREAM");
        for ms in 1..=250 {
            server.run(&format!("XADD k {ms}-0 f v"));
        }
        server.run("XREADGROUP GROUP g a COUNT 250 STREAMS k >");
        server.run("XREADGROUP GROUP g b STREAMS k 0");
        let _ = server.try_command(&[b"XGROUP", b"CREATECONSUMER", b"k", b"g", b"b"]);
        let word = if found.compat() < (6, 2, 0) { "XCLAIM" } else { "XAUTOCLAIM" };
        let proxy = Proxy::to(&server.socket(), word, 2, Cut::After);
        let mut desk = Desk::at(&proxy.socket());
        let plan = desk.claim(claim_for("b", 0));
        assert_eq!(plan.way, if word == "XCLAIM" { Way::Claim } else { Way::AutoClaim });
        let Outcome::Unknown(why, done) = desk.run(&Plan::Claim(plan)) else { panic!("known") };
        assert_eq!((done.claimed, done.moved.len(), proxy.seen()), (100, 100, 2));
        assert!(why.contains("of 250 entries, b holds 200 now"), "{why}");
    });
}
