//! Step 5: a tagged stack of free indexes, and nothing stronger than it must be. The table of its orderings is on the page of the
//! [steps](crate::steps).
//!
//! New: the pop acquires, with each read of the top that it goes on with. That is where a push and a pop meet: the compare-and-swap
//! of the pop needs no acquire, because it succeeds only on the very value that was acquired before, and no release, because
//! read-modify-writes continue what earlier pushes have released.
//! Right as long as fewer than 2^16 changes happen between the look and the swap of one call.
use jeton_core::{ord, sync::AtomicU32};

use super::{END, FreeList, Slots, Top};

/// A stack with a tag.
#[derive(Debug)]
pub struct List {
    /// A [`Top`]: tag and index.
    top: AtomicU32,
    slots: Slots,
}

impl FreeList for List {
    fn new(len: u32) -> Self {
        Self { top: AtomicU32::new(0), slots: Slots::linked(len) }
    }

    fn alloc(&self) -> Option<u32> {
        let mut word = self.top.load(ord!("free-list-1", Acquire));
        loop {
            let top = Top::of(word);
            if top.index == END {
                return None;
            }
            let below = self.slots.next(top.index, ord!("free-list-2", Relaxed));
            let new = top.change_to(below);
            match self.top.compare_exchange(word, new, ord!("free-list-3", Relaxed), ord!("free-list-4", Acquire)) {
                Ok(_) => return Some(top.index),
                Err(found) => word = found,
            }
        }
    }

    fn free(&self, index: u32) {
        let mut word = self.top.load(ord!("free-list-5", Relaxed));
        loop {
            let top = Top::of(word);
            self.slots.set_next(index, top.index, ord!("free-list-6", Relaxed));
            let new = top.change_to(index);
            match self.top.compare_exchange(word, new, ord!("free-list-7", Release), ord!("free-list-8", Relaxed)) {
                Ok(_) => return,
                Err(found) => word = found,
            }
        }
    }

    fn slots(&self) -> &Slots {
        &self.slots
    }

    fn name_words(&self) {
        crate::explore::name(&self.top, "top");
        self.slots.name_words();
    }
}
