//! `Transition`: a transition that ends well, or along an abort edge.

use std::fmt;

use super::{
    changes::Epoch,
    inner::is_late,
    shared::Gate,
    states::States,
};
use crate::blocking::Instant;

/// Why there was no transition. The gate is as it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransitionError<S> {
    /// The table has no such edge.
    NoEdge,
    /// The gate is in this state.
    Other(S),
    /// The gate is closed.
    Closed,
    /// The deadline has passed, and the abort edge was taken.
    Late,
}

impl<S: fmt::Debug> fmt::Display for TransitionError<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoEdge => f.write_str("there is no such edge"),
            Self::Other(state) => write!(f, "the gate is in state {state:?}"),
            Self::Closed => f.write_str("the gate is closed"),
            Self::Late => f.write_str("the deadline of the transition has passed"),
        }
    }
}

impl<S: fmt::Debug> std::error::Error for TransitionError<S> {}

/// A transition under way: [`commit`](Self::commit) ends it; a drop takes the abort edge.
///
/// Nothing watches the clock meanwhile: a deadline that has passed is found by `commit`. If somebody else has moved the gate on, it stays
/// where it is. A guard that is forgotten leaves the gate where it was begun.
#[must_use = "dropping it takes the abort edge"]
pub struct Transition<'g, S: States> {
    gate: &'g Gate<S>,
    state: S,
    epoch: Epoch,
    deadline: Option<Instant>,
    is_over: bool,
}

impl<'g, S: States> Transition<'g, S> {
    pub(super) fn new(gate: &'g Gate<S>, state: S, epoch: Epoch, deadline: Option<Instant>) -> Self {
        Self { gate, state, epoch, deadline, is_over: false }
    }

    /// The epoch that it began.
    pub const fn epoch(&self) -> Epoch {
        self.epoch
    }

    /// Goes on to `to`.
    ///
    /// # Errors
    /// As [`Gate::try_transition`], and if the deadline has passed. The abort edge is taken, if the gate is where this has brought it.
    pub fn commit(mut self, to: S) -> Result<Epoch, TransitionError<S>> {
        if is_late(self.deadline) {
            return Err(TransitionError::Late);
        }
        let epoch = self.gate.try_transition(self.state, to)?;
        self.is_over = true;
        Ok(epoch)
    }
}

impl<S: States> Drop for Transition<'_, S> {
    fn drop(&mut self) {
        if !self.is_over {
            // If another one has moved the gate on, or closed it, there is nothing to abort.
            _ = self.gate.go(self.state.number(), S::ABORT[self.state.number() as usize]);
        }
    }
}

impl<S: States + fmt::Debug> fmt::Debug for Transition<'_, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Transition").field("state", &self.state).field("epoch", &self.epoch).finish_non_exhaustive()
    }
}
