//! Random groups, random plans: the server does what the preview says, entry by entry, and the way back restores the state.

use std::collections::BTreeMap;

use pelwatch::core::{
    action::{
        Plan,
        claim::{ClaimPlan, Way},
        marked::What,
        seek::{Direction, Place},
    },
    id::EntryId,
    name::Name,
};

use super::desk::{Desk, Held, claim_for, cursor, entries, holdings, id, pending, read_on, state};
use pelwatch::testing::{FoundServer, TestServer, each_server};

const ROUNDS: u64 = 40;
/// How far an idle time may be off after it was carried over.
const SLACK_MS: i64 = 20_000;

/// Random-looking numbers that are the same in each run (splitmix64).
struct Dice(u64);

impl Dice {
    fn roll(&mut self, below: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % below
    }

    fn chance(&mut self, percent: u64) -> bool {
        self.roll(100) < percent
    }

    fn one_of<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.roll(list.len() as u64) as usize]
    }
}

const NAMES: [&str; 4] = ["a", "b", "c", "d"];
/// Far from each other and from the thresholds: the duration of a test must not decide.
const IDLES_MS: [i64; 4] = [0, 100_000, 500_000, 9_000_000];

/// Gives a group a past: read in turns, acknowledged, aged, claimed, trimmed, rewound, released.
fn live_through(server: &TestServer, found: &FoundServer, dice: &mut Dice) {
    server.run("FLUSHALL");
    let count = 1 + dice.roll(60);
    let mut ids = Vec::new();
    for ms in 1..=count {
        for seq in 0..=dice.roll(2) {
            ids.push(format!("{ms}-{seq}"));
            server.run(&format!("XADD k {ms}-{seq} f {ms}"));
        }
    }
    server.run("XGROUP CREATE k g 0");
    for _ in 0..dice.roll(8) {
        let (name, most) = (dice.one_of(&NAMES), 1 + dice.roll(12));
        server.run(&format!("XREADGROUP GROUP g {name} COUNT {most} STREAMS k >"));
    }
    if dice.chance(20) {
        let at = &ids[dice.roll(ids.len() as u64) as usize];
        server.run(&format!("XGROUP SETID k g {at}"));
        server.run(&format!("XREADGROUP GROUP g {} COUNT 3 STREAMS k >", dice.one_of(&NAMES)));
    }
    for (at, held) in pending(server) {
        if dice.chance(20) {
            server.run(&format!("XACK k g {at}"));
        } else if dice.chance(70) {
            let (owner, idle, retries) = (held.owner.unwrap(), dice.one_of(&IDLES_MS), 1 + dice.roll(9));
            server.run(&format!("XCLAIM k g {owner} 0 {at} IDLE {idle} RETRYCOUNT {retries} JUSTID"));
        }
        if dice.chance(10) && found.flavor == "redis" && found.version >= (8, 8, 0) {
            let how = dice.one_of(&["SILENT", "FAIL", "FATAL"]);
            server.run(&format!("XNACK k g {how} IDS 1 {at}"));
        }
    }
    if dice.chance(50) {
        for at in &ids {
            if dice.chance(15) {
                server.run(&format!("XDEL k {at}"));
            }
        }
    }
    if dice.chance(30) {
        server.run(&format!("XTRIM k MAXLEN {}", dice.roll(ids.len() as u64 + 1)));
    }
    // every consumer exists, so that no target is created by accident
    for name in NAMES {
        if found.compat() >= (6, 2, 0) {
            server.run(&format!("XGROUP CREATECONSUMER k g {name}"));
        } else {
            server.run(&format!("XREADGROUP GROUP g {name} STREAMS k 0"));
        }
    }
}

fn each_past(test: impl Fn(&TestServer, &FoundServer, &mut Desk, &mut Dice)) {
    each_server(|server, found| {
        let mut desk = Desk::on(server);
        for seed in 0..ROUNDS {
            println!("seed {seed}");
            let mut dice = Dice(seed);
            live_through(server, found, &mut dice);
            test(server, found, &mut desk, &mut dice);
        }
    });
}

#[test]
fn a_claim_does_what_its_preview_says_and_can_be_given_back() {
    each_past(|server, found, desk, dice| {
        let mut ask = claim_for(dice.one_of(&NAMES), dice.one_of(&[0, 50_000, 300_000, 20_000_000]));
        if dice.chance(20) {
            (ask.target, ask.create) = ("fresh".into(), true);
        }
        ask.limit = dice.chance(40).then(|| 1 + dice.roll(15) as usize);
        ask.from = dice.chance(30).then(|| dice.one_of(&NAMES).into());
        ask.justid = dice.chance(60);
        let before = pending(server);
        let plan = desk.claim(ask);
        assert_eq!(plan.objections.refused, None);
        assert!(plan.would_move.exact && plan.would_remove.exact);
        assert_eq!(plan.from.iter().map(|holder| holder.entries).sum::<i64>(), plan.would_move.value);
        let whole = Plan::Claim(plan.clone());
        if plan.would_move.value == 0 && plan.would_remove.value == 0 {
            let untouched = state(server);
            desk.refused(&whole);
            assert_eq!(state(server), untouched);
            return;
        }
        let done = desk.done(&whole);
        assert_eq!((done.claimed, done.removed), (plan.would_move.value, plan.would_remove.value), "{plan:?}");
        assert_eq!(done.scan_complete, !plan.cut || done.scan_cursor == Some(EntryId::MIN), "{done:?}");
        let after = pending(server);
        judge_claim(&plan, &before, &after, &entries(server), found);

        assert_eq!(done.moved.len() as i64, done.claimed);
        let back = desk.way_back(&plan, &done);
        let owned: Vec<EntryId> = done.moved.iter().filter(|row| row.owner.is_some()).map(|row| row.id).collect();
        if owned.is_empty() {
            desk.refused(&back);
            assert_eq!(holdings(server).len(), after.len());
            return;
        }
        assert_eq!(desk.done(&back).claimed, owned.len() as i64);
        let again = pending(server);
        for (at, now) in &again {
            let was = if owned.contains(at) { &before[at] } else { &after[at] };
            assert_eq!((&now.owner, now.count), (&was.owner, was.count), "{at}");
            assert!(
                was.owner.is_none() || (was.idle..was.idle + SLACK_MS).contains(&now.idle),
                "{at}: {was:?} {now:?}"
            );
        }
        assert_eq!(again.len(), after.len());
    });
}

fn judge_claim(
    plan: &ClaimPlan,
    before: &BTreeMap<EntryId, Held>,
    after: &BTreeMap<EntryId, Held>,
    there: &[EntryId],
    found: &FoundServer,
) {
    let moving: Vec<EntryId> = plan.moving.iter().map(|row| row.id).collect();
    let restarted: Vec<EntryId> = plan.restarting.iter().map(|row| row.id).collect();
    let gone: Vec<EntryId> = before.keys().filter(|at| !after.contains_key(at)).copied().collect();
    assert_eq!(gone.len() as i64, plan.would_remove.value);
    assert!(gone.iter().all(|at| !there.contains(at)));
    let empty = moving.iter().filter(|at| !there.contains(at)).count() as i64;
    assert_eq!(empty, plan.would_move_empty);
    assert!(empty == 0 || found.compat() < (7, 0, 0));
    for (at, now) in after {
        let was = &before[at];
        if moving.contains(at) {
            assert_eq!(now.owner.as_ref(), Some(&plan.ask.target), "{at}");
            assert_ne!(was.owner.as_ref(), Some(&plan.ask.target), "{at}");
        } else {
            assert_eq!(now.owner, was.owner, "{at}");
        }
        let anew = moving.contains(at) || restarted.contains(at);
        // a count that is a word (XNACK FATAL), or that XNACK reduced, is set by the server alone
        if was.owner.is_some() {
            let more = i64::from(anew && !plan.ask.justid);
            assert_eq!(now.count, was.count + more, "{at} of {plan:?}");
            assert!(was.idle < SLACK_MS || (now.idle < SLACK_MS) == anew, "{at}: {was:?} {now:?}");
        }
    }
    assert!(restarted.is_empty() || plan.way == Way::AutoClaim);
}

#[test]
fn a_move_of_the_cursor_skips_and_delivers_again_what_its_preview_says() {
    each_past(|server, _, desk, dice| {
        let there = entries(server);
        let (before, from) = (pending(server), cursor(server));
        let place = match dice.roll(6) {
            0 => Place::End,
            1 => Place::Forward(dice.roll(30) as usize),
            2 | 3 => Place::Back(dice.roll(30) as usize),
            4 => Place::Id(EntryId::MIN),
            _ => Place::Id(EntryId::new(1 + dice.roll(70), dice.roll(3))),
        };
        let plan = desk.seek_beyond(place.clone(), dice.chance(50));
        let whole = Plan::Seek(plan.clone());
        assert_eq!(plan.cursor, from);
        if plan.objections.refused.is_some() {
            assert!(!plan.ask.beyond_end && plan.target > plan.end && plan.target > from, "{plan:?}");
            let untouched = state(server);
            desk.refused(&whole);
            assert_eq!(state(server), untouched);
            return;
        }
        if let Place::Back(n) = place {
            assert_eq!(plan.redelivered.value, there.iter().filter(|at| **at <= from).count().min(n) as i64);
        }
        let done = desk.done(&whole);
        assert_eq!(done.cursor, Some(plan.target));
        assert_eq!(cursor(server), plan.target);
        assert_eq!(pending(server).len(), before.len(), "the pending list is untouched");
        if dice.chance(25) && plan.direction != Direction::None {
            let back = desk.seek_beyond(Place::Id(id(&plan.undo.words()[4].to_string())), true);
            desk.done(&Plan::Seek(back));
            assert_eq!(cursor(server), from);
            return;
        }
        let read = read_on(server, "reader");
        assert_eq!(read, there.iter().filter(|at| **at > plan.target).copied().collect::<Vec<_>>());
        // after a rewind, an entry that is pending ahead of the cursor is neither read nor lost
        let skipped = there.iter().filter(|at| **at > from && !read.contains(at) && !before.contains_key(at)).count();
        let again: Vec<EntryId> = read.iter().filter(|at| **at <= from).copied().collect();
        assert!(plan.skipped.exact && plan.redelivered.exact);
        assert_eq!((plan.skipped.value, plan.redelivered.value), (skipped as i64, again.len() as i64), "{plan:?}");
        let changed_hands = again.iter().filter(|at| before.contains_key(at)).count() as i64;
        assert_eq!(plan.redelivered_pending, changed_hands);
        assert_eq!(plan.pending_untouched, before.len() as i64 - changed_hands);
        let after = pending(server);
        for at in &again {
            assert_eq!((after[at].owner.as_ref(), after[at].count), (Some(&Name::from("reader")), 1), "{at}");
        }
    });
}

#[test]
fn marked_entries_go_where_the_preview_says_or_off_the_list() {
    each_past(|server, found, desk, dice| {
        let before = pending(server);
        let there = entries(server);
        let marked: Vec<EntryId> = before.keys().filter(|_| dice.chance(40)).copied().chain([id("999-9")]).collect();
        let target = dice.one_of(&NAMES);
        let hands = dice.chance(60);
        let what = if hands { What::MoveTo(target.into()) } else { What::Acknowledge };
        let plan = desk.entries(marked.clone(), what);
        let meant: Vec<EntryId> = plan.rows.iter().map(|row| row.id).collect();
        let movable = |at: &&EntryId| !hands || found.compat() < (7, 0, 0) || there.contains(at);
        let expected: Vec<EntryId> =
            marked.iter().filter(|at| before.contains_key(at)).filter(movable).copied().collect();
        assert_eq!(meant, expected);
        let whole = Plan::Marked(plan);
        if meant.is_empty() {
            let untouched = state(server);
            desk.refused(&whole);
            assert_eq!(state(server), untouched);
            return;
        }
        let done = desk.done(&whole);
        assert_eq!(if hands { done.claimed } else { done.acknowledged }, meant.len() as i64);
        let after = pending(server);
        for (at, was) in &before {
            match (meant.contains(at), hands) {
                (true, true) => {
                    assert_eq!((after[at].owner.clone(), after[at].count), (Some(target.into()), was.count));
                }
                (true, false) => assert!(!after.contains_key(at)),
                (false, _) => assert_eq!((&after[at].owner, after[at].count), (&was.owner, was.count)),
            }
        }
        assert_eq!(after.len(), before.len() - if hands { 0 } else { meant.len() });
    });
}

#[test]
fn a_consumer_is_deleted_only_while_it_holds_nothing() {
    each_past(|server, _, desk, dice| {
        let name = dice.one_of(&NAMES);
        let holds = pending(server).values().any(|held| held.owner == Some(name.into()));
        let untouched = holdings(server);
        let plan = desk.delete(name);
        if holds {
            assert!(plan.refused().unwrap().contains("holds"), "{:?}", plan.refused());
            desk.refused(&plan);
        } else {
            assert!(desk.done(&plan).deleted.is_some());
        }
        assert_eq!(super::desk::consumers(server).contains(&name.to_owned()), holds);
        assert_eq!(holdings(server), untouched);
    });
}
