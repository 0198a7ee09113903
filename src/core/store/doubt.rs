//! Two replies of one moment that disagree on a count: neither is believed.

use crate::core::{id::EntryId, known::Known, model::GroupFacts, sample::GroupDetail};

/// XINFO GROUPS and XPENDING count the same list, and on every Redis and Valkey they agree. Another server is reported to send a time as
/// a count (docs/server-facts.md 12), and no bound distinguishes that from a true count.
pub(super) fn compare(groups: &mut [GroupFacts], details: &[GroupDetail]) {
    for detail in details {
        let Some(group) = groups.iter_mut().find(|group| group.name == detail.name) else { continue };
        let summed = detail.summary.iter().flatten().map(|summary| summary.total);
        let whole = detail
            .pages
            .iter()
            .filter(|(page, _)| page.consumer.is_none() && page.from == EntryId::MIN && page.to == EntryId::MAX);
        let listed = whole.filter_map(|(page, rows)| {
            let found = rows.as_ref().ok()?.len();
            (found < page.count).then_some(found as i64)
        });
        if summed.chain(listed).any(|count| Known::Is(count) != group.pending) {
            group.pending = Known::Contradictory;
        }
    }
}
