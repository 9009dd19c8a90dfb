//! Step 2: a header for each record, written after its payload; a reader goes from header to header. And the tail moves with one
//! addition, which is taken back when it was too much.
//!
//! New: readers wait for each record by itself, and producers for nobody.
//! Broken: between the addition and its being taken back, a record that fits is refused; and what another one has added meanwhile makes
//! the one taken back free words that have an owner.
//! Found by: loom, rmw, shuttle.
use jeton_core::{
    ord,
    sync::{AtomicU32, OwnerU32},
};

use super::Values;

/// A tail that overshoots, and headers.
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
        let at = self.tail.fetch_add(span, ord!("log-1", Relaxed));
        if at + span > self.headers.len() as u32 {
            self.tail.fetch_add(span.wrapping_neg(), ord!("log-2", Relaxed));
            return false;
        }
        self.values.write(at, value);
        self.headers[at as usize].store(span, ord!("log-3", Release));
        true
    }

    fn read(&self, at: u32) -> Option<(u32, u32)> {
        let span = self.headers.get(at as usize)?.load(ord!("log-4", Acquire));
        (span != 0).then(|| (self.values.read(at), at + span))
    }

    fn name_words(&self) {
        crate::explore::name(&self.tail, "tail");
    }
}
