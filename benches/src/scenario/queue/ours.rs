//! The queue's states as a gate, and the role of its instance as another one.

use std::{
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use jeton::{
    cancel::{CancelSource, CancelToken},
    gate::{Epoch, Gate, Moment, States, TransitionError, Waited},
};
use jeton_core::sync::{AtomicU32, Ordering};

use crate::originals::queue::Tube;

/// Declares the states of a gate in their order, with the edges and the abort edge of each.
macro_rules! states {
    ($name:ident, open $open:ident, { $first:ident -> [$($first_to:ident),*] or $first_abort:ident,
        $($state:ident -> [$($to:ident),*] or $abort:ident,)* }) => {
        impl States for $name {
            const FIRST: u8 = Self::$first as u8;
            const OPEN: u8 = Self::$open as u8;
            const EDGES: [u16; 16] = {
                let mut edges = [0; 16];
                edges[Self::$first as usize] = 0 $(| 1 << Self::$first_to as u16)*;
                $(edges[Self::$state as usize] = 0 $(| 1 << Self::$to as u16)*;)*
                edges
            };
            const ABORT: [u8; 16] = {
                let mut abort = [0; 16];
                abort[Self::$first as usize] = Self::$first_abort as u8;
                $(abort[Self::$state as usize] = Self::$abort as u8;)*
                abort
            };

            #[inline]
            fn number(self) -> u8 {
                self as u8
            }

            #[inline]
            fn from_number(number: u8) -> Self {
                const ALL: &[$name] = &[$name::$first, $($name::$state),*];
                ALL[number as usize]
            }
        }
    };
}

/// Whether the instance can be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Role {
    /// It can only be read.
    ReadOnly,
    /// It can be written.
    Writable,
}

states! { Role, open Writable, {
    ReadOnly -> [Writable] or Writable,
    Writable -> [ReadOnly] or ReadOnly,
} }

/// Where a queue is; as the original's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum QueueState {
    /// The instance was never writable.
    Init,
    /// It has become writable: tasks of the time before are released.
    Startup,
    /// The queue can be used.
    Running,
    /// The instance has become read-only.
    Ending,
    /// Until it is writable again.
    Waiting,
}

// A start that is given up ends; an end that is given up is over: neither can hold the machine for ever.
states! { QueueState, open Running, {
    Init -> [Startup] or Startup,
    Startup -> [Running, Ending] or Ending,
    Running -> [Ending] or Ending,
    Ending -> [Waiting] or Waiting,
    Waiting -> [Startup] or Startup,
} }

/// Whether a tube has tasks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
enum Supply {
    Nothing,
    Some,
}

states! { Supply, open Some, {
    Nothing -> [Some] or Some,
    Some -> [Nothing] or Nothing,
} }

/// A queue: the role of its instance, its state, and those who wait for tasks.
#[derive(Debug)]
pub struct Queue {
    role: Gate<Role>,
    state: Gate<QueueState>,
    supply: Gate<Supply>,
    /// Canceled when the queue ends; then there is a new one.
    running: Mutex<CancelSource>,
    endings: AtomicU32,
}

impl Queue {
    /// Of an instance that can only be read.
    #[expect(clippy::new_without_default, reason = "nobody needs one")]
    pub fn new() -> Self {
        let running = Mutex::new(CancelSource::new());
        Self { role: Gate::new(), state: Gate::new(), supply: Gate::new(), running, endings: AtomicU32::new(0) }
    }

    /// Of an instance that can be written, with a queue that can be used.
    pub fn running() -> Self {
        let queue = Self::new();
        _ = queue.set_role(Role::Writable);
        queue.follow(1, &Tube::default());
        queue
    }

    /// Whether it can be used.
    #[inline]
    pub fn check(&self) -> bool {
        self.state.check()
    }

    /// The states' gate.
    pub const fn state(&self) -> &Gate<QueueState> {
        &self.state
    }

    /// How often it has ended.
    pub fn endings(&self) -> u32 {
        self.endings.load(Ordering::Acquire)
    }

    /// What the instance is now.
    pub fn role(&self) -> Moment<Role> {
        self.role.snapshot()
    }

    /// Changes the role.
    ///
    /// # Errors
    /// If it is that one already, or the instance has ended.
    pub fn set_role(&self, role: Role) -> Result<Epoch, TransitionError<Role>> {
        let other = if role == Role::Writable { Role::ReadOnly } else { Role::Writable };
        self.role.try_transition(other, role)
    }

    /// Ends the watcher, and all who wait.
    pub fn end(&self) {
        self.role.close();
        self.state.close();
        self.supply.close();
    }

    /// Moves the queue until the instance ends: the one watcher. It sees each change of the role, also those that are over.
    pub fn watch(&self, tube: &Tube, mut seen: Epoch) {
        while let Waited::Reached(now) = self.role.wait_change(seen, None, None) {
            self.follow(now.epoch.since(seen), tube);
            seen = now.epoch;
        }
    }

    fn follow(&self, changes: u64, tube: &Tube) {
        for _ in 0..changes {
            // A closed gate goes nowhere.
            _ = if self.state.check() { self.stop() } else { self.start(tube) };
        }
    }

    fn start(&self, tube: &Tube) -> Result<Epoch, TransitionError<QueueState>> {
        let from = self.state.snapshot().state;
        let start = self.state.begin(from, QueueState::Startup, None)?;
        tube.release_all();
        start.commit(QueueState::Running)
    }

    fn stop(&self) -> Result<Epoch, TransitionError<QueueState>> {
        let stop = self.state.begin(QueueState::Running, QueueState::Ending, None)?;
        self.endings.fetch_add(1, Ordering::AcqRel);
        let ended = std::mem::take(&mut *self.running_now());
        ended.cancel();
        stop.commit(QueueState::Waiting)
    }

    fn running_now(&self) -> MutexGuard<'_, CancelSource> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts a task if the queue can be used, and wakes those who wait for one.
    pub fn put(&self, tube: &Tube, data: &str) -> Option<u64> {
        let id = self.check().then(|| tube.put(data))?;
        _ = self.supply.try_transition(Supply::Nothing, Supply::Some);
        Some(id)
    }

    /// Takes a task if the queue can be used. It waits for one at most for `timeout`, and **not beyond the end of the queue**.
    pub fn take(&self, tube: &Tube, timeout: Duration) -> Option<u64> {
        let deadline = std::time::Instant::now() + timeout;
        // Before the check: an end after it cancels this one.
        let running: CancelToken = self.running_now().token();
        loop {
            if !self.check() {
                return None;
            }
            // Before the look at the tube: a put after it is another epoch.
            let seen = self.supply.snapshot();
            if let Some(id) = tube.try_take() {
                return Some(id);
            }
            if seen.state == Supply::Some {
                // Whoever puts after this finds that there was nothing.
                _ = self.supply.try_transition(Supply::Some, Supply::Nothing);
                continue;
            }
            if !matches!(self.supply.wait_for(Supply::Some, Some(deadline), Some(&running)), Waited::Reached(_)) {
                return None;
            }
        }
    }
}
