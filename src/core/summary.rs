//! The verdict over a group, and over everything that is watched, in one word.

use super::{
    fault::Fault,
    store::{GroupState, RowState, StreamState},
    symptoms::{self, Finding, Level},
    watch::{JudgedGroup, Watch},
};
use std::collections::BTreeSet;

/// The worst last: of several verdicts the largest counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Summary {
    /// Every check that one sample can decide had its facts, and none found anything.
    Quiet,
    Info,
    /// Some of those facts were not read so far in this run.
    Reading,
    /// What the verdict needs cannot be had.
    Unknown,
    Warn,
    Critical,
}

impl Summary {
    /// The word in JSON.
    pub fn word(self) -> &'static str {
        match self {
            Self::Quiet => "quiet",
            Self::Info => "info",
            Self::Reading => "reading",
            Self::Unknown => "unknown",
            Self::Warn => "warn",
            Self::Critical => "critical",
        }
    }

    fn of_level(level: Option<Level>) -> Self {
        match level {
            None => Self::Quiet,
            Some(Level::Info) => Self::Info,
            Some(Level::Warn) => Self::Warn,
            Some(Level::Critical) => Self::Critical,
        }
    }
}

impl JudgedGroup<'_> {
    /// Of a group that is ignored nothing is said.
    pub fn summary(&self) -> Summary {
        if self.is_ignored {
            return Summary::Quiet;
        }
        let of_stream = self.of_stream.iter().map(Finding::counts_as).max();
        let found = Summary::of_level(self.judgement.level().max(of_stream));
        let known = match (self.why_unknown(), self.group.has_been_read()) {
            (Some(_), _) => Summary::Unknown,
            (None, false) => Summary::Reading,
            (None, true) => Summary::Quiet,
        };
        found.max(known)
    }

    /// Why nothing can be said of the group; nothing is said of one that is ignored.
    pub fn why_unknown(&self) -> Option<String> {
        if self.is_ignored { None } else { self.group.why_unknown(self.stream) }
    }
}

impl GroupState {
    /// Why nothing can be said of the group: XINFO cannot be had, or, while entries wait or are pending, what tells of those.
    pub fn why_unknown(&self, stream: &StreamState) -> Option<String> {
        let group = self;
        if let RowState::Fault(fault) = &stream.state {
            return Some(fault.words());
        }
        let said = |command: &str, fault: &Fault| format!("{command}: {}", fault.words());
        if let Some(fault) = &stream.groups_fault {
            return Some(said("XINFO GROUPS", fault));
        }
        if let (None, Some(fault)) = (&stream.facts.value, stream.facts.fault()) {
            return Some(said("XINFO STREAM", fault));
        }
        let denied = |fault: Option<&Fault>| fault.filter(|fault| matches!(fault, Fault::Denied(_))).cloned();
        let pending = group.facts.pending.exceeds(0);
        if let Some(fault) = denied(group.pel_failure.as_ref().map(|failure| &failure.fault)).filter(|_| pending) {
            return Some(said("XPENDING", &fault));
        }
        let waits = group.lag.exact() != Some(0);
        if let Some(fault) = denied(group.consumers.fault()).filter(|_| pending || waits) {
            return Some(said("XINFO CONSUMERS", &fault));
        }
        group
            .facts
            .pending
            .value()
            .is_none()
            .then(|| group.doubt().unwrap_or("the number of pending entries").to_owned())
    }
}

impl Watch {
    pub fn summary(&self) -> Summary {
        let store = &self.store;
        let wanted =
            |seen: &JudgedGroup| store.settings.groups.is_empty() || store.settings.groups.contains(seen.group.name());
        let groups = self.groups().filter(wanted).map(|seen| seen.summary());
        let streams = store.streams.values().map(|stream| summary_of_stream(stream).max(self.of_stream(stream)));
        let server = self.verdicts.server().iter().map(Finding::counts_as).filter(|level| *level > Level::Info);
        let server = Summary::of_level(server.max());
        let search = match (self.why_unsearched(), store.is_searching()) {
            (Some(_), _) => Summary::Unknown,
            (None, true) => Summary::Reading,
            (None, false) => Summary::Quiet,
        };
        // streams of a node that does not answer may not even be known
        let down = store.cluster.as_ref().is_some_and(|cluster| cluster.up() < cluster.nodes.len());
        let nodes = if down { Summary::Unknown } else { Summary::Quiet };
        groups.chain(streams).fold(server.max(search).max(nodes), Summary::max)
    }

    /// Why streams cannot be looked for, where that was asked.
    pub fn why_unsearched(&self) -> Option<String> {
        let fault = self.store.discovery.fault.as_ref()?;
        let settings = &self.store.settings;
        // where all streams are named, nothing is looked for
        let looks = settings.keys.is_empty() || !settings.patterns.is_empty();
        looks.then(|| format!("SCAN: {}", fault.words()))
    }

    /// The verdict over a stream and its groups.
    pub fn summary_of(&self, stream: &StreamState) -> Summary {
        let groups = stream.groups.values().map(|group| self.view(stream, group).summary());
        groups.fold(summary_of_stream(stream).max(self.of_stream(stream)), Summary::max)
    }

    fn of_stream(&self, stream: &StreamState) -> Summary {
        Summary::of_level(self.verdicts.stream(&stream.key).iter().map(Finding::counts_as).max())
    }

    /// Ids of checks that need more time, for some group.
    pub fn not_yet(&self) -> BTreeSet<&'static str> {
        self.groups().filter(|seen| !seen.is_ignored).flat_map(|seen| seen.judgement.waiting.iter()).collect()
    }

    /// Ids of checks that cannot be judged: what they need is denied, absent or too costly to read.
    pub fn cannot_tell(&self) -> Vec<&'static str> {
        let mut ids = symptoms::cannot_tell(&self.store);
        ids.extend(self.verdicts.cannot_tell());
        ids.sort_unstable();
        ids.dedup();
        ids
    }
}

fn summary_of_stream(stream: &StreamState) -> Summary {
    match &stream.state {
        RowState::Ok if stream.groups_fault.is_some() => Summary::Unknown,
        RowState::Ok => Summary::Quiet,
        RowState::Loading => Summary::Reading,
        RowState::Fault(Fault::Missing | Fault::WrongType | Fault::NoGroup) => Summary::Warn,
        RowState::Fault(_) => Summary::Unknown,
    }
}
