//! A thread that waits as a task does: for the gate and for a cancel, each of which wakes it alone.
//!
//! A cancel that spoke to the gate's own word would have to change what all sleepers are compared with: it would look like a transition to them,
//! or be undone by another one's. So who can be canceled sleeps on a word of its own, which both wake. No thread's parking token is used.

use std::{
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, Wake, Waker},
};

use jeton_core::{ord, sync::AtomicU64};

use super::{
    inner::{End, Inner, Want, is_late},
    waiting::Waiting,
};
use crate::{blocking::Instant, cancel::CancelToken, wait_word};

/// The one bit that wakes a parker.
const WOKEN: u32 = 1;

const AWAKE: u64 = 0;
const ASLEEP: u64 = 1;
const CALLED: u64 = 2;

struct Parker(AtomicU64);

impl Parker {
    /// Returns once somebody has called since the last return, or at the deadline, or for no reason.
    fn park(&self, deadline: Option<Instant>) {
        let asleep = self.0.compare_exchange(AWAKE, ASLEEP, ord!("gate-std-32", Relaxed), ord!("gate-std-33", Relaxed));
        if asleep.is_ok() {
            wait_word::wait(&self.0, ASLEEP, WOKEN, deadline);
        }
        // Whoever called before this is heard by the look that follows.
        self.0.swap(AWAKE, ord!("gate-std-34", Acquire));
    }
}

impl Wake for Parker {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if self.0.swap(CALLED, ord!("gate-std-35", Release)) == ASLEEP {
            wait_word::wake(&self.0, WOKEN, 1);
        }
    }
}

/// Blocks until `want` has come or `token` is canceled. A gate that has come to it counts before a cancel.
pub(super) fn wait(inner: &Inner, want: Want, deadline: Option<Instant>, token: &CancelToken) -> End {
    // Without an allocation, if there is nothing to wait for.
    if let Some(end) = want.end(inner.look()) {
        return end;
    }
    let parker = Arc::new(Parker(AtomicU64::new(AWAKE)));
    let waker = Waker::from(parker.clone());
    let mut context = Context::from_waker(&waker);
    let mut reached = Waiting::new(inner, want);
    let mut canceled = token.canceled();
    loop {
        if let Poll::Ready(end) = reached.poll(&context) {
            return end;
        }
        // A token that is dismissed is never canceled: then the gate alone ends the wait.
        if let Poll::Ready(Ok(_)) = Pin::new(&mut canceled).poll(&mut context) {
            return inner.given_up(want, End::Canceled);
        }
        if is_late(deadline) {
            return inner.given_up(want, End::TimedOut);
        }
        parker.park(deadline);
    }
}
