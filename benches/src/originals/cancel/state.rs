//! What sources and tokens share.

use std::sync::Arc;

use jeton_core::sync::{AtomicU32, Ordering};

use super::promise::{Outcome, Promise};

const INIT: u32 = 0;
const CANCELED: u32 = 1;
const DISMISSED: u32 = 2;

/// A state: it leaves *Init* once. Its promise is an allocation of its own, as futures could count it beyond the state's end.
pub(super) struct State {
    phase: AtomicU32,
    promise: Arc<Promise>,
}

impl State {
    pub(super) fn new() -> Self {
        Self { phase: AtomicU32::new(INIT), promise: Arc::new(Promise::new()) }
    }

    #[inline]
    pub(super) fn outcome(&self) -> Option<Outcome> {
        // SeqCst, as in the original, for a load that costs nothing more than Acquire on most processors.
        match self.phase.load(Ordering::SeqCst) {
            INIT => None,
            CANCELED => Some(Outcome::Canceled),
            _ => Some(Outcome::Dismissed),
        }
    }

    #[inline]
    pub(super) fn is_canceled(&self) -> bool {
        self.phase.load(Ordering::SeqCst) == CANCELED
    }

    /// Ends the state; whether this call has.
    pub(super) fn end(&self, outcome: Outcome) -> bool {
        let to = if outcome == Outcome::Canceled { CANCELED } else { DISMISSED };
        if self.phase.compare_exchange(INIT, to, Ordering::SeqCst, Ordering::SeqCst).is_err() {
            return false;
        }
        self.promise.resolve(outcome);
        true
    }

    /// Has `call` run by whoever ends the state; at once if it has ended.
    pub(super) fn on_end(&self, call: impl FnOnce(Outcome) + Send + 'static) {
        self.promise.then(call);
    }

    /// How many callbacks wait.
    #[cfg(test)]
    pub(super) fn waiting(&self) -> usize {
        self.promise.waiting()
    }
}
