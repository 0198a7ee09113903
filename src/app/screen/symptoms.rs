//! Findings as sentences, and the checks that are quiet.

use super::{
    Line, Span, Tone, bold, span,
    words::{fault_words, level_mark, level_tone},
};
use crate::core::{
    symptoms::{Finding, Judgement},
    time::{Now, age_words},
    watch::JudgedGroup,
};

#[derive(Clone, Debug, PartialEq)]
pub struct SymptomItem {
    pub mark: Span,
    pub id: Span,
    /// For how long it has lasted by the facts, or has been seen; empty while that is not known.
    pub lasts: String,
    /// The sentence.
    pub text: String,
    /// The likely cause, and what can be done; shown where `in_full` is set.
    pub cause: String,
    pub remedy: String,
    pub in_full: bool,
    /// The first command to run.
    pub check: String,
    pub selected: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub struct SymptomsView {
    /// The most important number.
    pub number: Line,
    /// The findings, worst first.
    pub items: Vec<SymptomItem>,
    /// Which checks are quiet, and which cannot tell yet.
    pub note: String,
}

/// For how long a finding has been there, as of `now`.
pub fn lasts(finding: &Finding, now: Now) -> String {
    finding.since_ms.map_or(String::new(), |since| age_words(now.wall_ms.saturating_sub(since).max(0)))
}

pub fn item(finding: &Finding, selected: bool, now: Now) -> SymptomItem {
    SymptomItem {
        mark: level_mark(Some(finding.counts_as())),
        id: bold(finding.id, level_tone(finding.counts_as())),
        lasts: match lasts(finding, now) {
            age if age.is_empty() => age,
            age if finding.lasted_ms.is_some() => format!("for {age}"),
            age => format!("seen for {age}"),
        },
        text: finding.sentence(),
        cause: finding.cause.to_owned(),
        remedy: finding.remedy.to_owned(),
        in_full: selected,
        check: finding.check.to_string(),
        selected,
    }
}

/// Which checks are quiet, and which cannot tell: for lack of data, or because the server refuses a command. Quiet checks are neither
/// named nor counted: there are many, and they need no action.
pub fn note(judgement: &Judgement, refused: Option<&str>, read: bool) -> String {
    let mut parts = Vec::new();
    if !judgement.quiet.is_empty() && read {
        let alone = judgement.findings.is_empty() && judgement.waiting.is_empty() && judgement.cannot_tell.is_empty();
        parts.push(if alone { "✓ all checks quiet" } else { "✓ all other checks quiet" }.to_owned());
    }
    if !judgement.waiting.is_empty() {
        parts.push(format!("… not enough data yet: {}", judgement.waiting.text()));
    }
    if !judgement.cannot_tell.is_empty() {
        let why = refused.map_or(String::new(), |refused| format!(" ({refused})"));
        parts.push(format!("? cannot tell{why}: {}", judgement.cannot_tell.text()));
    }
    parts.join("  ")
}

pub fn view(seen: &JudgedGroup, selected: Option<usize>, answered: bool, now: Now) -> SymptomsView {
    let JudgedGroup { stream, group, judgement, .. } = *seen;
    let items: Vec<SymptomItem> =
        seen.findings().enumerate().map(|(index, finding)| item(finding, selected == Some(index), now)).collect();
    let number = match (judgement.level(), items.len()) {
        (_, 0) if !answered => vec![span("not known", Tone::Warn)],
        // a group that is ignored
        (_, 0) if judgement.quiet.is_empty() && judgement.waiting.is_empty() => vec![span("not judged", Tone::Dim)],
        (_, 0) if judgement.waiting.is_empty() => vec![span("all quiet", Tone::Dim)],
        (_, 0) => vec![span("nothing found so far", Tone::Dim)],
        (Some(level), 1) => vec![bold("1 finding", level_tone(level))],
        (Some(level), n) => vec![bold(format!("{n} findings"), level_tone(level))],
        (None, n) => vec![span(n.to_string(), Tone::Info)],
    };
    SymptomsView {
        number,
        items,
        note: note(judgement, fault_words(stream, group).as_deref(), answered && group.has_been_read()),
    }
}
