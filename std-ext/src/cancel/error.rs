//! What refuses and what ends without a cancel.

use std::{error::Error, fmt};

use jeton_core::cancel::Reason;

/// A callback that was not registered, because it is too late.
pub struct AlreadyCanceled<F> {
    /// Why the source is canceled.
    pub reason: Reason,
    /// The callback, which has not been called.
    pub callback: F,
}

/// The last source has gone without a cancel: there will be none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Dismissed;

/// Why a wait with a deadline has ended without a cancel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WaitError {
    /// The last source has gone: there will be no cancel.
    Dismissed,
    /// The deadline has passed.
    TimedOut,
}

impl From<Dismissed> for WaitError {
    fn from(Dismissed: Dismissed) -> Self {
        Self::Dismissed
    }
}

impl<F> fmt::Debug for AlreadyCanceled<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AlreadyCanceled").field("reason", &self.reason).finish_non_exhaustive()
    }
}

impl<F> fmt::Display for AlreadyCanceled<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the source is canceled: {}", self.reason)
    }
}

impl fmt::Display for Dismissed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the last source has gone without a cancel")
    }
}

impl fmt::Display for WaitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Dismissed => Dismissed.fmt(f),
            Self::TimedOut => f.write_str("the deadline has passed"),
        }
    }
}

impl<F> Error for AlreadyCanceled<F> {}
impl Error for Dismissed {}
impl Error for WaitError {}
