//! Step 6: a fence between saying and looking, in both.
//!
//! Broken: nothing.
use jeton_core::{fence, ord, sync::AtomicU32};

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
        fence!("signal-2", SeqCst);
        self.waits.load(ord!("signal-3", Relaxed)) == 1
    }

    fn finds(&self) -> bool {
        self.waits.store(1, ord!("signal-4", Release));
        fence!("signal-5", SeqCst);
        self.record.load(ord!("signal-6", Acquire)) == 1
    }
}
