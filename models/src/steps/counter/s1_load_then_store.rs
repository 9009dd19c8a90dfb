//! Step 1: what one thread would do: read the count, write the next one.
//!
//! Broken: two threads that read before either writes get the same number.
//! Found by: loom, rmw, shuttle; by linearizability as well.
use jeton_core::{ord, sync::AtomicU32};

use super::Numbers;

/// A load and a store.
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
        let count = self.count.load(ord!("count-1", Relaxed));
        if count >= self.end {
            return None;
        }
        self.count.store(count + 1, ord!("count-2", Relaxed));
        Some(count)
    }

    fn name_words(&self) {
        crate::explore::name(&self.count, "count");
    }
}
