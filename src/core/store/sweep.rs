//! Which streams a tick asks about. A few are asked about each tick; of thousands, those on the screen and a share of the others,
//! those first that were not asked about for longest.

use super::{Focus, Store, StreamState};
use crate::core::{name::Name, sample::Cost, time::Mono};
use std::collections::BTreeSet;

/// A tick takes about so much server time at most, in microseconds,
const TICK_US: u64 = 8_000;
/// and brings about so many bytes.
const TICK_BYTES: u64 = 512 * 1024;
/// However dear they are, so many streams are asked about: from a tick of fewer their cost could not be told, since what else was
/// asked for weighs more, and a moment in which they were dear would never be over.
pub(super) const LEAST: u64 = 50;
/// Numbers are not called old for so many milliseconds more than two sweeps take: an outage ends with all of them, and within a sweep
/// they are new again.
const LATE_MS: u64 = 2_000;

/// What a stream costs in a tick on average, as learned from what the last ones cost.
#[derive(Clone, Copy, Debug)]
pub(super) struct Share {
    bytes: u64,
    us: u64,
}

impl Default for Share {
    /// Two replies in a transaction, of a stream with three groups (docs/server-facts.md 10).
    fn default() -> Self {
        Self { bytes: 1000, us: 12 }
    }
}

impl Share {
    /// Takes a tick into account that asked about so many streams.
    pub(super) fn learn(&mut self, streams: usize, cost: Cost) {
        let streams = streams as u64;
        if streams < LEAST || cost.bytes_in == 0 {
            return;
        }
        // one tick that was dear for other reasons, such as another client's slow command between two TIMEs, counts twice at most
        let next = |old: u64, new: u64| (old * 3 + new.min(old * 2 + 10)) / 4;
        self.bytes = next(self.bytes, cost.bytes_in / streams);
        // a wait for the reply would be no measure of the server's work: the way there and back is in it
        if let Some(us) = cost.server_us {
            self.us = next(self.us, us / streams);
        }
    }

    /// How many streams a tick can afford.
    fn affordable(self) -> usize {
        (TICK_BYTES / self.bytes.max(1)).min(TICK_US / self.us.max(1)).max(LEAST) as usize
    }
}

impl Store {
    /// The streams that a tick asks about, `seen` being those on the screen; `None` means all.
    pub(super) fn slice(&self, focus: &Focus, seen: &BTreeSet<Name>) -> Option<BTreeSet<&Name>> {
        // what is on the screen does not take the others' turn
        let most = self.share.affordable().max(seen.len() + LEAST as usize);
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

    /// Whether a tick asks about a part of the streams only.
    pub fn is_sliced(&self) -> bool {
        self.streams.len() > self.share.affordable()
    }

    /// How long it takes until every stream was asked about, in milliseconds, with a tick every `interval_ms`.
    pub fn sweep_ms(&self, interval_ms: u64) -> u64 {
        self.streams.len().div_ceil(self.share.affordable()).max(1) as u64 * interval_ms
    }

    /// Whether a stream was not heard of for much longer than a sweep takes: its numbers are old, and should look so.
    pub fn is_late(&self, stream: &StreamState, interval_ms: u64) -> bool {
        let Some((sampled, polled)) = self.sampled.zip(stream.polled) else { return false };
        stream.is_ok() && sampled.mono.since(polled) > 2 * self.sweep_ms(interval_ms) + LATE_MS
    }

    /// The age that the oldest numbers had at the last sample, in milliseconds; 0 where every tick asks about every stream.
    pub fn oldest_row_ms(&self) -> u64 {
        let Some(sampled) = self.sampled.filter(|_| self.is_sliced()) else { return 0 };
        let polled = self.streams.values().filter(|stream| stream.is_ok()).filter_map(|stream| stream.polled);
        polled.map(|at| sampled.mono.since(at)).max().unwrap_or(0)
    }
}
