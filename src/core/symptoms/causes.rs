//! Where several checks fire for one reason, the cause leads and the others stand below it, named as its "also".

use super::{Finding, Level};
use std::cmp::Reverse;

/// A cause and what it explains.
struct Rule {
    cause: &'static str,
    effects: &'static [&'static str],
    /// What both must have in common.
    shares: Shares,
}

enum Shares {
    /// The group: one cause for all of it.
    Group,
    /// At least half of the effect's entries.
    Entries,
    /// The consumer.
    Consumer,
}

/// The first cause that fits an effect takes it.
const RULES: &[Rule] = &[
    Rule { cause: "poison", effects: &["claim-ping-pong", "redelivered"], shares: Shares::Entries },
    Rule { cause: "claim-ping-pong", effects: &["redelivered"], shares: Shares::Entries },
    Rule { cause: "never-acked", effects: &["hot-consumer", "leftovers"], shares: Shares::Consumer },
    Rule { cause: "claimed", effects: &["hot-consumer", "leftovers"], shares: Shares::Consumer },
    Rule { cause: "reads-history", effects: &["redelivered", "poison"], shares: Shares::Consumer },
    Rule { cause: "reads-history", effects: &["falling-behind"], shares: Shares::Group },
    Rule { cause: "no-reader", effects: &["tail-held", "falling-behind"], shares: Shares::Group },
    Rule { cause: "tail-held", effects: &["falling-behind", "no-consumers"], shares: Shares::Group },
];

impl Rule {
    fn explains(&self, cause: &Finding, effect: &Finding) -> bool {
        if cause.id != self.cause || !self.effects.contains(&effect.id) {
            return false;
        }
        match self.shares {
            Shares::Group => true,
            Shares::Consumer => cause.consumer.is_some() && cause.consumer == effect.consumer,
            Shares::Entries => {
                let common = effect.entries.iter().filter(|id| cause.entries.contains(id)).count();
                common > 0 && common * 2 >= effect.entries.len()
            }
        }
    }
}

/// Orders findings: the worst first, each cause directly before what it explains. A cause stands as high as the worst that it explains.
pub(super) fn order(mut findings: Vec<Finding>) -> Vec<Finding> {
    findings.sort_by_key(|finding| Reverse(finding.level));
    let leader: Vec<Option<usize>> = findings
        .iter()
        .map(|effect| RULES.iter().find_map(|rule| findings.iter().position(|cause| rule.explains(cause, effect))))
        .collect();
    // a cause may be explained itself
    let lead = |mut index: usize| {
        for _ in 0..findings.len() {
            let Some(next) = leader[index] else { break };
            index = next;
        }
        index
    };
    let leads: Vec<usize> = (0..findings.len()).map(lead).collect();
    let worst = |lead: usize| (0..findings.len()).filter(|at| leads[*at] == lead).map(|at| findings[at].level).max();
    let mut rows: Vec<(Reverse<Option<Level>>, usize, bool, usize)> =
        leads.iter().enumerate().map(|(at, lead)| (Reverse(worst(*lead)), *lead, at != *lead, at)).collect();
    rows.sort_unstable();
    let led = |at: usize| leads.iter().enumerate().filter(move |(other, lead)| **lead == at && *other != at);
    let also: Vec<Vec<&'static str>> =
        (0..findings.len()).map(|at| led(at).map(|(other, _)| findings[other].id).collect()).collect();
    for (finding, also) in findings.iter_mut().zip(also) {
        finding.also = also;
    }
    let mut slots: Vec<Option<Finding>> = findings.into_iter().map(Some).collect();
    rows.into_iter().filter_map(|(.., at)| slots[at].take()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::{command::Argv, id::EntryId, name::Name, symptoms::About};

    fn finding(id: &'static str, level: Level, consumer: Option<&str>, entries: &[u64]) -> Finding {
        let about = About { id, levels: &[], says: "", cause: "", remedy: "" };
        let entries = entries.iter().map(|ms| EntryId::new(*ms, 0));
        about.finding(level, "", Argv::of(&[b"PING"])).about(consumer.map(Name::from)).of_entries(entries)
    }

    fn ids(findings: &[Finding]) -> Vec<(&'static str, &[&'static str])> {
        findings.iter().map(|finding| (finding.id, finding.also.as_slice())).collect()
    }

    #[test]
    fn poison_leads_when_the_same_entries_are_meant() {
        let all = vec![
            finding("redelivered", Level::Warn, None, &[1, 2]),
            finding("claim-ping-pong", Level::Warn, None, &[1]),
            finding("poison", Level::Warn, None, &[1]),
        ];
        let expected: &[_] =
            &[("poison", &["redelivered", "claim-ping-pong"][..]), ("redelivered", &[]), ("claim-ping-pong", &[])];
        assert_eq!(ids(&order(all)), expected);
        let apart =
            vec![finding("redelivered", Level::Warn, None, &[3, 4, 5]), finding("poison", Level::Warn, None, &[1])];
        assert_eq!(ids(&order(apart)), [("redelivered", &[][..]), ("poison", &[])]);
    }

    #[test]
    fn a_cause_stands_as_high_as_what_it_explains() {
        let all = vec![
            finding("holder-gone", Level::Warn, Some("a"), &[]),
            finding("tail-held", Level::Critical, None, &[]),
            finding("no-reader", Level::Info, None, &[]),
            finding("falling-behind", Level::Warn, None, &[]),
        ];
        let ordered = order(all);
        let expected: &[_] = &[
            ("no-reader", &["tail-held", "falling-behind"][..]),
            ("tail-held", &[]),
            ("falling-behind", &[]),
            ("holder-gone", &[]),
        ];
        assert_eq!(ids(&ordered), expected);
    }

    #[test]
    fn never_acked_explains_the_hot_consumer_that_acknowledges_nothing() {
        let hot = |name| finding("hot-consumer", Level::Warn, Some(name), &[]);
        let never = || finding("never-acked", Level::Warn, Some("a"), &[]);
        assert_eq!(order(vec![hot("a"), never()])[0].id, "never-acked");
        assert_eq!(order(vec![hot("b"), never()])[0].also, Vec::<&str>::new());
    }
}
