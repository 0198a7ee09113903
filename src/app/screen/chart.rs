//! Lag and pending over time, gaps kept as gaps.

use crate::core::{history::History, time::Mono};

/// A gap longer than this many milliseconds breaks the line.
const GAP_MS: u64 = 5000;
/// The chart looks back so far.
pub const SPAN_MS: u64 = 600_000;

/// One line of the chart: runs of points, seconds ago (negative) against a count.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Series {
    /// Runs without a gap.
    pub runs: Vec<Vec<(f64, f64)>>,
    /// The largest value.
    pub most: i64,
    /// The newest value.
    pub latest: Option<i64>,
}

pub fn series(history: &History, now: Mono, value: impl Fn(&crate::core::history::Point) -> Option<i64>) -> Series {
    let mut series = Series::default();
    let mut last: Option<Mono> = None;
    for point in history.window(SPAN_MS) {
        let Some(count) = value(point) else {
            last = None;
            continue;
        };
        if last.is_none_or(|last| point.at.since(last) > GAP_MS) {
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
