//! What INFO says of a server's condition: whether it takes writes, and what its databases hold.

use super::fault::Part;

/// A section of INFO that is read while watching.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Section {
    Memory,
    Persistence,
    Keyspace,
    Replication,
    Stats,
}

impl Section {
    pub const ALL: [Self; 5] = [Self::Memory, Self::Persistence, Self::Keyspace, Self::Replication, Self::Stats];

    /// Its name for INFO.
    pub fn word(self) -> &'static str {
        match self {
            Self::Memory => "memory",
            Self::Persistence => "persistence",
            Self::Keyspace => "keyspace",
            Self::Replication => "replication",
            Self::Stats => "stats",
        }
    }
}

/// What to ask a server about its condition.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ConditionRequest {
    pub sections: Vec<Section>,
    /// Whether to read the settings that decide if a failed save or a missing replica stops writes.
    pub config: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Memory {
    /// Memory that counts against the limit: replication and AOF buffers do not.
    pub counted_bytes: i64,
    /// `maxmemory`; 0 means no limit.
    pub limit_bytes: i64,
    /// `maxmemory-policy`.
    pub policy: String,
}

impl Memory {
    pub fn is_over(&self) -> bool {
        self.limit_bytes > 0 && self.counted_bytes > self.limit_bytes
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Persistence {
    /// The last write to the append-only file failed.
    pub append_failed: bool,
    /// The last save failed.
    pub save_failed: bool,
}

/// A database of the server that holds keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Database {
    pub number: i64,
    pub keys: i64,
    /// Keys with a time to live.
    pub expiring: i64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Replication {
    pub is_primary: bool,
    /// Replicas that are connected and not too far behind; there is such a count only where the server demands some.
    pub good_replicas: Option<i64>,
}

/// Settings that decide whether writes are refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WriteRules {
    /// The server saves by itself (`save`), and refuses writes after a failed save (`stop-writes-on-bgsave-error`).
    pub stops_after_failed_save: bool,
    /// `min-replicas-to-write`.
    pub least_replicas: i64,
}

/// What one server answered; `None` means not asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ConditionSample {
    /// The node of a cluster, as the cluster names it; `None` where there is only one server.
    pub node: Option<String>,
    pub memory: Option<Part<Memory>>,
    pub persistence: Option<Part<Persistence>>,
    pub databases: Option<Part<Vec<Database>>>,
    pub replication: Option<Part<Replication>>,
    /// Keys evicted since the server's start.
    pub evicted: Option<Part<i64>>,
    pub rules: Option<Part<WriteRules>>,
}
