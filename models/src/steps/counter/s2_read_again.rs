//! Step 2: the addition is one indivisible step.
//!
//! New: no addition is lost.
//! Broken: the number is read again after it. Another thread's addition between the two gives both the same number, and the one
//! before it to nobody. (motan #89 read again after its reset.)
//! Found by: loom, rmw, shuttle; by linearizability as well.
use jeton_core::{ord, sync::AtomicU32};

use super::Numbers;

/// An addition, and a load for its result.
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
        self.count.fetch_add(1, ord!("count-2", Relaxed));
        let count = self.count.load(ord!("count-3", Relaxed));
        Some(count - 1)
    }

    fn name_words(&self) {
        crate::explore::name(&self.count, "count");
    }
}
