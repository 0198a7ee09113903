//! Folding a sample into the store. Every change that a sample makes starts here; [`super::Sightings`] and [`super::Census`] update their
//! own parts.

use super::{Discovery, GroupState, HISTORY_BYTES, RowState, Store, StreamState, doubt, vanished};
use crate::core::{
    event::Event,
    history::History,
    known::Known,
    lag::{self, Inputs, Lag},
    loss,
    model::{ConsumerFacts, GroupFacts, PendingSummary, StreamFacts},
    name::Name,
    observed::FailedReading,
    sample::{Fault, GroupDetail, PageRequest, Part, RangeIds, RangeRequest, Sample, ScanSample, StreamSample},
    strip::Window,
    time::{Mono, Now, age_words},
    words::entries,
};

/// A cursor that this program moved shows at its new place within this time, in milliseconds.
const MOVE_SHOWS_MS: u64 = 10_000;

/// How samples belong together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reading {
    /// One tick of the screen: pending rows that it does not bring become stale.
    Tick,
    /// A round of a full reading: the rounds add up.
    Full,
}

impl Store {
    pub fn fold(&mut self, sample: Sample, now: Now, reading: Reading) {
        let moved = sample.reached.is_some_and(|reached| self.take_reached(reached, now));
        if let Some(server) = sample.server {
            self.take_server(server, sample.at, moved);
        }
        self.conditions.fold(sample.conditions, sample.at, reading == Reading::Full);
        if let Some(time_ms) = sample.time_ms {
            self.clock_offset_ms = Some(time_ms.saturating_sub(sample.at.0 as i64));
        }
        if let Some(names) = sample.client_names {
            self.client_names = names;
            self.clients_asked = Some(sample.at);
        }
        // where neither INFO nor HELLO is allowed, a redirection shows that the server belongs to a cluster
        let redirects = |stream: &StreamSample| matches!(stream.groups, Err(Fault::Elsewhere { .. }));
        self.server.cluster |= sample.cluster.is_some() || sample.streams.iter().any(redirects);
        self.cluster = sample.cluster.or(self.cluster.take());
        if let Some(cluster) = &self.cluster {
            self.conditions.keep(|name| cluster.nodes.iter().any(|node| node.name == name));
        }
        self.denied.extend(sample.denied);
        self.share.learn(sample.streams.len() + sample.later, sample.cost);
        self.last_cost = sample.cost;
        self.last_cost.add(sample.walked);
        self.total_cost.add(self.last_cost);
        self.ticks += 1;
        self.fold_streams(sample.streams, sample.at, now, reading);
        if let Some(found) = sample.scan {
            self.fold_scan(found, sample.at);
        }
        if let Some(found) = sample.census {
            self.fold_census(*found, sample.at);
        }
        self.sampled = Some(now);
    }

    /// Folds streams of a tick whose other part was folded before.
    pub fn fold_streams(&mut self, streams: Vec<StreamSample>, at: Mono, now: Now, reading: Reading) {
        self.folds += 1;
        for stream in streams {
            // the nodes of a cluster answer at different times
            let at = stream.origin.as_ref().map_or(at, |origin| origin.at);
            Fold { store: self, at, now, reading }.stream(stream);
        }
        self.fit_histories();
    }

    /// Bounds the memory of all histories together, however many groups there are.
    fn fit_histories(&mut self) {
        let groups: usize = self.streams.values().map(|stream| stream.groups.len()).sum();
        let bytes = HISTORY_BYTES / groups.max(1);
        let folds = self.folds;
        for stream in self.streams.values_mut().filter(|stream| stream.folded == folds) {
            stream.groups.values_mut().for_each(|group| group.history.fit(bytes));
        }
    }

    fn fold_scan(&mut self, found: ScanSample, at: Mono) {
        if let Some(fault) = found.fault {
            // a refusal is permanent; any other fault may pass, so the pass starts again after a while
            let lasts = matches!(fault, Fault::Denied(_));
            let complete = lasts || self.discovery.complete;
            self.discovery = Discovery { complete, finished: Some(at), fault: Some(fault), ..Discovery::default() };
            return;
        }
        self.discovery.fault = None;
        for key in found.keys {
            self.watch(key.clone());
            self.discovery.found.insert(key);
        }
        self.discovery.cursor = found.cursor;
        if self.discovery.cursor != "0" {
            return;
        }
        self.discovery.pattern += 1;
        if self.discovery.pattern < self.settings.patterns.len() {
            return;
        }
        // a missing stream that a whole pass did not find no longer needs a row
        let seen = std::mem::take(&mut self.discovery.found);
        let named = self.settings.keys.clone();
        self.streams.retain(|key, stream| {
            seen.contains(key)
                || named.contains(key)
                || !matches!(stream.state, RowState::Fault(Fault::Missing | Fault::WrongType))
        });
        self.discovery = Discovery { complete: true, finished: Some(at), ..Discovery::default() };
    }
}

/// One stream of one sample, while it is folded into the store.
pub(super) struct Fold<'a> {
    pub(super) store: &'a mut Store,
    /// When its reply was complete.
    pub(super) at: Mono,
    pub(super) now: Now,
    reading: Reading,
}

impl Fold<'_> {
    fn stream(&mut self, sample: StreamSample) {
        let Some(mut stream) = self.store.streams.remove(&sample.key) else { return };
        let node = sample.origin.map(|origin| origin.node);
        let took_over = self.take_over(&mut stream, node, &sample.facts, &sample.groups);
        stream.polled = Some(self.at);
        stream.folded = self.store.folds;
        if let Some(part) = sample.ttl_ms {
            stream.ttl.take(part, self.at);
        }
        match sample.facts {
            Ok(facts) => self.facts(&mut stream, facts, took_over),
            Err(Fault::Unasked) => {}
            Err(fault @ Fault::Denied(_)) if sample.groups.is_ok() => {
                stream.state = RowState::Ok;
                stream.facts.value = None;
                stream.facts.take(Err(fault), self.at);
                stream.window = Window::default();
            }
            Err(fault) => self.lose_stream(&mut stream, fault),
        }
        if let Some((_, range)) = sample.ranges.last() {
            stream.range_failure =
                range.as_ref().err().map(|fault| FailedReading { fault: fault.clone(), at: self.at });
        }
        stream.skewed = stream.facts.at < self.at || !sample.consistent;
        if stream.is_ok() {
            match sample.groups {
                Ok(mut groups) => {
                    if sample.consistent {
                        doubt::compare(&mut groups, &sample.details);
                    }
                    self.groups(&mut stream, groups, &sample.ranges);
                }
                Err(Fault::Missing) => self.lose_stream(&mut stream, Fault::Missing),
                Err(fault) => stream.groups_fault = Some(fault),
            }
            for detail in sample.details {
                self.detail(&mut stream, detail);
            }
            for group in stream.groups.values_mut() {
                group.settle(self.store.settings.gone_after_ms);
                group.check_census();
            }
            let gone: Vec<_> = stream.groups.values().map(|group| group.payload_gone(&stream)).collect();
            stream.groups.values_mut().zip(gone).for_each(|(group, gone)| group.remember_gone(gone));
        }
        self.store.streams.insert(sample.key, stream);
    }

    /// `took_over`: another server answers than before, and may know less.
    fn facts(&mut self, stream: &mut StreamState, facts: StreamFacts, took_over: bool) {
        if let Some(old) = &stream.facts.value {
            let went_back = facts.last_generated < old.last_generated
                || matches!((old.entries_added, facts.entries_added), (Known::Is(old), Known::Is(new)) if new < old);
            let came_back = matches!(stream.state, RowState::Fault(Fault::Missing));
            if went_back && took_over {
                let at = self.at;
                stream.groups.values_mut().for_each(|group| group.restart(at));
                stream.window = Window::default();
            }
            let how = if took_over {
                None
            } else if went_back {
                Some(format!("its last id went from {} to {}", old.last_generated, facts.last_generated))
            } else {
                came_back.then(|| format!("with {} entries now", facts.length))
            };
            if let Some(how) = how {
                let separator = if went_back { ":" } else { "," };
                let text = format!("{} was deleted and created again{separator} {how}", stream.key);
                self.restart(stream, text);
                stream.window = Window::default();
            }
        }
        // Before 7.0 the server has no counter that could go back. That no previous entry is left may be trimming; if groups are gone
        // too, the stream was created again.
        stream.emptied = facts.entries_added == Known::Unsupported
            && stream
                .facts
                .value
                .as_ref()
                .is_some_and(|old| old.length > 0 && facts.first.is_some_and(|first| first > old.last_generated));
        if stream.entry_bytes == 0 {
            // a first guess from the two payloads in the reply; ranges give a better value
            stream.entry_bytes = (facts.reply_bytes.saturating_sub(300) / 2).max(32);
        }
        stream.state = RowState::Ok;
        stream.trims.push(self.at, &facts);
        stream.additions.push(self.at, &facts);
        stream.duplicates.push(self.at, &facts);
        stream.facts.take(Ok(facts), self.at);
    }

    /// The stream was created again: what was seen of the old groups does not apply to the groups that have their names now.
    fn restart(&mut self, stream: &mut StreamState, text: String) {
        let at = self.at;
        self.count_lost_groups(stream.groups.len());
        stream.groups.values_mut().for_each(|group| group.restart(at));
        self.tell("stream-recreated", stream, None, text);
    }

    pub(super) fn tell(&mut self, id: &'static str, stream: &StreamState, group: Option<&Name>, text: String) {
        let (stream, group) = (Some(stream.key.clone()), group.cloned());
        self.store.tell(Event { wall_ms: self.now.wall_ms, id, stream, group, text });
    }

    fn groups(&mut self, stream: &mut StreamState, groups: Vec<GroupFacts>, ranges: &[(RangeRequest, Part<RangeIds>)]) {
        stream.groups_fault = None;
        let gone: Vec<Name> =
            stream.groups.keys().filter(|name| !groups.iter().any(|group| group.name == **name)).cloned().collect();
        if std::mem::take(&mut stream.emptied) && !gone.is_empty() {
            let text = format!(
                "{} was deleted and created again, as it seems: no entry that was there is left, and groups are gone",
                stream.key
            );
            self.restart(stream, text);
        }
        for name in gone {
            self.lose_group(stream, &name);
        }
        if let Some(facts) = stream.facts.value.clone() {
            let left: Vec<Option<i64>> = groups.iter().map(|new| left_unread(stream, &facts, new)).collect();
            update_window(stream, &facts, &groups, ranges);
            for (new, left_unread) in groups.into_iter().zip(left) {
                self.group(stream, &facts, new, left_unread);
            }
        } else {
            for new in groups {
                self.group_alone(stream, new);
            }
        }
        if self.reading == Reading::Tick {
            for group in stream.groups.values_mut().filter(|group| group.facts.pending != Known::Is(0)) {
                group.pel.outdate(group.facts.pending.value());
            }
        }
    }

    /// Folds a group when the facts of its stream are refused: we know what XINFO GROUPS says, and the server's own lag.
    fn group_alone(&mut self, stream: &mut StreamState, new: GroupFacts) {
        if let Some(old) = stream.groups.get(&new.name).filter(|group| !group.is_new).map(|group| group.facts.clone()) {
            self.watch_cursor(stream, None, &old, &new);
        }
        let group = stream.groups.get_or_insert_with(&new.name, || GroupState::new(new.clone(), self.at));
        group.lag = lag::unchecked(&new);
        group.take(new, None, self.at);
    }

    /// Folds a group. There are three cases. Stream and group were read at one moment: both can be compared. They were read one after the
    /// other (`skewed`): what compares them is not measured now. Only the group was read (`stale`, which is also skewed): the lag stays
    /// valid while the cursor stands still.
    fn group(&mut self, stream: &mut StreamState, facts: &StreamFacts, new: GroupFacts, left_unread: Option<i64>) {
        let (at, skewed) = (self.at, stream.skewed);
        let before = stream.groups.get(&new.name).filter(|group| !group.is_new);
        let (before, drift) = (before.map(|group| group.facts.clone()), before.and_then(|group| group.drift));
        if let Some(old) = &before {
            self.watch_cursor(stream, Some(facts), old, &new);
        }
        // the facts may be older than the group: they are read rarely if they carry large entries
        let stale = stream.facts.at < at;
        let count = stream.window.count_after(new.cursor, facts);
        let group = stream.groups.get_or_insert_with(&new.name, || GroupState::new(new.clone(), at));
        let inputs = Inputs { stream: facts, group: &new, family: self.store.server.lag_family(), drift, count };
        let (resolved, drift) = if skewed {
            lag::follow_apart(&inputs, before.as_ref())
        } else {
            lag::follow(&inputs, group.seen_before.as_ref().map(|(stream, group)| (stream, group)))
        };
        group.drift = drift;
        // older facts do not apply to a cursor that moved since
        let moved = before.as_ref().is_none_or(|old| old.cursor != new.cursor);
        group.lag = match stale {
            false if skewed && moved && resolved.beyond_end => {
                Lag::unknown("stream and group were not read at one moment")
            }
            false => resolved,
            true if moved => Lag::unknown("the stream was not read again: its entries are large"),
            true => group.lag,
        };
        if before.as_ref().is_some_and(|old| old.cursor < new.cursor) {
            let gap = group.moved_on.map_or(0, |last| at.since(last));
            group.longest_gap_ms = group.longest_gap_ms.max(gap);
            group.moved_on = Some(at);
        }
        if !stale {
            let waits = facts.last.is_some_and(|last| last > new.cursor);
            group.waiting_since = waits.then(|| group.waiting_since.filter(|_| !moved).unwrap_or(at));
        }
        if !skewed {
            let family = self.store.server.lag_family();
            match left_unread {
                Some(left) => group.grow_losses(left, facts, &new, at),
                None => group.count_losses(facts, &new, family, at),
            }
            group.seen_before = Some((facts.clone(), new.clone()));
        }
        group.take(new, (!stale).then_some(facts), at);
    }

    fn watch_cursor(
        &mut self,
        stream: &mut StreamState,
        facts: Option<&StreamFacts>,
        old: &GroupFacts,
        new: &GroupFacts,
    ) {
        if new.cursor != old.cursor
            && let Some(group) = stream.groups.get_mut(&new.name)
            && std::mem::take(&mut group.own.cursor_moves)
            && group.own.acted.is_some_and(|acted| self.at.since(acted) <= MOVE_SHOWS_MS)
        {
            group.history = History::default();
        }
        if new.cursor < old.cursor {
            let window = &stream.window;
            let counted = (window.is_trusted() && window.covers(new.cursor) && window.covers(old.cursor))
                .then(|| window.ids().filter(|id| *id > new.cursor && *id <= old.cursor).count() as i64);
            let again = counted.map_or("entries between".to_owned(), entries);
            let are = if counted == Some(1) { "is" } else { "are" };
            let text = format!(
                "the cursor of {} went back from {} to {}: {again} {are} delivered again",
                new.name, old.cursor, new.cursor
            );
            self.tell("cursor-went-back", stream, Some(&new.name), text);
            if let Some(group) = stream.groups.get_mut(&new.name) {
                group.seen.rewound = Some((new.cursor, old.cursor));
                // a trend across the move would take it for traffic
                group.history = History::default();
            }
            return;
        }
        // entries-read becomes nil when somebody moves the cursor, but also when a read passes a deleted entry (docs/server-facts.md 3.1)
        let forgot = matches!((old.entries_read, new.entries_read), (Known::Is(_), Known::Undetermined));
        let tombstone = facts.is_none_or(|facts| facts.max_deleted.value().is_some_and(|id| id >= old.cursor));
        if new.cursor > old.cursor && forgot && !tombstone && !stream.skewed {
            let text = format!(
                "the cursor of {} jumped from {} to {}: entries between may never be delivered to it",
                new.name, old.cursor, new.cursor
            );
            self.tell("cursor-jumped", stream, Some(&new.name), text);
            if let Some(group) = stream.groups.get_mut(&new.name) {
                group.seen.skips.push((old.cursor, new.cursor));
                group.history = History::default();
            }
        }
    }

    fn detail(&mut self, stream: &mut StreamState, detail: GroupDetail) {
        let (at, reading) = (self.at, self.reading);
        let Some(group) = stream.groups.get_mut(&detail.name) else { return };
        group.looked = Some(at);
        let (held, listed_at) = (group.pel.clone(), group.consumers.at);
        let vanished = take_consumers(group, detail.consumers, at);
        take_summary(group, detail.summary, at);
        take_pages(group, &detail.pages, at, reading);
        // with the new rows in place, we know which entries went with the consumers
        let mut texts = Vec::new();
        for old in vanished {
            group.seen.drop_of(&old.name, listed_at);
            texts.push(format!(
                "consumer {} of {} vanished; it held {} when last seen ({} ago, idle for {}): {}",
                old.name,
                detail.name,
                old.pending,
                age_words(at.since(listed_at) as i64),
                age_words(old.idle_ms),
                vanished::fate(group, &old, &held, listed_at)
            ));
        }
        for text in texts {
            self.tell("consumer-vanished-with-pending", stream, Some(&detail.name), text);
        }
    }
}

/// Entries that left the stream unread since the last sample in which group and stream were of one moment, as far as that was seen; `None`
/// where the server's counters tell.
fn left_unread(stream: &StreamState, facts: &StreamFacts, new: &GroupFacts) -> Option<i64> {
    if facts.entries_added.value().is_some() && new.entries_read_known().is_some() {
        return None;
    }
    let before = stream.groups.get(&new.name).filter(|group| !group.is_new).and_then(|old| {
        // after a move back the entries behind the old cursor were read once
        old.seen_before.as_ref().filter(|_| new.cursor >= old.facts.cursor && !stream.skewed)
    });
    Some(before.map_or(0, |(before, _)| loss::between(stream.window.ids(), before, facts, new)))
}

fn update_window(
    stream: &mut StreamState,
    facts: &StreamFacts,
    groups: &[GroupFacts],
    ranges: &[(RangeRequest, Part<RangeIds>)],
) {
    for (request, reply) in ranges.iter().filter(|(request, _)| !request.backward) {
        let Some(id) = reply.as_ref().ok().and_then(|reply| reply.ids.first()) else { continue };
        for group in stream.groups.values_mut().filter(|group| group.facts.cursor.next() == Some(request.from)) {
            group.next_waiting = Some((group.facts.cursor, *id));
        }
    }
    let near = groups.iter().map(|group| group.cursor).min().unwrap_or_default();
    let fetched: Vec<_> = ranges.iter().filter_map(|(request, part)| Some((*request, part.as_ref().ok()?))).collect();
    for (_, reply) in fetched.iter().filter(|(_, reply)| !reply.ids.is_empty()) {
        stream.entry_bytes = (reply.bytes / reply.ids.len() as u64).max(1);
    }
    stream.window.update(facts, &fetched, near);
}

/// Updates the list of consumers. Returns those that held entries and are no longer listed.
fn take_consumers(group: &mut GroupState, part: Option<Part<Vec<ConsumerFacts>>>, at: Mono) -> Vec<ConsumerFacts> {
    let Some(mut part) = part else { return Vec::new() };
    let mut vanished = Vec::new();
    if let Ok(consumers) = &mut part {
        // servers list them in this order already; the binary searches rely on it
        consumers.sort_by(|a, b| a.name.cmp(&b.name));
        let listed = |name: &Name| consumers.binary_search_by(|consumer| consumer.name.cmp(name)).is_ok();
        vanished.extend(group.consumers().iter().filter(|old| old.pending > 0 && !listed(&old.name)).cloned());
    }
    group.consumers.take(part, at);
    vanished
}

fn take_summary(group: &mut GroupState, part: Option<Part<PendingSummary>>, at: Mono) {
    match part {
        Some(Ok(mut summary)) => {
            summary.holders.sort();
            group.summary.take(Ok(summary), at);
        }
        Some(Err(fault)) => group.pel_failure = Some(FailedReading { fault, at }),
        None => {}
    }
}

fn take_pages(
    group: &mut GroupState,
    pages: &[(PageRequest, Part<Vec<crate::core::model::PendingRow>>)],
    at: Mono,
    reading: Reading,
) {
    if let Some(fault) = pages.iter().find_map(|(_, part)| part.as_ref().err()) {
        group.pel_failure = Some(FailedReading { fault: fault.clone(), at });
        return;
    }
    let pages: Vec<_> = pages.iter().filter_map(|(page, part)| Some((page.clone(), part.as_ref().ok()?))).collect();
    if pages.is_empty() || group.facts.pending == Known::Is(0) {
        return;
    }
    let before = group.pel.clone();
    group.pel.update(at, &pages, group.facts.pending.value(), reading);
    let oldest = group.oldest_idle(at);
    group.oldest.push(at, oldest);
    group.seen.follow(&before, &group.pel, at, &mut group.own);
    group.own.follow(&group.pel, at);
    group.pel_failure = None;
}
