#![allow(clippy::unwrap_used, clippy::expect_used)]
use super::*;
use crate::core::id::EntryId;
use proptest::prelude::*;

fn stream(added: Option<i64>) -> StreamFacts {
    StreamFacts {
        length: 1,
        entries_added: added.map_or(Known::Unsupported, Known::Is),
        max_deleted: Known::Unsupported,
        ..StreamFacts::empty()
    }
}

fn push(history: &mut History, at: u64, added: Option<i64>, read: Option<i64>, pending: i64, lag: Lag) {
    let counted = |n: Option<i64>| n.map_or(Known::Unsupported, Known::Is);
    let group = GroupFacts {
        pending: Known::Is(pending),
        entries_read: counted(read),
        reported_lag: Known::Unsupported,
        ..GroupFacts::fresh("g")
    };
    history.push(Mono(at), Some(&stream(added)), &group, &lag);
}

fn lag(kind: LagKind, value: i64) -> Lag {
    Lag { kind, value: Some(value), ..Lag::unknown("") }
}

#[test]
fn rates_are_what_happened_per_second() {
    let mut history = History::default();
    for second in 0..=10 {
        push(
            &mut history,
            second * 1000,
            Some(20 * second as i64),
            Some(10 * second as i64),
            second as i64,
            lag(LagKind::Exact, 0),
        );
    }
    assert_eq!(history.rates(10_000), Rates { added: Some(20.0), delivered: Some(10.0), acked: Some(9.0) });
}

#[test]
fn a_counter_that_went_back_starts_a_new_history() {
    for (added, read) in [(5, 50), (50, 5)] {
        let mut history = History::default();
        push(&mut history, 0, Some(10), Some(10), 0, lag(LagKind::Exact, 0));
        push(&mut history, 1000, Some(20), Some(20), 0, lag(LagKind::Exact, 0));
        push(&mut history, 2000, Some(added), Some(read), 0, lag(LagKind::Exact, 0));
        assert_eq!(history.points().len(), 1, "{added} {read}");
        assert_eq!(history.rates(10_000), Rates::default(), "one point has no rate");
    }
}

#[test]
fn a_cursor_that_went_back_starts_a_new_history() {
    let mut history = History::default();
    let mut group = GroupFacts {
        cursor: EntryId::new(9, 0),
        entries_read: Known::Undetermined,
        reported_lag: Known::Undetermined,
        ..GroupFacts::fresh("g")
    };
    history.push(Mono(0), Some(&stream(Some(10))), &group, &lag(LagKind::Exact, 1));
    history.push(Mono(1000), Some(&stream(Some(10))), &group, &lag(LagKind::Exact, 1));
    group.cursor = EntryId::new(2, 0);
    history.push(Mono(2000), Some(&stream(Some(10))), &group, &lag(LagKind::Exact, 8));
    assert_eq!(history.points().map(|point| point.lag).collect::<Vec<_>>(), [Some(8)]);
}

#[test]
fn servers_without_counters_have_no_rates_and_keep_their_history() {
    let mut history = History::default();
    for second in 0..5 {
        push(&mut history, second * 1000, None, None, 3, lag(LagKind::Exact, 2));
    }
    assert_eq!((history.points().len(), history.rates(10_000)), (5, Rates::default()));
}

#[test]
fn bounds_and_unknowns_are_no_points_of_a_trend() {
    let mut history = History::default();
    for (second, kind) in
        [LagKind::AtLeast, LagKind::AtMost, LagKind::Unknown, LagKind::Reported, LagKind::Exact].into_iter().enumerate()
    {
        push(&mut history, second as u64 * 1000, Some(1), Some(1), 0, lag(kind, 7));
    }
    let lags: Vec<_> = history.points().map(|point| point.lag).collect();
    assert_eq!(lags, [None, None, None, Some(7), Some(7)]);
}

#[test]
fn it_drains_only_where_more_is_read_than_comes_in() {
    let rates = |added, delivered| Rates { added, delivered, acked: None };
    assert_eq!(rates(Some(5.0), Some(15.0)).drain_ms(Some(100)), Some(10_000));
    for (added, delivered, lag) in [
        (Some(15.0), Some(5.0), Some(100)),
        (Some(5.0), Some(5.0), Some(100)),
        (Some(5.0), Some(15.0), None),
        (None, Some(15.0), Some(100)),
        (Some(5.0), Some(15.0), Some(0)),
    ] {
        assert_eq!(rates(added, delivered).drain_ms(lag), None);
    }
}

#[test]
fn the_rounds_of_one_reading_are_one_point() {
    let mut history = History::default();
    for at in [0, 10, 20, 1000, 1010] {
        push(&mut history, at, Some(at as i64), Some(0), 0, lag(LagKind::Exact, at as i64));
    }
    assert_eq!(history.points().len(), 2);
}

/// A busy group for some minutes, sampled each second; and the points that went in.
fn busy(minutes: u64) -> (History, Vec<(Mono, Option<i64>)>) {
    let (mut history, mut all) = (History::default(), Vec::new());
    for second in 0..minutes * 60 {
        let n = (second * 37 + second % 7 * 3) as i64;
        push(&mut history, second * 1000, Some(n), Some(n - 5), 3 + n % 5, lag(LagKind::Exact, n % 90));
        all.push((Mono(second * 1000), Some(n % 90)));
    }
    (history, all)
}

#[test]
fn the_last_two_minutes_are_as_sampled_and_what_is_older_is_a_part_of_it() {
    let (history, all) = busy(12);
    let known: Vec<_> = history.points().map(|point| (point.at, point.lag)).collect();
    let fine: Vec<_> = history.window(FINE_MS).map(|point| (point.at, point.lag)).collect();
    assert_eq!(fine, all[all.len() - 121..]);
    assert!(known.iter().all(|point| all.contains(point)), "nothing is made up");
    for window_ms in [0, 900, 10_000, 61_500, FINE_MS, 300_000, u64::MAX] {
        assert_eq!(history.count(window_ms), history.window(window_ms).len(), "{window_ms}");
    }
    let steps = known.iter().zip(&known[1..]).map(|(a, b)| b.0.since(a.0));
    assert!(steps.max() <= Some(COARSE_MS), "and it has no gaps");
    assert!(history.span_ms(u64::MAX) >= 600_000, "ten minutes are there");
}

#[test]
fn ten_busy_minutes_take_a_few_thousand_bytes_and_as_little_as_they_must() {
    let (mut history, _) = busy(12);
    assert!(history.bytes() < 5000, "{}", history.bytes());
    let (rates, window) = (history.rates(10_000), history.window(60_000).collect::<Vec<_>>());
    history.fit(100);
    assert!(history.bytes() < 2200, "{}", history.bytes());
    assert_eq!((history.rates(10_000), history.window(60_000).collect::<Vec<_>>()), (rates, window));
}

proptest! {
    #[test]
    fn no_rate_is_negative_and_the_ring_is_bounded(
        points in prop::collection::vec((0..3000u64, prop::option::of(-50..100i64), prop::option::of(-50..100i64), 0..50i64), 1..900),
    ) {
        let (mut history, mut at) = (History::default(), 0);
        for (wait, added, read, pending) in points {
            at += wait;
            push(&mut history, at, added, read, pending, lag(LagKind::Exact, pending));
            prop_assert!(history.points().len() <= POINTS);
            let Rates { added, delivered, acked } = history.rates(10_000);
            for rate in [added, delivered, acked].into_iter().flatten() {
                prop_assert!(rate >= 0.0 && rate.is_finite(), "{rate}");
            }
            prop_assert!(history.points().zip(history.points().skip(1)).all(|(a, b)| a.at <= b.at));
        }
    }
}
