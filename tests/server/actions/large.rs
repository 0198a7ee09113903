//! A pending list of 200,000 entries: claimed in batches, stopped half-way and reported exactly, given back in bounded time.

use std::cell::Cell;

use pelwatch::{
    core::{
        action::{Ask, Plan, claim::ClaimAsk, give_back},
        outcome::Outcome,
    },
    source::Stop,
};

use super::desk::{Desk, claim_for};
use pelwatch::testing::{FoundServer, TestServer, found_servers};

const MANY: i64 = 200_000;

fn held_by(server: &TestServer, name: &str) -> i64 {
    let (_, _, _, holders): (i64, String, String, Vec<(String, String)>) =
        redis::from_redis_value(server.run("XPENDING k g")).unwrap();
    holders.iter().find(|(holder, _)| holder == name).map_or(0, |(_, count)| count.parse().unwrap())
}

fn seed(server: &TestServer, many: i64) {
    let fill = format!(
        "for i = 1, {many} do redis.call('XADD', KEYS[1], i .. '-0', 'f', 'v') end
        redis.call('XGROUP', 'CREATE', KEYS[1], 'g', '0')"
    );
    server.command(&[b"EVAL", fill.as_bytes(), b"1", b"k"]);
    // a script keeps the long reply inside the server; in 5.0 scripts may not read
    let read = format!("redis.call('XREADGROUP', 'GROUP', 'g', 'a', 'COUNT', {many}, 'STREAMS', KEYS[1], '>')");
    if server.try_command(&[b"EVAL", read.as_bytes(), b"1", b"k"]).is_err() {
        server.run(&format!("XREADGROUP GROUP g a COUNT {many} STREAMS k >"));
    }
    server.run("XREADGROUP GROUP g b STREAMS k 0");
    let _ = server.try_command(&[b"XGROUP", b"CREATECONSUMER", b"k", b"g", b"b"]);
}

/// The newest server with all entries, and the oldest, which can claim only with XCLAIM, with fewer.
fn two_servers() -> Vec<(FoundServer, i64)> {
    let mut found = found_servers();
    found.sort_by_key(FoundServer::compat);
    let newest = found.pop().map(|found| (found, MANY));
    found.into_iter().take(1).map(|found| (found, MANY / 10)).chain(newest).collect()
}

#[test]
fn a_large_claim_that_is_stopped_tells_exactly_what_was_done() {
    for (found, many) in two_servers() {
        println!("on {found}");
        let server = TestServer::start(&found);
        seed(&server, many);
        let mut desk = Desk::on(&server);
        let plan = desk.claim(claim_for("b", 0));
        assert!(plan.would_move.exact);
        assert_eq!(plan.would_move.value, many);
        let whole = Plan::Claim(plan.clone());

        let (stop, last) = (Stop::default(), Cell::new(0));
        let outcome = desk.run_with(&whole, &stop, |progress| {
            assert!(progress.claimed > last.get(), "progress goes on");
            last.set(progress.claimed);
            if progress.claimed >= many / 2 {
                stop.ask();
            }
        });
        let Outcome::Done(done) = outcome else { panic!("{}", outcome.text()) };
        assert!(done.stopped && !done.scan_complete);
        assert_eq!((done.claimed, done.moved.len() as i64, done.undo.len() as i64), (many / 2, many / 2, many / 2));
        assert_eq!((held_by(&server, "b"), held_by(&server, "a")), (done.claimed, many - done.claimed));
        assert!(outcome_text(&done).contains(&format!("stopped at {}-0", many / 2 + 1)), "{}", outcome_text(&done));

        // the plan of the way back sees what is still held, and must not take forever
        let mut moved = done.moved;
        moved.truncate(5000);
        let ask = plan.ask.give_back(moved, 0);
        let back = desk.plan(Ask::GiveBack(ask));
        assert_eq!(back.detail().commands().len(), 5000);
        assert_eq!(desk.done(&back).claimed, 5000);
        assert_eq!(held_by(&server, "b"), many / 2 - 5000);
    }
}

fn outcome_text(done: &pelwatch::core::outcome::Done) -> String {
    Outcome::Done(done.clone()).text()
}

#[test]
fn the_plan_of_a_large_way_back_looks_at_each_entry_once() {
    use pelwatch::core::{
        id::EntryId,
        model::{PendingRow, ServerFacts},
    };
    let row = |ms, owner: &str| PendingRow {
        id: EntryId::new(ms, 0),
        owner: Some(owner.into()),
        idle_ms: Some(5),
        deliveries: 1,
    };
    let moved = (0..MANY as u64).map(|ms| row(ms, "a")).collect();
    let now: Vec<PendingRow> = (0..MANY as u64).rev().map(|ms| row(ms, "b")).collect();
    let ask = claim_for("b", 0).give_back(moved, 0);
    let plan = give_back::plan(ask, &ServerFacts::default(), &[], &now, 0);
    assert_eq!(plan.rows.len() as i64, MANY);
}

#[test]
fn asked_to_stop_before_anything_was_sent_nothing_is() {
    for (found, _) in two_servers() {
        let server = TestServer::start(&found);
        seed(&server, 250);
        let mut desk = Desk::on(&server);
        let stop = Stop::default();
        stop.ask();
        for from in [None, Some("a".into())] {
            let plan = Plan::Claim(desk.claim(ClaimAsk { from, ..claim_for("b", 0) }));
            let outcome = desk.run_with(&plan, &stop, |_| panic!("nothing is under way"));
            let Outcome::Done(done) = outcome else { panic!("{}", outcome.text()) };
            assert!(done.stopped && done.claimed == 0 && held_by(&server, "b") == 0);
        }
    }
}
