//! Another server answers for a stream than before: a replica was promoted, or the server started again from its file. Replication and
//! files lag behind, so what was acknowledged or added last may be missing: it comes again, or is gone.

use super::{Store, StreamState, fold::Fold};
use crate::core::{
    event::Event,
    known::Known,
    model::{GroupFacts, LagFamily, ServerFacts, StreamFacts},
    sample::{Part, Reached},
    time::{Mono, Now},
    words::entries,
};

impl Store {
    /// Whether sentinels led to another server than before.
    pub(super) fn take_reached(&mut self, reached: Reached, now: Now) -> bool {
        let moved = self
            .reached
            .as_ref()
            .filter(|old| **old != reached)
            .map(|old| format!("a failover: {} is the master now, it was {}", reached.endpoint, old.endpoint));
        self.reached = Some(reached);
        let is_moved = moved.is_some();
        if let Some(text) = moved {
            self.tell(Event { wall_ms: now.wall_ms, id: "failover", stream: None, group: None, text });
        }
        is_moved
    }

    /// `moved`: it is another server than before.
    pub(super) fn take_server(&mut self, server: ServerFacts, at: Mono, moved: bool) {
        let started = |facts: &ServerFacts, at: Mono| Some((at.0 as i64).saturating_sub(facts.uptime_ms?));
        let began = self.server_began_ms;
        self.server_began_ms = started(&server, at).or(began);
        // the uptime is told in whole seconds
        let starts_again = began.zip(started(&server, at)).is_some_and(|(old, new)| new.saturating_sub(old) > 2000);
        if moved || (self.cluster.is_none() && starts_again) {
            self.starts += 1;
            self.is_other_server = moved;
        }
        let changed = self.server.role.is_some() && self.server.role != server.role;
        if changed {
            self.serves_since_ms = Some(at.0 as i64);
        } else if self.server.uptime_ms != server.uptime_ms {
            // a new connection: the server may have started again
            let started = server.uptime_ms.map(|ms| (at.0 as i64).saturating_sub(ms));
            self.serves_since_ms = self.serves_since_ms.max(started);
        }
        self.server = server;
    }
}

impl Fold<'_> {
    /// Whether another server answers for the stream than before. What it does not know any more is told.
    pub(super) fn take_over(
        &mut self,
        stream: &mut StreamState,
        node: Option<String>,
        facts: &Part<StreamFacts>,
        groups: &Part<Vec<GroupFacts>>,
    ) -> bool {
        let other_node = node.is_some() && stream.node.is_some() && node != stream.node;
        let is_first = stream.groups.is_empty() && stream.facts.value.is_none();
        let took_over = (other_node || stream.starts != self.store.starts) && !is_first;
        stream.starts = self.store.starts;
        stream.node = node.or(stream.node.take());
        if !took_over {
            return false;
        }
        let reached = self.store.reached.as_ref().filter(|_| self.store.is_other_server);
        let name = stream.node.as_deref().or(reached.map(|reached| reached.endpoint.as_str()));
        let how = name.map_or("the server started again".to_owned(), |name| format!("{name} took over"));
        if let (Ok(new), Some(old)) = (facts, &stream.facts.value)
            && new.last_generated < old.last_generated
        {
            let text = format!("entries after {} are gone: they were added before {how}", new.last_generated);
            self.tell("entries-lost", stream, None, text);
        }
        let family = self.store.server.lag_family();
        for new in groups.iter().flatten() {
            let Some(old) = stream.groups.get(&new.name) else { continue };
            let missing = missing_acknowledgements(&old.facts, new, family);
            if missing > 0 {
                let text = words(new, missing, &how);
                self.tell("acknowledgements-lost", stream, Some(&new.name), text);
            }
        }
        true
    }
}

/// How many acknowledgements are missing at least; 0 where that is not known.
///
/// Nothing but the loss of acknowledgements adds pending entries while the cursor does not move on. Where it moved on, or went back,
/// the counters of entries read tell: what was read and is not pending was acknowledged or discarded. On the servers of family A they
/// are not used, since they drift on replicas (docs/server-facts.md 9).
fn missing_acknowledgements(old: &GroupFacts, new: &GroupFacts, family: LagFamily) -> i64 {
    let (Known::Is(had), Known::Is(has)) = (old.pending, new.pending) else { return 0 };
    let more_pending = if new.cursor <= old.cursor { has.saturating_sub(had) } else { 0 };
    let settled = |facts: &GroupFacts| match (facts.entries_read, facts.pending) {
        (Known::Is(read), Known::Is(pending)) => Some(read.saturating_sub(pending)),
        _ => None,
    };
    let fewer_settled = match (family, settled(old), settled(new)) {
        (LagFamily::B | LagFamily::C, Some(before), Some(now)) => before.saturating_sub(now),
        _ => 0,
    };
    more_pending.max(fewer_settled).max(0)
}

/// The event's sentence.
fn words(group: &GroupFacts, missing: i64, how: &str) -> String {
    let (were, come) = if missing == 1 { ("was", "it comes") } else { ("were", "they come") };
    let pending = entries(missing);
    format!(
        "{}: at least {pending} of those pending now {were} acknowledged before {how}; {come} a second time",
        group.name
    )
}

#[cfg(test)]
#[path = "takeover_tests.rs"]
mod tests;
