//! What comes in.

use super::{Pane, key::Key};
use crate::core::{
    action::Plan,
    outcome::Outcome,
    sample::{EntryPayload, Sample, StreamSample},
    time::Mono,
};

/// Streams that are folded at once: about three milliseconds for a hundred of three groups each. A key waits for no more than that.
const AT_ONCE: usize = 100;

/// A tick's sample as messages: of a large one each part is a message of its own, so that keys can come in between.
pub fn parts(mut sample: Box<Sample>, interval_ms: u64) -> impl Iterator<Item = Msg> {
    let at = sample.at;
    let mut later = sample.streams.split_off(sample.streams.len().min(AT_ONCE));
    sample.later = later.len();
    let mut chunks = Vec::new();
    while !later.is_empty() {
        let rest = later.split_off(later.len().min(AT_ONCE));
        chunks.push(std::mem::replace(&mut later, rest));
    }
    // what follows from the whole sample are two steps of their own
    let end = [Msg::Streams { streams: Vec::new(), at, is_last: true }, Msg::Planning];
    let end = end.into_iter().take(if chunks.is_empty() { 0 } else { 2 });
    let more = chunks.into_iter().map(move |streams| Msg::Streams { streams, at, is_last: false });
    std::iter::once(Msg::Sampled { sample, interval_ms }).chain(more).chain(end)
}

/// What was clicked on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// A row of the overview, by its index.
    Row(usize),
    /// A row among the consumers, by its index.
    Consumer(usize),
    /// A pane of the group screen.
    Pane(Pane),
}

/// A message to the update function.
#[derive(Clone, Debug)]
pub enum Msg {
    /// A click on something.
    Click(Target),
    /// A key was pressed.
    Key(Key),
    /// Text was pasted; only an input takes it.
    Paste(String),
    /// A tick's sample.
    Sampled {
        /// What it brought.
        sample: Box<Sample>,
        /// Time to the next tick, in milliseconds.
        interval_ms: u64,
    },
    /// More streams of the sample that came last.
    Streams {
        streams: Vec<StreamSample>,
        /// When the reply was complete.
        at: Mono,
        /// No more of them follow.
        is_last: bool,
    },
    /// All parts of a sample were taken: what to ask for next is to be planned.
    Planning,
    /// The server is gone.
    Down {
        /// Sentinels are about to name another server.
        failing_over: bool,
        /// Why, in words.
        why: String,
        /// When the next try is made.
        retry_at: Mono,
    },
    /// An entry that was asked for.
    Entry(EntryPayload),
    /// A plan that was asked for, or why there is none.
    Planned(u64, Result<Box<Plan>, String>),
    /// How far an action has come: claimed and removed.
    Progress(u64, i64, i64),
    /// The end of an action.
    Ended(u64, Box<Outcome>),
    /// The terminal has this many columns and rows.
    Resized(u16, u16),
    /// Time passed: ages tick.
    Clock,
    /// A signal asks for the end.
    Terminate,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::{
        name::Name,
        store::{Focus, Reading, Settings},
        time::Now,
        watch::Watch,
    };

    fn sample(streams: usize) -> Box<Sample> {
        let streams = (0..streams).map(|n| StreamSample::unasked(Name::from(format!("k{n:04}").as_str()))).collect();
        Box::new(Sample { at: Mono(1000), streams, ..Sample::default() })
    }

    #[test]
    fn a_sample_comes_whole_or_in_parts_and_only_the_last_part_says_so() {
        for streams in [0, 1, AT_ONCE, AT_ONCE + 1, 3 * AT_ONCE, 1234] {
            let parts: Vec<Msg> = parts(sample(streams), 1000).collect();
            assert_eq!(parts.len(), streams.div_ceil(AT_ONCE).max(1) + 2 * usize::from(streams > AT_ONCE));
            let (mut seen, mut ends) = (0, 0);
            for part in &parts {
                match part {
                    Msg::Sampled { sample, .. } => {
                        assert_eq!(sample.later, streams - sample.streams.len());
                        seen += sample.streams.len();
                        ends += usize::from(sample.later == 0);
                    }
                    Msg::Streams { streams, is_last, .. } => {
                        seen += streams.len();
                        ends += usize::from(*is_last);
                    }
                    Msg::Planning => assert_eq!(ends, 1, "planned before the end"),
                    other => panic!("{other:?} is no part of a sample"),
                }
            }
            assert_eq!((seen, ends), (streams, 1));
        }
    }

    #[test]
    fn what_came_in_parts_is_what_came_at_once() {
        let keys: Vec<Name> = (0..250).map(|n| Name::from(format!("k{n:04}").as_str())).collect();
        let now = Now { mono: Mono(1000), wall_ms: 0 };
        let settings = || Settings { keys: keys.clone(), ..Settings::default() };
        let mut whole = Watch::new(settings());
        whole.take(*sample(250), now, Reading::Tick);
        let mut apart = Watch::new(settings());
        for part in parts(sample(250), 1000) {
            match part {
                Msg::Sampled { sample, .. } => apart.take(*sample, now, Reading::Tick),
                Msg::Streams { streams, at, .. } => apart.take_streams(streams, at, now),
                Msg::Planning => {}
                other => panic!("{other:?} is no part of a sample"),
            }
        }
        let asked = |watch: &Watch| format!("{:?}", watch.store.next_request(&Focus::None, Mono(2000)));
        assert_eq!(asked(&whole), asked(&apart));
        assert_eq!((apart.store.ticks, apart.store.folds), (1, 4));
        assert!(apart.store.streams.values().all(|stream| stream.polled == Some(Mono(1000))));
    }
}
