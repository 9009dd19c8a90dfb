//! Step 4: the result of the addition is held against the end as well. So it stands in
//! [`SharedIds::try_next_id`](jeton_core::counter::SharedIds).
//!
//! New: the look before only keeps refused calls from counting on and on; the look after decides.
use jeton_core::{ord, sync::AtomicU32};

use super::Numbers;

/// A look, an addition, and a look at its result.
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
        let count = self.count.fetch_add(1, ord!("count-2", Relaxed));
        (count < self.end).then_some(count)
    }

    fn name_words(&self) {
        crate::explore::name(&self.count, "count");
    }
}
