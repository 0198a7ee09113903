//! Deleting a consumer and deleting a group.

use super::*;

#[test]
fn which_consumers_may_be_deleted() {
    let plan = |name: &str, server: &ServerFacts| {
        let ask = DeleteConsumerAsk { key: "k".into(), group: "g".into(), consumer: name.into() };
        delete_consumer::plan(ask, &facts(server.clone()))
    };
    let new = server("redis", "7.4.1");
    let free = plan("b", &new);
    assert_eq!((free.command.to_string(), free.objections.refused), ("XGROUP DELCONSUMER k g b".to_owned(), None));
    let busy = plan("a", &new);
    assert!(busy.objections.refused.unwrap().contains("a holds 2 pending entries"));
    assert_eq!(warned(&busy.objections.warnings), ["owner-active"]);
    assert!(plan("n", &new).objections.refused.unwrap().contains("n is not a consumer"));
    assert!(plan("b", &replica()).objections.refused.unwrap().contains("replica"));
}

/// A stream of ten entries, all read by a group without pending entries and with three consumers, by a server that shows no reader.
fn facts(server: ServerFacts) -> Facts {
    Facts {
        server,
        stream: StreamFacts {
            length: 10,
            first: Some(id(1)),
            last: Some(id(10)),
            last_generated: id(10),
            entries_added: Known::Is(10),
            ..StreamFacts::empty()
        },
        group: GroupFacts {
            cursor: id(10),
            consumers: Known::Is(3),
            entries_read: Known::Is(10),
            ..GroupFacts::fresh("g")
        },
        pending: 0,
        consumers: consumers(),
        now_ms: None,
        blocked_readers: Some(0),
        waiting: None,
        may_eval: true,
        active_ms: ACTIVE_MS,
    }
}

/// The facts of a group that nobody uses.
fn unused() -> Facts {
    let mut facts = facts(server("redis", "7.4.1"));
    facts.group.consumers = Known::Is(0);
    facts.consumers.clear();
    facts
}

fn delete_group(facts: &Facts, in_use: bool) -> DeleteGroupPlan {
    delete_group::plan(DeleteGroupAsk { key: "k".into(), group: "g".into(), in_use }, facts)
}

#[test]
fn a_group_in_use_is_deleted_only_if_that_is_typed_out() {
    let free = delete_group(&unused(), false);
    assert_eq!((free.command.to_string(), free.objections.refused.clone()), ("XGROUP DESTROY k g".to_owned(), None));
    assert_eq!(free.undo.to_string(), "XGROUP CREATE k g 10-0");
    assert_eq!(warned(&free.objections.warnings), ["no-reader-shown", "way-back-is-partial"]);

    let pending = Facts { pending: 2, ..unused() };
    let listed = facts(server("redis", "7.4.1"));
    let mut waiting = unused();
    waiting.group.cursor = id(4);
    waiting.group.reported_lag = Known::Is(6);
    let mut unsure = waiting.clone();
    unsure.group.reported_lag = Known::Undetermined;
    let table = [
        (pending, "2 pending entries would be lost"),
        (listed, "3 consumers are listed"),
        (waiting, "6 entries wait"),
        (unsure, "not known exactly"),
    ];
    for (facts, why) in table {
        let refused = delete_group(&facts, false).objections.refused.unwrap();
        assert!(refused.contains(why) && refused.contains("--in-use"), "{refused}");
        assert_eq!(delete_group(&facts, true).objections.refused, None, "{why}");
    }
    let of_replica = Facts { server: replica(), ..unused() };
    assert!(delete_group(&of_replica, true).objections.refused.unwrap().contains("replica"));
}

#[test]
fn the_plan_says_what_is_known_of_readers_and_how_strong_the_guard_is() {
    let warnings = |blocked_readers, may_eval| {
        let plan = delete_group(&Facts { blocked_readers, may_eval, pending: 1, ..unused() }, true);
        warned(&plan.objections.warnings)
    };
    assert_eq!(warnings(Some(2), true), ["drops-pending", "readers-blocked", "way-back-is-partial"]);
    assert_eq!(warnings(None, false), ["drops-pending", "readers-unknown", "weak-guard", "way-back-is-partial"]);
}

#[test]
fn what_the_script_answers_is_what_was_done() {
    let plan = delete_group(&unused(), false);
    let answer = |words: &[&str]| plan.answer(&words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>());
    assert_eq!(answer(&["OK"]).unwrap().deleted.as_deref(), Some("the group g"));
    assert!(answer(&["CHANGED", "11-0", "1", "0"]).unwrap_err().contains("cursor 11-0, 1 pending, 0 consumers"));
    assert_eq!(answer(&["NOGROUP"]).unwrap_err(), "the group is gone");
    assert_eq!(plan.args().iter().map(Name::shown).collect::<Vec<_>>(), ["g", "10-0", "0", "0"]);
}
