//! Step 3: the number is what the addition itself returns.
//!
//! New: one read-modify-write, one number.
//! Broken: the end is looked for before it alone. Two threads that both see one number left both get one, and the second is no
//! number of the space.
//! Found by: loom, rmw, shuttle; by linearizability as well.
use jeton_core::{ord, sync::AtomicU32};

use super::Numbers;

/// A look, then an addition.
#[derive(Debug)]
pub struct Counter {
    count: AtomicU32,
    end: u32,
}

impl Numbers for Counter {
    fn new(end: u32) -> Self {
        Self { count: AtomicU32::new(0), end }
    }

    fn next(&self) -> Option<u32> {
        if self.count.load(ord!("count-1", Relaxed)) >= self.end {
            return None;
        }
        Some(self.count.fetch_add(1, ord!("count-2", Relaxed)))
    }

    fn name_words(&self) {
        crate::explore::name(&self.count, "count");
    }
}
