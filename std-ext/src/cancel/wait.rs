//! Blocking waits.

use std::{
    pin::pin,
    time::{Duration, Instant},
};

use jeton_core::cancel::Reason;

use super::{
    error::{Dismissed, WaitError},
    token::CancelToken,
};
use crate::park::block;

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
        let ended = block(pin!(self.canceled()), deadline).ok_or(WaitError::TimedOut)?;
        Ok(ended?)
    }
}
