//! A box of lines over the screen, wrapped and scrolled.

use super::{Line, Span, Tone, span};
use crate::app::{App, cells::width};
use unicode_width::UnicodeWidthChar;

/// A box of lines.
#[derive(Clone, Debug, PartialEq)]
pub struct OverlayView {
    pub title: String,
    /// The lines, already wrapped.
    pub lines: Vec<Line>,
    /// How many lines are scrolled away.
    pub scroll: usize,
    /// Columns and rows of the box, including the frame.
    pub size: (u16, u16),
}

impl OverlayView {
    /// How far the box can be scrolled.
    pub fn most_scroll(&self) -> usize {
        self.lines.len().saturating_sub(usize::from(self.size.1).saturating_sub(2))
    }
}

/// A box with wrapped lines, as large as the lines need and the screen allows.
pub fn boxed(app: &App, title: String, lines: &[Line], scroll: usize) -> OverlayView {
    // header and footer stay visible, and a free column at each side shows that there is something below
    let (columns, rows) = (app.size.0.saturating_sub(2).max(1), app.size.1.saturating_sub(2).max(1));
    let longest = lines.iter().map(line_width).max().unwrap_or(0);
    let wide = u16::try_from(longest).unwrap_or(columns).saturating_add(4).clamp(40.min(columns), columns);
    let inner = usize::from(wide.saturating_sub(4)).max(1);
    let lines: Vec<Line> = lines.iter().flat_map(|line| wrapped(line, inner)).collect();
    let high = u16::try_from(lines.len()).unwrap_or(rows).saturating_add(2).clamp(3.min(rows), rows);
    let view = OverlayView { title, scroll, lines, size: (wide, high) };
    OverlayView { scroll: view.scroll.min(view.most_scroll()), ..view }
}

/// Wraps a line to pieces of at most `cells` cells, at blanks where possible. Later pieces are indented to the first letter of the text,
/// after its label or blanks.
fn wrapped(line: &Line, cells: usize) -> Vec<Line> {
    if line_width(line) <= cells {
        return vec![line.clone()];
    }
    let blanks = |text: &str| text.len() - text.trim_start().len();
    let indent = match line.as_slice() {
        [label, _, ..] if label.text.ends_with(' ') => width(&label.text),
        [first, ..] => blanks(&first.text),
        [] => 0,
    };
    let indent = if indent * 2 > cells { 0 } else { indent };
    let letters: Vec<(char, usize)> =
        line.iter().enumerate().flat_map(|(index, span)| span.text.chars().map(move |c| (c, index))).collect();
    let mut lines = Vec::new();
    let mut at = 0;
    while at < letters.len() {
        let lead = if lines.is_empty() { 0 } else { indent };
        let mut used = lead;
        let room = letters[at..].iter().take_while(|(c, _)| {
            used += c.width().unwrap_or(0);
            used <= cells
        });
        let fits = room.count().max(1);
        let mut end = at + fits;
        if end < letters.len() && letters[end].0 != ' ' {
            // the leading blanks are the indent: a break inside them would make no progress
            let text = letters[at..end].iter().position(|(c, _)| *c != ' ').unwrap_or(0);
            let from = at + text.max(if lines.is_empty() { indent } else { 0 });
            end =
                letters[from.min(end)..end].iter().rposition(|(c, _)| *c == ' ').map_or(end, |blank| from + blank + 1);
        }
        let mut piece: Line = if lead > 0 { vec![span(" ".repeat(lead), Tone::Plain)] } else { Vec::new() };
        let mut owner = None;
        for (c, index) in &letters[at..end] {
            if owner != Some(*index) {
                piece.push(Span { text: String::new(), ..line[*index].clone() });
                owner = Some(*index);
            }
            if let Some(last) = piece.last_mut() {
                last.text.push(*c);
            }
        }
        lines.push(piece);
        at = end;
        while letters.get(at).is_some_and(|(c, _)| *c == ' ') {
            at += 1;
        }
    }
    lines
}

fn line_width(line: &Line) -> usize {
    line.iter().map(|span| width(&span.text)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::screen::bold;
    use proptest::prelude::*;

    #[test]
    fn what_follows_stands_below_the_text() {
        let texts = |line: Line, cells| {
            wrapped(&line, cells)
                .iter()
                .map(|line| line.iter().map(|span| span.text.as_str()).collect())
                .collect::<Vec<String>>()
        };
        let label = vec![bold("j     ", Tone::Accent), span("one row down or so", Tone::Plain)];
        assert_eq!(texts(label, 14), ["j     one row ", "      down or ", "      so"]);
        assert_eq!(texts(vec![span("    aaaa bbbb", Tone::Plain)], 9), ["    aaaa ", "    bbbb"]);
        assert_eq!(texts(vec![span("aaaaaaaaa", Tone::Plain)], 4), ["aaaa", "aaaa", "a"]);
    }

    proptest! {
        #[test]
        fn wrapping_fits_and_loses_nothing_but_blanks(label in "[a-z ]{0,12}", text in "[ a-z\u{6d88}]{0,80}", cells in 8usize..40) {
            let line = vec![bold(&label, Tone::Accent), span(&text, Tone::Plain)];
            let pieces = wrapped(&line, cells);
            let all: String = pieces.iter().flatten().map(|span| span.text.as_str()).collect();
            prop_assert!(pieces.iter().all(|piece| line_width(piece) <= cells));
            prop_assert_eq!(all.replace(' ', ""), (label + &text).replace(' ', ""));
        }
    }
}
