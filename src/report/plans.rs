//! Plans and their outcomes, for scripts (`pelwatch.claim/1`, `pelwatch.seek/1` …) and for people.

use crate::core::{
    action::{Ask, Plan, Warning},
    command::Argv,
    json::{argv, name},
    outcome::{Done, Outcome},
};
use serde_json::{Map, Value, json};

/// Commands of the way back written out for people.
const UNDO_LINES: usize = 5;
/// And for scripts: there is one an entry, which would be megabytes after a large claim.
const UNDO_COMMANDS: usize = 1000;

fn done(outcome: Option<&Outcome>) -> Option<(&Done, bool)> {
    match outcome? {
        Outcome::Done(done) => Some((done, false)),
        Outcome::Unknown(_, done) => Some((done, true)),
        Outcome::Refused(_) => None,
    }
}

/// What every document begins with.
fn head(ask: &Ask) -> Map<String, Value> {
    let ask = ask.detail();
    let mut fields = Map::new();
    fields.insert("schema".to_owned(), json!(format!("pelwatch.{}/1", ask.name())));
    fields.insert("stream".to_owned(), name(ask.key()));
    fields.insert("group".to_owned(), name(ask.group()));
    fields
}

/// A plan and its outcome as JSON.
pub fn json(plan: &Plan, outcome: Option<&Outcome>) -> Value {
    let detail = plan.detail();
    let mut fields = head(&detail.ask());
    fields.extend(detail.json());
    let warning = |warning: &Warning| json!({"id": warning.id, "text": warning.text});
    let refused = match outcome {
        Some(Outcome::Refused(why)) => Some(why.to_string()),
        _ => plan.refused().map(str::to_owned),
    };
    let outcome = done(outcome).map(|(done, unknown)| {
        let mut fields = detail.outcome_json(done);
        fields.insert("unknown".to_owned(), json!(unknown));
        fields.insert("text".to_owned(), json!(outcome.map(Outcome::text)));
        if !done.undo.is_empty() {
            let undo: Vec<Value> = done.undo.iter().take(UNDO_COMMANDS).map(argv).collect();
            fields.insert("undo".to_owned(), json!(undo));
            fields.insert("undo_complete".to_owned(), json!(done.undo.len() <= UNDO_COMMANDS));
        }
        Value::Object(fields)
    });
    fields.insert("warnings".to_owned(), detail.warnings().iter().map(warning).collect());
    fields.insert("refused".to_owned(), json!(refused));
    fields.insert("commands".to_owned(), detail.commands().iter().map(argv).collect());
    fields.insert("outcome".to_owned(), json!(outcome));
    Value::Object(fields)
}

/// The document where no plan could be made: why, and no field that only a plan has.
pub fn impossible_json(ask: &Ask, why: &str) -> Value {
    let mut fields = head(ask);
    fields.insert("warnings".to_owned(), json!([]));
    fields.insert("refused".to_owned(), json!(why));
    fields.insert("commands".to_owned(), json!([]));
    fields.insert("outcome".to_owned(), Value::Null);
    Value::Object(fields)
}

/// The same as text.
pub fn impossible_text(why: &str) -> String {
    format!("refused: {why}\nnothing was written\n")
}

/// A plan with its outcome as text.
pub fn text(plan: &Plan, outcome: Option<&Outcome>, cli_words: &str) -> String {
    let detail = plan.detail();
    let mut lines: Vec<String> = detail.preview().iter().map(ToString::to_string).collect();
    lines.extend(detail.warnings().iter().map(|warning| format!("! {}: {}", warning.id, warning.text)));
    if let Some(why) = plan.refused() {
        lines.push(format!("refused: {why}"));
    }
    let line = |command: &Argv| format!("  redis-cli {cli_words} {command}");
    if let Some(outcome) = outcome {
        lines.push(outcome.text());
        let undo = done(Some(outcome)).map_or(&[][..], |(done, _)| &done.undo);
        if !undo.is_empty() {
            lines.push("the way back:".to_owned());
            lines.extend(undo.iter().take(UNDO_LINES).map(line));
            if undo.len() > UNDO_LINES {
                let rest = undo.len() - UNDO_LINES;
                lines.push(format!("  and {rest} more like it, one an entry; the journal has each entry as it was"));
            }
        }
    } else if plan.refused().is_some() {
        lines.push("nothing was written".to_owned());
    } else {
        lines.push("nothing was written; --execute --confirm GROUP does it, by this command:".to_owned());
        lines.extend(detail.commands().iter().take(3).map(line));
    }
    lines.join("\n") + "\n"
}
