//! Step 1: one word says where the log ends; who appends moves it and writes, and who reads goes up to it.
//!
//! Broken: the tail moves before the payload is written, so that a reader may come between. (To move it after would make producers wait
//! for each other.)
//! Found by: loom, rmw, shuttle.
use jeton_core::{
    ord,
    sync::{AtomicU32, OwnerU32},
};

use super::Values;

/// A tail, and spans for the reader to go by.
#[derive(Debug)]
pub struct Log {
    tail: AtomicU32,
    spans: Vec<OwnerU32>,
    values: Values,
}

impl super::Log for Log {
    fn new(words: u32) -> Self {
        Self { tail: AtomicU32::new(0), spans: (0..words).map(|_| OwnerU32::new(0)).collect(), values: Values::new(words) }
    }

    fn append(&self, span: u32, value: u32) -> bool {
        let mut tail = self.tail.load(ord!("log-1", Relaxed));
        while tail + span <= self.spans.len() as u32 {
            match self.tail.compare_exchange(tail, tail + span, ord!("log-2", AcqRel), ord!("log-3", Acquire)) {
                Ok(at) => {
                    self.spans[at as usize].store(span, ord!("log-4", Relaxed));
                    self.values.write(at, value);
                    return true;
                }
                Err(found) => tail = found,
            }
        }
        false
    }

    fn read(&self, at: u32) -> Option<(u32, u32)> {
        (at < self.tail.load(ord!("log-5", Acquire)))
            .then(|| (self.values.read(at), at + self.spans[at as usize].load(ord!("log-6", Relaxed))))
    }

    fn name_words(&self) {
        crate::explore::name(&self.tail, "tail");
    }
}
