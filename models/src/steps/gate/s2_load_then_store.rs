//! Step 2: a bit in the state's word says that somebody waits. A waiter arms the slot and then sets the bit, if the word is still as it has seen it.
//!
//! New: waiter and transition meet on one word, so that "nobody waits" is no guess, and needs no fence.
//! Broken: a transition loads the word and then stores it. A bit that was set in between is gone, and its waiter is not looked for.
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
            let word = self.word.load(ord!("load-then-store-1", Acquire));
            if is_over(word & STATE) {
                return true;
            }
            if self
                .word
                .compare_exchange(word, word | AWAITED, ord!("load-then-store-2", Release), ord!("load-then-store-3", Relaxed))
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
        let word = self.word.load(ord!("load-then-store-4", Acquire));
        self.word.store(to, ord!("load-then-store-5", Release));
        word & AWAITED != 0 && self.slot.wake(to)
    }

    fn moment(&self) -> u32 {
        self.word.load(ord!("load-then-store-7", Acquire)) & STATE
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
