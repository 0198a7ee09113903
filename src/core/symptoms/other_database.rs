//! Nothing happens here, and another database of the server holds keys: perhaps the producers or the consumers use that one. It is only a
//! question, so it is information.

use super::{About, Argv, Finding, Level, ServerCase};
use crate::core::{
    id::EntryId,
    known::Known,
    store::{RowState, StreamState},
    words::count,
};

pub(super) const ABOUT: About = About {
    id: "other-database",
    levels: &[Level::Info],
    says: "No stream here has both entries and a group, and another database of the server holds keys",
    cause: "a connection string names another database number, or the number is ignored",
    remedy: "look into the other database (-n), and compare the database numbers of producers and consumers",
};

pub(super) fn judge(case: &ServerCase) -> Option<Finding> {
    // a cluster has one database
    if case.is_cluster || !case.is_searched {
        return None;
    }
    let (_, condition) = case.conditions.nodes().next()?;
    let databases = condition.databases.value.as_ref()?;
    let others: Vec<_> = databases.iter().filter(|other| other.number != case.database && other.keys > 0).collect();
    let fullest = others.iter().max_by_key(|other| other.keys)?;
    if case.streams.clone().any(|stream| stream.state == RowState::Loading) {
        return None;
    }
    let unused = case.streams.clone().all(never_had_an_entry);
    let apart = !case
        .streams
        .clone()
        .any(|stream| !stream.groups.is_empty() && stream.facts.value.as_ref().is_some_and(|facts| facts.length > 0));
    if !unused && !apart {
        return None;
    }
    let here = if unused { "no stream here ever had an entry" } else { "no stream here has both entries and a group" };
    let more = match others.len() - 1 {
        0 => String::new(),
        n => format!("; {n} more {} keys", if n == 1 { "holds" } else { "hold" }),
    };
    let text = format!(
        "{here} (database {}), and database {} holds {}{more}",
        case.database,
        fullest.number,
        count(fullest.keys, "key", "keys")
    );
    Some(
        ABOUT
            .finding(Level::Info, text, Argv::of(&[b"INFO", b"keyspace"]))
            .with("database", case.database)
            .with("other_database", fullest.number)
            .with("keys", fullest.keys),
    )
}

/// Before 7.0 nothing counts additions: there the last id tells.
fn never_had_an_entry(stream: &StreamState) -> bool {
    stream.facts.value.as_ref().is_none_or(|facts| match facts.entries_added {
        Known::Is(added) => added == 0,
        _ => facts.length == 0 && facts.last_generated == EntryId::MIN,
    })
}
