//! Findings: sign, id, the sentence, the first command.

use super::{framed, inside};
use crate::{
    app::{
        cells::{cut, wrap},
        screen::{Span, SymptomItem, SymptomsView, Tone, bold, span},
    },
    core::number::cells,
    tui::theme::Theme,
};
use ratatui::{Frame, layout::Rect};

pub fn draw(frame: &mut Frame, area: Rect, view: &SymptomsView, theme: &Theme, focused: bool) {
    frame.render_widget(framed(&vec![bold("Symptoms", Tone::Plain)], &view.number, area.width, theme, focused), area);
    draw_items(frame, inside(area), &view.items, &view.note, theme);
}

/// Draws the items from the top and scrolls so that the picked one is visible.
pub fn draw_items(frame: &mut Frame, area: Rect, items: &[SymptomItem], note: &str, theme: &Theme) {
    let room = usize::from(area.width);
    if room < 8 || area.height == 0 {
        return;
    }
    let mut lines: Vec<Vec<Span>> = Vec::new();
    let (mut picked_at, mut picked_lines) = (0, 0);
    for item in items {
        let before = lines.len();
        if item.selected {
            picked_at = before;
        }
        let lead = if item.selected { bold("▌", Tone::Accent) } else { span(" ", Tone::Plain) };
        let lasts = if item.lasts.is_empty() { String::new() } else { format!("  {}", item.lasts) };
        lines.push(vec![
            lead.clone(),
            item.mark.clone(),
            span(" ", Tone::Plain),
            item.id.clone(),
            span(lasts, Tone::Plain),
        ]);
        for text in wrap(&item.text, room - 4) {
            lines.push(vec![lead.clone(), span("  ", Tone::Plain), Span { text, tone: Tone::Plain, bold: false }]);
        }
        if item.in_full {
            for (name, text) in [("why: ", &item.cause), ("do:  ", &item.remedy)] {
                for (row, text) in wrap(text, room.saturating_sub(9)).into_iter().enumerate() {
                    let name = if row == 0 { name } else { "     " };
                    lines.push(vec![
                        lead.clone(),
                        span(format!("  {name}"), Tone::Dim),
                        Span { text, tone: Tone::Plain, bold: false },
                    ]);
                }
            }
        }
        lines.push(vec![
            lead,
            span("  first check: ", Tone::Dim),
            span(cut(&item.check, room.saturating_sub(17)), Tone::Accent),
        ]);
        if item.selected {
            picked_lines = lines.len() - before;
        }
    }
    if !note.is_empty() {
        lines.extend(wrap(note, room - 2).into_iter().map(|text| vec![span(" ", Tone::Plain), span(text, Tone::Dim)]));
    }
    let height = usize::from(area.height);
    // all of the picked one is shown, or its beginning where it is longer than the room
    let end = picked_at + picked_lines.max(4);
    let start = if end > height { (end - height).min(picked_at).min(lines.len().saturating_sub(height)) } else { 0 };
    for (row, line) in lines.iter().skip(start).take(height).enumerate() {
        theme.draw(frame.buffer_mut(), Rect { y: area.y + cells(row), height: 1, ..area }, line);
    }
}
