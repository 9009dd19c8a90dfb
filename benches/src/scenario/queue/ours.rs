//! The queue's states as a gate, and the role of its instance as another one.

use std::{
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use jeton::{
    cancel::{CancelSource, CancelToken},
    gate::{CommitError, Epoch, Gate, Moment, TransitionError, Waited, states},
};
use jeton_core::sync::{AtomicU32, Ordering};

use crate::originals::queue::Tube;

states! {
    /// Whether the instance can be written.
    pub enum Role: open Writable {
        /// It can only be read.
        ReadOnly -> [Writable], abort Writable;
        /// It can be written.
        Writable -> [ReadOnly], abort ReadOnly;
    }
}

// A start that is given up ends; an end that is given up is over: neither can hold the machine for ever.
states! {
    /// Where a queue is; as the original's.
    pub enum QueueState: open Running {
        /// The instance was never writable.
        Init -> [Startup], abort Startup;
        /// It has become writable: tasks of the time before are released.
        Startup -> [Running], abort Ending;
        /// The queue can be used.
        Running -> [Ending], abort Ending;
        /// The instance has become read-only.
        Ending -> [Waiting], abort Waiting;
        /// Until it is writable again.
        Waiting -> [Startup], abort Startup;
    }
}

states! {
    /// Whether a tube has tasks.
    enum Supply: open Some {
        Nothing -> [Some], abort Some;
        Some -> [Nothing], abort Nothing;
    }
}

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

    fn start(&self, tube: &Tube) -> Result<Epoch, CommitError<QueueState>> {
        let start = self
            .state
            .begin::<{ QueueState::Init as u8 }, { QueueState::Startup as u8 }>(None)
            .or_else(|_| self.state.begin::<{ QueueState::Waiting as u8 }, { QueueState::Startup as u8 }>(None))
            .map_err(CommitError::Refused)?;
        tube.release_all();
        start.commit::<{ QueueState::Running as u8 }>()
    }

    fn stop(&self) -> Result<Epoch, CommitError<QueueState>> {
        let stop =
            self.state.begin::<{ QueueState::Running as u8 }, { QueueState::Ending as u8 }>(None).map_err(CommitError::Refused)?;
        self.endings.fetch_add(1, Ordering::AcqRel);
        let ended = std::mem::take(&mut *self.running_now());
        ended.cancel();
        stop.commit::<{ QueueState::Waiting as u8 }>()
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
