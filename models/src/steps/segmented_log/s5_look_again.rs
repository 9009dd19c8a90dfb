//! Step 5: says first that it waits, and then looks.
//!
//! Broken: each of the two may look before what it has said is seen by the other one: a store waits in the processor, and a load passes it.
//! Found by: loom.
use jeton_core::{ord, sync::AtomicU32};

/// As in step 4.
#[derive(Debug)]
pub struct Signal {
    record: AtomicU32,
    waits: AtomicU32,
}

impl super::Waking for Signal {
    fn new() -> Self {
        Self { record: AtomicU32::new(0), waits: AtomicU32::new(0) }
    }

    fn put(&self) -> bool {
        self.record.store(1, ord!("signal-1", Release));
        self.waits.load(ord!("signal-2", Acquire)) == 1
    }

    fn finds(&self) -> bool {
        self.waits.store(1, ord!("signal-3", Release));
        self.record.load(ord!("signal-4", Acquire)) == 1
    }
}
