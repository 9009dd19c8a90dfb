//! Step 1: a flag and a slot. Whoever registers arms the slot and then looks at the flag; a cancel sets the flag and then looks at the slot.
//!
//! New: nothing is locked.
//! Broken: both can look before they see what the other has done, since a store may still be on its way when a load behind it is done.
//! Then nobody calls the callback and nobody refuses it. Acquire and release do not help: they order other things.
//! Found by: loom. Where loads are read-modify-writes there are no old values, and shuttle knows none.
use jeton_core::{ord, sync::AtomicU32};

use super::OneSlot;

/// A flag, and the callback that is registered, or 0.
#[derive(Debug)]
pub struct Source {
    canceled: AtomicU32,
    slot: AtomicU32,
}

impl Source {
    fn remove(&self, callback: u32) -> bool {
        self.slot.compare_exchange(callback, 0, ord!("two-words-1", AcqRel), ord!("two-words-2", Relaxed)).is_ok()
    }
}

impl OneSlot for Source {
    fn new() -> Self {
        Self { canceled: AtomicU32::new(0), slot: AtomicU32::new(0) }
    }

    fn register(&self, callback: u32) -> Option<u32> {
        self.slot.compare_exchange(0, callback, ord!("two-words-3", AcqRel), ord!("two-words-4", Relaxed)).ok()?;
        if self.canceled.load(ord!("two-words-5", Acquire)) != 0 && self.remove(callback) {
            return None;
        }
        Some(callback)
    }

    fn deregister(&self, handle: u32) -> bool {
        self.remove(handle)
    }

    fn cancel(&self) -> Option<u32> {
        self.canceled.store(1, ord!("two-words-6", Release));
        let callback = self.slot.load(ord!("two-words-7", Acquire));
        (callback != 0 && self.remove(callback)).then_some(callback)
    }

    fn name_words(&self) {
        crate::explore::name(&self.canceled, "canceled");
        crate::explore::name(&self.slot, "slot");
    }
}
