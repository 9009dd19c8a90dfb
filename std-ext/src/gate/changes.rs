//! What a gate answers: epochs, moments, and how a wait ends.

use super::word::Word;

/// A moment of a gate: how many transitions there had been, modulo 2^35.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Epoch(pub(super) u64);

impl Epoch {
    /// Transitions since the gate was made, modulo 2^35.
    pub const fn get(self) -> u64 {
        self.0
    }

    /// Transitions from `earlier` to this one, modulo 2^35.
    pub const fn since(self, earlier: Self) -> u64 {
        Word::epochs_between(earlier.0, self.0)
    }
}

/// How many transitions there have been: 0 for none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Changes(pub u64);

/// A state, and when it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moment<S> {
    /// The state.
    pub state: S,
    /// The epoch that the transition to it began.
    pub epoch: Epoch,
}

/// How a blocking wait has ended.
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Waited<S> {
    /// What was waited for has come; this is what the gate was then.
    Reached(Moment<S>),
    /// The deadline has.
    TimedOut,
    /// The token was canceled.
    Canceled,
    /// The gate was closed.
    Closed,
}
