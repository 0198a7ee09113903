//! The result of a check: a level, a sentence, the numbers behind it, a first command.

use super::{hold::is_held, ids::Ids};
use crate::core::{command::Argv, id::EntryId, name::Name, time::utc_minute};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
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

/// What a check is about, independent of a single finding: its row in docs/symptoms.md.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct About {
    /// Stable id, as in `holder-gone`.
    pub id: &'static str,
    /// The levels it can have, from mild to bad.
    pub levels: &'static [Level],
    /// What it reports, without names and numbers.
    pub says: &'static str,
    /// The usual cause; a finding may name a more specific one.
    pub cause: &'static str,
    /// What can be done; a finding may name something more specific.
    pub remedy: &'static str,
}

impl About {
    /// A finding of this check with its usual cause and remedy, and a first command to look closer.
    pub fn finding(&self, level: Level, text: impl Into<String>, check: Argv) -> Finding {
        Finding {
            id: self.id,
            level,
            consumer: None,
            text: text.into(),
            evidence: Vec::new(),
            cause: self.cause,
            check,
            remedy: self.remedy,
            also: Vec::new(),
            entries: Vec::new(),
            lasted_ms: None,
            since_ms: None,
            cleared_ms: None,
            known_until_ms: None,
        }
    }
}

/// Something that a check found.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    pub id: &'static str,
    pub level: Level,
    pub consumer: Option<Name>,
    /// The finding as a sentence.
    pub text: String,
    /// The numbers behind it, with units in their names.
    pub evidence: Vec<(&'static str, i64)>,
    /// The likely cause.
    pub cause: &'static str,
    /// A first command to look closer; it only reads.
    pub check: Argv,
    /// What can be done.
    pub remedy: &'static str,
    /// Ids of other checks that fired for the same reason: this one explains them.
    pub also: Vec<&'static str>,
    /// The entries meant, at most a hundred, where it is about single entries.
    pub entries: Vec<EntryId>,
    /// For how long it has lasted by the facts, in milliseconds, where they tell it; else it counts from when it was first seen.
    pub lasted_ms: Option<i64>,
    /// When it began, in Unix milliseconds, or was first seen; `None` before the verdict over its group was made.
    pub since_ms: Option<i64>,
    /// Its condition no longer holds: when it last did, in Unix milliseconds. It keeps its place for a while, in the past tense.
    pub cleared_ms: Option<i64>,
    /// The user said that it is known: until then, in Unix milliseconds, it counts as information.
    pub known_until_ms: Option<i64>,
}

/// The id of a check, and the consumer that is meant.
pub type FindingKey = (&'static str, Option<Name>);

/// What a finding is about: there one looks first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Thing {
    /// The entry that is worst, or the first.
    Entry(EntryId),
    Consumer(Name),
    /// The group, or the whole stream.
    Group,
}

/// Findings about single entries, although they name a consumer.
const OF_ENTRIES: &[&str] = &["poison", "redelivered", "claim-ping-pong", "payload-gone"];

/// Most entries that a finding names.
const MOST_ENTRIES: usize = 100;

impl Finding {
    /// What tells it from other findings of the same group or stream.
    pub fn key(&self) -> FindingKey {
        // a finding over a trend is about the whole group, whichever consumer it names now
        (self.id, self.consumer.clone().filter(|_| !is_held(self.id)))
    }

    /// What it is about.
    pub fn thing(&self) -> Thing {
        let first = self.entries.first().copied().map(Thing::Entry);
        let consumer = self.consumer.clone().map(Thing::Consumer);
        let things = if OF_ENTRIES.contains(&self.id) { first.or(consumer) } else { consumer.or(first) };
        things.unwrap_or(Thing::Group)
    }

    /// Its level in the verdict over all.
    pub fn counts_as(&self) -> Level {
        if self.known_until_ms.is_some() { Level::Info } else { self.level }
    }

    /// What it says, behind what the user said of it.
    pub fn sentence(&self) -> String {
        match self.known_until_ms {
            Some(until) => format!("known, quiet until {}: {}", utc_minute(until), self.text),
            None => self.text.clone(),
        }
    }

    /// Whether its condition holds now.
    pub fn holds_now(&self) -> bool {
        self.cleared_ms.is_none()
    }

    #[must_use]
    pub fn of_entries(mut self, ids: impl IntoIterator<Item = EntryId>) -> Self {
        self.entries = ids.into_iter().take(MOST_ENTRIES).collect();
        self
    }

    /// Names a cause that fits what was seen better than the usual one.
    #[must_use]
    pub fn because(mut self, cause: &'static str) -> Self {
        self.cause = cause;
        self
    }

    /// Names a remedy that fits what was seen better than the usual one.
    #[must_use]
    pub fn advising(mut self, remedy: &'static str) -> Self {
        self.remedy = remedy;
        self
    }

    #[must_use]
    pub fn about(mut self, consumer: Option<Name>) -> Self {
        self.consumer = consumer;
        self
    }

    /// The facts tell for how long it has lasted, in milliseconds.
    #[must_use]
    pub fn lasting(mut self, ms: i64) -> Self {
        self.lasted_ms = Some(ms);
        self
    }

    /// Adds a number behind the finding.
    #[must_use]
    pub fn with(mut self, name: &'static str, value: i64) -> Self {
        self.evidence.push((name, value));
        self
    }

    /// Adds a number behind the finding, if it is known.
    #[must_use]
    pub fn with_known(mut self, name: &'static str, value: Option<i64>) -> Self {
        self.evidence.extend(value.map(|value| (name, value)));
        self
    }
}

/// The result of a check.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// Nothing wrong.
    Ok,
    /// It cannot decide yet.
    NotEnoughData,
    /// It fired.
    Found(Vec<Finding>),
}

impl From<Finding> for Verdict {
    fn from(finding: Finding) -> Self {
        Self::Found(vec![finding])
    }
}

/// A number that makes a check fire, and the lower one down to which it stays fired, so that nothing flickers between two ticks.
#[derive(Clone, Copy, Debug)]
pub struct Threshold<T> {
    pub fires: T,
    pub stays: T,
}

impl<T: Copy> Threshold<T> {
    /// The number to compare with.
    pub fn at(&self, fired: bool) -> T {
        if fired { self.stays } else { self.fires }
    }
}

/// The results of all checks of one group.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Judgement {
    pub findings: Vec<Finding>,
    /// Checks that found nothing.
    pub quiet: Ids,
    /// Checks that need more time.
    pub waiting: Ids,
    /// Checks that cannot be judged: what they need is denied, absent or too costly to read.
    pub cannot_tell: Ids,
}

impl Judgement {
    /// The worst level that fired, without what the user marked as known.
    pub fn level(&self) -> Option<Level> {
        self.findings.iter().map(Finding::counts_as).max()
    }
}
