//! Step 5: the word counts the transitions.
//!
//! New: a word is the same only if nothing has happened.
//! Broken: nothing. The gate does the same, with a table of slots.
use jeton_core::{ord, sync::AtomicU32};

use super::{ANY, AWAITED, OneWaiter, STATE, Slot};

/// What a transition adds.
const EPOCH: u32 = 1 << 5;

/// Epoch, bit and state, and the waiter.
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
            let word = self.word.load(ord!("gate-epoch-1", Acquire));
            if is_over(word & !AWAITED) {
                return true;
            }
            if self
                .word
                .compare_exchange(word, word | AWAITED, ord!("gate-epoch-2", Release), ord!("gate-epoch-3", Relaxed))
                .is_ok()
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
            let word = self.word.load(ord!("gate-epoch-4", Acquire));
            let new = (word & !STATE | to) + EPOCH;
            if self.word.compare_exchange(word, new, ord!("gate-epoch-5", AcqRel), ord!("gate-epoch-6", Relaxed)).is_ok() {
                return word & AWAITED != 0 && self.slot.wake(to);
            }
        }
    }

    fn moment(&self) -> u32 {
        self.word.load(ord!("gate-epoch-7", Acquire)) & !AWAITED
    }

    fn wait_for(&self, state: u32) -> bool {
        self.wait(1 << state, |moment| moment & STATE == state)
    }

    fn wait_for_change(&self, since: u32) -> bool {
        self.wait(ANY, |moment| moment != since)
    }

    fn name_words(&self) {
        crate::explore::name(&self.word, "word");
        self.slot.name();
    }
}
