//! A value that is read from a server repeatedly, and may be refused.

use super::{
    fault::{Fault, Part},
    time::Mono,
};

/// A refused command is tried again after this long, in milliseconds.
const REFUSED_MS: u64 = 30_000;

/// Why the last reading failed, and when.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailedReading {
    pub fault: Fault,
    pub at: Mono,
}

impl FailedReading {
    /// Whether permission was denied too recently to try again.
    pub fn is_refused(&self, now: Mono) -> bool {
        matches!(self.fault, Fault::Denied(_)) && now.since(self.at) < REFUSED_MS
    }
}

/// A value as it was last read: what, when, and why the last reading failed, if it did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Observed<T> {
    /// What was read; `None` before the first reading.
    pub value: Option<T>,
    /// When `value` was read. A failed reading changes neither.
    pub at: Mono,
    /// Why the last reading failed; `None` if it succeeded.
    pub failure: Option<FailedReading>,
}

impl<T> Default for Observed<T> {
    fn default() -> Self {
        Self::since(Mono::default())
    }
}

impl<T> Observed<T> {
    /// Nothing was read yet; `at` is when the subject was first seen.
    pub fn since(at: Mono) -> Self {
        Self { value: None, at, failure: None }
    }

    pub fn take(&mut self, part: Part<T>, at: Mono) {
        match part {
            Ok(value) => *self = Self { value: Some(value), at, failure: None },
            Err(fault) => self.failure = Some(FailedReading { fault, at }),
        }
    }

    pub fn fault(&self) -> Option<&Fault> {
        self.failure.as_ref().map(|failure| &failure.fault)
    }

    pub fn is_refused(&self, now: Mono) -> bool {
        self.failure.as_ref().is_some_and(|failure| failure.is_refused(now))
    }

    /// Milliseconds since the value was read.
    pub fn age_ms(&self, now: Mono) -> u64 {
        now.since(self.at)
    }
}
