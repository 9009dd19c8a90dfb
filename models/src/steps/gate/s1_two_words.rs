//! Step 1: a word for the state and a slot. A waiter arms the slot and then looks at the state once more; a transition stores the state and then
//! looks at the slot.
//!
//! New: nothing is locked.
//! Broken: both can look before they see what the other has done, since a store may still be on its way when a load behind it is done.
//! Acquire and release do not help: they order other things.
//! Found by: loom. Where loads are read-modify-writes there are no old values, and shuttle knows none.
use jeton_core::{ord, sync::AtomicU32};

use super::{ANY, OneWaiter, Slot};

/// The state, and the waiter.
#[derive(Debug)]
pub struct Gate {
    state: AtomicU32,
    slot: Slot,
}

impl Gate {
    fn wait(&self, states: u32, is_over: impl Fn(u32) -> bool) -> bool {
        if is_over(self.moment()) {
            return true;
        }
        self.slot.arm(states);
        is_over(self.moment())
    }
}

impl OneWaiter for Gate {
    fn new() -> Self {
        Self { state: AtomicU32::new(0), slot: Slot::new() }
    }

    fn go(&self, to: u32) -> bool {
        self.state.store(to, ord!("gate-two-words-1", Release));
        self.slot.wake(to)
    }

    fn moment(&self) -> u32 {
        self.state.load(ord!("gate-two-words-2", Acquire))
    }

    fn wait_for(&self, state: u32) -> bool {
        self.wait(1 << state, |moment| moment == state)
    }

    fn wait_for_change(&self, since: u32) -> bool {
        self.wait(ANY, |moment| moment != since)
    }

    fn name_words(&self) {
        crate::explore::name(&self.state, "state");
        self.slot.name();
    }
}
