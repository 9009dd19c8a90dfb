//! Step 1: look at one ID after another.
//!
//! New: an ID is a bit, and who sets it has it.
//! Broken: an ID is freed behind the look, and then another one taken ahead of it. The pool looks exhausted, although one was free all
//! the time.
//! Found by: loom, rmw, shuttle, as histories that have no order.
use super::{Bits, Ids};

/// Bits.
#[derive(Debug)]
pub struct Pool(Bits);

impl Ids for Pool {
    fn new(len: u32, taken: &[u32]) -> Self {
        Self(Bits::new(len, taken))
    }

    fn alloc(&self) -> Option<u32> {
        self.0.take_first()
    }

    fn reserve(&self, id: u32) -> bool {
        self.0.take(id)
    }

    fn free(&self, id: u32) {
        self.0.give(id);
    }

    fn name_words(&self) {
        self.0.name_words();
    }
}
