//! One group over time.

use super::{Census, Extreme, Headcount, MOST_CONSUMERS, Oldest, OwnMoves, Pel, Settings, Sightings, StreamState};
use crate::core::{
    history::History,
    id::EntryId,
    known::Known,
    lag::{Drift, Lag},
    loss::{self, Loss},
    model::{ConsumerFacts, GroupFacts, LagFamily, PendingSummary, StreamFacts},
    name::Name,
    observed::{FailedReading, Observed},
    sample::Fault,
    strip::{Cell, Marks, cells},
    time::Mono,
};
use std::collections::{BTreeSet, VecDeque};

/// Rates are computed over this many milliseconds.
pub const RATE_WINDOW_MS: u64 = 10_000;
/// Entries are being lost when a loss was seen this often within the window.
const LOSING: usize = 3;
/// What was found stands until the next look, but not longer than this after the last, in milliseconds.
const LONGEST_WAIT_MS: u64 = 180_000;
/// No holder is called gone before this, in milliseconds.
pub const LEAST_GONE_MS: i64 = 10_000;
/// A holder is called gone after this many times the slowest usual handling.
const GONE_TIMES: i64 = 3;
/// A holder is called gone after this many times the set threshold in any case.
const MOST_GONE_TIMES: i64 = 10;

/// A group and what was seen of it.
#[derive(Clone, Debug)]
pub struct GroupState {
    /// Its element of XINFO GROUPS, from the last tick that had it.
    pub facts: GroupFacts,
    /// `Fault::NoGroup` when it is gone although it was asked for by name.
    pub fault: Option<Fault>,
    /// When the facts were taken.
    pub at: Mono,
    pub lag: Lag,
    /// How far family A's counters are off.
    pub drift: Drift,
    /// Entries removed before the group read them, as far as it was proven since the group is watched.
    pub lost: Option<Loss>,
    /// The part of it that was lost before the cursor came where it is, as far as the server's counters no longer show it.
    lost_before: i64,
    /// The times at which it grew last, the first of them in front.
    lost_at: VecDeque<Mono>,
    /// It grew while the server counted what was lost as read, so that what is delivered is less than its count says.
    lost_as_read: Option<Mono>,
    /// The last entry ever added, on an emptied stream and ahead of the cursor: once the cursor is past it, the group never got it.
    missed: Option<EntryId>,
    /// Points for trends.
    pub history: History,
    /// XINFO CONSUMERS, in the order of names.
    pub consumers: Observed<Vec<ConsumerFacts>>,
    /// XPENDING's short form.
    pub summary: Observed<PendingSummary>,
    /// The known pending rows.
    pub pel: Pel,
    /// Walks over the whole PEL, if it is too large to be read at once.
    pub census: Census,
    /// The result of `payload_gone` when the pending rows were last of the same moment as the stream.
    gone: Option<(i64, bool)>,
    /// Why the last XPENDING failed; `None` if it succeeded.
    pub pel_failure: Option<FailedReading>,
    /// How many consumers it has.
    pub headcount: Headcount,
    /// How old its oldest pending entry was.
    pub oldest: Oldest,
    /// What this program moved in it.
    pub own: OwnMoves,
    /// What was seen of its entries from tick to tick.
    pub seen: Sightings,
    /// When the cursor was last seen to move on, and the longest time between two such moments, in milliseconds.
    pub moved_on: Option<Mono>,
    pub longest_gap_ms: u64,
    /// Since when an entry was seen past the cursor where it stands now; `None` while nothing is known to wait.
    pub waiting_since: Option<Mono>,
    /// The first entry past a cursor, and that cursor.
    pub next_waiting: Option<(EntryId, EntryId)>,
    /// When more than its element of XINFO GROUPS was last fetched.
    pub(super) looked: Option<Mono>,
    /// Stream and group when both were last of one moment. Only a comparison with them shows whether trimming or deletes passed this
    /// group.
    pub(super) seen_before: Option<(StreamFacts, GroupFacts)>,
    /// Since when it has been watched under this name: since it was first seen, or since its stream was created again.
    pub began: Mono,
    /// Nothing was folded since then.
    pub(super) is_new: bool,
}

impl GroupState {
    pub fn new(facts: GroupFacts, at: Mono) -> Self {
        Self {
            facts,
            fault: None,
            at,
            lag: Lag::unknown("not computed yet"),
            drift: None,
            lost: None,
            lost_before: 0,
            lost_at: VecDeque::new(),
            lost_as_read: None,
            missed: None,
            history: History::default(),
            consumers: Observed::since(at),
            summary: Observed::since(at),
            pel: Pel::default(),
            census: Census::new(at),
            gone: None,
            pel_failure: None,
            headcount: Headcount::default(),
            oldest: Oldest::default(),
            own: OwnMoves::default(),
            seen: Sightings::default(),
            moved_on: None,
            longest_gap_ms: 0,
            waiting_since: None,
            next_waiting: None,
            looked: None,
            seen_before: None,
            began: at,
            is_new: true,
        }
    }

    /// What the counters of one more sample prove, before it is folded.
    pub(super) fn count_losses(&mut self, stream: &StreamFacts, now: &GroupFacts, family: LagFamily, at: Mono) {
        let before = self.lost.map_or(0, |lost| lost.entries);
        if let Some((old_stream, old)) = &self.seen_before {
            if now.cursor < old.cursor {
                // what lies behind the old cursor is ahead now: the counters tell it
                self.lost_before = 0;
            }
            self.lost_before = self.lost_before.saturating_add(loss::passed((old_stream, old), now, family));
        }
        let proven = loss::by_counters(stream, now, family, self.drift, self.lost);
        self.lost = Loss::renewed(self.lost, proven.map(|loss| loss.and_before(self.lost_before)));
        self.note_growth(before, at);
        if matches!(family, LagFamily::B | LagFamily::C) && self.lost_at.back() == Some(&at) {
            self.lost_as_read = Some(at);
        }
    }

    fn note_growth(&mut self, before: i64, at: Mono) {
        if self.lost.is_some_and(|lost| lost.entries > before) {
            self.lost_at.push_back(at);
            if self.lost_at.len() > LOSING {
                self.lost_at.pop_front();
            }
        }
    }

    /// Whether entries are being lost: it was seen several times within this time, in milliseconds.
    pub fn is_losing(&self, now: Mono, within_ms: u64) -> bool {
        self.lost_at.len() == LOSING && self.lost_at.front().is_some_and(|first| now.since(*first) <= within_ms)
    }

    /// Whether the count of delivered entries includes some that were lost, within this time, in milliseconds.
    pub fn counts_lost_as_read(&self, now: Mono, within_ms: u64) -> bool {
        self.lost_as_read.is_some_and(|at| now.since(at) <= within_ms)
    }

    /// What was seen to go between two samples, on a server whose counters do not tell.
    pub(super) fn grow_losses(&mut self, left: i64, stream: &StreamFacts, now: &GroupFacts, at: Mono) {
        let before = self.lost.map_or(0, |lost| lost.entries);
        let passed = self.missed.is_some_and(|id| now.cursor > id);
        self.lost = Loss::grown(self.lost, left.max(i64::from(passed)));
        // what is known to be lost includes it, and a group that was moved back had read it
        let is_new = self.lost.is_none() && self.seen.rewound.is_none();
        let unread = loss::unread_end(stream, now).filter(|_| is_new);
        self.missed = unread.or(self.missed.filter(|id| *id > now.cursor));
        self.note_growth(before, at);
    }

    /// As last listed; empty before the first list.
    pub fn consumers(&self) -> &[ConsumerFacts] {
        self.consumers.value.as_deref().unwrap_or_default()
    }

    /// An idle time that was read at `taken`, as of `now`. It grows only while nothing newer is known of the group: if the list is older
    /// than the newest sample, we do not know what the consumers did since.
    pub fn aged_ms(&self, idle_ms: i64, taken: Mono, now: Mono) -> i64 {
        let passed = if taken < self.at { 0 } else { now.since(taken) };
        idle_ms.saturating_add(i64::try_from(passed).unwrap_or(i64::MAX))
    }

    /// Whether what the checks of one sample look at was asked for once in this run, or there is nothing to ask for: before that, nothing
    /// found means nothing. Where nothing is pending and nobody can read, or nothing waits, no list of consumers can show trouble.
    pub fn has_been_read(&self) -> bool {
        let nothing_to_ask = self.facts.consumers == Known::Is(0) || self.lag.exact() == Some(0);
        // a long list of consumers waits its turn
        let listed = self.consumers.value.is_some()
            || self.consumers.failure.is_some()
            || self.facts.consumers.value().is_none_or(|count| count > MOST_CONSUMERS);
        self.was_asked() && listed || self.facts.pending == Known::Is(0) && nothing_to_ask
    }

    /// Whether it was looked into once in this run.
    pub(super) fn was_asked(&self) -> bool {
        self.looked.is_some()
    }

    /// Whether what was said of it at that moment still waits for a look: its consumers or its pending entries were not read since, and
    /// what was read then is not too old.
    pub fn waits_for_a_look_since(&self, then: Mono, now: Mono) -> bool {
        let read = self.consumers.at.min(self.pel.at);
        read <= then && now.since(read) <= LONGEST_WAIT_MS
    }

    pub fn name(&self) -> &Name {
        &self.facts.name
    }

    /// Entries that nobody holds; `None` where that is not known.
    pub fn unowned(&self) -> Option<i64> {
        match (&self.summary.value, self.pel.complete) {
            (_, true) => Some(self.pel.of(None).count() as i64),
            (Some(summary), false) => Some(summary.unowned()),
            (None, false) => (self.facts.pending == Known::Is(0)).then_some(0),
        }
    }

    /// Consumers that hold entries; `None` where that is not known.
    pub fn holders(&self) -> Option<usize> {
        if let Some(consumers) = &self.consumers.value {
            return Some(consumers.iter().filter(|consumer| consumer.pending > 0).count());
        }
        if let Some(summary) = &self.summary.value {
            return Some(summary.holders.len());
        }
        let owners: BTreeSet<_> = self.pel.rows.iter().filter_map(|row| row.owner.as_ref()).collect();
        self.pel.complete.then_some(owners.len())
    }

    /// Why a count of the server is not shown.
    pub fn doubt(&self) -> Option<&'static str> {
        let untold = || self.pel.rows.iter().any(|row| !row.is_told());
        match (self.facts.pending.value(), self.facts.consumers.value()) {
            (None, _) => Some("the server's count of pending entries cannot be true"),
            (_, None) => Some("the server's count of consumers cannot be true"),
            _ if untold() => Some("the server does not tell how often or when entries were delivered"),
            _ => None,
        }
    }

    /// The longest idle time of a pending entry at `now`, in milliseconds.
    pub fn oldest_idle(&self, now: Mono) -> Extreme {
        let passed = now.since(self.pel.at) as i64;
        let found = match (self.pel.oldest_idle(), self.oldest_of_census()) {
            // the rows may show an even older entry, if somebody set its idle time by hand
            (Extreme::AtLeast(ms, id), Some(found)) => Extreme::Exact(Some(found.max((ms, id)))),
            (found, _) => found,
        };
        match found {
            Extreme::Exact(found) => Extreme::Exact(found.map(|(ms, id)| (ms.saturating_add(passed), id))),
            Extreme::AtLeast(ms, id) => Extreme::AtLeast(ms.saturating_add(passed), id),
            Extreme::Unknown => Extreme::Unknown,
        }
    }

    /// Pending entries without payload: how many are known, and whether that is the total.
    pub fn payload_gone(&self, stream: &StreamState) -> Option<(i64, bool)> {
        if self.pel.is_stale() {
            // These rows are older than the stream's facts. An entry acknowledged in between may have been trimmed legitimately, so stale
            // rows are not compared with the current stream.
            return self.gone.map(|(gone, _)| (gone.min(self.facts.pending.value().unwrap_or(i64::MAX)), false));
        }
        if !self.pel.is_fetched() {
            return None;
        }
        let fates: Vec<Option<bool>> = self.pel.rows.iter().map(|row| stream.has_entry(row.id)).collect();
        let gone = fates.iter().filter(|fate| **fate == Some(false)).count() as i64;
        match self.gone_by_census(stream) {
            Some((walked, exact)) if !self.pel.complete => Some((walked.max(gone), exact && gone <= walked)),
            _ => Some((gone, self.pel.complete && !stream.skewed && !fates.contains(&None))),
        }
    }

    pub(super) fn remember_gone(&mut self, gone: Option<(i64, bool)>) {
        self.gone = gone;
    }

    pub fn cells(&self, stream: &StreamState) -> Vec<Cell> {
        cells(
            &stream.window,
            &Marks {
                cursor: self.facts.cursor,
                rows: &self.pel.rows,
                pel_known: &|id| self.pel.is_known(id),
                seen_pending: &|id| self.seen.pending.contains(&id),
                dropped: &|id| self.seen.dropped.contains(&id),
                skips: &self.seen.skips,
            },
        )
    }

    /// Whether "acked" is certain: no jump was seen, and the server counts what the group read. A server that does not count (before 7.0)
    /// cannot distinguish a group that read everything from one that began in the middle.
    pub fn acked_sure(&self) -> bool {
        let none_behind = self
            .seen_before
            .as_ref()
            .is_some_and(|(facts, _)| facts.first.is_none_or(|first| self.facts.cursor < first));
        let counted = self.facts.entries_read_known().is_some() || none_behind;
        self.seen.skips.is_empty() && self.seen.dropped.is_empty() && counted && self.lost.is_none()
    }

    /// How long a holder must be unseen to be called gone, in milliseconds: the set threshold, or well above the slowest observed
    /// handling, but at most ten times the set threshold.
    pub fn gone_after_ms(&self, settings: &Settings) -> i64 {
        let usual = self.seen.handling_ms(0.99).unwrap_or(0).saturating_mul(GONE_TIMES);
        settings.gone_after_ms.max(usual.min(settings.gone_after_ms.saturating_mul(MOST_GONE_TIMES)))
    }

    /// Whether a consumer holds entries and was not seen for longer than the limit: it may be gone.
    pub fn has_unseen_holder(&self, settings: &Settings, now: Mono) -> bool {
        let unseen = |limit: i64| {
            let limit = limit.max(LEAST_GONE_MS);
            let idle = |consumer: &ConsumerFacts| self.aged_ms(consumer.idle_ms, self.consumers.at, now);
            // an old list proves nothing: the consumers may have been back since
            self.consumers.age_ms(now) <= limit.unsigned_abs()
                && self.consumers().iter().any(|consumer| consumer.pending > 0 && idle(consumer) > limit)
        };
        // the set threshold first, because the other one needs the observed handlings sorted
        unseen(settings.gone_after_ms) && unseen(self.gone_after_ms(settings))
    }

    /// Whether a holder that was not seen has to be looked at before its list is too old to prove anything.
    pub fn is_due_for_a_look(&self, settings: &Settings, now: Mono) -> bool {
        let half_ms = self.gone_after_ms(settings).max(LEAST_GONE_MS).unsigned_abs() / 2;
        self.consumers.age_ms(now) > half_ms && self.has_unseen_holder(settings, now)
    }

    /// Forgets what this session saw of the group: its stream was created again.
    pub(super) fn restart(&mut self, at: Mono) {
        let census = self.census.restart();
        *self = Self { census, began: at, ..Self::new(self.facts.clone(), self.at) };
    }

    /// Counts entries that left at this sample as handled, if their owner is active.
    pub(super) fn settle(&mut self, active_ms: i64) {
        let consumers = self.consumers.value.as_deref().unwrap_or_default();
        self.seen.settle(consumers, active_ms);
    }

    /// Stores its element of XINFO GROUPS. `stream` is the stream at that moment, if it was read.
    pub(super) fn take(&mut self, facts: GroupFacts, stream: Option<&StreamFacts>, at: Mono) {
        self.history.push(at, stream, &facts, &self.lag);
        if let Some(consumers) = facts.consumers.value() {
            self.headcount.push(at, consumers);
        }
        self.is_new = false;
        if facts.pending == Known::Is(0) {
            let old = std::mem::take(&mut self.pel);
            self.pel.set_empty(at);
            self.oldest.push(at, Extreme::Exact(None));
            self.seen.follow(&old, &self.pel, at, &mut self.own);
            self.own.follow(&self.pel, at);
        } else {
            self.pel.check(facts.pending.value());
        }
        self.facts = facts;
        self.at = at;
        self.fault = None;
    }
}
