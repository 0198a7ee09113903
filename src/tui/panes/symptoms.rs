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

/// The items as lines.
struct Lines {
    lines: Vec<Vec<Span>>,
    /// Where the picked one begins, and how long it is.
    picked: (usize, usize),
}

impl Lines {
    /// `in_full` says of which items why they are there and what to do are told.
    fn new(items: &[SymptomItem], note: &str, room: usize, in_full: impl Fn(usize, &SymptomItem) -> bool) -> Self {
        let mut lines: Vec<Vec<Span>> = Vec::new();
        let mut picked = (0, 0);
        for (index, item) in items.iter().enumerate() {
            let before = lines.len();
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
            if in_full(index, item) {
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
                picked = (before, lines.len() - before);
            }
        }
        if !note.is_empty() {
            let wrapped = wrap(note, room - 2).into_iter();
            lines.extend(wrapped.map(|text| vec![span(" ", Tone::Plain), span(text, Tone::Dim)]));
        }
        Self { lines, picked }
    }
}

/// Draws the items from the top and scrolls so that the picked one is visible.
pub fn draw_items(frame: &mut Frame, area: Rect, items: &[SymptomItem], note: &str, theme: &Theme) {
    let room = usize::from(area.width);
    if room >= 8 {
        draw_lines(frame, area, &Lines::new(items, note, room, |_, item| item.in_full), theme);
    }
}

/// Draws the items in full as far as they fit: all of them, else the first, else none.
pub fn draw_as_fits(frame: &mut Frame, area: Rect, items: &[SymptomItem], note: &str, theme: &Theme) {
    let room = usize::from(area.width);
    if room < 8 {
        return;
    }
    let all = Lines::new(items, note, room, |_, _| true);
    let fits = |lines: &Lines| lines.lines.len() <= usize::from(area.height);
    let lines = Some(all).filter(fits).unwrap_or_else(|| Lines::new(items, note, room, |index, _| index == 0));
    let lines = Some(lines).filter(fits).unwrap_or_else(|| Lines::new(items, note, room, |_, item| item.in_full));
    draw_lines(frame, area, &lines, theme);
}

fn draw_lines(frame: &mut Frame, area: Rect, lines: &Lines, theme: &Theme) {
    let Lines { lines, picked: (picked_at, picked_lines) } = lines;
    let height = usize::from(area.height);
    // all of the picked one is shown, or its beginning where it is longer than the room
    let end = picked_at + picked_lines.max(&4);
    let start = if end > height { (end - height).min(*picked_at).min(lines.len().saturating_sub(height)) } else { 0 };
    for (row, line) in lines.iter().skip(start).take(height).enumerate() {
        theme.draw(frame.buffer_mut(), Rect { y: area.y + cells(row), height: 1, ..area }, line);
    }
}
