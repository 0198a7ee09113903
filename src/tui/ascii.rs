//! `--ascii`: replaces each of pelwatch's own signs by one that every terminal has. Names keep their letters.

use ratatui::buffer::Buffer;

type Signs = [(&'static str, &'static str)];

/// Signs with a meaning of their own, in a cell of their own: no two look the same, and none looks like `!`, `?` or `i`.
const MARKS: &Signs = &[
    ("✓", "v"),
    ("◆", "#"),
    ("·", "."),
    ("┃", "|"),
    ("✗", "x"),
    ("»", "}"),
    ("▲", "^"),
    ("●", "*"),
    ("○", "o"),
    ("…", "~"),
    ("▸", "+"),
    ("▾", "-"),
    ("▴", "'"),
    ("▌", ">"),
    ("▏", "_"),
    ("❚", "\""),
    ("▓", "%"),
    ("━", "="),
    ("░", ":"),
    ("◂", "<"),
];

/// Signs in front of numbers and within text.
const IN_TEXT: &Signs =
    &[("×", "x"), ("≥", ">"), ("≤", "<"), ("↑", "^"), ("↓", "v"), ("→", "-"), ("←", "~"), ("›", "/"), ("‹", "\\")];

/// The levels of a small chart, lowest first.
const LEVELS: &Signs =
    &[("▁", "_"), ("▂", "."), ("▃", ","), ("▄", "-"), ("▅", "~"), ("▆", "="), ("▇", "+"), ("█", "#")];

/// What frames are made of.
const FRAMES: &Signs = &[
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
];

/// Replaces all signs of a drawn frame by ASCII.
pub fn degrade(buffer: &mut Buffer) {
    for cell in &mut buffer.content {
        let symbol = cell.symbol();
        if symbol.is_ascii() {
            continue;
        }
        if let Some((_, plain)) =
            [MARKS, IN_TEXT, LEVELS, FRAMES].into_iter().flatten().find(|(sign, _)| *sign == symbol)
        {
            cell.set_symbol(plain);
        } else if symbol.chars().all(|c| ('\u{2800}'..='\u{28ff}').contains(&c)) {
            cell.set_symbol("*");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn signs_that_mean_different_things_look_different() {
        for signs in [MARKS, IN_TEXT, LEVELS] {
            let plain: BTreeSet<&str> = signs.iter().map(|(_, plain)| *plain).collect();
            assert_eq!(plain.len(), signs.len(), "{plain:?}");
            assert!(plain.iter().all(|sign| sign.len() == 1 && !["!", "?", "i"].contains(sign)), "{plain:?}");
        }
    }
}
