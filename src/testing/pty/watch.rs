//! What is known about a running program, and waiting for a change.

use std::{
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};
use vt100::Parser;

/// How often a wait looks again although no output arrived: some conditions depend on the clock.
const LOOK_AGAIN: Duration = Duration::from_millis(20);
/// How long output may still arrive after the program's exit, if another process keeps its terminal open.
const DRAIN: Duration = Duration::from_millis(500);

/// A program's screen and whether more can still come.
pub struct State {
    /// The screen after all output so far.
    pub parser: Parser,
    /// All output so far.
    pub raw: Vec<u8>,
    /// Everybody has closed the terminal's other end: nothing more will arrive.
    pub closed: bool,
    /// We let go of our end after the next output.
    pub closing: bool,
    /// The exit status, and when it was seen.
    pub exit: Option<(u32, Instant)>,
}

impl State {
    pub fn new(parser: Parser) -> Self {
        Self { parser, raw: Vec::new(), closed: false, closing: false, exit: None }
    }

    /// Whether the screen will not change any more.
    pub fn drained(&self) -> bool {
        self.closed || self.exit.is_some_and(|(_, at)| at.elapsed() > DRAIN)
    }
}

/// The state, shared by the threads that follow the program and those that wait for something.
#[derive(Clone)]
pub struct Shared(Arc<(Mutex<State>, Condvar)>);

impl Shared {
    pub fn new(state: State) -> Self {
        Self(Arc::new((Mutex::new(state), Condvar::new())))
    }

    /// The current state; it does not change while it is held.
    pub fn lock(&self) -> MutexGuard<'_, State> {
        // A condition that panics while it looks at the screen must not hide its own message behind a poisoned lock.
        self.0.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the state and wakes those who wait for a change.
    pub fn update(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.lock());
        self.0.1.notify_all();
    }

    /// Looks at the state after each change until `look` has an answer; `None` past the limit.
    pub fn watch<T>(&self, limit: Duration, mut look: impl FnMut(&State) -> Option<T>) -> Option<T> {
        let deadline = Instant::now() + limit;
        let mut state = self.lock();
        loop {
            let answer = look(&state);
            let left = deadline.saturating_duration_since(Instant::now());
            if answer.is_some() || left.is_zero() {
                return answer;
            }
            let woken = self.0.1.wait_timeout(state, left.min(LOOK_AGAIN));
            state = woken.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}
