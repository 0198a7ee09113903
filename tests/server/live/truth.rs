//! The true state of a group at one moment, and what a lag may report about it.

use pelwatch::core::{
    id::EntryId,
    lag::{Lag, LagKind},
    model::LagFamily,
};

use super::{entries, group_fields, id, number};
use pelwatch::testing::{FoundServer, TestServer};

#[derive(Clone, Copy, Debug)]
pub struct Truth {
    /// Entries after the cursor, counted.
    pub waiting: i64,
    pub length: i64,
    /// Whether the server's own numbers are possible at all.
    pub usable: bool,
    pub reported: Option<i64>,
    pub beyond_end: bool,
    pub has_lag: bool,
}

impl Truth {
    /// Reads the truth with plain commands; `None` if there is no such group.
    pub fn ask(server: &TestServer, found: &FoundServer, group: &str) -> Option<Self> {
        Self::of(server, found, group, &entries(server))
    }

    /// Like `ask`, with the entries already known.
    pub fn of(server: &TestServer, found: &FoundServer, group: &str, entries: &[EntryId]) -> Option<Self> {
        let group = group_fields(server, group)?;
        let stream: super::Fields = redis::from_redis_value(server.run("XINFO STREAM k")).expect("fields");
        let cursor = id(&group, "last-delivered-id");
        let length = entries.len() as i64;
        let reported = number(&group, "lag");
        let counted = number(&group, "entries-read")
            .is_none_or(|read| number(&stream, "entries-added").is_some_and(|n| read <= n));
        Some(Self {
            waiting: entries.iter().filter(|id| **id > cursor).count() as i64,
            length,
            usable: counted && reported.is_some_and(|n| (1..length).contains(&n)),
            reported,
            beyond_end: cursor > id(&stream, "last-generated-id"),
            has_lag: found.compat() >= (7, 0, 0),
        })
    }
}

/// Compares a lag with the truth. Nothing may be wrong, and the lag may not say less than the rules allow. `counted` means that all
/// entries past the cursor were within reach of a count.
///
/// # Errors
/// The rule that was broken.
pub fn judge(lag: &Lag, truth: &Truth, family: LagFamily, counted: bool) -> Result<(), &'static str> {
    let sure = |right: bool, what| if right { Ok(()) } else { Err(what) };
    sure(lag.reported == truth.reported, "the server's own word is kept beside it")?;
    sure(lag.beyond_end == truth.beyond_end, "a cursor beyond the end is told")?;
    let value = || lag.value.ok_or("a number is there");
    match lag.kind {
        LagKind::Exact => sure(value()? == truth.waiting, "exact is never wrong"),
        LagKind::AtLeast => sure(value()? <= truth.waiting, "at least holds"),
        LagKind::AtMost => sure(value()? >= truth.waiting, "at most holds"),
        LagKind::Reported => sure(lag.value == truth.reported, "reported is the server's number"),
        LagKind::Unknown | LagKind::Unsupported => sure(lag.value.is_none(), "unknown has no number"),
    }?;
    if truth.beyond_end {
        return sure(lag.kind == LagKind::Unknown || truth.length == 0, "nobody who skips entries is caught up");
    }
    let by_position = truth.waiting == 0 || truth.waiting == truth.length;
    if by_position || counted {
        return sure(lag.kind == LagKind::Exact, "what position or count can tell is exact");
    }
    let enough = match (lag.kind, truth.usable, family) {
        // exact, a count that stopped early, or the number of a server that may drift
        (LagKind::Exact, ..)
        | (LagKind::AtLeast, false, _)
        | (LagKind::Reported, true, LagFamily::A | LagFamily::Unknown) => true,
        (LagKind::AtMost, false, _) => truth.has_lag,
        (LagKind::Unsupported, false, _) => !truth.has_lag,
        _ => false,
    };
    sure(enough, "as much is said as can be known")
}
