//! Small pure checks over the store, each with the sentence, the numbers it used, the likely cause, a first command to
//! run and what can be done.

mod claim_ping_pong;
mod consumer_churn;
mod cursor_beyond_end;
mod entries_read_ahead;
mod falling_behind;
mod group_churn;
mod holder_gone;
mod hot_consumer;
mod ids_exhausted;
mod never_acked;
mod no_consumers;
mod noack;
mod payload_gone;
mod poison;
mod reads_history;
mod redelivered;
mod retention;
mod retention_race;
mod split_key;
mod stale_tail;
mod tail_held;
mod trimmed;
mod unowned;

use super::{
    name::Name,
    store::{GroupState, Settings, Store, StreamState},
    time::{Mono, Now},
};

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Worth knowing; nothing is wrong.
    Info,
    /// Needs a look.
    Warn,
    /// Needs somebody now.
    Critical,
}

impl Level {
    /// The word in JSON and on the screen.
    pub fn word(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Warn => "warn",
            Self::Critical => "critical",
        }
    }
}

/// Something a check found.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// Stable id, as in `holder-gone`.
    pub id: &'static str,
    /// How bad.
    pub level: Level,
    /// The consumer it is about, if it is about one.
    pub consumer: Option<Name>,
    /// What a person would say.
    pub text: String,
    /// The numbers behind it, with units in their names.
    pub evidence: Vec<(&'static str, i64)>,
    /// What usually causes it.
    pub cause: &'static str,
    /// The first command to look with, as words of redis-cli; it only reads.
    pub check: Vec<Name>,
    /// What can be done.
    pub remedy: &'static str,
}

/// What a check says.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// Nothing wrong.
    Ok,
    /// It cannot tell so far.
    NotEnoughData,
    /// It fired.
    Found(Vec<Finding>),
}

/// What a check looks at.
#[derive(Clone, Copy)]
pub struct Case<'a> {
    /// The stream.
    pub stream: &'a StreamState,
    /// The group.
    pub group: &'a GroupState,
    /// The present moment.
    pub now: Now,
    /// Thresholds.
    pub settings: &'a Settings,
    /// Names of open connections, where they were asked for.
    pub client_names: Option<&'a std::collections::BTreeSet<Name>>,
    /// Whether `idle` of a consumer counts from its last attempt (7.2+) rather than its last success.
    pub idle_is_attempt: bool,
}

impl Case<'_> {
    /// Whether it was said at the last fold, too: a lower threshold then keeps it said, so that nothing flickers.
    fn fired(&self, id: &str) -> bool {
        self.group.firing.contains_key(id)
    }
}

/// What a check of a stream as a whole looks at.
#[derive(Clone, Copy)]
struct Whole<'a> {
    stream: &'a StreamState,
    now: Now,
    /// The server's clock, in milliseconds since 1970.
    server_ms: i64,
    halves: &'a split_key::Halves,
}

impl Whole<'_> {
    fn fired(&self, id: &str) -> bool {
        self.stream.findings.iter().any(|finding| finding.id == id)
    }
}

/// What a check is about, the same for all that it finds: its row in the documentation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct About {
    /// Stable id.
    pub id: &'static str,
    /// Levels it can have, from mild to bad.
    pub levels: &'static [Level],
    /// What it says, without names and numbers.
    pub says: &'static str,
    /// What usually causes it.
    pub cause: &'static str,
    /// What can be done.
    pub remedy: &'static str,
}

/// One check of a group.
struct Check {
    about: About,
    judge: fn(&Case) -> Verdict,
}

const CHECKS: [Check; 19] = [
    Check { about: holder_gone::ABOUT, judge: holder_gone::judge },
    Check { about: never_acked::ABOUT, judge: never_acked::judge },
    Check { about: falling_behind::ABOUT, judge: falling_behind::judge },
    Check { about: redelivered::ABOUT, judge: redelivered::judge },
    Check { about: claim_ping_pong::ABOUT, judge: claim_ping_pong::judge },
    Check { about: poison::ABOUT, judge: poison::judge },
    Check { about: stale_tail::ABOUT, judge: stale_tail::judge },
    Check { about: reads_history::ABOUT, judge: reads_history::judge },
    Check { about: hot_consumer::ABOUT, judge: hot_consumer::judge },
    Check { about: retention_race::ABOUT, judge: retention_race::judge },
    Check { about: trimmed::ABOUT_UNREAD, judge: trimmed::judge_unread },
    Check { about: payload_gone::ABOUT, judge: payload_gone::judge },
    Check { about: cursor_beyond_end::ABOUT, judge: cursor_beyond_end::judge },
    Check { about: entries_read_ahead::ABOUT, judge: entries_read_ahead::judge },
    Check { about: tail_held::ABOUT, judge: tail_held::judge },
    Check { about: unowned::ABOUT, judge: unowned::judge },
    Check { about: no_consumers::ABOUT, judge: no_consumers::judge },
    Check { about: noack::ABOUT, judge: noack::judge },
    Check { about: consumer_churn::ABOUT, judge: consumer_churn::judge },
];

/// One check of a stream as a whole.
struct WholeCheck {
    about: About,
    judge: fn(&Whole) -> Option<Finding>,
}

/// Worst first, as they are shown.
const OF_STREAMS: [WholeCheck; 5] = [
    WholeCheck { about: ids_exhausted::ABOUT, judge: ids_exhausted::judge },
    WholeCheck { about: trimmed::ABOUT, judge: trimmed::judge },
    WholeCheck { about: retention::ABOUT, judge: retention::judge },
    WholeCheck { about: group_churn::ABOUT, judge: group_churn::judge },
    WholeCheck { about: split_key::ABOUT, judge: split_key::judge },
];

/// All checks, of groups and of streams, in the order in which they are shown.
pub fn all() -> impl Iterator<Item = About> {
    CHECKS.iter().map(|check| check.about).chain(OF_STREAMS.iter().map(|check| check.about))
}

/// Their ids.
pub fn ids() -> impl Iterator<Item = &'static str> {
    all().map(|about| about.id)
}

/// The table for the README, as Markdown.
pub fn markdown() -> String {
    let rows = all().map(|about| {
        let levels: Vec<&str> = about.levels.iter().map(|level| level.word()).collect();
        format!("| `{}` | {} | {} | {} | {} |\n", about.id, levels.join(", "), about.says, about.cause, about.remedy)
    });
    format!(
        "| symptom | level | what it says | likely cause | what to do |\n|---|---|---|---|---|\n{}",
        rows.collect::<String>()
    )
}

/// The judgement on one group.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Judgement {
    /// What fired, worst first.
    pub findings: Vec<Finding>,
    /// Ids that are quiet.
    pub quiet: Vec<&'static str>,
    /// Ids that cannot tell so far.
    pub waiting: Vec<&'static str>,
}

impl Judgement {
    /// The worst level that fired.
    pub fn level(&self) -> Option<Level> {
        self.findings.iter().map(|finding| finding.level).max()
    }
}

fn judge(case: &Case) -> Judgement {
    let mut judgement = Judgement::default();
    // nearly every check sets something off against what is pending
    let counted = case.group.facts.pending_known().is_some();
    for check in CHECKS.iter().filter(|check| case.settings.names(check.about.id)) {
        match if counted { (check.judge)(case) } else { Verdict::NotEnoughData } {
            Verdict::Ok => judgement.quiet.push(check.about.id),
            Verdict::NotEnoughData => judgement.waiting.push(check.about.id),
            Verdict::Found(found) => judgement.findings.extend(found),
        }
    }
    judgement.findings.sort_by_key(|finding| std::cmp::Reverse(finding.level));
    judgement
}

/// Judges the groups and streams of which something new was folded and writes it down in the store: once a fold, so that drawing
/// computes nothing, and so that a check can know whether it fired before.
pub(super) fn remember(store: &mut Store, now: Now) {
    let settings = store.settings.clone();
    let client_names = store.client_names.take();
    // of a stream whose node is away nothing new is known: what was said of it stands as it is
    for stream in store.streams.values_mut().filter(|stream| stream.unjudged && !stream.is_away()) {
        let names: Vec<Name> = stream.groups.keys().cloned().collect();
        for name in names {
            let Some(group) = stream.groups.get(&name) else { continue };
            let idle_is_attempt =
                group.consumers.iter().flatten().any(|consumer| consumer.inactive_ms.reason().is_none());
            let judgement = judge(&Case {
                stream,
                group,
                now,
                settings: &settings,
                client_names: client_names.as_ref(),
                idle_is_attempt,
            });
            let Some(group) = stream.groups.get_mut(&name) else { continue };
            let fired: Vec<&'static str> = judgement.findings.iter().map(|finding| finding.id).collect();
            group.firing.retain(|id, _| fired.contains(id));
            for id in fired {
                group.firing.entry(id).or_insert(now.mono);
            }
            group.judgement = judgement;
        }
    }
    let halves = split_key::Halves::of(store.streams.values());
    let server_ms = store.server_now_ms(now);
    for stream in store.streams.values_mut().filter(|stream| stream.unjudged && !stream.is_away()) {
        stream.unjudged = false;
        let whole = Whole { stream, now, server_ms, halves: &halves };
        let checks = OF_STREAMS.iter().filter(|check| settings.names(check.about.id));
        let findings = checks.filter_map(|check| (check.judge)(&whole)).collect();
        stream.findings = findings;
    }
    store.client_names = client_names;
}

/// A consumer or a group that nobody was seen at for so long is left over, in milliseconds.
const LEFT_OVER_MS: i64 = 86_400_000;

/// Trends are judged over so many milliseconds.
const WINDOW_MS: u64 = 60_000;
/// No trend is judged on less than this.
const SPAN_MS: u64 = 5_000;
/// Nor on fewer points.
const POINTS: usize = 5;

fn enough(group: &GroupState) -> bool {
    group.history.span_ms(WINDOW_MS) >= SPAN_MS && group.history.count(WINDOW_MS) >= POINTS
}

/// Idle time of a consumer now, in milliseconds, as far as it is known: a list that is older than the group's newest sample
/// says nothing of what its consumers did since, so theirs is the idle time of then.
fn idle_now(group: &GroupState, idle_ms: i64, now: Mono) -> i64 {
    aged(group, idle_ms, group.consumers_at, now)
}

/// An idle time taken at `taken`: it goes on only while nothing newer is known of the group.
fn aged(group: &GroupState, idle_ms: i64, taken: Mono, now: Mono) -> i64 {
    let passed = if taken < group.at { 0 } else { now.since(taken) };
    idle_ms.saturating_add(i64::try_from(passed).unwrap_or(i64::MAX))
}

/// The one finding of a check that is about nobody in particular.
fn one(about: About, level: Level, text: String, evidence: Vec<(&'static str, i64)>, check: Vec<Name>) -> Verdict {
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

fn words(parts: &[&[u8]]) -> Vec<Name> {
    parts.iter().map(|part| Name::new(part.to_vec())).collect()
}

/// The command as one line for a shell: words of plain characters as they are, all others in single quotes or, where they
/// hold bytes that do not print, in the `$'…'` form of bash.
pub fn command_line(parts: &[Name]) -> String {
    parts.iter().map(quoted).collect::<Vec<_>>().join(" ")
}

fn quoted(word: &Name) -> String {
    let bytes = word.bytes();
    let plain = |b: &u8| b.is_ascii_alphanumeric() || b"-_.:/+,@%=".contains(b);
    if !bytes.is_empty() && bytes.iter().all(plain) {
        return String::from_utf8_lossy(bytes).into_owned();
    }
    if bytes.iter().all(|b| (0x20..0x7f).contains(b)) {
        return format!("'{}'", String::from_utf8_lossy(bytes).replace('\'', "'\\''"));
    }
    let inner: String = bytes
        .iter()
        .map(|b| match b {
            b'\'' => "\\'".to_owned(),
            b'\\' => "\\\\".to_owned(),
            0x20..0x7f => char::from(*b).to_string(),
            _ => format!("\\x{b:02x}"),
        })
        .collect();
    format!("$'{inner}'")
}

/// A singular or plural count: `1 entry`, `5 entries`.
fn entries(count: i64) -> String {
    if count == 1 { "1 entry".to_owned() } else { format!("{count} entries") }
}
