//! A box over the screen.

use super::{framed, inside};
use crate::{
    app::{
        cells::width,
        screen::{Line, OverlayView, Tone, bold, span},
    },
    tui::theme::Theme,
};
use ratatui::{Frame, buffer::Buffer, layout::{Constraint, Rect}, text::Text, widgets::{Clear, Paragraph, Wrap}};

pub fn draw(frame: &mut Frame, area: Rect, view: &OverlayView, theme: &Theme) {
    let longest = view.lines.iter().map(|line| line.iter().map(|span| width(&span.text)).sum::<usize>()).max().unwrap_or(0);
    let most = area.width.saturating_sub(2).max(1);
    let wide = u16::try_from(longest).unwrap_or(most).saturating_add(4).clamp(40.min(most), most);
    let inner = usize::from(wide.saturating_sub(4)).max(1);
    let needed: usize = view.lines.iter().map(|line| line.iter().map(|span| width(&span.text)).sum::<usize>().div_ceil(inner).max(1)).sum();
    let high = (needed as u16).saturating_add(2).clamp(3.min(area.height), area.height);
    let place = area.centered(Constraint::Length(wide), Constraint::Length(high));
    let more = needed > usize::from(high.saturating_sub(2));
    let number: Line = if more { vec![span("j k scroll  Esc closes", Tone::Dim)] } else { vec![span("Esc closes", Tone::Dim)] };
    blank_halves(frame.buffer_mut(), place);
    frame.render_widget(Clear, place);
    frame.render_widget(framed(&vec![bold(&view.title, Tone::Accent)], &number, place.width, theme, true), place);
    let lines: Vec<_> = view.lines.iter().map(|line| theme.line(line)).collect();
    let scroll = (view.scroll as u16).min((needed as u16).saturating_sub(high.saturating_sub(2)));
    let text = Paragraph::new(Text::from(lines)).wrap(Wrap { trim: false }).scroll((scroll, 0));
    let room: Rect = inside(place);
    frame.render_widget(text, room);
}

/// A wide letter just left of the box would reach into its border, and a terminal would draw the letter only.
fn blank_halves(buffer: &mut Buffer, place: Rect) {
    let Some(x) = place.x.checked_sub(1) else { return };
    for y in place.top()..place.bottom() {
        if let Some(cell) = buffer.cell_mut((x, y)).filter(|cell| width(cell.symbol()) > 1) {
            cell.set_symbol(" ");
        }
    }
}
