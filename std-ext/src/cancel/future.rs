//! Futures: `Canceled` and `RunUntilCanceled`.

use std::{
    fmt,
    pin::Pin,
    ptr::NonNull,
    task::{Context, Poll, Waker},
};

use jeton_core::cancel::{Reason, Status};

use super::{error::Dismissed, payload::Payload, slot::Slot, token::CancelToken, word::Word};

/// Waits until a source is canceled. Two words, `Unpin`; a second poll by the same task reads and writes nothing that is shared.
///
/// It has a slot from the first poll that finds the source active until it is dropped.
#[must_use = "a future does nothing until it is polled"]
pub struct Canceled {
    token: CancelToken,
    /// None until the first poll that finds the source active.
    slot: Option<NonNull<Slot<Payload>>>,
}

const _: () = assert!(size_of::<Canceled>() <= 24);

// SAFETY: a node is `Send` and `Sync`, and the slot is the future's alone.
unsafe impl Send for Canceled {}
// SAFETY: as above; a shared future does nothing.
unsafe impl Sync for Canceled {}

impl Canceled {
    #[inline]
    pub(super) fn new(token: CancelToken) -> Self {
        Self { token, slot: None }
    }

    #[inline]
    fn slot<'a>(&self) -> Option<&'a Slot<Payload>> {
        // SAFETY: the token is a user of the node (N1), whose slots are there as long as it is (N4), and that outlives the caller's step.
        self.slot.map(|slot| unsafe { slot.as_ref() })
    }

    /// A poll that is not just the last one again.
    fn register(&mut self, waker: &Waker) -> Poll<Result<Reason, Dismissed>> {
        let node = self.token.node();
        let word = node.look();
        if !word.is_active() {
            return answer(word.status());
        }
        // The user's code, before the slot is touched.
        let waker = waker.clone();
        // What was there before is dropped at the end, when nobody depends on this call any more.
        let _old;
        if let Some(slot) = self.slot() {
            // SAFETY: the future owns its slot (N3), which it has armed with a waker.
            _old = unsafe { slot.disarm_waker() };
            if _old.is_some() {
                // SAFETY: taken back, and still the future's (N3).
                unsafe { slot.arm_waker(waker) };
            }
            // Otherwise it is canceled or dismissed just now, which `publish` sees.
        } else {
            let slot = node.table().take::<Payload>();
            // SAFETY: taken just now (N3).
            unsafe { slot.arm_waker(waker) };
            self.slot = Some(NonNull::from_ref(slot));
        }
        match node.publish(word, Word::HAS_REGISTRATIONS) {
            Ok(()) => Poll::Pending,
            Err(word) => answer(word.status()),
        }
    }
}

#[inline]
fn answer(status: Status) -> Poll<Result<Reason, Dismissed>> {
    match status {
        Status::Active => Poll::Pending,
        Status::Canceled(reason) => Poll::Ready(Ok(reason)),
        Status::Dismissed => Poll::Ready(Err(Dismissed)),
    }
}

impl Future for Canceled {
    /// The reason of the cancel.
    type Output = Result<Reason, Dismissed>;

    #[inline]
    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        if let Some(slot) = self.slot()
            && self.token.node().look().is_active()
            // SAFETY: the future owns its slot (N3), which it has armed with a waker.
            && unsafe { slot.wakes(context.waker()) }
        {
            // Whoever cancels from now on wakes it.
            return Poll::Pending;
        }
        self.register(context.waker())
    }
}

impl Drop for Canceled {
    #[inline]
    fn drop(&mut self) {
        let Some(slot) = self.slot() else { return };
        // SAFETY: the future owns its slot (N3), which it has armed with a waker, and gives it up here.
        let waker = unsafe { slot.disarm_waker() };
        if waker.is_some() {
            // SAFETY: as above.
            unsafe { self.token.node().table().put_back(slot) };
        }
    }
}

impl fmt::Debug for Canceled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Canceled").field("token", &self.token).finish_non_exhaustive()
    }
}

/// A future that is given up when a source is canceled. After a dismissal it goes on.
#[must_use = "a future does nothing until it is polled"]
pub struct RunUntilCanceled<F> {
    canceled: Canceled,
    future: F,
}

impl<F> RunUntilCanceled<F> {
    #[inline]
    pub(super) fn new(canceled: Canceled, future: F) -> Self {
        Self { canceled, future }
    }
}

impl<F: Future> Future for RunUntilCanceled<F> {
    /// What the future has returned, or why it was given up.
    type Output = Result<F::Output, Reason>;

    #[inline]
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        // SAFETY: `future` is pinned with this and never moved out of it; `canceled` is not pinned.
        let (canceled, future) = unsafe {
            let this = self.get_unchecked_mut();
            (&mut this.canceled, Pin::new_unchecked(&mut this.future))
        };
        if let Some(reason) = canceled.token.reason() {
            return Poll::Ready(Err(reason));
        }
        if let Poll::Ready(output) = future.poll(context) {
            return Poll::Ready(Ok(output));
        }
        match Pin::new(canceled).poll(context) {
            Poll::Ready(Ok(reason)) => Poll::Ready(Err(reason)),
            Poll::Ready(Err(Dismissed)) | Poll::Pending => Poll::Pending,
        }
    }
}

impl<F> fmt::Debug for RunUntilCanceled<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RunUntilCanceled").field("canceled", &self.canceled).finish_non_exhaustive()
    }
}
