//! Small pure checks over what is known, one file each: the rule, the sentence with the numbers it used, the likely cause, a first
//! command to run, what can be done, and the row of docs/symptoms.md. To add a check: its file, a `mod` line, a row in the table below,
//! and two scenarios, one that fires and one that only comes near (tests/offline/scenarios).

mod causes;
mod claim_ping_pong;
mod claimed;
mod consumer_churn;
mod cursor_beyond_end;
mod duplicates_refused;
mod entries_read_ahead;
mod expires;
mod falling_behind;
mod finding;
mod group_churn;
mod hold;
mod holder_gone;
mod hot_consumer;
mod ids;
mod ids_exhausted;
mod leftovers;
mod never_acked;
mod no_consumers;
mod no_reader;
mod noack;
mod other_database;
mod payload_gone;
mod poison;
mod reads_history;
mod redelivered;
mod retention;
mod retention_race;
mod split_key;
mod stale_tail;
mod standing;
mod tail_held;
mod trimmed;
mod unowned;
mod verdicts;
mod writes_refused;

use super::{
    command::Argv,
    fault::Fault,
    lag::LagKind,
    model::ConsumerFacts,
    name::Name,
    observed::FailedReading,
    store::{Conditions, GroupState, MOST_CONSUMERS, Settings, Store, StreamState},
    time::{Mono, Now},
    words::entries,
};
use std::collections::BTreeSet;

pub use expires::is_harmless as expires_harmlessly;
pub use finding::{About, Finding, FindingKey, Judgement, Level, Thing, Threshold, Verdict};
pub use ids::Ids;
pub use verdicts::{InOrder, OfStream, Verdicts};

/// What a check of a group looks at.
#[derive(Clone, Copy)]
struct Case<'a> {
    stream: &'a StreamState,
    group: &'a GroupState,
    /// Entries pending by the server's count. It is known: no check runs where that count cannot be true.
    pending: i64,
    now: Now,
    settings: &'a Settings,
    /// Names of open connections, if they were asked for.
    client_names: Option<&'a BTreeSet<Name>>,
    /// The server's clock, in milliseconds since 1970.
    server_ms: i64,
    /// For how long the server has served in its present role, in milliseconds, as far as known.
    serves_for_ms: Option<i64>,
    /// Whether the server takes no writes of readers, so that nobody can read the group here.
    is_replica: bool,
    /// Whether a consumer's `idle` counts from its last attempt (7.2+) and not from its last success.
    idle_is_attempt: bool,
    /// Whether MULTI is denied, so that the facts of a stream and its groups are never of one moment.
    no_multi: bool,
    /// Checks that fired last time.
    fired: &'a BTreeSet<&'static str>,
}

impl<'a> Case<'a> {
    fn new(
        store: &'a Store,
        stream: &'a StreamState,
        group: &'a GroupState,
        fired: &'a BTreeSet<&'static str>,
        now: Now,
    ) -> Self {
        Self {
            stream,
            group,
            pending: group.facts.pending.value().unwrap_or(0),
            now,
            settings: &store.settings,
            client_names: store.client_names.as_ref(),
            server_ms: store.server_now_ms(now),
            serves_for_ms: store.serves_for_ms(now),
            is_replica: store.server.role.as_deref() == Some("replica"),
            no_multi: store.denied.contains("MULTI"),
            idle_is_attempt: group.consumers().iter().any(|consumer| consumer.inactive_ms.reason().is_none()),
            fired,
        }
    }

    /// The number to compare with: a check that fired stays down to a lower one.
    fn threshold<T: Copy>(&self, about: About, threshold: Threshold<T>) -> T {
        threshold.at(self.fired(about))
    }

    fn fired(&self, about: About) -> bool {
        self.fired.contains(about.id)
    }

    fn lacks(&self, need: Need) -> bool {
        let denied = |fault: Option<&Fault>| matches!(fault, Some(Fault::Denied(_)));
        let failure = |failure: &'a Option<FailedReading>| failure.as_ref().map(|failure| &failure.fault);
        match need {
            Facts => denied(self.stream.facts.fault()),
            Consumers => denied(self.group.consumers.fault()) || self.group.facts.consumers.exceeds(MOST_CONSUMERS),
            Rows => denied(failure(&self.group.pel_failure)),
            Entries => denied(failure(&self.stream.range_failure)),
            OneMoment => self.no_multi && self.stream.skewed,
            Lag => self.group.lag.kind == LagKind::Unsupported || denied(self.stream.facts.fault()),
        }
    }

    /// How long a consumer may be unseen before it counts as gone, in milliseconds.
    fn gone_after_ms(&self) -> i64 {
        self.group.gone_after_ms(self.settings)
    }
}

/// What a check of a stream as a whole looks at.
#[derive(Clone, Copy)]
struct StreamCase<'a> {
    stream: &'a StreamState,
    fired: &'a BTreeSet<&'static str>,
    now: Now,
    /// The server's clock, in milliseconds since 1970.
    server_ms: i64,
    halves: &'a split_key::Halves,
}

impl StreamCase<'_> {
    fn fired(&self, about: About) -> bool {
        self.fired.contains(about.id)
    }
}

/// What a check of the servers looks at.
#[derive(Clone)]
struct ServerCase<'a> {
    conditions: &'a Conditions,
    role: Option<&'a str>,
    is_cluster: bool,
    /// Whether discovery has found every stream.
    is_searched: bool,
    /// The database that is watched.
    database: i64,
    streams: std::collections::btree_map::Values<'a, Name, StreamState>,
}

/// What a check needs from the server. Where that is denied, absent or too costly, the check cannot tell, however long one waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Need {
    /// XINFO STREAM.
    Facts,
    /// XINFO CONSUMERS.
    Consumers,
    /// Rows of XPENDING.
    Rows,
    /// XRANGE.
    Entries,
    /// Facts of the stream and the group that are of one moment (MULTI).
    OneMoment,
    /// A lag that is counted.
    Lag,
}

use Need::{Consumers, Entries, Facts, Lag, OneMoment, Rows};

/// One check of a group.
struct Check {
    about: About,
    needs: &'static [Need],
    judge: fn(&Case) -> Verdict,
}

const CHECKS: &[Check] = &[
    Check { about: holder_gone::ABOUT, needs: &[Consumers, Rows], judge: holder_gone::judge },
    Check { about: no_reader::ABOUT, needs: &[Facts, Consumers], judge: no_reader::judge },
    Check { about: leftovers::ABOUT, needs: &[Consumers, Rows], judge: leftovers::judge },
    Check { about: never_acked::ABOUT, needs: &[Consumers, Rows], judge: never_acked::judge },
    Check { about: falling_behind::ABOUT, needs: &[Lag], judge: falling_behind::judge },
    Check { about: redelivered::ABOUT, needs: &[Rows], judge: redelivered::judge },
    Check { about: claim_ping_pong::ABOUT, needs: &[Rows], judge: claim_ping_pong::judge },
    Check { about: poison::ABOUT, needs: &[Rows], judge: poison::judge },
    Check { about: stale_tail::ABOUT, needs: &[Rows], judge: stale_tail::judge },
    Check { about: reads_history::ABOUT, needs: &[Consumers], judge: reads_history::judge },
    Check { about: hot_consumer::ABOUT, needs: &[Consumers], judge: hot_consumer::judge },
    Check { about: retention_race::ABOUT, needs: &[Facts], judge: retention_race::judge },
    Check { about: trimmed::ABOUT_UNREAD, needs: &[Facts, OneMoment], judge: trimmed::judge_unread },
    Check { about: payload_gone::ABOUT, needs: &[Facts, Rows, Entries], judge: payload_gone::judge },
    Check { about: cursor_beyond_end::ABOUT, needs: &[Facts], judge: cursor_beyond_end::judge },
    Check { about: entries_read_ahead::ABOUT, needs: &[Facts, OneMoment], judge: entries_read_ahead::judge },
    Check { about: tail_held::ABOUT, needs: &[Facts], judge: tail_held::judge },
    Check { about: claimed::ABOUT, needs: &[Rows], judge: claimed::judge },
    Check { about: unowned::ABOUT, needs: &[Rows], judge: unowned::judge },
    Check { about: no_consumers::ABOUT, needs: &[], judge: no_consumers::judge },
    Check { about: noack::ABOUT, needs: &[Consumers], judge: noack::judge },
    Check { about: consumer_churn::ABOUT, needs: &[Consumers], judge: consumer_churn::judge },
];

/// One check of a stream as a whole.
struct StreamCheck {
    about: About,
    judge: fn(&StreamCase) -> Option<Finding>,
}

/// Worst first, as they are shown.
const STREAM_CHECKS: &[StreamCheck] = &[
    StreamCheck { about: ids_exhausted::ABOUT, judge: ids_exhausted::judge },
    StreamCheck { about: expires::ABOUT, judge: expires::judge },
    StreamCheck { about: trimmed::ABOUT, judge: trimmed::judge },
    StreamCheck { about: retention::ABOUT, judge: retention::judge },
    StreamCheck { about: group_churn::ABOUT, judge: group_churn::judge },
    StreamCheck { about: split_key::ABOUT, judge: split_key::judge },
    StreamCheck { about: duplicates_refused::ABOUT, judge: duplicates_refused::judge },
];

/// One check of the servers.
struct ServerCheck {
    about: About,
    judge: fn(&ServerCase) -> Option<Finding>,
}

const SERVER_CHECKS: &[ServerCheck] = &[
    ServerCheck { about: writes_refused::ABOUT, judge: writes_refused::judge },
    ServerCheck { about: other_database::ABOUT, judge: other_database::judge },
];

/// All checks, of servers, groups and streams, in the order in which they are shown.
pub fn all() -> impl Iterator<Item = About> {
    let of_servers = SERVER_CHECKS.iter().map(|check| check.about);
    let of_groups = CHECKS.iter().map(|check| check.about);
    of_servers.chain(of_groups).chain(STREAM_CHECKS.iter().map(|check| check.about))
}

/// Checks of servers and streams that cannot be judged, because the command is denied on which they rest.
pub fn cannot_tell(store: &Store) -> Vec<&'static str> {
    let needs = [(writes_refused::ABOUT, "INFO"), (other_database::ABOUT, "INFO"), (expires::ABOUT, "PTTL")];
    let denied = needs.iter().filter(|(_, command)| store.denied.contains(command));
    denied.map(|(about, _)| about.id).filter(|id| store.settings.names(id)).collect()
}

pub fn ids() -> impl Iterator<Item = &'static str> {
    all().map(|about| about.id)
}

/// The table of docs/symptoms.md.
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

fn judge(case: &Case) -> Judgement {
    let mut judgement = Judgement::default();
    let counted = case.group.facts.pending.value().is_some();
    for (index, check) in CHECKS.iter().enumerate().filter(|(_, check)| case.settings.names(check.about.id)) {
        match if counted { (check.judge)(case) } else { Verdict::NotEnoughData } {
            Verdict::Ok => judgement.quiet.add(index),
            Verdict::NotEnoughData if check.needs.iter().any(|need| case.lacks(*need)) => {
                judgement.cannot_tell.add(index);
            }
            Verdict::NotEnoughData => judgement.waiting.add(index),
            Verdict::Found(found) => judgement.findings.extend(found),
        }
    }
    judgement
}

/// A consumer or group that was not seen for this long is left over, in milliseconds.
const LEFT_OVER_MS: i64 = 86_400_000;

/// Trends are judged over this window, in milliseconds.
const WINDOW_MS: u64 = 60_000;
/// No trend is judged over a shorter time, in milliseconds.
const SPAN_MS: u64 = 5_000;
/// No trend is judged on fewer points.
const POINTS: usize = 5;

fn enough(group: &GroupState) -> bool {
    group.history.span_ms(WINDOW_MS) >= SPAN_MS && group.history.count(WINDOW_MS) >= POINTS
}

/// How many consumers got entries within the window. Up to 7.0 `idle` counts from the last success, from 7.2 on `inactive` does.
fn at_work(case: &Case) -> i64 {
    let got = |consumer: &&ConsumerFacts| {
        let ago = consumer.inactive_ms.value().map_or(consumer.idle_ms, |ms| if ms < 0 { i64::MAX } else { ms });
        idle_now(case.group, ago, case.now.mono) <= WINDOW_MS as i64
    };
    case.group.consumers().iter().filter(got).count() as i64
}

/// A consumer's idle time at `now`, in milliseconds.
fn idle_now(group: &GroupState, idle_ms: i64, now: Mono) -> i64 {
    group.aged_ms(idle_ms, group.consumers.at, now)
}
