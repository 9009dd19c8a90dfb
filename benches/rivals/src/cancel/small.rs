//! A contender that does one small operation again and again.

use std::sync::{Mutex, PoisonError};

use jeton_benches::scenario::cancel::repeat;

use crate::{contender::Contender, window::Pace};

/// What the threads share, and what each of them does.
#[repr(align(128))]
struct Small<S> {
    shared: S,
    work: fn(&S, Pace<'_>, &mut u64),
    done: Mutex<u64>,
}

impl<S: Sync> Contender for Small<S> {
    fn work(&self, _: usize, pace: Pace<'_>) {
        let mut done = 0;
        (self.work)(&self.shared, pace, &mut done);
        *self.done.lock().unwrap_or_else(PoisonError::into_inner) += done;
    }

    /// These operations leave nothing behind that could be looked at; the scenario's tests say what they do.
    fn check(&self, operations: u64) -> Result<(), String> {
        let done = *self.done.lock().unwrap_or_else(PoisonError::into_inner);
        if done == operations { Ok(()) } else { Err(format!("{done} operations instead of {operations}")) }
    }
}

/// With `work`, which hands its operation to [`run`].
pub(super) fn small<S: Sync + 'static>(shared: S, work: fn(&S, Pace<'_>, &mut u64)) -> Box<dyn Contender> {
    Box::new(Small { shared, work, done: Mutex::new(0) })
}

/// A scenario that does `calls` operations.
#[inline(always)]
pub(super) fn run(pace: Pace<'_>, done: &mut u64, mut of_calls: impl FnMut(u32)) {
    pace.run(|calls| {
        of_calls(calls);
        *done += u64::from(calls);
    });
}

/// One operation of a peer.
#[inline(always)]
pub(super) fn each<R>(pace: Pace<'_>, done: &mut u64, mut operation: impl FnMut() -> R) {
    run(pace, done, |calls| repeat(calls, &mut operation));
}
