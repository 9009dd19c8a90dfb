//! Step 3: a transition is one compare-and-swap, which takes the bit away.
//!
//! New: whoever has set the bit is looked for, and without waiters nothing is.
//! Broken: the waiter that is found may wait for another state. It sleeps on, but its bit is gone, and the transition to its state does not
//! look for it. (If it woke up each time instead, to set the bit again, all would wake for nothing.)
//! Found by: loom, rmw, shuttle.
use jeton_core::{ord, sync::AtomicU32};

use super::{ANY, AWAITED, OneWaiter, STATE, Slot};

/// State and bit, and the waiter.
#[derive(Debug)]
pub struct Gate {
    word: AtomicU32,
    slot: Slot,
}

impl Gate {
    /// Arms the slot, and says so in the word, as long as that is as it was seen.
    fn wait(&self, states: u32, is_over: impl Fn(u32) -> bool) -> bool {
        if is_over(self.moment()) {
            return true;
        }
        self.slot.arm(states);
        loop {
            let word = self.word.load(ord!("taken-bit-1", Acquire));
            if is_over(word & STATE) {
                return true;
            }
            if self.word.compare_exchange(word, word | AWAITED, ord!("taken-bit-2", Release), ord!("taken-bit-3", Relaxed)).is_ok()
            {
                return false;
            }
        }
    }
}

impl OneWaiter for Gate {
    fn new() -> Self {
        Self { word: AtomicU32::new(0), slot: Slot::new() }
    }

    fn go(&self, to: u32) -> bool {
        loop {
            let word = self.word.load(ord!("taken-bit-4", Acquire));
            let new = to;
            if self.word.compare_exchange(word, new, ord!("taken-bit-5", AcqRel), ord!("taken-bit-6", Relaxed)).is_ok() {
                return word & AWAITED != 0 && self.slot.wake(to);
            }
        }
    }

    fn moment(&self) -> u32 {
        self.word.load(ord!("taken-bit-7", Acquire)) & STATE
    }

    fn wait_for(&self, state: u32) -> bool {
        self.wait(1 << state, |moment| moment == state)
    }

    fn wait_for_change(&self, since: u32) -> bool {
        self.wait(ANY, |moment| moment != since)
    }

    fn name_words(&self) {
        crate::explore::name(&self.word, "word");
        self.slot.name();
    }
}
