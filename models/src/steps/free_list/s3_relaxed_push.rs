//! Step 3: the push is a compare-and-swap, too.
//!
//! New: both ends of the stack change it only if they know what it is.
//! Broken: the push is relaxed, so it hands over the index and not what was written before: the next holder may see an old `next`
//! or an old payload.
//! Found by: loom. Loads as read-modify-writes find the payload's race as well; shuttle knows no orderings.
use jeton_core::{ord, sync::AtomicU32};

use super::{END, FreeList, Slots, Top};

/// A stack whose push publishes nothing.
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
            match self.top.compare_exchange(word, new, ord!("free-list-7", Relaxed), ord!("free-list-8", Relaxed)) {
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
