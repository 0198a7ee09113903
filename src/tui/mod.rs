//! The terminal: drawing the view model, reading keys, and leaving everything as it was.

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
