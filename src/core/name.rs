//! Names of streams, groups and consumers: arbitrary bytes, shown safely.

use std::fmt::{self, Write};
use unicode_width::UnicodeWidthChar;

/// A name exactly as the server has it. It is shown with [`Name::shown`], compared and sent as bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Name(Vec<u8>);

/// What the screen shows for the empty name. A name with this very text is shown as `\x28empty)`.
pub const EMPTY: &str = "(empty)";

impl Name {
    pub fn new(bytes: impl Into<Vec<u8>>) -> Self {
        Self(bytes.into())
    }

    pub fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// The name in readable form: no control byte, no character that hides or reverses text, and no two names with the same form.
    pub fn shown(&self) -> String {
        match self.0.as_slice() {
            b"" => EMPTY.to_owned(),
            b"(empty)" => "\\x28empty)".to_owned(),
            bytes => {
                let mut out = String::with_capacity(bytes.len());
                for chunk in bytes.utf8_chunks() {
                    for c in chunk.valid().chars() {
                        push_visible(&mut out, c, true);
                    }
                    for byte in chunk.invalid() {
                        let _ = write!(out, "\\x{byte:02x}");
                    }
                }
                out
            }
        }
    }

    /// The exact bytes in lower-case hex where [`Name::shown`] differs from the name, else `None`.
    pub fn hex(&self) -> Option<String> {
        (self.shown().as_bytes() != self.0.as_slice()).then(|| hex(&self.0))
    }
}

impl From<&str> for Name {
    fn from(text: &str) -> Self {
        Self(text.as_bytes().to_vec())
    }
}

/// Characters of a name in a sentence; the rest is cut.
const IN_SENTENCES: usize = 64;

/// For sentences: like [`Name::shown`], but cut, so that an 8 KB name leaves room for the rest. `Name::shown` is never cut.
impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = self.shown();
        match shown.char_indices().nth(IN_SENTENCES) {
            Some((end, _)) => write!(f, "{}…", &shown[..end]),
            None => f.write_str(&shown),
        }
    }
}

/// Lower-case hex of any bytes.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut out, byte| {
        let _ = write!(out, "{byte:02x}");
        out
    })
}

/// Any text from outside (an error message, a payload) with everything unprintable escaped. Backslashes stay: this form is for reading,
/// and two different texts may look the same in it.
pub fn visible(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        for c in chunk.valid().chars() {
            push_visible(&mut out, c, false);
        }
        for byte in chunk.invalid() {
            let _ = write!(out, "\\x{byte:02x}");
        }
    }
    out
}

/// One character, or its escape if a terminal would not simply print it in one or two cells: controls (also C1, which arrive as valid
/// UTF-8, docs/server-facts.md 13.10), direction marks, and all characters without width, which could hide or forge a name.
fn push_visible(out: &mut String, c: char, escape_backslash: bool) {
    let direction =
        matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    // fillers and separators that count as wide, but are drawn as blanks or break lines
    let blank = matches!(c, '\u{a0}' | '\u{ad}' | '\u{115f}' | '\u{1160}' | '\u{2000}'..='\u{200a}' | '\u{2028}' | '\u{2029}'
        | '\u{202f}' | '\u{205f}' | '\u{3000}' | '\u{3164}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{2800}');
    let private = matches!(c, '\u{e000}'..='\u{f8ff}' | '\u{f0000}'..);
    match c {
        '\\' if escape_backslash => out.push_str("\\\\"),
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        '\t' => out.push_str("\\t"),
        c if c.is_ascii() && !c.is_control() => out.push(c),
        c if (c as u32) < 0x100 && c.is_control() => {
            // as bytes, so that a C1 control reads as it was sent
            let mut buffer = [0; 4];
            for byte in c.encode_utf8(&mut buffer).bytes() {
                let _ = write!(out, "\\x{byte:02x}");
            }
        }
        c if direction || blank || private || c.is_control() || c.width().unwrap_or(0) == 0 => {
            let _ = write!(out, "\\u{{{:x}}}", c as u32);
        }
        c => out.push(c),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn nothing_that_a_terminal_obeys_is_shown() {
        let hostile = Name::new(&b"c1\x1b]52;c;x\x07\r\x08fake\xc2\x9b2J"[..]);
        assert_eq!(hostile.shown(), "c1\\x1b]52;c;x\\x07\\r\\x08fake\\xc2\\x9b2J");
        assert!(hostile.hex().is_some());
        assert_eq!(Name::from("a\u{202e}b\u{200b}c").shown(), "a\\u{202e}b\\u{200b}c");
    }

    #[test]
    fn the_empty_name_cannot_be_forged() {
        assert_eq!(Name::default().shown(), "(empty)");
        assert_eq!(Name::default().hex().as_deref(), Some(""));
        assert_ne!(Name::from("(empty)").shown(), "(empty)");
    }

    #[test]
    fn plain_names_stay_as_they_are() {
        for plain in ["orders", "$", ">", "-", "a b", "日本", "é"] {
            assert_eq!(Name::from(plain).shown(), plain);
            assert_eq!(Name::from(plain).hex(), None);
        }
    }

    proptest! {
        #[test]
        fn two_names_never_look_the_same(a: Vec<u8>, b: Vec<u8>) {
            let (x, y) = (Name::new(a.clone()), Name::new(b.clone()));
            prop_assert_eq!(a == b, x.shown() == y.shown());
        }

        #[test]
        fn what_is_shown_has_no_control_and_no_zero_width(bytes: Vec<u8>) {
            for c in Name::new(bytes).shown().chars() {
                prop_assert!(!c.is_control() && c.width().unwrap_or(0) > 0);
            }
        }
    }
}
