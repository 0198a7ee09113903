//! Why something asked for has no value.

/// Why a part of the sample has no value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// No such key.
    Missing,
    /// The key is not a stream.
    WrongType,
    /// The group disappeared between two commands.
    NoGroup,
    /// Left out on purpose: the previous value is still valid.
    Unasked,
    /// No permission, or the host has taken the command away; the server's message, escaped.
    Denied(String),
    /// Another node of the cluster serves the key.
    Elsewhere {
        /// The key's hash slot.
        slot: u16,
        /// `host:port` as the server names it, escaped. If the host is empty, it is the host of the node that answered.
        node: String,
        /// ASK instead of MOVED: for this request only, while the slot is being moved there.
        once: bool,
    },
    /// The key's node cannot be asked now, or refuses because the cluster is down (CLUSTERDOWN). Previous values stay and age. The text
    /// says why.
    Away(String),
    /// Any other error of the server, escaped.
    Other(String),
}

impl Fault {
    /// Whether the server does not know the command at all, so that no permission would help.
    pub fn is_absent(&self) -> bool {
        matches!(self, Self::Denied(text) if text.contains("unknown command"))
    }

    /// What a row shows in place of its numbers.
    pub fn words(&self) -> String {
        match self {
            Self::Missing => "no such key".to_owned(),
            Self::WrongType => "not a stream".to_owned(),
            Self::NoGroup => "no such group".to_owned(),
            Self::Unasked => "not asked for again".to_owned(),
            Self::Denied(_) if self.is_absent() => "the server does not offer this command".to_owned(),
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

/// A part of a sample: its value, or why there is none.
pub type Part<T> = Result<T, Fault>;
