//! How long a finding stands, and at which level: nothing goes up and down from tick to tick.

use super::{Finding, Level};
use crate::core::{
    name::Name,
    time::{Mono, Now, rfc3339},
};
use std::collections::BTreeMap;

/// A level stays until its condition was untrue for this long, in milliseconds.
const HOLD_MS: u64 = 60_000;

/// One finding over time.
#[derive(Clone, Debug)]
struct Standing {
    /// When it was first seen, in Unix milliseconds.
    since_ms: i64,
    /// The level that is held, and when its condition was last true.
    level: Level,
    reached: Mono,
    /// The highest level so far.
    highest: Level,
    /// When it last fired, on both clocks.
    fired: Now,
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
pub(super) struct Standings(BTreeMap<(&'static str, Option<Name>), Standing>);

impl Standings {
    /// Gives each finding its beginning and the level that it holds. One that did not fire for the time that a level is held starts again.
    /// Returns what changed.
    pub(super) fn follow(&mut self, findings: &mut [Finding], now: Now) -> Vec<Change> {
        let at = now.mono;
        let mut changes = Vec::new();
        self.0.retain(|(id, consumer), standing| {
            let stays = at.since(standing.fired.mono) <= HOLD_MS;
            if !stays && standing.highest > Level::Info {
                let of = consumer.as_ref().map_or(String::new(), |consumer| format!(" of {consumer}"));
                let (since, last) = (rfc3339(standing.since_ms), rfc3339(standing.fired.wall_ms));
                let text = format!("{id}{of} ended: seen from {since} to {last}, {} at most", standing.highest.word());
                changes.push(Change { event: "finding-cleared", text });
            }
            stays
        });
        for finding in findings {
            let level = finding.level;
            let new = Standing { since_ms: now.wall_ms, level, reached: at, highest: Level::Info, fired: now };
            let standing = self.0.entry((finding.id, finding.consumer.clone())).or_insert(new);
            standing.fired = now;
            if level >= standing.level || at.since(standing.reached) > HOLD_MS {
                standing.level = level;
                standing.reached = at;
            }
            if level > standing.highest {
                let event = if standing.highest == Level::Info { "finding-began" } else { "finding-rose" };
                changes.push(Change { event, text: format!("{} {}: {}", level.word(), finding.id, finding.text) });
                standing.highest = level;
            }
            finding.level = standing.level;
            finding.since_ms = Some(standing.since_ms);
        }
        changes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::{command::Argv, symptoms::About};

    fn at(seconds: u64) -> Now {
        Now { mono: Mono(seconds * 1000), wall_ms: seconds as i64 * 1000 }
    }

    fn seen(standings: &mut Standings, level: Level, now: Now) -> (Level, Option<i64>) {
        let about = About { id: "loss", levels: &[], says: "", cause: "", remedy: "" };
        let mut findings = [about.finding(level, "", Argv::of(&[b"PING"]))];
        standings.follow(&mut findings, now);
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
            let changes = standings.follow(&mut findings, at(second));
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
}
