//! `Instance`: writable or not, and those who wait until it is.

use std::{
    sync::{Condvar, Mutex, MutexGuard, PoisonError},
    thread,
    time::Duration,
};

/// What a watcher waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// That it can be written.
    Writable,
    /// That it can only be read.
    ReadOnly,
}

/// How a watcher waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Watch {
    /// It looks, and sleeps for a millisecond.
    Sleep,
    /// It waits to be woken, for at most a millisecond at a time.
    Timed,
    /// It waits to be woken.
    Blocking,
}

/// Between two looks.
const POLL: Duration = Duration::from_millis(1);

/// The mode of an instance.
#[derive(Debug)]
pub struct Instance {
    now: Mutex<Now>,
    changed: Condvar,
}

#[derive(Clone, Copy, Debug)]
struct Now {
    mode: Wanted,
    is_over: bool,
}

impl Instance {
    /// In that mode.
    pub const fn new(mode: Wanted) -> Self {
        Self { now: Mutex::new(Now { mode, is_over: false }), changed: Condvar::new() }
    }

    fn now(&self) -> MutexGuard<'_, Now> {
        self.now.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the mode, and wakes all who wait.
    pub fn set(&self, mode: Wanted) {
        self.now().mode = mode;
        self.changed.notify_all();
    }

    /// Ends all waits.
    pub fn end(&self) {
        self.now().is_over = true;
        self.changed.notify_all();
    }

    /// Whether it is in that mode now: what a polling watcher asks.
    pub fn is(&self, mode: Wanted) -> bool {
        self.now().mode == mode
    }

    /// Waits until it is in that mode; `false` if it has ended.
    pub fn wait(&self, wanted: Wanted, watch: Watch) -> bool {
        let mut now = self.now();
        loop {
            if now.is_over {
                return false;
            }
            if now.mode == wanted {
                return true;
            }
            now = match watch {
                Watch::Sleep => {
                    drop(now);
                    thread::sleep(POLL);
                    self.now()
                }
                Watch::Timed => self.changed.wait_timeout(now, POLL).unwrap_or_else(PoisonError::into_inner).0,
                Watch::Blocking => self.changed.wait(now).unwrap_or_else(PoisonError::into_inner),
            };
        }
    }
}
