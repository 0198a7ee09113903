//! The only place that reads clocks. Core and app get times as arguments.

use crate::core::{
    number::{ms, signed_ms},
    time::{Mono, Now},
};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

#[derive(Clone, Copy, Debug)]
pub struct Clock {
    start: Instant,
}

impl Clock {
    /// A clock that starts at 0 now.
    pub fn start() -> Self {
        Self { start: Instant::now() }
    }

    /// Milliseconds since the start.
    pub fn mono(&self) -> Mono {
        Mono(ms(self.start.elapsed()))
    }

    pub fn now(&self) -> Now {
        let wall_ms = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, signed_ms);
        Now { mono: self.mono(), wall_ms }
    }
}

/// The local time of day: hours, minutes, seconds.
pub fn local_time() -> String {
    chrono::Local::now().format("%H:%M:%S").to_string()
}
