//! The parts of the screen. Each is a function of its part of the view model.

pub mod chart;
pub mod group;
pub mod overlay;
pub mod overview;
pub mod symptoms;

use super::{table::cut_line, theme::Theme};
use crate::app::screen::Line;
use ratatui::{
    Frame,
    buffer::Cell,
    layout::Rect,
    symbols::merge::MergeStrategy,
    widgets::{Block, BorderType, Borders},
};

/// What is within the frame of a pane.
pub fn within(area: Rect) -> Rect {
    Rect { x: area.x + 1, y: area.y + 1, width: area.width.saturating_sub(2), height: area.height.saturating_sub(2) }
}

/// A frame with a title at the left and the most important number at the right. Overlapping frames share a border cell, so the pane in
/// focus is drawn last.
/// If both do not fit, the number keeps up to half of the width and loses pieces from its end; then the title is cut.
pub fn framed(title: &Line, number: &Line, cells: u16, theme: &Theme, focused: bool) -> Block<'static> {
    use crate::app::{
        cells::width,
        screen::{Tone, span},
    };
    let line_width = |line: &Line| line.iter().map(|span| width(&span.text)).sum::<usize>();
    let both = usize::from(cells).saturating_sub(7);
    let room = both.saturating_sub(line_width(title)).max(both / 2);
    let mut number = number.clone();
    // also drop a label that lost its number
    while line_width(&number) > room || number.last().is_some_and(|span| span.text.ends_with(' ')) {
        number.pop();
    }
    let title = cut_line(title, both.saturating_sub(line_width(&number)));
    let spaced = |line: &Line| {
        let mut line = line.clone();
        if !line.is_empty() {
            line.insert(0, span(" ", Tone::Plain));
            line.push(span(" ", Tone::Plain));
        }
        theme.line(&line)
    };
    Block::new()
        .borders(Borders::ALL)
        .border_type(BorderType::Plain)
        .merge_borders(MergeStrategy::Exact)
        .border_style(theme.style(if focused { Tone::Accent } else { Tone::Dim }))
        .title(spaced(&title).left_aligned())
        .title(spaced(&number).right_aligned())
}

/// The area inside a frame, with one blank cell at each side.
pub fn inside(area: Rect) -> Rect {
    Rect { x: area.x + 2, y: area.y + 1, width: area.width.saturating_sub(4), height: area.height.saturating_sub(2) }
}

/// Draws the pane in focus over its neighbours. Its lower border is also the row with the titles of the panes below. Their text and style
/// stay, and a wide letter is never cut in half.
pub fn draw_over(frame: &mut Frame, area: Rect, draw: impl FnOnce(&mut Frame)) {
    let y = area.bottom().saturating_sub(1);
    let before: Vec<Cell> =
        (area.left()..area.right()).filter_map(|x| frame.buffer_mut().cell((x, y)).cloned()).collect();
    draw(frame);
    let is_line = |symbol: &str| symbol.chars().all(|c| c == ' ' || ('\u{2500}'..='\u{257f}').contains(&c));
    let mut behind_wide = false;
    for (x, old) in (area.left()..).zip(before) {
        let kept = behind_wide || !is_line(old.symbol());
        behind_wide = crate::app::cells::width(old.symbol()) > 1;
        if let Some(cell) = frame.buffer_mut().cell_mut((x, y)).filter(|_| kept) {
            *cell = old;
        }
    }
}
