//! The server takes no writes: producers fail, and on the screen that looks like a quiet stream. INFO tells. A server that throws keys
//! away to make room still takes writes; that is a warning only where a watched stream went with them.

use super::{About, Argv, Finding, Level, ServerCase};
use crate::core::store::Condition;

pub(super) const ABOUT: About = About {
    id: "writes-refused",
    levels: &[Level::Info, Level::Warn, Level::Critical],
    says: "The server refuses writes, or makes room by removing keys: it is out of memory, its files cannot be written, or replicas are missing",
    cause: "memory is full (maxmemory), the disk is full or cannot be written, or replicas are gone (min-replicas-to-write)",
    remedy: "free memory or raise maxmemory; see the server's log for the failed save; bring the replicas back",
};

const MEMORY_CAUSE: &str = "streams that nobody trims, or other keys, have filled the memory that maxmemory allows";
const MEMORY_REMEDY: &str =
    "trim streams that are read (XTRIM), raise maxmemory, or allow the server to remove keys (maxmemory-policy)";
const DISK_CAUSE: &str = "the disk is full or cannot be written; the server's log says which";
const DISK_REMEDY: &str = "make room on the disk; the next save that succeeds ends it (BGSAVE)";
const REPLICAS_CAUSE: &str = "replicas are gone or too far behind, and min-replicas-to-write demands them";
const REPLICAS_REMEDY: &str = "bring the replicas back, or lower min-replicas-to-write";

/// What is wrong with one server.
struct Trouble {
    level: Level,
    /// As in `the server …`.
    text: String,
    cause: &'static str,
    remedy: &'static str,
    check: &'static [&'static [u8]],
}

pub(super) fn judge(case: &ServerCase) -> Option<Finding> {
    let mut found: Vec<(Option<&str>, Trouble)> =
        case.conditions.nodes().filter_map(|(node, condition)| Some((node, trouble(case, condition)?))).collect();
    // the worst first, and each level in the order of names
    found.sort_by_key(|(_, trouble)| std::cmp::Reverse(trouble.level));
    let more = found.len().saturating_sub(1);
    let (node, trouble) = found.into_iter().next()?;
    let who = node.map_or("the server".to_owned(), |node| format!("node {node}"));
    let others = match more {
        0 => String::new(),
        1 => "; another node is in trouble, too".to_owned(),
        n => format!("; {n} more nodes are in trouble"),
    };
    let text = format!("{who} {}{others}", trouble.text);
    let finding = ABOUT.finding(trouble.level, text, Argv::of(trouble.check));
    Some(finding.because(trouble.cause).advising(trouble.remedy).with("nodes", more as i64 + 1))
}

fn trouble(case: &ServerCase, condition: &Condition) -> Option<Trouble> {
    // a replica takes no writes of clients anyway
    let primary = condition.replication.value.map_or(case.role == Some("master"), |told| told.is_primary);
    if !primary {
        return None;
    }
    memory(case, condition)
        .into_iter()
        .chain(files(condition))
        .chain(replicas(condition))
        .reduce(|worst, next| if next.level > worst.level { next } else { worst })
}

fn memory(case: &ServerCase, condition: &Condition) -> Option<Trouble> {
    let memory = condition.memory.value.as_ref().filter(|_| condition.is_over)?;
    let full = format!(
        "{} of {} of memory are used, maxmemory-policy {}",
        bytes(memory.counted_bytes),
        bytes(memory.limit_bytes),
        memory.policy
    );
    let expiring = condition.databases.value.as_ref().map(|all| all.iter().any(|database| database.expiring > 0));
    let refuses = memory.policy == "noeviction" || (memory.policy.starts_with("volatile-") && expiring == Some(false));
    let evicted = case.conditions.evicted_stream();
    let (level, text) = match evicted {
        _ if refuses => (Level::Critical, format!("is out of memory and refuses writes: {full}")),
        Some(key) => (Level::Warn, format!("removes keys to make room, and {key} went at that time: {full}")),
        None => (Level::Info, format!("is out of memory and removes keys to make room: {full}")),
    };
    let check: &[&[u8]] = &[b"INFO", b"memory"];
    Some(Trouble { level, text, cause: MEMORY_CAUSE, remedy: MEMORY_REMEDY, check })
}

fn files(condition: &Condition) -> Option<Trouble> {
    let told = condition.persistence.value?;
    let (level, text) = if told.append_failed {
        (Level::Critical, "refuses writes: the last write to its append-only file failed")
    } else if told.save_failed {
        match condition.rules.value {
            Some(rules) if rules.stops_after_failed_save => {
                (Level::Critical, "refuses writes: the last save failed, and stop-writes-on-bgsave-error is on")
            }
            Some(_) => return None,
            None => {
                (Level::Warn, "may refuse writes: the last save failed; whether that stops writes, CONFIG would tell")
            }
        }
    } else {
        return None;
    };
    let check: &[&[u8]] = &[b"INFO", b"persistence"];
    Some(Trouble { level, text: text.to_owned(), cause: DISK_CAUSE, remedy: DISK_REMEDY, check })
}

fn replicas(condition: &Condition) -> Option<Trouble> {
    let good = condition.replication.value?.good_replicas?;
    let least = condition.rules.value.map(|rules| rules.least_replicas);
    let text = match least {
        Some(least) if good < least => {
            format!("refuses writes: {good} of the {least} replicas that min-replicas-to-write demands are good")
        }
        None if good == 0 => "refuses writes: min-replicas-to-write demands replicas, and none is good".to_owned(),
        _ => return None,
    };
    let check: &[&[u8]] = &[b"INFO", b"replication"];
    Some(Trouble { level: Level::Critical, text, cause: REPLICAS_CAUSE, remedy: REPLICAS_REMEDY, check })
}

/// In units of 1,024, as Redis writes them.
fn bytes(n: i64) -> String {
    match n {
        ..10_240 => format!("{n} bytes"),
        10_240..10_485_760 => format!("{} KB", n / 1024),
        10_485_760..10_737_418_240 => format!("{} MB", n / 1_048_576),
        _ => format!("{} GB", n / 1_073_741_824),
    }
}
