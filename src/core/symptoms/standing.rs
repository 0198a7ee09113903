//! How long a finding stands, and at which level: nothing goes up and down from tick to tick.

use super::{Finding, Level};
use crate::core::{name::Name, time::Now};
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
    reached: crate::core::time::Mono,
    /// When it last fired.
    fired: crate::core::time::Mono,
}

/// The findings of one group or stream over time, by id and consumer.
#[derive(Clone, Debug, Default)]
pub(super) struct Standings(BTreeMap<(&'static str, Option<Name>), Standing>);

impl Standings {
    /// Gives each finding its beginning and the level that it holds. One that did not fire for the time that a level is held starts again.
    pub(super) fn follow(&mut self, findings: &mut [Finding], now: Now) {
        let at = now.mono;
        self.0.retain(|_, standing| at.since(standing.fired) <= HOLD_MS);
        for finding in findings {
            let new = Standing { since_ms: now.wall_ms, level: finding.level, reached: at, fired: at };
            let standing = self.0.entry((finding.id, finding.consumer.clone())).or_insert(new);
            standing.fired = at;
            if finding.level >= standing.level || at.since(standing.reached) > HOLD_MS {
                standing.level = finding.level;
                standing.reached = at;
            }
            finding.level = standing.level;
            finding.since_ms = Some(standing.since_ms);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::{command::Argv, symptoms::About, time::Mono};

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
}
