//! What the server forbids is refused in its words, before or instead of a write, and never half done.

use std::{net::TcpListener, time::Duration};

use pelwatch::{
    core::{
        action::{
            Ask, Plan,
            claim::{ClaimAsk, Way},
            delete_consumer::DeleteConsumerAsk,
            delete_group::DeleteGroupAsk,
            marked::{MarkedAsk, What},
            seek::{Place, SeekAsk},
        },
        outcome::Outcome,
    },
    source::target::Parts,
};
use redis::Value;

use super::desk::{Desk, claim_for, id, state};
use pelwatch::testing::{TestServer, each_server, wait_until};

fn seed(server: &TestServer) {
    for ms in 1..=6 {
        server.run(&format!("XADD k {ms}-0 f v"));
    }
    server.run("XGROUP CREATE k g 0");
    server.run("XREADGROUP GROUP g a COUNT 4 STREAMS k >");
    server.run("XREADGROUP GROUP g b COUNT 1 STREAMS k 0");
    let _ = server.try_command(&[b"XGROUP", b"CREATECONSUMER", b"k", b"g", b"b"]);
    server.run("XDEL k 2-0");
}

/// A desk of a user with every permission except this command.
fn desk_without(server: &TestServer, command: &str) -> Desk {
    server.run(&format!("ACL SETUSER eye reset on >p ~* +@all -{command}"));
    Desk::with(Parts {
        socket: Some(server.socket()),
        user: Some("eye".into()),
        password: Some("p".into()),
        ..Parts::default()
    })
}

fn from_a() -> ClaimAsk {
    ClaimAsk { from: Some("a".into()), ..claim_for("b", 0) }
}

/// Each action with the commands that it cannot do without.
type Action = (&'static str, &'static [&'static str], fn() -> Ask);

const ACTIONS: [Action; 7] = [
    ("claim", &["xpending", "xinfo"], || Ask::Claim(claim_for("b", 0))),
    ("claim from one", &["xclaim", "xpending", "xinfo"], || Ask::Claim(from_a())),
    ("seek", &["xgroup", "xrange", "xpending", "xinfo"], || {
        Ask::Seek(SeekAsk { key: "k".into(), group: "g".into(), place: Place::Id(id("1-0")), beyond_end: false })
    }),
    ("acknowledge", &["xack", "xpending", "xinfo"], || marked(What::Acknowledge)),
    ("hand over", &["xclaim", "xpending", "xinfo"], || marked(What::MoveTo("b".into()))),
    ("delete", &["xgroup", "eval", "xinfo"], || {
        Ask::DeleteConsumer(DeleteConsumerAsk { key: "k".into(), group: "g".into(), consumer: "b".into() })
    }),
    ("delete group", &["xgroup", "xinfo"], || {
        Ask::DeleteGroup(DeleteGroupAsk { key: "k".into(), group: "g".into(), in_use: true })
    }),
];

fn marked(what: What) -> Ask {
    Ask::Marked(MarkedAsk { key: "k".into(), group: "g".into(), ids: vec![id("1-0")], what })
}

#[test]
fn what_the_acl_forbids_is_refused_in_the_servers_words() {
    each_server(|server, found| {
        if found.compat() < (6, 0, 0) {
            return;
        }
        seed(server);
        let untouched = state(server);
        for (name, needed, ask) in ACTIONS {
            for command in needed {
                if name.starts_with("delete") && found.compat() < (6, 2, 0) {
                    continue;
                }
                println!("{name} without {command}");
                let mut desk = desk_without(server, command);
                let (words, beforehand) = desk.refusal(ask());
                let said = ["permission", "can't run this command", "ACL failure", "EVAL is not allowed"];
                assert!(said.iter().any(|said| words.contains(said)), "{words}");
                assert_eq!(state(server), untouched);
                // 7.0 tells beforehand; what a plan reads it needs on every version
                if found.compat() >= (7, 0, 0) && !name.starts_with("delete") || command.starts_with("xp") {
                    assert!(beforehand, "{words}");
                }
            }
        }
    });
}

#[test]
fn a_seek_skips_nothing_that_it_could_not_count() {
    each_server(|server, found| {
        if found.compat() < (6, 0, 0) {
            return;
        }
        seed(server);
        let untouched = state(server);
        let mut desk = desk_without(server, "xrange");
        for place in [Place::End, Place::Forward(1), Place::Id(id("6-0"))] {
            let ask = SeekAsk { key: "k".into(), group: "g".into(), place, beyond_end: false };
            let (words, beforehand) = desk.refusal(Ask::Seek(ask));
            assert!(beforehand, "{words}");
        }
        assert_eq!(state(server), untouched);
    });
}

#[test]
fn without_looking_at_entries_a_claim_counts_no_more_than_it_knows() {
    each_server(|server, found| {
        if found.compat() < (7, 0, 0) {
            return;
        }
        seed(server);
        let plan = desk_without(server, "xrange").claim(claim_for("b", 0));
        assert!(!plan.would_move.exact && !plan.would_remove.exact, "{plan:?}");
    });
}

#[test]
fn without_xautoclaim_a_claim_uses_xclaim() {
    each_server(|_, found| {
        if found.compat() < (6, 2, 0) {
            return;
        }
        let renamed = TestServer::start_with(found, &["--rename-command", "XAUTOCLAIM", ""]);
        seed(&renamed);
        let mut desks = vec![(&renamed, Desk::on(&renamed), "its host renamed or removed it")];
        let other = TestServer::start(found);
        if found.compat() >= (7, 0, 0) {
            seed(&other);
            desks.push((&other, desk_without(&other, "xautoclaim"), "permission"));
        }
        for (server, mut desk, why) in desks {
            let plan = desk.claim(claim_for("b", 0));
            assert_eq!((plan.way, plan.objections.refused.as_deref()), (Way::Claim, None));
            let said = plan.objections.warnings.iter().any(|note| note.text.contains(why));
            assert!(said, "{:?}", plan.objections.warnings);
            let planned = plan.moving.len() as i64;
            let Outcome::Done(done) = desk.run(&Plan::Claim(plan)) else { panic!("it was not done") };
            assert!(done.claimed > 0 && done.claimed == planned, "{done:?}");
            let held: Vec<Value> = redis::from_redis_value(server.run("XPENDING k g - + 10 b")).unwrap();
            assert!(held.len() as i64 >= done.claimed);
        }
        let neither =
            TestServer::start_with(found, &["--rename-command", "XAUTOCLAIM", "", "--rename-command", "XCLAIM", ""]);
        seed(&neither);
        let (words, beforehand) = Desk::on(&neither).refusal(Ask::Claim(claim_for("b", 0)));
        assert!(beforehand && words.contains("has no XCLAIM"), "{words}");
    });
}

#[test]
fn what_is_not_there_is_said() {
    each_server(|server, _| {
        seed(server);
        server.run("SET text 1");
        let untouched = state(server);
        let mut desk = Desk::on(server);
        for (key, group, words) in [
            ("none", "g", "there is no stream none"),
            ("k", "none", "k has no group none"),
            ("text", "g", "text is not a stream"),
        ] {
            let ask = ClaimAsk { key: key.into(), group: group.into(), ..claim_for("b", 0) };
            let seek = pelwatch::core::action::seek::SeekAsk {
                key: key.into(),
                group: group.into(),
                place: Place::End,
                beyond_end: false,
            };
            for ask in [Ask::Claim(ask), Ask::Seek(seek)] {
                let (said, beforehand) = desk.refusal(ask);
                assert!(said.contains(words) && beforehand, "{said}");
            }
        }
        let plan = desk.claim(claim_for("nobody", 0));
        assert!(plan.objections.refused.unwrap().contains("nobody is not a consumer of this group"));
        assert_eq!(state(server), untouched);
    });
}

#[test]
fn a_replica_is_refused_up_front() {
    each_server(|primary, found| {
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port().to_string();
        let primary_tcp =
            TestServer::start_with(found, &["--port", &port, "--bind", "127.0.0.1", "--repl-diskless-sync-delay", "0"]);
        seed(&primary_tcp);
        primary.run(&format!("REPLICAOF 127.0.0.1 {port}"));
        wait_until("the replica has the stream", Duration::from_secs(30), || {
            primary.try_command(&[b"XLEN", b"k"]).is_ok_and(|length| length == Value::Int(5))
        });
        let untouched = state(primary);
        for (name, _, ask) in ACTIONS {
            let mut desk = Desk::on(primary);
            let plan = desk.plan(ask());
            let why = plan.refused().unwrap_or_default();
            assert!(why.contains("read-only replica") && why.contains(&port), "{name}: {why}");
            desk.refused(&plan);
        }
        assert_eq!(state(primary), untouched);
    });
}

#[test]
fn a_server_that_became_a_replica_writes_nothing() {
    each_server(|server, _| {
        seed(server);
        let mut desk = Desk::on(server);
        let plans: Vec<Plan> =
            ACTIONS.iter().filter(|(name, ..)| *name != "delete").map(|(_, _, ask)| desk.plan(ask())).collect();
        let untouched = state(server);
        server.run("REPLICAOF 127.0.0.1 1");
        for plan in plans {
            let words = desk.refused(&plan);
            assert!(words.contains("replica"), "{words}");
        }
        server.run("REPLICAOF NO ONE");
        assert_eq!(state(server), untouched);
    });
}
