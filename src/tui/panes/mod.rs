//! The parts of the screen, each a function of its part of the view model.

pub mod chart;
pub mod group;
pub mod overlay;
pub mod overview;
pub mod symptoms;

use super::theme::Theme;
use crate::app::screen::Line;
use ratatui::{layout::Rect, widgets::{Block, BorderType, Borders}};

/// A frame with a title at the left and the most important number at the right.
pub fn framed(title: &Line, number: &Line, theme: &Theme, focused: bool) -> Block<'static> {
    use crate::app::screen::{Tone, span};
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
        .border_style(theme.style(if focused { Tone::Accent } else { Tone::Dim }))
        .title(spaced(title).left_aligned())
        .title(spaced(number).right_aligned())
}

/// The room inside a frame, one cell of air at each side.
pub fn inside(area: Rect) -> Rect {
    Rect { x: area.x + 2, y: area.y + 1, width: area.width.saturating_sub(4), height: area.height.saturating_sub(2) }
}
