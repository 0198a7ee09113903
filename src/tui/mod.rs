//! The terminal: draws the view model, reads keys, and restores the terminal at the end.

mod ascii;
mod background;
mod draw;
mod input;
mod palette;
mod panes;
mod replies;
mod table;
mod target;
pub mod terminal;
mod theme;

pub use background::{Answer, ask as ask_background};
pub use draw::draw;
pub use input::{askpass, click, message, typed};
pub use palette::Background;
pub use replies::{Replies, Sorted};
pub use target::target;
pub use theme::{Look, Theme, When};
