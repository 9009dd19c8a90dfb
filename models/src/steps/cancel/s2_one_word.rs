//! Step 2: both do a read-modify-write of the same word, after the slot is armed, and before it is looked at.
//!
//! New: one of the two comes second, and sees what the other has done.
//! Broken: the slot is free once its callback has been taken, and another registration gets it. Who deregisters the old one then takes
//! the new one out, and its owner, who finds it gone, believes that the cancel has it.
//! Found by: loom, rmw, shuttle.
use jeton_core::{ord, sync::AtomicU32};

use super::OneSlot;

const CANCELED: u32 = 1;
const HAS_REGISTRATIONS: u32 = 2;

/// The state, and the callback that is registered, or 0.
#[derive(Debug)]
pub struct Source {
    state: AtomicU32,
    slot: AtomicU32,
}

impl Source {
    fn take(&self) -> Option<u32> {
        let callback = self.slot.swap(0, ord!("one-word-1", AcqRel));
        (callback != 0).then_some(callback)
    }
}

impl OneSlot for Source {
    fn new() -> Self {
        Self { state: AtomicU32::new(0), slot: AtomicU32::new(0) }
    }

    fn register(&self, callback: u32) -> Option<u32> {
        self.slot.compare_exchange(0, callback, ord!("one-word-2", AcqRel), ord!("one-word-3", Relaxed)).ok()?;
        let state = self.state.fetch_or(HAS_REGISTRATIONS, ord!("one-word-4", AcqRel));
        if state & CANCELED != 0 && self.take().is_some() {
            return None;
        }
        Some(callback)
    }

    fn deregister(&self, _handle: u32) -> bool {
        self.take().is_some()
    }

    fn cancel(&self) -> Option<u32> {
        let state = self.state.fetch_or(CANCELED, ord!("one-word-5", AcqRel));
        if state & CANCELED != 0 { None } else { self.take() }
    }

    fn name_words(&self) {
        crate::explore::name(&self.state, "state");
        crate::explore::name(&self.slot, "slot");
    }
}
