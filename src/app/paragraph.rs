//! A finding as a paragraph to paste into a chat.

use super::{App, Place};
use crate::core::{symptoms::Finding, time::rfc3339};

/// Where it is, since when, what, why and what to do.
pub fn paragraph(app: &App, finding: &Finding) -> String {
    let place = match &app.place {
        Place::Group { key, group } => format!("{}/{}", key.shown(), group.shown()),
        Place::Overview => String::new(),
    };
    let since = finding.since_ms.map_or(String::new(), |since| {
        let word = if finding.lasted_ms.is_some() { "since" } else { "seen since" };
        format!(", {word} {}", rfc3339(since))
    });
    format!(
        "{place} on {}: {} {}{since}: {}. Likely cause: {}. To do: {}. First check: {}",
        app.session.endpoint,
        finding.level.word(),
        finding.id,
        finding.sentence(),
        finding.cause,
        finding.remedy,
        finding.check
    )
}
