//! Plans without a server: what is sent, what is counted, what is refused and warned of, and the way back.
#![allow(clippy::unwrap_used)]

mod deleting;

use super::{
    Ask, Asked, Counted, Facts, Planned, Scripted,
    claim::{self, BATCH, ClaimAsk, ClaimFacts, ClaimPlan},
    delete_consumer::{self, DeleteConsumerAsk},
    delete_group::{self, DeleteGroupAsk, DeleteGroupPlan},
    form::Form,
    give_back,
    marked::{self, MarkedAsk, What},
    seek::{self, Direction, Guard, Place, SeekAsk, SeekFacts, SeekPlan},
    server_refusal,
};
use crate::core::{
    id::EntryId,
    known::Known,
    model::{ConsumerFacts, GroupFacts, PendingRow, ServerFacts, StreamFacts},
    name::Name,
};

const ACTIVE_MS: i64 = 60_000;

fn server(flavor: &str, version: &str) -> ServerFacts {
    ServerFacts {
        flavor: flavor.to_owned(),
        version: version.to_owned(),
        role: Some("master".to_owned()),
        ..ServerFacts::default()
    }
}

fn replica() -> ServerFacts {
    ServerFacts { role: Some("replica".to_owned()), primary: Some("h:1".to_owned()), ..server("redis", "7.4.1") }
}

fn id(ms: u64) -> EntryId {
    EntryId::new(ms, 0)
}

/// `1 a 400000` is 1-0, held by a, idle for 400 s; `-` is nobody and no idle time.
fn rows(text: &str) -> Vec<PendingRow> {
    let row = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let owner = Some(words[1]).filter(|owner| *owner != "-").map(Name::from);
        PendingRow { id: id(words[0].parse().unwrap()), owner, idle_ms: words[2].parse().ok(), deliveries: 3 }
    };
    text.split(',').map(str::trim).filter(|line| !line.is_empty()).map(row).collect()
}

/// `a` seen just now, `b` seen an hour ago.
fn consumers() -> Vec<ConsumerFacts> {
    let one = |name: &str, idle_ms, pending| ConsumerFacts { pending, idle_ms, ..ConsumerFacts::fresh(name) };
    vec![one("a", 5_000, 2), one("b", 3_600_000, 0), one("c", 3_600_000, 1)]
}

fn ask() -> ClaimAsk {
    ClaimAsk {
        key: "k".into(),
        group: "g".into(),
        target: "b".into(),
        create: false,
        min_idle_ms: 300_000,
        from: None,
        limit: None,
        justid: true,
    }
}

/// A claim where the entries of these ids have no payload any more.
fn claim(ask: ClaimAsk, server: &ServerFacts, rows: &[PendingRow], gone: &[u64]) -> ClaimPlan {
    let (consumers, gone) = (consumers(), gone.to_vec());
    let facts = ClaimFacts {
        server,
        consumers: &consumers,
        rows,
        complete: true,
        fate: &|at| Some(!gone.contains(&at.ms)),
        active_ms: ACTIVE_MS,
        no_autoclaim: None,
    };
    claim::plan(ask, &facts)
}

fn ids(rows: &[PendingRow]) -> Vec<u64> {
    rows.iter().map(|row| row.id.ms).collect()
}

fn warned(warnings: &[super::Warning]) -> Vec<&'static str> {
    warnings.iter().map(|warning| warning.id).collect()
}

#[test]
fn what_a_claim_sends() {
    let pending = rows("1 a 400000, 2 c 400000, 3 a 400000");
    let from_a = ClaimAsk { from: Some("a".into()), ..ask() };
    let table = [
        (ask(), ("redis", "7.4.1"), "XAUTOCLAIM k g b 300000 0-0 COUNT 100 JUSTID"),
        (ask(), ("valkey", "8.1.0"), "XAUTOCLAIM k g b 300000 0-0 COUNT 100 JUSTID"),
        (ask(), ("redis", "6.2.0"), "XAUTOCLAIM k g b 300000 0-0 COUNT 100 JUSTID"),
        (ask(), ("redis", "6.0.16"), "XCLAIM k g b 300000 1-0 2-0 3-0 JUSTID"),
        (ask(), ("unknown", ""), "XCLAIM k g b 300000 1-0 2-0 3-0 JUSTID"),
        (from_a.clone(), ("redis", "7.4.1"), "XCLAIM k g b 300000 1-0 3-0 JUSTID"),
        (ClaimAsk { justid: false, ..ask() }, ("redis", "7.4.1"), "XAUTOCLAIM k g b 300000 0-0 COUNT 100"),
        (ClaimAsk { justid: false, ..from_a.clone() }, ("redis", "7.4.1"), "XCLAIM k g b 300000 1-0 3-0"),
        (ClaimAsk { limit: Some(2), ..ask() }, ("redis", "7.4.1"), "XAUTOCLAIM k g b 300000 0-0 COUNT 2 JUSTID"),
        (ClaimAsk { limit: Some(1000), ..ask() }, ("redis", "7.4.1"), "XAUTOCLAIM k g b 300000 0-0 COUNT 100 JUSTID"),
        (ClaimAsk { limit: Some(1), ..from_a }, ("redis", "7.4.1"), "XCLAIM k g b 300000 1-0 JUSTID"),
        (ClaimAsk { min_idle_ms: 0, ..ask() }, ("redis", "7.4.1"), "XAUTOCLAIM k g b 0 0-0 COUNT 100 JUSTID"),
    ];
    for (ask, (flavor, version), command) in table {
        let plan = claim(ask.clone(), &server(flavor, version), &pending, &[]);
        assert_eq!(plan.commands.iter().map(ToString::to_string).collect::<Vec<_>>(), [command], "{ask:?}");
        assert_eq!(plan.objections.refused, None);
    }
}

#[test]
fn xclaim_goes_in_batches() {
    let pending: Vec<PendingRow> = (1..=2 * BATCH as u64 + 1).flat_map(|ms| rows(&format!("{ms} c 400000"))).collect();
    let plan = claim(ask(), &server("redis", "6.0.16"), &pending, &[]);
    assert_eq!(plan.commands.iter().map(|command| command.words().len()).collect::<Vec<_>>(), [106, 106, 7]);
}

/// Ask, version, moved, of them without payload, removed, claimed again by the target, cut.
type Row<'a> = (ClaimAsk, &'a str, &'a [u64], i64, i64, &'a [u64], bool);

#[test]
fn what_a_claim_moves_and_removes() {
    // 1 and 6 have no payload any more; 2 is the target's own; 3 is too young; 5 was released
    let pending = rows("1 a 400000, 2 b 400000, 3 a 299999, 4 c 300000, 5 - -, 6 a 5, 7 c 400000");
    let limit = |limit| ClaimAsk { limit: Some(limit), ..ask() };
    let from = |name: &str| ClaimAsk { from: Some(name.into()), ..ask() };
    let table: [Row; 10] = [
        (ask(), "7.0.15", &[4, 5, 7], 0, 2, &[2], false),
        (ask(), "6.2.14", &[1, 4, 5, 7], 1, 0, &[2], false),
        (ask(), "6.0.16", &[1, 4, 5, 7], 1, 0, &[], false),
        (limit(1), "7.0.15", &[4], 0, 1, &[2], true),
        (limit(1), "6.2.14", &[1], 1, 0, &[], true),
        (limit(3), "7.0.15", &[4, 5, 7], 0, 2, &[2], false),
        (limit(2), "7.0.15", &[4, 5], 0, 1, &[2], true),
        (from("c"), "7.0.15", &[4, 7], 0, 0, &[], false),
        (from("a"), "7.0.15", &[], 0, 0, &[], false),
        (from("a"), "6.2.14", &[1], 1, 0, &[], false),
    ];
    for (ask, version, moved, empty, removed, restarting, cut) in table {
        let plan = claim(ask, &server("redis", version), &pending, &[1, 6]);
        assert_eq!(ids(&plan.moving), moved, "{version} {:?}", plan.ask);
        assert_eq!(plan.would_move, Counted::exact(moved.len() as i64));
        assert_eq!(
            (plan.would_move_empty, plan.would_remove),
            (empty, Counted::exact(removed)),
            "{version} {:?}",
            plan.ask
        );
        assert_eq!((ids(&plan.restarting), plan.cut), (restarting.to_vec(), cut), "{version} {:?}", plan.ask);
        assert_eq!(plan.from.iter().map(|holder| holder.entries).sum::<i64>(), plan.would_move.value);
    }
}

#[test]
fn what_was_not_looked_at_is_not_exact() {
    let pending = rows("1 a 400000");
    let consumers = consumers();
    let with = |version: &str, complete, fate: Option<bool>, limit| {
        let server = server("redis", version);
        let facts = ClaimFacts {
            server: &server,
            consumers: &consumers,
            rows: &pending,
            complete,
            fate: &|_| fate,
            active_ms: 0,
            no_autoclaim: None,
        };
        let plan = claim::plan(ClaimAsk { limit, ..ask() }, &facts);
        (plan.would_move.exact, plan.would_remove.exact, plan.cut)
    };
    assert_eq!(with("7.0.15", true, Some(true), None), (true, true, false));
    assert_eq!(with("7.0.15", true, None, None), (false, false, false));
    assert_eq!(with("6.2.14", true, None, None), (true, true, false));
    assert_eq!(with("7.0.15", false, Some(true), None), (false, false, true));
    assert_eq!(with("7.0.15", false, Some(true), Some(2)), (false, false, true));
}

#[test]
fn who_must_be_warned_of_a_claim() {
    let new = server("redis", "8.10.2");
    let to = |target: &str, create| ClaimAsk { target: target.into(), create, ..ask() };
    let table: [(ClaimAsk, &str, &[u64], &[&str]); 7] = [
        (ask(), "1 c 400000", &[], &["target-idle", "read-own-history"]),
        (ask(), "1 a 400000", &[], &["owner-active", "target-idle", "read-own-history"]),
        (to("a", false), "1 c 400000", &[], &["read-own-history"]),
        (to("n", true), "1 c 400000", &[], &["creates-consumer", "read-own-history"]),
        (to("n", false), "1 c 400000", &[], &["target-unknown", "read-own-history"]),
        (to("a", false), "1 c 400000, 2 c 1", &[2], &["removes-payload-gone", "read-own-history"]),
        (to("a", false), "1 - -, 2 a 400000", &[], &["restarts-own", "released-entries", "read-own-history"]),
    ];
    for (ask, pending, gone, expected) in table {
        let plan = claim(ask, &new, &rows(pending), gone);
        assert_eq!(warned(&plan.objections.warnings), expected, "{:?}", plan.ask);
    }
    let old = claim(to("a", false), &server("redis", "6.2.14"), &rows("1 c 400000"), &[1]);
    assert_eq!(warned(&old.objections.warnings), ["moves-empty", "read-own-history"]);
}

#[test]
fn which_claims_are_refused() {
    let pending = rows("1 c 400000");
    let refused =
        |ask: ClaimAsk, server: &ServerFacts| claim(ask, server, &pending, &[]).objections.refused.unwrap_or_default();
    assert!(refused(ask(), &replica()).contains("read-only replica: do it on its primary (h:1)"));
    let unknown = ClaimAsk { target: "n".into(), ..ask() };
    assert!(refused(unknown.clone(), &server("redis", "7.4.1")).contains("n is not a consumer"));
    assert_eq!(refused(ClaimAsk { create: true, ..unknown }, &server("redis", "7.4.1")), "");
    for (flavor, version, crashes) in [
        ("redis", "7.0.0", true),
        ("redis", "7.0.4", true),
        ("redis", "7.0.5", false),
        ("redis", "7.0.15", false),
        ("redis", "6.2.4", false),
        ("redis", "7.2.0", false),
        ("redis", "8.0.1", false),
        ("valkey", "7.0.1", false),
    ] {
        let server = server(flavor, version);
        assert_eq!(refused(ask(), &server).contains("CVE-2022-35951"), crashes, "{flavor} {version}");
        // XCLAIM does not crash
        assert_eq!(refused(ClaimAsk { from: Some("c".into()), ..ask() }, &server), "", "{flavor} {version}");
    }
}

#[test]
fn when_a_claim_no_longer_is_what_was_shown() {
    let new = server("redis", "7.4.1");
    let many = |owner: &str, from: u64, to: u64| {
        (from..=to).map(|ms| format!("{ms} {owner} 400000")).collect::<Vec<_>>().join(",")
    };
    let shown = claim(ask(), &new, &rows(&many("c", 1, 20)), &[]);
    let now =
        |pending: &str, gone: &[u64]| shown.differs_materially(&claim(ask(), &new, &rows(pending), gone)).is_some();
    assert!(!now(&many("c", 1, 20), &[]));
    assert!(!now(&many("c", 1, 18), &[]), "a tenth less");
    assert!(now(&many("c", 1, 17), &[]));
    assert!(!now(&many("c", 1, 22), &[]), "a tenth more");
    assert!(now(&many("c", 1, 23), &[]));
    assert!(now(&many("c", 1, 20), &[7]), "one would be dropped");
    assert!(now(&(many("c", 1, 19) + ", 20 a 400000"), &[]), "another owner");
    let nothing = claim(ask(), &new, &[], &[]);
    assert!(nothing.differs_materially(&shown).is_some());
}

#[test]
fn what_giving_back_sends() {
    let moved = rows("1 c 400000, 2 - -, 3 a 7");
    let commands = give_back::commands(&ask().give_back(moved.clone(), 50));
    let expected =
        ["XCLAIM k g c 0 1-0 IDLE 400050 RETRYCOUNT 3 JUSTID", "XCLAIM k g a 0 3-0 IDLE 57 RETRYCOUNT 3 JUSTID"];
    assert_eq!(commands.iter().map(ToString::to_string).collect::<Vec<_>>(), expected);

    let undo = |now: &str, passed_ms, server: &ServerFacts| {
        let ask = ask().give_back(moved.clone(), passed_ms);
        give_back::plan(ask, server, &consumers(), &rows(now), ACTIVE_MS)
    };
    let new = server("redis", "7.4.1");
    // what the target holds since 90 ms, and what somebody else took or acknowledged
    let plan = undo("1 b 90, 2 b 90, 3 c 10", 50, &new);
    assert_eq!(
        plan.commands.iter().map(ToString::to_string).collect::<Vec<_>>(),
        ["XCLAIM k g c 90 1-0 IDLE 400090 RETRYCOUNT 3 JUSTID"]
    );
    assert_eq!((warned(&plan.objections.warnings), plan.objections.refused), (vec!["not-all"], None));
    // it read them again 10 ms ago: more has passed than that
    let plan = undo("1 b 10, 3 b 10", 50, &new);
    assert_eq!(plan.commands[0].to_string(), "XCLAIM k g c 10 1-0 IDLE 400050 RETRYCOUNT 3 JUSTID");
    assert!(undo("1 c 1, 2 b 90", 0, &new).objections.refused.unwrap().contains("holds none of them any more"));
    assert!(undo("1 b 90", 0, &replica()).objections.refused.unwrap().contains("replica"));
}

fn seek_with(
    place: Place,
    target: u64,
    between: &[u64],
    pending: &str,
    change: impl FnOnce(&mut SeekFacts, &mut SeekAsk),
) -> SeekPlan {
    let stream = StreamFacts {
        length: 10,
        first: Some(id(1)),
        last: Some(id(10)),
        last_generated: id(10),
        entries_added: Known::Is(10),
        ..StreamFacts::empty()
    };
    let group = GroupFacts {
        pending: Known::Is(5),
        cursor: id(5),
        entries_read: Known::Is(5),
        reported_lag: Known::Is(5),
        ..GroupFacts::fresh("g")
    };
    let between: Vec<EntryId> = between.iter().copied().map(id).collect();
    let (server, consumers, pending) = (server("redis", "7.4.1"), consumers(), rows(pending));
    let mut facts = SeekFacts {
        server: &server,
        stream: &stream,
        group: &group,
        pending: 5,
        consumers: &consumers,
        target: id(target),
        between: &between,
        between_complete: true,
        pending_between: &pending,
        pending_complete: true,
        active_ms: ACTIVE_MS,
        guard: Guard::Eval,
        now_ms: Some(1_000),
    };
    let mut ask = SeekAsk { key: "k".into(), group: "g".into(), place, beyond_end: false };
    change(&mut facts, &mut ask);
    seek::plan(ask, &facts)
}

#[test]
fn what_a_seek_counts_and_sends() {
    let back = seek_with(Place::Id(id(2)), 2, &[3, 5], "3 a 1, 4 a 1", |_, _| {});
    assert_eq!(
        (back.command.to_string(), back.undo.to_string()),
        ("XGROUP SETID k g 2-0".to_owned(), "XGROUP SETID k g 5-0".to_owned())
    );
    assert_eq!((back.direction, back.redelivered, back.redelivered_pending), (Direction::Back, Counted::exact(2), 1));
    // 4-0 is pending without payload: it does not come again
    assert_eq!((back.pending_untouched, back.skipped, back.skipped_span), (4, Counted::exact(0), None));
    assert_eq!(warned(&back.objections.warnings), ["consumers-active", "readers-blocked"]);
    assert_eq!(back.objections.refused, None);

    let on = seek_with(Place::End, 10, &[6, 8], "", |_, _| {});
    assert_eq!(
        (on.direction, on.skipped, on.skipped_span),
        (Direction::Forward, Counted::exact(2), Some((id(6), id(8))))
    );
    assert_eq!((on.redelivered, on.pending_untouched), (Counted::exact(0), 5));
    assert_eq!(warned(&on.objections.warnings), ["consumers-active"]);

    let none = seek_with(Place::Id(id(5)), 5, &[], "", |_, _| {});
    assert_eq!(
        (none.direction, none.skipped, none.redelivered),
        (Direction::None, Counted::exact(0), Counted::exact(0))
    );
    assert_eq!(warned(&none.objections.warnings), Vec::<&str>::new());
}

#[test]
fn a_seek_that_did_not_see_all_says_at_least() {
    let back = |between_complete, pending_complete| {
        let plan = seek_with(Place::Id(id(2)), 2, &[3], "", |facts, _| {
            (facts.between_complete, facts.pending_complete) = (between_complete, pending_complete);
        });
        plan.redelivered.exact
    };
    assert_eq!((back(true, true), back(false, true), back(true, false)), (true, false, false));
    assert!(!seek_with(Place::End, 10, &[6], "", |facts, _| facts.between_complete = false).skipped.exact);
}

#[test]
fn which_seeks_are_refused_or_warned_of() {
    let beyond = seek_with(Place::Id(id(11)), 11, &[6], "", |_, _| {});
    assert!(beyond.objections.refused.unwrap().contains("past the last id ever given out, 10-0"));
    let meant = seek_with(Place::Id(id(11)), 11, &[6], "", |_, ask| ask.beyond_end = true);
    assert_eq!(
        (meant.objections.refused, warned(&meant.objections.warnings)),
        (None, vec!["consumers-active", "beyond-end"])
    );
    assert!(server_refusal(&replica()).unwrap().contains("replica"));
    let weak = seek_with(Place::Id(id(2)), 2, &[3], "", |facts, _| facts.guard = Guard::Reread);
    assert!(warned(&weak.objections.warnings).contains(&"weak-guard"));
    let quiet = seek_with(Place::Id(id(2)), 2, &[3], "", |facts, _| facts.active_ms = 10);
    assert_eq!(warned(&quiet.objections.warnings), ["readers-blocked"]);
}

#[test]
fn how_far_a_moving_cursor_is_accepted() {
    let mut back = seek_with(Place::Id(id(2)), 2, &[3], "", |_, _| {});
    assert_eq!((back.accept_up_to, back.moving_bound()), (None, id(60_010)));
    back.accept_moving(true);
    assert_eq!(back.accept_up_to, Some(id(60_010)));
    assert!(back.objections.warnings.last().unwrap().text.contains("any cursor from 2-0 to 60010-0"));
    back.accept_moving(true);
    assert_eq!(warned(&back.objections.warnings).iter().filter(|id| **id == "cursor-moving").count(), 1);
    back.accept_moving(false);
    assert_eq!((back.accept_up_to, warned(&back.objections.warnings).contains(&"cursor-moving")), (None, false));
    let mut on = seek_with(Place::Id(id(8)), 8, &[6], "", |_, _| {});
    on.accept_moving(true);
    assert_eq!(on.accept_up_to, Some(id(8)));
    assert!(on.objections.warnings.last().unwrap().text.contains("any cursor from 5-0 to 8-0"));
}

#[test]
fn what_becomes_of_marked_entries() {
    let plan = |marked: &[u64], what: What, version: &str, gone: &[u64]| {
        let ask = MarkedAsk { key: "k".into(), group: "g".into(), ids: marked.iter().copied().map(id).collect(), what };
        let found = rows("1 a 400, 2 - -, 4 c 300").into_iter().filter(|row| marked.contains(&row.id.ms)).collect();
        marked::plan(ask, &server("redis", version), &consumers(), found, &|at| gone.contains(&at.ms), ACTIVE_MS, true)
    };
    let commands = |plan: &marked::MarkedPlan| plan.commands.iter().map(ToString::to_string).collect::<Vec<_>>();
    let to_b = || What::MoveTo("b".into());

    let hand = plan(&[1, 2, 3, 4], to_b(), "7.4.1", &[]);
    assert_eq!(commands(&hand), ["XCLAIM k g b 300 1-0 2-0 4-0 JUSTID"]);
    assert_eq!(
        (hand.vanished.clone(), warned(&hand.objections.warnings)),
        (vec![id(3)], vec!["owner-active", "no-longer-pending"])
    );
    let weak = |what: What| {
        let ask = MarkedAsk { key: "k".into(), group: "g".into(), ids: vec![id(1)], what };
        let plan =
            marked::plan(ask, &server("redis", "7.4.1"), &consumers(), rows("1 a 400"), &|_| false, ACTIVE_MS, false);
        warned(&plan.objections.warnings).contains(&"weak-guard")
    };
    assert!(weak(What::Acknowledge), "without a script it is only read again before");
    assert!(!weak(to_b()), "the idle time guards a hand-over");
    let without = plan(&[1, 4], to_b(), "7.4.1", &[4]);
    assert_eq!(
        (commands(&without), without.left.clone()),
        (vec!["XCLAIM k g b 400 1-0 JUSTID".to_owned()], vec![id(4)])
    );
    assert_eq!(warned(&without.objections.warnings), ["left-payload-gone", "owner-active"]);
    assert_eq!(commands(&plan(&[1, 4], to_b(), "6.2.14", &[4])), ["XCLAIM k g b 300 1-0 4-0 JUSTID"]);
    let ack = plan(&[1, 4], What::Acknowledge, "7.4.1", &[4]);
    assert_eq!(
        (commands(&ack), warned(&ack.objections.warnings)),
        (vec!["XACK k g 1-0 4-0".to_owned()], vec!["owner-active", "never-processed"])
    );

    let refused = |plan: marked::MarkedPlan| plan.objections.refused.unwrap_or_default();
    assert!(refused(plan(&[4], to_b(), "7.4.1", &[4])).contains("no payload any more"));
    assert!(refused(plan(&[3], What::Acknowledge, "7.4.1", &[])).contains("pending any more"));
    assert!(refused(plan(&[1], What::MoveTo("n".into()), "7.4.1", &[])).contains("not a consumer"));
}

#[test]
fn typed_fields_become_the_request() {
    let form = |min_idle: &str, limit: &str, place: &str, in_use: &str| Form {
        targets: vec!["a".into(), "b".into()],
        target: 1,
        min_idle: min_idle.to_owned(),
        limit: limit.to_owned(),
        place: place.to_owned(),
        in_use: in_use.to_owned(),
        ..Form::default()
    };
    let Ok(Ask::Claim(claim)) = ask().filled(&form("90s", "7", "", "")) else { panic!("not a claim") };
    assert_eq!((claim.target, claim.min_idle_ms, claim.limit), ("b".into(), 90_000, Some(7)));
    let from = |source| {
        let sources = vec![None, Some("a".into()), Some("b".into())];
        ask().filled(&Form { sources, source, ..form("90s", "", "", "") })
    };
    let Ok(Ask::Claim(claim)) = from(1) else { panic!("not a claim") };
    assert_eq!((claim.from, claim.target), (Some("a".into()), "b".into()));
    assert!(from(2).is_err_and(|why| why.contains("moves nothing")), "from b to b");
    for (min_idle, limit) in [("soon", ""), ("5m", "0"), ("5m", "x"), ("", "")] {
        assert!(ask().filled(&form(min_idle, limit, "", "")).is_err(), "{min_idle} {limit}");
    }
    assert!(ask().filled(&Form { targets: Vec::new(), ..form("5m", "", "", "") }).is_err(), "nobody to choose");
    let group = DeleteGroupAsk { key: "k".into(), group: "g".into(), in_use: false };
    for (typed, in_use) in [("in use", true), (" in use ", true), ("", false), ("yes", false)] {
        let Ok(Ask::DeleteGroup(filled)) = group.filled(&form("", "", "", typed)) else { panic!("not that") };
        assert_eq!(filled.in_use, in_use, "{typed:?}");
    }
}

#[test]
fn one_preview_says_one_entry_and_many_entries() {
    let texts = |plan: &dyn Planned| plan.preview().iter().map(ToString::to_string).collect::<Vec<_>>();
    let one = claim(ask(), &server("redis", "7.4.1"), &rows("1 c 400000"), &[]);
    assert_eq!(texts(&one)[0], "1 entry idle for 5 min or longer would move to b");
    let two = claim(ask(), &server("redis", "7.4.1"), &rows("1 c 400000, 2 c 400000"), &[]);
    assert_eq!(texts(&two)[0], "2 entries idle for 5 min or longer would move to b");
    let back = seek_with(Place::Id(id(2)), 2, &[3, 5], "3 a 1", |_, _| {});
    assert!(texts(&back)[1].starts_with("2 entries would be delivered again: 1 acknowledged"), "{:?}", texts(&back));
}
