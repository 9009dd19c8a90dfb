//! Step 3: a handle is the slot's generation, and only the registration with that generation is taken out.
//!
//! New: an old handle fits nothing.
//! Broken: nothing. The table of slots does the same, for a payload that is more than a number.
use jeton_core::{ord, sync::AtomicU32};

use super::OneSlot;

const CANCELED: u32 = 1;
const HAS_REGISTRATIONS: u32 = 2;
/// The callback's part of the slot.
const CALLBACK: u32 = 0xff;

/// The state, and in one word the slot's generation and the callback that is registered, or 0.
#[derive(Debug)]
pub struct Source {
    state: AtomicU32,
    slot: AtomicU32,
}

impl Source {
    fn take(&self, slot: u32) -> bool {
        slot & CALLBACK != 0
            && self
                .slot
                .compare_exchange(slot, slot & !CALLBACK, ord!("generation-1", AcqRel), ord!("generation-2", Relaxed))
                .is_ok()
    }
}

impl OneSlot for Source {
    fn new() -> Self {
        Self { state: AtomicU32::new(0), slot: AtomicU32::new(0) }
    }

    fn register(&self, callback: u32) -> Option<u32> {
        let free = self.slot.load(ord!("generation-3", Relaxed)) & !CALLBACK;
        let armed = (free + CALLBACK + 1) | callback;
        self.slot.compare_exchange(free, armed, ord!("generation-4", AcqRel), ord!("generation-5", Relaxed)).ok()?;
        let state = self.state.fetch_or(HAS_REGISTRATIONS, ord!("generation-6", AcqRel));
        if state & CANCELED != 0 && self.take(armed) {
            return None;
        }
        Some(armed)
    }

    fn deregister(&self, handle: u32) -> bool {
        self.take(handle)
    }

    fn cancel(&self) -> Option<u32> {
        let state = self.state.fetch_or(CANCELED, ord!("generation-7", AcqRel));
        if state & CANCELED != 0 {
            return None;
        }
        let slot = self.slot.load(ord!("generation-8", Acquire));
        self.take(slot).then_some(slot & CALLBACK)
    }

    fn name_words(&self) {
        crate::explore::name(&self.state, "state");
        crate::explore::name(&self.slot, "slot");
    }
}
