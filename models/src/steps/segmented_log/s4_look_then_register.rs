//! Step 4: who finds no record says that it waits, and sleeps; who puts a record there looks whether somebody waits.
//!
//! Broken: between the look and the saying the record may come.
//! Found by: loom, rmw, shuttle.
use jeton_core::{fence, ord, sync::AtomicU32};

/// A record, and one who waits.
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
        fence!("signal-2", SeqCst);
        self.waits.load(ord!("signal-3", Acquire)) == 1
    }

    fn finds(&self) -> bool {
        let found = self.record.load(ord!("signal-4", Acquire)) == 1;
        self.waits.store(1, ord!("signal-5", Release));
        fence!("signal-6", SeqCst);
        found
    }
}
