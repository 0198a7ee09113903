//! The terminal: drawing the view model, reading keys, and leaving everything as it was.

mod ascii;
mod draw;
mod input;
mod panes;
mod run;
mod table;
mod terminal;
mod theme;

pub use draw::draw;
pub use input::askpass;
pub use run::{Options, dashboard};
pub use theme::Theme;
