//! Tarantool's queue: operations that ask a mode first, and those who wait for the mode.
//!
//! * [`tasks`]: the documented benchmark, whose consumers are tasks on one thread;
//! * [`threads`]: the same with threads, and what waiting costs while nothing changes;
//! * [`faults`]: what the original misses, and ours does not;
//! * `ours`: the original's state machine as a declared gate.
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

/// Puts so many tasks; returns how many, or 0 if the queue could not be used for all of them: who asks needs no count that others do without.
#[inline(never)]
pub fn fill<M: Mode>(mode: &M, tube: &Tube, batch: u32) -> u32 {
    for _ in 0..batch {
        if !mode.check() {
            return 0;
        }
        tube.put(DATA);
    }
    batch
}

/// Takes and acknowledges so many, until the queue cannot be used or is empty; returns how many it has acknowledged.
#[inline(never)]
pub fn confirm<M: Mode>(mode: &M, tube: &Tube, batch: u32) -> u32 {
    for done in 0..batch {
        if !mode.check() {
            return done;
        }
        let Some(id) = tube.try_take() else { return done };
        if !mode.check() || tube.ack(id).is_err() {
            return done;
        }
    }
    batch
}

#[cfg(test)]
mod tests;
