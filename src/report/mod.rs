//! Headless outputs from the same store that the screen shows.

mod json;
pub mod plans;
mod text;

pub use json::snapshot as json;
pub use text::snapshot as text;
