//! Wrong numbers that other servers are reported to send (docs/server-facts.md 12).

use super::*;

#[test]
fn a_group_listed_twice_counts_once_and_what_the_two_disagree_on_is_not_known() {
    let one = |pending: i64, lag: i64, cursor: &str| {
        fields(
            Shape::Flat,
            &[
                ("name", bulk("g")),
                ("consumers", Value::Int(1)),
                ("pending", Value::Int(pending)),
                ("last-delivered-id", bulk(cursor)),
                ("entries-read", Value::Int(5)),
                ("lag", Value::Int(lag)),
            ],
        )
    };
    let found = groups(&array([one(2, 3, "1-0"), one(2, 3, "1-0")])).unwrap();
    assert_eq!(found.iter().map(|group| group.pending.value()).collect::<Vec<_>>(), [Some(2)]);
    let found = groups(&array([one(1, 3, "1-0"), one(2, 4, "1-0")])).unwrap();
    assert_eq!(found.iter().map(|group| group.pending.value()).collect::<Vec<_>>(), [None]);
    assert_eq!((found[0].consumers, found[0].entries_read), (Known::Is(1), Known::Is(5)));
    assert_eq!(found[0].reported_lag, Known::Undetermined);
    assert!(groups(&array([one(1, 3, "1-0"), one(1, 3, "2-0")])).is_err(), "two cursors are none");
}

#[test]
fn a_count_that_cannot_be_true_blanks_itself_and_is_never_zero() {
    let impossible = [
        Value::Int(-1),
        Value::Int(i64::MIN),
        bulk("18446744073709551615"),
        Value::BigNumber(b"18446744073709551611".to_vec()),
        Value::Nil,
        bulk("null"),
        Value::Boolean(false),
        Value::Double(0.5),
        array([]),
    ];
    for value in impossible {
        let group = array([fields(
            Shape::Map,
            &[
                ("name", bulk("g")),
                ("consumers", value.clone()),
                ("pending", value.clone()),
                ("last-delivered-id", bulk("6-0")),
            ],
        )]);
        let found = groups(&group).unwrap().remove(0);
        assert_eq!((found.pending, found.consumers), (Known::Contradictory, Known::Contradictory), "{value:?}");
        assert_eq!(found.cursor, EntryId::new(6, 0), "the rest of the group is read");
        let consumer = [("name", bulk("c")), ("pending", value.clone()), ("idle", Value::Int(1))];
        assert!(consumers(&array([fields(Shape::Flat, &consumer)])).is_err(), "{value:?}");
        let consumer = [("name", bulk("c")), ("pending", Value::Int(1)), ("idle", value.clone())];
        assert!(consumers(&array([fields(Shape::Flat, &consumer)])).is_err(), "{value:?}");
        let short = array([value.clone(), Value::Nil, Value::Nil, Value::Nil]);
        assert!(summary(&short).is_err(), "{value:?}");
        let short = array([Value::Int(1), Value::Nil, Value::Nil, array([array([bulk("c"), value.clone()])])]);
        assert!(summary(&short).is_err(), "{value:?}");
    }
}

#[test]
fn numbers_come_in_every_form_that_has_one() {
    let six = [
        Value::Int(6),
        bulk("6"),
        Value::SimpleString("6".into()),
        Value::Double(6.0),
        Value::BigNumber(b"6".to_vec()),
        Value::VerbatimString { format: redis::VerbatimFormat::Text, text: "6".into() },
        Value::Attribute { data: Box::new(bulk("6")), attributes: vec![(bulk("ttl"), Value::Int(1))] },
    ];
    for value in six {
        assert_eq!(only_group(Shape::Map, &[("lag", value.clone())]).reported_lag, Known::Is(6), "{value:?}");
    }
}

#[test]
fn a_stream_whose_numbers_contradict_each_other_is_a_fault() {
    let reply = |length, first, last| {
        stream(&fields(
            Shape::Map,
            &[
                ("length", Value::Int(length)),
                ("last-generated-id", bulk("9-0")),
                ("entries-added", Value::Int(-7)),
                ("first-entry", first),
                ("last-entry", last),
            ],
        ))
    };
    assert_eq!(reply(2, entry_of("1-0"), entry_of("2-0")).unwrap().entries_added, Known::Undetermined);
    assert!(reply(1, entry_of("1-0"), entry_of("1-0")).is_ok());
    assert!(reply(0, Value::Nil, Value::Nil).is_ok());
    assert!(reply(-1, Value::Nil, Value::Nil).is_err());
    assert!(reply(0, entry_of("1-0"), Value::Nil).is_err());
    assert!(reply(2, entry_of("2-0"), entry_of("1-0")).is_err());
}

#[test]
fn a_summary_whose_holders_have_more_than_there_is_is_a_fault() {
    let holders = |count: &str| array([array([bulk("c"), bulk(count)])]);
    assert!(summary(&array([Value::Int(3), Value::Nil, Value::Nil, holders("3")])).is_ok());
    assert!(summary(&array([Value::Int(3), Value::Nil, Value::Nil, holders("4")])).is_err());
}

#[test]
fn a_consumer_listed_twice_counts_once_or_not_at_all() {
    let one =
        |idle| fields(Shape::Flat, &[("name", bulk("c")), ("pending", Value::Int(1)), ("idle", Value::Int(idle))]);
    assert_eq!(consumers(&array([one(2), one(2)])).unwrap().len(), 1);
    assert!(consumers(&array([one(2), one(3)])).is_err());
}

#[test]
fn a_step_of_scan_without_a_list_of_keys_is_a_fault() {
    assert_eq!(scan(&array([Value::Int(0), array([bulk("k")])])).unwrap().0, "0");
    for keys in [bulk("(empty array)"), array([array([])])] {
        assert!(scan(&array([bulk("0"), keys])).is_err());
    }
    assert!(scan(&array([bulk("0")])).is_err());
}

#[test]
fn an_entry_that_nothing_is_told_of_has_no_idle_time_and_no_count() {
    let row = |owner: &str, idle, deliveries| {
        let row = array([bulk("3-0"), bulk(owner), Value::Int(idle), Value::Int(deliveries)]);
        let row = pending(&array([row])).unwrap().remove(0);
        (row.idle_known_ms(), row.deliveries_known())
    };
    assert_eq!(row("c", 0, 0), (None, None), "Kvrocks");
    assert_eq!(row("c", 0, 1), (Some(0), Some(1)), "just delivered");
    assert_eq!(row("c", 7, 0), (Some(7), Some(0)), "XCLAIM RETRYCOUNT 0");
    assert_eq!(row("c", 7, i64::MIN), (Some(7), None), "a claim of a given-up entry below 8.8");
    assert_eq!(row("", -1, 0), (None, Some(0)), "released after its first delivery");
}
