//! The group screen: the strip on top, consumers and symptoms side by side or stacked, and the chart if there is room.

use super::{chart, draw_over, framed, inside, symptoms, within};
use crate::{
    app::{
        Pane, Zoom,
        screen::{GroupView, Tone, bold, span},
    },
    core::number::cells,
    tui::{
        table::{cut_line, draw_table},
        theme::Theme,
    },
};
use ratatui::{
    Frame,
    layout::{Constraint, Layout, Rect, Spacing},
};

/// From this width on, panes stand side by side.
const WIDE: u16 = 100;

pub fn draw(frame: &mut Frame, area: Rect, view: &GroupView, theme: &Theme) {
    if let Some(why) = &view.absent {
        frame.render_widget(framed(&view.title, &view.numbers, area.width, theme, true), area);
        let room = inside(area);
        for (row, line) in
            crate::app::cells::wrap(why, usize::from(room.width)).into_iter().enumerate().take(usize::from(room.height))
        {
            let place = Rect { y: room.y + cells(row), height: 1, ..room };
            theme.draw(frame.buffer_mut(), place, &vec![span(line, Tone::Plain)]);
        }
        return;
    }
    let mut panes = places(area, view);
    // draw the pane in focus last: its border wins where two meet
    panes.sort_by_key(|(pane, _)| *pane == Some(view.pane));
    for (pane, place) in panes {
        draw_over(frame, place, |frame| draw_pane(frame, place, pane, view, theme));
    }
}

/// Where each pane stands; the chart is none of them.
pub fn places(area: Rect, view: &GroupView) -> Vec<(Option<Pane>, Rect)> {
    if view.absent.is_some() {
        return Vec::new();
    }
    if view.alone {
        return vec![(Some(view.pane), area)];
    }
    let shared = Spacing::Overlap(1);
    let [top, rest] = area.layout(
        &Layout::vertical([
            Constraint::Length((cells(view.strip.len().max(4) + 2)).min(area.height)),
            Constraint::Fill(1),
        ])
        .spacing(shared.clone()),
    );
    let mut panes: Vec<(Option<Pane>, Rect)> = vec![(Some(Pane::Strip), top)];
    if area.width >= WIDE {
        let [left, right] =
            rest.layout(&Layout::horizontal([Constraint::Percentage(54), Constraint::Fill(1)]).spacing(shared.clone()));
        panes.push((Some(Pane::Consumers), left));
        if rest.height >= 18 {
            let [upper, lower] = right
                .layout(&Layout::vertical([Constraint::Fill(1), Constraint::Length(rest.height / 3)]).spacing(shared));
            panes.push((Some(Pane::Symptoms), upper));
            panes.push((None, lower));
        } else {
            panes.push((Some(Pane::Symptoms), right));
        }
    } else if rest.height >= 10 {
        let [upper, lower] = rest.layout(&Layout::vertical([Constraint::Fill(1), Constraint::Fill(1)]).spacing(shared));
        panes.push((Some(Pane::Consumers), upper));
        panes.push((Some(Pane::Symptoms), lower));
    } else {
        let one = if view.pane == Pane::Symptoms { Pane::Symptoms } else { Pane::Consumers };
        panes.push((Some(one), rest));
    }
    panes
}

/// A pane, or the chart.
fn draw_pane(frame: &mut Frame, area: Rect, pane: Option<Pane>, view: &GroupView, theme: &Theme) {
    match pane {
        Some(Pane::Strip) => draw_strip(frame, area, view, theme),
        Some(Pane::Consumers) => draw_consumers(frame, area, view, theme),
        Some(Pane::Symptoms) => symptoms::draw(frame, area, &view.symptoms, theme, view.pane == Pane::Symptoms),
        None => chart::draw(frame, area, view, theme),
    }
}

fn draw_strip(frame: &mut Frame, area: Rect, view: &GroupView, theme: &Theme) {
    let zoom = match view.zoom {
        Zoom::Entries => "",
        Zoom::Cells => ", one cell an entry",
        Zoom::Stream => ", the whole stream by id",
    };
    let mut title = view.title.clone();
    title.push(span(zoom, Tone::Dim));
    frame.render_widget(framed(&title, &view.numbers, area.width, theme, view.pane == Pane::Strip), area);
    let room = inside(area);
    for (row, line) in view.strip.iter().enumerate().take(usize::from(room.height)) {
        let place = Rect { y: room.y + cells(row), height: 1, ..room };
        theme.draw(frame.buffer_mut(), place, &cut_line(line, usize::from(room.width)));
    }
}

fn draw_consumers(frame: &mut Frame, area: Rect, view: &GroupView, theme: &Theme) {
    let focused = view.pane == Pane::Consumers;
    frame.render_widget(
        framed(&vec![bold("Consumers", Tone::Plain)], &view.consumers_number, area.width, theme, focused),
        area,
    );
    let room = within(area);
    if view.consumers_empty.is_empty() {
        draw_table(frame, room, &view.consumers, theme);
    } else {
        let place = Rect { height: 1.min(room.height), ..inside(area) };
        theme.draw(frame.buffer_mut(), place, &vec![span(&view.consumers_empty, Tone::Dim)]);
    }
}
