//! What the dialog of an action proposes. A claim begins with the entries that the finding is about, so that the preview names them at
//! once and nobody has to know a number.

use super::{App, Pane, Place};
use crate::core::{
    action::{Ask, form::Form, place::Place as To, seek::SeekAsk},
    model::ConsumerFacts,
    name::Name,
    store::GroupState,
    symptoms::Finding,
    time::{Now, age_words},
    watch::JudgedGroup,
    words::entries,
};
use std::cmp::Reverse;

/// Without observed handling times nothing younger than this is proposed for a claim, in milliseconds.
const CAUTIOUS_IDLE_MS: i64 = 300_000;
/// With them: this many times the slowest, but nothing below this time, in milliseconds.
const TIMES_SLOWEST: i64 = 3;
const LEAST_IDLE_MS: i64 = 10_000;
/// Findings whose remedy is a claim.
const CLAIMED: &[&str] = &["holder-gone", "leftovers"];

/// The entries of a finding, as a claim would ask for them.
struct InTrouble {
    holder: Option<Name>,
    /// Idle time of the youngest of them, in milliseconds.
    youngest_ms: i64,
    /// How many there are, in words.
    what: String,
}

/// The fields of a dialog for this group, and where the proposed min-idle comes from.
pub(super) fn of(app: &App, ask: &Ask, seen: JudgedGroup, now: Now) -> (Form, String) {
    let group = seen.group;
    let trouble = if matches!(ask, Ask::Claim(_)) { in_trouble(app, seen, now) } else { None };
    let (min_idle_ms, from) = min_idle(group, trouble.as_ref(), now);
    let holder = trouble.and_then(|trouble| trouble.holder);
    let mut sources = vec![None];
    let holders = group.consumers().iter().filter(|consumer| consumer.pending > 0);
    sources.extend(holders.map(|consumer| Some(consumer.name.clone())));
    let source = sources.iter().position(|source| source.is_some() && *source == holder).unwrap_or(0);
    let targets = targets(app, seen).into_iter().filter(|name| holder.as_ref() != Some(name));
    let place = match ask {
        Ask::Seek(SeekAsk { place: To::Id(id), .. }) => *id,
        _ => app.group_screen.entry.unwrap_or(group.facts.cursor),
    };
    let form = Form {
        targets: targets.collect(),
        sources,
        source,
        min_idle: format!("{}s", min_idle_ms / 1000),
        place: place.to_string(),
        ..Form::default()
    };
    (form, from)
}

/// The one that is most alive is the likeliest to want them.
fn targets(app: &App, seen: JudgedGroup) -> Vec<Name> {
    let gone_after = seen.group.gone_after_ms(&app.watch.store.settings);
    let mut consumers: Vec<&ConsumerFacts> = seen.group.consumers().iter().collect();
    consumers.sort_by_key(|consumer| (consumer.idle_ms > gone_after, consumer.pending, &consumer.name));
    consumers.into_iter().map(|consumer| consumer.name.clone()).collect()
}

/// A time that handling does not take, and never so long that the entries in trouble fall below it.
fn min_idle(group: &GroupState, trouble: Option<&InTrouble>, now: Now) -> (i64, String) {
    let (usual, why) = match group.seen.handling_ms(1.0) {
        Some(slowest) => (
            slowest.saturating_mul(TIMES_SLOWEST).max(LEAST_IDLE_MS),
            format!("three times the slowest of {} handlings seen", group.seen.handled_ms.len()),
        ),
        None => (CAUTIOUS_IDLE_MS, "a cautious guess: no handling was seen so far".to_owned()),
    };
    match (trouble, group.oldest_idle(now.mono).value()) {
        (Some(InTrouble { youngest_ms, what, .. }), _) if *youngest_ms < usual => {
            let text = format!("{what} are idle for {} or longer", age_words(*youngest_ms));
            (*youngest_ms, text)
        }
        // a claim that moves nothing does not help: say so where the entries are younger than what is proposed
        (None, Some(oldest)) if oldest < usual => {
            (usual, format!("{why}; the oldest is idle for {}", age_words(oldest)))
        }
        _ => (usual, why),
    }
}

/// The entries of the finding that a claim would mend: the picked one, else the worst.
fn in_trouble(app: &App, seen: JudgedGroup, now: Now) -> Option<InTrouble> {
    let group = seen.group;
    let on_symptoms = matches!(app.place, Place::Group { .. }) && app.group_screen.pane == Pane::Symptoms;
    let picked = app.picked_finding().filter(|_| on_symptoms);
    let mends = |finding: &&Finding| CLAIMED.contains(&finding.id) && finding.holds_now();
    let finding =
        picked.filter(mends).or_else(|| seen.findings().filter(mends).min_by_key(|finding| Reverse(finding.level)))?;
    let Some(holder) = &finding.consumer else {
        let told = |name: &str| finding.evidence.iter().find(|(one, _)| *one == name).map(|(_, value)| *value);
        return Some(InTrouble {
            holder: None,
            youngest_ms: told("consumer_idle_ms")?,
            what: format!("the {} of consumers that were not seen", entries(told("pending")?)),
        });
    };
    let meant = |id| finding.entries.is_empty() || finding.entries.contains(&id);
    let idle: Vec<i64> = (group.pel.of(Some(holder)).filter(|row| meant(row.id)))
        .filter_map(|row| Some(group.aged_ms(row.idle_known_ms()?, group.pel.at, now.mono)))
        .collect();
    // a consumer that was not seen got nothing since
    let unseen = || group.consumers().iter().find(|one| one.name == *holder).map(|one| one.idle_ms);
    // nor did it get those that were not read so far
    let unread = finding.entries.is_empty() && !group.pel.complete;
    let youngest_ms =
        idle.iter().min().copied().into_iter().chain(unseen().filter(|_| unread || idle.is_empty())).min()?;
    let what = match idle.len() {
        0 => format!("the entries of {}", holder.shown()),
        count => format!("these {} of {}", entries(count as i64), holder.shown()),
    };
    Some(InTrouble { holder: Some(holder.clone()), youngest_ms, what })
}
