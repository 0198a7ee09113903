//! The look of a drawn screen, in words, and the rules for every screen.

use ratatui::{
    buffer::{Buffer, Cell},
    style::{Color, Modifier},
};
use unicode_width::UnicodeWidthStr;

/// The visible cells of a row: the second cell of a wide letter is left out.
fn row(buffer: &Buffer, y: u16) -> Vec<&Cell> {
    let mut cells = Vec::new();
    let mut x = 0;
    while x < buffer.area.width {
        let cell = &buffer[(x, y)];
        x += (cell.symbol().width() as u16).max(1);
        cells.push(cell);
    }
    cells
}

/// The text of the screen, without blanks at the ends of rows.
pub fn text(buffer: &Buffer) -> String {
    let rows = (0..buffer.area.height).map(|y| row(buffer, y).iter().map(|cell| cell.symbol()).collect::<String>());
    rows.map(|row| row.trim_end().to_owned() + "\n").collect()
}

fn colour(colour: Color) -> String {
    match colour {
        Color::Reset => "plain",
        Color::Indexed(75) => "blue",
        Color::Indexed(110) => "steel",
        Color::Indexed(202) => "red",
        Color::Indexed(208) => "orange",
        Color::Indexed(214) => "amber",
        Color::Indexed(221) => "yellow",
        Color::Indexed(223) => "cream",
        Color::Indexed(243) => "faded",
        Color::Indexed(245) => "grey",
        other => return format!("{other:?}"),
    }
    .to_owned()
}

fn style(cell: &Cell) -> String {
    let mut words = vec![colour(cell.fg)];
    for (modifier, word) in [(Modifier::BOLD, "bold"), (Modifier::DIM, "dim")] {
        if cell.modifier.contains(modifier) {
            words.push(word.to_owned());
        }
    }
    let rest = cell.modifier - Modifier::BOLD - Modifier::DIM;
    if !rest.is_empty() {
        words.push(format!("{rest:?}").to_lowercase());
    }
    words.join(" ")
}

/// The styles of the screen: the runs of equal style in each row. Blanks have none.
pub fn styles(buffer: &Buffer) -> String {
    let mut out = String::new();
    for y in 0..buffer.area.height {
        let mut runs: Vec<(String, String)> = Vec::new();
        for cell in row(buffer, y) {
            match runs.last_mut() {
                Some((_, text)) if cell.symbol() == " " => text.push(' '),
                Some((last, text)) if *last == style(cell) => text.push_str(cell.symbol()),
                _ if cell.symbol() == " " => {}
                _ => runs.push((style(cell), cell.symbol().to_owned())),
            }
        }
        for (index, (style, text)) in runs.iter().enumerate() {
            let lead: String = if index == 0 { format!("{y:>2}") } else { "  ".to_owned() };
            out += &[&lead, "  ", &format!("{style:<12}"), " ", text.trim_end(), "\n"].concat();
        }
    }
    out
}

/// Checks the rules for every screen of any size.
pub fn assert_sound(buffer: &Buffer, stale: bool) {
    let (columns, rows) = (buffer.area.width, buffer.area.height);
    let picture = text(buffer);
    for cell in &buffer.content {
        assert_eq!(cell.bg, Color::Reset, "a background is painted:\n{picture}");
        assert!(
            !cell.modifier.contains(Modifier::REVERSED),
            "a background is painted by turning colours round:\n{picture}"
        );
        assert!(!cell.symbol().chars().any(char::is_control), "{:?} is drawn:\n{picture}", cell.symbol());
    }
    for y in 0..rows {
        for x in (0..columns).filter(|x| buffer[(*x, y)].symbol().width() > 1) {
            let behind = buffer.cell((x + 1, y)).map(Cell::symbol);
            assert!(
                matches!(behind, Some(" " | "")),
                "{behind:?} stands in the second half of a wide letter at {x},{y}:\n{picture}"
            );
        }
    }
    if columns < 40 || rows < 10 {
        return;
    }
    for y in 1..rows - 1 {
        for x in [0, columns - 1] {
            let edge = buffer[(x, y)].symbol();
            assert!("│┌┐└┘├┤|+".contains(edge), "the frame is broken by {edge:?} at column {x}, row {y}:\n{picture}");
        }
        for x in 0..columns {
            let cell = &buffer[(x, y)];
            let one_grey = cell.fg == Color::Indexed(246) || cell.modifier.contains(Modifier::DIM);
            let faded = one_grey && !cell.modifier.contains(Modifier::BOLD);
            assert!(
                !stale || cell.symbol() == " " || faded,
                "{:?} at {x},{y} is bright although it is old:\n{picture}",
                cell.symbol()
            );
        }
    }
}
