//! Small facts about a group that one sample tells: forgotten consumers, released entries, nobody reading, counters that will not
//! load.

use super::{About, Case, Finding, Level, Verdict, entries, idle_now, words};

/// A consumer without entries that was not seen for so long is left over, in milliseconds.
const LEFT_OVER_MS: i64 = 86_400_000;
/// Fewer left-over consumers are nobody's concern.
const LEFT_OVER: usize = 20;

/// The row of the documentation.
pub(super) const CHURN: About = About {
    id: "consumer-churn",
    levels: &[Level::Info],
    says: "Many consumers hold nothing and were not seen for over a day (told from 7.2 on)",
    cause: "consumers are named after processes or pods, and nobody deletes the names of those that ended",
    remedy: "give workers stable names, or delete consumers that hold nothing; deleting one that holds entries loses them",
};

/// The row of the documentation.
pub(super) const UNOWNED: About = About {
    id: "unowned",
    levels: &[Level::Info],
    says: "Pending entries are held by nobody",
    cause: "a consumer gave them back with XNACK (8.8+)",
    remedy: "a consumer has to claim them, or to read with CLAIM; they are claimed whatever the min-idle says",
};

/// The row of the documentation.
pub(super) const NO_CONSUMERS: About = About {
    id: "no-consumers",
    levels: &[Level::Info],
    says: "Entries wait and the server knows no consumer of the group",
    cause: "nobody started to read, or (up to 7.0) readers wait that have got nothing so far",
    remedy: "start a consumer, or destroy the group if nobody needs it",
};

/// The row of the documentation.
pub(super) const READ_AHEAD: About = About {
    id: "entries-read-ahead",
    levels: &[Level::Critical],
    says: "The group is said to have read more entries than were ever added: this data set does not load on Redis 8.10",
    cause: "a wrong ENTRIESREAD in XGROUP SETID or CREATE, or XSETID with a lower ENTRIESADDED",
    remedy: "move the cursor to where it is without ENTRIESREAD (XGROUP SETID), which forgets the count, before the server is restarted",
};

fn one(
    about: About,
    level: Level,
    text: String,
    evidence: Vec<(&'static str, i64)>,
    check: Vec<crate::core::name::Name>,
) -> Verdict {
    Verdict::Found(vec![Finding {
        id: about.id,
        level,
        consumer: None,
        text,
        evidence,
        cause: about.cause,
        check,
        remedy: about.remedy,
    }])
}

fn group_words(case: &Case, command: &[u8]) -> Vec<crate::core::name::Name> {
    words(&[b"XINFO", command, case.stream.key.bytes(), case.group.name().bytes()])
}

pub(super) fn churn(case: &Case) -> Verdict {
    let group = case.group;
    let Some(consumers) = &group.consumers else { return Verdict::NotEnoughData };
    // before 7.2 idle counts from the last success, so that a quiet stream makes everybody look left over (case 05)
    if !case.idle_is_attempt {
        return Verdict::Ok;
    }
    let left = consumers
        .iter()
        .filter(|one| one.pending == 0 && idle_now(group, one.idle_ms, case.now.mono) > LEFT_OVER_MS)
        .count();
    // 7.2 cannot tell a reader that blocks for ever from one that is gone, unless others are seen
    if left < LEFT_OVER {
        return Verdict::Ok;
    }
    let text = format!("{left} of {} consumers hold nothing and were not seen for over a day", consumers.len());
    one(
        CHURN,
        Level::Info,
        text,
        vec![("left_over", left as i64), ("consumers", consumers.len() as i64)],
        group_words(case, b"CONSUMERS"),
    )
}

pub(super) fn unowned(case: &Case) -> Verdict {
    match case.group.unowned() {
        None => Verdict::NotEnoughData,
        Some(0) => Verdict::Ok,
        Some(n) => {
            let verb = if n == 1 { "is" } else { "are" };
            let text = format!(
                "{} of {} pending {verb} held by nobody: released, and not taken so far",
                entries(n),
                case.group.facts.pending
            );
            let check = words(&[b"XPENDING", case.stream.key.bytes(), case.group.name().bytes(), b"-", b"+", b"10"]);
            one(UNOWNED, Level::Info, text, vec![("unowned", n), ("pending", case.group.facts.pending)], check)
        }
    }
}

pub(super) fn no_consumers(case: &Case) -> Verdict {
    let waiting = case.group.lag.value.filter(|n| *n > 0);
    let (0, Some(waiting)) = (case.group.facts.consumers, waiting) else { return Verdict::Ok };
    let text = format!("{} entries wait and the server knows no consumer of this group", case.group.lag.text());
    one(NO_CONSUMERS, Level::Info, text, vec![("lag", waiting), ("consumers", 0)], group_words(case, b"CONSUMERS"))
}

pub(super) fn read_ahead(case: &Case) -> Verdict {
    let added = case.stream.facts.as_ref().and_then(|facts| facts.entries_added.value());
    match (case.group.facts.entries_read.value(), added) {
        // between two moments the stream may have grown; what was found at one moment stands until the next
        (Some(_), Some(_)) if case.stream.apart && !case.group.firing.contains_key(READ_AHEAD.id) => {
            Verdict::NotEnoughData
        }
        (Some(read), Some(added)) if read > added => {
            let text = format!(
                "entries-read is {read}, but only {added} were ever added: Redis 8.10 will not load this data set"
            );
            let check = words(&[b"XINFO", b"GROUPS", case.stream.key.bytes()]);
            one(READ_AHEAD, Level::Critical, text, vec![("entries_read", read), ("entries_added", added)], check)
        }
        _ => Verdict::Ok,
    }
}
