//! Step 1: a stack that compare-and-swaps its top.
//!
//! New: no lock; whoever changes the top checks in the same instant that it is still the one he has read.
//! Broken: "still the same index" is not "nothing happened". Between the look at `next` and the swap, others may take that index and
//! the one below it and give the first one back. Then the swap succeeds, and puts an index on top that is in use (the ABA problem).
//! Found by: loom, rmw, shuttle; by linearizability as well.
use jeton_core::{ord, sync::AtomicU32};

use super::{END, FreeList, Slots};

/// A stack without tags.
#[derive(Debug)]
pub struct List {
    top: AtomicU32,
    slots: Slots,
}

impl FreeList for List {
    fn new(len: u32) -> Self {
        Self { top: AtomicU32::new(0), slots: Slots::linked(len) }
    }

    fn alloc(&self) -> Option<u32> {
        let mut top = self.top.load(ord!("free-list-1", Acquire));
        while top != END {
            let below = self.slots.next(top, ord!("free-list-2", Relaxed));
            match self.top.compare_exchange(top, below, ord!("free-list-3", Relaxed), ord!("free-list-4", Acquire)) {
                Ok(index) => return Some(index),
                Err(found) => top = found,
            }
        }
        None
    }

    fn free(&self, index: u32) {
        let mut top = self.top.load(ord!("free-list-5", Relaxed));
        loop {
            self.slots.set_next(index, top, ord!("free-list-6", Relaxed));
            match self.top.compare_exchange(top, index, ord!("free-list-7", Release), ord!("free-list-8", Relaxed)) {
                Ok(_) => return,
                Err(found) => top = found,
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
