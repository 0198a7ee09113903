//! Which streams a tick asks about: all of them, if it can afford that. Otherwise those on the screen and a share of the others, starting
//! with those that were asked about longest ago.

use super::{Focus, Store, StreamState};
use crate::core::{name::Name, number::size, sample::Cost, time::Mono};
use std::collections::BTreeSet;

/// Most server time of a tick, approximately, in microseconds.
const TICK_US: u64 = 8_000;
/// Most bytes that a tick brings, approximately.
const TICK_BYTES: u64 = 512 * 1024;
/// Always poll at least this many streams, however expensive. With fewer, a tick's fixed cost would hide the cost per stream, and one
/// expensive moment would keep the share small for good.
pub(super) const LEAST: u64 = 50;
/// Numbers are called old only when they are older than two sweeps plus this many milliseconds. After an outage all of them are old, but
/// they are new again within one sweep.
const LATE_MS: u64 = 2_000;

/// The average cost of a stream in a tick, learned from the last ticks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Share {
    bytes: u64,
    us: u64,
}

impl Default for Share {
    /// Two replies in a transaction, for a stream with three groups (docs/server-facts.md 10).
    fn default() -> Self {
        Self { bytes: 1000, us: 12 }
    }
}

impl Share {
    /// Learns from a tick that asked about this many streams.
    pub(super) fn learn(&mut self, streams: usize, cost: Cost) {
        let streams = streams as u64;
        if streams < LEAST || cost.bytes_in == 0 {
            return;
        }
        // a tick may be expensive for other reasons, such as another client's slow command between two TIMEs: it counts at most double
        let next = |old: u64, new: u64| (old * 3 + new.min(old * 2 + 10)) / 4;
        self.bytes = next(self.bytes, cost.bytes_in / streams);
        // the wait for the reply cannot replace the server's time, because it includes the network
        if let Some(us) = cost.server_us {
            self.us = next(self.us, us / streams);
        }
    }

    /// How many streams a tick can afford.
    fn affordable(self) -> usize {
        size((TICK_BYTES / self.bytes.max(1)).min(TICK_US / self.us.max(1)).max(LEAST))
    }
}

impl Store {
    /// The streams that a tick asks about; `seen` are those on the screen. `None` means all.
    pub(super) fn slice(&self, focus: &Focus, seen: &BTreeSet<Name>) -> Option<BTreeSet<&Name>> {
        // streams on the screen must not take the turn of the others
        let most = self.share.affordable().max(seen.len() + size(LEAST));
        if *focus == Focus::All || self.streams.len() <= most {
            return None;
        }
        let first = |stream: &StreamState| match focus {
            Focus::Group { key, .. } if *key == stream.key => true,
            _ => seen.contains(&stream.key),
        };
        let due = self.streams.values().filter(|stream| self.is_due(stream, focus));
        let mut order: Vec<(bool, Option<Mono>, &Name)> =
            due.map(|stream| (!first(stream), stream.polled, &stream.key)).collect();
        if order.len() > most {
            order.select_nth_unstable(most);
            order.truncate(most);
        }
        Some(order.into_iter().map(|(.., key)| key).collect())
    }

    /// Whether a tick asks about only some of the streams.
    pub fn is_sliced(&self) -> bool {
        self.streams.len() > self.share.affordable()
    }

    /// How long a sweep over all streams takes, in milliseconds, with a tick every `interval_ms`.
    pub fn sweep_ms(&self, interval_ms: u64) -> u64 {
        self.streams.len().div_ceil(self.share.affordable()).max(1) as u64 * interval_ms
    }

    /// Whether a stream was not polled for much longer than a sweep takes: its numbers are old, and should look old.
    pub fn is_late(&self, stream: &StreamState, interval_ms: u64) -> bool {
        let Some((sampled, polled)) = self.sampled.zip(stream.polled) else { return false };
        stream.is_ok() && sampled.mono.since(polled) > 2 * self.sweep_ms(interval_ms) + LATE_MS
    }

    /// The age of the oldest numbers at the last sample, in milliseconds; 0 where every tick asks about every stream.
    pub fn oldest_row_ms(&self) -> u64 {
        let Some(sampled) = self.sampled.filter(|_| self.is_sliced()) else { return 0 };
        let polled = self.streams.values().filter(|stream| stream.is_ok()).filter_map(|stream| stream.polled);
        polled.map(|at| sampled.mono.since(at)).max().unwrap_or(0)
    }
}
