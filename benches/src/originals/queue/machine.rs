//! `Machine`: the states of a queue, moved by what one watcher sees.

use std::time::Duration;

use jeton_core::sync::{AtomicU32, Ordering};

use super::{
    instance::{Instance, Wanted, Watch},
    tube::Tube,
};

/// Where a queue is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum State {
    /// The instance was never writable.
    Init,
    /// It has become writable.
    Startup,
    /// The queue can be used.
    Running,
    /// It has become read-only.
    Ending,
    /// Until it is writable again.
    Waiting,
}

/// The state of a queue.
#[derive(Debug)]
pub struct Machine {
    state: AtomicU32,
    endings: AtomicU32,
}

impl Machine {
    /// In [`State::Init`].
    #[expect(clippy::new_without_default, reason = "nobody needs one")]
    pub fn new() -> Self {
        Self { state: AtomicU32::new(State::Init as u32), endings: AtomicU32::new(0) }
    }

    /// In [`State::Running`].
    pub fn running() -> Self {
        let machine = Self::new();
        machine.go(State::Running);
        machine
    }

    /// Whether the queue can be used: what each operation asks.
    #[inline]
    pub fn check(&self) -> bool {
        // Pairs with the store of `go`: what the watcher did before is seen.
        self.state.load(Ordering::Acquire) == State::Running as u32
    }

    /// How often the queue has ended.
    pub fn endings(&self) -> u32 {
        self.endings.load(Ordering::Acquire)
    }

    fn go(&self, to: State) {
        // Pairs with the load of `check`.
        self.state.store(to as u32, Ordering::Release);
    }

    /// Moves the queue until the instance ends: the one watcher.
    pub fn watch(&self, instance: &Instance, tube: &Tube, watch: Watch) {
        while instance.wait(Wanted::Writable, watch) {
            self.go(State::Startup);
            tube.release_all();
            self.go(State::Running);
            if !instance.wait(Wanted::ReadOnly, watch) {
                return;
            }
            self.go(State::Ending);
            self.endings.fetch_add(1, Ordering::AcqRel);
            self.go(State::Waiting);
        }
    }

    /// Takes a task if the queue can be used. It waits for one at most for `timeout`, **whatever becomes of the queue meanwhile**.
    pub fn take(&self, tube: &Tube, timeout: Duration) -> Option<u64> {
        if self.check() { tube.take(timeout) } else { None }
    }
}
