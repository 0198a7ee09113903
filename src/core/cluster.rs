//! The nodes of a cluster that serve slots.

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClusterFacts {
    pub nodes: Vec<NodeFacts>,
    /// Whether the cluster itself named its nodes. Where CLUSTER is forbidden they are learned from redirections, and some may be
    /// missing.
    pub all_known: bool,
    /// Whether every node took part in the last complete pass of discovery.
    pub all_searched: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NodeFacts {
    /// `host:port` as the cluster names it, escaped.
    pub name: String,
    /// Why it does not answer, as a sentence; `None` while it answers.
    pub trouble: Option<String>,
}

impl ClusterFacts {
    /// The number of nodes that answer.
    pub fn up(&self) -> usize {
        self.nodes.iter().filter(|node| node.trouble.is_none()).count()
    }

    /// Whether discovery can have seen every stream.
    pub fn is_whole(&self) -> bool {
        self.all_known && self.all_searched && self.up() == self.nodes.len()
    }
}
