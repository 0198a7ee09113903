//! Decodes `redis::Value` into the model. Fields are found by name, never by position, because 5.0 and 8.6 order them differently. Flat
//! arrays and maps are both accepted and unknown fields ignored. Names stay bytes, and numbers are signed.

use crate::core::{
    id::EntryId,
    known::Known,
    model::{ConsumerFacts, GroupFacts, PendingRow, PendingSummary, StreamFacts, total},
    name::{Name, visible},
    number::whole,
    sample::{Fault, Field, Part, RangeIds},
};
use redis::{ServerError, Value};

/// Classifies an error reply.
pub fn fault(error: &ServerError) -> Fault {
    let text = visible(format!("{} {}", error.code(), error.details().unwrap_or("")).trim().as_bytes());
    // the first word decides, and for ERR a stable fragment: texts differ by version and vendor (docs/server-facts.md 8)
    match error.code() {
        "NOPERM" => Fault::Denied(text),
        "WRONGTYPE" => Fault::WrongType,
        "NOGROUP" => Fault::NoGroup,
        "ERR" if text.contains("no such key") => Fault::Missing,
        // a host may rename or remove commands: nobody can use them, whatever the permissions say
        "ERR" if text.to_lowercase().starts_with("err unknown command") => Fault::Denied(text),
        "CLUSTERDOWN" | "TRYAGAIN" => Fault::Away(text),
        code @ ("MOVED" | "ASK") => elsewhere(&text, code == "ASK").unwrap_or(Fault::Other(text)),
        _ => Fault::Other(text),
    }
}

/// Reads `MOVED 7629 127.0.0.1:22670`.
fn elsewhere(text: &str, once: bool) -> Option<Fault> {
    let mut words = text.split(' ').skip(1);
    let slot = words.next()?.parse().ok()?;
    Some(Fault::Elsewhere { slot, node: words.next()?.to_owned(), once })
}

fn odd(what: &str) -> Fault {
    Fault::Other(format!("the server's answer to {what} has an unknown form"))
}

fn contradicts(what: &str) -> Fault {
    Fault::Other(format!("the numbers in the server's answer to {what} contradict each other"))
}

/// The exact size of this reply in RESP2, in bytes.
pub fn weight(value: &Value) -> u64 {
    fn digits(n: usize) -> u64 {
        n.to_string().len() as u64
    }
    fn bulk(len: usize) -> u64 {
        1 + digits(len) + 2 + len as u64 + 2
    }
    match value {
        Value::Nil | Value::Okay => 5,
        Value::Int(n) => 3 + n.to_string().len() as u64,
        Value::BulkString(bytes) => bulk(bytes.len()),
        Value::Array(items) | Value::Set(items) => 3 + digits(items.len()) + items.iter().map(weight).sum::<u64>(),
        // RESP2 sends a flat array
        Value::Map(items) => {
            3 + digits(items.len() * 2) + items.iter().map(|(k, v)| weight(k) + weight(v)).sum::<u64>()
        }
        Value::SimpleString(text) => 3 + text.len() as u64,
        Value::Double(_) => 12,
        Value::Boolean(_) => 4,
        Value::VerbatimString { text, .. } => bulk(text.len() + 4),
        Value::ServerError(error) => {
            3 + (error.code().len() + error.details().map_or(0, |details| 1 + details.len())) as u64
        }
        Value::BigNumber(digits) => 3 + digits.len() as u64,
        Value::Attribute { data, .. } => weight(data),
        Value::Push { data, .. } => data.iter().map(weight).sum(),
        _ => 8,
    }
}

/// Unwraps a RESP3 attribute, which can precede any reply.
pub fn bare(value: Value) -> Value {
    match value {
        Value::Attribute { data, .. } => bare(*data),
        other => other,
    }
}

fn items(value: &Value) -> Option<&[Value]> {
    match value {
        Value::Array(items) | Value::Set(items) => Some(items),
        Value::Nil => Some(&[]),
        Value::Attribute { data, .. } => items(data),
        _ => None,
    }
}

fn bytes(value: &Value) -> Option<&[u8]> {
    match value {
        Value::BulkString(bytes) => Some(bytes),
        Value::SimpleString(text) | Value::VerbatimString { text, .. } => Some(text.as_bytes()),
        Value::Okay => Some(b"OK"),
        Value::Attribute { data, .. } => bytes(data),
        _ => None,
    }
}

/// Reads an integer, also one sent as text; `None` if it does not fit a signed 64-bit integer (Kvrocks wraps, docs/server-facts.md 12).
fn number(value: &Value) -> Option<i64> {
    match value {
        Value::Int(n) => Some(*n),
        Value::Double(n) if n.fract() == 0.0 && n.abs() < 9e15 => Some(whole(*n)),
        Value::Attribute { data, .. } => number(data),
        Value::BigNumber(digits) => std::str::from_utf8(digits).ok()?.parse().ok(),
        other => std::str::from_utf8(bytes(other)?).ok()?.parse().ok(),
    }
}

/// Reads a number that cannot be negative.
fn count(value: &Value) -> Option<i64> {
    number(value).filter(|n| *n >= 0)
}

fn id(value: &Value) -> Option<EntryId> {
    EntryId::parse(bytes(value)?)
}

fn name(value: &Value) -> Option<Name> {
    match value {
        // a name that looks like a number is still a name
        Value::Int(n) => Some(Name::new(n.to_string())),
        Value::Attribute { data, .. } => name(data),
        other => Some(Name::new(bytes(other)?)),
    }
}

/// The named fields of one reply.
struct Fields<'a>(Vec<(&'a [u8], &'a Value)>);

impl<'a> Fields<'a> {
    fn of(value: &'a Value) -> Option<Self> {
        match value {
            Value::Map(pairs) => Some(Self(pairs.iter().filter_map(|(k, v)| Some((bytes(k)?, v))).collect())),
            Value::Array(flat) if flat.len().is_multiple_of(2) => {
                let (pairs, _) = flat.as_chunks::<2>();
                Some(Self(pairs.iter().filter_map(|[k, v]| Some((bytes(k)?, v))).collect()))
            }
            Value::Attribute { data, .. } => Self::of(data),
            _ => None,
        }
    }

    fn get(&self, field: &str) -> Option<&'a Value> {
        self.0.iter().find(|(name, _)| *name == field.as_bytes()).map(|(_, value)| *value)
    }

    fn known<T>(&self, field: &str, read: impl Fn(&Value) -> Option<T>) -> Known<T> {
        match self.get(field) {
            None => Known::Unsupported,
            Some(value) => read(value).map_or(Known::Undetermined, Known::Is),
        }
    }
}

fn part(value: &Value) -> Part<&Value> {
    match value {
        Value::ServerError(error) => Err(fault(error)),
        Value::Attribute { data, .. } => part(data),
        other => Ok(other),
    }
}

pub fn stream(value: &Value) -> Part<StreamFacts> {
    let value = part(value)?;
    let lacks = || odd("XINFO STREAM");
    let fields = Fields::of(value).ok_or_else(lacks)?;
    let entry_id = |field| fields.get(field).and_then(items).and_then(<[Value]>::first).and_then(id);
    let (first, last) = (entry_id("first-entry"), entry_id("last-entry"));
    let length = fields.get("length").and_then(number).ok_or_else(lacks)?;
    // a length that contradicts the first and last entry, in either direction, makes both untrustworthy
    if length < 0 || (length == 0 && first.or(last).is_some()) || first.zip(last).is_some_and(|(a, b)| a > b) {
        return Err(contradicts("XINFO STREAM"));
    }
    Ok(StreamFacts {
        length,
        first,
        last,
        last_generated: fields.get("last-generated-id").and_then(id).ok_or_else(lacks)?,
        entries_added: fields.known("entries-added", count),
        max_deleted: fields.known("max-deleted-entry-id", id),
        duplicates: fields.known("iids-duplicates", count),
        groups: fields.get("groups").and_then(number).unwrap_or(0),
        reply_bytes: weight(value),
    })
}

fn each<T>(value: &Value, what: &str, read: impl Fn(&Value) -> Option<T>) -> Part<Vec<T>> {
    let list = items(part(value)?).ok_or_else(|| odd(what))?;
    list.iter().map(|item| read(item).ok_or_else(|| odd(what))).collect()
}

pub fn groups(value: &Value) -> Part<Vec<GroupFacts>> {
    let listed = each(value, "XINFO GROUPS", |item| {
        let fields = Fields::of(item)?;
        let counted = |field| Some(count(fields.get(field)?).map_or(Known::Contradictory, Known::Is));
        Some(GroupFacts {
            name: fields.get("name").and_then(name)?,
            consumers: counted("consumers")?,
            pending: counted("pending")?,
            cursor: fields.get("last-delivered-id").and_then(id)?,
            entries_read: fields.known("entries-read", number),
            reported_lag: fields.known("lag", number),
        })
    })?;
    // some servers list a group twice: numbers on which the two rows differ are unknown
    let mut groups: Vec<GroupFacts> = Vec::with_capacity(listed.len());
    for next in listed {
        match groups.iter_mut().find(|group| group.name == next.name) {
            Some(group) => merge(group, &next)?,
            None => groups.push(next),
        }
    }
    Ok(groups)
}

fn merge(group: &mut GroupFacts, twin: &GroupFacts) -> Result<(), Fault> {
    fn agreed(one: Known<i64>, other: Known<i64>) -> Known<i64> {
        if one == other { one } else { Known::Undetermined }
    }
    if group.cursor != twin.cursor {
        return Err(contradicts("XINFO GROUPS"));
    }
    let counted = |one, other| if one == other { one } else { Known::Contradictory };
    group.pending = counted(group.pending, twin.pending);
    group.consumers = counted(group.consumers, twin.consumers);
    group.entries_read = agreed(group.entries_read, twin.entries_read);
    group.reported_lag = agreed(group.reported_lag, twin.reported_lag);
    Ok(())
}

pub fn consumers(value: &Value) -> Part<Vec<ConsumerFacts>> {
    let mut listed = each(value, "XINFO CONSUMERS", |item| {
        let fields = Fields::of(item)?;
        Some(ConsumerFacts {
            name: fields.get("name").and_then(name)?,
            pending: fields.get("pending").and_then(count)?,
            idle_ms: fields.get("idle").and_then(count)?,
            inactive_ms: fields.known("inactive", |value| number(value).filter(|ms| *ms >= -1)),
        })
    })?;
    let mut seen = std::collections::HashMap::new();
    for one in &listed {
        if seen.insert(one.name.clone(), one.clone()).is_some_and(|twin| twin != *one) {
            return Err(contradicts("XINFO CONSUMERS"));
        }
    }
    listed.retain(|one| seen.remove(&one.name).is_some());
    Ok(listed)
}

pub fn summary(value: &Value) -> Part<PendingSummary> {
    let what = || odd("XPENDING");
    let value = part(value)?;
    let list = items(value).ok_or_else(what)?;
    let pending = list.first().and_then(count).ok_or_else(what)?;
    // without holders servers send an empty list or nil; any other form must be an error, or every entry would look unowned
    let holders = list.get(3).and_then(items).ok_or_else(what)?.iter().map(|pair| {
        let pair = items(pair)?;
        Some((name(pair.first()?)?, count(pair.get(1)?)?))
    });
    let holders: Vec<(Name, i64)> = holders.collect::<Option<_>>().ok_or_else(what)?;
    if total(holders.iter().map(|(_, held)| *held)) > pending {
        return Err(contradicts("XPENDING"));
    }
    Ok(PendingSummary { total: pending, holders })
}

pub fn pending(value: &Value) -> Part<Vec<PendingRow>> {
    each(value, "XPENDING", |item| {
        let row = items(item)?;
        let owner = name(row.get(1)?)?;
        let idle = number(row.get(2)?)?;
        // XNACK releases an entry: no owner and idle -1; a consumer with an empty name still has an idle time (docs/server-facts.md 1.2)
        let released = owner.bytes().is_empty() && idle < 0;
        Some(PendingRow {
            id: id(row.first()?)?,
            owner: (!released).then_some(owner),
            idle_ms: (idle >= 0).then_some(idle),
            deliveries: number(row.get(3)?)?,
        })
    })
}

pub fn range_ids(value: &Value, backward: bool) -> Part<RangeIds> {
    let mut ids = each(value, "XRANGE", |item| id(items(item)?.first()?))?;
    if backward {
        ids.reverse();
    }
    Ok(RangeIds { ids, bytes: weight(value) })
}

pub fn entry(value: &Value) -> Part<Option<Vec<Field>>> {
    let list = items(part(value)?).ok_or_else(|| odd("XRANGE"))?;
    let Some(entry) = list.first().and_then(items) else { return Ok(None) };
    let flat = entry.get(1).and_then(items).ok_or_else(|| odd("XRANGE"))?;
    let (pairs, _) = flat.as_chunks::<2>();
    Ok(Some(pairs.iter().filter_map(|[field, value]| Some((bytes(field)?.to_vec(), bytes(value)?.to_vec()))).collect()))
}

/// The cursor and keys of one SCAN reply.
pub fn scan(value: &Value) -> Part<(String, Vec<Name>)> {
    let list = items(part(value)?).ok_or_else(|| odd("SCAN"))?;
    let cursor = list.first().and_then(name).map(|cursor| visible(cursor.bytes())).ok_or_else(|| odd("SCAN"))?;
    let keys = list.get(1).and_then(items).and_then(|keys| keys.iter().map(name).collect::<Option<_>>());
    Ok((cursor, keys.ok_or_else(|| odd("SCAN"))?))
}

/// TIME in microseconds since 1970.
fn time_us(value: &Value) -> Option<i64> {
    let list = items(value)?;
    count(list.first()?)?.checked_mul(1_000_000)?.checked_add(count(list.get(1)?)?)
}

/// TIME in milliseconds since 1970.
pub fn time_ms(value: &Value) -> Option<i64> {
    time_us(value).map(|us| us / 1000)
}

/// Microseconds between the first and the last reply of a pipeline, which are both TIME. `None` if either was refused or the server's
/// clock was set back in between.
pub fn time_between(replies: &[Value]) -> Option<u64> {
    let passed = time_us(replies.last()?)?.checked_sub(time_us(replies.first()?)?)?;
    u64::try_from(passed).ok()
}

pub fn integer(value: &Value) -> Option<i64> {
    number(value)
}

/// Reads a text reply, such as INFO.
pub fn text(value: &Value) -> Option<String> {
    bytes(value).map(|text| String::from_utf8_lossy(text).into_owned())
}

/// Reads a time to live: -1 means that the key has none, -2 that there is no key.
pub fn ttl_ms(value: &Value) -> Part<Option<i64>> {
    match number(part(value)?) {
        Some(-2) => Err(Fault::Missing),
        Some(-1) => Ok(None),
        Some(ms @ 0..) => Ok(Some(ms)),
        _ => Err(odd("PTTL")),
    }
}

/// The names of the connections in CLIENT LIST, without the unnamed ones.
pub fn client_names(value: &Value) -> Option<std::collections::BTreeSet<Name>> {
    let list = bytes(value)?;
    let name = |line: &[u8]| {
        let field = line.split(|b| *b == b' ').find_map(|field| field.strip_prefix(b"name="))?;
        (!field.is_empty()).then(|| Name::new(field))
    };
    Some(list.split(|b| *b == b'\n').filter_map(name).collect())
}

/// How many connections of CLIENT LIST are blocked in XREADGROUP. On which stream it does not say.
pub fn blocked_readers(value: &Value) -> Option<usize> {
    let list = bytes(value)?;
    let field = |line: &[u8], name: &[u8]| {
        line.split(|b| *b == b' ').find_map(|field| field.strip_prefix(name)).map(<[u8]>::to_vec)
    };
    let is_blocked = |line: &&[u8]| {
        field(line, b"cmd=").is_some_and(|cmd| cmd == b"xreadgroup")
            && field(line, b"flags=").is_some_and(|flags| flags.contains(&b'b'))
    };
    Some(list.split(|b| *b == b'\n').filter(is_blocked).count())
}

/// One field of a flat array or map as text, such as in HELLO.
pub fn field_text(value: &Value, field: &str) -> Option<String> {
    Fields::of(value)?.get(field).and_then(bytes).map(visible)
}

#[cfg(test)]
#[path = "decode_tests.rs"]
mod tests;
