//! The overview: the table, and the findings of the picked row.

use super::{draw_over, framed, inside, symptoms, within};
use crate::{
    app::{
        cells::wrap,
        screen::{Line, OverviewView, Span, WIDE},
    },
    core::number::cells,
    tui::{table::draw_table, theme::Theme},
};
use ratatui::{
    Frame,
    layout::{Constraint, Layout, Rect, Spacing},
};

/// Columns of what was found, where it stands beside the list.
const BESIDE: u16 = 72;

/// Where the table stands, and what was found of the picked row, if there is room for it. A table of few rows leaves its room.
pub fn places(area: Rect, rows: usize) -> (Rect, Option<Rect>) {
    let beside = area.width >= WIDE;
    let least = match area.height {
        _ if beside => 0,
        ..16 => 0,
        16..24 => 6,
        _ => 10,
    };
    // head and frame, and at least two fifths of the height, so that a row that comes moves nothing
    let table = cells(rows).saturating_add(4).max(area.height * 2 / 5);
    let below = if least == 0 { 0 } else { least.max(area.height.saturating_sub(table)) };
    let overlap = Spacing::Overlap(u16::from(beside || below > 0));
    let [table, details] = if beside {
        area.layout(&Layout::horizontal([Constraint::Fill(1), Constraint::Length(BESIDE)]).spacing(overlap))
    } else {
        area.layout(&Layout::vertical([Constraint::Fill(1), Constraint::Length(below)]).spacing(overlap))
    };
    (table, (beside || below > 0).then_some(details))
}

pub fn draw(frame: &mut Frame, area: Rect, view: &OverviewView, theme: &Theme) {
    let (table, details) = places(area, view.table.rows.len().max(view.empty.len()));
    if let Some(details) = details {
        frame.render_widget(framed(&view.picked, &Line::new(), details.width, theme, false), details);
        symptoms::draw_as_fits(frame, inside(details), &view.items, &view.note, theme);
    }
    draw_over(frame, table, |frame| {
        frame.render_widget(framed(&view.title, &view.number, table.width, theme, true), table);
    });
    let room = within(table);
    if view.empty.is_empty() {
        draw_table(frame, room, &view.table, theme);
    } else {
        let room = inside(table);
        let wrapped = view.empty.iter().flatten().flat_map(|span| {
            let pieces = wrap(&span.text, usize::from(room.width));
            pieces.into_iter().map(|text| vec![Span { text, ..span.clone() }])
        });
        for (row, line) in wrapped.enumerate().take(usize::from(room.height)) {
            theme.draw(frame.buffer_mut(), Rect { y: room.y + cells(row), height: 1, ..room }, &line);
        }
    }
}
