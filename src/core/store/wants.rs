//! What the next tick should ask for. Pure, so that the cost of watching is decided and tested here.

use super::{GroupState, RowState, Store, StreamState, census::SWEPT_FROM};
use crate::core::{
    condition::ConditionRequest,
    id::EntryId,
    known::Known,
    lag::LagKind,
    name::Name,
    number::size,
    sample::{Fault, GroupRequest, PageRequest, RangeRequest, Request, ScanRequest, StreamRequest},
    time::Mono,
};
use std::{
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet},
};

/// How much to fetch for the groups in focus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Depth {
    /// The pages on the screen: bounded, for a tick a second.
    Page,
    /// A full reading up to the limits, in as many rounds as it takes (snapshot).
    Full,
}

/// What the user looks at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Focus {
    /// No group: the overview.
    None,
    /// One group on the screen.
    Group {
        key: Name,
        group: Name,
        /// Consumers with their own pending entries on the screen.
        open: Vec<Name>,
        /// The id around which the strip is shown; `None` means the cursor.
        strip_at: Option<EntryId>,
    },
    /// Every group, fully (snapshot).
    All,
}

/// XPENDING rows in a tick for the group in focus: 50 cost about 25 us (docs/server-facts.md 10).
const PAGE_ROWS: usize = 50;
/// XPENDING rows in a tick for a group in the background.
const GLANCE_ROWS: usize = 10;
/// Least and most groups in the background to look into each tick: 10 rows and a short list of consumers cost about 15 us.
const GLANCES: (usize, usize) = (8, 50);
/// Each of them should have its turn within this many ticks.
const GLANCE_TICKS: usize = 60;
/// XPENDING rows in one command of a full reading: about 0.4 ms.
const FULL_ROWS: usize = 1000;
/// Ids wanted on each side of the cursor on the screen.
const REACH: usize = 200;
/// The bounded count of rule 5 in docs/server-facts.md 3.4, and the reach of a snapshot's strip.
const COUNT: usize = 1000;
/// Cursors that lie far apart are not connected with more ids than this.
const MOST_IDS: usize = 3 * COUNT;
/// Most bytes of a reply with payloads.
const REPLY_BYTES: u64 = 64 * 1024;
/// A longer consumer list is fetched only at intervals.
pub const MANY_CONSUMERS: i64 = 200;
/// The least interval for such a list, in milliseconds.
const MANY_CONSUMERS_MS: u64 = 5000;
/// The interval is also at least this many microseconds for each listed consumer, up to a minute and a half. A consumer takes 90 bytes and
/// 0.6 us of the server's time (docs/server-facts.md 10): a list of 10,000 comes once a minute and costs 100 us a second.
const EACH_CONSUMER_US: u64 = 6000;
const LONGEST_LIST_MS: u64 = 90_000;
/// A longer XPENDING summary is fetched only at intervals.
const MANY_HOLDERS: i64 = 1800;
/// The same for XPENDING's summary, which lists all holders: 35 bytes and up to 0.25 us each. One of 10,000 comes every 50 seconds.
const EACH_HOLDER_US: u64 = 5000;
/// A longer consumer list is never fetched, because the server can do nothing else for 25 ms. XPENDING's summary names the holders.
pub const MOST_CONSUMERS: i64 = 50_000;
/// If the reply of XINFO STREAM is larger than this, in bytes, it is fetched rarely.
const LARGE_FACTS: u64 = 64 * 1024;
/// The interval for such a reply, in milliseconds.
const LARGE_FACTS_MS: u64 = 30_000;
/// The pause between two passes of discovery, in milliseconds.
const RESCAN_MS: u64 = 5000;
/// SCAN steps in a tick until every stream was found once, so that a large database shows its streams within seconds. Each step costs
/// less than a millisecond.
const FIRST_STEPS: usize = 20;
/// After this many rounds, a full reading waits only for missing pages.
const WHOLE_ROUNDS: usize = 8;
/// The interval for names of connections, in milliseconds.
const CLIENTS_MS: u64 = 10_000;
/// A key of the wrong type, or one that may not be read, is asked about once in this many ticks.
const WRONG_TYPE_TICKS: u64 = 10;

/// The groups of each stream to look into, and whether their consumers are listed.
type Glances = BTreeMap<Name, Vec<(Name, bool)>>;

impl Store {
    /// What the next tick should ask for.
    pub fn next_request(&self, focus: &Focus, now: Mono) -> Request {
        self.next_request_with(focus, &BTreeSet::new(), now)
    }

    /// Like [`Self::next_request`], while the streams `seen` are on the screen: each tick asks about them, however many others there are.
    pub fn next_request_with(&self, focus: &Focus, seen: &BTreeSet<Name>, now: Mono) -> Request {
        let slice = self.slice(focus, seen);
        let asked = |stream: &&StreamState| {
            slice.as_ref().map_or_else(|| self.is_due(stream, focus), |slice| slice.contains(&stream.key))
        };
        let mut glances = self.glances(focus, asked, now);
        let streams = self
            .streams
            .values()
            .filter(asked)
            .map(|stream| self.stream_request(stream, focus, &mut glances, now))
            .collect();
        Request {
            streams,
            scan: self.scan_request(now),
            clients: self.clients_due(now),
            server: self.ticks.is_multiple_of(10) || self.server.role.as_deref() == Some("replica"),
            condition: self.condition_request(focus, now),
            census: self.census_request(focus, now),
        }
    }

    /// What to ask about the servers' condition. A full reading asks for all of it once.
    fn condition_request(&self, focus: &Focus, now: Mono) -> Option<ConditionRequest> {
        if self.denied.contains("INFO") {
            return None;
        }
        let one_by_one = *focus != Focus::All && self.server.version_numbers().is_some_and(|version| version < (7, 0));
        let mut request = self.conditions.due(one_by_one, now)?;
        request.config &= !self.denied.contains("CONFIG GET");
        Some(request)
    }

    /// Whether to ask for XINFO STREAM. It carries the first and the last entry whole: where they are large, it is fetched twice a minute
    /// (docs/server-facts.md 13.14).
    fn facts_due(stream: &StreamState, now: Mono) -> bool {
        if stream.facts.failure.is_some() {
            // ask at once about a stream that was away or missing
            return !stream.is_ok() || !stream.facts.is_refused(now);
        }
        let large = stream.facts.value.as_ref().is_some_and(|facts| facts.reply_bytes > LARGE_FACTS);
        !large || !stream.is_ok() || stream.facts.age_ms(now) >= LARGE_FACTS_MS
    }

    /// Whether to ask for the names of open connections. That matters when a holder was not seen for long: it may still be connected.
    /// CLIENT LIST costs a microsecond a connection, so it is not sent at every tick.
    fn clients_due(&self, now: Mono) -> bool {
        let unseen = || self.groups().any(|(_, group)| group.has_unseen_holder(&self.settings, now));
        self.clients_asked.is_none_or(|at| now.since(at) >= CLIENTS_MS) && unseen()
    }

    /// Whether the first pass of discovery is not finished.
    pub fn is_searching(&self) -> bool {
        !self.discovery.complete && self.scan_request(Mono(0)).is_some()
    }

    /// Begins a full reading: what earlier readings fetched no longer counts.
    pub fn begin_reading(&mut self, now: Mono) {
        self.reading_since = now;
    }

    /// Whether a full reading has more to fetch after this many rounds.
    pub fn wants_more(&self, rounds: usize) -> bool {
        if rounds >= WHOLE_ROUNDS {
            // on a busy stream something is always new: from here on, wait only for pages that are really missing
            return self.groups().any(|(stream, group)| {
                stream.is_ok() && self.wants_group(group.name()) && self.full_page(group).is_some()
            });
        }
        self.is_searching()
            || (self.conditions.wants_more() && !self.denied.contains("CONFIG GET"))
            || (self.clients_asked.is_none() && self.clients_due(self.sampled.map_or(Mono(0), |at| at.mono)))
            || self.streams.values().any(|stream| {
                stream.state == RowState::Loading
                    || stream
                        .groups
                        .values()
                        .filter(|group| stream.is_ok() && self.wants_group(group.name()) && group.fault.is_none())
                        .any(|group| {
                            // a list that is too long is never fetched, so do not wait for it
                            let listed = consumers_of(group) <= MOST_CONSUMERS;
                            let unread = listed && group.consumers.value.is_none() && group.consumers.failure.is_none();
                            unread || self.full_page(group).is_some()
                        })
                    || !self.ranges(stream, &self.cursors(stream), Depth::Full).is_empty()
            })
    }

    pub(super) fn is_due(&self, stream: &StreamState, focus: &Focus) -> bool {
        match stream.state {
            RowState::Fault(Fault::WrongType | Fault::Denied(_)) => {
                *focus == Focus::All || self.ticks.is_multiple_of(WRONG_TYPE_TICKS)
            }
            _ => true,
        }
    }

    fn stream_request(&self, stream: &StreamState, focus: &Focus, glances: &mut Glances, now: Mono) -> StreamRequest {
        let mut groups = Vec::new();
        let mut ranges = Vec::new();
        match focus {
            Focus::All => {
                groups.extend(
                    stream
                        .groups
                        .values()
                        .filter(|g| self.wants_group(g.name()))
                        .map(|group| self.full_request(group, now)),
                );
                ranges = self.ranges(stream, &self.cursors(stream), Depth::Full);
            }
            Focus::Group { key, group, open, strip_at } if *key == stream.key => {
                if let Some(state) = stream.groups.get(group) {
                    groups.push(Self::page_request(stream, state, open, now));
                    ranges = self.ranges(stream, &[strip_at.unwrap_or(state.facts.cursor)], Depth::Page);
                }
            }
            Focus::Group { .. } | Focus::None => {}
        }
        let names = glances.remove(&stream.key).unwrap_or_default();
        let glanced = names.iter().filter_map(|(name, lists)| Some((stream.groups.get(name)?, *lists)));
        groups.extend(glanced.map(|(group, lists)| Self::without_refused(group, glance(group, lists, now), now)));
        StreamRequest {
            key: stream.key.clone(),
            facts: Self::facts_due(stream, now),
            ttl: stream.ttl.is_due(now),
            groups,
            ranges,
        }
    }

    /// The groups in the background to look into in this tick, those first that were looked into longest ago. Groups with nothing pending
    /// are included: by the time of the reply they may have something.
    fn glances(&self, focus: &Focus, asked: impl Fn(&&StreamState) -> bool, now: Mono) -> Glances {
        let focused = |key: &Name, name: &Name| match focus {
            Focus::Group { key: k, group, .. } => k == key && group == name,
            Focus::All => true,
            Focus::None => false,
        };
        // groups that were not read so far come first, among them those with pending entries, then those that lag; then those of which
        // something was found that only a new look can confirm
        let urgency = |group: &GroupState| {
            let unread = !group.has_been_read();
            let due = group.is_due_for_a_look(&self.settings, now);
            Reverse((unread, unread && group.facts.pending.exceeds(0), unread && group.lag.exact() != Some(0), due))
        };
        let mut all: Vec<(_, Option<Mono>, &Name, &Name)> = self
            .streams
            .values()
            // a stream that this tick does not ask about must not keep others waiting
            .filter(|stream| stream.is_ok() && asked(stream))
            .flat_map(|stream| stream.groups.values().map(move |group| (stream, group)))
            .filter(|(stream, group)| group.fault.is_none() && !focused(&stream.key, group.name()))
            .map(|(stream, group)| (urgency(group), group.looked, &stream.key, group.name()))
            .collect();
        let urgent = all.iter().filter(|(Reverse((unread, .., due)), ..)| *unread || *due).count();
        let most = (self.groups().count() / GLANCE_TICKS).max(urgent).clamp(GLANCES.0, GLANCES.1);
        if all.len() > most {
            all.select_nth_unstable(most);
            all.truncate(most);
        }
        let group = |key: &Name, name: &Name| self.streams.get(key).and_then(|stream| stream.groups.get(name));
        // of the long lists that are due, the one that was read longest ago
        let long = all.iter().filter(|(_, _, key, name)| {
            group(key, name).is_some_and(|group| consumers_of(group) > MANY_CONSUMERS && consumers_due(group, now))
        });
        let list = long.min_by_key(|(_, _, key, name)| group(key, name).map(|group| group.consumers.at));
        let list = list.map(|(_, _, key, name)| (*key, *name));
        let mut glances = Glances::new();
        for (_, _, key, name) in all {
            let short = group(key, name).is_some_and(|group| consumers_of(group) <= MANY_CONSUMERS);
            glances.entry(key.clone()).or_default().push((name.clone(), short || list == Some((key, name))));
        }
        glances
    }

    fn page_request(stream: &StreamState, group: &GroupState, open: &[Name], now: Mono) -> GroupRequest {
        let mut pages = vec![page(EntryId::MIN, EntryId::MAX, PAGE_ROWS, None)];
        pages.extend(still_oldest(group));
        if group.facts.pending.exceeds(PAGE_ROWS as i64) {
            pages.extend(group.own.pages());
            // the first page holds the smallest ids; a second one holds the latest ids up to the cursor, which the strip shows
            let cursor = group.facts.cursor;
            let from = stream.window.ids().rev().filter(|id| *id <= cursor).nth(PAGE_ROWS).unwrap_or(EntryId::MIN);
            if from > group.pel.known_to() {
                pages.push(page(from, EntryId::MAX, PAGE_ROWS, None));
            }
            pages.extend(
                open.iter().take(3).map(|name| page(EntryId::MIN, EntryId::MAX, PAGE_ROWS, Some(name.clone()))),
            );
        }
        let request = GroupRequest {
            name: group.name().clone(),
            consumers: consumers_due(group, now),
            summary: summary_due(group, now),
            pages,
        };
        Self::without_refused(group, request, now)
    }

    /// Leaves out what was refused recently, so that it is not asked for at every tick.
    fn without_refused(group: &GroupState, mut request: GroupRequest, now: Mono) -> GroupRequest {
        request.consumers &= !group.consumers.is_refused(now);
        if group.pel_failure.as_ref().is_some_and(|failure| failure.is_refused(now)) {
            request.summary = false;
            request.pages.clear();
        }
        request
    }

    fn full_request(&self, group: &GroupState, now: Mono) -> GroupRequest {
        // short lists in each round, so that they are of the same moment as the rest; long ones as rarely as on the screen
        let short = consumers_of(group) <= MANY_CONSUMERS;
        GroupRequest {
            name: group.name().clone(),
            consumers: consumers_due(group, now),
            summary: short || summary_due(group, now),
            pages: self.full_pages(group),
        }
    }

    fn full_pages(&self, group: &GroupState) -> Vec<PageRequest> {
        // a list that fits into one page is read in each round, so that rows, consumers and stream are of one moment
        let fits = !group.facts.pending.exceeds(self.settings.pel_limit.min(FULL_ROWS) as i64);
        let again = || {
            let wanted = group.facts.pending != Known::Is(0) && self.settings.pel_limit > 0;
            (fits && wanted && group.pel.is_fetched() && group.pel_failure.is_none()).then(|| self.first_page())
        };
        let mut pages: Vec<PageRequest> = self.full_page(group).or_else(again).into_iter().collect();
        if pages.first().is_some_and(|page| page.from == EntryId::MIN) {
            pages.extend(still_oldest(group));
        }
        pages
    }

    /// The page that a full reading begins with.
    fn first_page(&self) -> PageRequest {
        page(EntryId::MIN, EntryId::MAX, self.settings.pel_limit.min(FULL_ROWS), None)
    }

    /// The next page of a full reading; `None` when it is done.
    fn full_page(&self, group: &GroupState) -> Option<PageRequest> {
        if group.facts.pending == Known::Is(0) || self.settings.pel_limit == 0 {
            return None;
        }
        let limit = self.settings.pel_limit;
        if group.pel.at < self.reading_since || !group.pel.is_fetched() {
            let refused = group.pel_failure.is_some();
            return (!refused).then(|| self.first_page());
        }
        let have = group.pel.rows.len();
        if group.pel.complete || have >= limit || group.pel_failure.is_some() {
            return None;
        }
        let from = group.pel.known_to().next()?;
        Some(page(from, EntryId::MAX, (limit - have).min(FULL_ROWS), None))
    }

    fn cursors(&self, stream: &StreamState) -> Vec<EntryId> {
        let wanted = stream.groups.values().filter(|group| self.wants_group(group.name()) && group.fault.is_none());
        let mut cursors: Vec<EntryId> = wanted.map(|group| group.facts.cursor).collect();
        cursors.sort_unstable();
        cursors.dedup();
        cursors
    }

    /// The parts of the stream that the strip lacks around these ids. Each reply stays below 64 KB.
    fn ranges(&self, stream: &StreamState, around: &[EntryId], depth: Depth) -> Vec<RangeRequest> {
        let (Some(facts), Some(first_cursor), Some(last_cursor)) = (&stream.facts.value, around.first(), around.last())
        else {
            return Vec::new();
        };
        // an entry larger than a whole reply may be is never fetched
        let now = self.sampled.map_or(Mono(0), |at| at.mono);
        let refused = stream.range_failure.as_ref().is_some_and(|failure| failure.is_refused(now));
        if facts.length <= 0 || !stream.is_ok() || refused || stream.entry_bytes > REPLY_BYTES {
            return Vec::new();
        }
        let unsure = stream.groups.values().any(|group| group.lag.kind != LagKind::Exact);
        let affordable = size(REPLY_BYTES / stream.entry_bytes.max(1)).max(1);
        let reach = if depth == Depth::Full || unsure { COUNT } else { REACH };
        let count = reach.min(affordable);
        let window = &stream.window;
        let forward = |from| RangeRequest { from, count, backward: false };
        let backward = |from| RangeRequest { from, count, backward: true };
        let start = (*first_cursor).min(facts.last_generated);
        let fresh = || {
            let mut both = vec![backward(start)];
            both.extend(start.next().map(forward));
            both
        };
        let Some((lo, hi)) = window.span() else { return fresh() };
        if !window.covers(start) && (start >= lo || !window.reaches_start(facts)) {
            return fresh();
        }
        // deletes may have gone unnoticed: start the window again, but only now and then if nothing depends on it
        if !window.is_trusted()
            && !window.is_complete(facts)
            && (unsure || depth == Depth::Full || self.ticks.is_multiple_of(10))
        {
            return fresh();
        }
        let mut more = Vec::new();
        // one fetch towards each side in a tick; if entries are large, `count` is what one reply can hold, and we do not fetch beyond it
        let ahead = window.around(*last_cursor).1;
        if !window.reaches_end(facts) && ahead < count && window.ids().count() < MOST_IDS {
            more.extend(hi.next().map(forward));
        }
        let behind = window.around(*first_cursor).0;
        if depth == Depth::Page && !window.reaches_start(facts) && behind < count / 2 && lo > EntryId::MIN {
            more.extend(lo.previous().map(backward));
        }
        more
    }

    fn scan_request(&self, now: Mono) -> Option<ScanRequest> {
        let named_only = !self.settings.keys.is_empty() && self.settings.patterns.is_empty();
        if named_only || matches!(self.discovery.fault, Some(Fault::Denied(_))) {
            return None;
        }
        if self.discovery.finished.is_some_and(|at| now.since(at) < RESCAN_MS) {
            return None;
        }
        let cursor = if self.discovery.cursor.is_empty() { "0".to_owned() } else { self.discovery.cursor.clone() };
        let steps = if self.discovery.complete { 1 } else { FIRST_STEPS };
        Some(ScanRequest { cursor, pattern: self.settings.patterns.get(self.discovery.pattern).cloned(), steps })
    }
}

fn page(from: EntryId, to: EntryId, count: usize, consumer: Option<Name>) -> PageRequest {
    PageRequest { from, to, count, consumer }
}

/// The entries that a census found to be the oldest, one request each: 2 us.
fn still_oldest(group: &GroupState) -> impl Iterator<Item = PageRequest> {
    group.census.candidates().into_iter().map(|id| page(id, id, 1, None))
}

/// How many consumers to expect: where the server's count cannot be true, as many as it listed last.
fn consumers_of(group: &GroupState) -> i64 {
    let listed = || group.consumers().len() as i64;
    group.facts.consumers.value().unwrap_or_else(listed)
}

fn consumers_due(group: &GroupState, now: Mono) -> bool {
    match consumers_of(group) {
        ..=MANY_CONSUMERS => true,
        count @ ..=MOST_CONSUMERS => {
            let wait = (count.unsigned_abs().saturating_mul(EACH_CONSUMER_US) / 1000)
                .clamp(MANY_CONSUMERS_MS, LONGEST_LIST_MS);
            group.consumers.value.is_none() || group.consumers.age_ms(now) >= wait
        }
        _ => false,
    }
}

fn summary_due(group: &GroupState, now: Mono) -> bool {
    match consumers_of(group) {
        ..=MANY_CONSUMERS => group.facts.pending.exceeds(PAGE_ROWS as i64),
        count if count <= MANY_HOLDERS => true,
        count => {
            group.summary.value.is_none()
                || group.summary.age_ms(now) >= count.unsigned_abs().saturating_mul(EACH_HOLDER_US) / 1000
        }
    }
}

fn glance(group: &GroupState, consumers: bool, now: Mono) -> GroupRequest {
    let summed = consumers_of(group) > MANY_CONSUMERS || group.facts.pending.exceeds(SWEPT_FROM - 1);
    GroupRequest {
        name: group.name().clone(),
        consumers,
        summary: summed && summary_due(group, now),
        pages: std::iter::once(page(EntryId::MIN, EntryId::MAX, GLANCE_ROWS, None))
            .chain(still_oldest(group))
            .chain(group.own.pages())
            .collect(),
    }
}
