//! What one tick gathers from all nodes.

use super::{
    node::{Answer, Job},
    slots::{self, Place, SlotMap},
};
use crate::core::{
    cluster::ClusterFacts,
    condition::ConditionSample,
    name::Name,
    sample::{Cost, Fault, Origin, Request, Sample, ScanSample, StreamRequest, StreamSample},
    time::Mono,
};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// Jobs by node name.
pub(super) type Jobs = BTreeMap<String, Job>;

/// One tick in progress.
pub(super) struct Round<'a> {
    asked: HashMap<&'a Name, &'a StreamRequest>,
    settled: HashSet<Name>,
    streams: Vec<StreamSample>,
    cost: Cost,
    time: Option<(i64, Mono)>,
    /// The connection names from all nodes together; `None` if no node could list them. `with_clients` says whether they were requested.
    clients: Option<BTreeSet<Name>>,
    with_clients: bool,
    denied: BTreeSet<&'static str>,
    conditions: Vec<ConditionSample>,
}

/// A stream to ask again at another place.
pub(super) struct Redirect {
    pub(super) key: Name,
    pub(super) slot: u16,
    pub(super) place: Place,
    pub(super) once: bool,
}

/// Groups the streams into jobs for the nodes that serve their slots. Also returns the streams with a slot that no node serves.
pub(super) fn split<'a>(streams: &'a [StreamRequest], slots: &SlotMap) -> (Jobs, Vec<(&'a Name, u16)>) {
    let (mut jobs, mut unserved) = (Jobs::new(), Vec::new());
    for stream in streams {
        let slot = slots::slot(stream.key.bytes());
        match slots.owner(slot) {
            Some(place) => jobs.entry(place.name()).or_default().request.streams.push(stream.clone()),
            None => unserved.push((&stream.key, slot)),
        }
    }
    (jobs, unserved)
}

/// The first redirection or refusal in any part of a sample. A slot can move between two commands, so one such part spoils the sample.
fn astray(sample: &StreamSample) -> Option<&Fault> {
    let details = sample.details.iter().flat_map(|detail| {
        let consumers = detail.consumers.as_ref().and_then(|part| part.as_ref().err());
        let summary = detail.summary.as_ref().and_then(|part| part.as_ref().err());
        let pages = detail.pages.iter().filter_map(|(_, part)| part.as_ref().err());
        consumers.into_iter().chain(summary).chain(pages)
    });
    let ranges = sample.ranges.iter().filter_map(|(_, part)| part.as_ref().err());
    let whole = sample.facts.as_ref().err().into_iter().chain(sample.groups.as_ref().err());
    whole.chain(details).chain(ranges).find(|fault| matches!(fault, Fault::Elsewhere { .. } | Fault::Away(_)))
}

impl<'a> Round<'a> {
    pub(super) fn new(request: &'a Request) -> Self {
        Self {
            asked: request.streams.iter().map(|stream| (&stream.key, stream)).collect(),
            settled: HashSet::new(),
            streams: Vec::new(),
            cost: Cost::default(),
            time: None,
            clients: None,
            with_clients: false,
            denied: BTreeSet::new(),
            conditions: Vec::new(),
        }
    }

    pub(super) fn request_of(&self, key: &Name) -> Option<&'a StreamRequest> {
        self.asked.get(key).copied()
    }

    /// The streams without an answer so far.
    pub(super) fn unsettled(&self) -> Vec<&'a Name> {
        self.asked.keys().filter(|key| !self.settled.contains(**key)).copied().collect()
    }

    /// Takes in a node's answer and returns its redirections. A late answer belongs to an earlier request, so its streams still count as
    /// unanswered.
    pub(super) fn take(&mut self, node: &str, host: &str, answer: Answer, late: bool) -> Vec<Redirect> {
        let Sample { at, time_ms, streams, client_names, conditions, denied, cost, .. } = answer.sample;
        self.cost.add(cost);
        self.denied.extend(denied);
        let named = |condition| ConditionSample { node: Some(node.to_owned()), ..condition };
        self.conditions.extend(conditions.into_iter().map(named));
        self.time = self.time.or(time_ms.map(|time| (time, at)));
        if let Some(names) = client_names {
            self.with_clients = true;
            if let Some(more) = names {
                self.clients.get_or_insert_default().extend(more);
            }
        }
        let mut redirects = Vec::new();
        for mut sample in answer.asked.into_iter().chain(streams) {
            match astray(&sample).cloned() {
                Some(Fault::Elsewhere { slot, node: to, once }) => {
                    if let Some(place) = Place::parse(&to, host) {
                        redirects.push(Redirect { key: sample.key, slot, place, once });
                    } else if !late {
                        self.away(&sample.key, Some((node, at)), format!("slot {slot} is on an unknown node: {to}"));
                    }
                }
                Some(Fault::Away(words)) if !late => self.away(&sample.key, Some((node, at)), words),
                Some(_) => {}
                None => {
                    sample.origin = Some(Origin { node: node.to_owned(), at });
                    if !late {
                        self.settled.insert(sample.key.clone());
                    }
                    self.streams.push(sample);
                }
            }
        }
        redirects
    }

    /// Records that a stream cannot be read now.
    pub(super) fn away(&mut self, key: &Name, node: Option<(&str, Mono)>, words: String) {
        self.settled.insert(key.clone());
        self.streams.push(StreamSample {
            key: key.clone(),
            facts: Err(Fault::Away(words.clone())),
            groups: Err(Fault::Away(words)),
            consistent: true,
            ttl_ms: None,
            ranges: Vec::new(),
            details: Vec::new(),
            origin: node.map(|(node, at)| Origin { node: node.to_owned(), at }),
        });
    }

    pub(super) fn finish(self, now: Mono, cluster: ClusterFacts, scan: Option<ScanSample>) -> Sample {
        Sample {
            later: 0,
            at: self.time.map_or(now, |(_, at)| at),
            time_ms: self.time.map(|(time, _)| time),
            streams: self.streams,
            scan,
            server: None,
            conditions: self.conditions,
            client_names: self.with_clients.then_some(self.clients),
            denied: self.denied.into_iter().collect(),
            cost: self.cost,
            cluster: Some(cluster),
            reached: None,
            census: None,
            walked: Cost::default(),
        }
    }
}

#[cfg(test)]
#[path = "round_tests.rs"]
mod tests;
