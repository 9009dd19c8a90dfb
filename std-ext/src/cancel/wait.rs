//! Blocking waits: a future whose waker is this thread.

use std::{
    pin::pin,
    sync::Arc,
    task::{Context, Poll, Wake, Waker},
    thread::{self, Thread},
    time::{Duration, Instant},
};

use jeton_core::cancel::Reason;

use super::{
    error::{Dismissed, WaitError},
    token::CancelToken,
};

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

impl CancelToken {
    /// Blocks until the source is canceled; its reason.
    ///
    /// # Errors
    /// [`Dismissed`] if it will never be canceled.
    pub fn wait(&self) -> Result<Reason, Dismissed> {
        match self.block(None) {
            Ok(reason) => Ok(reason),
            Err(_) => Err(Dismissed),
        }
    }

    /// As [`wait_until`](Self::wait_until) that long from now; without a deadline if that is beyond the clock.
    ///
    /// # Errors
    /// As there.
    pub fn wait_timeout(&self, timeout: Duration) -> Result<Reason, WaitError> {
        self.block(Instant::now().checked_add(timeout))
    }

    /// Blocks until the source is canceled or the deadline has passed; the reason of the cancel.
    ///
    /// # Errors
    /// [`WaitError`]: the source is dismissed, or the deadline has passed.
    pub fn wait_until(&self, deadline: Instant) -> Result<Reason, WaitError> {
        self.block(Some(deadline))
    }

    fn block(&self, deadline: Option<Instant>) -> Result<Reason, WaitError> {
        let waker = Waker::from(Arc::new(Unpark(thread::current())));
        let mut context = Context::from_waker(&waker);
        let mut canceled = pin!(self.canceled());
        loop {
            if let Poll::Ready(ended) = canceled.as_mut().poll(&mut context) {
                return Ok(ended?);
            }
            // A wake between the poll and this makes it return at once; so may anybody's unpark.
            match deadline.map(|deadline| deadline.saturating_duration_since(Instant::now())) {
                None => thread::park(),
                Some(Duration::ZERO) => return Err(WaitError::TimedOut),
                Some(rest) => thread::park_timeout(rest),
            }
        }
    }
}
