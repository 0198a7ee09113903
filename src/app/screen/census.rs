//! The result of the walk over a large PEL, as one line.

use super::{Line, Tone, bold, heat, span};
use crate::core::{
    census::{AGES_MS, DELIVERIES, Tally},
    store::GroupState,
    time::{Now, age},
};

/// Names of the age classes.
const AGES: [&str; AGES_MS.len() + 1] = ["<1s", "<10s", "<1m", "<10m", "<1h", "<1d", "≥1d"];

/// The line; `None` if the rows on the screen are the whole PEL.
pub fn line(group: &GroupState, now: Now) -> Option<Line> {
    if group.pel.complete {
        return None;
    }
    let tally = group.census.shown()?;
    let mut line = progress(group, tally, now);
    // problems come first: a narrow screen cuts the rest
    if tally.gone > 0 {
        line.push(bold(format!("   ✗ {} without payload", short(tally.gone)), Tone::Critical));
    }
    if tally.fatal > 0 {
        line.push(bold(format!("   FATAL {}", short(tally.fatal)), Tone::Critical));
    }
    if tally.unowned > 0 {
        line.push(span(format!("   unowned {}", short(tally.unowned)), Tone::Warn));
    }
    if tally.ages.iter().any(|entries| *entries > 0) {
        line.push(span("   by age", Tone::Dim));
    }
    for (index, entries) in tally.ages.iter().enumerate().filter(|(_, entries)| **entries > 0) {
        let youngest = if index == 0 { 0 } else { AGES_MS[index - 1] };
        line.push(span(format!("  {} ", AGES[index]), Tone::Dim));
        line.push(span(short(*entries), heat(youngest)));
    }
    if tally.deliveries.iter().any(|entries| *entries > 0) {
        line.push(span("   deliveries", Tone::Dim));
    }
    for (index, entries) in tally.deliveries.iter().enumerate().filter(|(_, entries)| **entries > 0) {
        let class = match DELIVERIES.get(index + 1) {
            None => "+".to_owned(),
            Some(next) if *next == DELIVERIES[index] + 1 => String::new(),
            Some(next) => format!("–{}", next - 1),
        };
        line.push(span(format!("  ×{}{class} ", DELIVERIES[index]), Tone::Dim));
        line.push(span(short(*entries), if index == 0 { Tone::Dim } else { Tone::Warn }));
    }
    if tally.unsure > 0 {
        line.push(span(format!("   {} not looked up", short(tally.unsure)), Tone::Dim));
    }
    Some(line)
}

/// How much was walked, or how long ago the walk ended. A repeated walk shows its progress beside the last result.
fn progress(group: &GroupState, tally: &Tally, now: Now) -> Line {
    let mut line = match tally.ended {
        Some(ended) => vec![span(
            format!("{} ago all {} of then were walked", age(now.mono.since(ended) as i64), short(tally.walked)),
            Tone::Dim,
        )],
        None => vec![
            bold(format!("{} % walked", tally.percent()), Tone::Accent),
            span(format!(" ({} of {})", short(tally.walked), short(tally.of)), Tone::Dim),
        ],
    };
    if let (Some(_), Some(walking)) = (&group.census.done, &group.census.walking) {
        line.push(span(format!(", next walk {} %", walking.percent()), Tone::Dim));
    }
    line
}

/// A count in at most five cells, rounded down.
fn short(n: i64) -> String {
    match n {
        ..10_000 => n.to_string(),
        10_000..10_000_000 => format!("{}k", n / 1000),
        _ => format!("{}M", n / 1_000_000),
    }
}
