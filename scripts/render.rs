//! Turns a terminal screen into a picture: cells to SVG, SVG to PNG.
#![allow(dead_code, reason = "each program that includes this file uses a part of it")]

#[path = "render/canvas.rs"]
mod canvas;
#[path = "render/glyphs.rs"]
mod glyphs;
#[path = "render/palette.rs"]
mod palette;

use canvas::{CELL_HEIGHT, CELL_WIDTH, Canvas, Cell};
pub use palette::{DARK, LIGHT, Paper};
use palette::{Rgb, style_of};
use resvg::{tiny_skia, usvg};
use std::fmt::Write;
use vt100::Screen;

/// The font of the pictures: it has the arrows, blocks and marks that terminal programs use.
pub const FONT: &str = "DejaVu Sans Mono";

/// How a cell looks after inversion, dimming and the cursor are applied.
#[derive(Clone, Copy, PartialEq)]
pub struct Style {
    fg: Rgb,
    bg: Rgb,
    bold: bool,
    italic: bool,
    underline: bool,
}

/// Draws screens with the fonts of this machine.
pub struct Renderer {
    options: usvg::Options<'static>,
}

impl Renderer {
    /// Loads the fonts. Fails if the main font is missing.
    pub fn new() -> Result<Self, String> {
        let mut options = usvg::Options { font_family: FONT.to_owned(), ..usvg::Options::default() };
        options.fontdb_mut().load_system_fonts();
        let has_font = options.fontdb.faces().any(|face| face.families.iter().any(|(name, _)| name == FONT));
        if has_font {
            Ok(Self { options })
        } else {
            Err(format!("the font {FONT} is not installed (Debian: fonts-dejavu-core)"))
        }
    }

    /// The screen as the bytes of a PNG file.
    pub fn png(&self, screen: &Screen, paper: Paper) -> Result<Vec<u8>, String> {
        let tree = usvg::Tree::from_str(&svg(screen, paper), &self.options).map_err(|error| error.to_string())?;
        let size = tree.size().to_int_size();
        let mut pixels = tiny_skia::Pixmap::new(size.width(), size.height()).ok_or("a picture of no size")?;
        resvg::render(&tree, tiny_skia::Transform::default(), &mut pixels.as_mut());
        pixels.encode_png().map_err(|error| error.to_string())
    }
}

/// The screen as an SVG document.
pub fn svg(screen: &Screen, paper: Paper) -> String {
    let mut canvas = canvas_of(screen, paper);
    canvas.append(&drawing(screen, paper));
    canvas.finish()
}

fn canvas_of(screen: &Screen, paper: Paper) -> Canvas {
    let (rows, cols) = (screen.size().0.get(), screen.size().1.get());
    Canvas::new(u32::from(cols), u32::from(rows), paper)
}

/// Screens one after the other, each for its time in seconds, as one SVG document that moves and begins again at its end.
pub fn moving(frames: &[(Screen, f32)], paper: Paper) -> String {
    let Some((first, _)) = frames.first() else { return String::new() };
    let mut canvas = canvas_of(first, paper);
    let whole: f32 = frames.iter().map(|(_, seconds)| seconds).sum();
    let mut style = "<style>.f{opacity:0}".to_owned();
    let mut from = 0.0;
    for (index, (_, seconds)) in frames.iter().enumerate() {
        let (start, end) = (from / whole * 100.0, (from + seconds) / whole * 100.0);
        // writing into a string cannot fail
        let _ = write!(
            style,
            "@keyframes k{index}{{0%,{:.3}%{{opacity:0}}{start:.3}%,{:.3}%{{opacity:1}}{end:.3}%,100%{{opacity:0}}}}\
             .f{index}{{animation:k{index} {whole}s step-end infinite}}",
            (start - 0.001).max(0.0),
            end - 0.001,
        );
        from += seconds;
    }
    canvas.append(&style);
    canvas.append("</style>\n");
    for (index, (screen, _)) in frames.iter().enumerate() {
        canvas.append(&format!("<g class='f f{index}'>\n{}</g>\n", drawing(screen, paper)));
    }
    canvas.finish()
}

fn drawing(screen: &Screen, paper: Paper) -> String {
    let (rows, cols) = (screen.size().0.get(), screen.size().1.get());
    let lines: Vec<Vec<Cell>> = (0..rows).map(|row| line_of(screen, row, cols, paper)).collect();
    let mut canvas = Canvas::part();
    // all backgrounds before any text, or a row would cover the tails of the letters above it
    for line in &lines {
        for run in line.chunk_by(|a, b| a.style.bg == b.style.bg) {
            let (first, style) = (&run[0], run[0].style);
            if style.bg != paper.background {
                canvas.rect(first.x, first.y, width_of(run), CELL_HEIGHT, style.bg);
            }
        }
    }
    for line in &lines {
        for run in line.chunk_by(|a, b| a.style == b.style) {
            draw_run(&mut canvas, run);
        }
    }
    canvas.drawing()
}

/// The cells of one row. A wide character is one cell of twice the width.
fn line_of(screen: &Screen, row: u16, cols: u16, paper: Paper) -> Vec<Cell> {
    let cursor = (!screen.hide_cursor()).then(|| screen.cursor_position());
    let cells = (0..cols).filter_map(|col| Some((col, screen.cell(row, col)?)));
    let drawn = cells.filter(|(_, cell)| !cell.is_wide_continuation()).map(|(col, cell)| Cell {
        x: u32::from(col) * CELL_WIDTH,
        y: u32::from(row) * CELL_HEIGHT,
        width: if cell.is_wide() { 2 * CELL_WIDTH } else { CELL_WIDTH },
        text: if cell.has_contents() { cell.contents().to_owned() } else { " ".to_owned() },
        style: style_of(cell, cursor == Some((row, col)), paper),
    });
    drawn.collect()
}

/// Draws cells of one style. ASCII is drawn in runs, since its letters are exactly one cell wide. Other characters can come from another
/// font, so each is placed on its own.
fn draw_run(canvas: &mut Canvas, run: &[Cell]) {
    let (first, style) = (&run[0], run[0].style);
    if style.underline {
        canvas.rect(first.x, first.y + CELL_HEIGHT - 3, width_of(run), 1, style.fg);
    }
    for stretch in run.chunk_by(|a, b| a.text.is_ascii() && b.text.is_ascii()) {
        let text: String = stretch.iter().map(|cell| cell.text.as_str()).collect();
        let start = text.len() - text.trim_start_matches(' ').len();
        if text.is_ascii() {
            // each letter is one cell, so the number of leading blanks is the number of cells to skip
            if let Some(cell) = stretch.get(start) {
                canvas.text(cell.x, cell.y, text.trim_matches(' '), style);
            }
        } else if !glyphs::draw(canvas, &stretch[0]) {
            canvas.centred(&stretch[0]);
        }
    }
}

fn width_of(run: &[Cell]) -> u32 {
    run.iter().map(|cell| cell.width).sum()
}
