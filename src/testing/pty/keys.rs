//! What keys without a printable character send.

pub const ENTER: &str = "\r";
pub const ESC: &str = "\x1b";
pub const TAB: &str = "\t";
pub const BACK_TAB: &str = "\x1b[Z";
pub const BACKSPACE: &str = "\x7f";
pub const UP: &str = "\x1b[A";
pub const DOWN: &str = "\x1b[B";
pub const RIGHT: &str = "\x1b[C";
pub const LEFT: &str = "\x1b[D";
pub const PAGE_UP: &str = "\x1b[5~";
pub const PAGE_DOWN: &str = "\x1b[6~";
pub const CTRL_C: &str = "\x03";
pub const CTRL_Z: &str = "\x1a";
