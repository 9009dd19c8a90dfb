//! The road to a gate that wakes everybody whose state has come, and nobody else, and that misses no change.
//!
//! States are numbers below 16, the first one is 0. Each step has room for one waiter and is moved by one thread, as it likes.

#[cfg(any(jeton_loom, jeton_shuttle))]
pub mod programs;
pub mod s1_two_words;
pub mod s2_load_then_store;
pub mod s3_taken_bit;
pub mod s4_sticky_bit;
pub mod s5_epoch;

use jeton_core::{ord, sync::AtomicU32};

/// A gate with one slot, as the steps implement it.
pub trait OneWaiter: Send + Sync + 'static {
    /// In state 0; nobody waits.
    fn new() -> Self;
    /// Goes to another state; whether that has woken the waiter.
    fn go(&self, to: u32) -> bool;
    /// How it is: what `wait_for_change` compares with.
    fn moment(&self) -> u32;
    /// Whether it is in that state. If not, the caller sleeps, and is to be woken by that state alone.
    fn wait_for(&self, state: u32) -> bool;
    /// Whether it has changed since that moment. If not, the caller sleeps, and is to be woken by any state.
    fn wait_for_change(&self, since: u32) -> bool;
    /// Names the words for the trace.
    fn name_words(&self);
}

/// What the waiter waits for: a bit for each state; 0 if nobody waits.
#[derive(Debug)]
pub struct Slot(AtomicU32);

impl Slot {
    fn new() -> Self {
        Self(AtomicU32::new(0))
    }

    fn arm(&self, states: u32) {
        self.0.swap(states, ord!("one-waiter-1", AcqRel));
    }

    /// Wakes the waiter, if it waits for this state; whether it does.
    fn wake(&self, state: u32) -> bool {
        let states = self.0.load(ord!("one-waiter-2", Acquire));
        states & 1 << state != 0
            && self.0.compare_exchange(states, 0, ord!("one-waiter-3", AcqRel), ord!("one-waiter-4", Relaxed)).is_ok()
    }

    fn name(&self) {
        crate::explore::name(&self.0, "slot");
    }
}

/// Every state.
const ANY: u32 = (1 << 16) - 1;

/// The lowest bits of the word: the state.
const STATE: u32 = 15;

/// The bit above: somebody waits.
const AWAITED: u32 = 16;

#[cfg(all(test, not(any(jeton_loom, jeton_shuttle))))]
mod tests {
    use super::*;

    fn stands<G: OneWaiter>() {
        let gate = G::new();
        assert!(gate.wait_for(0) && !gate.wait_for_change(gate.moment()));
        assert!(gate.go(1) && !gate.go(2), "once");
        let moment = gate.moment();
        assert!(!gate.wait_for(3) && gate.go(3) && gate.wait_for(3));
        assert!(gate.wait_for_change(moment));
        assert!(!gate.wait_for(1) && gate.go(1));
    }

    #[test]
    fn every_step_is_right_as_long_as_calls_come_one_after_another() {
        stands::<s1_two_words::Gate>();
        stands::<s2_load_then_store::Gate>();
        stands::<s3_taken_bit::Gate>();
        stands::<s4_sticky_bit::Gate>();
        stands::<s5_epoch::Gate>();
    }
}
