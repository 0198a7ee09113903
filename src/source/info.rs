//! INFO and CONFIG about a server's condition: the commands, and their replies sorted out.

use super::{commands, decode};
use crate::core::{
    condition::{ConditionRequest, ConditionSample, Database, Memory, Persistence, Replication, Section, WriteRules},
    fault::{Fault, Part},
    model::ServerFacts,
};
use redis::{Cmd, Value};

const RULES: [&str; 3] = ["save", "stop-writes-on-bgsave-error", "min-replicas-to-write"];

/// One INFO for all sections from 7.0 on; before, it takes one section at a time.
pub(super) fn commands_of(request: &ConditionRequest, server: &ServerFacts) -> Vec<Cmd> {
    let words = request.sections.iter().map(|section| section.word());
    let mut all: Vec<Cmd> = if server.version_numbers().is_some_and(|version| version >= (7, 0)) {
        let words: Vec<&str> = words.collect();
        (!words.is_empty()).then(|| commands::plain(&format!("INFO {}", words.join(" ")))).into_iter().collect()
    } else {
        words.map(|word| commands::plain(&format!("INFO {word}"))).collect()
    };
    if request.config {
        all.extend(RULES.map(|rule| commands::plain(&format!("CONFIG GET {rule}"))));
    }
    all
}

/// The name of the command behind each of the `count` replies.
pub(super) fn names_of(request: &ConditionRequest, count: usize) -> impl Iterator<Item = &'static str> {
    let info = count - if request.config { RULES.len() } else { 0 };
    (0..count).map(move |index| if index < info { "INFO" } else { "CONFIG GET" })
}

/// The replies to [`commands_of`].
pub(super) fn answer(request: &ConditionRequest, replies: &[Value]) -> ConditionSample {
    let (info, config) = replies.split_at(replies.len() - if request.config { RULES.len() } else { 0 });
    let mut sample = ConditionSample::default();
    for (index, section) in request.sections.iter().enumerate() {
        let reply = info.get(index).or(info.first()).unwrap_or(&Value::Nil);
        let text = text_of(reply, section.word());
        match section {
            Section::Memory => sample.memory = Some(text.and_then(|text| memory(&text))),
            Section::Persistence => sample.persistence = Some(text.map(|text| persistence(&text))),
            Section::Keyspace => sample.databases = Some(text.map(|text| databases(&text))),
            Section::Replication => sample.replication = Some(text.map(|text| replication(&text))),
            Section::Stats => sample.evicted = Some(text.and_then(|text| count(&text, "evicted_keys"))),
        }
    }
    if request.config {
        sample.rules = Some(rules(config));
    }
    sample
}

fn text_of(reply: &Value, word: &str) -> Part<String> {
    match reply {
        Value::ServerError(error) => Err(decode::fault(error)),
        reply => decode::text(reply).ok_or_else(|| unreadable(word)),
    }
}

fn unreadable(what: &str) -> Fault {
    Fault::Other(format!("INFO does not tell {what}"))
}

/// A field of INFO.
pub(super) fn field<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':')).map(str::trim)
}

fn count(text: &str, name: &str) -> Part<i64> {
    field(text, name).and_then(|value| value.parse().ok()).ok_or_else(|| unreadable(name))
}

fn memory(text: &str) -> Part<Memory> {
    // servers without this field count everything
    let apart = count(text, "mem_not_counted_for_evict").unwrap_or(0);
    Ok(Memory {
        counted_bytes: count(text, "used_memory")?.saturating_sub(apart),
        limit_bytes: count(text, "maxmemory")?,
        policy: crate::core::name::visible(field(text, "maxmemory_policy").unwrap_or_default().as_bytes()),
    })
}

fn persistence(text: &str) -> Persistence {
    let failed = |name| field(text, name) == Some("err");
    Persistence {
        append_failed: field(text, "aof_enabled") != Some("0") && failed("aof_last_write_status"),
        save_failed: failed("rdb_last_bgsave_status"),
    }
}

/// Reads lines as `db0:keys=1,expires=0,avg_ttl=0`.
fn databases(text: &str) -> Vec<Database> {
    let read = |line: &str| {
        let (number, fields) = line.trim().strip_prefix("db")?.split_once(':')?;
        let of =
            |name: &str| fields.split(',').find_map(|field| field.strip_prefix(name)?.strip_prefix('=')?.parse().ok());
        Some(Database { number: number.parse().ok()?, keys: of("keys")?, expiring: of("expires").unwrap_or(0) })
    };
    text.lines().filter_map(read).collect()
}

fn replication(text: &str) -> Replication {
    let good = count(text, "min_slaves_good_slaves").or_else(|_| count(text, "min_replicas_good_replicas"));
    Replication { is_primary: field(text, "role") == Some("master"), good_replicas: good.ok() }
}

fn rules(replies: &[Value]) -> Part<WriteRules> {
    let value = |index: usize| match replies.get(index) {
        Some(Value::ServerError(error)) => Err(decode::fault(error)),
        Some(reply) => decode::field_text(reply, RULES[index]).ok_or_else(|| unreadable(RULES[index])),
        None => Err(unreadable(RULES[index])),
    };
    let (save, stops, least) = (value(0)?, value(1)?, value(2)?);
    Ok(WriteRules {
        stops_after_failed_save: !save.is_empty() && stops == "yes",
        least_replicas: least.parse().unwrap_or(0),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn info(text: &str) -> Value {
        Value::BulkString(text.as_bytes().to_vec())
    }

    fn of(version: &str) -> ServerFacts {
        ServerFacts { version: version.to_owned(), ..ServerFacts::default() }
    }

    #[test]
    fn sections_come_in_one_reply_from_7_0_on_and_one_by_one_before() {
        let request = ConditionRequest { sections: vec![Section::Memory, Section::Keyspace], config: false };
        assert_eq!(commands_of(&request, &of("7.0.15")).len(), 1);
        assert_eq!(commands_of(&request, &of("6.2.14")).len(), 2);
        assert_eq!(commands_of(&request, &of("")).len(), 2);
        let (memory, keyspace) = (
            "used_memory:900\r\nmem_not_counted_for_evict:100\r\nmaxmemory:700\r\nmaxmemory_policy:noeviction\r\n",
            "# Keyspace\r\ndb0:keys=1,expires=0,avg_ttl=0\r\ndb12:keys=7,expires=2,avg_ttl=0,subexpiry=0\r\n",
        );
        let apart = answer(&request, &[info(memory), info(keyspace)]);
        assert_eq!(apart, answer(&request, &[info(&format!("{memory}{keyspace}"))]));
        let told = Memory { counted_bytes: 800, limit_bytes: 700, policy: "noeviction".to_owned() };
        assert!(told.is_over());
        assert_eq!(apart.memory, Some(Ok(told)));
        let databases = [(0, 1, 0), (12, 7, 2)].map(|(number, keys, expiring)| Database { number, keys, expiring });
        assert_eq!(apart.databases, Some(Ok(databases.to_vec())));
        assert_eq!((apart.persistence, apart.rules), (None, None));
    }

    #[test]
    fn what_is_refused_or_missing_is_a_fault_and_no_number() {
        let request = ConditionRequest { sections: vec![Section::Memory, Section::Stats], config: true };
        let denied = redis::parse_redis_value(b"-NOPERM this user has no permissions to run the 'info' command\r\n");
        let denied = denied.unwrap_or(Value::Nil);
        let sample = answer(&request, &[denied.clone(), info("# Stats\r\n"), denied.clone(), denied.clone(), denied]);
        assert!(matches!(sample.memory, Some(Err(Fault::Denied(_)))));
        assert!(matches!(sample.evicted, Some(Err(Fault::Other(_)))));
        assert!(matches!(sample.rules, Some(Err(Fault::Denied(_)))));
    }
}
