//! `--ascii`: replaces each of pelwatch's own signs by one that every terminal has. Names keep their letters.

use ratatui::buffer::Buffer;

const SIGNS: [(&str, &str); 47] = [
    ("✓", "v"),
    ("◆", "#"),
    ("·", "."),
    ("┃", "|"),
    ("▲", "^"),
    ("●", "*"),
    ("○", "o"),
    ("…", "~"),
    ("▸", ">"),
    ("▾", "v"),
    ("▴", "^"),
    ("›", ">"),
    ("»", ">"),
    ("✗", "x"),
    ("◂", "<"),
    ("▌", ">"),
    ("▏", "_"),
    ("×", "x"),
    ("≥", ">"),
    ("≤", "<"),
    ("↑", "^"),
    ("↓", "v"),
    ("→", ">"),
    ("←", "<"),
    ("❚", "|"),
    ("▓", "#"),
    ("━", "="),
    ("░", "."),
    ("─", "-"),
    ("│", "|"),
    ("┌", "+"),
    ("┐", "+"),
    ("└", "+"),
    ("┘", "+"),
    ("├", "+"),
    ("┤", "+"),
    ("┬", "+"),
    ("┴", "+"),
    ("┼", "+"),
    ("▁", "_"),
    ("▂", "."),
    ("▃", "."),
    ("▄", "-"),
    ("▅", "-"),
    ("▆", "="),
    ("▇", "="),
    ("█", "#"),
];

/// Replaces all signs of a drawn frame by ASCII.
pub fn degrade(buffer: &mut Buffer) {
    for cell in &mut buffer.content {
        let symbol = cell.symbol();
        if symbol.is_ascii() {
            continue;
        }
        if let Some((_, plain)) = SIGNS.iter().find(|(sign, _)| *sign == symbol) {
            cell.set_symbol(plain);
        } else if symbol.chars().all(|c| ('\u{2800}'..='\u{28ff}').contains(&c)) {
            cell.set_symbol("*");
        }
    }
}
