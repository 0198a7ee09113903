//! Plans and their outcomes for scripts (`pelwatch.claim/1`, `pelwatch.seek/1`) and for people.

use crate::{
    core::{
        command::Argv,
        name::Name,
        outcome::{Done, Outcome},
        plan::{
            Counted, Plan, Warning,
            claim::ClaimPlan,
            seek::{Direction, SeekPlan},
        },
        time::age_words,
    },
    journal::argv,
};
use serde_json::{Value, json};

/// Commands of the way back written out for people.
const UNDO_LINES: usize = 5;
/// And for scripts: there is one an entry, which would be megabytes after a large claim.
const UNDO_COMMANDS: usize = 1000;

fn name(name: &Name) -> Value {
    json!({"text": name.shown(), "hex": name.hex()})
}

fn counted(count: Counted) -> Value {
    json!({"kind": if count.exact { "exact" } else { "at_least" }, "value": count.value})
}

fn warnings(warnings: &[Warning]) -> Value {
    warnings.iter().map(|warning| json!({"id": warning.id, "text": warning.text})).collect()
}

/// What was refused: by the plan, or when it was to be carried out.
fn refused(plan: Option<&str>, outcome: Option<&Outcome>) -> Option<String> {
    match outcome {
        Some(Outcome::Refused(why)) => Some(why.to_string()),
        _ => plan.map(str::to_owned),
    }
}

fn done(outcome: Option<&Outcome>) -> Option<(&Done, bool)> {
    match outcome? {
        Outcome::Done(done) => Some((done, false)),
        Outcome::Unknown(_, done) => Some((done, true)),
        Outcome::Refused(_) => None,
    }
}

/// A claim as JSON.
pub fn claim_json(plan: &ClaimPlan, outcome: Option<&Outcome>) -> Value {
    let from: Vec<Value> = plan
        .from
        .iter()
        .map(|holder| {
            json!({
                "consumer": holder.consumer.as_ref().map(name),
                "entries": holder.entries,
                "active": holder.active,
                "oldest_idle_ms": holder.oldest_idle_ms,
            })
        })
        .collect();
    let outcome_json = done(outcome).map(|(done, unknown)| {
        json!({
            "claimed": done.claimed, "removed": done.removed, "scan_complete": done.scan_complete,
            "cursor": done.scan_cursor.map(|id| id.to_string()), "unknown": unknown,
            "text": outcome.map(Outcome::text),
            "undo": done.undo.iter().take(UNDO_COMMANDS).map(argv).collect::<Vec<_>>(),
            "undo_complete": done.undo.len() <= UNDO_COMMANDS,
        })
    });
    json!({
        "schema": "pelwatch.claim/1",
        "stream": name(&plan.ask.key),
        "group": name(&plan.ask.group),
        "target": name(&plan.ask.target),
        "target_exists": plan.target_exists,
        "target_active": plan.target_active,
        "min_idle_ms": plan.ask.min_idle_ms,
        "justid": plan.ask.justid,
        "would_move": counted(plan.would_move),
        "would_move_empty": plan.would_move_empty,
        "would_remove": counted(plan.would_remove),
        "from": from,
        "first_id": plan.span().map(|(first, _)| first.to_string()),
        "last_id": plan.span().map(|(_, last)| last.to_string()),
        "warnings": warnings(&plan.warnings),
        "refused": refused(plan.refused.as_deref(), outcome),
        "commands": plan.commands.iter().map(argv).collect::<Vec<_>>(),
        "outcome": outcome_json,
    })
}

/// A move of the cursor as JSON.
pub fn seek_json(plan: &SeekPlan, outcome: Option<&Outcome>) -> Value {
    let mut skipped = counted(plan.skipped);
    skipped["first_id"] = json!(plan.skipped_span.map(|(first, _)| first.to_string()));
    skipped["last_id"] = json!(plan.skipped_span.map(|(_, last)| last.to_string()));
    let mut redelivered = counted(plan.redelivered);
    redelivered["acked"] = json!(plan.redelivered.value - plan.redelivered_pending);
    redelivered["pending"] = json!(plan.redelivered_pending);
    redelivered["acked_sure"] = json!(plan.acked_sure);
    let outcome_json = done(outcome).map(|(done, unknown)| {
        json!({"cursor": done.cursor.map(|id| id.to_string()), "unknown": unknown, "text": outcome.map(Outcome::text)})
    });
    json!({
        "schema": "pelwatch.seek/1",
        "stream": name(&plan.ask.key),
        "group": name(&plan.ask.group),
        "cursor": plan.cursor.to_string(),
        "target": plan.target.to_string(),
        "direction": plan.direction.word(),
        "skipped": skipped,
        "redelivered": redelivered,
        "pending_untouched": plan.pending_untouched,
        "entries_read": null,
        "warnings": warnings(&plan.warnings),
        "refused": refused(plan.refused.as_deref(), outcome),
        "command": argv(&plan.command),
        "undo": argv(&plan.undo),
        "guard": plan.guard.word(),
        "outcome": outcome_json,
    })
}

/// The preview of any plan in lines, for the dialog and for the shell.
pub fn preview(plan: &Plan) -> Vec<String> {
    match plan {
        Plan::Claim(plan) => claim_lines(plan),
        Plan::Seek(plan) => seek_lines(plan),
        Plan::Entries(plan) => {
            let what = match &plan.ask.what {
                crate::core::plan::entries::What::MoveTo(target) => format!("would go to {target}"),
                crate::core::plan::entries::What::Acknowledge => {
                    "would be acknowledged without being processed".to_owned()
                }
            };
            vec![format!("{} of {} marked entries are pending and {what}", plan.rows.len(), plan.ask.ids.len())]
        }
        Plan::Undo(plan) => vec![format!(
            "{} entries would go back from {} to their former owners, as they were",
            plan.rows.len(),
            plan.ask.claim.target
        )],
        Plan::Consumer(plan) => {
            vec![format!("{} would be deleted from {}; it holds nothing", plan.consumer, plan.group)]
        }
    }
}

fn claim_lines(plan: &ClaimPlan) -> Vec<String> {
    let mut lines = vec![format!(
        "{} entries idle for {} or longer would move to {}",
        plan.would_move.text(),
        age_words(plan.ask.min_idle_ms),
        plan.ask.target
    )];
    if let Some((first, last)) = plan.span() {
        lines.push(format!("ids {first} to {last}"));
    }
    for holder in &plan.from {
        let from = holder.consumer.as_ref().map_or("nobody (released)".to_owned(), Name::shown);
        let idle = holder.oldest_idle_ms.map_or(String::new(), |ms| format!(", the oldest idle for {}", age_words(ms)));
        lines.push(format!("from {from}: {}{idle}{}", holder.entries, if holder.active { ", ACTIVE now" } else { "" }));
    }
    if plan.would_remove.value > 0 {
        lines.push(format!("{} without payload would be removed from the pending list", plan.would_remove.text()));
    }
    lines
}

fn seek_lines(plan: &SeekPlan) -> Vec<String> {
    let mut lines = vec![format!("the cursor would go from {} to {}", plan.cursor, plan.target)];
    match plan.direction {
        Direction::Back => lines.push(format!(
            "back: {} entries would be delivered again, {} of them acked{} (processed again) and {} pending (they change hands, their counts start anew)",
            plan.redelivered.text(),
            plan.redelivered.value - plan.redelivered_pending,
            if plan.acked_sure { "" } else { " or never delivered" },
            plan.redelivered_pending
        )),
        Direction::Forward => {
            let span = plan.skipped_span.map_or(String::new(), |(first, last)| format!(", {first} to {last}"));
            lines.push(format!("forward: {} unread entries would be lost to this group{span}", plan.skipped.text()));
        }
        Direction::None => lines.push("that is where it is".to_owned()),
    }
    lines.push(format!("{} pending entries stay as they are, and so do other groups", plan.pending_untouched));
    lines
}

/// A plan with its outcome as text.
pub fn text(plan: &Plan, outcome: Option<&Outcome>, cli_words: &str) -> String {
    // a move that could not even be worked out has no preview
    let impossible = matches!(plan, Plan::Seek(plan) if plan.refused.is_some() && plan.direction == Direction::None);
    let mut lines = if impossible { Vec::new() } else { preview(plan) };
    lines.extend(plan.warnings().iter().map(|warning| format!("! {}: {}", warning.id, warning.text)));
    if let Some(why) = plan.refused() {
        lines.push(format!("refused: {why}"));
    }
    let line = |command: &Argv| format!("  redis-cli {cli_words} {command}");
    if let Some(outcome) = outcome {
        lines.push(outcome.text());
        let undo = done(Some(outcome)).map_or(&[][..], |(done, _)| &done.undo);
        if !undo.is_empty() {
            lines.push("the way back:".to_owned());
            lines.extend(undo.iter().take(UNDO_LINES).map(&line));
            if undo.len() > UNDO_LINES {
                let rest = undo.len() - UNDO_LINES;
                lines.push(format!("  and {rest} more like it, one an entry; the journal has each entry as it was"));
            }
        }
    } else if plan.refused().is_some() {
        lines.push("nothing was written".to_owned());
    } else {
        lines.push("nothing was written; --execute --confirm GROUP does it, by this command:".to_owned());
        lines.extend(plan.commands().iter().take(3).map(line));
    }
    lines.join("\n") + "\n"
}
