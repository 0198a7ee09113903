//! What the server reports about a stream, its groups, consumers and pending entries, field by field.

use super::{id::EntryId, known::Known, name::Name};

/// XINFO STREAM, without the payloads in its reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StreamFacts {
    /// Entries retained. Signed, because some servers send nonsense.
    pub length: i64,
    /// The first retained entry; `None` when there is none.
    pub first: Option<EntryId>,
    /// The last retained entry; `None` when there is none.
    pub last: Option<EntryId>,
    /// The largest id ever generated; does not go back when the last entry is deleted.
    pub last_generated: EntryId,
    /// Entries ever added (7.0+); XSETID can set it to anything.
    pub entries_added: Known<i64>,
    /// The largest id ever removed by XDEL, not by trimming (7.0+).
    pub max_deleted: Known<EntryId>,
    /// Idempotent additions refused because the entry was there already (8.6+).
    pub duplicates: Known<i64>,
    pub groups: i64,
    /// Size of the reply in bytes; it contains two payloads.
    pub reply_bytes: u64,
}

/// One element of XINFO GROUPS.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupFacts {
    pub name: Name,
    pub consumers: Known<i64>,
    /// Entries in the PEL, unowned ones included.
    pub pending: Known<i64>,
    /// last-delivered-id.
    pub cursor: EntryId,
    /// entries-read (7.0+); nil after a move to an arbitrary id.
    pub entries_read: Known<i64>,
    /// Lag as the server reports it (7.0+): may be nil, negative or wrong (docs/server-facts.md 3.2).
    pub reported_lag: Known<i64>,
}

impl GroupFacts {
    /// entries-read; `None` where there is none, and where it is 0 although the cursor left the start: Dragonfly is reported to leave it
    /// at 0 (docs/server-facts.md 12).
    pub fn entries_read_known(&self) -> Option<i64> {
        self.entries_read.value().filter(|read| *read > 0 || (*read == 0 && self.cursor == EntryId::MIN))
    }
}

/// One element of XINFO CONSUMERS.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConsumerFacts {
    pub name: Name,
    pub pending: i64,
    /// Milliseconds since its last success (up to 7.0) or last attempt (7.2+; docs/server-facts.md 6).
    pub idle_ms: i64,
    /// Milliseconds since it last got an entry (7.2+); -1 means never.
    pub inactive_ms: Known<i64>,
}

/// Delivery count of an entry that XNACK FATAL gave up for good (8.8+).
pub const FATAL_DELIVERIES: i64 = i64::MAX;

/// One row of the extended XPENDING.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PendingRow {
    pub id: EntryId,
    /// The holder; `None` when XNACK released the entry (owner "" with idle -1). The empty name alone is a real owner
    /// (docs/server-facts.md 13.11).
    pub owner: Option<Name>,
    /// Milliseconds since its last delivery; `None` when it was released.
    pub idle_ms: Option<i64>,
    /// How often it was delivered; [`FATAL_DELIVERIES`] is a marker, not a count.
    pub deliveries: i64,
}

impl PendingRow {
    /// Whether idle time and delivery count can be true. An entry with an owner was delivered at least once, some time ago, but Kvrocks
    /// is reported to send 0 and 0 for every entry (docs/server-facts.md 12). A claim with RETRYCOUNT 0 leaves a real count of 0,
    /// together with an idle time.
    pub fn is_told(&self) -> bool {
        self.owner.is_none() || self.deliveries != 0 || self.idle_ms.is_some_and(|ms| ms > 0)
    }

    /// Milliseconds since its last delivery; `None` when it was released, or when the server does not report it.
    pub fn idle_known_ms(&self) -> Option<i64> {
        self.idle_ms.filter(|ms| *ms > 0 || self.deliveries != 0)
    }

    /// How often it was delivered; `None` when the server does not report it. Below 8.8, claiming a given-up entry makes the count
    /// negative.
    pub fn deliveries_known(&self) -> Option<i64> {
        (self.is_told() && self.deliveries >= 0).then_some(self.deliveries)
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PendingSummary {
    /// Entries in the PEL.
    pub total: i64,
    /// Each holder and how many entries it holds; from 8.8 their sum may be less than the total.
    pub holders: Vec<(Name, i64)>,
}

impl PendingSummary {
    /// Entries that nobody holds (8.8+).
    pub fn unowned(&self) -> i64 {
        self.total.saturating_sub(total(self.holders.iter().map(|(_, count)| *count))).max(0)
    }
}

/// A sum that saturates, since a server may send any number.
pub fn total(numbers: impl Iterator<Item = i64>) -> i64 {
    numbers.fold(0, i64::saturating_add)
}

/// How the server computes lag, which decides how far it can be trusted (docs/server-facts.md 3.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LagFamily {
    /// Redis 7.0 to 7.4, Valkey 7.2 and 8.0: drifts for good once trimming overtook the group.
    A,
    /// Valkey 8.1 and later: right again after the next read.
    B,
    /// Redis 8.0 and later.
    C,
    /// A server that could not be identified: trusted as little as family A.
    #[default]
    Unknown,
}

/// The server we are connected to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServerFacts {
    /// `redis`, `valkey` or `unknown`.
    pub flavor: String,
    /// Its version as it writes it; empty if it does not report one.
    pub version: String,
    /// `master` or `replica`.
    pub role: Option<String>,
    /// Whether a replica is connected to its primary.
    pub link_up: Option<bool>,
    /// host:port of a replica's primary.
    pub primary: Option<String>,
    /// Milliseconds since the server's start when the connection was made.
    pub uptime_ms: Option<i64>,
    /// Whether it is a node of a cluster, as far as known (from INFO, HELLO, or a redirection).
    pub cluster: bool,
}

impl ServerFacts {
    /// Major and minor version.
    pub fn version_numbers(&self) -> Option<(u32, u32)> {
        let mut parts = self.version.split('.').map(|part| part.parse::<u32>().ok());
        Some((parts.next()??, parts.next()??))
    }

    pub fn lag_family(&self) -> LagFamily {
        match (self.flavor.as_str(), self.version_numbers()) {
            ("redis", Some(version)) if version >= (8, 0) => LagFamily::C,
            ("valkey", Some(version)) if version >= (8, 1) => LagFamily::B,
            ("redis" | "valkey", Some(_)) => LagFamily::A,
            _ => LagFamily::Unknown,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lag_family_follows_flavor_and_version() {
        let table = [
            ("redis", "7.0.15", LagFamily::A),
            ("redis", "7.4.1", LagFamily::A),
            ("redis", "8.0.2", LagFamily::C),
            ("redis", "8.10.2", LagFamily::C),
            ("valkey", "7.2.7", LagFamily::A),
            ("valkey", "8.0.1", LagFamily::A),
            ("valkey", "8.1.1", LagFamily::B),
            ("valkey", "9.1.2", LagFamily::B),
            ("unknown", "8.0.0", LagFamily::Unknown),
            ("redis", "", LagFamily::Unknown),
        ];
        for (flavor, version, family) in table {
            let facts = ServerFacts { flavor: flavor.into(), version: version.into(), ..ServerFacts::default() };
            assert_eq!(facts.lag_family(), family, "{flavor} {version}");
        }
    }
}
