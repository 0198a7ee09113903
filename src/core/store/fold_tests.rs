#![allow(clippy::unwrap_used, clippy::expect_used)]
//! Which events are reported between ticks, and which streams discovery keeps.

use super::{
    Focus, Reading, RowState, Settings, Store,
    fake::{Fake, events, id, key, on_screen, store, watched},
};
use crate::core::{
    id::EntryId,
    name::Name,
    sample::{Fault, Sample, ScanRequest, ScanSample},
    time::{Mono, Now},
};

#[test]
fn quiet_and_ordinary_ticks_tell_nothing() {
    let (mut fake, mut store) = watched();
    for _ in 0..20 {
        fake.add(2);
        fake.read("g", "c", 2);
        let first = *fake.group("g").pel.first_key_value().unwrap().0;
        fake.ack("g", first);
        fake.trim(12);
        fake.group("g").read = fake.group("g").read.map(|n| n + 2);
        fake.tick(&mut store, &on_screen("g"));
    }
    fake.group("g").pel.clear();
    fake.group("new").cursor = id(3);
    (0..5).for_each(|_| fake.tick(&mut store, &Focus::None));
    assert_eq!(events(&store), Vec::<&str>::new());
}

#[test]
fn a_group_that_is_gone_is_told_with_what_it_held() {
    let (mut fake, mut store) = watched();
    fake.groups.clear();
    fake.tick(&mut store, &on_screen("g"));
    fake.tick(&mut store, &on_screen("g"));
    assert_eq!(events(&store), ["group-lost"]);
    assert_eq!(store.lost_groups, None, "somebody destroyed a group, its stream is there");
    let text = &store.events[0].text;
    assert!(text.contains("6-0") && text.contains("6 pending"), "{text}");
    assert!(store.streams[&key()].groups.is_empty());
}

#[test]
fn what_waits_for_two_groups_is_lost_once_and_what_is_not_known_is_not_0() {
    let (mut fake, mut store) = watched();
    fake.group("other");
    fake.tick(&mut store, &on_screen("g"));
    let stream = store.streams.get_mut(&key()).unwrap();
    let lags: Vec<i64> = stream.groups.values().map(|group| group.lag.exact().unwrap()).collect();
    assert!(lags.len() == 2 && lags.iter().all(|lag| *lag > 0), "{lags:?}");
    assert_eq!(stream.waiting(), lags.iter().max().copied());
    stream.groups.get_mut(&"other".into()).unwrap().lag = crate::core::lag::Lag::unknown("");
    assert_eq!((stream.waiting(), stream.pending()), (None, Some(6)));
    fake.missing = true;
    fake.tick(&mut store, &on_screen("g"));
    assert!(store.events[0].text.contains("6 pending and an unknown number unread"), "{}", store.events[0].text);
}

#[test]
fn a_stream_that_is_gone_is_told_once_and_keeps_its_row() {
    let (mut fake, mut store) = watched();
    fake.missing = true;
    (0..3).for_each(|_| fake.tick(&mut store, &on_screen("g")));
    assert_eq!(events(&store), ["stream-lost", "group-lost"]);
    assert_eq!(store.lost_groups.map(|lost| lost.groups), Some(1));
    assert_eq!(store.streams[&key()].state, RowState::Fault(Fault::Missing));
    assert!(store.events[0].text.contains("6 pending"), "{}", store.events[0].text);
}

#[test]
fn a_stream_created_again_is_reported_and_keeps_nothing_of_the_old_one() {
    for unseen in [true, false] {
        let (mut fake, mut store) = watched();
        let mut new = Fake::with(3, 0);
        new.now = fake.now;
        if !unseen {
            fake.missing = true;
            fake.tick(&mut store, &on_screen("g"));
            new.now = fake.now;
        }
        new.tick(&mut store, &on_screen("g"));
        assert_eq!(
            events(&store).iter().filter(|id| **id == "stream-recreated").count(),
            1,
            "unseen {unseen}: {:?}",
            events(&store)
        );
        new.tick(&mut store, &on_screen("g"));
        let (stream, group) = store.group(&key(), &Name::from("g")).unwrap();
        assert!(stream.window.ids().all(|entry| entry <= id(3)));
        assert_eq!(group.lag.exact(), Some(3));
    }
}

#[test]
fn what_was_seen_of_a_stream_says_nothing_of_the_one_made_after_it() {
    let (mut fake, mut store) = watched();
    // lost entries, a jump, entries seen pending, one consumer at work
    fake.trim(2);
    fake.tick(&mut store, &on_screen("g"));
    fake.group("g").cursor = id(10);
    fake.group("g").read = None;
    fake.tick(&mut store, &on_screen("g"));
    let old = &store.streams[&key()].groups[&Name::from("g")];
    assert!(old.lost.is_some() && !old.seen.skips.is_empty() && !old.seen.pending.is_empty());
    let told = events(&store).len();
    let mut new = Fake::with(3, 3);
    new.now = fake.now;
    new.group("g").read = Some(3);
    new.tick(&mut store, &on_screen("g"));
    let group = &store.streams[&key()].groups[&Name::from("g")];
    assert_eq!(
        (group.lost, group.seen.skips.len(), group.seen.pending.len(), group.seen.dropped.len()),
        (None, 0, 0, 0)
    );
    assert!(group.acked_sure() && group.history.points().len() == 1);
    assert_eq!(events(&store)[told..], ["stream-recreated"], "neither its cursor nor its consumers went anywhere");
}

/// Like `watched`, with entries so large that the stream is read rarely.
fn heavy() -> (Fake, Store) {
    let mut fake = Fake::with(10, 0);
    fake.entry_bytes = 40_000;
    fake.read("g", "c", 6);
    fake.group("g").read = Some(6);
    let mut store = store();
    (0..2).for_each(|_| fake.tick(&mut store, &on_screen("g")));
    assert!(store.streams[&key()].skewed);
    (fake, store)
}

#[test]
fn facts_of_an_earlier_moment_are_not_held_against_the_group_of_now() {
    let (mut fake, mut store) = heavy();
    for _ in 0..20 {
        fake.add(3);
        fake.read("g", "c", 7);
        fake.group("g").read = Some(fake.group("g").cursor.ms as i64);
        fake.tick(&mut store, &on_screen("g"));
        let (stream, group) = store.group(&key(), &Name::from("g")).unwrap();
        let found: Vec<_> =
            fake.verdicts.group(&key(), group.name()).findings.iter().map(|finding| finding.id).collect();
        assert!(
            found.iter().all(|id| !["payload-gone", "entries-read-ahead", "trimmed-unread"].contains(id)),
            "{found:?}"
        );
        assert_eq!(group.lost, None);
        assert_eq!(stream.has_entry(EntryId::new(fake.last, 0)), (!stream.skewed).then_some(true));
    }
}

#[test]
fn replies_of_different_moments_prove_no_loss() {
    for consistent in [true, false] {
        let (mut fake, mut store) = watched();
        fake.trim(2);
        fake.now = Mono(fake.now.0 + 1000);
        let mut sample = fake.answer(&store.next_request(&on_screen("g"), fake.now));
        sample.streams[0].consistent = consistent;
        store.fold(sample, Now { mono: fake.now, wall_ms: 0 }, Reading::Tick);
        let group = &store.streams[&key()].groups[&Name::from("g")];
        assert_eq!(group.lost.is_some(), consistent);
    }
}

#[test]
fn a_cursor_that_went_back_is_told_with_both_ids() {
    let (mut fake, mut store) = watched();
    fake.group("g").cursor = id(2);
    fake.group("g").read = None;
    fake.tick(&mut store, &on_screen("g"));
    assert_eq!(events(&store), ["cursor-went-back"]);
    assert!(store.events[0].text.contains("from 6-0 to 2-0"), "{}", store.events[0].text);
}

#[test]
fn a_jump_is_told_and_what_it_passed_is_drawn_apart() {
    let (mut fake, mut store) = watched();
    fake.group("g").cursor = id(9);
    fake.group("g").read = None;
    fake.tick(&mut store, &on_screen("g"));
    assert_eq!(events(&store), ["cursor-jumped"]);
    let (stream, group) = store.group(&key(), &Name::from("g")).unwrap();
    let skipped: Vec<EntryId> = group
        .cells(stream)
        .into_iter()
        .filter(|cell| cell.state.word() == Some("skipped"))
        .map(|cell| cell.id)
        .collect();
    assert_eq!(skipped, [id(7), id(8), id(9)]);
    assert!(!group.acked_sure());
}

#[test]
fn only_a_server_that_counts_can_say_that_all_behind_the_cursor_was_acknowledged() {
    for (counts, read, cursor, sure) in
        [(true, Some(6), 6, true), (true, None, 6, false), (false, None, 6, false), (false, None, 0, true)]
    {
        let mut fake = Fake::with(10, cursor);
        fake.counts = counts;
        fake.group("g").read = read;
        let mut store = store();
        (0..2).for_each(|_| fake.tick(&mut store, &on_screen("g")));
        let (_, group) = store.group(&key(), &Name::from("g")).unwrap();
        assert_eq!(group.acked_sure(), sure, "{counts} {read:?} {cursor}");
    }
}

#[test]
fn reading_past_a_deleted_entry_is_no_jump() {
    let (mut fake, mut store) = watched();
    fake.delete(id(8));
    fake.read("g", "c", 2);
    fake.group("g").read = None;
    fake.tick(&mut store, &on_screen("g"));
    assert_eq!(events(&store), Vec::<&str>::new());
}

#[test]
fn a_consumer_that_vanished_with_pending_entries_is_told_once() {
    let (mut fake, mut store) = watched();
    let c = Name::from("c");
    fake.group("g").consumers.remove(&c);
    fake.group("g").pel.clear();
    (0..3).for_each(|_| fake.tick(&mut store, &on_screen("g")));
    assert_eq!(events(&store), ["consumer-vanished-with-pending"]);
    let text = &store.events[0].text;
    assert!(text.contains("it held 6") && text.contains("none of them is pending any more"), "{text}");
}

#[test]
fn what_a_vanished_consumer_held_is_said_as_far_as_it_is_known() {
    let c = Name::from("c");
    for (claimed, text, dropped) in [
        (6, "it held 6 when last seen (1 s ago, idle for 0 s): all of them are pending with others now", 0),
        (4, "4 of them are pending with others now, the other 2 no longer", 2),
    ] {
        let (mut fake, mut store) = watched();
        // one was acknowledged in good time: that stays known
        fake.ack("g", id(1));
        fake.group("g").cursor = id(7);
        fake.group("g").pel.insert(id(7), (c.clone(), 1, 0));
        fake.tick(&mut store, &on_screen("g"));
        let group = fake.group("g");
        group.consumers.remove(&c);
        group.consumers.insert(Name::from("d"));
        let keep: Vec<EntryId> = group.pel.keys().copied().take(claimed).collect();
        group.pel.retain(|id, _| keep.contains(id));
        group.pel.values_mut().for_each(|(owner, ..)| *owner = Name::from("d"));
        fake.tick(&mut store, &on_screen("g"));
        assert_eq!(events(&store), ["consumer-vanished-with-pending"]);
        assert!(store.events[0].text.contains(text), "{}", store.events[0].text);
        assert_eq!(store.streams[&key()].groups[&Name::from("g")].seen.dropped.len(), dropped);
    }
}

#[test]
fn of_a_vanished_consumer_in_the_background_only_the_rows_known_are_spoken_of() {
    let mut fake = Fake::with(60, 0);
    fake.read("g", "c", 40);
    let mut store = store();
    (0..3).for_each(|_| fake.tick(&mut store, &Focus::None));
    let group = fake.group("g");
    group.consumers.remove(&Name::from("c"));
    group.pel.retain(|entry, _| *entry > id(5));
    group.pel.values_mut().for_each(|(owner, ..)| *owner = Name::from("d"));
    (0..2).for_each(|_| fake.tick(&mut store, &Focus::None));
    let text = &store.events[0].text;
    assert!(
        text.contains("it held 40")
            && text.contains("of 10 known by their ids 5 are pending with others now, 5 no longer"),
        "{text}"
    );
}

#[test]
fn a_consumer_that_gave_its_entries_away_before_it_left_is_no_loss() {
    let (mut fake, mut store) = watched();
    let group = fake.group("g");
    group.consumers.insert(Name::from("d"));
    group.pel.values_mut().for_each(|(owner, ..)| *owner = Name::from("d"));
    fake.tick(&mut store, &on_screen("g"));
    fake.group("g").consumers.remove(&Name::from("c"));
    fake.tick(&mut store, &on_screen("g"));
    assert_eq!(events(&store), Vec::<&str>::new());
    assert_eq!(store.streams[&key()].groups[&Name::from("g")].seen.redeliveries.len(), 6, "but it is seen");
}

#[test]
fn entries_just_delivered_are_never_drawn_as_acknowledged() {
    let mut fake = Fake::with(10, 0);
    let mut store = store();
    (0..2).for_each(|_| fake.tick(&mut store, &on_screen("g")));
    fake.read("g", "c", 4);
    fake.tick(&mut store, &on_screen("g"));
    let (stream, group) = store.group(&key(), &Name::from("g")).unwrap();
    assert!(group.cells(stream).iter().all(|cell| cell.state.word() != Some("acked")), "{:?}", group.cells(stream));
    assert_ne!(group.oldest_idle(fake.now), super::Extreme::Exact(None));
}

#[test]
fn entries_acknowledged_and_then_trimmed_in_the_background_are_no_lost_payloads() {
    let mut fake = Fake::with(40, 0);
    for group in 0..20 {
        fake.read(&format!("g{group:02}"), "c", 30);
    }
    let mut store = store();
    (0..10).for_each(|_| fake.tick(&mut store, &Focus::None));
    for group in fake.groups.values_mut() {
        group.pel.retain(|entry, _| *entry > id(29));
    }
    fake.trim(12);
    for _ in 0..6 {
        fake.tick(&mut store, &Focus::None);
        let stream = &store.streams[&key()];
        for group in stream.groups.values() {
            assert!(group.payload_gone(stream).is_none_or(|(gone, _)| gone == 0), "{}", group.name());
        }
    }
}

fn scanned(store: &mut Store, keys: &[&str], cursor: &str, at: u64) {
    let _asked = store.next_request(&Focus::None, Mono(at)).scan;
    let found =
        ScanSample { keys: keys.iter().map(|key| Name::from(*key)).collect(), cursor: cursor.to_owned(), fault: None };
    let sample = Sample { at: Mono(at), scan: Some(found), ..Sample::default() };
    store.fold(sample, Now { mono: Mono(at), wall_ms: 0 }, Reading::Tick);
}

fn asked(store: &Store, at: u64) -> Option<ScanRequest> {
    store.next_request(&Focus::None, Mono(at)).scan
}

#[test]
fn a_pass_of_discovery_follows_the_cursor_and_rests_when_it_is_done() {
    let mut store = Store::new(Settings::default());
    assert_eq!(asked(&store, 0).unwrap().cursor, "0");
    scanned(&mut store, &["a", "b"], "17", 0);
    assert_eq!(asked(&store, 1000).unwrap().cursor, "17");
    assert!(!store.discovery.complete);
    scanned(&mut store, &["b", "c"], "0", 1000);
    assert!(store.discovery.complete);
    assert_eq!(store.streams.len(), 3, "a key that SCAN gave twice is one stream");
    assert_eq!(asked(&store, 2000), None);
    assert_eq!(asked(&store, 6000).unwrap().cursor, "0", "new streams are looked for");
}

#[test]
fn each_pattern_has_its_pass_and_a_named_key_needs_none() {
    let patterns = vec![Name::from("a*"), Name::from("b*")];
    let mut store = Store::new(Settings { patterns: patterns.clone(), ..Settings::default() });
    assert_eq!(asked(&store, 0).unwrap().pattern.as_ref(), Some(&patterns[0]));
    scanned(&mut store, &["a1"], "0", 0);
    assert!(!store.discovery.complete);
    let second = asked(&store, 1000).unwrap();
    assert_eq!((second.pattern.as_ref(), second.cursor.as_str()), (Some(&patterns[1]), "0"));
    scanned(&mut store, &["b1"], "0", 1000);
    assert!(store.discovery.complete);
    let named = Store::new(Settings { keys: vec![key()], ..Settings::default() });
    assert_eq!(asked(&named, 0), None);
}

#[test]
fn a_pass_drops_what_is_missing_and_never_a_named_key() {
    let mut store = Store::new(Settings { keys: vec![key()], patterns: vec![Name::from("*")], ..Settings::default() });
    scanned(&mut store, &["gone"], "0", 0);
    let mut fake = Fake::new();
    fake.missing = true;
    fake.tick(&mut store, &Focus::None);
    assert_eq!(store.streams.len(), 2);
    scanned(&mut store, &[], "0", 10_000);
    assert_eq!(store.streams.keys().collect::<Vec<_>>(), [&key()]);
}

#[test]
fn where_scan_is_refused_discovery_is_over_and_the_reason_is_kept() {
    let mut store = Store::new(Settings::default());
    let fault = Fault::Denied("NOPERM".into());
    let sample =
        Sample { scan: Some(ScanSample { fault: Some(fault.clone()), ..ScanSample::default() }), ..Sample::default() };
    let _request = asked(&store, 0);
    store.fold(sample, Now::default(), Reading::Tick);
    assert_eq!((store.discovery.complete, &store.discovery.fault), (true, &Some(fault)));
    assert_eq!(asked(&store, 60_000), None);
}

#[test]
fn an_error_that_passes_does_not_end_discovery() {
    let mut store = Store::new(Settings::default());
    scanned(&mut store, &["a"], "17", 0);
    let fault = Fault::Other("LOADING the data set is being loaded".into());
    let failed = ScanSample { fault: Some(fault.clone()), ..ScanSample::default() };
    let _request = asked(&store, 1000);
    let sample = Sample { at: Mono(1000), scan: Some(failed), ..Sample::default() };
    store.fold(sample, Now::default(), Reading::Tick);
    assert_eq!((store.discovery.complete, &store.discovery.fault), (false, &Some(fault)));
    assert_eq!(asked(&store, 2000), None, "not at once");
    assert!(!store.is_searching(), "a reading does not wait for it");
    assert_eq!(asked(&store, 6000).unwrap().cursor, "0");
    scanned(&mut store, &["b"], "0", 6000);
    assert_eq!((store.discovery.complete, &store.discovery.fault, store.streams.len()), (true, &None, 2));
}

#[test]
fn before_7_0_a_stream_that_lost_all_its_entries_and_a_group_was_created_again() {
    for (lose, expected) in [(true, vec!["stream-recreated", "group-lost"]), (false, vec![])] {
        let (mut fake, mut store) = watched();
        fake.counts = false;
        fake.group("peer");
        (0..2).for_each(|_| fake.tick(&mut store, &on_screen("g")));
        // every entry is new: either after a delete and a refill, or by trimming
        fake.entries.clear();
        fake.add(5);
        if lose {
            fake.groups.remove(&Name::from("peer"));
        }
        fake.tick(&mut store, &on_screen("g"));
        assert_eq!(events(&store), expected);
    }
}

#[test]
fn all_groups_of_a_stream_tell_the_same_rate_of_what_comes_in() {
    let (mut fake, mut store) = watched();
    fake.group("other").read = Some(0);
    let once = |store: &mut Store, fake: &mut Fake| {
        fake.add(4);
        fake.read("g", "c", 4);
        fake.tick(store, &on_screen("g"));
    };
    (0..5).for_each(|_| once(&mut store, &mut fake));
    // the trends of this group begin again
    fake.group("g").cursor = EntryId::new(2, 0);
    (0..2).for_each(|_| once(&mut store, &mut fake));
    let stream = &store.streams[&key()];
    let rates: Vec<Option<f64>> = stream.groups.values().map(|group| group.rates(stream).added).collect();
    assert_eq!(rates.len(), 2);
    assert!(rates[0].is_some() && rates[0] == rates[1], "{rates:?}");
}
