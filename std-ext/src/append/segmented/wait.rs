//! Blocking waits for a record.

use std::{
    pin::pin,
    time::{Duration, Instant},
};

use jeton_core::append::Record;

use super::{LogReader, ReadError};
use crate::park::block;

impl LogReader {
    /// Blocks until there is a record.
    ///
    /// # Errors
    /// [`ReadError`], but for [`TimedOut`](ReadError::TimedOut).
    pub fn wait(&mut self) -> Result<Record<'_>, ReadError> {
        self.block(None)
    }

    /// As [`wait_until`](Self::wait_until) that long from now; without a deadline if that is beyond the clock.
    ///
    /// # Errors
    /// As there.
    pub fn wait_timeout(&mut self, timeout: Duration) -> Result<Record<'_>, ReadError> {
        self.block(Instant::now().checked_add(timeout))
    }

    /// Blocks until there is a record or the deadline has passed. A deadline in the past does not wait.
    ///
    /// # Errors
    /// [`ReadError`]
    pub fn wait_until(&mut self, deadline: Instant) -> Result<Record<'_>, ReadError> {
        self.block(Some(deadline))
    }

    fn block(&mut self, deadline: Option<Instant>) -> Result<Record<'_>, ReadError> {
        block(pin!(self.next_record()), deadline).unwrap_or(Err(ReadError::TimedOut))
    }
}
