//! The terminal: draws the view model, reads keys, and restores the terminal at the end.

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
