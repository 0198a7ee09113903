//! Draws one frame from one view model: no await, no I/O, no clock.

use super::{ascii, panes, table::draw_bar, theme::Theme};
use crate::{
    app::screen::{Body, Screen},
    core::number::cells,
};
use ratatui::{
    Frame,
    layout::{Constraint, Layout, Rect},
    text::Line,
};

/// A smaller terminal cannot show anything useful.
const LEAST: (u16, u16) = (40, 10);

/// The part between header and footer; `None` where the terminal is too small.
pub fn middle(area: Rect) -> Option<Rect> {
    (area.width >= LEAST.0 && area.height >= LEAST.1).then(|| parts(area)[1])
}

fn parts(area: Rect) -> [Rect; 3] {
    area.layout(&Layout::vertical([Constraint::Length(1), Constraint::Fill(1), Constraint::Length(1)]))
}

pub fn draw(frame: &mut Frame, screen: &Screen, theme: &Theme) {
    let area = frame.area();
    if area.width < LEAST.0 || area.height < LEAST.1 {
        too_small(frame, area);
    } else {
        let [top, middle, bottom] = parts(area);
        // the header stays bright: it says that the rest is old
        draw_bar(frame, top, &screen.header, theme);
        let faded = theme.aged(screen.stale);
        match &screen.body {
            Body::Overview(view) => panes::overview::draw(frame, middle, view, &faded),
            Body::Group(view) => panes::group::draw(frame, middle, view, &theme.aged(screen.stale || view.old)),
        }
        if let Some(overlay) = &screen.overlay {
            panes::overlay::draw(frame, middle, overlay, theme);
        }
        draw_bar(frame, bottom, &screen.footer, theme);
    }
    if theme.ascii {
        ascii::degrade(frame.buffer_mut());
    }
}

fn too_small(frame: &mut Frame, area: Rect) {
    let lines = [
        format!("pelwatch needs {}x{} cells,", LEAST.0, LEAST.1),
        format!("here are {}x{}.", area.width, area.height),
        "Ctrl-C quits".to_owned(),
    ];
    for (row, line) in lines.into_iter().enumerate().take(usize::from(area.height)) {
        frame.render_widget(Line::raw(line), Rect { y: area.y + cells(row), height: 1, ..area });
    }
}
