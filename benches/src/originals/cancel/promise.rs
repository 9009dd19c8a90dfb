//! What a state resolves when it ends, and who waits for that.

use std::sync::{Mutex, MutexGuard, PoisonError};

use jeton_core::sync::{AtomicU32, Ordering};

/// How a state has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It is canceled.
    Canceled,
    /// Its last source is gone: it will never be canceled.
    Dismissed,
}

const INIT: u32 = 0;
/// Somebody waits.
const WAITED_FOR: u32 = 1;
const CANCELED: u32 = 2;
const DISMISSED: u32 = 3;

/// A callback, and those that came before it.
struct Node {
    call: Box<dyn FnOnce(Outcome) + Send>,
    next: List,
}

type List = Option<Box<Node>>;

/// Is resolved once.
pub(super) struct Promise {
    phase: AtomicU32,
    list: Mutex<List>,
}

impl Promise {
    pub(super) const fn new() -> Self {
        Self { phase: AtomicU32::new(INIT), list: Mutex::new(None) }
    }

    /// Runs the callbacks, the newest first. Nobody else may call it.
    pub(super) fn resolve(&self, outcome: Outcome) {
        let to = if outcome == Outcome::Canceled { CANCELED } else { DISMISSED };
        if self.phase.swap(to, Ordering::SeqCst) != WAITED_FOR {
            return;
        }
        // The lock comes after the phase: whoever takes it later sees that, and adds nothing.
        let mut list = self.lock().take();
        while let Some(node) = list {
            let Node { call, next } = *node;
            call(outcome);
            list = next;
        }
    }

    /// Has `call` run by the one who resolves it; by this thread if that has happened.
    pub(super) fn then(&self, call: impl FnOnce(Outcome) + Send + 'static) {
        if self.outcome().is_none() {
            let mut list = self.lock();
            let seen = self.phase.compare_exchange(INIT, WAITED_FOR, Ordering::SeqCst, Ordering::SeqCst);
            if matches!(seen, Ok(_) | Err(WAITED_FOR)) {
                let next = list.take();
                *list = Some(Box::new(Node { call: Box::new(call), next }));
                return;
            }
        }
        if let Some(outcome) = self.outcome() {
            call(outcome);
        }
    }

    fn outcome(&self) -> Option<Outcome> {
        match self.phase.load(Ordering::SeqCst) {
            INIT | WAITED_FOR => None,
            CANCELED => Some(Outcome::Canceled),
            _ => Some(Outcome::Dismissed),
        }
    }

    /// How many callbacks wait.
    #[cfg(test)]
    pub(super) fn waiting(&self) -> usize {
        let list = self.lock();
        std::iter::successors(list.as_ref(), |node| node.next.as_ref()).count()
    }

    fn lock(&self) -> MutexGuard<'_, List> {
        // No callback runs with the lock held, so that nobody panics there.
        self.list.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Promise {
    /// One after another: dropping the first node would drop the next one within itself, and so on. It happens only to a promise that is not
    /// resolved, of which there is none: each state has a holder that ends it, or has been ended at its birth.
    fn drop(&mut self) {
        let mut list = self.lock().take();
        while let Some(node) = list {
            list = node.next;
        }
    }
}
