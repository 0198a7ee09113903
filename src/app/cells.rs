//! Cuts and pads text to terminal cells.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// The number of cells that a text takes.
pub fn width(text: &str) -> usize {
    if is_plain(text) { text.len() } else { text.width() }
}

/// Whether each byte is a character of one cell. Nearly all text on the screen is.
pub fn is_plain(text: &str) -> bool {
    text.bytes().all(|byte| (0x20..0x7f).contains(&byte))
}

/// Cuts a text to at most `cells` cells; `…` replaces the end that does not fit.
pub fn cut(text: &str, cells: usize) -> String {
    if width(text) <= cells {
        return text.to_owned();
    }
    let mut out = String::new();
    let mut used = 0;
    for c in text.chars() {
        let wide = c.width().unwrap_or(0);
        if used + wide + 1 > cells {
            break;
        }
        used += wide;
        out.push(c);
    }
    if cells > 0 {
        out.push('…');
    }
    out
}

/// Cuts or pads a text to exactly `cells` cells, aligned left or right.
pub fn pad(text: &str, cells: usize, right: bool) -> String {
    let used = width(text);
    if used > cells {
        // the cut can end one cell early, before a wide character
        let cut = cut(text, cells);
        return pad(&cut, cells, right);
    }
    let mut out = String::with_capacity(text.len() + cells - used + 1);
    let blanks = std::iter::repeat_n(' ', cells - used);
    if right {
        out.extend(blanks);
        out.push_str(text);
    } else {
        out.push_str(text);
        out.extend(blanks);
    }
    out
}

/// Wraps a text to lines of at most `cells` cells, at blanks where possible.
pub fn wrap(text: &str, cells: usize) -> Vec<String> {
    let cells = cells.max(1);
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let mut word = word;
        while let Some(line) = lines.last_mut() {
            let gap = usize::from(!line.is_empty());
            if width(line) + gap + width(word) <= cells {
                if gap == 1 {
                    line.push(' ');
                }
                line.push_str(word);
                break;
            }
            if line.is_empty() {
                // break inside a word that is longer than the line
                let mut used = 0;
                let end = word
                    .char_indices()
                    .find(|(_, c)| {
                        used += c.width().unwrap_or(0);
                        used > cells
                    })
                    .map_or(word.len(), |(index, _)| index)
                    .max(word.chars().next().map_or(0, char::len_utf8));
                line.push_str(&word[..end]);
                word = &word[end..];
                if word.is_empty() {
                    break;
                }
            }
            lines.push(String::new());
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn wide_characters_are_cut_by_cells() {
        assert_eq!(cut("日本語", 6), "日本語");
        assert_eq!(cut("日本語", 5), "日本…");
        assert_eq!(cut("日本語", 4), "日…");
        assert_eq!(pad("日", 4, true), "  日");
        assert_eq!(pad("日本語", 5, true), "日本…");
        assert_eq!(pad("日本語", 4, true), " 日…");
    }

    proptest! {
        #[test]
        fn a_cut_text_fits_and_a_padded_one_fills(text in "\\PC{0,40}", cells in 0usize..30) {
            prop_assert!(width(&cut(&text, cells)) <= cells);
            prop_assert_eq!(width(&pad(&text, cells, false)), cells);
        }

        #[test]
        fn wrapped_lines_fit_and_lose_nothing(text in "[a-z ]{0,80}", cells in 1usize..20) {
            let lines = wrap(&text, cells);
            prop_assert!(lines.iter().all(|line| width(line) <= cells));
            prop_assert_eq!(lines.concat().replace(' ', ""), text.replace(' ', ""));
        }
    }
}
