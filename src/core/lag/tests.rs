//! The rules against a model of the servers' own counters, against histories that must give an exact lag, and their edges one by one.
#![allow(clippy::unwrap_used)]

use super::*;
use proptest::prelude::*;
use std::collections::BTreeSet;

fn id(n: u64) -> EntryId {
    EntryId::new(n, 0)
}

/// A stream with one group, counted the way the server counts (docs/server-facts.md, "Lag").
#[derive(Clone, Debug)]
struct Model {
    family: LagFamily,
    entries: BTreeSet<EntryId>,
    added: i64,
    last: EntryId,
    max_deleted: EntryId,
    cursor: EntryId,
    read: Option<i64>,
}

impl Model {
    fn new(family: LagFamily) -> Self {
        let zero = EntryId::MIN;
        Self { family, entries: BTreeSet::new(), added: 0, last: zero, max_deleted: zero, cursor: zero, read: Some(0) }
    }

    fn first(&self) -> EntryId {
        self.entries.first().copied().unwrap_or_default()
    }

    fn add(&mut self, count: u64) -> &mut Self {
        for _ in 0..count {
            self.last = id(self.last.ms + 1);
            self.entries.insert(self.last);
            self.added += 1;
        }
        self
    }

    fn trim(&mut self, keep: usize) -> &mut Self {
        while self.entries.len() > keep {
            self.entries.pop_first();
        }
        self
    }

    fn delete(&mut self, which: EntryId) -> &mut Self {
        if self.entries.remove(&which) {
            self.max_deleted = self.max_deleted.max(which);
        }
        self
    }

    fn seek(&mut self, to: EntryId) -> &mut Self {
        (self.cursor, self.read) = (to, None);
        self
    }

    fn read(&mut self, count: usize) -> &mut Self {
        let next: Vec<EntryId> = self.entries.range(self.cursor.next().unwrap()..).take(count).copied().collect();
        for entry in next {
            let overtaken = self.family != LagFamily::A && self.cursor < self.first() && entry == self.first();
            self.read = match self.read {
                Some(read) if !overtaken && !self.has_tombstones_from(self.cursor) => Some(read + 1),
                _ => self.estimate(entry),
            };
            self.cursor = entry;
        }
        self
    }

    fn has_tombstones_from(&self, start: EntryId) -> bool {
        !self.entries.is_empty()
            && self.max_deleted > EntryId::MIN
            && (self.family != LagFamily::A || self.first() <= self.max_deleted)
            && start <= self.max_deleted
    }

    fn estimate(&self, at: EntryId) -> Option<i64> {
        let length = self.entries.len() as i64;
        if self.added == 0 || self.entries.is_empty() && at <= self.last {
            return Some(self.added);
        }
        if at > EntryId::MIN && at < self.max_deleted {
            return None;
        }
        if at == self.last {
            return Some(self.added);
        }
        let whole = self.max_deleted == EntryId::MIN || self.max_deleted < self.first();
        match at.cmp(&self.first()) {
            std::cmp::Ordering::Less if whole => Some(self.added - length),
            std::cmp::Ordering::Equal if whole => Some(self.added - length + 1),
            _ => None,
        }
    }

    fn lag(&self) -> Option<i64> {
        let length = self.entries.len() as i64;
        let newer = self.family == LagFamily::C;
        if self.added == 0 || newer && length == 0 {
            return Some(0);
        }
        if newer && self.cursor < self.first() && self.max_deleted < self.first() {
            return Some(length);
        }
        let read = self.read.filter(|_| !self.has_tombstones_from(self.cursor));
        read.or_else(|| self.estimate(self.cursor)).map(|read| self.added - read)
    }

    fn waiting(&self) -> i64 {
        self.entries.iter().filter(|entry| **entry > self.cursor).count() as i64
    }

    fn facts(&self) -> (StreamFacts, GroupFacts) {
        let known = |n: Option<i64>| n.map_or(Known::Undetermined, Known::Is);
        let stream = StreamFacts {
            length: self.entries.len() as i64,
            first: self.entries.first().copied(),
            last: self.entries.last().copied(),
            last_generated: self.last,
            entries_added: Known::Is(self.added),
            max_deleted: Known::Is(self.max_deleted),
            ..StreamFacts::empty()
        };
        let group = GroupFacts {
            cursor: self.cursor,
            entries_read: known(self.read),
            reported_lag: known(self.lag()),
            ..GroupFacts::fresh("g")
        };
        (stream, group)
    }
}

/// Somebody who looks from time to time and remembers the drift.
#[derive(Default)]
struct Eye {
    drift: Drift,
    before: Option<(StreamFacts, GroupFacts)>,
}

impl Eye {
    fn look(&mut self, model: &Model) -> Lag {
        self.look_counting(model, None)
    }

    fn look_counting(&mut self, model: &Model, count: Option<Count>) -> Lag {
        let (stream, group) = model.facts();
        let inputs = Inputs { stream: &stream, group: &group, family: model.family, drift: self.drift, count };
        let (lag, drift) = follow(&inputs, self.before.as_ref().map(|(stream, group)| (stream, group)));
        self.drift = drift;
        self.before = Some((stream, group));
        lag
    }

    /// Compares the group of this sample with the stream of the previous one.
    fn look_apart(&mut self, model: &Model) -> Lag {
        let Some((stream, old)) = &self.before else { return self.look(model) };
        let (_, group) = model.facts();
        let inputs = Inputs { stream, group: &group, family: model.family, drift: self.drift, count: None };
        let (lag, drift) = follow_apart(&inputs, Some(old));
        self.drift = drift;
        self.before = self.before.take().map(|(stream, _)| (stream, group));
        lag
    }
}

#[track_caller]
fn assert_true(lag: &Lag, model: &Model) {
    let waiting = model.waiting();
    match (lag.kind, lag.value) {
        (LagKind::Exact, Some(n)) => assert_eq!(n, waiting, "exact: {model:?}"),
        (LagKind::AtLeast, Some(n)) => assert!(n <= waiting, "at least {n}: {model:?}"),
        (LagKind::AtMost, Some(n)) => assert!(n >= waiting, "at most {n}: {model:?}"),
        (LagKind::Reported, Some(n)) => assert_eq!(Some(n), model.lag(), "{model:?}"),
        (LagKind::Unknown | LagKind::Unsupported, None) => {}
        other => panic!("{other:?}: {model:?}"),
    }
}

#[track_caller]
fn assert_exact(lag: &Lag, model: &Model) {
    assert_eq!((lag.kind, lag.value), (LagKind::Exact, Some(model.waiting())), "{lag:?} {model:?}");
}

#[derive(Clone, Debug)]
enum Step {
    Add(u64),
    Trim(usize),
    DeleteOldest,
    DeleteNth(usize),
    Read(usize),
    Seek(u64),
    Look,
    Count(usize),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        3 => (1..6_u64).prop_map(Step::Add),
        2 => (0..8_usize).prop_map(Step::Trim),
        1 => Just(Step::DeleteOldest),
        1 => (0..8_usize).prop_map(Step::DeleteNth),
        4 => (1..5_usize).prop_map(Step::Read),
        1 => (0..30_u64).prop_map(Step::Seek),
        6 => Just(Step::Look),
        1 => (1..10_usize).prop_map(Step::Count),
    ];
    prop::collection::vec(step, 1..60)
}

fn family() -> impl Strategy<Value = LagFamily> {
    prop::sample::select(vec![LagFamily::A, LagFamily::A, LagFamily::A, LagFamily::B, LagFamily::C, LagFamily::Unknown])
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

    /// Whatever happens between two looks, a wrong lag is never called exact. A lag known only from the counters is exact on families B
    /// and C. On A it is exact once the drift was measured, as long as nothing changed it.
    #[test]
    fn no_lag_is_wrong_whatever_happens(family in family(), steps in steps()) {
        let (mut model, mut eye) = (Model::new(family), Eye::default());
        for step in steps {
            match step {
                Step::Add(n) => { model.add(n); }
                Step::Trim(keep) => { model.trim(keep); }
                Step::DeleteOldest => { let first = model.first(); model.delete(first); }
                Step::DeleteNth(n) => {
                    if let Some(which) = model.entries.iter().nth(n).copied() { model.delete(which); }
                }
                Step::Read(n) => { model.read(n); }
                // look directly after a move, before anybody reads past the old place: `next_drift` cannot see that
                Step::Seek(to) => {
                    let to = id(to.min(model.last.ms));
                    assert_true(&eye.look(model.seek(to)), &model);
                }
                Step::Look => assert_true(&eye.look(&model), &model),
                Step::Count(limit) => {
                    let waiting = model.waiting();
                    let entries = waiting.min(limit as i64);
                    let lag = eye.look_counting(&model, Some(Count { entries, complete: entries == waiting }));
                    assert_true(&lag, &model);
                    if entries == waiting { assert_exact(&lag, &model); }
                }
            }
        }
    }
}

/// A capped stream. Trimming overtook its group once, and the group has caught up since. The counters of family A stay off for good, by
/// the amount measured at the caught-up moment.
#[test]
fn a_measured_drift_keeps_the_lag_exact() {
    let mut model = Model::new(LagFamily::A);
    let mut eye = Eye::default();
    model.add(10).read(4).add(10).trim(6);
    assert_exact(&eye.look(&model), &model);
    // after being overtaken, a read counts only the entries it returns: ten were missed
    model.read(2).add(3);
    assert_exact(&eye.look(&model), &model);
    // trimmed past the cursor again and read on from there, all unseen: nothing is measured until the group reaches the end
    model.add(6).trim(5).read(1);
    let lag = eye.look(&model);
    assert_true(&lag, &model);
    assert_ne!(lag.kind, LagKind::Exact, "{lag:?}");
    assert_exact(&eye.look(model.read(10)), &model);
    let missed = eye.drift.unwrap();
    assert!(missed > 10, "{missed}");
    for _ in 0..5 {
        model.add(3);
        assert_exact(&eye.look(&model), &model);
        model.read(2).trim(20);
        assert_exact(&eye.look(&model), &model);
        assert_eq!((eye.drift, model.lag()), (Some(missed), Some(model.waiting() + missed)), "off for good");
    }
}

/// The drift is also measured while everything retained is ahead of the cursor.
#[test]
fn the_drift_is_measured_before_the_first_read() {
    let mut model = Model::new(LagFamily::A);
    let mut eye = Eye::default();
    assert_exact(&eye.look(model.add(8)), &model);
    assert_eq!(eye.drift, Some(0));
    assert_exact(&eye.look(model.read(3)), &model);
    assert_exact(&eye.look(model.delete(id(1))), &model);
}

/// A complete count is a measurement, an incomplete one is not.
#[test]
fn a_complete_count_measures_the_drift() {
    let mut model = Model::new(LagFamily::A);
    model.add(10).read(4).add(10).trim(6).read(2).add(3);
    let waiting = model.waiting();
    for (entries, complete, drift) in [(waiting, true, Some(10)), (waiting - 1, false, None)] {
        let (mut model, mut eye) = (model.clone(), Eye::default());
        let lag = eye.look_counting(&model, Some(Count { entries, complete }));
        assert_eq!(eye.drift, drift, "{lag:?}");
        assert_true(&lag, &model);
        model.add(1);
        let lag = eye.look(&model);
        assert_eq!(lag.kind == LagKind::Exact, complete, "{lag:?}");
        assert_true(&lag, &model);
    }
}

/// A group without any measurement is reported, not exact, if anything was ever removed.
#[test]
fn an_unmeasured_drift_is_reported_or_bounded() {
    let mut model = Model::new(LagFamily::A);
    model.add(10).read(4);
    assert_exact(&Eye::default().look(&model), &model);
    model.trim(8);
    let lag = Eye::default().look(&model);
    assert_eq!((lag.kind, lag.value), (LagKind::Reported, Some(6)));
    // the server's number counts only within bounds
    model.read(4).trim(3).add(10).trim(3);
    model.read(1);
    let lag = Eye::default().look(&model);
    assert_eq!((lag.kind, lag.value), (LagKind::AtMost, Some(2)), "{:?}", model.lag());
}

/// What can change the drift between two samples, case by case, and what cannot.
#[test]
fn only_what_can_move_the_drift_makes_it_unknown() {
    let stream = |first, deleted| StreamFacts {
        length: 20,
        first: Some(id(first)),
        last: Some(id(100)),
        last_generated: id(100),
        entries_added: Known::Is(100),
        max_deleted: Known::Is(id(deleted)),
        ..StreamFacts::empty()
    };
    let group = |cursor, read| GroupFacts { cursor: id(cursor), entries_read: read, ..GroupFacts::fresh("g") };
    let (is, none) = (Known::Is, Known::Undetermined);
    let (old_stream, old_group) = (stream(40, 45), group(50, is(30)));
    let next = |now_stream: &StreamFacts, now_group: &GroupFacts| {
        let before = Some((&old_stream, &old_group));
        next_drift(Some(7), before, (now_stream, now_group), &Lag::unknown(""))
    };
    let same = stream(40, 45);
    let table = [
        ("nothing happened", next(&same, &old_group), Some(7)),
        ("it read on", next(&same, &group(60, is(40))), Some(7)),
        ("trimmed up to the cursor", next(&stream(50, 45), &old_group), Some(7)),
        ("trimmed past the cursor", next(&stream(51, 45), &old_group), None),
        ("deleted behind the cursor", next(&stream(40, 49), &old_group), Some(7)),
        ("deleted at the cursor", next(&stream(40, 50), &old_group), None),
        ("deleted ahead", next(&stream(40, 51), &old_group), None),
        ("deleted ahead, then read past it", next(&stream(40, 55), &group(60, is(40))), None),
        ("moved back, and read up to its old place", next(&same, &group(50, is(35))), None),
        ("went back by hand", next(&same, &group(49, is(30))), None),
        ("the count went back", next(&same, &group(50, is(29))), None),
        ("the count was forgotten", next(&same, &group(60, none)), Some(0)),
    ];
    for (what, found, expected) in table {
        assert_eq!(found, expected, "{what}");
    }
    let forgotten = group(50, none);
    let before = Some((&old_stream, &forgotten));
    let found = next_drift(Some(7), before, (&same, &group(60, is(40))), &Lag::unknown(""));
    assert_eq!(found, None, "the count came back after it was forgotten");
    assert_eq!(next_drift(Some(7), None, (&same, &old_group), &Lag::unknown("")), None, "nothing to compare with");
    // an exact lag that does not follow from the position is not a measurement here
    let exact = Lag { kind: LagKind::Exact, value: Some(3), ..Lag::unknown("") };
    assert_eq!(next_drift(Some(7), Some((&old_stream, &old_group)), (&same, &old_group), &exact), Some(7));
}

#[test]
fn a_drift_is_what_the_counters_miss() {
    let stream = |added| StreamFacts { entries_added: added, ..StreamFacts::empty() };
    let group = |read| GroupFacts { entries_read: read, ..GroupFacts::fresh("g") };
    let (is, none) = (Known::Is, Known::Undetermined);
    assert_eq!(measured_drift(&stream(is(100)), &group(is(60)), 30), Some(10));
    assert_eq!(measured_drift(&stream(is(100)), &group(is(60)), 50), Some(-10));
    assert_eq!(measured_drift(&stream(is(100)), &group(none), 30), Some(0), "computed from the position, it is right");
    assert_eq!(measured_drift(&stream(Known::Unsupported), &group(is(60)), 30), None);
    assert_eq!(measured_drift(&stream(is(100)), &group(Known::Unsupported), 30), None);
    assert_eq!(measured_drift(&stream(is(i64::MIN)), &group(is(60)), 30), None, "too far apart to be subtracted");
}

/// Stream and group of two moments: the drift can be lost, but not measured.
#[test]
fn two_moments_measure_nothing() {
    let mut model = Model::new(LagFamily::A);
    let mut eye = Eye::default();
    model.add(10).read(4).add(10).trim(6).read(6);
    eye.look(&model);
    assert_eq!(eye.drift, Some(10));
    let known = eye.drift;
    model.add(4).read(1);
    eye.look(&model);
    assert_eq!(eye.drift, known);
    model.read(1);
    eye.look_apart(&model);
    assert_eq!(eye.drift, known, "reading on moves no drift");
    model.seek(id(17));
    eye.look_apart(&model);
    assert_eq!(eye.drift, Some(0), "the count was forgotten");
    let mut other = Model::new(LagFamily::A);
    let mut eye = Eye::default();
    other.add(10).read(4).trim(6);
    eye.look(&other);
    other.read(10);
    let lag = eye.look_apart(&other);
    assert_eq!((lag.kind, eye.drift), (LagKind::Exact, None), "caught up, but by the stream of another moment");
}

#[test]
fn counters_below_what_is_there_are_not_believed() {
    let stream = |added| StreamFacts {
        length: 10,
        first: Some(id(1)),
        last: Some(id(10)),
        last_generated: id(10),
        entries_added: Known::Is(added),
        ..StreamFacts::empty()
    };
    let group = GroupFacts { cursor: id(4), reported_lag: Known::Is(3), ..GroupFacts::fresh("g") };
    for family in [LagFamily::A, LagFamily::B, LagFamily::C, LagFamily::Unknown] {
        let lag = |added| resolve(&Inputs { stream: &stream(added), group: &group, family, drift: None, count: None });
        assert_eq!((lag(3).kind, lag(3).value), (LagKind::AtMost, Some(9)), "{family:?}");
        assert_eq!(lag(10).value, Some(3), "{family:?}");
    }
}

#[test]
fn every_kind_has_the_word_that_the_json_interface_promises() {
    use LagKind::{AtLeast, AtMost, Exact, Reported, Unknown, Unsupported};
    let words = [Exact, Reported, AtLeast, AtMost, Unknown, Unsupported].map(LagKind::word);
    assert_eq!(words, ["exact", "reported", "at_least", "at_most", "unknown", "unsupported"]);
}

#[test]
fn the_server_differs_where_it_contradicts_an_exact_lag_or_reports_what_cannot_be() {
    let lag = |kind, value, reported| Lag { kind, value, reported, reason: None, beyond_end: false };
    let table = [
        (lag(LagKind::Exact, Some(3), Some(3)), false),
        (lag(LagKind::Exact, Some(3), Some(4)), true),
        (lag(LagKind::Exact, Some(3), None), false),
        (lag(LagKind::AtMost, Some(3), Some(4)), false),
        (lag(LagKind::Unknown, None, Some(4)), false),
        (lag(LagKind::Unknown, None, Some(-1)), true),
        (lag(LagKind::AtLeast, Some(3), Some(-1)), true),
    ];
    for (lag, differs) in table {
        assert_eq!(lag.server_differs(), differs, "{lag:?}");
    }
}

#[test]
fn the_servers_own_number_stays_beside_every_answer() {
    let stream = |length, last| StreamFacts { length, last_generated: id(last), ..StreamFacts::empty() };
    let group = |cursor| GroupFacts { cursor: id(cursor), reported_lag: Known::Is(7), ..GroupFacts::fresh("g") };
    // no rule applies: the entries after the cursor are at least 1 and at most 0
    let one = StreamFacts { first: Some(id(1)), last: Some(id(9)), ..stream(1, 9) };
    for (facts, cursor) in [(stream(0, 0), 0), (one.clone(), 12), (one, 5)] {
        for family in [LagFamily::A, LagFamily::B, LagFamily::C, LagFamily::Unknown] {
            let inputs = Inputs { stream: &facts, group: &group(cursor), family, drift: None, count: None };
            assert_eq!(resolve(&inputs).reported, Some(7), "{facts:?} at {cursor}");
        }
    }
    for reported in [7, -1] {
        let group = GroupFacts { reported_lag: Known::Is(reported), ..group(5) };
        assert_eq!(unchecked(&group).reported, Some(reported));
    }
}
