//! Futures: `Canceled` and `RunUntilCanceled`.

use std::{
    fmt,
    pin::Pin,
    task::{Context, Poll, Waker},
};

use jeton_core::cancel::{Reason, Status};

use super::{error::Dismissed, token::CancelToken, word::Word};

/// No slot yet.
const NONE: u32 = u32::MAX;

/// Waits until a source is canceled. Two words, `Unpin`; a second poll by the same task reads and writes nothing that is shared.
///
/// It has a slot from the first poll that finds the source active until it is dropped.
#[must_use = "a future does nothing until it is polled"]
pub struct Canceled {
    token: CancelToken,
    slot: u32,
}

const _: () = assert!(size_of::<Canceled>() <= 24);

impl Canceled {
    #[inline]
    pub(super) fn new(token: CancelToken) -> Self {
        Self { token, slot: NONE }
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
        if self.slot == NONE {
            let (index, slot) = node.table().take();
            // SAFETY: taken just now (N3).
            unsafe { slot.arm_waker(waker) };
            self.slot = index;
        } else {
            let slot = node.table().slot(self.slot);
            // SAFETY: the future owns its slot (N3), which it has armed with a waker.
            _old = unsafe { slot.disarm_waker() };
            if _old.is_some() {
                // SAFETY: idle, and still the future's (N3).
                unsafe { slot.arm_waker(waker) };
            }
            // Otherwise it is canceled or dismissed just now, which `publish` sees.
        }
        let word = node.publish(Word::HAS_REGISTRATIONS);
        if word.is_active() { Poll::Pending } else { answer(word.status()) }
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
        if self.slot != NONE {
            let node = self.token.node();
            // SAFETY: the future owns its slot (N3), which it has armed with a waker.
            if node.look().is_active() && unsafe { node.table().slot(self.slot).wakes(context.waker()) } {
                // Whoever cancels from now on wakes it.
                return Poll::Pending;
            }
        }
        self.register(context.waker())
    }
}

impl Drop for Canceled {
    #[inline]
    fn drop(&mut self) {
        if self.slot != NONE {
            let table = self.token.node().table();
            let slot = table.slot(self.slot);
            // SAFETY: the future owns its slot (N3), which it has armed with a waker, and gives it up here.
            let waker = unsafe { slot.disarm_waker() };
            if waker.is_some() {
                // SAFETY: as above.
                unsafe { table.put_back(self.slot, slot) };
            }
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
