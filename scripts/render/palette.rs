//! Colours: sixteen of a calm dark theme; the rest of the 256 are the standard ones.

use super::Style;
use std::fmt;
use vt100::{Cell, Color};

/// A colour; prints in the form that SVG needs.
#[derive(Clone, Copy, PartialEq)]
pub struct Rgb(pub u8, pub u8, pub u8);

/// What the text stands on.
#[derive(Clone, Copy)]
pub struct Paper {
    /// The default background.
    pub background: Rgb,
    /// The default text colour.
    pub foreground: Rgb,
    /// The line around the picture.
    pub frame: Rgb,
}

pub const DARK: Paper =
    Paper { background: Rgb(0x14, 0x17, 0x1a), foreground: Rgb(0xd0, 0xd4, 0xd8), frame: Rgb(0x30, 0x36, 0x3c) };
pub const LIGHT: Paper =
    Paper { background: Rgb(0xff, 0xff, 0xff), foreground: Rgb(0x24, 0x29, 0x2e), frame: Rgb(0xd0, 0xd4, 0xd8) };

/// How much of its own colour dim text keeps.
const DIM: f32 = 0.6;

/// Black, red, green, yellow, blue, magenta, cyan, white, then the same in bright.
const ANSI: [Rgb; 16] = [
    Rgb(0x22, 0x27, 0x2c),
    Rgb(0xd7, 0x5f, 0x5a),
    Rgb(0x78, 0xb3, 0x69),
    Rgb(0xd8, 0x9e, 0x48),
    Rgb(0x5b, 0x9b, 0xe0),
    Rgb(0xb0, 0x82, 0xcc),
    Rgb(0x54, 0xb2, 0xb4),
    Rgb(0xc0, 0xc5, 0xca),
    Rgb(0x6a, 0x73, 0x7c),
    Rgb(0xf2, 0x7d, 0x72),
    Rgb(0x98, 0xd2, 0x86),
    Rgb(0xf2, 0xbf, 0x6b),
    Rgb(0x82, 0xb9, 0xf7),
    Rgb(0xcd, 0xa3, 0xe6),
    Rgb(0x7a, 0xd3, 0xd3),
    Rgb(0xf4, 0xf6, 0xf8),
];

impl Rgb {
    /// Mixes this colour, with the given share, with the other.
    pub fn mix(self, other: Self, share: f32) -> Self {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "`as` takes the nearest number that fits"
        )]
        let part = |own: u8, other: u8| (f32::from(own) * share + f32::from(other) * (1.0 - share)).round() as u8;
        Self(part(self.0, other.0), part(self.1, other.1), part(self.2, other.2))
    }
}

impl fmt::Display for Rgb {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{:02x}{:02x}{:02x}", self.0, self.1, self.2)
    }
}

/// The look of a cell. The cursor is drawn as an inverted cell.
pub fn style_of(cell: &Cell, cursor: bool, paper: Paper) -> Style {
    let (mut fg, mut bg) = (resolve(cell.fgcolor(), paper.foreground), resolve(cell.bgcolor(), paper.background));
    if cell.inverse() != cursor {
        (fg, bg) = (bg, fg);
    }
    if cell.dim() {
        fg = fg.mix(bg, DIM);
    }
    Style { fg, bg, bold: cell.bold(), italic: cell.italic(), underline: cell.underline() }
}

fn resolve(colour: Color, default: Rgb) -> Rgb {
    match colour {
        Color::Default => default,
        Color::Rgb(red, green, blue) => Rgb(red, green, blue),
        Color::Idx(index @ 0..16) => ANSI[usize::from(index)],
        Color::Idx(index @ 16..232) => {
            let step = |digit: u8| if digit == 0 { 0 } else { 55 + 40 * digit };
            let index = index - 16;
            Rgb(step(index / 36), step(index / 6 % 6), step(index % 6))
        }
        Color::Idx(index @ 232..) => {
            let grey = 8 + 10 * (index - 232);
            Rgb(grey, grey, grey)
        }
    }
}
