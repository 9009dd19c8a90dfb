//! Step 2: a tag in the top counts its changes.
//!
//! New: the tag. A compare-and-swap now fails if anything happened since the look, so an index in use never comes to the top.
//! Broken: the push. "The index is mine, so nobody minds a plain store" forgets that the top is not: whatever others did between the
//! load and the store is undone. Indexes get lost, or come back while they are in use.
//! Found by: loom, rmw, shuttle; by linearizability as well.
use jeton_core::{ord, sync::AtomicU32};

use super::{END, FreeList, Slots, Top};

/// A stack whose push is a store.
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
        let top = Top::of(self.top.load(ord!("free-list-5", Relaxed)));
        self.slots.set_next(index, top.index, ord!("free-list-6", Relaxed));
        self.top.store(top.change_to(index), ord!("free-list-7", Release));
    }

    fn slots(&self) -> &Slots {
        &self.slots
    }

    fn name_words(&self) {
        crate::explore::name(&self.top, "top");
        self.slots.name_words();
    }
}
