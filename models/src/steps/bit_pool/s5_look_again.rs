//! Step 5: who marks an ID looks at it again.
//!
//! New: the second look is a read-modify-write of the ID's word. So is the free: whichever comes later sees what the other has done.
//! Broken: nothing. `BitPool` marks words of 32 IDs in this way, and words of marks.
use jeton_core::{ord, sync::AtomicU32};

use super::{Bits, Ids};

/// Bits, a mark for each, and how many bits have been cleared.
#[derive(Debug)]
pub struct Pool {
    bits: Bits,
    marks: Bits,
    frees: AtomicU32,
}

impl Pool {
    fn first_unmarked(&self) -> Option<u32> {
        self.marks.0.iter().zip(0..).find_map(|(mark, id)| (mark.glance() == 0).then_some(id))
    }

    fn mark(&self, id: u32) {
        self.marks.take(id);
        if self.bits.0[id as usize].look_again() == 0 {
            self.marks.give(id);
        }
    }

    /// As step 3.
    fn sweep(&self) -> Option<u32> {
        loop {
            let frees = self.frees.load(ord!("frees-1", Acquire));
            if let Some(id) = self.bits.take_first() {
                return Some(id);
            }
            if self.frees.load(ord!("frees-2", Relaxed)) == frees {
                return None;
            }
        }
    }
}

impl Ids for Pool {
    fn new(len: u32, taken: &[u32]) -> Self {
        Self { bits: Bits::new(len, taken), marks: Bits::new(len, &[]), frees: AtomicU32::new(0) }
    }

    fn alloc(&self) -> Option<u32> {
        while let Some(id) = self.first_unmarked() {
            if self.bits.0[id as usize].glance() == 0 && self.bits.take(id) {
                return Some(id);
            }
            self.mark(id);
        }
        self.sweep()
    }

    fn reserve(&self, id: u32) -> bool {
        self.bits.take(id)
    }

    fn free(&self, id: u32) {
        self.bits.give(id);
        self.frees.fetch_add(1, ord!("frees-3", Release));
        if self.marks.0[id as usize].glance() != 0 {
            self.marks.give(id);
        }
    }

    fn name_words(&self) {
        self.bits.name_words();
        self.marks.0.iter().enumerate().for_each(|(id, word)| crate::explore::name(word, &format!("mark of {id}")));
        crate::explore::name(&self.frees, "frees");
    }
}
