//! Why something asked for has no value.

/// Why a part of the sample has no value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// No such key.
    Missing,
    /// The key is not a stream.
    WrongType,
    /// The group went away between two commands.
    NoGroup,
    /// It was left out on purpose: what was known before still stands.
    Unasked,
    /// No permission; the server's words, escaped.
    Denied(String),
    /// Another node of the cluster serves the key: the node as the server names it, escaped, and whether only for this once because
    /// the slot is on its way there (ASK).
    Elsewhere {
        /// The key's hash slot.
        slot: u16,
        /// `host:port`; the host may be empty, which means that of the node that answered.
        node: String,
        /// ASK instead of MOVED.
        once: bool,
    },
    /// The key's node cannot be asked now, or will not answer for the cluster's sake (CLUSTERDOWN): what was known before stands, and
    /// grows old. In words.
    Away(String),
    /// Anything else the server said, escaped.
    Other(String),
}

impl Fault {
    /// What a row shows in place of its numbers.
    pub fn words(&self) -> String {
        match self {
            Self::Missing => "no such key".to_owned(),
            Self::WrongType => "not a stream".to_owned(),
            Self::NoGroup => "no such group".to_owned(),
            Self::Unasked => "not asked for again".to_owned(),
            Self::Denied(_) => "no permission".to_owned(),
            Self::Elsewhere { node, once: false, .. } => {
                format!("on node {node} of the cluster: --cluster follows it there")
            }
            Self::Elsewhere { slot, node, once: true } => {
                format!("slot {slot} is moving to node {node}: --cluster follows it there")
            }
            Self::Away(text) | Self::Other(text) => text.clone(),
        }
    }
}

/// A part of a sample: the facts or the fault.
pub type Part<T> = Result<T, Fault>;
