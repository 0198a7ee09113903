//! Identifies the server and what it refuses. The greeting asks once after connecting; later refusals are remembered.

use super::{commands, decode, info::field};
use crate::core::{
    fault::Fault,
    model::ServerFacts,
    name::{Name, visible},
    time::Mono,
};
use redis::{Cmd, Value};
use std::collections::{BTreeSet, HashMap};

/// What is known not to work on this connection, so that it is not tried again.
#[derive(Clone, Debug, Default)]
pub struct Caps {
    /// Commands that the user's permissions forbid, or that the host has taken away.
    pub denied: BTreeSet<&'static str>,
    /// SCAN does not know TYPE (before 6.0).
    pub no_scan_type: bool,
    /// When MULTI was refused, so that samples may be skewed.
    pub no_multi: Option<Mono>,
    /// Keys with a refused command in their block, and when it was refused. Inside MULTI that refusal would abort the rest, so their
    /// commands are sent without it.
    pub plain_keys: HashMap<Name, Mono>,
}

/// What was refused inside MULTI may be allowed after this long, in milliseconds: a server out of memory refuses every command there.
const AGAIN_MS: u64 = 30_000;

impl Caps {
    pub fn is_denied(&self, command: &str) -> bool {
        self.denied.contains(command)
    }

    /// Whether the commands for a stream can be sent in one MULTI now.
    pub fn asks_whole(&self, key: &Name, now: Mono) -> bool {
        let refused = self.no_multi.iter().chain(self.plain_keys.get(key));
        refused.into_iter().all(|at| now.since(*at) >= AGAIN_MS)
    }

    /// Remembers a command that is refused whatever its arguments are.
    pub fn note_refusal(&mut self, command: &'static str, reply: &Value) {
        if let Value::ServerError(error) = reply
            && matches!(decode::fault(error), Fault::Denied(_))
        {
            self.denied.insert(command);
        }
    }
}

/// The first pipeline on a new connection. With NO-TOUCH, watching does not make keys look recently used (7.2+, docs/server-facts.md
/// 2.2). Older servers refuse it, which is harmless.
pub fn greeting() -> Vec<(&'static str, Cmd)> {
    let mut name = Cmd::new();
    name.arg("CLIENT").arg("SETNAME").arg("pelwatch");
    vec![
        ("HELLO", commands::plain("HELLO 2")),
        ("CLIENT SETNAME", name),
        ("CLIENT NO-TOUCH", commands::plain("CLIENT NO-TOUCH ON")),
        ("INFO", commands::plain("INFO server")),
        ("INFO", commands::plain("INFO replication")),
    ]
}

/// Whether NO-TOUCH is safe on this server. In cluster mode, Redis 8.0 to 8.4 and Valkey 8.1 crash with a segmentation fault when a
/// NO-TOUCH connection reads a key in a migrating slot. Seen on Redis 8.0.2, 8.0.6 and 8.2.3 and Valkey 8.1.1; not on Redis 7.4.1, 8.6.3
/// and 8.10.2, Valkey 8.0.1, 8.1.8, 9.0.0 and 9.1.2. On the affected versions watched keys look recently used, which is the lesser harm
/// (docs/server-facts.md 9.3).
pub fn no_touch_is_safe(server: &ServerFacts) -> bool {
    let mut parts = server.version.split('.').map(|part| part.parse::<u32>().ok());
    let mut part = || parts.next().flatten();
    let version = (part(), part(), part().unwrap_or(0));
    let (Some(major), Some(minor), patch) = version else { return !server.cluster };
    let ends = match server.flavor.as_str() {
        "valkey" => ((8, 1, 0)..(8, 1, 8)).contains(&(major, minor, patch)),
        _ => ((8, 0)..(8, 6)).contains(&(major, minor)),
    };
    !(server.cluster && ends)
}

/// Identifies the server from HELLO and both INFO replies. Any of the three may be an error.
pub fn server(hello: &Value, server: &Value, replication: &Value) -> ServerFacts {
    let info = decode::text(server).unwrap_or_default();
    let field = |name: &str| line(&info, name);
    // every Valkey reports redis_version:7.2.4, and Valkey 7.2 says "redis" in HELLO: only these two fields tell (docs/server-facts.md
    // 1.3)
    let valkey = field("valkey_version");
    let (flavor, version) = match (&valkey, field("redis_version")) {
        (Some(version), _) => ("valkey".to_owned(), version.clone()),
        (None, Some(version)) if field("server_name").as_deref() == Some("valkey") => ("valkey".to_owned(), version),
        (None, Some(version)) if foreign(&info).is_none() => ("redis".to_owned(), version),
        // a fork reports the Redis version that it is compatible with, but its counters follow other rules (docs/server-facts.md 12)
        (None, Some(_)) => ("unknown".to_owned(), foreign(&info).unwrap_or_default()),
        (None, None) => match (decode::field_text(hello, "server"), decode::field_text(hello, "version")) {
            (Some(name), Some(version)) if name == "redis" || name == "valkey" => (name, version),
            (_, version) => ("unknown".to_owned(), version.unwrap_or_default()),
        },
    };
    let modes = [field("redis_mode"), field("server_mode"), decode::field_text(hello, "mode")];
    let mut facts = ServerFacts {
        flavor,
        version,
        role: decode::field_text(hello, "role"),
        link_up: None,
        primary: None,
        uptime_ms: field("uptime_in_seconds").and_then(|text| text.parse::<i64>().ok()?.checked_mul(1000)),
        cluster: modes.iter().flatten().any(|mode| mode == "cluster"),
    };
    replication_facts(&mut facts, replication);
    facts
}

/// Updates role and replication link from INFO replication, if the server answered it.
pub fn replication_facts(facts: &mut ServerFacts, replication: &Value) {
    let Some(info) = decode::text(replication) else { return };
    match line(&info, "role").as_deref() {
        Some("slave" | "replica") => {
            facts.role = Some("replica".to_owned());
            facts.link_up = line(&info, "master_link_status").map(|status| status == "up");
            facts.primary =
                line(&info, "master_host").zip(line(&info, "master_port")).map(|(host, port)| format!("{host}:{port}"));
        }
        Some("master") => {
            facts.role = Some("master".to_owned());
            facts.link_up = None;
            facts.primary = None;
        }
        _ => {}
    }
}

/// The version of a server that is neither Redis nor Valkey. INFO shows it beside the Redis version that it is compatible with.
fn foreign(info: &str) -> Option<String> {
    ["dragonfly_version", "kvrocks_version", "keydb_version", "garnet_version", "upstash_version"]
        .iter()
        .find_map(|field| line(info, field))
}

fn line(info: &str, name: &str) -> Option<String> {
    field(info, name).map(|value| visible(value.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn info(text: &str) -> Value {
        Value::BulkString(text.as_bytes().to_vec())
    }

    #[test]
    fn a_valkey_is_told_by_its_own_fields() {
        let facts = server(
            &Value::Nil,
            &info("redis_version:7.2.4\r\nserver_name:valkey\r\nvalkey_version:9.1.2\r\n"),
            &info("role:master\r\n"),
        );
        assert_eq!(
            (facts.flavor.as_str(), facts.version.as_str(), facts.role.as_deref()),
            ("valkey", "9.1.2", Some("master"))
        );
    }

    #[test]
    fn no_touch_is_taken_off_where_it_ends_the_server() {
        let table = [
            ("redis", "8.2.3", true, false),
            ("redis", "8.0.6", true, false),
            ("redis", "8.2.3", false, true),
            ("redis", "7.4.1", true, true),
            ("redis", "8.6.3", true, true),
            ("valkey", "8.1.1", true, false),
            ("valkey", "8.1.1", false, true),
            ("valkey", "8.1.8", true, true),
            ("valkey", "8.0.1", true, true),
            ("valkey", "9.1.2", true, true),
            ("unknown", "", true, false),
        ];
        for (flavor, version, cluster, bears) in table {
            let facts =
                ServerFacts { flavor: flavor.into(), version: version.into(), cluster, ..ServerFacts::default() };
            assert_eq!(no_touch_is_safe(&facts), bears, "{flavor} {version} {cluster}");
        }
    }

    #[test]
    fn without_info_hello_tells() {
        let hello = Value::Array(["server", "redis", "version", "8.2.3", "role", "replica"].map(info).to_vec());
        let facts = server(&hello, &Value::Nil, &Value::Nil);
        assert_eq!(
            (facts.flavor.as_str(), facts.version.as_str(), facts.role.as_deref()),
            ("redis", "8.2.3", Some("replica"))
        );
    }

    #[test]
    fn without_either_the_server_is_unknown() {
        assert_eq!(server(&Value::Nil, &Value::Nil, &Value::Nil).flavor, "unknown");
    }

    #[test]
    fn a_replica_tells_its_link() {
        let facts = server(
            &Value::Nil,
            &Value::Nil,
            &info("role:slave\r\nmaster_host:h\r\nmaster_port:1\r\nmaster_link_status:down\r\n"),
        );
        assert_eq!(
            (facts.role.as_deref(), facts.link_up, facts.primary.as_deref()),
            (Some("replica"), Some(false), Some("h:1"))
        );
    }
}
