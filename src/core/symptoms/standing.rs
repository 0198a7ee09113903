//! How long a finding stands, and at which level: nothing goes up and down from tick to tick.

use super::{
    Finding, FindingKey, Level,
    hold::{self, After},
};
use crate::core::time::{Mono, Now, age_words, rfc3339, utc_clock};
use std::collections::BTreeMap;

/// A level stays until its condition was untrue for this long, in milliseconds.
const HOLD_MS: u64 = 60_000;

/// One finding over time.
#[derive(Clone, Debug)]
struct Standing {
    /// When it began by the facts, else when it was first seen, in Unix milliseconds.
    since_ms: i64,
    /// Since when it fires without a break; `None` while it does not.
    grows_since: Option<Mono>,
    /// Its level is due to how long it has lasted.
    by_age: bool,
    /// Its check could not tell when it was last asked.
    unknown: bool,
    /// The level that is held, and when its condition was last true.
    level: Level,
    reached: Mono,
    /// The highest level so far.
    highest: Level,
    /// When it last fired, on both clocks.
    fired: Now,
    /// As it was then, if it is worth more than a note.
    last: Option<Box<Finding>>,
}

/// What the user knows already.
#[derive(Clone, Copy, Debug)]
struct MarkedKnown {
    until_ms: i64,
    /// A higher level than this one is news.
    level: Level,
}

/// What became of a finding. What is only information makes no event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Change {
    /// The kind of event.
    pub(super) event: &'static str,
    /// As a sentence.
    pub(super) text: String,
}

/// The findings of one group or stream over time, by id and consumer.
#[derive(Clone, Debug, Default)]
pub(super) struct Standings {
    standings: BTreeMap<FindingKey, Standing>,
    known: BTreeMap<FindingKey, MarkedKnown>,
}

impl Standings {
    /// Gives each finding its beginning and the level that it holds. One that did not fire for the time that a level is held starts again;
    /// until then it is added in the past tense, if `after` says so. Returns what changed.
    pub(super) fn follow(
        &mut self,
        findings: &mut Vec<Finding>,
        now: Now,
        after: impl Fn(&Finding, Mono) -> After,
    ) -> Vec<Change> {
        let mut changes = self.end(now);
        for finding in findings.iter_mut() {
            changes.extend(self.take(finding, now));
        }
        let fired: Vec<FindingKey> = findings.iter().map(Finding::key).collect();
        for (id, standing) in &mut self.standings {
            if fired.contains(id) {
                continue;
            }
            let Some(last) = standing.last.take() else {
                standing.grows_since = None;
                continue;
            };
            let after = after(&last, standing.fired.mono);
            if after == After::NotLooked {
                standing.fired = now;
                findings.push((*last).clone());
                standing.last = Some(last);
                continue;
            }
            standing.unknown = after == After::Unknown;
            if !standing.unknown {
                standing.grows_since = None;
            }
            // once refuted it does not come back by itself
            if after != After::Refuted {
                findings.push(past(&last, standing, now));
                standing.last = Some(last);
            }
        }
        self.known.retain(|_, known| now.wall_ms < known.until_ms);
        for finding in findings {
            let key = finding.key();
            let aged = self.standings.get(&key).is_some_and(|standing| standing.by_age);
            let known = self.known.get(&key).filter(|known| finding.level <= known.level || aged);
            finding.known_until_ms = known.map(|known| known.until_ms);
        }
        changes
    }

    /// Marks a finding as known until then, or takes the mark back; false if there is no such finding.
    pub(super) fn mark_known(&mut self, finding: &Finding, until_ms: Option<i64>) -> bool {
        let id = finding.key();
        if !self.standings.contains_key(&id) {
            return false;
        }
        match until_ms {
            Some(until_ms) => self.known.insert(id, MarkedKnown { until_ms, level: finding.level }),
            None => self.known.remove(&id),
        };
        true
    }

    /// Forgets what did not fire for long.
    fn end(&mut self, now: Now) -> Vec<Change> {
        let mut changes = Vec::new();
        self.standings.retain(|(id, consumer), standing| {
            let stays = now.mono.since(standing.fired.mono) <= HOLD_MS;
            if !stays && standing.highest > Level::Info {
                let of = consumer.as_ref().map_or(String::new(), |consumer| format!(" of {consumer}"));
                let (since, last) = (rfc3339(standing.since_ms), rfc3339(standing.fired.wall_ms));
                let ended = if standing.unknown { "is not known any more" } else { "ended" };
                let text =
                    format!("{id}{of} {ended}: seen from {since} to {last}, {} at most", standing.highest.word());
                changes.push(Change { event: "finding-cleared", text });
            }
            stays
        });
        changes
    }

    /// A finding that fires now.
    fn take(&mut self, finding: &mut Finding, now: Now) -> Option<Change> {
        let at = now.mono;
        let new = Standing {
            since_ms: now.wall_ms,
            grows_since: None,
            by_age: false,
            unknown: false,
            level: finding.level,
            reached: at,
            highest: Level::Info,
            fired: now,
            last: None,
        };
        let standing = self.standings.entry(finding.key()).or_insert(new);
        // by the clock that stands still while the machine sleeps
        let lasted_ms = i64::try_from(at.since(*standing.grows_since.get_or_insert(at))).unwrap_or(i64::MAX);
        standing.by_age = false;
        standing.unknown = false;
        if let Some(worse) = hold::level_of_growth(finding.id, lasted_ms).filter(|worse| *worse > finding.level) {
            finding.level = worse;
            standing.by_age = true;
            finding.text = format!("{}; it has gone on for {}", finding.text, age_words(lasted_ms));
        }
        let level = finding.level;
        standing.fired = now;
        if level >= standing.level || at.since(standing.reached) > HOLD_MS {
            standing.level = level;
            standing.reached = at;
        }
        let change = (level > standing.highest).then(|| {
            let event = if standing.highest == Level::Info { "finding-began" } else { "finding-rose" };
            standing.highest = level;
            Change { event, text: format!("{} {}: {}", level.word(), finding.id, finding.text) }
        });
        finding.level = standing.level;
        if let Some(lasted_ms) = finding.lasted_ms {
            standing.since_ms = standing.since_ms.min(now.wall_ms.saturating_sub(lasted_ms));
        }
        finding.since_ms = Some(standing.since_ms);
        standing.last = (standing.level > Level::Info).then(|| Box::new(finding.clone()));
        change
    }
}

/// A finding that does not fire any more: its sentence says until when it was true, or known to be.
fn past(last: &Finding, standing: &Standing, now: Now) -> Finding {
    let until = utc_clock(standing.fired.wall_ms);
    let text = if standing.unknown {
        format!("until {until}, not known since: {}", last.text)
    } else {
        let ago = age_words(now.mono.since(standing.fired.mono) as i64);
        format!("until {until} (cleared {ago} ago): {}", last.text)
    };
    Finding { text, cleared_ms: Some(standing.fired.wall_ms), ..last.clone() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::{command::Argv, name::Name, symptoms::About};

    fn at(seconds: u64) -> Now {
        Now { mono: Mono(seconds * 1000), wall_ms: seconds as i64 * 1000 }
    }

    fn seen(standings: &mut Standings, level: Level, now: Now) -> (Level, Option<i64>) {
        let about = About { id: "loss", levels: &[], says: "", cause: "", remedy: "" };
        let mut findings = vec![about.finding(level, "", Argv::of(&[b"PING"]))];
        standings.follow(&mut findings, now, |_, _| After::Refuted);
        (findings[0].level, findings[0].since_ms)
    }

    #[test]
    fn a_level_holds_for_a_minute_after_its_condition_ended() {
        let mut standings = Standings::default();
        assert_eq!(seen(&mut standings, Level::Warn, at(1)), (Level::Warn, Some(1000)));
        assert_eq!(seen(&mut standings, Level::Critical, at(2)), (Level::Critical, Some(1000)));
        for second in [3, 30, 62] {
            assert_eq!(seen(&mut standings, Level::Warn, at(second)), (Level::Critical, Some(1000)), "{second}");
        }
        assert_eq!(seen(&mut standings, Level::Warn, at(63)), (Level::Warn, Some(1000)));
        assert_eq!(seen(&mut standings, Level::Info, at(64)), (Level::Warn, Some(1000)));
    }

    #[test]
    fn it_began_when_the_facts_say_so_and_else_when_it_was_first_seen() {
        let mut standings = Standings::default();
        let mut since = |lasted_ms: Option<i64>, now: Now| {
            let about = About { id: "gone", levels: &[], says: "", cause: "", remedy: "" };
            let mut findings = vec![about.finding(Level::Warn, "", Argv::of(&[b"PING"]))];
            findings[0].lasted_ms = lasted_ms;
            standings.follow(&mut findings, now, |_, _| After::Refuted);
            findings[0].since_ms
        };
        assert_eq!(since(None, at(100)), Some(100_000));
        assert_eq!(since(Some(60_000), at(110)), Some(50_000));
        assert_eq!(since(Some(5_000), at(120)), Some(50_000), "an entry that came later does not make it younger");
    }

    #[test]
    fn what_did_not_fire_for_a_minute_begins_again() {
        let mut standings = Standings::default();
        seen(&mut standings, Level::Critical, at(1));
        assert_eq!(seen(&mut standings, Level::Info, at(62)), (Level::Info, Some(62_000)));
    }

    #[test]
    fn what_began_rose_and_ended_is_told_once() {
        let about = About { id: "loss", levels: &[], says: "", cause: "", remedy: "" };
        let mut standings = Standings::default();
        let mut told = |level: Option<Level>, second| {
            let mut findings: Vec<Finding> =
                level.map(|level| about.finding(level, "5 lost", Argv::of(&[b"PING"]))).into_iter().collect();
            let changes = standings.follow(&mut findings, at(second), |_, _| After::Refuted);
            changes.into_iter().map(|change| change.event).collect::<Vec<_>>()
        };
        assert_eq!(told(Some(Level::Info), 0), Vec::<&str>::new());
        assert_eq!(told(Some(Level::Warn), 1), ["finding-began"]);
        assert_eq!(told(Some(Level::Critical), 2), ["finding-rose"]);
        for (level, second) in [(Some(Level::Warn), 3), (None, 30), (Some(Level::Critical), 40), (None, 100)] {
            assert_eq!(told(level, second), Vec::<&str>::new(), "{second}");
        }
        assert_eq!(told(None, 101), ["finding-cleared"]);
        assert_eq!(told(None, 102), Vec::<&str>::new());
    }

    const FALLS: About = About { id: "falling-behind", levels: &[], says: "", cause: "", remedy: "" };

    fn falls(level: Level) -> Finding {
        FALLS.finding(level, "40 wait", Argv::of(&[b"PING"]))
    }

    #[test]
    fn what_ended_stays_for_a_minute_in_the_past_tense_unless_it_is_refuted() {
        let mut standings = Standings::default();
        let mut shown = |found: Vec<Finding>, second, holds: bool| {
            let after = if holds { After::Ended } else { After::Refuted };
            let mut findings = found;
            standings.follow(&mut findings, at(second), |_, _| after);
            findings.first().map(|finding| (finding.level, finding.cleared_ms, finding.text.clone()))
        };
        shown(vec![falls(Level::Critical)], 1, true);
        let text = "until 00:00:01 UTC (cleared 20 s ago): 40 wait".to_owned();
        assert_eq!(shown(vec![], 21, true), Some((Level::Critical, Some(1000), text)));
        assert_eq!(shown(vec![falls(Level::Warn)], 22, true), Some((Level::Critical, None, "40 wait".to_owned())));
        assert!(shown(vec![], 80, true).is_some());
        assert_eq!(shown(vec![], 83, true), None);
        shown(vec![falls(Level::Warn)], 90, true);
        assert_eq!(shown(vec![], 91, false), None);
        assert_eq!(shown(vec![], 92, true), None, "it came back by itself");
        shown(vec![falls(Level::Info)], 200, true);
        assert_eq!(shown(vec![], 201, true), None, "what is only information is not held");
    }

    #[test]
    fn growth_that_lasts_half_an_hour_is_critical() {
        let mut standings = Standings::default();
        let mut level = |second| {
            let mut findings = vec![falls(Level::Warn)];
            let changes = standings.follow(&mut findings, at(second), |_, _| After::Ended);
            (findings[0].level, changes.first().map(|change| change.event))
        };
        let told: Vec<_> = (0..=31).map(|minute| level(minute * 60)).collect();
        assert_eq!(told[0], (Level::Warn, Some("finding-began")));
        assert_eq!(told[29], (Level::Warn, None));
        assert_eq!(told[30], (Level::Critical, Some("finding-rose")));
        assert_eq!(told[31], (Level::Critical, None));
    }

    #[test]
    fn what_is_known_counts_as_information_until_it_rises_or_the_time_is_over() {
        let mut standings = Standings::default();
        let counts = |standings: &mut Standings, level, second| {
            let mut findings = vec![falls(level)];
            standings.follow(&mut findings, at(second), |_, _| After::Ended);
            (findings[0].level, findings[0].counts_as())
        };
        assert!(!standings.mark_known(&falls(Level::Warn), Some(100_000)), "there was none");
        counts(&mut standings, Level::Warn, 1);
        assert!(standings.mark_known(&falls(Level::Warn), Some(100_000)));
        assert_eq!(counts(&mut standings, Level::Warn, 2), (Level::Warn, Level::Info));
        assert_eq!(counts(&mut standings, Level::Critical, 3), (Level::Critical, Level::Critical));
        assert_eq!(
            counts(&mut standings, Level::Warn, 70),
            (Level::Warn, Level::Info),
            "also after it ended and came back"
        );
        assert_eq!(counts(&mut standings, Level::Warn, 101), (Level::Warn, Level::Warn));
        standings.mark_known(&falls(Level::Warn), Some(500_000));
        assert_eq!(counts(&mut standings, Level::Warn, 102).1, Level::Info);
        standings.mark_known(&falls(Level::Warn), None);
        assert_eq!(counts(&mut standings, Level::Warn, 103).1, Level::Warn);
    }

    #[test]
    fn what_cannot_be_told_any_more_is_not_called_cleared() {
        let mut standings = Standings::default();
        let mut told = |found: Vec<Finding>, second| {
            let mut findings = found;
            let changes = standings.follow(&mut findings, at(second), |_, _| After::Unknown);
            (findings.first().map(|one| one.text.clone()), changes.first().map(|change| change.text.clone()))
        };
        told(vec![falls(Level::Warn)], 1);
        assert_eq!(told(vec![], 20).0, Some("until 00:00:01 UTC, not known since: 40 wait".to_owned()));
        let (shown, event) = told(vec![], 70);
        assert_eq!(shown, None);
        assert!(event.is_some_and(|text| text.contains("is not known any more")));
    }

    #[test]
    fn a_group_that_catches_up_between_its_batches_does_not_last() {
        let mut standings = Standings::default();
        for minute in 0..90 {
            let mut findings = vec![falls(Level::Warn)];
            standings.follow(&mut findings, at(minute * 60), |_, _| After::Refuted);
            assert_eq!(findings[0].level, Level::Warn, "{minute}");
            standings.follow(&mut Vec::new(), at(minute * 60 + 30), |_, _| After::Refuted);
        }
    }

    #[test]
    fn what_grows_in_one_group_is_one_finding_whoever_holds_most() {
        let mut standings = Standings::default();
        for (second, holder) in [(1, "a"), (2, "b"), (3, "a")] {
            let mut findings = vec![falls(Level::Warn).about(Some(Name::from(holder)))];
            let changes = standings.follow(&mut findings, at(second), |_, _| After::Ended);
            assert_eq!((findings.len(), changes.len()), (1, usize::from(second == 1)));
        }
    }
}
