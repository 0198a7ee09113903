//! A canvas of cells that is written as SVG. Coordinates are whole pixels from the corner of the first cell, so that rectangles of
//! neighbouring cells meet without a seam.

use super::{
    FONT, Style,
    palette::{Paper, Rgb},
};
use std::fmt::{Arguments, Write};

/// The width of a cell in pixels.
pub const CELL_WIDTH: u32 = 10;
/// The height of a cell in pixels.
pub const CELL_HEIGHT: u32 = 20;
/// The size at which a letter, 1233/2048 of the font size wide, is exactly as wide as a cell.
const FONT_SIZE: f32 = CELL_WIDTH as f32 * 2048.0 / 1233.0;
/// The baseline of the letters, from the top of the cell.
const BASELINE: u32 = 16;
/// Space between the frame and the cells.
const PADDING: u32 = 16;

pub struct Cell {
    pub x: u32,
    pub y: u32,
    /// Its width: two columns for a wide character.
    pub width: u32,
    /// Its contents: a blank, a character, or a character with combining marks.
    pub text: String,
    pub style: Style,
}

/// A picture in progress.
pub struct Canvas {
    svg: String,
}

impl Canvas {
    /// An empty canvas with a frame.
    pub fn new(cols: u32, rows: u32, paper: Paper) -> Self {
        let Paper { background, frame, .. } = paper;
        let (width, height) = (cols * CELL_WIDTH + 2 * PADDING, rows * CELL_HEIGHT + 2 * PADDING);
        let mut canvas = Self { svg: String::new() };
        canvas.put(format_args!(
            "<svg xmlns='http://www.w3.org/2000/svg' width='{width}' height='{height}'>\n\
             <rect x='.5' y='.5' width='{}' height='{}' rx='9.5' \
             fill='{background}' stroke='{frame}'/>\n\
             <g transform='translate({PADDING} {PADDING})' \
             font-family='{FONT}' font-size='{FONT_SIZE}' xml:space='preserve'>\n",
            width - 1,
            height - 1,
        ));
        canvas
    }

    pub fn rect(&mut self, x: u32, y: u32, width: u32, height: u32, fill: Rgb) {
        self.put(format_args!(
            "<rect x='{x}' y='{y}' width='{width}' height='{height}' fill='{fill}' \
             shape-rendering='crispEdges'/>\n"
        ));
    }

    pub fn dot(&mut self, x: f32, y: f32, radius: f32, fill: Rgb) {
        self.put(format_args!("<circle cx='{x}' cy='{y}' r='{radius}' fill='{fill}'/>\n"));
    }

    /// Strokes a line one pixel wide along an SVG path that starts at the given corner.
    pub fn stroke(&mut self, x: u32, y: u32, path: &str, colour: Rgb) {
        self.put(format_args!("<path transform='translate({x} {y})' d='{path}' fill='none' stroke='{colour}'/>\n"));
    }

    /// Writes text from the left edge of a cell on.
    pub fn text(&mut self, x: u32, y: u32, text: &str, style: Style) {
        self.letters(x, y, "", text, style);
    }

    /// Centres the text of one cell: letters of another font can be narrower or wider.
    pub fn centred(&mut self, cell: &Cell) {
        self.letters(cell.x + cell.width / 2, cell.y, " text-anchor='middle'", &cell.text, cell.style);
    }

    /// Another drawing in front, as it is.
    pub fn append(&mut self, what: &str) {
        self.svg.push_str(what);
    }

    /// What was drawn, without the frame and the end.
    pub fn drawing(self) -> String {
        self.svg
    }

    /// A canvas without a frame, for a part of a drawing.
    pub fn part() -> Self {
        Self { svg: String::new() }
    }

    /// The finished document.
    pub fn finish(mut self) -> String {
        self.svg.push_str("</g>\n</svg>\n");
        self.svg
    }

    fn letters(&mut self, x: u32, y: u32, anchor: &str, text: &str, style: Style) {
        if text.is_empty() {
            return;
        }
        let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
        let weight = if style.bold { " font-weight='bold'" } else { "" };
        let slant = if style.italic { " font-style='italic'" } else { "" };
        self.put(format_args!(
            "<text x='{x}' y='{}'{anchor} fill='{}'{weight}{slant}>{text}</text>\n",
            y + BASELINE,
            style.fg,
        ));
    }

    fn put(&mut self, what: Arguments<'_>) {
        // writing into a string cannot fail
        let _ = self.svg.write_fmt(what);
    }
}
