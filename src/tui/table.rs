//! Tables and bars. Parts are dropped by rank until the rest fits.

use super::theme::Theme;
use crate::{
    app::{
        cells::{cut, cut_shared, pad, shared, width},
        screen::{Bar, Column, Line, Span, Table, TableRow, Tone},
    },
    core::number::cells,
};
use ratatui::{Frame, layout::Rect};

/// Indent of a row that belongs to the row above.
const INDENT: &str = "    ";

/// Whether a cell may use the rest of its row. That is so for text without values behind it.
fn spans(table: &Table, row: &TableRow, index: usize) -> bool {
    let rest = row.cells.get(index + 1..).unwrap_or_default();
    !table.columns[index].right && !rest.is_empty() && rest.iter().all(|cell| cell.text.is_empty())
}

/// The columns that fit, with their widths. Columns that can grow share the space that is left.
fn fit(table: &Table, room: usize) -> Vec<(usize, usize)> {
    // a column without anything in it gives way
    let is_empty =
        |index: usize| table.rows.iter().all(|row| row.cells.get(index).is_none_or(|cell| cell.text.is_empty()));
    let content = |index: usize| {
        let indent = |row: &TableRow| match index {
            0 if row.nested => INDENT.len(),
            _ if table.names == Some(index) => width(&row.lead),
            _ => 0,
        };
        let own = table.rows.iter().filter(|row| !spans(table, row, index));
        own.map(|row| row.cells.get(index).map_or(0, |cell| width(&cell.text) + indent(row))).max().unwrap_or(0)
    };
    let least_of = |index: usize, column: &Column| match column.rank {
        _ if table.rows.is_empty() => column.least,
        // names that are short leave their room to longer ones, and a wide screen has room for longer names
        0 if table.names.is_some() && !column.right => {
            (column.least + room / 16).min(column.most).min(content(index).max(width(column.title) + 1))
        }
        0 => column.least,
        _ if is_empty(index) => column.least.min(width(column.title)),
        _ => column.least,
    };
    let needed = |index: usize, column: &Column| content(index).clamp(least_of(index, column), column.most);
    let mut kept: Vec<(usize, &Column)> = table.columns.iter().enumerate().collect();
    loop {
        let least: usize = kept.iter().map(|(index, column)| least_of(*index, column) + 1).sum();
        let worst = kept.iter().map(|(_, column)| column.rank).max().unwrap_or(0);
        if least <= room + 1 || worst == 0 {
            break;
        }
        kept.retain(|(_, column)| column.rank < worst);
    }
    let mut widths: Vec<(usize, usize)> =
        kept.iter().map(|(index, column)| (*index, least_of(*index, column))).collect();
    let mut left = (room + 1).saturating_sub(widths.iter().map(|(_, width)| width + 1).sum());
    // give one cell at a time to each column that needs more, so that no long name takes everything
    let wanted: Vec<usize> = kept.iter().map(|(index, column)| needed(*index, column)).collect();
    while left > 0 {
        let before = left;
        for ((_, width), wanted) in widths.iter_mut().zip(&wanted) {
            if left > 0 && *width < *wanted {
                *width += 1;
                left -= 1;
            }
        }
        if before == left {
            break;
        }
    }
    widths
}

/// The index of the first row that is drawn, with that many lines for rows: the picked row stands near the middle.
fn first_row(table: &Table, height: usize) -> usize {
    table
        .selected
        .map_or(0, |selected| selected.saturating_sub(height / 2).min(table.rows.len().saturating_sub(height)))
}

/// Which of all rows is drawn on this line of the table's area, counted from 0; `None` for the head and for lines below the last row.
pub fn row_at(table: &Table, area_height: u16, line: u16) -> Option<usize> {
    let height = usize::from(area_height).checked_sub(1)?;
    let index = first_row(table, height) + usize::from(line).checked_sub(1)?;
    (index < table.rows.len()).then_some(index + table.hidden.0)
}

/// Draws a table: head and rows, with the picked row near the middle.
pub fn draw_table(frame: &mut Frame, area: Rect, table: &Table, theme: &Theme) {
    if area.height == 0 || area.width < 4 {
        return;
    }
    let widths = fit(table, usize::from(area.width) - 2);
    let head: String = widths
        .iter()
        .map(|(index, width)| {
            let column = &table.columns[*index];
            let sign = if table.is_reversed { "▴" } else { "▾" };
            let title = match table.sorted == Some(*index) {
                false => column.title.to_owned(),
                true if column.right => format!("{sign}{}", column.title),
                true => format!("{}{sign}", column.title),
            };
            pad(&title, *width, column.right) + " "
        })
        .collect();
    let line =
        |y: u16, line: &Line, frame: &mut Frame| theme.draw(frame.buffer_mut(), Rect { y, height: 1, ..area }, line);
    line(area.y, &vec![Span { text: format!("  {head}"), tone: Tone::Dim, bold: false }], frame);
    let names = |index: usize| table.rows.iter().filter_map(move |row| Some(row.cells.get(index)?.text.as_str()));
    let shared_names = table.names.map_or((0, 0), |index| shared(names(index)));
    let height = usize::from(area.height) - 1;
    let total = table.rows.len();
    let start = first_row(table, height);
    for (offset, row) in table.rows.iter().skip(start).take(height).enumerate() {
        let picked = table.selected == Some(start + offset);
        let mut drawn =
            vec![Span { text: if picked { "▌ " } else { "  " }.to_owned(), tone: Tone::Accent, bold: picked }];
        for (index, width) in &widths {
            let Some(cell) = row.cells.get(*index) else { continue };
            let alone = spans(table, row, *index);
            let width = if alone { usize::from(area.width).saturating_sub(line_width(&drawn) + 1) } else { *width };
            let right = table.columns[*index].right;
            let is_name = table.names == Some(*index);
            let lead = if is_name { row.lead.as_str() } else { "" };
            let room = width.saturating_sub(crate::app::cells::width(lead));
            let name = (is_name && !alone).then(|| cut_shared(&cell.text, room, shared_names));
            let mut text = if let Some(name) = name {
                pad(&format!("{lead}{name}"), width, right)
            } else if row.nested && *index == 0 {
                pad(&format!("{INDENT}{}", cell.text), width, right)
            } else {
                pad(&cell.text, width, right)
            };
            text.push(' ');
            drawn.push(Span { text, tone: cell.tone, bold: cell.bold || picked });
            if alone {
                break;
            }
        }
        line(area.y + 1 + cells(offset), &drawn, frame);
    }
    let below = total.saturating_sub(start + height) + table.hidden.1;
    if below > 0 && height > 1 {
        let text = format!("  … {} more below", below + 1);
        line(
            area.bottom() - 1,
            &vec![Span { text: pad(&text, usize::from(area.width), false), tone: Tone::Dim, bold: false }],
            frame,
        );
    }
}

fn line_width(line: &Line) -> usize {
    line.iter().map(|span| width(&span.text)).sum()
}

/// Cuts a line to at most `cells` cells; `…` replaces the end that does not fit.
pub fn cut_line(line: &Line, cells: usize) -> Line {
    if line_width(line) <= cells {
        return line.clone();
    }
    let (mut out, mut room) = (Line::new(), cells);
    for span in line {
        let needed = width(&span.text);
        if needed >= room {
            // the added blank makes the text too long for certain, so that the `…` always shows
            out.push(Span { text: cut(&format!("{} ", span.text), room), ..span.clone() });
            break;
        }
        room -= needed;
        out.push(span.clone());
    }
    out
}

/// Draws a bar. When room is short, the parts with the highest rank are dropped first.
pub fn draw_bar(frame: &mut Frame, area: Rect, bar: &Bar, theme: &Theme) {
    const GAP: usize = 2;
    let room = usize::from(area.width);
    let (mut left, mut right) = (bar.left.clone(), bar.right.clone());
    loop {
        let used: usize = left.iter().chain(&right).map(|(_, line)| line_width(line) + GAP).sum();
        let worst = left.iter().chain(&right).map(|(rank, _)| *rank).max().unwrap_or(0);
        if used <= room + GAP || worst == 0 {
            break;
        }
        left.retain(|(rank, _)| *rank < worst);
        right.retain(|(rank, _)| *rank < worst);
    }
    let joined = |parts: Vec<(u8, Line)>| {
        let mut out = Line::new();
        for (_, part) in parts.into_iter().filter(|(_, part)| !part.is_empty()) {
            if !out.is_empty() {
                out.push(Span { text: " ".repeat(GAP), tone: Tone::Plain, bold: false });
            }
            out.extend(part);
        }
        out
    };
    let right = cut_line(&joined(right), room);
    let width = cells(line_width(&right));
    let gap = if width > 0 { GAP } else { 0 };
    let left = cut_line(&joined(left), room.saturating_sub(usize::from(width) + gap));
    theme.draw(frame.buffer_mut(), area, &left);
    theme.draw(frame.buffer_mut(), Rect { x: area.right() - width, width, ..area }, &right);
}
