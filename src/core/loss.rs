//! Entries that were removed from a stream before a group read them.

use super::{
    id::EntryId,
    lag::Drift,
    model::{GroupFacts, LagFamily, StreamFacts},
};

/// How sure the number is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LossKind {
    Exact,
    /// More may be lost: only a part was seen to go, or what was seen is some time ago.
    AtLeast,
    /// The server's counters may be off.
    AtMost,
}

impl LossKind {
    /// The word in JSON.
    pub fn word(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::AtLeast => "at_least",
            Self::AtMost => "at_most",
        }
    }
}

/// Entries lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Loss {
    pub entries: i64,
    pub kind: LossKind,
}

impl Loss {
    /// The number with its sign: `45`, `≥45`, `≤45`.
    pub fn text(self) -> String {
        let sign = match self.kind {
            LossKind::Exact => "",
            LossKind::AtLeast => "≥",
            LossKind::AtMost => "≤",
        };
        format!("{sign}{}", self.entries)
    }

    /// The number with its bound in words.
    pub fn words(self) -> String {
        match self.kind {
            LossKind::Exact => self.entries.to_string(),
            LossKind::AtLeast => format!("at least {}", self.entries),
            LossKind::AtMost => format!("at most {}", self.entries),
        }
    }

    /// What is still proven after a sample that proves nothing new: the number was true once, and more may be gone since.
    pub fn remembered(self) -> Option<Self> {
        (self.kind != LossKind::AtMost).then_some(Self { kind: LossKind::AtLeast, ..self })
    }

    /// The better of what was known and what a new sample proves.
    pub fn renewed(old: Option<Self>, new: Option<Self>) -> Option<Self> {
        match (old.and_then(Self::remembered), new) {
            (Some(old), Some(new)) if new.kind == LossKind::AtMost || new.entries < old.entries => Some(old),
            (old, new) => new.or(old),
        }
    }

    /// Together with what was lost at older cursors.
    pub fn and_before(self, before: i64) -> Self {
        match before {
            0 => self,
            _ => Self { entries: self.entries.saturating_add(before), kind: LossKind::AtLeast },
        }
    }

    /// Adds entries that were seen to go between two samples.
    pub fn grown(old: Option<Self>, more: i64) -> Option<Self> {
        let known = old.and_then(Self::remembered).map_or(0, |old| old.entries);
        (more > 0).then_some(Self { entries: known.saturating_add(more), kind: LossKind::AtLeast }).or(old)
    }
}

/// What the counters prove: entries-added minus entries-read minus length, while everything retained is ahead of the cursor and something
/// was there to read. A result of 0 or less proves nothing. Of an emptied stream the counters of family A give only a bound, unless they are
/// known not to be off. `known` is what was known before: counters of family A never forget a loss, so they also tell once the cursor is at
/// the end of an emptied stream, and what they add to a proven loss is proven as well.
pub fn by_counters(
    stream: &StreamFacts,
    group: &GroupFacts,
    family: LagFamily,
    drift: Drift,
    known: Option<Loss>,
) -> Option<Loss> {
    let emptied = stream.first.is_none();
    let ahead = stream.first.map_or(group.cursor < stream.last_generated, |first| group.cursor < first);
    if !(ahead || emptied && known.is_some()) {
        return None;
    }
    // numbers set by hand can be too far apart to subtract: they prove nothing
    let lost = stream.entries_added.value()?.checked_sub(group.entries_read_known()?)?.checked_sub(stream.length)?;
    // a drift that was measured on an emptied stream is itself what was lost
    let drifts = matches!(family, LagFamily::A | LagFamily::Unknown) && emptied && drift != Some(0);
    let kind = match known.and_then(Loss::remembered) {
        Some(proven) if drifts && lost >= proven.entries => LossKind::AtLeast,
        _ if drifts => LossKind::AtMost,
        _ => LossKind::Exact,
    };
    (lost > 0).then_some(Loss { entries: lost, kind })
}

/// What was proven lost at the cursor of an older sample (`before`) and is no part of what the counters prove now, because the group has
/// read past it since. On families B and C the count of entries read then takes the gap as read; on A the counters keep it.
pub fn passed(before: (&StreamFacts, &GroupFacts), group: &GroupFacts, family: LagFamily) -> i64 {
    let (old_stream, old) = before;
    let forgets = matches!(family, LagFamily::B | LagFamily::C) && group.cursor > old.cursor;
    let lost = by_counters(old_stream, old, family, None, None).filter(|_| forgets).map_or(0, |loss| loss.entries);
    let counted_as_read = match (old.entries_read_known(), group.entries_read_known()) {
        (Some(old), Some(now)) => now.checked_sub(old).is_some_and(|more| more > lost),
        _ => false,
    };
    if counted_as_read { lost } else { 0 }
}

/// How many entries are known to have left the stream unread between two samples of it: `waiting` are the ids seen in the older one. The
/// newest entry added since counts, too, if it is gone already.
pub fn between(
    waiting: impl Iterator<Item = EntryId>,
    before: &StreamFacts,
    stream: &StreamFacts,
    group: &GroupFacts,
) -> i64 {
    let seen = waiting.filter(|id| *id > group.cursor && stream.first.is_none_or(|first| *id < first)).count() as i64;
    let newest = stream.last_generated;
    let came_and_went = newest > before.last_generated && newest > group.cursor && stream.last != Some(newest);
    seen.saturating_add(i64::from(came_and_went))
}

/// The last entry ever added, if the stream is empty and the group has not read it. A group that stands at the beginning may be newer
/// than the entries.
pub fn unread_end(stream: &StreamFacts, group: &GroupFacts) -> Option<EntryId> {
    let ahead = stream.first.is_none() && group.cursor > EntryId::MIN && group.cursor < stream.last_generated;
    ahead.then_some(stream.last_generated)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::known::Known;

    fn id(ms: u64) -> EntryId {
        EntryId::new(ms, 0)
    }

    fn stream(first: Option<u64>, added: Known<i64>) -> StreamFacts {
        StreamFacts {
            length: if first.is_some() { 5 } else { 0 },
            first: first.map(id),
            last_generated: id(20),
            entries_added: added,
            ..StreamFacts::empty()
        }
    }

    fn group(cursor: u64, read: Known<i64>) -> GroupFacts {
        GroupFacts { cursor: id(cursor), entries_read: read, ..GroupFacts::fresh("g") }
    }

    #[test]
    fn loss_is_told_only_where_the_counters_prove_it() {
        let (is, none) = (Known::Is, Known::Undetermined);
        let lost = |stream, group| by_counters(&stream, &group, LagFamily::C, None, None).map(|loss| loss.entries);
        let table = [
            ("two are missing", lost(stream(Some(8), is(12)), group(5, is(5))), Some(2)),
            ("none is missing", lost(stream(Some(8), is(10)), group(5, is(5))), None),
            ("counters that contradict each other", lost(stream(Some(8), is(9)), group(5, is(5))), None),
            ("the cursor is at the first entry", lost(stream(Some(8), is(12)), group(8, is(5))), None),
            ("the cursor is past it", lost(stream(Some(8), is(12)), group(9, is(5))), None),
            ("an emptied stream", lost(stream(None, is(12)), group(5, is(5))), Some(7)),
            ("an emptied stream that was read to its end", lost(stream(None, is(12)), group(20, is(5))), None),
            ("a count that was forgotten", lost(stream(Some(8), is(12)), group(5, none)), None),
            ("a server that does not count", lost(stream(Some(8), Known::Unsupported), group(5, is(5))), None),
            ("numbers too far apart", lost(stream(Some(8), is(i64::MAX)), group(5, is(-1))), None),
        ];
        for (what, found, expected) in table {
            assert_eq!(found, expected, "{what}");
        }
    }

    #[test]
    fn of_an_emptied_stream_drifting_counters_give_a_bound() {
        let (stream, group) = (stream(None, Known::Is(60)), group(5, Known::Is(15)));
        let lost = |family, drift| by_counters(&stream, &group, family, drift, None);
        let loss = |kind| Some(Loss { entries: 45, kind });
        for (family, drift, kind) in [
            (LagFamily::A, None, LossKind::AtMost),
            (LagFamily::A, Some(45), LossKind::AtMost),
            (LagFamily::A, Some(0), LossKind::Exact),
            (LagFamily::B, None, LossKind::Exact),
            (LagFamily::C, None, LossKind::Exact),
        ] {
            assert_eq!(lost(family, drift), loss(kind), "{family:?} {drift:?}");
        }
    }

    #[test]
    fn a_bound_stays_when_the_group_has_read_to_the_end_of_an_emptied_stream() {
        let (stream, group) = (stream(None, Known::Is(60)), group(20, Known::Is(15)));
        let loss = |entries, kind| Some(Loss { entries, kind });
        let (most, least) = (LossKind::AtMost, LossKind::AtLeast);
        let lost = |known| by_counters(&stream, &group, LagFamily::A, None, known);
        assert_eq!((lost(None), lost(loss(45, most))), (None, loss(45, most)));
        // what comes on top of a proven loss is proven; counters that show less than was proven are off
        let grown = [LossKind::Exact, least].map(|kind| lost(loss(41, kind)));
        assert_eq!(grown, [loss(45, least); 2]);
        assert_eq!(lost(loss(46, least)), loss(45, most));
    }

    #[test]
    fn a_gap_that_was_read_past_is_added_where_the_counters_forget_it() {
        let (stream, before) = (stream(Some(8), Known::Is(12)), group(5, Known::Is(5)));
        let passed = |cursor, read, family| passed((&stream, &before), &group(cursor, read), family);
        for (what, found, expected) in [
            ("read on, B", passed(8, Known::Is(8), LagFamily::B), 2),
            ("read on, C", passed(9, Known::Is(9), LagFamily::C), 2),
            ("family A keeps it", passed(8, Known::Is(6), LagFamily::A), 0),
            ("the cursor stands", passed(5, Known::Is(8), LagFamily::C), 0),
            ("the gap is not counted as read", passed(8, Known::Is(7), LagFamily::C), 0),
            ("the cursor was moved by hand", passed(8, Known::Undetermined, LagFamily::C), 0),
        ] {
            assert_eq!(found, expected, "{what}");
        }
    }

    #[test]
    fn what_was_proven_stays_as_a_lower_bound() {
        let exact = |entries| Some(Loss { entries, kind: LossKind::Exact });
        let least = |entries| Some(Loss { entries, kind: LossKind::AtLeast });
        let most = |entries| Some(Loss { entries, kind: LossKind::AtMost });
        let table = [
            (None, None, None),
            (exact(2), None, least(2)),
            (exact(2), exact(5), exact(5)),
            (exact(5), exact(2), least(5)),
            (exact(2), most(9), least(2)),
            (None, most(9), most(9)),
            (most(9), None, None),
        ];
        for (old, new, expected) in table {
            assert_eq!(Loss::renewed(old, new), expected, "{old:?} {new:?}");
        }
        assert_eq!((Loss::grown(None, 0), Loss::grown(least(2), 3), Loss::grown(None, 4)), (None, least(5), least(4)));
    }

    #[test]
    fn entries_seen_waiting_that_left_the_front_are_counted() {
        let seen = || (1..=10).map(id);
        let at = |cursor| group(cursor, Known::Unsupported);
        let stream = |first| StreamFacts { last: Some(id(20)), ..stream(first, Known::Unsupported) };
        let lost = |now: &StreamFacts, cursor| between(seen(), &stream(Some(1)), now, &at(cursor));
        assert_eq!((lost(&stream(Some(8)), 3), lost(&stream(None), 3), lost(&stream(Some(2)), 3)), (4, 7, 0));
        // one more came and went between the two samples
        let newer = StreamFacts { last: None, last_generated: id(21), ..stream(None) };
        assert_eq!((lost(&newer, 3), lost(&newer, 21)), (8, 0));
        // the last one that was seen is counted once
        let emptied = StreamFacts { last: None, ..stream(None) };
        assert_eq!(lost(&emptied, 3), 7);
    }

    #[test]
    fn the_last_entry_of_an_emptied_stream_is_unread_only_behind_a_cursor_that_moved() {
        let end = |first, cursor| unread_end(&stream(first, Known::Unsupported), &group(cursor, Known::Unsupported));
        let found = [(None, 5), (None, 19), (None, 20), (None, 21), (None, 0), (Some(8), 5)];
        assert_eq!(
            found.map(|(first, cursor)| end(first, cursor)),
            [Some(id(20)), Some(id(20)), None, None, None, None]
        );
    }

    #[test]
    fn each_kind_has_the_word_of_the_json() {
        let kinds = [LossKind::Exact, LossKind::AtLeast, LossKind::AtMost];
        assert_eq!(kinds.map(LossKind::word), ["exact", "at_least", "at_most"]);
    }
}
