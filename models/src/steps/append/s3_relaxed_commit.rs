//! Step 3: the tail moves only if the record fits, with a compare-and-swap.
//!
//! New: a refused append has changed nothing.
//! Broken: the header is stored without Release, so that a reader sees it before the payload. shuttle, which knows no orderings, does
//! not find it.
//! Found by: loom, rmw.
use jeton_core::{
    ord,
    sync::{AtomicU32, OwnerU32},
};

use super::Values;

/// A tail that stops at the end, and headers that publish nothing.
#[derive(Debug)]
pub struct Log {
    tail: AtomicU32,
    headers: Vec<OwnerU32>,
    values: Values,
}

impl super::Log for Log {
    fn new(words: u32) -> Self {
        Self { tail: AtomicU32::new(0), headers: (0..words).map(|_| OwnerU32::new(0)).collect(), values: Values::new(words) }
    }

    fn append(&self, span: u32, value: u32) -> bool {
        let mut tail = self.tail.load(ord!("log-1", Relaxed));
        while tail + span <= self.headers.len() as u32 {
            match self.tail.compare_exchange(tail, tail + span, ord!("log-2", Relaxed), ord!("log-3", Relaxed)) {
                Ok(at) => {
                    self.values.write(at, value);
                    self.headers[at as usize].store(span, ord!("log-4", Relaxed));
                    return true;
                }
                Err(found) => tail = found,
            }
        }
        false
    }

    fn read(&self, at: u32) -> Option<(u32, u32)> {
        let span = self.headers.get(at as usize)?.load(ord!("log-5", Acquire));
        (span != 0).then(|| (self.values.read(at), at + span))
    }

    fn name_words(&self) {
        crate::explore::name(&self.tail, "tail");
    }
}
