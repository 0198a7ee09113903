//! What stands at a place on the screen, for the mouse.

use super::{
    draw::middle,
    panes::{self, within},
    table::row_at,
};
use crate::app::{
    Pane,
    msg::Target,
    screen::{Body, Screen, Table},
};
use ratatui::layout::{Position, Rect};

/// What was drawn there on a terminal of that size; nothing where a box lies over the screen.
pub fn target(screen: &Screen, size: (u16, u16), column: u16, row: u16) -> Option<Target> {
    let at = Position::new(column, row);
    let area = middle(Rect::new(0, 0, size.0, size.1))?;
    if screen.overlay.is_some() || !area.contains(at) {
        return None;
    }
    let row_of = |table: &Table, area: Rect| {
        let room = within(area);
        room.contains(at).then(|| row_at(table, room.height, row - room.y)).flatten()
    };
    match &screen.body {
        Body::Overview(view) => {
            row_of(&view.table, panes::overview::places(area, view.table.rows.len().max(view.empty.len())).0)
                .map(Target::Row)
        }
        Body::Group(view) => {
            let places = panes::group::places(area, view);
            let (pane, place) =
                places.into_iter().find_map(|(pane, place)| Some((pane?, place)).filter(|_| place.contains(at)))?;
            let consumer = (pane == Pane::Consumers).then(|| row_of(&view.consumers, place)).flatten();
            Some(consumer.map_or(Target::Pane(pane), Target::Consumer))
        }
    }
}
