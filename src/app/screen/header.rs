//! The top line: how bad things are, which server answers, how fresh the numbers are and what they cost.

use super::{Bar, Line, Span, Tone, bold, span};
use crate::{
    app::{App, LinkState, cells::cut},
    core::{
        store::LostGroups,
        symptoms::Level,
        time::{Now, age, utc_clock},
        words::count,
    },
};

pub fn view(app: &App, now: Now, clock: &str) -> Bar {
    let store = &app.shown().store;
    let mut left: Vec<(u8, Line)> = vec![(1, vec![bold("pelwatch", Tone::Accent)])];
    left.push((0, severity(app, now, clock)));
    left.push((1, vec![if app.session.may_act { bold("ACTIONS", Tone::Warn) } else { span("RO", Tone::Dim) }]));
    let server = &store.server;
    if !server.flavor.is_empty() {
        left.push((5, vec![span(format!("{} {}", server.flavor, server.version), Tone::Plain)]));
    }
    match (server.role.as_deref(), server.link_up) {
        (Some("replica"), Some(false)) => left.push((0, vec![bold("replica, link to its primary down", Tone::Warn)])),
        (Some("replica"), _) => left.push((1, vec![span("replica", Tone::Warn)])),
        (Some(role), _) => left.push((6, vec![span(role, Tone::Dim)])),
        (None, _) => {}
    }
    if let Some(cluster) = &store.cluster {
        let (up, all) = (cluster.up(), cluster.nodes.len());
        left.push(if up == all {
            (5, vec![span(format!("cluster {all} nodes"), Tone::Dim)])
        } else {
            (0, vec![bold(format!("{up} of {all} nodes"), Tone::Critical)])
        });
        if !cluster.all_known {
            left.push((1, vec![span("nodes by redirections only", Tone::Warn)]));
        }
    }
    left.extend(store.part_note().map(|part| (0, vec![bold(part, Tone::Warn)])));
    left.extend(store.one_node_note().map(|note| (0, vec![bold(note, Tone::Warn)])));
    left.extend(app.session.caution.map(|caution| (0, vec![bold(caution, Tone::Warn)])));
    left.push((2, vec![span(&app.session.endpoint, Tone::Dim)]));
    Bar { left, right: right(app, now, clock) }
}

/// The terminal's title: the verdict, the worst row, the server. Without signs, since not every window shows them.
pub fn title(app: &App, now: Now, clock: &str) -> String {
    let is_sign = |c: char| !c.is_ascii_alphanumeric();
    let verdict: String = severity(app, now, clock).into_iter().map(|part| part.text).collect();
    let words = verdict.replace("▲ ", "").replace("! ", "").replace("  ", ", ");
    let verdict = words.trim_start_matches(is_sign);
    let worst = if app.is_unanswered(now) { None } else { app.ranked().worst.clone() };
    let of = worst.map_or(String::new(), |worst| format!(": {worst}"));
    let verdict = if verdict.is_empty() { "connecting" } else { verdict };
    cut(&format!("{verdict}{of} - pelwatch {}", app.session.endpoint), TITLE_CELLS)
}

/// The verdict over everything. It is never better than what is known now: while nobody answers it is neither quiet nor the old one.
fn severity(app: &App, now: Now, clock: &str) -> Line {
    if let Some(since) = app.unanswered_since(now) {
        return vec![bold(format!("? not known since {}", clock_before(clock, now.mono.since(since))), Tone::Critical)];
    }
    let watch = app.shown();
    let ranked = app.ranked();
    let (critical, warn) = (app.count_critical(), ranked.warn + app.count_of_server(Level::Warn));
    let mut parts: Vec<Span> = Vec::new();
    if critical > 0 {
        parts.push(bold(format!("▲ {critical} critical"), Tone::Critical));
    }
    if warn > 0 {
        parts.push(bold(format!("! {warn} warn"), Tone::Warn));
    }
    if let Some(why) = watch.why_unsearched() {
        parts.push(bold(format!("? not known ({why})"), Tone::Warn));
    } else if ranked.unknown > 0 {
        let why = ranked.why_unknown.as_deref().map_or(String::new(), |why| format!(" ({why})"));
        let text = if ranked.unknown == ranked.rows {
            format!("? not known{why}")
        } else {
            format!("? {} not known", ranked.unknown)
        };
        parts.push(bold(text, Tone::Warn));
    }
    let groups = ranked.groups;
    // "quiet" needs groups that were judged, all of them
    if ranked.unread > 0 {
        parts.push(span(format!("… read {} of {groups} groups", groups - ranked.unread), Tone::Dim));
    } else if parts.is_empty() && ranked.known > 0 {
        // green has to be earned
        let denied: Vec<&str> = watch.store.denied.iter().copied().collect();
        let unsure = cannot_tell(&ranked.cannot_tell, &denied);
        parts.push(span(format!("{} known, else quiet{unsure}", ranked.known), Tone::Dim));
    } else if parts.is_empty() && groups > 0 {
        let denied: Vec<&str> = watch.store.denied.iter().copied().collect();
        parts.push(span(format!("✓ quiet{}", cannot_tell(&ranked.cannot_tell, &denied)), Tone::Dim));
    }
    let recent = |lost: &LostGroups| now.wall_ms - lost.at_ms < LOST_SHOWN_MS;
    if let Some(LostGroups { groups, at_ms }) = watch.store.lost_groups.filter(recent) {
        let text = format!("{} lost {} (e)", count(groups, "group", "groups"), utc_clock(at_ms));
        parts.push(bold(text, Tone::Warn));
    }
    for part in parts.iter_mut().skip(1) {
        part.text.insert_str(0, "  ");
    }
    parts
}

/// `, 2 checks cannot tell (INFO denied)`
fn cannot_tell(checks: &[&str], denied: &[&str]) -> String {
    if checks.is_empty() {
        return String::new();
    }
    let why = if denied.is_empty() { String::new() } else { format!(" ({} denied)", denied.join(", ")) };
    format!(", {} cannot tell{why}", count(checks.len() as i64, "check", "checks"))
}

/// A longer title is cut.
const TITLE_CELLS: usize = 120;

/// Groups that were lost with their stream have no row any more: the header names them for this long, in milliseconds.
const LOST_SHOWN_MS: i64 = 3_600_000;

/// Seconds.
const DAY: u64 = 86_400;

/// The time of day `ago_ms` milliseconds before `clock`, which is `HH:MM:SS`.
fn clock_before(clock: &str, ago_ms: u64) -> String {
    let parts: Vec<u64> = clock.split(':').filter_map(|part| part.parse().ok()).collect();
    let [hours, minutes, seconds] = parts[..] else { return format!("{} ago", age(ago_ms as i64)) };
    let at = (hours * 3600 + minutes * 60 + seconds + DAY - ago_ms / 1000 % DAY) % DAY;
    format!("{:02}:{:02}:{:02}", at / 3600, at / 60 % 60, at % 60)
}

fn right(app: &App, now: Now, clock: &str) -> Vec<(u8, Line)> {
    let mut right: Vec<(u8, Line)> = Vec::new();
    if let Some(frozen) = &app.frozen {
        let since = age(now.mono.since(frozen.1.mono) as i64);
        right.push((0, vec![bold(format!("❚❚ PAUSED, {since} old"), Tone::Warn)]));
    }
    match &app.link {
        LinkState::Down { failing_over, since, retry_at, .. } => {
            let gone = age(now.mono.since(*since) as i64);
            let wait = retry_at.since(now.mono).div_ceil(1000);
            let next = if wait == 0 { "trying now".to_owned() } else { format!("next try in {wait} s") };
            let state = if *failing_over {
                format!("○ failing over for {gone}")
            } else {
                format!("○ no answer for {gone}")
            };
            right.push((0, vec![bold(state, Tone::Critical)]));
            right.push((1, vec![span(next, Tone::Warn)]));
        }
        LinkState::Up if app.watch.store.ticks == 0 => right.push((0, vec![span("connecting", Tone::Dim)])),
        LinkState::Up if app.watch.store.cluster.as_ref().is_some_and(|cluster| cluster.up() == 0) => {
            right.push((0, vec![bold("○ no node answers", Tone::Critical)]));
        }
        LinkState::Up => {
            let silent = app.watch.store.sampled.map_or(0, |at| now.mono.since(at.mono));
            let (kept, wanted) = (age(app.kept_interval_ms as i64), age(app.interval_ms as i64));
            // a hanging server is not down yet, but not live either
            if silent > app.silence_ms() {
                right.push((0, vec![bold(format!("○ last answer {} ago", age(silent as i64)), Tone::Warn)]));
            } else if app.frozen.is_some() {
                right.push((1, vec![span(format!("collecting every {kept}"), Tone::Dim)]));
            } else {
                right.push((0, vec![span("● ", Tone::Accent), span(format!("live {kept}"), Tone::Plain)]));
            }
            if kept != wanted {
                right.push((3, vec![span(format!("slow replies, {wanted} wanted"), Tone::Warn)]));
            }
            let cost = app.watch.store.last_cost;
            let text = format!(
                "cost {:>2} cmds {:>5} {:>5}",
                cost.commands,
                bytes(cost.bytes_in),
                // the server's time if known, else the wait for the reply as an upper bound
                cost.server_us.map_or_else(|| format!("≤{}", millis(cost.slowest_reply_us)), millis)
            );
            right.push((3, vec![span(text, Tone::Dim)]));
        }
    }
    right.push((4, vec![span(clock, Tone::Dim)]));
    right
}

fn millis(us: u64) -> String {
    match us {
        ..100_000 => format!("{:.1}ms", us as f64 / 1000.0),
        _ => format!("{}ms", us / 1000),
    }
}

fn bytes(n: u64) -> String {
    match n {
        ..1024 => format!("{n} B"),
        1024..1_048_576 => format!("{} KB", n / 1024),
        _ => format!("{} MB", n / 1_048_576),
    }
}
