//! What must be said about a cluster, so that nobody takes some of its streams for all of them.

use super::{RowState, Store, StreamState};
use crate::core::{cluster::ClusterFacts, sample::Fault};

impl StreamState {
    /// Whether its node cannot be asked now: what is known of it is older.
    pub fn is_away(&self) -> bool {
        matches!(self.state, RowState::Fault(Fault::Away(_)))
    }
}

impl Store {
    /// Whether only one node of a cluster is watched.
    pub fn is_one_node(&self) -> bool {
        self.server.cluster && self.cluster.is_none()
    }

    /// Whether discovery can have seen every existing stream.
    pub fn is_discovery_complete(&self) -> bool {
        let only_named = self.settings.patterns.is_empty() && !self.settings.keys.is_empty();
        let searched = self.discovery.complete && self.discovery.fault.is_none();
        !self.is_one_node() && (only_named || searched && self.cluster.as_ref().is_none_or(ClusterFacts::is_whole))
    }

    /// A note that only a part of the cluster is shown, with the number of streams.
    pub fn one_node_note(&self) -> Option<String> {
        let elsewhere = |stream: &&StreamState| !matches!(stream.state, RowState::Fault(Fault::Elsewhere { .. }));
        self.is_one_node().then(|| {
            let count = self.streams.values().filter(elsewhere).count();
            let noun = if count == 1 { "stream" } else { "streams" };
            format!("cluster node: showing {count} {noun} of this node only")
        })
    }

    /// How many streams can be read, if some cannot: `3 of 6 streams`.
    pub fn part_note(&self) -> Option<String> {
        let away = self.streams.values().filter(|stream| stream.is_away()).count();
        (away > 0).then(|| format!("{} of {} streams", self.streams.len() - away, self.streams.len()))
    }

    /// All notes about the cluster, one sentence each.
    pub fn cluster_notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        notes.extend(self.one_node_note().map(|note| format!("{note}; --cluster shows those of all nodes")));
        notes.extend(
            self.part_note()
                .map(|part| format!("{part} answer; of the others the last values stand, where any are known")),
        );
        if let Some(cluster) = &self.cluster {
            notes.extend(cluster.nodes.iter().filter_map(|node| node.trouble.clone()));
            if !cluster.all_known {
                notes.push(
                    "CLUSTER is forbidden: nodes are learnt from redirections, so one of few slots may be missing"
                        .to_owned(),
                );
            }
        }
        notes
    }
}
