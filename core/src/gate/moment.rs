//! What a gate answers.

use core::fmt;

/// How many transitions a gate has made, modulo 2^26. Closing is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Epoch(pub(super) u32);

impl Epoch {
    /// The number, below 2^26.
    pub const fn get(self) -> u32 {
        self.0
    }
}

/// A state, and the epoch in which the gate was in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Moment<S> {
    /// The state.
    pub state: S,
    /// The epoch that began with the transition to it; closing begins none.
    pub epoch: Epoch,
}

/// Why a wait has ended without what it waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WaitError {
    /// The gate was closed.
    Closed,
    /// As many wait already as can: the answer to a first poll alone, and who has a place keeps it.
    Full,
}

impl fmt::Display for WaitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Closed => "the gate is closed",
            Self::Full => "as many wait for the gate as can",
        })
    }
}

impl core::error::Error for WaitError {}
