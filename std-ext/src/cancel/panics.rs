//! Panics of callbacks, wakers and destructors: the first one is kept until all is done. Gates use it too.

use std::{
    any::Any,
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    thread,
};

/// The first panic, if there was one.
#[derive(Default)]
pub(crate) struct Panics(Option<Box<dyn Any + Send>>);

impl Panics {
    /// Runs `work` again and again until it comes to its end without a panic: it goes on where it was.
    #[inline]
    pub(crate) fn keep(&mut self, mut work: impl FnMut()) {
        // A model's panic is what its checker has found, and ends the execution.
        if cfg!(any(jeton_loom, jeton_shuttle)) {
            return work();
        }
        while let Err(panic) = catch_unwind(AssertUnwindSafe(&mut work)) {
            self.add(panic);
        }
    }

    #[cold]
    fn add(&mut self, panic: Box<dyn Any + Send>) {
        if self.0.is_none() {
            self.0 = Some(panic);
        } else if let Err(panic_of_drop) = catch_unwind(AssertUnwindSafe(|| drop(panic))) {
            std::mem::forget(panic_of_drop);
        }
    }

    /// Lets the first panic go on, unless this thread is panicking already.
    #[inline]
    pub(crate) fn resume(self) {
        if let Some(panic) = self.0
            && !thread::panicking()
        {
            resume_unwind(panic);
        }
    }
}
