//! Step 3: only frees are counted, after their bit.
//!
//! New: if no free has counted itself while a call looked at all IDs in vain, then whatever is free belongs to frees that have not
//! ended, and these can come after the call.
//! Broken: nothing. But every call looks at every ID.
use jeton_core::{ord, sync::AtomicU32};

use super::{Bits, Ids};

/// Bits, and how many have been cleared.
#[derive(Debug)]
pub struct Pool {
    bits: Bits,
    frees: AtomicU32,
}

impl Ids for Pool {
    fn new(len: u32, taken: &[u32]) -> Self {
        Self { bits: Bits::new(len, taken), frees: AtomicU32::new(0) }
    }

    fn alloc(&self) -> Option<u32> {
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

    fn reserve(&self, id: u32) -> bool {
        self.bits.take(id)
    }

    fn free(&self, id: u32) {
        self.bits.give(id);
        self.frees.fetch_add(1, ord!("frees-3", Release));
    }

    fn name_words(&self) {
        self.bits.name_words();
        crate::explore::name(&self.frees, "frees");
    }
}
