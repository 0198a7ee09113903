//! By the counters, a group read more entries than were ever added. Such a data set does not load on Redis 8.10 (docs/server-facts.md
//! 5.3).

use super::{About, Argv, Case, Level, Verdict};

pub(super) const ABOUT: About = About {
    id: "entries-read-ahead",
    levels: &[Level::Critical],
    says: "The group is said to have read more entries than were ever added: this data set does not load on Redis 8.10",
    cause: "a wrong ENTRIESREAD in XGROUP SETID or CREATE, or XSETID with a lower ENTRIESADDED",
    remedy: "move the cursor to where it is (m), without ENTRIESREAD, which forgets the count, before the server is restarted",
};

pub(super) fn judge(case: &Case) -> Verdict {
    let added = case.stream.facts.value.as_ref().and_then(|facts| facts.entries_added.value());
    match (case.group.facts.entries_read.value(), added) {
        // read at two moments, the stream may have grown in between; what was found at one moment stands until the next
        (Some(_), Some(_)) if case.stream.skewed && !case.fired(ABOUT) => Verdict::NotEnoughData,
        (Some(read), Some(added)) if read > added => {
            let text = format!(
                "entries-read is {read}, but only {added} were ever added: Redis 8.10 will not load this data set"
            );
            let check = Argv::of(&[b"XINFO", b"GROUPS", case.stream.key.bytes()]);
            ABOUT.finding(Level::Critical, text, check).with("entries_read", read).with("entries_added", added).into()
        }
        _ => Verdict::Ok,
    }
}
