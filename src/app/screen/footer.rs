//! The bottom line: the keys that work here, from the action table; or a notice, or the filter while it is typed.

use super::{Bar, Tone, bold, span};
use crate::app::{
    App, LinkState, Place,
    cells::cut,
    keymap::{Action, BINDINGS, holds},
    overview::open_pattern,
};

/// What stays of the keys while the line says something else.
const HELP_AND_LEAVE_CELLS: usize = 20;

pub fn view(app: &App) -> Bar {
    if app.dialog().is_some() {
        let text = app.notice.as_ref().map_or("the dialog takes all keys", |notice| notice.text.as_str());
        return Bar {
            left: vec![(0, vec![span(text, if app.notice.is_some() { Tone::Warn } else { Tone::Dim })])],
            right: Vec::new(),
        };
    }
    let typed = [&app.overview.filter, &app.group_screen.filter, &app.group_screen.search];
    let typed = typed.into_iter().find(|filter| filter.typing);
    if let Some(filter) = typed.filter(|_| app.overlay.is_none()) {
        let input = vec![
            bold("/", Tone::Accent),
            span(crate::core::name::visible(filter.text.as_bytes()), Tone::Plain),
            bold("▏", Tone::Accent),
        ];
        let hint = vec![span("Enter keep  Esc clear", Tone::Dim)];
        return Bar { left: vec![(0, input)], right: vec![(1, hint)] };
    }
    if let Some(notice) = &app.notice {
        return Bar { left: vec![(0, vec![span(&notice.text, Tone::Accent)])], right: Vec::new() };
    }
    let mut left = Vec::new();
    // why nobody answers comes before the keys, all but help and the way out
    if let LinkState::Down { why, .. } = &app.link {
        let room = usize::from(app.size.0).saturating_sub(HELP_AND_LEAVE_CELLS);
        left.push((0, vec![bold(cut(why, room), Tone::Critical)]));
    }
    for (index, binding) in
        BINDINGS.iter().filter(|binding| !binding.word.is_empty() && holds(app, binding.scope)).enumerate()
    {
        let idle = match binding.action {
            Action::Open => app.overlay.is_some(),
            Action::Back => {
                app.overlay.is_none()
                    && app.place == Place::Overview
                    && app.overview.filter.text.is_empty()
                    && open_pattern(app).is_none()
            }
            Action::Log => app.watch.store.events.is_empty(),
            // Esc is named for the same
            Action::Leave => app.overlay.is_some() || app.place != Place::Overview,
            _ => false,
        };
        if idle {
            continue;
        }
        let word = match binding.action {
            Action::Pause if app.frozen.is_some() => "go on",
            Action::Alone if app.group_screen.alone => "all panes",
            _ => binding.word,
        };
        // drop help, quit and the end of a pause last
        let stays = matches!(binding.action, Action::Help | Action::Leave)
            || (binding.action == Action::Pause && app.frozen.is_some());
        // the log has lines only after something was lost or moved, so this key comes before all others
        let rank = match binding.action {
            _ if stays => 0,
            Action::Log => 1,
            _ => u8::try_from(index + 2).unwrap_or(u8::MAX),
        };
        left.push((rank, vec![bold(binding.keys[0].to_string(), Tone::Accent), span(format!(" {word}"), Tone::Dim)]));
    }
    Bar { left, right: Vec::new() }
}
