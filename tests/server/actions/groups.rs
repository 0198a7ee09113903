//! Deleting a group: only the group that was previewed, only when it is unused or that is typed out, and a way back of the cursor alone.

use super::desk::{Desk, id, state};
use pelwatch::{
    core::action::{Ask, Plan, delete_group::DeleteGroupAsk},
    testing::{FoundServer, TestServer, each_server},
};
use redis::Value;

/// Four entries; the groups `g` and `other` have read all of them, and `g` acknowledged them.
fn seed(server: &TestServer) {
    (1..=4).for_each(|n| drop(server.run(&format!("XADD k {n}-0 f v"))));
    for group in ["g", "other"] {
        server.run(&format!("XGROUP CREATE k {group} 0"));
        server.run(&format!("XREADGROUP GROUP {group} a COUNT 10 STREAMS k >"));
    }
    server.run("XACK k g 1-0 2-0 3-0 4-0");
    server.run("XGROUP DELCONSUMER k g a");
}

fn groups(server: &TestServer) -> Vec<String> {
    let groups: Vec<std::collections::HashMap<String, Value>> =
        redis::from_redis_value(server.run("XINFO GROUPS k")).unwrap();
    groups.into_iter().map(|mut group| redis::from_redis_value(group.remove("name").unwrap()).unwrap()).collect()
}

#[test]
fn an_unused_group_goes_and_nothing_else() {
    each_server(|server, _| {
        seed(server);
        let mut desk = Desk::on(server);
        let plan = desk.delete_group(false);
        assert_eq!((plan.objections.refused.as_deref(), plan.pending, plan.consumers), (None, 0, 0));
        assert_eq!(plan.blocked_readers, Some(0));
        let undo = plan.undo.clone();
        let done = desk.done(&Plan::DeleteGroup(plan));
        assert_eq!((done.deleted.as_deref(), done.undo.as_slice()), (Some("the group g"), &[undo.clone()][..]));
        assert_eq!(groups(server), ["other"]);
        assert_eq!(super::desk::entries(server).len(), 4);
        // the way back is the cursor, and nothing else
        server.run(&undo.to_string());
        assert_eq!(super::desk::cursor(server), id("4-0"));
        assert!(super::desk::pending(server).is_empty());
    });
}

#[test]
fn a_group_in_use_is_refused_until_that_is_typed_out() {
    let uses: [(&str, &str); 3] = [
        ("XREADGROUP GROUP g b COUNT 1 STREAMS k >", "pending entry would be lost"),
        ("XADD k 9-0 f v", "1 entry waits"),
        ("XREADGROUP GROUP g idler STREAMS k 0", "1 consumer is listed"),
    ];
    each_server(|server, _| {
        for (command, why) in uses {
            server.run("FLUSHALL");
            seed(server);
            server.run("XADD k 5-0 f v");
            server.run("XREADGROUP GROUP g tmp COUNT 9 STREAMS k >");
            server.run("XACK k g 5-0");
            server.run("XGROUP DELCONSUMER k g tmp");
            if command.contains("XREADGROUP GROUP g b") {
                server.run("XADD k 6-0 f v");
            }
            server.run(command);
            let untouched = state(server);
            let mut desk = Desk::on(server);
            let plan = desk.delete_group(false);
            let said = plan.objections.refused.clone().unwrap_or_default();
            assert!(said.contains(why) && said.contains("--in-use"), "{command}: {said}");
            desk.refused(&Plan::DeleteGroup(plan));
            assert!(state(server) == untouched);
            let plan = desk.delete_group(true);
            assert_eq!(plan.objections.refused, None);
            desk.done(&Plan::DeleteGroup(plan));
            assert_eq!(groups(server), ["other"]);
        }
    });
}

#[test]
fn a_group_that_changed_since_the_preview_stays() {
    let changes = [
        "XREADGROUP GROUP g b COUNT 1 STREAMS k >",
        "XREADGROUP GROUP g idler STREAMS k 0",
        "XGROUP SETID k g 1-0",
        "XGROUP DESTROY k g",
    ];
    each_server(|server, _| {
        for change in changes {
            server.run("FLUSHALL");
            seed(server);
            let mut desk = Desk::on(server);
            server.run("XADD k 5-0 f v");
            let plan = Plan::DeleteGroup(desk.delete_group(true));
            server.run(change);
            let left = groups(server);
            let words = desk.refused(&plan);
            assert!(words.contains("changed since the preview") || words.contains("group is gone"), "{words}");
            assert_eq!(groups(server), left, "{change}");
        }
    });
}

#[test]
fn without_eval_the_group_is_read_again_and_a_change_is_seen() {
    each_server(|server, found: &FoundServer| {
        if found.compat() < (6, 2, 0) {
            return;
        }
        seed(server);
        server.run("ACL SETUSER weak on nopass ~* +@all -eval");
        let parts = pelwatch::source::target::Parts {
            socket: Some(server.socket()),
            user: Some("weak".to_owned()),
            password: Some("any".to_owned()),
            ..Default::default()
        };
        let mut desk = Desk::with(parts);
        let plan = desk.delete_group(false);
        assert!(
            !plan.may_eval && plan.objections.warnings.iter().any(|warning| warning.id == "weak-guard"),
            "{plan:?}"
        );
        server.run("XGROUP SETID k g 1-0");
        let words = desk.refused(&Plan::DeleteGroup(plan));
        assert!(words.contains("changed since the preview") || words.contains("--in-use"), "{words}");
        server.run("XGROUP SETID k g 4-0");
        let plan = desk.delete_group(true);
        desk.done(&Plan::DeleteGroup(plan));
        assert_eq!(groups(server), ["other"]);
    });
}

#[test]
fn a_blocked_reader_is_counted_and_a_missing_group_is_a_sentence() {
    each_server(|server, _| {
        seed(server);
        let mut blocked = server.connect().unwrap();
        let reader = std::thread::spawn(move || {
            let mut command = redis::cmd("XREADGROUP");
            command.arg("GROUP").arg("other").arg("z").arg("BLOCK").arg(20_000).arg("STREAMS").arg("k").arg(">");
            let _: redis::RedisResult<Value> = command.query(&mut blocked);
        });
        let mut desk = Desk::on(server);
        pelwatch::testing::wait_until("the reader is blocked", std::time::Duration::from_secs(10), || {
            desk.delete_group(true).blocked_readers == Some(1)
        });
        let plan = desk.delete_group(true);
        assert!(plan.objections.warnings.iter().any(|warning| warning.id == "readers-blocked"), "{plan:?}");
        server.run("XADD k 9-0 f v");
        reader.join().unwrap();
        let plan = desk.delete_group(true);
        desk.done(&Plan::DeleteGroup(plan));
        let (words, beforehand) =
            desk.refusal(Ask::DeleteGroup(DeleteGroupAsk { key: "k".into(), group: "g".into(), in_use: true }));
        assert_eq!((words.as_str(), beforehand), ("k has no group g", true));
    });
}
