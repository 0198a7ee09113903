//! The tasks beside the loop: polling, acting, and readings for scripts. They know the server (`source`) and the words of the app
//! (`Effect` in, `Msg` out), and nothing of the screen.

mod act;
mod poll;
mod reading;

pub use act::{Actor, carry_out};
pub use poll::{Connect, Poller, ToServer};
pub use reading::{FullReading, settle};
