//! A box over the screen.

use super::{framed, inside};
use crate::{
    app::{
        cells::width,
        screen::{Line, OverlayView, Tone, bold, span},
    },
    core::number::cells,
    tui::theme::Theme,
};
use ratatui::{
    Frame,
    buffer::Buffer,
    layout::{Constraint, Rect},
    widgets::Clear,
};

pub fn draw(frame: &mut Frame, area: Rect, view: &OverlayView, theme: &Theme) {
    let (wide, high) = (view.size.0.min(area.width), view.size.1.min(area.height));
    let place = area.centered(Constraint::Length(wide), Constraint::Length(high));
    let more = view.most_scroll() > 0;
    let number: Line =
        if more { vec![span("j k scroll  Esc closes", Tone::Dim)] } else { vec![span("Esc closes", Tone::Dim)] };
    blank_halves(frame.buffer_mut(), place);
    frame.render_widget(Clear, place);
    frame.render_widget(framed(&vec![bold(&view.title, Tone::Accent)], &number, place.width, theme, true), place);
    let room = inside(place);
    for (row, line) in view.lines.iter().skip(view.scroll).enumerate().take(usize::from(room.height)) {
        theme.draw(frame.buffer_mut(), Rect { y: room.y + cells(row), height: 1, ..room }, line);
    }
}

/// Blanks a wide letter just left of the box: its right half would reach into the border, and a terminal would then draw only the letter.
fn blank_halves(buffer: &mut Buffer, place: Rect) {
    let Some(x) = place.x.checked_sub(1) else { return };
    for y in place.top()..place.bottom() {
        if let Some(cell) = buffer.cell_mut((x, y)).filter(|cell| width(cell.symbol()) > 1) {
            cell.set_symbol(" ");
        }
    }
}
