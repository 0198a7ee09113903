//! Streams and groups that went away, and what is said of them.

use super::{Duplicates, LostGroups, RowState, StreamState, TimeToLive, Trims, fold::Fold};
use crate::core::{
    name::Name,
    sample::Fault,
    strip::Window,
    words::{count, entries},
};

/// A key that vanished with this much of its time to live left, in milliseconds, ran out: a reply takes time.
const AT_END_MS: i64 = 500;

impl Fold<'_> {
    pub(super) fn lose_stream(&mut self, stream: &mut StreamState, fault: Fault) {
        if stream.is_ok() && matches!(fault, Fault::Missing | Fault::WrongType) {
            let told = |number: Option<i64>| number.map_or("an unknown number".to_owned(), |number| number.to_string());
            let (held, unread) = (told(stream.pending()), told(stream.waiting()));
            let length = stream.facts.value.as_ref().map_or(0, |facts| facts.length);
            let had = format!(
                "{}, {}, {held} pending and {unread} unread",
                entries(length),
                count(stream.groups.len() as i64, "group", "groups")
            );
            let expired = fault == Fault::Missing && stream.ttl.left_ms(self.at).is_some_and(|left| left <= AT_END_MS);
            if expired {
                let text = format!("{} is gone: its time to live ran out. It had {had}", stream.key);
                self.tell("expired", stream, None, text);
            } else {
                let text = format!("{} is gone ({}). It had {had}", stream.key, fault.words());
                self.tell("stream-lost", stream, None, text);
                self.count_lost_groups(stream.groups.len());
                self.store.conditions.vanished = Some((self.at, stream.key.clone()));
            }
            for name in stream.groups.keys().cloned().collect::<Vec<_>>() {
                self.lose_group(stream, &name);
            }
        }
        if !matches!(fault, Fault::Other(_) | Fault::Away(_) | Fault::Elsewhere { .. }) {
            stream.groups.clear();
            stream.window = Window::default();
            stream.trims = Trims::default();
            stream.ttl = TimeToLive::default();
            stream.duplicates = Duplicates::default();
        }
        stream.state = RowState::Fault(fault);
    }

    pub(super) fn count_lost_groups(&mut self, groups: usize) {
        if groups > 0 {
            let before = self.store.lost_groups.map_or(0, |lost| lost.groups);
            self.store.lost_groups = Some(LostGroups { groups: before + groups as i64, at_ms: self.now.wall_ms });
        }
    }

    pub(super) fn lose_group(&mut self, stream: &mut StreamState, name: &Name) {
        let Some(group) = stream.groups.remove(name) else { return };
        let text = format!(
            "group {} of {} is gone; it stood at {} with {} pending",
            name,
            stream.key,
            group.facts.cursor,
            group.facts.pending.value().map_or("an unknown number".to_owned(), |pending| pending.to_string())
        );
        self.tell("group-lost", stream, Some(name), text);
    }
}
