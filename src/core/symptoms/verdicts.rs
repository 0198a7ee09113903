//! What the checks said about every stream and group when each was last judged.

use super::{
    Case, Finding, Judgement, Level, SERVER_CHECKS, STREAM_CHECKS, ServerCase, StreamCase, causes,
    hold::After,
    judge, split_key,
    standing::{Change, Standings},
};
use crate::core::{
    by_name::ByName,
    event::Event,
    name::Name,
    store::{Reading, Store},
    time::{Mono, Now},
};
use std::{
    collections::{BTreeMap, BTreeSet, btree_map},
    iter::Peekable,
    sync::LazyLock,
};

/// The verdicts over everything in a store. Judging reads the store and never changes it.
#[derive(Clone, Debug, Default)]
pub struct Verdicts {
    /// What was found of the servers.
    of_server: Vec<Finding>,
    server_standings: Standings,
    streams: BTreeMap<Name, StreamVerdict>,
    /// The store's fold when it was last judged.
    judged: u64,
}

#[derive(Clone, Debug, Default)]
struct StreamVerdict {
    /// What was found of the stream as a whole, worst first.
    findings: Vec<Finding>,
    standings: Standings,
    /// Whether it was judged before.
    was_judged: bool,
    groups: ByName<GroupVerdict>,
}

#[derive(Clone, Debug, Default)]
struct GroupVerdict {
    /// Since when the group is watched under this name: a group that was created again is judged from the start.
    began: Mono,
    judgement: Judgement,
    standings: Standings,
    /// Whether the group had been read when it was last judged.
    was_read: bool,
    /// Checks that fired last time: they stay down to a lower number.
    firing: BTreeSet<&'static str>,
}

/// The verdicts over one stream.
#[derive(Clone, Copy, Debug)]
pub struct OfStream<'a>(Option<&'a StreamVerdict>);

impl<'a> OfStream<'a> {
    /// What was found of the stream as a whole.
    pub fn findings(self) -> &'a [Finding] {
        self.0.map_or(&[], |stream| &stream.findings)
    }

    /// The verdict over a group; empty before it was judged.
    pub fn group(self, name: &Name) -> &'a Judgement {
        self.0.and_then(|stream| stream.groups.get(name)).map_or(&NOTHING_JUDGED, |group| &group.judgement)
    }

    /// The worst finding of the stream as a whole, if it is more than information.
    pub fn level(self) -> Option<Level> {
        self.findings().iter().map(Finding::counts_as).filter(|level| *level > Level::Info).max()
    }
}

/// The verdicts over all streams, in the order of names.
pub struct InOrder<'a>(Peekable<btree_map::Iter<'a, Name, StreamVerdict>>);

impl<'a> InOrder<'a> {
    /// The verdicts over this stream. The names that are asked for must not go back.
    pub fn next(&mut self, stream: &Name) -> OfStream<'a> {
        while self.0.next_if(|(name, _)| *name < stream).is_some() {}
        OfStream(self.0.next_if(|(name, _)| *name == stream).map(|(_, verdict)| verdict))
    }
}

/// Changes as events.
fn told<'a>(
    changes: Vec<Change>,
    stream: Option<&'a Name>,
    group: Option<&'a Name>,
    now: Now,
) -> impl Iterator<Item = Event> + use<'a> {
    changes.into_iter().map(move |Change { event, text }| Event {
        wall_ms: now.wall_ms,
        id: event,
        stream: stream.cloned(),
        group: group.cloned(),
        text: match (stream, group) {
            (Some(stream), Some(group)) => format!("{stream}, {group}: {text}"),
            (Some(stream), None) => format!("{stream}: {text}"),
            _ => text,
        },
    })
}

/// Shows the mark before the next judgement.
fn mark(findings: &mut [Finding], like: &Finding, until_ms: Option<i64>, done: bool) {
    for finding in findings.iter_mut().filter(|finding| done && finding.key() == like.key()) {
        finding.known_until_ms = until_ms;
    }
}

static NOTHING_JUDGED: LazyLock<Judgement> = LazyLock::new(Judgement::default);

impl Verdicts {
    /// The verdict over a group; empty before it was judged.
    pub fn group(&self, stream: &Name, group: &Name) -> &Judgement {
        self.of(stream).group(group)
    }

    /// The verdicts over a stream and its groups: to look at many groups, one search for each stream.
    pub fn of(&self, stream: &Name) -> OfStream<'_> {
        OfStream(self.streams.get(stream))
    }

    /// The verdicts over all streams, to be asked for in the order of names.
    pub fn streams(&self) -> InOrder<'_> {
        InOrder(self.streams.iter().peekable())
    }

    /// Checks of groups that cannot be judged.
    pub fn cannot_tell(&self) -> BTreeSet<&'static str> {
        let groups = self.streams.values().flat_map(|stream| stream.groups.values());
        groups.flat_map(|group| group.judgement.cannot_tell.iter()).collect()
    }

    /// What was found of the servers.
    pub fn server(&self) -> &[Finding] {
        &self.of_server
    }

    /// What was found of a stream as a whole.
    pub fn stream(&self, stream: &Name) -> &[Finding] {
        self.of(stream).findings()
    }

    /// Judges the streams that were folded since the last time, once each, so that drawing does not compute anything. Returns what began,
    /// rose and ended; what was there when a group was read first is no event.
    pub fn judge(&mut self, store: &Store, now: Now, reading: Reading) -> Vec<Event> {
        // a snapshot says what holds now
        let live = reading == Reading::Tick;
        let mut events = Vec::new();
        // one stream gone and another one new in the same tick are told apart one tick later
        if self.streams.len() != store.streams.len() {
            self.streams.retain(|key, _| store.streams.contains_key(key));
        }
        // while its node is away, nothing new is known of a stream: the last verdict stays
        let since = self.judged;
        let due = || store.streams.values().filter(move |stream| stream.folded > since && !stream.is_away());
        for stream in due() {
            let verdict = self.streams.entry(stream.key.clone()).or_default();
            verdict.groups.retain(|name| stream.groups.contains_key(name));
            for group in stream.groups.values().filter(|group| !store.settings.ignores(group.name())) {
                let last = verdict.groups.get_or_insert_with(group.name(), GroupVerdict::default);
                if last.began != group.began {
                    *last = GroupVerdict { began: group.began, ..GroupVerdict::default() };
                }
                let case = Case::new(store, stream, group, &last.firing, now);
                let mut judgement = judge(&case);
                let so_far = Judgement { findings: Vec::new(), ..judgement.clone() };
                let changes = last.standings.follow(&mut judgement.findings, now, |finding, fired| {
                    if live { After::of_group(&case, &so_far, finding, fired) } else { After::Refuted }
                });
                if last.was_read {
                    events.extend(told(changes, Some(&stream.key), Some(group.name()), now));
                }
                last.was_read = group.has_been_read();
                judgement.findings = causes::order(judgement.findings);
                last.judgement = judgement;
                last.firing = last
                    .judgement
                    .findings
                    .iter()
                    .filter(|finding| finding.holds_now())
                    .map(|finding| finding.id)
                    .collect();
            }
        }
        let halves = split_key::Halves::of(store.streams.values());
        let server_ms = store.server_now_ms(now);
        for stream in due() {
            let Some(verdict) = self.streams.get_mut(&stream.key) else { continue };
            let fired: BTreeSet<&str> =
                verdict.findings.iter().filter(|finding| finding.holds_now()).map(|finding| finding.id).collect();
            let case = StreamCase { stream, fired: &fired, now, server_ms, halves: &halves };
            let checks = STREAM_CHECKS.iter().filter(|check| store.settings.names(check.about.id));
            let mut findings: Vec<Finding> = checks.filter_map(|check| (check.judge)(&case)).collect();
            let changes = verdict.standings.follow(&mut findings, now, |_, _| After::Refuted);
            if std::mem::replace(&mut verdict.was_judged, true) {
                events.extend(told(changes, Some(&stream.key), None, now));
            }
            verdict.findings = findings;
        }
        events.extend(self.judge_server(store, now));
        self.judged = store.folds;
        events
    }

    /// Marks a finding of a group, its stream or the server as known until then, in Unix milliseconds, or takes the mark back.
    /// False if there is no such finding any more.
    pub fn mark_known(&mut self, stream: &Name, group: &Name, finding: &Finding, until_ms: Option<i64>) -> bool {
        let mut any = false;
        let of_stream = self.streams.get_mut(stream);
        let mut done = self.server_standings.mark_known(finding, until_ms);
        any |= done;
        mark(&mut self.of_server, finding, until_ms, done);
        if let Some(of_stream) = of_stream {
            done = of_stream.standings.mark_known(finding, until_ms);
            any |= done;
            mark(&mut of_stream.findings, finding, until_ms, done);
            if let Some(of_group) = of_stream.groups.get_mut(group) {
                done = of_group.standings.mark_known(finding, until_ms);
                any |= done;
                mark(&mut of_group.judgement.findings, finding, until_ms, done);
            }
        }
        any
    }

    /// How many findings are marked as known.
    pub fn known(&self) -> usize {
        let of_streams = self.streams.values().flat_map(|stream| {
            let of_groups = stream.groups.values().flat_map(|group| &group.judgement.findings);
            of_groups.chain(&stream.findings)
        });
        of_streams.chain(&self.of_server).filter(|finding| finding.known_until_ms.is_some()).count()
    }

    fn judge_server(&mut self, store: &Store, now: Now) -> Vec<Event> {
        let case = ServerCase {
            conditions: &store.conditions,
            role: store.server.role.as_deref(),
            is_cluster: store.server.cluster,
            is_searched: store.discovery.complete || !store.is_searching(),
            database: store.settings.database,
            streams: store.streams.values(),
        };
        let checks = SERVER_CHECKS.iter().filter(|check| store.settings.names(check.about.id));
        let mut findings: Vec<Finding> = checks.filter_map(|check| (check.judge)(&case)).collect();
        let changes = self.server_standings.follow(&mut findings, now, |_, _| After::Refuted);
        self.of_server = findings;
        if self.judged == 0 { Vec::new() } else { told(changes, None, None, now).collect() }
    }
}
