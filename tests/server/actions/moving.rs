//! A cursor that moves while a move of it is prepared. It is never overwritten unless the user accepted that, and then only within the
//! bound that was shown.

use std::{
    sync::atomic::{AtomicBool, Ordering},
    thread,
};

use pelwatch::{
    core::{
        action::{
            Plan,
            seek::{Direction, Guard, Place},
        },
        id::EntryId,
        outcome::{Outcome, Refusal},
    },
    source::target::Parts,
};

use super::desk::{Desk, cursor, id, row_id, state};
use pelwatch::testing::{TestServer, each_server};

fn seed(server: &TestServer, entries: u64) {
    let fill = format!("for i = 1, {entries} do redis.call('XADD', KEYS[1], i .. '-0', 'f', 'v') end");
    server.command(&[b"EVAL", fill.as_bytes(), b"1", b"k"]);
    server.run("XGROUP CREATE k g 0");
}

/// Reads one entry after another, sometimes fast and sometimes slowly, until it is stopped. Returns the ids in the order in which it
/// received them. Every overwritten cursor shows as a step back in this order.
fn read_in_a_loop(server: &TestServer, stop: &AtomicBool) -> Vec<EntryId> {
    let mut connection = server.connect().unwrap();
    let mut got = Vec::new();
    let mut pause: u32 = 1;
    while !stop.load(Ordering::Relaxed) {
        let mut read = redis::cmd("XREADGROUP");
        read.arg(&["GROUP", "g", "reader", "COUNT", "1", "NOACK", "STREAMS", "k", ">"]);
        let reply: redis::Value = read.query(&mut connection).unwrap();
        if reply == redis::Value::Nil {
            let _: String = redis::cmd("XADD").arg(&["k", "*", "f", "v"]).query(&mut connection).unwrap();
            continue;
        }
        let [(_, rows)]: [(String, Vec<redis::Value>); 1] = redis::from_redis_value(reply).unwrap();
        got.extend(rows.into_iter().map(row_id));
        pause = pause.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        for _ in 0..(pause >> 23) {
            let _: String = redis::cmd("PING").query(&mut connection).unwrap();
        }
    }
    got
}

#[test]
fn a_reader_in_full_swing_is_never_overwritten_unawares() {
    each_server(|server, _| {
        seed(server, 20_000);
        server.run("XGROUP SETID k g 5000-0");
        let stop = AtomicBool::new(false);
        let (moves, got) = thread::scope(|scope| {
            let reader = scope.spawn(|| read_in_a_loop(server, &stop));
            let mut desk = Desk::on(server);
            let mut moves = Vec::new();
            let mut refusals = 0;
            for round in 0.. {
                if (refusals > 5 && moves.len() > 8) || round > 3000 {
                    break;
                }
                let mut plan = desk.seek(Place::Back(3));
                let accepting = round % 5 == 4;
                plan.accept_moving(accepting);
                match desk.run(&Plan::Seek(plan.clone())) {
                    Outcome::Done(done) => {
                        let before = done.cursor_before.unwrap();
                        assert!(before == plan.cursor || accepting);
                        assert!(before >= plan.target && before <= plan.moving_bound());
                        moves.push((before, plan.target));
                    }
                    Outcome::Refused(Refusal::CursorMoved { from, to }) if !accepting => {
                        assert!(from == plan.cursor && to > from);
                        refusals += 1;
                    }
                    other => panic!("{}: {}", other.word(), other.text()),
                }
            }
            stop.store(true, Ordering::Relaxed);
            assert!(refusals > 0 && !moves.is_empty(), "{refusals} refusals, {} moves", moves.len());
            (moves, reader.join().unwrap())
        });
        // the reader saw a step back for each move, from the cursor at that moment, and no others
        let mut moves = moves.into_iter();
        let mut at = id("5000-0");
        for read in got {
            while read <= at {
                let (from, to) = moves.next().expect("a step back is one of the moves");
                assert_eq!(from, at, "before {read}");
                at = to;
            }
            at = read;
        }
    });
}

#[test]
fn an_accepted_move_reaches_to_its_bound_and_no_further() {
    each_server(|server, _| {
        seed(server, 20);
        let mut desk = Desk::on(server);
        let set = |at: &str| server.run(&format!("XGROUP SETID k g {at}"));
        // back to 5-0, seen at 10-0: anything from 5-0 up to the bound beyond the end is accepted
        for (at, taken) in [
            ("4-0", false),
            ("5-0", true),
            ("9-0", true),
            ("10-0", true),
            ("20-0", true),
            ("60020-0", true),
            ("60021-0", false),
        ] {
            set("10-0");
            let mut plan = desk.seek(Place::Id(id("5-0")));
            assert_eq!((plan.direction, plan.moving_bound()), (Direction::Back, id("60020-0")));
            plan.accept_moving(true);
            assert!(plan.objections.warnings.iter().any(|warning| warning.id == "cursor-moving"));
            set(at);
            let outcome = desk.run(&Plan::Seek(plan));
            assert_eq!(matches!(outcome, Outcome::Done(_)), taken, "{at}: {}", outcome.text());
            assert_eq!(cursor(server), id(if taken { "5-0" } else { at }));
        }
        // on to 15-0, seen at 10-0: from beyond 15-0 it would be a step back
        for (at, taken) in
            [("9-0", false), ("10-0", true), ("14-0", true), ("15-0", true), ("15-1", false), ("16-0", false)]
        {
            set("10-0");
            let mut plan = desk.seek(Place::Id(id("15-0")));
            plan.accept_moving(true);
            set(at);
            let outcome = desk.run(&Plan::Seek(plan));
            assert_eq!(matches!(outcome, Outcome::Done(_)), taken, "{at}: {}", outcome.text());
            assert_eq!(cursor(server), id(if taken { "15-0" } else { at }));
        }
    });
}

#[test]
fn ids_of_any_size_are_compared_digit_by_digit() {
    each_server(|server, _| {
        server.run("XADD k 1-0 f v");
        server.run("XADD k 18446744073709551615-18446744073709551614 f v");
        server.run("XGROUP CREATE k g 0");
        let mut desk = Desk::on(server);
        let set = |at: &str| server.run(&format!("XGROUP SETID k g {at}"));
        // as doubles these ids would be equal
        let (low, seen, high) =
            ("9007199254740993-7", "9007199254740994-9007199254740993", "18446744073709551615-18446744073709551614");
        for (at, taken) in [
            ("9007199254740993-6", false),
            ("9007199254740992-8", false),
            ("999-9", false),
            (low, true),
            ("9007199254740994-9007199254740992", true),
            (high, true),
        ] {
            set(seen);
            let mut plan = desk.seek(Place::Id(id(low)));
            plan.accept_moving(true);
            set(at);
            let outcome = desk.run(&Plan::Seek(plan));
            assert_eq!(matches!(outcome, Outcome::Done(_)), taken, "{at}: {}", outcome.text());
        }
        for other in ["9007199254740994-9007199254740992", "9007199254740995-9007199254740993"] {
            set(seen);
            let plan = desk.seek(Place::Id(id(low)));
            set(other);
            assert!(desk.refused(&Plan::Seek(plan)).contains("the cursor moved"));
            assert_eq!(cursor(server), id(other));
        }
    });
}

#[test]
fn a_cursor_that_is_there_already_is_not_set_again() {
    each_server(|server, _| {
        seed(server, 5);
        server.run("XREADGROUP GROUP g a COUNT 5 STREAMS k >");
        let mut desk = Desk::on(server);
        let before = state(server);
        let plan = Plan::Seek(desk.seek(Place::End));
        assert!(desk.run(&plan).text().contains("nothing was sent"));
        assert_eq!(state(server), before);
        server.run("XGROUP SETID k g 2-0");
        assert!(desk.refused(&plan).contains("the cursor moved from 5-0 to 2-0"));
    });
}

#[test]
fn without_eval_the_cursor_is_read_once_more() {
    each_server(|server, found| {
        if found.compat() < (6, 0, 0) {
            return;
        }
        seed(server, 20);
        server.run("XGROUP SETID k g 10-0");
        server.run("ACL SETUSER eye reset on >p ~* +@all -eval");
        let user = Parts {
            socket: Some(server.socket()),
            user: Some("eye".into()),
            password: Some("p".into()),
            ..Parts::default()
        };
        let mut desk = Desk::with(user);
        let plan = desk.seek(Place::Id(id("5-0")));
        assert_eq!((plan.guard, plan.objections.refused.as_deref()), (Guard::Reread, None));
        assert!(plan.objections.warnings.iter().any(|warning| warning.id == "weak-guard"));
        server.run("XGROUP SETID k g 11-0");
        assert!(desk.refused(&Plan::Seek(plan.clone())).contains("the cursor moved from 10-0 to 11-0"));
        assert_eq!(cursor(server), id("11-0"));
        let mut accepting = plan.clone();
        accepting.accept_moving(true);
        assert_eq!(desk.done(&Plan::Seek(accepting)).cursor_before, Some(id("11-0")));
        assert_eq!(cursor(server), id("5-0"));
    });
}
