//! Step 2: a semaphore. A count of allocated IDs is raised before a bit is set, and lowered after one is cleared.
//!
//! New: who has been counted is sure to find a bit, and the count says when there is none.
//! Broken: between the two steps of a free its ID can be taken, while the count still has both. Who is refused then is refused although
//! another ID has been free all the time.
//! Found by: loom, rmw, shuttle, as histories that have no order. Two threads suffice.
use jeton_core::{ord, sync::AtomicU32};

use super::{Bits, Ids};

/// Bits, and how many of them are set or about to be set.
#[derive(Debug)]
pub struct Pool {
    bits: Bits,
    used: AtomicU32,
}

impl Pool {
    /// One more, unless there are none.
    fn count(&self) -> bool {
        let mut used = self.used.load(ord!("count-1", Acquire));
        while used < self.bits.0.len() as u32 {
            match self.used.compare_exchange(used, used + 1, ord!("count-2", AcqRel), ord!("count-3", Acquire)) {
                Ok(_) => return true,
                Err(found) => used = found,
            }
        }
        false
    }

    fn uncount(&self) {
        self.used.fetch_add(u32::MAX, ord!("count-4", AcqRel));
    }
}

impl Ids for Pool {
    fn new(len: u32, taken: &[u32]) -> Self {
        Self { bits: Bits::new(len, taken), used: AtomicU32::new(taken.len() as u32) }
    }

    fn alloc(&self) -> Option<u32> {
        // Who is counted finds a bit sooner or later: there are as many as the count allows.
        self.count().then(|| {
            loop {
                if let Some(id) = self.bits.take_first() {
                    return id;
                }
            }
        })
    }

    fn reserve(&self, id: u32) -> bool {
        if !self.count() {
            return false;
        }
        let taken = self.bits.take(id);
        if !taken {
            self.uncount();
        }
        taken
    }

    fn free(&self, id: u32) {
        self.bits.give(id);
        self.uncount();
    }

    fn name_words(&self) {
        self.bits.name_words();
        crate::explore::name(&self.used, "used");
    }
}
