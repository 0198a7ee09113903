//! The edges of the rules, one by one: at each of them a wrong comparison would show.
#![allow(clippy::unwrap_used)]

use super::*;

fn id(n: u64) -> EntryId {
    EntryId::new(n, 0)
}

/// A stream of ten entries, 1 to 10, of which the fourth was read last.
fn ten() -> (StreamFacts, GroupFacts) {
    let stream = StreamFacts {
        length: 10,
        first: Some(id(1)),
        last: Some(id(10)),
        last_generated: id(10),
        entries_added: Known::Is(12),
        ..StreamFacts::empty()
    };
    (stream, GroupFacts { cursor: id(4), entries_read: Known::Is(4), ..GroupFacts::fresh("g") })
}

#[test]
fn a_number_of_the_server_counts_within_its_bounds_and_not_below_what_was_counted() {
    let (stream, group) = ten();
    let part = |entries| Some(Count { entries, complete: false });
    let (exact, reported, least, most) = (LagKind::Exact, LagKind::Reported, LagKind::AtLeast, LagKind::AtMost);
    let table = [
        // reported, counted so far, and what B and C, and a server that is not known, make of it
        (6, None, (exact, 6), (reported, 6)),
        (6, part(6), (exact, 6), (reported, 6)),
        (6, part(5), (exact, 6), (reported, 6)),
        (6, part(7), (least, 7), (least, 7)),
        (0, None, (most, 9), (most, 9)),
        (10, None, (most, 9), (most, 9)),
        (10, part(0), (most, 9), (most, 9)),
        (10, part(3), (least, 3), (least, 3)),
    ];
    for (said, count, of_known, of_unknown) in table {
        let group = GroupFacts { reported_lag: Known::Is(said), ..group.clone() };
        let lag = |family| {
            let lag = resolve(&Inputs { stream: &stream, group: &group, family, drift: None, count });
            (lag.kind, lag.value.unwrap())
        };
        assert_eq!(lag(LagFamily::B), of_known, "{said} {count:?}");
        assert_eq!(lag(LagFamily::C), of_known, "{said} {count:?}");
        assert_eq!(lag(LagFamily::Unknown), of_unknown, "{said} {count:?}");
    }
}

#[test]
fn the_reason_of_a_bound_says_what_is_wrong_with_the_servers_number() {
    let (stream, group) = ten();
    let reason = |reported_lag| {
        let group = GroupFacts { reported_lag, ..group.clone() };
        resolve(&Inputs { stream: &stream, group: &group, family: LagFamily::C, drift: None, count: None }).reason
    };
    assert_eq!(reason(Known::Is(-1)), Some("the server reports a negative lag"));
    assert_eq!(reason(Known::Is(0)), Some("the server's number is impossible here"));
    assert_eq!(reason(Known::Is(11)), Some("the server's number is impossible here"));
    assert_eq!(reason(Known::Unsupported), Some("not reported by this server"));
}

#[test]
fn without_the_stream_only_a_number_that_can_be_true_is_repeated() {
    let lag = |reported_lag| unchecked(&GroupFacts { reported_lag, ..GroupFacts::fresh("g") });
    for (said, kind, value) in [
        (Known::Is(0), LagKind::Reported, Some(0)),
        (Known::Is(5), LagKind::Reported, Some(5)),
        (Known::Is(-1), LagKind::Unknown, None),
        (Known::Undetermined, LagKind::Unknown, None),
        (Known::Unsupported, LagKind::Unsupported, None),
    ] {
        assert_eq!((lag(said).kind, lag(said).value), (kind, value), "{said:?}");
    }
}

#[test]
fn a_cursor_at_the_last_id_has_caught_up_although_that_entry_was_deleted() {
    let (stream, _) = ten();
    let shorter = StreamFacts { last: Some(id(9)), length: 9, ..stream };
    let at = |cursor| by_position(&shorter, id(cursor));
    assert_eq!((at(8), at(9), at(10), at(11)), (None, Some(0), Some(0), None));
}

#[test]
fn an_entry_deleted_ahead_spoils_the_drift_when_the_group_reads_past_it_and_not_before() {
    let (stream, group) = ten();
    let deleted = StreamFacts { max_deleted: Known::Is(id(6)), ..stream };
    let next = |cursor, read| {
        let now = GroupFacts { cursor: id(cursor), entries_read: Known::Is(read), ..group.clone() };
        next_drift(Some(2), Some((&deleted, &group)), (&deleted, &now), &Lag::unknown(""))
    };
    assert_eq!((next(4, 4), next(7, 6)), (Some(2), None));
}

#[test]
fn of_two_moments_a_drift_that_was_lost_proves_nothing() {
    let (stream, group) = ten();
    let before = GroupFacts { reported_lag: Known::Is(8), ..group.clone() };
    let lag = |now: &GroupFacts| {
        let inputs = Inputs { stream: &stream, group: now, family: LagFamily::A, drift: Some(2), count: None };
        follow_apart(&inputs, Some(&before))
    };
    let (kept, drift) = lag(&before);
    assert_eq!((kept.exact(), drift), (Some(6), Some(2)));
    let by_hand = GroupFacts { cursor: id(3), ..before.clone() };
    let (lost, drift) = lag(&by_hand);
    assert_eq!((lost.kind, drift), (LagKind::Reported, None));
}
