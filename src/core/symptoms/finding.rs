//! What a check says: a level, a sentence, the numbers behind it, a first command.

use crate::core::{command::Argv, name::Name};

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

/// What a check is about, the same for all that it finds: its row in docs/symptoms.md.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct About {
    /// Stable id, as in `holder-gone`.
    pub id: &'static str,
    /// Levels it can have, from mild to bad.
    pub levels: &'static [Level],
    /// What it says, without names and numbers.
    pub says: &'static str,
    /// What usually causes it; a finding may name a more certain one.
    pub cause: &'static str,
    /// What can be done; a finding may name something more fitting.
    pub remedy: &'static str,
}

impl About {
    /// A finding of this check, with its usual cause and remedy, and the first command to look with.
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
        }
    }
}

/// Something a check found.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// The check's id.
    pub id: &'static str,
    pub level: Level,
    /// The consumer it is about, if it is about one.
    pub consumer: Option<Name>,
    /// What a person would say.
    pub text: String,
    /// The numbers behind it, with units in their names.
    pub evidence: Vec<(&'static str, i64)>,
    /// What usually causes it.
    pub cause: &'static str,
    /// The first command to look with; it only reads.
    pub check: Argv,
    /// What can be done.
    pub remedy: &'static str,
}

impl Finding {
    /// The consumer it is about.
    #[must_use]
    pub fn about(mut self, consumer: Option<Name>) -> Self {
        self.consumer = consumer;
        self
    }

    /// A number behind it.
    #[must_use]
    pub fn with(mut self, name: &'static str, value: i64) -> Self {
        self.evidence.push((name, value));
        self
    }

    /// A number behind it, where it is known.
    #[must_use]
    pub fn with_known(mut self, name: &'static str, value: Option<i64>) -> Self {
        self.evidence.extend(value.map(|value| (name, value)));
        self
    }
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

impl From<Finding> for Verdict {
    fn from(finding: Finding) -> Self {
        Self::Found(vec![finding])
    }
}

/// A number that makes a check fire, and the lower one down to which it stays, so that nothing flickers between two ticks.
#[derive(Clone, Copy, Debug)]
pub struct Threshold<T> {
    pub fires: T,
    pub stays: T,
}

impl<T: Copy> Threshold<T> {
    /// The number that counts now.
    pub fn at(&self, fired: bool) -> T {
        if fired { self.stays } else { self.fires }
    }
}

/// What all checks say of one group.
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
