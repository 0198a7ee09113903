//! Folding a sample into the store: the only place that changes it.

use super::{Discovery, GroupState, HISTORY_BYTES, RowState, Store, StreamState, Trims, doubt, vanished};
use crate::core::{
    event::Event,
    known::Known,
    lag::{self, Inputs, Lag},
    model::{GroupFacts, LagFamily, StreamFacts, total},
    name::Name,
    sample::{Fault, GroupDetail, Part, RangeIds, RangeRequest, Sample, ScanRequest, ScanSample, StreamSample},
    strip::Window,
    symptoms,
    time::{Mono, Now, age_words},
};

impl Store {
    /// Takes one sample in. `full` keeps what earlier rounds of a full reading fetched; `scanned` is the step of discovery
    /// that the sample answers.
    pub fn fold(&mut self, sample: Sample, scanned: Option<&ScanRequest>, now: Now, full: bool) {
        if let Some(server) = sample.server {
            self.server = server;
        }
        if let Some(time_ms) = sample.time_ms {
            self.clock_offset_ms = Some(time_ms.saturating_sub(sample.at.0 as i64));
        }
        if let Some(names) = sample.client_names {
            self.client_names = names;
            self.clients_asked = Some(sample.at);
        }
        // where neither INFO nor HELLO may be asked, a redirection tells what the server is
        let led_on = |stream: &StreamSample| matches!(stream.groups, Err(Fault::Elsewhere { .. }));
        self.server.cluster |= sample.cluster.is_some() || sample.streams.iter().any(led_on);
        self.cluster = sample.cluster.or(self.cluster.take());
        self.denied.extend(sample.denied);
        self.share.learn(sample.streams.len(), sample.cost);
        self.last_cost = sample.cost;
        self.last_cost.add(sample.walked);
        self.total_cost.add(self.last_cost);
        for stream in sample.streams {
            self.fold_stream(stream, sample.at, now, full);
        }
        if let Some(found) = sample.scan {
            self.fold_scan(found, scanned, sample.at);
        }
        if let Some(found) = sample.census {
            self.fold_census(*found, sample.at);
        }
        self.ticks += 1;
        self.sampled = Some(now);
        self.fit_histories();
        symptoms::remember(self, now);
    }

    /// However many groups there are, their histories stay within bounds.
    fn fit_histories(&mut self) {
        let groups: usize = self.streams.values().map(|stream| stream.groups.len()).sum();
        let bytes = HISTORY_BYTES / groups.max(1);
        for stream in self.streams.values_mut().filter(|stream| stream.unjudged) {
            stream.groups.values_mut().for_each(|group| group.history.fit(bytes));
        }
    }

    fn fold_stream(&mut self, sample: StreamSample, at: Mono, now: Now, full: bool) {
        let Some(mut stream) = self.streams.remove(&sample.key) else { return };
        // the nodes of a cluster answer at different times
        let at = sample.origin.as_ref().map_or(at, |origin| origin.at);
        stream.node = sample.origin.map(|origin| origin.node).or(stream.node);
        stream.polled = Some(at);
        stream.unjudged = true;
        match sample.facts {
            Ok(facts) => self.fold_facts(&mut stream, facts, at, now),
            Err(Fault::Unasked) => {}
            Err(fault @ Fault::Denied(_)) if sample.groups.is_ok() => {
                stream.state = RowState::Ok;
                stream.facts = None;
                stream.window = Window::default();
                stream.facts_fault = Some(fault);
                stream.refused_at = Some(at);
            }
            Err(fault) => self.lose_stream(&mut stream, fault, now),
        }
        if let Some((_, range)) = sample.ranges.last() {
            stream.range_fault = range.as_ref().err().cloned();
            stream.range_refused_at = stream.range_fault.as_ref().map(|_| at);
        }
        stream.apart = stream.at < at || !sample.consistent;
        if stream.is_ok() {
            match sample.groups {
                Ok(mut groups) => {
                    if sample.consistent {
                        doubt::compare(&mut groups, &sample.details);
                    }
                    self.fold_groups(&mut stream, groups, &sample.ranges, at, now, full);
                }
                Err(Fault::Missing) => self.lose_stream(&mut stream, Fault::Missing, now),
                Err(fault) => stream.groups_fault = Some(fault),
            }
            for detail in sample.details {
                self.fold_detail(&mut stream, detail, at, now, full);
            }
            stream.groups.values_mut().for_each(|group| {
                group.settle(self.settings.gone_after_ms);
                group.check_census();
            });
            let gone: Vec<_> = stream.groups.values().map(|group| group.payload_gone(&stream)).collect();
            stream.groups.values_mut().zip(gone).for_each(|(group, gone)| group.remember_gone(gone));
        }
        self.streams.insert(sample.key, stream);
    }

    fn fold_facts(&mut self, stream: &mut StreamState, facts: StreamFacts, at: Mono, now: Now) {
        if let Some(old) = &stream.facts {
            let went_back = facts.last_generated < old.last_generated
                || matches!((old.entries_added, facts.entries_added), (Known::Is(old), Known::Is(new)) if new < old);
            let came_back = matches!(stream.state, RowState::Fault(Fault::Missing));
            if came_back || went_back {
                // what was seen of the old groups says nothing of those that have their names now
                stream.groups.values_mut().for_each(GroupState::restart);
            }
            if came_back && !went_back {
                let text = format!("{} was deleted and created again, with {} entries now", stream.key, facts.length);
                self.tell_recreated(stream, text, now);
                stream.window = Window::default();
            }
            if went_back {
                let text = format!(
                    "{} was deleted and created again: its last id went from {} to {}",
                    stream.key, old.last_generated, facts.last_generated
                );
                self.tell_recreated(stream, text, now);
                stream.window = Window::default();
            }
        }
        // before 7.0 no counter goes back; that nothing of what was there is left may be trimming, unless groups went with it
        stream.emptied = facts.entries_added == Known::Unsupported
            && stream
                .facts
                .as_ref()
                .is_some_and(|old| old.length > 0 && facts.first.is_some_and(|first| first > old.last_generated));
        if stream.entry_bytes == 0 {
            // a first guess from the two payloads that came along; ranges make it better
            stream.entry_bytes = (facts.reply_bytes.saturating_sub(300) / 2).max(32);
        }
        stream.state = RowState::Ok;
        stream.facts_fault = None;
        stream.trims.push(at, &facts);
        stream.facts = Some(facts);
        stream.at = at;
    }

    fn lose_stream(&mut self, stream: &mut StreamState, fault: Fault, now: Now) {
        let was_there = stream.is_ok();
        if was_there && matches!(fault, Fault::Missing | Fault::WrongType) {
            let held = total(stream.groups.values().filter_map(|group| group.facts.pending_known()));
            let text = format!(
                "{} is gone ({}) with {} entries, {} groups and {} pending",
                stream.key,
                fault.words(),
                stream.facts.as_ref().map_or(0, |facts| facts.length),
                stream.groups.len(),
                held
            );
            self.tell(Event { wall_ms: now.wall_ms, id: "stream-lost", stream: stream.key.clone(), group: None, text });
            for name in stream.groups.keys().cloned().collect::<Vec<_>>() {
                self.lose_group(stream, &name, now);
            }
        }
        if !matches!(fault, Fault::Other(_) | Fault::Away(_) | Fault::Elsewhere { .. }) {
            stream.groups.clear();
            stream.window = Window::default();
            stream.trims = Trims::default();
        }
        stream.state = RowState::Fault(fault);
    }

    fn tell_recreated(&mut self, stream: &StreamState, text: String, now: Now) {
        let (id, stream) = ("stream-recreated", stream.key.clone());
        self.tell(Event { wall_ms: now.wall_ms, id, stream, group: None, text });
    }

    fn lose_group(&mut self, stream: &mut StreamState, name: &Name, now: Now) {
        let Some(group) = stream.groups.remove(name) else { return };
        let text = format!(
            "group {} of {} is gone; it stood at {} with {} pending",
            name,
            stream.key,
            group.facts.cursor,
            group.facts.pending_known().map_or("an unknown number".to_owned(), |pending| pending.to_string())
        );
        self.tell(Event {
            wall_ms: now.wall_ms,
            id: "group-lost",
            stream: stream.key.clone(),
            group: Some(name.clone()),
            text,
        });
    }

    fn fold_groups(
        &mut self,
        stream: &mut StreamState,
        groups: Vec<GroupFacts>,
        ranges: &[(RangeRequest, Part<RangeIds>)],
        at: Mono,
        now: Now,
        full: bool,
    ) {
        stream.groups_fault = None;
        let gone: Vec<Name> =
            stream.groups.keys().filter(|name| !groups.iter().any(|group| group.name == **name)).cloned().collect();
        if std::mem::take(&mut stream.emptied) && !gone.is_empty() {
            let text = format!(
                "{} was deleted and created again, as it seems: no entry that was there is left, and groups are gone",
                stream.key
            );
            stream.groups.values_mut().for_each(GroupState::restart);
            self.tell_recreated(stream, text, now);
        }
        for name in gone {
            self.lose_group(stream, &name, now);
        }
        let Some(facts) = stream.facts.clone() else {
            for new in groups {
                self.fold_alone(stream, new, at, now);
            }
            outdate(stream, full);
            return;
        };
        let near = groups.iter().map(|group| group.cursor).min().unwrap_or_default();
        let fetched: Vec<_> =
            ranges.iter().filter_map(|(request, part)| Some((*request, part.as_ref().ok()?))).collect();
        for (_, reply) in fetched.iter().filter(|(_, reply)| !reply.ids.is_empty()) {
            stream.entry_bytes = (reply.bytes / reply.ids.len() as u64).max(1);
        }
        stream.window.update(&facts, &fetched, near);
        let family = self.server.lag_family();
        for new in groups {
            self.fold_group(stream, &facts, new, family, at, now);
        }
        outdate(stream, full);
    }

    /// A group of a stream whose own facts are refused: what XINFO GROUPS says, and the server's word on its lag.
    fn fold_alone(&mut self, stream: &mut StreamState, new: GroupFacts, at: Mono, now: Now) {
        if let Some(old) = stream.groups.get(&new.name).filter(|group| !group.anew).map(|group| group.facts.clone()) {
            self.watch_cursor(stream, None, &old, &new, now);
        }
        let group = stream.groups.meet(&new, at);
        group.lag = lag::unchecked(&new);
        group.take(new, None, at);
    }

    fn fold_group(
        &mut self,
        stream: &mut StreamState,
        facts: &StreamFacts,
        new: GroupFacts,
        family: LagFamily,
        at: Mono,
        now: Now,
    ) {
        let before =
            stream.groups.get(&new.name).filter(|group| !group.anew).map(|group| (group.facts.clone(), group.drift));
        let apart = stream.apart;
        if let Some((old, _)) = &before {
            self.watch_cursor(stream, Some(facts), old, &new, now);
        }
        let group = stream.groups.meet(&new, at);
        let count = stream.window.count_after(new.cursor, facts);
        let drift = before.as_ref().and_then(|(_, drift)| *drift);
        let inputs = Inputs { stream: facts, group: &new, family, drift, count };
        let (resolved, drift) = if apart {
            lag::follow_apart(&inputs, before.as_ref().map(|(old, _)| old))
        } else {
            lag::follow(&inputs, group.seen_before.as_ref().map(|(stream, group)| (stream, group)))
        };
        group.drift = drift;
        // facts of an earlier moment say nothing of a cursor that moved since
        let moved = before.as_ref().is_none_or(|(old, _)| old.cursor != new.cursor);
        let stale = stream.at < at;
        group.lag = match stale {
            false if apart && moved && resolved.beyond_end => {
                Lag::unknown("stream and group were not read at one moment")
            }
            false => resolved,
            true if moved => Lag::unknown("the stream was not read again: its entries are large"),
            true => group.lag,
        };
        if !apart {
            if let Some(lost) = lag::loss(facts, &new) {
                group.lost = Some(group.lost.unwrap_or(0).max(lost));
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
        now: Now,
    ) {
        let event = |id, text| Event {
            wall_ms: now.wall_ms,
            id,
            stream: stream.key.clone(),
            group: Some(new.name.clone()),
            text,
        };
        if new.cursor < old.cursor {
            let text = format!(
                "the cursor of {} went back from {} to {}: entries between are delivered again",
                new.name, old.cursor, new.cursor
            );
            let event = event("cursor-went-back", text);
            self.tell(event);
            return;
        }
        // entries-read turns nil on a move by hand; past a tombstone it does so on a read, too (server-facts 3.1)
        let forgot = matches!((old.entries_read, new.entries_read), (Known::Is(_), Known::Undetermined));
        let tombstone = facts.is_none_or(|facts| facts.max_deleted.value().is_some_and(|id| id >= old.cursor));
        if new.cursor > old.cursor && forgot && !tombstone && !stream.apart {
            let text = format!(
                "the cursor of {} jumped from {} to {}: entries between may never be delivered to it",
                new.name, old.cursor, new.cursor
            );
            let event = event("cursor-jumped", text);
            self.tell(event);
            if let Some(group) = stream.groups.get_mut(&new.name) {
                group.skips.push((old.cursor, new.cursor));
            }
        }
    }

    fn fold_detail(&mut self, stream: &mut StreamState, detail: GroupDetail, at: Mono, now: Now, full: bool) {
        let key = stream.key.clone();
        let Some(group) = stream.groups.get_mut(&detail.name) else { return };
        group.looked = Some(at);
        let mut vanished = Vec::new();
        let (held, listed_at) = (group.pel.clone(), group.consumers_at);
        match detail.consumers {
            Some(Ok(mut consumers)) => {
                // as servers list them anyway; whoever shows them counts on it
                consumers.sort_by(|a, b| a.name.cmp(&b.name));
                let there = |name: &Name| consumers.binary_search_by(|consumer| consumer.name.cmp(name)).is_ok();
                vanished.extend(
                    group.consumers.iter().flatten().filter(|old| old.pending > 0 && !there(&old.name)).cloned(),
                );
                group.consumers = Some(consumers);
                group.consumers_at = at;
                group.consumers_fault = None;
            }
            Some(Err(fault)) => {
                group.consumers_fault = Some(fault);
                group.consumers_refused_at = Some(at);
            }
            None => {}
        }
        match detail.summary {
            Some(Ok(mut summary)) => {
                summary.holders.sort();
                group.summary = Some(summary);
                group.summary_at = at;
            }
            Some(Err(fault)) => {
                group.pel_fault = Some(fault);
                group.pel_refused_at = Some(at);
            }
            None => {}
        }
        let pages: Vec<_> =
            detail.pages.iter().filter_map(|(page, part)| Some((page.clone(), part.as_ref().ok()?))).collect();
        let fault = detail.pages.iter().find_map(|(_, part)| part.as_ref().err());
        if let Some(fault) = fault {
            group.pel_fault = Some(fault.clone());
            group.pel_refused_at = Some(at);
        } else if !pages.is_empty() && group.facts.pending != 0 {
            group.pel.update(at, &pages, group.facts.pending, full);
            group.follow(&held, at);
            group.pel_fault = None;
        }
        // only now is it known which entries went with them
        let mut texts = Vec::new();
        for old in vanished {
            group.drop_of(&old.name, listed_at);
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
            let id = "consumer-vanished-with-pending";
            self.tell(Event { wall_ms: now.wall_ms, id, stream: key.clone(), group: Some(detail.name.clone()), text });
        }
    }

    fn fold_scan(&mut self, found: ScanSample, asked: Option<&ScanRequest>, at: Mono) {
        if let Some(fault) = found.fault {
            // a refusal lasts; anything else may pass, so the pass begins again after a while
            let lasts = matches!(fault, Fault::Denied(_));
            let complete = lasts || self.discovery.complete;
            self.discovery = Discovery { complete, finished: Some(at), fault: Some(fault), ..Discovery::default() };
            return;
        }
        self.discovery.fault = None;
        if asked.is_none() {
            return;
        }
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
        // a stream that a whole pass did not find and that is missing needs no row any more
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

/// The rounds of a full reading add up; between ticks of the screen rows grow old.
fn outdate(stream: &mut StreamState, full: bool) {
    for group in stream.groups.values_mut().filter(|group| !full && group.facts.pending != 0) {
        group.pel.outdate(group.facts.pending);
    }
}
