//! Why a registration is refused.

use core::fmt;

use super::status::Reason;

/// Why nothing was registered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Refusal {
    /// All slots of the source are taken.
    Full,
    /// The source is canceled: do now what was to be done then.
    Canceled(Reason),
    /// The source has been dismissed: it will not be canceled.
    Dismissed,
}

/// A callback that was not registered, why, and what it was to be called with.
pub struct Refused<T: 'static> {
    /// Why.
    pub refusal: Refusal,
    /// The callback.
    pub callback: fn(&'static T),
    /// Its data.
    pub data: &'static T,
}

/// Why a wait has ended without a cancel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WaitError {
    /// All slots of the source are taken, so that nobody would wake the task.
    Full,
    /// The source has been dismissed: it will not be canceled.
    Dismissed,
}

/// All nodes of the tree are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct NoNode;

impl<T> fmt::Debug for Refused<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Refused").field("refusal", &self.refusal).finish_non_exhaustive()
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Full => f.write_str("all slots of the source are taken"),
            Self::Canceled(reason) => write!(f, "the source is canceled: {reason}"),
            Self::Dismissed => f.write_str("the source has been dismissed"),
        }
    }
}

impl<T> fmt::Display for Refused<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.refusal.fmt(f)
    }
}

impl fmt::Display for WaitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Full => Refusal::Full.fmt(f),
            Self::Dismissed => Refusal::Dismissed.fmt(f),
        }
    }
}

impl fmt::Display for NoNode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("all nodes of the tree are taken")
    }
}

impl core::error::Error for Refusal {}
impl<T> core::error::Error for Refused<T> {}
impl core::error::Error for WaitError {}
impl core::error::Error for NoNode {}
