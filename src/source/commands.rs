//! The argument lists of every command that pelwatch sends while watching. All of them are read-only.

use crate::core::{
    census::Older,
    id::EntryId,
    name::Name,
    sample::{PageRequest, RangeRequest, ScanRequest},
};
use redis::Cmd;

fn cmd(words: &[&[u8]]) -> Cmd {
    let mut cmd = Cmd::new();
    for word in words {
        cmd.arg(*word);
    }
    cmd
}

pub fn plain(line: &str) -> Cmd {
    cmd(&line.split(' ').map(str::as_bytes).collect::<Vec<_>>())
}

pub fn xinfo_stream(key: &Name) -> Cmd {
    cmd(&[b"XINFO", b"STREAM", key.bytes()])
}

pub fn pttl(key: &Name) -> Cmd {
    cmd(&[b"PTTL", key.bytes()])
}

pub fn xinfo_groups(key: &Name) -> Cmd {
    cmd(&[b"XINFO", b"GROUPS", key.bytes()])
}

pub fn xinfo_consumers(key: &Name, group: &Name) -> Cmd {
    cmd(&[b"XINFO", b"CONSUMERS", key.bytes(), group.bytes()])
}

pub fn xpending_summary(key: &Name, group: &Name) -> Cmd {
    cmd(&[b"XPENDING", key.bytes(), group.bytes()])
}

/// Uses inclusive ids only: the `(` prefix needs 6.2.
pub fn xpending_page(key: &Name, group: &Name, page: &PageRequest) -> Cmd {
    let mut cmd = xpending_summary(key, group);
    cmd.arg(page.from.to_string()).arg(page.to.to_string()).arg(page.count);
    if let Some(consumer) = &page.consumer {
        cmd.arg(consumer.bytes());
    }
    cmd
}

/// Filters by idle time, which needs 6.2. The filter may make the server read all rows of the consumer, so this is asked only about
/// consumers that are known to hold few entries.
pub fn xpending_older(key: &Name, group: &Name, older: &Older) -> Cmd {
    let mut cmd = xpending_summary(key, group);
    cmd.arg("IDLE")
        .arg(older.idle_ms)
        .arg(older.from.to_string())
        .arg("+")
        .arg(older.count)
        .arg(older.consumer.bytes());
    cmd
}

pub fn xrange(key: &Name, range: &RangeRequest) -> Cmd {
    let from = range.from.to_string();
    let mut cmd = if range.backward {
        cmd(&[b"XREVRANGE", key.bytes(), from.as_bytes(), b"-", b"COUNT"])
    } else {
        cmd(&[b"XRANGE", key.bytes(), from.as_bytes(), b"+", b"COUNT"])
    };
    cmd.arg(range.count);
    cmd
}

pub fn one_entry(key: &Name, id: EntryId) -> Cmd {
    let id = id.to_string();
    cmd(&[b"XRANGE", key.bytes(), id.as_bytes(), id.as_bytes()])
}

/// The TYPE option of SCAN needs 6.0. On older servers the type of each key is asked separately.
pub fn scan(request: &ScanRequest, with_type: bool) -> Cmd {
    let mut cmd = cmd(&[b"SCAN", request.cursor.as_bytes()]);
    if let Some(pattern) = &request.pattern {
        cmd.arg("MATCH").arg(pattern.bytes());
    }
    cmd.arg("COUNT").arg(500);
    if with_type {
        cmd.arg("TYPE").arg("stream");
    }
    cmd
}

pub fn key_type(key: &Name) -> Cmd {
    cmd(&[b"TYPE", key.bytes()])
}
