//! Who waits for a record, and how they are woken: each time by a cancel source of its own, which a reader puts there and a writer takes away.

use std::ptr::{self, NonNull};

use jeton_core::{fence, ord, sync::AtomicPtr, util::Padded};

use super::Block;
use crate::{
    cancel::{CancelSource, Canceled},
    epoch,
};

/// Null while nobody waits.
pub(super) struct Signal(Padded<AtomicPtr<Block<CancelSource>>>);

impl Signal {
    /// Nobody waits.
    pub(super) fn new() -> Self {
        Self(Padded::new(AtomicPtr::null()))
    }

    /// After every change of the log: wakes all who wait.
    #[inline]
    pub(super) fn wake(&self) {
        // Pairs with `settled`: this sees that somebody waits, or who waits sees the change.
        fence!("segmented-log-19", SeqCst);
        if !self.0.load(ord!("segmented-log-20", Relaxed)).is_null() {
            self.wake_all();
        }
    }

    #[cold]
    #[inline(never)]
    fn wake_all(&self) {
        let guard = epoch::pin();
        // Acquire pairs with `waiting`: the source is seen as it was made.
        let current = self.0.load(ord!("segmented-log-21", Acquire));
        let Some(block) = NonNull::new(current) else { return };
        let taken =
            self.0.compare_exchange(current, ptr::null_mut(), ord!("segmented-log-22", Relaxed), ord!("segmented-log-23", Relaxed));
        // Otherwise another call wakes those, and who has come since looks at the log after the change.
        if taken.is_ok() {
            // SAFETY: it was there when the guard was, and is freed below at the earliest.
            let source = unsafe { block.as_ref() }.get().clone();
            // SAFETY: this call has taken it; it is freed when all guards are gone that were there.
            unsafe { guard.defer_unchecked(move || Block::free(block)) };
            drop(guard);
            // Wakers are others' code: no guard holds memory up meanwhile.
            source.cancel();
        }
    }

    /// The next wake, as a future, to be polled before [`settled`]; or none, if there is no memory for
    /// the block that a new source stands in. (The source itself asks for memory as a `Box` does.)
    pub(super) fn next_wake(&self) -> Option<Canceled> {
        let guard = epoch::pin();
        loop {
            // Acquire pairs with the exchange below.
            let current = self.0.load(ord!("segmented-log-24", Acquire));
            if let Some(block) = NonNull::new(current) {
                // SAFETY: it was there when the guard was.
                return Some(unsafe { block.as_ref() }.get().token().canceled());
            }
            let block = Block::allocate(CancelSource::new()).ok()?;
            // SAFETY: this call alone has it.
            let wake = unsafe { block.as_ref() }.get().token().canceled();
            let put = self.0.compare_exchange(
                ptr::null_mut(),
                block.as_ptr(),
                ord!("segmented-log-25", Release),
                ord!("segmented-log-26", Relaxed),
            );
            if put.is_ok() {
                drop(guard);
                return Some(wake);
            }
            drop(wake);
            // SAFETY: nobody else has seen it.
            unsafe { Block::free(block) };
        }
    }
}

/// Between a poll of the next wake and the look at the log after it.
pub(super) fn settled() {
    // Pairs with `wake`.
    fence!("segmented-log-27", SeqCst);
}

impl Drop for Signal {
    fn drop(&mut self) {
        if let Some(block) = NonNull::new(self.0.load(ord!("segmented-log-28", Relaxed))) {
            // SAFETY: nobody else has the log any more.
            unsafe { Block::free(block) };
        }
    }
}
