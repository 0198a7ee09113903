//! Characters that must touch their neighbours, drawn as shapes: letters of a font would leave thin gaps.

use super::{
    canvas::{CELL_HEIGHT, CELL_WIDTH, Canvas, Cell},
    palette::Rgb,
};

/// The pixel column and row of the lines.
const MIDDLE: (u32, u32) = (CELL_WIDTH / 2, CELL_HEIGHT / 2);

/// Box characters and their arms to the left, right, top and bottom: none, light or heavy.
const BOXES: &str = "\
    ─1100 ━2200 │0011 ┃0022 ┌0101 ┍0201 ┎0102 ┏0202 ┐1001 ┑2001 ┒1002 ┓2002 └0110 ┕0210 ┖0120 ┗0220 \
    ┘1010 ┙2010 ┚1020 ┛2020 ├0111 ┝0211 ┞0121 ┟0112 ┠0122 ┡0221 ┢0212 ┣0222 ┤1011 ┥2011 ┦1021 ┧1012 \
    ┨1022 ┩2021 ┪2012 ┫2022 ┬1101 ┭2101 ┮1201 ┯2201 ┰1102 ┱2102 ┲1202 ┳2202 ┴1110 ┵2110 ┶1210 ┷2210 \
    ┸1120 ┹2120 ┺1220 ┻2220 ┼1111 ┽2111 ┾1211 ┿2211 ╀1121 ╁1112 ╂1122 ╃2121 ╄1221 ╅2112 ╆1212 ╇2221 \
    ╈2212 ╉2122 ╊1222 ╋2222 ╴1000 ╵0010 ╶0100 ╷0001 ╸2000 ╹0020 ╺0200 ╻0002 ╼1200 ╽0012 ╾2100 ╿0021";

/// Dashed lines: direction, thickness, number of pieces.
const DASHES: &str = "┄h13 ┅h33 ┆v13 ┇v33 ┈h14 ┉h34 ┊v14 ┋v34 ╌h12 ╍h32 ╎v12 ╏v32";

/// Curves and diagonals, as paths in a cell of 10 by 20.
const PATHS: [(char, &str); 7] = [
    ('╭', "M5.5 20V15.5Q5.5 10.5 10 10.5"),
    ('╮', "M0 10.5Q5.5 10.5 5.5 15.5V20"),
    ('╯', "M5.5 0V5.5Q5.5 10.5 0 10.5"),
    ('╰', "M5.5 0V5.5Q5.5 10.5 10 10.5"),
    ('╱', "M0 20L10 0"),
    ('╲', "M0 0L10 20"),
    ('╳', "M0 20L10 0M0 0L10 20"),
];

/// The filled quarters of U+2596 to U+259F: 1 top left, 2 top right, 4 bottom left, 8 bottom right.
const QUADRANTS: [u8; 10] = [4, 8, 1, 13, 9, 7, 11, 2, 6, 14];

/// Draws the cell if its character is one of these; returns false if the font must draw it.
pub fn draw(canvas: &mut Canvas, cell: &Cell) -> bool {
    let mut chars = cell.text.chars();
    let (Some(char), None) = (chars.next(), chars.next()) else {
        return false;
    };
    match char {
        '\u{2500}'..='\u{257f}' => line(canvas, cell, char),
        '\u{2580}'..='\u{259f}' => block(canvas, cell, char),
        '\u{2800}'..='\u{28ff}' => braille(canvas, cell, char),
        _ => false,
    }
}

fn line(canvas: &mut Canvas, cell: &Cell, char: char) -> bool {
    if let Some(spec) = lookup(BOXES, char) {
        arms(canvas, cell, spec.map(|digit| [0, 1, 3][usize::from(digit - b'0')]));
    } else if let Some([axis, thick, pieces]) = lookup(DASHES, char) {
        dashes(canvas, cell, axis == b'h', u32::from(thick - b'0'), u32::from(pieces - b'0'));
    } else if let Some((_, path)) = PATHS.iter().find(|(name, _)| *name == char) {
        canvas.stroke(cell.x, cell.y, path, cell.style.fg);
    } else {
        // double lines are rare: leave them to the font
        return false;
    }
    true
}

fn lookup<const N: usize>(table: &str, char: char) -> Option<[u8; N]> {
    let spec = table.split_whitespace().find_map(|entry| entry.strip_prefix(char))?;
    spec.as_bytes().try_into().ok()
}

fn arms(canvas: &mut Canvas, cell: &Cell, [left, right, up, down]: [u32; 4]) {
    let (x, y, fg) = (cell.x, cell.y, cell.style.fg);
    // each arm reaches to the far side of the line that it meets, or corners would have a notch
    let (across, along) = (up.max(down) / 2, left.max(right) / 2);
    for (thick, from, to) in [(left, 0, MIDDLE.0 + across + 1), (right, MIDDLE.0 - across, CELL_WIDTH)] {
        if thick > 0 {
            canvas.rect(x + from, y + MIDDLE.1 - thick / 2, to - from, thick, fg);
        }
    }
    for (thick, from, to) in [(up, 0, MIDDLE.1 + along + 1), (down, MIDDLE.1 - along, CELL_HEIGHT)] {
        if thick > 0 {
            canvas.rect(x + MIDDLE.0 - thick / 2, y + from, thick, to - from, fg);
        }
    }
}

fn dashes(canvas: &mut Canvas, cell: &Cell, horizontal: bool, thick: u32, pieces: u32) {
    let length = if horizontal { CELL_WIDTH } else { CELL_HEIGHT };
    for piece in 0..pieces {
        let (from, to) = (piece * length / pieces, (piece + 1) * length / pieces);
        let (dash, gap) = ((to - from).div_ceil(2), (to - from) / 4);
        if horizontal {
            canvas.rect(cell.x + from + gap, cell.y + MIDDLE.1 - thick / 2, dash, thick, cell.style.fg);
        } else {
            canvas.rect(cell.x + MIDDLE.0 - thick / 2, cell.y + from + gap, thick, dash, cell.style.fg);
        }
    }
}

fn block(canvas: &mut Canvas, cell: &Cell, char: char) -> bool {
    let (w, h) = (CELL_WIDTH, CELL_HEIGHT);
    let eighths = |length: u32, count: u32| (length * count + 4) / 8;
    let code = u32::from(char) - 0x2580;
    let mut fill = |x: u32, y: u32, width: u32, height: u32, colour: Rgb| {
        canvas.rect(cell.x + x, cell.y + y, width, height, colour);
    };
    let fg = cell.style.fg;
    match code {
        0x00 => fill(0, 0, w, h / 2, fg),
        0x01..=0x08 => fill(0, h - eighths(h, code), w, eighths(h, code), fg),
        0x09..=0x0f => fill(0, 0, eighths(w, 0x10 - code), h, fg),
        0x10 => fill(w / 2, 0, w / 2, h, fg),
        0x11..=0x13 => fill(0, 0, w, h, fg.mix(cell.style.bg, (code - 0x10) as f32 / 4.0)),
        0x14 => fill(0, 0, w, eighths(h, 1), fg),
        0x15 => fill(w - eighths(w, 1), 0, eighths(w, 1), h, fg),
        _ => {
            let filled = QUADRANTS[code as usize - 0x16];
            for (bit, x, y) in [(1, 0, 0), (2, w / 2, 0), (4, 0, h / 2), (8, w / 2, h / 2)] {
                if filled & bit != 0 {
                    fill(x, y, w / 2, h / 2, fg);
                }
            }
        }
    }
    true
}

fn braille(canvas: &mut Canvas, cell: &Cell, char: char) -> bool {
    // the seventh and eighth dots were added later, below the first six, hence the order of the bits
    let places = [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2), (0, 3), (1, 3)];
    for (bit, (col, row)) in places.into_iter().enumerate() {
        if (u32::from(char) >> bit) & 1 == 1 {
            let (x, y) = ((cell.x + col * 5) as f32 + 2.5, (cell.y + row * 5) as f32 + 2.5);
            canvas.dot(x, y, 1.7, cell.style.fg);
        }
    }
    true
}
