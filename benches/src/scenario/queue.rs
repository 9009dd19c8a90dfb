//! Tarantool's queue: operations that ask a mode first, and those who wait for the mode.
//!
//! * [`tasks`]: the documented benchmark, whose consumers are tasks on one thread;
//! * [`threads`]: the same with threads, and what waiting costs while nothing changes;
//! * [`faults`]: what the original misses, and ours does not;
//! * [`ours`]: the original's state machine as a declared gate.
pub mod faults;
mod ours;
pub mod tasks;
pub mod threads;
mod usage;

pub use ours::{Queue, QueueState, Role};

use crate::originals::queue::{Machine, Tube};

/// What the documented benchmark puts.
pub const DATA: &str = "test data";

/// What each operation asks before it does anything.
pub trait Mode: Sync {
    /// Whether the queue can be used.
    fn check(&self) -> bool;
}

/// Nobody asks.
#[derive(Clone, Copy, Debug)]
pub struct NoMode;

impl Mode for NoMode {
    #[inline(always)]
    fn check(&self) -> bool {
        true
    }
}

impl Mode for Machine {
    #[inline]
    fn check(&self) -> bool {
        Machine::check(self)
    }
}

impl Mode for Queue {
    #[inline]
    fn check(&self) -> bool {
        Queue::check(self)
    }
}

/// Puts so many tasks, or fewer if the queue cannot be used; returns how many. One call for each task, as a user's.
#[inline(never)]
pub fn fill<M: Mode>(mode: &M, tube: &Tube, batch: u32) -> u32 {
    (0..batch).map(|_| u32::from(mode.check() && put(tube))).sum()
}

#[inline]
fn put(tube: &Tube) -> bool {
    tube.put(DATA);
    true
}

/// Takes and acknowledges so many; returns how many there were.
#[inline(never)]
pub fn confirm<M: Mode>(mode: &M, tube: &Tube, batch: u32) -> u32 {
    let take = || if mode.check() { tube.try_take() } else { None };
    let ack = |id| mode.check() && tube.ack(id).is_ok();
    (0..batch).map(|_| u32::from(take().is_some_and(ack))).sum()
}

#[cfg(test)]
mod tests;
