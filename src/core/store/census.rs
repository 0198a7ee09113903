//! Which PEL is walked next, and what a finished walk still says about the group as time passes.

use super::{Extreme, Focus, GroupState, Pel, RowState, Store, StreamState};
use crate::core::{
    census::{CensusRequest, CensusSample, HolderTally, LEAST_SWEPT, OldEntry, Tally},
    id::EntryId,
    known::Known,
    model::PendingRow,
    name::Name,
    time::Mono,
};

/// From this many pending entries on, the holders are searched for the oldest entry before the rows are read.
pub(super) const SWEPT_FROM: i64 = LEAST_SWEPT;
/// A PEL up to this size needs no walk, because the normal looks see all of it: in focus, and in the background.
const SEEN_IN_FOCUS: i64 = 50;
const SEEN_IN_BACKGROUND: i64 = 10;
/// Least pause between two walks of the group in focus, in milliseconds.
const REST_MS: u64 = 60_000;
/// The same for a group in the background.
const BACKGROUND_REST_MS: u64 = 300_000;
/// The pause is also at least this many times as long as the last walk.
const REST_TIMES: u64 = 2;
/// The least pause when none of the oldest entries that the last walk found is left, in milliseconds.
const SPENT_REST_MS: u64 = 10_000;
/// A summary older than this, in milliseconds, does not show what its holders have now.
const SUMMARY_MS: u64 = 5_000;
/// How many of the last walk's oldest entries each tick looks at.
const LOOKED_AT: usize = 3;
/// Two readings of one entry agree on its delivery time only within this, in milliseconds: a reply takes its time to arrive.
const TIMING_MS: i64 = 1000;

/// Group and stream when a walk began.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Beginning {
    pending: Option<i64>,
    read: Option<i64>,
    first: Option<EntryId>,
    max_deleted: Known<EntryId>,
}

/// The oldest entry of all, searched for before the rows are read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum OldestFound {
    /// Not found yet.
    #[default]
    Open,
    /// Found and, as far as known, still the oldest.
    Is(OldEntry),
    /// Found, but it left the PEL since: the next oldest is not known.
    Left,
}

impl OldestFound {
    fn known(self) -> Option<OldEntry> {
        if let Self::Is(old) = self { Some(old) } else { None }
    }
}

/// The walks over one group's PEL.
#[derive(Clone, Debug, Default)]
pub struct Census {
    /// The last complete walk. Boxed, because few groups are large enough for one.
    pub done: Option<Box<Tally>>,
    /// The current walk.
    pub walking: Option<Box<Tally>>,
    /// What the current walk's search for the oldest entry found.
    first: OldestFound,
    /// Group and stream when the current walk began, and when the last complete one began.
    walking_from: Option<Beginning>,
    done_from: Option<Beginning>,
    /// When the last failed walk ended.
    failed: Option<Mono>,
    /// The number of the current walk. The first number is the time when the group was first seen, in milliseconds. So an answer to an
    /// earlier walk, or to a walk of an earlier group of the same name, does not match and is ignored.
    round: u64,
}

impl Census {
    /// The walk to show: the last complete one or, before there is one, the current one.
    pub fn shown(&self) -> Option<&Tally> {
        self.done.as_deref().or(self.walking.as_deref())
    }

    /// Abandons the current walk.
    fn leave(&mut self) {
        self.walking = None;
        self.walking_from = None;
        self.first = OldestFound::Open;
    }

    /// No walk yet, of a group first seen at `at`.
    pub(super) fn new(at: Mono) -> Self {
        Self { round: at.0, ..Self::default() }
    }

    /// Starts over with nothing known: the group was created again.
    pub(super) fn restart(&self) -> Self {
        Self { round: self.round.wrapping_add(1), ..Self::default() }
    }

    fn is_due(&self, now: Mono, rest_ms: u64) -> bool {
        if self.failed.is_some_and(|at| now.since(at) < REST_MS) {
            return false;
        }
        let Some(done) = &self.done else { return true };
        let Some(ended) = done.ended else { return true };
        let rested = now.since(ended);
        let rest = rest_ms.max(ended.since(done.begun).saturating_mul(REST_TIMES));
        rested >= rest || (done.oldest.is_empty() && rested >= SPENT_REST_MS)
    }

    /// Entries to look at in each tick, to know whether they are still the oldest.
    pub(super) fn candidates(&self) -> Vec<EntryId> {
        let of = |tally: &Option<Box<Tally>>, most: usize| {
            tally.iter().flat_map(|tally| tally.oldest.iter().take(most)).map(|old| old.id).collect::<Vec<_>>()
        };
        let mut ids = of(&self.done, LOOKED_AT);
        ids.extend(of(&self.walking, 1));
        ids.extend(self.first.known().map(|old| old.id));
        // also those delivered most often: they are named only while they are pending
        ids.extend(self.shown().iter().flat_map(|tally| &tally.worst).map(|(_, id)| *id));
        ids.sort_unstable();
        ids.dedup();
        ids
    }
}

impl Store {
    /// The PEL to walk now. The first choice is the group on the screen, then the walk that has begun, then the smallest PEL that was never
    /// walked, then the PEL that was walked longest ago.
    pub(super) fn census_request(&self, focus: &Focus, now: Mono) -> Option<CensusRequest> {
        if self.settings.census.second_us == 0 {
            return None;
        }
        let wanted = |stream: &StreamState, group: &GroupState, seen: i64, rest_ms: u64| {
            let is_there = stream.state == RowState::Ok
                && stream.facts.value.is_some()
                && group.fault.is_none()
                && group.pel_failure.is_none();
            let prepared =
                !group.facts.pending.exceeds(SWEPT_FROM - 1) || !self.can_filter() || group.summary.value.is_some();
            is_there
                && prepared
                && !group.pel.complete
                && group.facts.pending.exceeds(seen)
                && group.census.is_due(now, rest_ms)
        };
        if let Focus::Group { key, group, .. } = focus
            && let Some((stream, group)) = self.group(key, group)
            && wanted(stream, group, SEEN_IN_FOCUS, REST_MS)
        {
            return self.request_of(stream, group, now);
        }
        let focused = |stream: &StreamState, group: &GroupState| matches!(focus, Focus::Group { key, group: name, .. } if *key == stream.key && name == group.name());
        let due = |(stream, group): &(&StreamState, &GroupState)| {
            !focused(stream, group)
                && self.wants_group(group.name())
                && wanted(stream, group, SEEN_IN_BACKGROUND, BACKGROUND_REST_MS)
        };
        let begun = self.walked.as_ref().and_then(|(key, group)| self.group(key, group));
        if let Some((stream, group)) = begun.filter(|found| due(found) && found.1.census.walking.is_some()) {
            return self.request_of(stream, group, now);
        }
        let order = |group: &GroupState| {
            let ended = group.census.done.as_ref().and_then(|done| done.ended);
            (ended, group.facts.pending.value())
        };
        let (stream, group) = self.groups().filter(due).min_by_key(|(_, group)| order(group))?;
        self.request_of(stream, group, now)
    }

    fn request_of(&self, stream: &StreamState, group: &GroupState, now: Mono) -> Option<CensusRequest> {
        Some(CensusRequest {
            key: stream.key.clone(),
            group: group.name().clone(),
            round: group.census.round,
            pending: group.facts.pending.value()?,
            stream: stream.facts.value.clone()?,
            entry_bytes: stream.entry_bytes,
            holders: self.holders_of(group, now),
            limits: self.settings.census,
        })
    }

    /// XPENDING takes IDLE from 6.2 on.
    fn can_filter(&self) -> bool {
        self.server.version_numbers().is_some_and(|version| version >= (6, 2))
    }

    fn holders_of(&self, group: &GroupState, now: Mono) -> Vec<(Name, i64)> {
        // an old summary would not bound the cost of the filter
        let new = group.summary.age_ms(now) < SUMMARY_MS;
        let summary =
            group.summary.value.as_ref().filter(|_| new && self.can_filter() && group.census.walking.is_none());
        summary.map_or(Vec::new(), |summary| summary.holders.clone())
    }

    pub(super) fn fold_census(&mut self, found: CensusSample, at: Mono) {
        let CensusSample { key, group, tally, judged_by } = found;
        let walked = Some((key, group));
        if self.walked != walked {
            // the walker has moved to another group: the walk it left does not continue
            if let Some(left) = self.walked.take().and_then(|(key, group)| self.group_mut(&key, &group)) {
                left.census.leave();
            }
            self.walked = walked;
        }
        let Some((key, name)) = self.walked.clone() else { return };
        let Some(stream) = self.streams.get_mut(&key) else { return };
        // the facts that the walk began with: those of the stream may be newer
        let (first, max_deleted) = judged_by;
        let Some(group) = stream.groups.get_mut(&name) else { return };
        let from = Beginning {
            pending: group.facts.pending.value(),
            read: group.facts.entries_read_known(),
            first,
            max_deleted,
        };
        let census = &mut group.census;
        if census.round != tally.round {
            return;
        }
        if census.walking.as_ref().is_some_and(|walking| walking.begun != tally.begun) {
            // the walk was started again after the connection was lost
            census.leave();
        }
        let from = *census.walking_from.get_or_insert(from);
        if tally.ended.is_none() {
            if let (OldestFound::Open, Some(found)) = (census.first, tally.first) {
                census.first = OldestFound::Is(found);
            }
            census.walking = Some(Box::new(tally));
            group.check_census();
            return;
        }
        census.first = OldestFound::Open;
        census.walking_from = None;
        census.round = census.round.wrapping_add(1);
        census.walking = None;
        if tally.is_complete() {
            census.failed = None;
            census.done = Some(Box::new(tally));
            census.done_from = Some(from);
            // the rows of this very sample may be newer than the page in which the walk saw an entry
            group.check_census();
        } else {
            census.failed = Some(at);
        }
    }

    fn group_mut(&mut self, key: &Name, group: &Name) -> Option<&mut GroupState> {
        self.streams.get_mut(key)?.groups.get_mut(group)
    }
}

impl GroupState {
    /// Drops the last walk's oldest entries that have left the PEL or were delivered again, as the newest rows show. The first entry that
    /// remains is then the oldest of all: every entry that is not in the list was delivered later, or again, since. (An XCLAIM that sets
    /// an idle time by hand escapes this; the next walk sees it.)
    pub(super) fn check_census(&mut self) {
        if self.pel.complete {
            self.census.done = None;
            self.census.leave();
            return;
        }
        let pel = &self.pel;
        for tally in self.census.done.iter_mut().chain(&mut self.census.walking) {
            let left = tally.oldest.iter().take_while(|old| has_left(pel, **old)).count();
            tally.oldest.drain(..left);
        }
        if self.census.first.known().is_some_and(|old| has_left(pel, old)) {
            self.census.first = OldestFound::Left;
        }
    }

    /// The oldest entry by the last complete walk or, without one, by the current walk's search; with its idle time in milliseconds when
    /// the rows were read. `None` unless those rows include it.
    pub(super) fn oldest_of_census(&self) -> Option<(i64, EntryId)> {
        let done = self.census.done.as_ref().and_then(|done| done.oldest.first().copied());
        let old = done.or(self.census.first.known())?;
        let row = self.pel.row(old.id).filter(|row| self.pel.is_known(row.id))?;
        Some((row.idle_ms?, row.id))
    }

    /// Entries without payload by the last complete walk, minus all that may have left the PEL since; and whether that is still the
    /// total. `None` where it cannot be known.
    pub(super) fn gone_by_census(&self, stream: &StreamState) -> Option<(i64, bool)> {
        let (done, begun) = (self.census.done.as_ref()?, self.census.done_from.as_ref()?);
        let facts = stream.facts.value.as_ref()?;
        let delivered = self.facts.entries_read_known()?.checked_sub(begun.read?).filter(|n| *n >= 0)?;
        let left = begun.pending?.saturating_add(delivered).saturating_sub(self.facts.pending.value()?);
        let untrimmed = (facts.first, facts.max_deleted) == (begun.first, begun.max_deleted);
        Some((
            done.gone.saturating_sub(left.max(0)).max(0),
            done.unsure == 0 && left == 0 && untrimmed && !stream.skewed,
        ))
    }

    /// The longest idle time of one consumer's entries at `now`, in milliseconds.
    pub fn oldest_idle_of(&self, name: &Name, now: Mono) -> Extreme {
        let aged = |ms: i64| ms.saturating_add(i64::try_from(now.since(self.pel.at)).unwrap_or(i64::MAX));
        let held = self.held_of_census(name).map(|held| (now.0 as i64).saturating_sub(held.oldest.since));
        match (self.pel.oldest_idle_of(name), held) {
            (Extreme::Exact(found), _) => Extreme::Exact(found.map(|(ms, id)| (aged(ms), id))),
            (Extreme::AtLeast(ms, id), None) => Extreme::AtLeast(aged(ms), id),
            (Extreme::Unknown, None) => Extreme::Unknown,
            (_, Some(ms)) => Extreme::Exact(self.held_of_census(name).map(|held| (ms, held.oldest.id))),
        }
    }

    /// The highest delivery count of one consumer's entries, given-up entries left out.
    pub fn max_deliveries_of(&self, name: &Name) -> Option<i64> {
        let held = self.held_of_census(name).filter(|_| !self.pel.complete);
        self.pel.max_deliveries_of(name).value().max(held.map(|held| held.deliveries))
    }

    /// What a consumer held during the last walk, if nothing can have changed since: a list taken after the walk shows that the consumer
    /// was not seen after the walk began, and that it holds the same number of entries.
    pub fn held_of_census(&self, name: &Name) -> Option<HolderTally> {
        let done = self.census.done.as_ref()?;
        let held = *done.holders.as_ref()?.get(name)?;
        let consumers = self.consumers.value.as_ref()?;
        let consumer = &consumers[consumers.binary_search_by(|consumer| consumer.name.cmp(name)).ok()?];
        // `idle`, not `inactive`: a consumer that reads its own history gets its entries delivered again, and from 7.2 that resets only
        // `idle`
        let seen_at = (self.consumers.at.0 as i64).saturating_sub(consumer.idle_ms);
        let listed = done.ended.is_some_and(|ended| self.consumers.at >= ended);
        (listed && consumer.pending == held.entries && seen_at < done.begun.0 as i64).then_some(held)
    }
}

/// Whether an entry is known to have left the PEL, or to have been delivered again, since a walk saw it.
fn has_left(pel: &Pel, old: OldEntry) -> bool {
    let same = |row: &PendingRow| {
        row.deliveries == old.deliveries
            && row
                .idle_ms
                .is_some_and(|idle| (pel.at.0 as i64).saturating_sub(idle) <= old.since.saturating_add(TIMING_MS))
    };
    pel.is_known(old.id) && !pel.row(old.id).is_some_and(same)
}

#[cfg(test)]
#[path = "census_tests.rs"]
mod tests;
