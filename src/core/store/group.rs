//! One group over time.

use super::{Census, Extreme, Pel, Settings, StreamState};
use crate::core::{
    history::{History, Rates},
    id::EntryId,
    lag::{Drift, Lag},
    model::{ConsumerFacts, GroupFacts, PendingRow, PendingSummary, StreamFacts},
    name::Name,
    sample::Fault,
    strip::{Cell, Marks, cells},
    symptoms::Judgement,
    time::Mono,
};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Rates are taken over so many milliseconds.
pub const RATE_WINDOW_MS: u64 = 10_000;
const REDELIVERIES: usize = 200;
const HANDLINGS: usize = 500;
const SEEN: usize = 4000;
/// A holder is called gone after so many times the slowest usual handling,
const GONE_TIMES: i64 = 3;
/// but after so many times the set threshold in any case.
const MOST_GONE_TIMES: i64 = 10;

/// An entry that was seen delivered again or changing hands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Redelivery {
    /// When it was seen.
    pub at: Mono,
    /// The entry.
    pub id: EntryId,
    /// Who held it before.
    pub from: Option<Name>,
    /// Who holds it now.
    pub to: Option<Name>,
    /// Its delivery count now.
    pub deliveries: i64,
    /// How long it had been idle when last seen with the former owner, in milliseconds.
    pub idle_before_ms: Option<i64>,
}

/// A group and what was seen of it.
#[derive(Clone, Debug)]
pub struct GroupState {
    /// Its element of XINFO GROUPS in the last tick that had it.
    pub facts: GroupFacts,
    /// `Fault::NoGroup` once it is gone while it was asked for by name.
    pub fault: Option<Fault>,
    /// When the facts were taken.
    pub at: Mono,
    /// Entries waiting.
    pub lag: Lag,
    /// What family A's counters are off by.
    pub drift: Drift,
    /// Entries removed before the group read them, as proven at some time in this session.
    pub lost: Option<i64>,
    /// Points for trends.
    pub history: History,
    /// XINFO CONSUMERS, once fetched.
    pub consumers: Option<Vec<ConsumerFacts>>,
    /// Why they could not be.
    pub consumers_fault: Option<Fault>,
    /// When they were fetched: idle times count from here.
    pub consumers_at: Mono,
    /// XPENDING's short form, once fetched.
    pub summary: Option<PendingSummary>,
    /// When it was fetched.
    pub summary_at: Mono,
    /// Pending rows known.
    pub pel: Pel,
    /// Walks over the whole PEL, where it is too large to be read at once.
    pub census: Census,
    /// What was said of lost payloads when the pending rows were last of the same moment as the stream.
    gone: Option<(i64, bool)>,
    /// Why they could not be fetched.
    pub pel_fault: Option<Fault>,
    /// When each of the two was tried last.
    pub(super) consumers_refused_at: Option<Mono>,
    pub(super) pel_refused_at: Option<Mono>,
    /// Entries seen delivered again, oldest first.
    pub redeliveries: VecDeque<Redelivery>,
    /// How long entries had been pending when they were last seen before they left the PEL, in milliseconds.
    pub handled_ms: VecDeque<i64>,
    /// Ids seen pending in this session.
    pub seen_pending: BTreeSet<EntryId>,
    /// Entries that left the PEL lately, with when that was seen and who held them: a consumer that vanishes takes its entries along.
    left: VecDeque<(Mono, EntryId, Option<Name>)>,
    /// Owner and idle time of those that left at this sample, until it is known whether that owner is at work.
    unsettled: Vec<(Name, i64)>,
    /// Entries that left the PEL together with their consumer: whether they were acknowledged just before is not known.
    pub dropped: BTreeSet<EntryId>,
    /// Cursor jumps seen: after the first id, up to and with the second.
    pub skips: Vec<(EntryId, EntryId)>,
    /// When more than its element of XINFO GROUPS was last fetched.
    pub(super) looked: Option<Mono>,
    /// Facts of the stream and the group when both were last of one moment: whether trimming or deletes passed this group shows
    /// only against them.
    pub(super) seen_before: Option<(StreamFacts, GroupFacts)>,
    /// Nothing was folded since it was first seen, or since its stream was created again.
    pub(super) anew: bool,
    /// Symptoms that fired at the last fold and since when, for hysteresis.
    pub firing: BTreeMap<&'static str, Mono>,
    /// What the checks said at the last fold.
    pub judgement: Judgement,
}

impl GroupState {
    /// A group first seen now.
    pub fn new(facts: GroupFacts, at: Mono) -> Self {
        Self {
            facts,
            fault: None,
            at,
            lag: Lag::unknown("not computed yet"),
            drift: None,
            lost: None,
            history: History::default(),
            consumers: None,
            consumers_fault: None,
            consumers_at: at,
            summary: None,
            summary_at: at,
            pel: Pel::default(),
            census: Census::new(at),
            gone: None,
            pel_fault: None,
            consumers_refused_at: None,
            pel_refused_at: None,
            redeliveries: VecDeque::new(),
            handled_ms: VecDeque::new(),
            seen_pending: BTreeSet::new(),
            left: VecDeque::new(),
            unsettled: Vec::new(),
            dropped: BTreeSet::new(),
            skips: Vec::new(),
            looked: None,
            seen_before: None,
            anew: true,
            firing: BTreeMap::new(),
            judgement: Judgement::default(),
        }
    }

    /// The group's name.
    pub fn name(&self) -> &Name {
        &self.facts.name
    }

    /// Entries that nobody holds; `None` where it cannot be told.
    pub fn unowned(&self) -> Option<i64> {
        match (&self.summary, self.pel.complete) {
            (_, true) => Some(self.pel.of(None).count() as i64),
            (Some(summary), false) => Some(summary.unowned()),
            (None, false) => (self.facts.pending == 0).then_some(0),
        }
    }

    /// Consumers that hold entries; `None` where that cannot be told.
    pub fn holders(&self) -> Option<usize> {
        if let Some(consumers) = &self.consumers {
            return Some(consumers.iter().filter(|consumer| consumer.pending > 0).count());
        }
        if let Some(summary) = &self.summary {
            return Some(summary.holders.len());
        }
        let owners: BTreeSet<_> = self.pel.rows.iter().filter_map(|row| row.owner.as_ref()).collect();
        self.pel.complete.then_some(owners.len())
    }

    /// Why a count of the server is not shown, in words.
    pub fn doubt(&self) -> Option<&'static str> {
        let untold = || self.pel.rows.iter().any(|row| !row.is_told());
        match (self.facts.pending_known(), self.facts.consumers_known()) {
            (None, _) => Some("the server's count of pending entries cannot be true"),
            (_, None) => Some("the server's count of consumers cannot be true"),
            _ if untold() => Some("the server does not tell how often or when entries were delivered"),
            _ => None,
        }
    }

    /// Rates over the last seconds.
    pub fn rates(&self) -> Rates {
        self.history.rates(RATE_WINDOW_MS)
    }

    /// The longest idle time of a pending entry at `now`, in milliseconds.
    pub fn oldest_idle(&self, now: Mono) -> Extreme {
        let passed = now.since(self.pel.at) as i64;
        let found = match (self.pel.oldest_idle(), self.oldest_of_census()) {
            // the rows may hold an older one still, if somebody set its idle time by hand
            (Extreme::AtLeast(ms, id), Some(found)) => Extreme::Exact(Some(found.max((ms, id)))),
            (found, _) => found,
        };
        match found {
            Extreme::Exact(found) => Extreme::Exact(found.map(|(ms, id)| (ms.saturating_add(passed), id))),
            Extreme::AtLeast(ms, id) => Extreme::AtLeast(ms.saturating_add(passed), id),
            Extreme::Unknown => Extreme::Unknown,
        }
    }

    /// Pending entries without payload: the number known to be gone, and whether it is the number of all.
    pub fn payload_gone(&self, stream: &StreamState) -> Option<(i64, bool)> {
        if self.pel.is_stale() {
            // entries acknowledged since may be trimmed rightly: rows of then are not held against the stream of now
            return self.gone.map(|(gone, _)| (gone.min(self.facts.pending_known().unwrap_or(i64::MAX)), false));
        }
        if !self.pel.is_fetched() {
            return None;
        }
        let fates: Vec<Option<bool>> = self.pel.rows.iter().map(|row| stream.has_entry(row.id)).collect();
        let gone = fates.iter().filter(|fate| **fate == Some(false)).count() as i64;
        match self.gone_by_census(stream) {
            Some((walked, exact)) if !self.pel.complete => Some((walked.max(gone), exact && gone <= walked)),
            _ => Some((gone, self.pel.complete && !stream.apart && !fates.contains(&None))),
        }
    }

    pub(super) fn remember_gone(&mut self, gone: Option<(i64, bool)>) {
        self.gone = gone;
    }

    /// The strip of this group.
    pub fn cells(&self, stream: &StreamState) -> Vec<Cell> {
        cells(
            &stream.window,
            &Marks {
                cursor: self.facts.cursor,
                rows: &self.pel.rows,
                pel_known: &|id| self.pel.is_known(id),
                seen_pending: &|id| self.seen_pending.contains(&id),
                dropped: &|id| self.dropped.contains(&id),
                skips: &self.skips,
            },
        )
    }

    /// Whether "acked" may be taken at its word: no jump was seen, and the server counts what the group read. A server that
    /// does not count (before 7.0) cannot tell a group that read all from one that began in the middle.
    pub fn acked_sure(&self) -> bool {
        let none_behind = self
            .seen_before
            .as_ref()
            .is_some_and(|(facts, _)| facts.first.is_none_or(|first| self.facts.cursor < first));
        let counted = self.facts.entries_read_known().is_some() || none_behind;
        self.skips.is_empty() && self.dropped.is_empty() && counted && self.lost.is_none()
    }

    /// The time below which a share of the observed handlings lay, in milliseconds; `None` below 20 of them.
    pub fn handling_ms(&self, share: f64) -> Option<i64> {
        if self.handled_ms.len() < 20 {
            return None;
        }
        let mut sorted: Vec<i64> = self.handled_ms.iter().copied().collect();
        sorted.sort_unstable();
        sorted.get(((sorted.len() - 1) as f64 * share).round() as usize).copied()
    }

    /// From when on a holder that was not seen is called gone, in milliseconds: the set threshold, or well above the
    /// slowest handling observed, up to ten times the set one.
    pub fn gone_after_ms(&self, settings: &Settings) -> i64 {
        let usual = self.handling_ms(0.99).unwrap_or(0).saturating_mul(GONE_TIMES);
        settings.gone_after_ms.max(usual.min(settings.gone_after_ms.saturating_mul(MOST_GONE_TIMES)))
    }

    /// Forgets what this session saw of a group of that name: its stream was created again.
    pub(super) fn restart(&mut self) {
        let census = self.census.anew();
        *self = Self { census, ..Self::new(self.facts.clone(), self.at) };
    }

    /// Takes its element of XINFO GROUPS in, beside the stream as it was at that moment, where it was read.
    pub(super) fn take(&mut self, facts: GroupFacts, stream: Option<&StreamFacts>, at: Mono) {
        self.history.push(at, stream, &facts, &self.lag);
        self.anew = false;
        if facts.pending == 0 {
            let old = std::mem::take(&mut self.pel);
            self.pel.set_empty(at);
            self.follow(&old, at);
        } else {
            self.pel.check(facts.pending);
        }
        self.facts = facts;
        self.at = at;
        self.fault = None;
    }

    /// Takes new pending rows in and notes what left, changed hands or was delivered again.
    pub(super) fn follow(&mut self, before: &Pel, at: Mono) {
        for row in &before.rows {
            match self.pel.rows.binary_search_by_key(&row.id, |row| row.id) {
                Ok(index) => self.compare(row, index, at),
                Err(_) if self.pel.is_known(row.id) => {
                    push_bounded(&mut self.left, (at, row.id, row.owner.clone()), SEEN);
                    self.unsettled.extend(row.owner.clone().zip(row.idle_ms));
                }
                Err(_) => {}
            }
        }
        self.seen_pending.extend(self.pel.rows.iter().map(|row| row.id));
        while self.seen_pending.len() > SEEN {
            self.seen_pending.pop_first();
        }
    }

    /// Takes what left at this sample as handled where its owner is at work: entries of a holder that is gone left with it, or by
    /// an operator's hand, after a time that no handling takes.
    pub(super) fn settle(&mut self, active_ms: i64) {
        let consumers = self.consumers.as_deref().unwrap_or_default();
        for (owner, idle) in std::mem::take(&mut self.unsettled) {
            let found = consumers.binary_search_by(|consumer| consumer.name.cmp(&owner));
            if found.is_ok_and(|index| consumers[index].idle_ms <= active_ms) {
                push_bounded(&mut self.handled_ms, idle, HANDLINGS);
            }
        }
    }

    /// Notes that a consumer vanished that was there at `seen`: what left its hands since was perhaps never acknowledged.
    pub(super) fn drop_of(&mut self, consumer: &Name, seen: Mono) {
        let held = self
            .left
            .iter()
            .filter(|(at, _, owner)| *at > seen && owner.as_ref() == Some(consumer))
            .map(|(_, id, _)| *id);
        self.dropped.extend(held);
        while self.dropped.len() > SEEN {
            self.dropped.pop_first();
        }
    }

    fn compare(&mut self, old: &PendingRow, index: usize, at: Mono) {
        let new = &self.pel.rows[index];
        // a re-read after a rewind resets the count to 1 but moves the owner (docs/server-facts.md 5.2)
        if new.owner != old.owner || new.deliveries > old.deliveries {
            let redelivery = Redelivery {
                at,
                id: new.id,
                from: old.owner.clone(),
                to: new.owner.clone(),
                deliveries: new.deliveries,
                idle_before_ms: old.idle_ms,
            };
            push_bounded(&mut self.redeliveries, redelivery, REDELIVERIES);
        }
    }
}

fn push_bounded<T>(queue: &mut VecDeque<T>, item: T, most: usize) {
    if queue.len() == most {
        queue.pop_front();
    }
    queue.push_back(item);
}
