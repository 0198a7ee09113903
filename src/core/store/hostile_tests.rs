#![allow(clippy::unwrap_used, clippy::expect_used)]
//! Counters that nobody would believe: XSETID and XGROUP accept any number, and other servers send nonsense.

use super::{Focus, Reading, Settings, Store};
use crate::core::{
    id::EntryId,
    known::Known,
    model::{ConsumerFacts, GroupFacts, PendingRow, PendingSummary, ServerFacts, StreamFacts},
    name::Name,
    sample::{GroupDetail, PageRequest, RangeIds, RangeRequest, Sample, StreamSample},
    time::{Mono, Now},
};
use proptest::prelude::*;

const ODD: [i64; 9] = [i64::MIN, i64::MIN + 1, -1, 0, 1, 3, 1000, i64::MAX - 1, i64::MAX];

fn odd() -> impl Strategy<Value = i64> {
    prop::sample::select(ODD.to_vec())
}

fn counter() -> impl Strategy<Value = Known<i64>> {
    prop_oneof![4 => odd().prop_map(Known::Is), 1 => Just(Known::Undetermined), 1 => Just(Known::Unsupported)]
}

fn entry() -> impl Strategy<Value = EntryId> {
    prop::sample::select(vec![
        EntryId::MIN,
        EntryId::new(1, 0),
        EntryId::new(2, 0),
        EntryId::new(7, u64::MAX),
        EntryId::MAX,
    ])
}

fn stream() -> impl Strategy<Value = StreamFacts> {
    (odd(), prop::option::of(entry()), prop::option::of(entry()), entry(), counter(), entry()).prop_map(
        |(length, first, last, last_generated, entries_added, deleted)| StreamFacts {
            length,
            first,
            last,
            last_generated,
            entries_added,
            max_deleted: Known::Is(deleted),
            ..StreamFacts::empty()
        },
    )
}

fn sample() -> impl Strategy<Value = Sample> {
    let group = (odd(), odd(), entry(), counter(), counter());
    let consumers = prop::collection::vec((odd(), odd()), 0..4);
    let rows = prop::collection::vec((entry(), prop::option::of(odd()), odd(), 0..3usize), 0..4);
    let held = prop::collection::vec(odd(), 3);
    let known = prop::sample::select(vec!["7.0.0", "8.0.0", ""]);
    (stream(), group, consumers, rows, (odd(), held), (entry(), any::<bool>()), known).prop_map(
        |(
            facts,
            (count, pending, cursor, entries_read, reported_lag),
            consumers,
            rows,
            (total, held),
            (from, backward),
            version,
        )| {
            let name = |n: usize| Name::from(["a", "b", "c", "d"][n]);
            let consumers = consumers.into_iter().enumerate().map(|(n, (pending, idle_ms))| ConsumerFacts {
                pending,
                idle_ms,
                inactive_ms: Known::Is(idle_ms),
                ..ConsumerFacts::fresh(name(n))
            });
            let mut rows: Vec<PendingRow> = rows
                .into_iter()
                .map(|(id, idle_ms, deliveries, owner)| PendingRow {
                    id,
                    owner: Some(name(owner)),
                    idle_ms,
                    deliveries,
                })
                .collect();
            rows.sort_by_key(|row| row.id);
            rows.dedup_by_key(|row| row.id);
            let page = PageRequest { from: EntryId::MIN, to: EntryId::MAX, count: 1000, consumer: None };
            let range = RangeRequest { from, count: 5, backward };
            let ids = RangeIds { ids: vec![EntryId::new(1, 0), EntryId::new(2, 0)], bytes: u64::MAX };
            let holders = held.into_iter().enumerate().map(|(n, count)| (name(n), count)).collect();
            let detail = GroupDetail {
                name: Name::from("g"),
                consumers: Some(Ok(consumers.collect())),
                summary: Some(Ok(PendingSummary { total, holders })),
                pages: vec![(page, Ok(rows))],
            };
            let group = GroupFacts {
                consumers: Known::Is(count),
                pending: Known::Is(pending),
                cursor,
                entries_read,
                reported_lag,
                ..GroupFacts::fresh("g")
            };
            let stream = StreamSample {
                facts: Ok(facts),
                groups: Ok(vec![group]),
                ranges: vec![(range, Ok(ids))],
                details: vec![detail],
                ..StreamSample::unasked(Name::from("k"))
            };
            let server = ServerFacts { flavor: "redis".into(), version: version.into(), ..ServerFacts::default() };
            Sample { streams: vec![stream], server: Some(server), time_ms: Some(i64::MAX), ..Sample::default() }
        },
    )
}

proptest! {
    #[test]
    fn no_number_of_a_server_is_too_large_to_be_folded(samples in prop::collection::vec((sample(), 0..20_000u64, any::<bool>()), 1..12)) {
        let mut store = Store::new(Settings { keys: vec![Name::from("k")], ..Settings::default() });
        let mut at = 0;
        for (mut sample, wait, full) in samples {
            at += wait;
            sample.at = Mono(at);
            let now = Now { mono: Mono(at), wall_ms: i64::MAX };
            store.fold(sample, now, if full { Reading::Full } else { Reading::Tick });
            store.server_now_ms(now);
            let stream = &store.streams[&Name::from("k")];
            for group in stream.groups.values() {
                group.cells(stream);
                group.rates(stream).drain_ms(group.lag.value);
                group.oldest_idle(now.mono);
                group.unowned();
                store.behind_ms(stream, group, now);
            }
            store.next_request(&Focus::All, Mono(at));
        }
    }
}
