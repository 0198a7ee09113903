//! The condition of the servers, and when to read it.

use crate::core::{
    condition::{ConditionRequest, ConditionSample, Database, Memory, Persistence, Replication, Section, WriteRules},
    name::Name,
    observed::Observed,
    time::Mono,
};
use std::collections::BTreeMap;

/// The interval between two readings, in milliseconds.
const EVERY_MS: u64 = 10_000;

/// One server, or one node of a cluster.
#[derive(Clone, Debug, Default)]
pub struct Condition {
    pub memory: Observed<Memory>,
    /// The server was over its memory limit at two readings one after the other; one is enough for a snapshot.
    pub is_over: bool,
    pub persistence: Observed<Persistence>,
    pub databases: Observed<Vec<Database>>,
    pub replication: Observed<Replication>,
    pub evicted: Observed<i64>,
    /// When keys were last seen to be evicted.
    pub evicted_at: Option<Mono>,
    pub rules: Observed<WriteRules>,
}

/// All servers that are watched.
#[derive(Clone, Debug, Default)]
pub struct Conditions {
    nodes: BTreeMap<Option<String>, Condition>,
    /// When each section was last asked for.
    asked: BTreeMap<Section, Mono>,
    rules_asked: Option<Mono>,
    /// The stream that vanished last, not by its time to live, and when.
    pub(super) vanished: Option<(Mono, Name)>,
}

impl Conditions {
    /// Each with its name in the cluster; `None` where there is only one server.
    pub fn nodes(&self) -> impl Iterator<Item = (Option<&str>, &Condition)> {
        self.nodes.iter().map(|(name, condition)| (name.as_deref(), condition))
    }

    /// The stream that vanished while keys were evicted.
    pub fn evicted_stream(&self) -> Option<&Name> {
        let (at, key) = self.vanished.as_ref()?;
        let near = |evicted: Mono| evicted.since(*at).max(at.since(evicted)) <= 2 * EVERY_MS;
        self.nodes.values().any(|node| node.evicted_at.is_some_and(near)).then_some(key)
    }

    /// What to ask for. Before 7.0 a tick reads one section, since each needs a command of its own.
    pub(super) fn due(&self, one_by_one: bool, now: Mono) -> Option<ConditionRequest> {
        let again = |section: Section, at: Mono| {
            let doubtful = section == Section::Memory && self.nodes.values().any(Condition::is_doubtful);
            doubtful || now.since(at) >= EVERY_MS
        };
        let is_due = |section: &Section| self.asked.get(section).is_none_or(|at| again(*section, *at));
        let mut sections: Vec<Section> = Section::ALL.into_iter().filter(is_due).collect();
        if one_by_one {
            sections.sort_by_key(|section| self.asked.get(section).copied());
            sections.truncate(1);
        }
        let config = self.nodes.values().any(Condition::wants_rules)
            && self.rules_asked.is_none_or(|at| now.since(at) >= EVERY_MS);
        (!sections.is_empty() || config).then_some(ConditionRequest { sections, config })
    }

    /// Whether a full reading has to ask for more.
    pub(super) fn wants_more(&self) -> bool {
        self.nodes.values().any(Condition::wants_rules) && self.rules_asked.is_none()
    }

    pub(super) fn fold(&mut self, samples: Vec<ConditionSample>, at: Mono, one_is_enough: bool) {
        for sample in samples {
            self.note_asked(&sample, at);
            self.nodes.entry(sample.node.clone()).or_default().fold(sample, at, one_is_enough);
        }
    }

    /// Forgets nodes that are no longer part of the cluster.
    pub(super) fn keep(&mut self, is_there: impl Fn(&str) -> bool) {
        self.nodes.retain(|name, _| name.as_deref().is_none_or(&is_there));
    }

    fn note_asked(&mut self, sample: &ConditionSample, at: Mono) {
        let asked = [
            (Section::Memory, sample.memory.is_some()),
            (Section::Persistence, sample.persistence.is_some()),
            (Section::Keyspace, sample.databases.is_some()),
            (Section::Replication, sample.replication.is_some()),
            (Section::Stats, sample.evicted.is_some()),
        ];
        self.asked.extend(asked.into_iter().filter(|(_, asked)| *asked).map(|(section, _)| (section, at)));
        if sample.rules.is_some() {
            self.rules_asked = Some(at);
        }
    }
}

impl Condition {
    /// Whether it was over its memory limit once, which may pass.
    fn is_doubtful(&self) -> bool {
        !self.is_over && self.memory.value.as_ref().is_some_and(Memory::is_over)
    }

    /// Whether it depends on settings if writes are refused.
    fn wants_rules(&self) -> bool {
        self.persistence.value.is_some_and(|found| found.save_failed)
            || self.replication.value.is_some_and(|found| found.good_replicas.is_some())
    }

    fn fold(&mut self, sample: ConditionSample, at: Mono, one_is_enough: bool) {
        if let Some(part) = sample.memory {
            let before = self.memory.value.as_ref().is_some_and(Memory::is_over);
            self.is_over = part.as_ref().is_ok_and(Memory::is_over) && (before || one_is_enough);
            self.memory.take(part, at);
        }
        if let Some(part) = sample.evicted {
            if let (Some(before), Ok(now)) = (self.evicted.value, &part)
                && before < *now
            {
                self.evicted_at = Some(at);
            }
            self.evicted.take(part, at);
        }
        sample.persistence.into_iter().for_each(|part| self.persistence.take(part, at));
        sample.databases.into_iter().for_each(|part| self.databases.take(part, at));
        sample.replication.into_iter().for_each(|part| self.replication.take(part, at));
        sample.rules.into_iter().for_each(|part| self.rules.take(part, at));
    }
}
