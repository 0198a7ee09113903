//! The dialog of an action as lines.

use super::{Line, OverlayView, Tone, bold, overlay::boxed, span};
use crate::{
    app::{
        App,
        dialog::{Dialog, Kind, Part, Stage},
    },
    core::{
        name::Name,
        outcome::Outcome,
        plan::{
            Plan,
            claim::ClaimPlan,
            entries::What,
            seek::{Direction, SeekPlan},
        },
        time::age_words,
    },
};

/// Commands written out.
const COMMANDS: usize = 2;

pub fn view(app: &App, dialog: &Dialog) -> OverlayView {
    let mut lines = vec![vec![
        span("stream ", Tone::Dim),
        bold(dialog.key.shown(), Tone::Plain),
        span("   group ", Tone::Dim),
        bold(dialog.group.shown(), Tone::Plain),
        span("   on ", Tone::Dim),
        bold(&app.endpoint, Tone::Plain),
    ]];
    lines.push(Line::new());
    if dialog.stage == Stage::Asking {
        lines.extend(fields(dialog));
    }
    lines.extend(preview(dialog));
    match &dialog.stage {
        Stage::Asking => lines.extend(confirmation(app, dialog)),
        Stage::Running(claimed, removed) => {
            lines.push(vec![bold(format!("under way: {claimed} claimed, {removed} removed"), Tone::Accent)]);
            lines.push(vec![span("Esc stops after the batch under way", Tone::Dim)]);
        }
        Stage::Ended(outcome, _) => lines.extend(result(outcome)),
    }
    // on a small screen the end matters most: confirmation, buttons, outcome
    boxed(app, title(dialog), &lines, lines.len())
}

fn title(dialog: &Dialog) -> String {
    match &dialog.kind {
        Kind::Claim => "Claim idle entries".to_owned(),
        Kind::Seek => "Move the cursor".to_owned(),
        Kind::Hand(ids) => format!("Hand {} marked entries over", ids.len()),
        Kind::Acknowledge(ids) => format!("Acknowledge {} marked entries", ids.len()),
        Kind::Delete(name) => format!("Delete the consumer {name}"),
        Kind::GiveBack(_) => "Give claimed entries back".to_owned(),
    }
}

fn field(dialog: &Dialog, part: Part, label: &str, value: &str, hint: &str) -> Line {
    let here = dialog.part == part;
    let caret = if here { "▏" } else { "" };
    vec![
        bold(if here { "▌ " } else { "  " }, Tone::Accent),
        span(format!("{label:<12}"), Tone::Dim),
        super::Span {
            text: format!("{value}{caret}"),
            tone: if here { Tone::Accent } else { Tone::Plain },
            bold: here,
        },
        span(format!("  {hint}"), Tone::Dim),
    ]
}

fn fields(dialog: &Dialog) -> Vec<Line> {
    let mut lines = Vec::new();
    let shown = |text: &str| crate::core::name::visible(text.as_bytes());
    for part in dialog.parts() {
        let line = match part {
            Part::Target => {
                let name = dialog.targets.get(dialog.target).map_or("nobody".to_owned(), Name::shown);
                let hint = format!(
                    "← → chooses, {} of {}",
                    (dialog.target + 1).min(dialog.targets.len()),
                    dialog.targets.len()
                );
                field(dialog, part, "to", &format!("‹ {name} ›"), &hint)
            }
            Part::MinIdle => field(dialog, part, "idle since", &shown(&dialog.min_idle), &dialog.min_idle_from),
            Part::Limit => field(
                dialog,
                part,
                "at most",
                &shown(&dialog.limit),
                if dialog.limit.is_empty() { "no limit" } else { "entries" },
            ),
            Part::Where => {
                field(dialog, part, "to", &shown(&dialog.place), "an id, $, 0, +3, -3, 10m-ago, 2026-11-30T12:00:00Z")
            }
            _ => continue,
        };
        lines.push(line);
    }
    if !lines.is_empty() {
        lines.push(Line::new());
    }
    lines
}

fn preview(dialog: &Dialog) -> Vec<Line> {
    let plan = match (&dialog.wrong, &dialog.plan) {
        (Some(why), _) => return vec![vec![span(why, Tone::Warn)]],
        (None, None) => return vec![vec![span("Enter or Tab shows what would happen …", Tone::Dim)]],
        (None, Some(Err(why))) => return vec![vec![bold(why, Tone::Critical)]],
        (None, Some(Ok(plan))) => plan,
    };
    let mut lines = match plan.as_ref() {
        Plan::Claim(plan) => claim(plan),
        Plan::Seek(plan) => seek(plan),
        Plan::Entries(plan) => {
            let what = match &plan.ask.what {
                What::MoveTo(target) => format!(" would go to {target}"),
                What::Acknowledge => " would be acknowledged; this group will never process them".to_owned(),
            };
            vec![vec![
                bold(plan.rows.len().to_string(), Tone::Heat(2)),
                span(format!(" of {} marked entries{what}", plan.ask.ids.len()), Tone::Plain),
            ]]
        }
        Plan::Consumer(plan) if plan.refused.is_some() => Vec::new(),
        Plan::Consumer(plan) => {
            vec![vec![span(format!("{} would be deleted; it holds nothing", plan.consumer), Tone::Plain)]]
        }
        Plan::Undo(plan) => vec![vec![
            bold(plan.rows.len().to_string(), Tone::Heat(2)),
            span(
                format!(
                    " entries would go back from {} to their former owners, with their idle times and counts",
                    plan.ask.claim.target
                ),
                Tone::Plain,
            ),
        ]],
    };
    lines.extend(plan.warnings().iter().map(|warning| {
        let tone = if matches!(warning.id, "read-own-history" | "readers-blocked") { Tone::Dim } else { Tone::Warn };
        vec![bold(if tone == Tone::Warn { "! " } else { "  " }, tone), span(&warning.text, tone)]
    }));
    if let Some(why) = plan.refused() {
        lines.push(vec![bold("refused: ", Tone::Critical), span(why, Tone::Critical)]);
    }
    lines.push(Line::new());
    let commands = plan.commands();
    for command in commands.iter().take(COMMANDS) {
        lines
            .push(vec![span("  ", Tone::Plain), span(crate::app::cells::cut(&command.to_string(), 110), Tone::Accent)]);
    }
    if commands.len() > COMMANDS {
        lines.push(vec![span(format!("  and {} more like it", commands.len() - COMMANDS), Tone::Dim)]);
    }
    lines.push(Line::new());
    lines
}

fn claim(plan: &ClaimPlan) -> Vec<Line> {
    let mut lines = vec![vec![
        bold(plan.would_move.text(), Tone::Heat(2)),
        span(
            format!(
                " entries idle for {} or longer would move to {}",
                age_words(plan.ask.min_idle_ms),
                plan.ask.target
            ),
            Tone::Plain,
        ),
    ]];
    for holder in plan.from.iter().take(5) {
        let from = holder.consumer.as_ref().map_or("nobody (released)".to_owned(), Name::shown);
        let idle = holder.oldest_idle_ms.map_or(String::new(), |ms| format!(", the oldest idle for {}", age_words(ms)));
        let mut line = vec![span(format!("  {} from {from}{idle}", holder.entries), Tone::Plain)];
        if holder.active {
            line.push(bold("  ACTIVE NOW", Tone::Critical));
        }
        lines.push(line);
    }
    if plan.from.len() > 5 {
        lines.push(vec![span(format!("  and from {} more consumers", plan.from.len() - 5), Tone::Dim)]);
    }
    lines
}

fn seek(plan: &SeekPlan) -> Vec<Line> {
    let mut lines =
        vec![vec![span(format!("from {} to ", plan.cursor), Tone::Plain), bold(plan.target.to_string(), Tone::Accent)]];
    match plan.direction {
        Direction::Back => {
            let unsure = if plan.acked_sure { "" } else { " or never delivered" };
            lines.push(vec![
                bold(plan.redelivered.text(), Tone::Heat(2)),
                span(" entries are delivered again: ", Tone::Plain),
                span(
                    format!("{} acked{unsure}, processed twice; ", plan.redelivered.value - plan.redelivered_pending),
                    Tone::Plain,
                ),
                span(format!("{} pending, which change hands and count anew", plan.redelivered_pending), Tone::Plain),
            ]);
        }
        Direction::Forward => {
            let ids = plan.skipped_span.map_or(String::new(), |(first, last)| format!(", {first} to {last}"));
            lines.push(vec![
                bold(plan.skipped.text(), Tone::Critical),
                span(format!(" unread entries are lost to this group{ids}"), Tone::Plain),
            ]);
        }
        Direction::None => lines.push(vec![span("that is where it is", Tone::Dim)]),
    }
    lines.push(vec![span(
        format!("{} pending entries and all other groups stay as they are", plan.pending_untouched),
        Tone::Dim,
    )]);
    lines
}

fn confirmation(app: &App, dialog: &Dialog) -> Vec<Line> {
    let mut lines = Vec::new();
    if dialog.parts().contains(&Part::Moving) {
        let sign = if dialog.moving { "[x]" } else { "[ ]" };
        let bound = match &dialog.plan {
            Some(Ok(plan)) => match plan.as_ref() {
                Plan::Seek(plan) => {
                    format!("any cursor from {} to {} is accepted", plan.cursor.min(plan.target), plan.moving_bound())
                }
                _ => String::new(),
            },
            _ => String::new(),
        };
        lines.push(field(dialog, Part::Moving, sign, "the cursor is moving", &bound));
    }
    if !app.may_act {
        lines.push(vec![span(
            format!("This session only reads{}. y copies the command.", app.why_read_only),
            Tone::Warn,
        )]);
        lines.push(button(dialog, Part::Cancel, "Close", true));
        return lines;
    }
    if !dialog.parts().contains(&Part::Do) {
        lines.push(button(dialog, Part::Cancel, "Close", true));
        lines.push(vec![span("↑ changes a field   Esc closes", Tone::Dim)]);
        return lines;
    }
    let typed = crate::core::name::visible(dialog.typed.as_bytes());
    lines.push(field(dialog, Part::Confirm, "type", &typed, &format!("{} to confirm", dialog.phrase())));
    let mut buttons = button(dialog, Part::Cancel, "Cancel", true);
    buttons.extend(button(dialog, Part::Do, "Do it", dialog.ready().is_some()));
    lines.push(buttons);
    lines.push(vec![span("↑ to the fields   Tab moves on   Esc cancels   y copies the command", Tone::Dim)]);
    lines
}

fn button(dialog: &Dialog, part: Part, word: &str, enabled: bool) -> Line {
    let here = dialog.part == part;
    let tone = match (here, enabled) {
        (_, false) => Tone::Dim,
        (true, true) => Tone::Accent,
        (false, true) => Tone::Plain,
    };
    let text = if here { format!("▌[ {word} ]   ") } else { format!(" [ {word} ]   ") };
    vec![super::Span { text, tone, bold: here && enabled }]
}

fn result(outcome: &Outcome) -> Vec<Line> {
    let (word, tone) = match outcome {
        Outcome::Done(_) => ("done", Tone::Accent),
        Outcome::Refused(_) => ("not done", Tone::Warn),
        Outcome::Unknown(..) => ("OUTCOME UNKNOWN", Tone::Critical),
    };
    let mut lines = vec![vec![bold(format!("{word}: "), tone), span(outcome.text(), Tone::Plain)]];
    let back = match outcome {
        Outcome::Done(done) | Outcome::Unknown(_, done) => !done.undo.is_empty(),
        Outcome::Refused(_) => false,
    };
    lines.push(Line::new());
    let keys = if back { "b the way back, as a plan of its own   Esc closes" } else { "Esc closes" };
    lines.push(vec![span(keys, Tone::Dim)]);
    lines
}
