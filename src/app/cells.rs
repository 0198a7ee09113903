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

/// How many bytes all these names begin and end with alike, up to the last sign between words. Nothing for names that are all the same.
pub fn shared<'a>(names: impl Iterator<Item = &'a str> + Clone) -> (usize, usize) {
    let Some(first) = names.clone().next() else { return (0, 0) };
    if names.clone().all(|name| name == first) {
        return (0, 0);
    }
    let same = |a: &str, b: &str| a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count();
    let same_end = |a: &str, b: &str| a.bytes().rev().zip(b.bytes().rev()).take_while(|(a, b)| a == b).count();
    let before = names.clone().map(|name| same(first, name)).min().unwrap_or(0);
    let after = names.map(|name| same_end(first, name)).min().unwrap_or(0);
    let is_between = |c: char| ":/.-_{}|".contains(c);
    let before = first.get(..before).and_then(|text| text.rfind(is_between)).map_or(0, |at| at + 1);
    let after =
        first.get(first.len() - after..).and_then(|text| text.find(is_between).map(|at| text.len() - at)).unwrap_or(0);
    (before, after)
}

/// Cuts a name to at most `cells` cells, first by what it shares with all others: what tells it from them stays.
pub fn cut_shared(text: &str, cells: usize, (before, after): (usize, usize)) -> String {
    if width(text) <= cells || before + after >= text.len() {
        return cut(text, cells);
    }
    let (Some(own), Some(to_end)) = (text.get(before..text.len() - after), text.get(before..)) else {
        return cut(text, cells);
    };
    let lead = if before > 1 { "…" } else { &text[..before] };
    let whole = format!("{lead}{to_end}");
    if width(&whole) <= cells || after == 0 { cut(&whole, cells) } else { cut(&format!("{lead}{own}…"), cells) }
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

    #[test]
    fn names_with_a_common_beginning_are_told_apart() {
        let names: Vec<String> = (0..60).map(|n| format!("shop:{n:02}:orders:events")).collect();
        let parts = shared(names.iter().map(String::as_str));
        let cut: Vec<String> = names.iter().map(|name| cut_shared(name, 12, parts)).collect();
        assert_eq!((cut[0].as_str(), cut[59].as_str()), ("…00…", "…59…"));
        assert_eq!(cut_shared("shop:07:orders:events", 20, parts), "…07:orders:events");
        assert_eq!(cut_shared("shop:07:orders:events", 30, parts), "shop:07:orders:events");
        assert_eq!(shared(["a:b", "a:b"].into_iter()), (0, 0), "the groups of one stream");
        assert_eq!(shared(["orders", "origins"].into_iter()), (0, 0), "only whole words");
        assert_eq!(cut_shared("orders:of:a:very:long:name", 8, shared(["orders:of", "x"].into_iter())), "orders:…");
    }

    proptest! {
        #[test]
        fn a_shared_cut_fits(names in prop::collection::vec("[a-c:]{1,20}|\\PC{1,12}", 2..6), cells in 1usize..20) {
            let parts = shared(names.iter().map(String::as_str));
            for name in &names {
                prop_assert!(width(&cut_shared(name, cells, parts)) <= cells);
            }
        }

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
