//! The dialog of an action as lines.

use super::{Line, OverlayView, Tone, bold, boxed::boxed, span};
use crate::{
    app::{
        App,
        dialog::{Dialog, Part, Stage, way_back},
    },
    core::{
        action::{Plan, Weight, form::Field},
        name::Name,
        outcome::Outcome,
        words::entries,
    },
};

/// Commands written out.
const COMMANDS: usize = 2;

pub fn view(app: &App, dialog: &Dialog) -> OverlayView {
    let mut lines = vec![vec![
        span("stream ", Tone::Dim),
        bold(dialog.ask.detail().key().shown(), Tone::Plain),
        span("   group ", Tone::Dim),
        bold(dialog.ask.detail().group().shown(), Tone::Plain),
        span("   on ", Tone::Dim),
        bold(&app.session.endpoint, Tone::Plain),
    ]];
    lines.push(Line::new());
    if dialog.stage == Stage::Asking {
        lines.extend(fields(dialog));
    }
    lines.extend(preview(dialog));
    match &dialog.stage {
        Stage::Asking => lines.extend(confirmation(app, dialog)),
        Stage::Running(claimed, removed) => {
            lines
                .push(vec![bold(format!("under way: {} claimed, {removed} removed", entries(*claimed)), Tone::Accent)]);
            lines.push(vec![span("Esc stops after the batch under way", Tone::Dim)]);
        }
        Stage::Ended(outcome, _) => lines.extend(result(dialog, outcome)),
    }
    // on a small screen the end matters most: confirmation, buttons, outcome
    boxed(app, dialog.ask.detail().title(), &lines, lines.len())
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
        let Part::Field(of) = part else { continue };
        let form = &dialog.form;
        let line = match of {
            Field::Source => {
                let name = form.chosen_source().map_or("anybody".to_owned(), |name| name.shown());
                let count = form.sources.len();
                field(
                    dialog,
                    part,
                    "from",
                    &format!("‹ {name} ›"),
                    &format!("← → chooses, {} of {count}", form.source + 1),
                )
            }
            Field::Target => {
                let name = form.targets.get(form.target).map_or("nobody".to_owned(), Name::shown);
                let count = form.targets.len();
                let hint = format!("← → chooses, {} of {count}", (form.target + 1).min(count));
                field(dialog, part, "to", &format!("‹ {name} ›"), &hint)
            }
            Field::MinIdle => field(dialog, part, "min idle", &shown(&form.min_idle), &dialog.min_idle_from),
            Field::Limit => {
                let hint = if form.limit.is_empty() { "no limit" } else { "entries" };
                field(dialog, part, "at most", &shown(&form.limit), hint)
            }
            Field::Place => {
                field(dialog, part, "to", &shown(&form.place), "an id, $, 0, +3, -3, 10m-ago, 2026-11-30T12:00:00Z")
            }
            Field::InUse => {
                let hint = "type \"in use\" to delete a group that is in use";
                field(dialog, part, "in use", &shown(&form.in_use), hint)
            }
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
    let detail = plan.detail();
    let piece = |(weight, text): &(Weight, String)| match weight {
        Weight::Plain => span(text, Tone::Plain),
        Weight::Number => bold(text, Tone::Heat(2)),
        Weight::Loud => bold(text, Tone::Critical),
        Weight::Accent => bold(text, Tone::Accent),
        Weight::Quiet => span(text, Tone::Dim),
    };
    let mut lines: Vec<Line> = detail.preview().iter().map(|line| line.0.iter().map(piece).collect()).collect();
    lines.extend(detail.warnings().iter().map(|warning| {
        let (sign, tone) = if warning.is_note { ("  ", Tone::Dim) } else { ("! ", Tone::Warn) };
        vec![bold(sign, tone), span(&warning.text, tone)]
    }));
    if let Some(why) = plan.refused() {
        lines.push(vec![bold("refused: ", Tone::Critical), span(why, Tone::Critical)]);
    }
    lines.push(Line::new());
    let commands = detail.commands();
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
    if !app.session.may_act {
        lines.push(vec![span(
            format!("This session only reads{}. y copies the command.", app.session.why_read_only),
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
    let label = format!("Type {} to confirm: ", dialog.phrase());
    let mut confirm = field(dialog, Part::Confirm, &label, &typed, "");
    if let Some(label) = confirm.get_mut(1) {
        label.tone = Tone::Plain;
    }
    lines.push(confirm);
    if let Some(answer) = &dialog.answer {
        lines.push(vec![span(format!("  {answer}"), Tone::Warn)]);
    }
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

fn result(dialog: &Dialog, outcome: &Outcome) -> Vec<Line> {
    let (word, tone) = match outcome {
        Outcome::Done(_) => ("done", Tone::Accent),
        Outcome::Refused(_) => ("not done", Tone::Warn),
        Outcome::Unknown(..) => ("OUTCOME UNKNOWN", Tone::Critical),
    };
    let mut lines = vec![vec![bold(format!("{word}: "), tone), span(outcome.text(), Tone::Plain)]];
    let back = way_back(dialog, outcome, 0).is_some();
    // a way back that is a command only, as after a group was deleted
    if let (false, Outcome::Done(done)) = (back, outcome) {
        for command in done.undo.iter().take(COMMANDS) {
            lines.push(vec![span("the way back: ", Tone::Dim), span(command.to_string(), Tone::Accent)]);
        }
    }
    lines.push(Line::new());
    let keys = if back { "b the way back, as a plan of its own   Esc closes" } else { "Esc closes" };
    lines.push(vec![span(keys, Tone::Dim)]);
    lines
}
