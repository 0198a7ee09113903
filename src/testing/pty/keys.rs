//! What the keys without a printable character send.

/// Enter.
pub const ENTER: &str = "\r";
/// Escape.
pub const ESC: &str = "\x1b";
/// Tab.
pub const TAB: &str = "\t";
/// Shift and Tab.
pub const BACK_TAB: &str = "\x1b[Z";
/// Backspace.
pub const BACKSPACE: &str = "\x7f";
/// Arrow up.
pub const UP: &str = "\x1b[A";
/// Arrow down.
pub const DOWN: &str = "\x1b[B";
/// Arrow right.
pub const RIGHT: &str = "\x1b[C";
/// Arrow left.
pub const LEFT: &str = "\x1b[D";
/// Page up.
pub const PAGE_UP: &str = "\x1b[5~";
/// Page down.
pub const PAGE_DOWN: &str = "\x1b[6~";
/// Control and c.
pub const CTRL_C: &str = "\x03";
/// Control and z.
pub const CTRL_Z: &str = "\x1a";
