#![allow(clippy::unwrap_used, clippy::expect_used)]
//! A refusal blanks only its own column, and the command is not sent again at every tick (docs/server-facts.md 13.13).

use super::{
    Extreme, Reading,
    fake::{Fake, events, id, key, on_screen, store},
};
use crate::core::{
    lag::LagKind,
    name::Name,
    sample::{Fault, Sample},
    time::{Mono, Now},
};

#[test]
fn a_stream_that_may_not_be_looked_at_still_shows_the_groups_that_may() {
    let mut fake = Fake::with(6, 2);
    fake.read("g", "c1", 2);
    fake.group("g").lag = Some(2);
    fake.group("h").lag = None;
    let mut store = store();
    let refuse = |mut sample: Sample| {
        for stream in sample.streams.iter_mut().filter(|stream| stream.facts != Err(Fault::Unasked)) {
            stream.facts = Err(Fault::Denied("NOPERM".to_owned()));
        }
        sample
    };
    let mut asked = 0;
    for _ in 0..20 {
        fake.now = Mono(fake.now.0 + 1000);
        let request = store.next_request(&on_screen("g"), fake.now);
        asked += usize::from(request.streams.iter().any(|stream| stream.facts));
        let sample = refuse(fake.answer(&request));
        store.fold(sample, Now { mono: fake.now, wall_ms: 0 }, Reading::Tick);
    }
    let (stream, group) = store.group(&key(), &Name::from("g")).unwrap();
    assert!(stream.is_ok() && stream.facts.value.is_none() && stream.facts.failure.is_some());
    assert!(asked <= 2, "what is refused is not asked for with every tick: {asked}");
    assert_eq!((group.facts.pending.value(), group.pel.rows.len(), group.pel.complete), (Some(2), 2, true));
    assert_eq!((group.lag.kind, group.lag.value), (LagKind::Reported, Some(2)));
    assert_eq!(group.payload_gone(stream), Some((0, false)), "nothing is known of payloads");
    let (_, other) = store.group(&key(), &Name::from("h")).unwrap();
    assert_eq!((other.lag.kind, other.lag.value), (LagKind::Unknown, None));
    // the group moves back: that shows without the stream
    fake.group("g").cursor = id(1);
    let request = store.next_request(&on_screen("g"), fake.now);
    let sample = refuse(fake.answer(&request));
    store.fold(sample, Now { mono: fake.now, wall_ms: 0 }, Reading::Tick);
    assert_eq!(events(&store), ["cursor-went-back"]);
}

#[test]
fn refused_details_are_asked_for_rarely_and_blank_nothing_else() {
    let mut fake = Fake::with(6, 2);
    fake.read("g", "c1", 2);
    let mut store = store();
    let (mut pages, mut lists) = (0, 0);
    for _ in 0..20 {
        fake.now = Mono(fake.now.0 + 1000);
        let request = store.next_request(&on_screen("g"), fake.now);
        let mut sample = fake.answer(&request);
        for detail in sample.streams.iter_mut().flat_map(|stream| &mut stream.details) {
            let refused = || Fault::Denied("NOPERM".to_owned());
            pages += detail.pages.len();
            detail.pages.iter_mut().for_each(|(_, part)| *part = Err(refused()));
            lists += usize::from(detail.consumers.is_some());
            detail.consumers = detail.consumers.take().map(|_| Err(refused()));
        }
        store.fold(sample, Now { mono: fake.now, wall_ms: 0 }, Reading::Tick);
    }
    assert!(pages <= 3 && lists <= 3, "{pages} pages, {lists} lists");
    let (_, group) = store.group(&key(), &Name::from("g")).unwrap();
    assert_eq!((group.holders(), group.oldest_idle(fake.now)), (None, Extreme::Unknown));
    assert_eq!((group.facts.pending.value(), group.lag.kind), (Some(2), LagKind::Exact));
    // once it is allowed it is seen within half a minute, however rarely the group has its turn
    for second in (7..42).step_by(7) {
        fake.now = Mono(20_000 + second * 1000);
        let request = store.next_request(&on_screen("g"), fake.now);
        let sample = fake.answer(&request);
        store.fold(sample, Now { mono: fake.now, wall_ms: 0 }, Reading::Tick);
    }
    let (_, group) = store.group(&key(), &Name::from("g")).unwrap();
    assert_eq!((group.holders(), group.pel.rows.len(), &group.pel_failure), (Some(1), 2, &None));
}
