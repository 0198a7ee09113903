//! Lag and pending over time. Gaps stay gaps.

use crate::core::{
    history::{COARSE_MS, FINE_MS, History, Point},
    store::Oldest,
    symptoms::Finding,
    time::Mono,
};

/// Findings about what is pending; all others are about what waits, or about both.
const OF_PENDING: &[&str] =
    &["claim-ping-pong", "claimed", "hot-consumer", "never-acked", "payload-gone", "poison", "redelivered", "unowned"];

/// Those about how long entries are pending.
const OF_OLDEST: &[&str] = &["holder-gone", "leftovers", "stale-tail"];

/// Which number a finding is about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Subject {
    #[default]
    Lag,
    Pending,
    /// The age of the oldest pending entry.
    Oldest,
}

impl Subject {
    pub fn of(finding: Option<&Finding>) -> Self {
        match finding.map(|finding| finding.id) {
            Some(id) if OF_OLDEST.contains(&id) => Self::Oldest,
            Some(id) if OF_PENDING.contains(&id) => Self::Pending,
            _ => Self::Lag,
        }
    }
}

/// A longer gap, in ms, breaks the line if samples come at the normal rate.
const GAP_MS: u64 = 5000;
/// How far the chart looks back, in ms.
pub const SPAN_MS: u64 = 600_000;

/// One line of the chart. Each point has its time in seconds before now (negative) and a count.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Series {
    /// Runs of points without a gap.
    pub runs: Vec<Vec<(f64, f64)>>,
    /// The largest value.
    pub most: i64,
    /// The newest value.
    pub latest: Option<i64>,
}

/// `usual_ms` is the time between two samples of a group that is not on the screen.
pub fn series(history: &History, now: Mono, usual_ms: u64, value: impl Fn(&Point) -> Option<i64>) -> Series {
    let mut series = Series::default();
    let mut last: Option<Mono> = None;
    for point in history.window(SPAN_MS) {
        let Some(count) = value(&point) else {
            last = None;
            continue;
        };
        let thinned = if now.since(point.at) > FINE_MS { COARSE_MS } else { 0 };
        let gap_ms = GAP_MS.max(2 * usual_ms) + thinned;
        if last.is_none_or(|last| point.at.since(last) > gap_ms) {
            series.runs.push(Vec::new());
        }
        last = Some(point.at);
        series.most = series.most.max(count);
        series.latest = Some(count);
        if let Some(run) = series.runs.last_mut() {
            run.push((-(now.since(point.at) as f64) / 1000.0, count as f64));
        }
    }
    series
}

/// The age of the oldest pending entry, in milliseconds.
pub fn oldest(oldest: &Oldest, now: Mono) -> Series {
    let seconds = |at: Mono| -(now.since(at) as f64) / 1000.0;
    let runs: Vec<Vec<(f64, f64)>> =
        oldest.lines().map(|line| line.map(|(at, age_ms)| (seconds(at), age_ms as f64)).into()).collect();
    let last = oldest.lines().last().map(|[_, last]| last);
    let latest = last.filter(|(at, _)| Some(*at) == oldest.newest()).map(|(_, age_ms)| age_ms);
    let most = oldest.lines().flatten().map(|(_, age_ms)| age_ms).max().unwrap_or(0);
    Series { runs, most, latest: latest.or(oldest.newest().map(|_| 0)) }
}

#[cfg(test)]
mod tests {
    use super::{OF_OLDEST, OF_PENDING};

    #[test]
    fn every_symptom_named_here_exists() {
        for id in OF_PENDING.iter().chain(OF_OLDEST) {
            assert!(crate::core::symptoms::ids().any(|known| known == *id), "{id}");
        }
    }
}
