//! The terminal: draws the view model, reads keys, and restores the terminal at the end.

mod ascii;
mod draw;
mod input;
mod panes;
mod table;
pub mod terminal;
mod theme;

pub use draw::draw;
pub use input::{askpass, message};
pub use theme::{Theme, When};
