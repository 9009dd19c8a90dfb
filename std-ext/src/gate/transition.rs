//! `Transition`: a transition that ends well, or along an abort edge.

use std::fmt;

use jeton_core::gate::{States, TransitionError};

use super::{changes::Epoch, inner::is_late, shared::Gate};
use crate::blocking::Instant;

/// Why a transition was not committed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommitError<S> {
    /// The deadline has passed, and the abort edge was taken.
    Late,
    /// There was no transition, for this reason; the abort edge was taken if the gate was still where it was begun.
    Refused(TransitionError<S>),
}

impl<S: fmt::Debug> fmt::Display for CommitError<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Late => f.write_str("the deadline of the transition has passed"),
            Self::Refused(error) => error.fmt(f),
        }
    }
}

impl<S: fmt::Debug> std::error::Error for CommitError<S> {}

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
    pub fn commit(mut self, to: S) -> Result<Epoch, CommitError<S>> {
        if is_late(self.deadline) {
            return Err(CommitError::Late);
        }
        let epoch = self.gate.try_transition(self.state, to).map_err(CommitError::Refused)?;
        self.is_over = true;
        Ok(epoch)
    }
}

impl<S: States> Drop for Transition<'_, S> {
    fn drop(&mut self) {
        if !self.is_over {
            // If another one has moved the gate on, or closed it, there is nothing to abort.
            _ = self.gate.go(self.state.number(), S::TABLE.abort(self.state.number()));
        }
    }
}

impl<S: States + fmt::Debug> fmt::Debug for Transition<'_, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Transition").field("state", &self.state).field("epoch", &self.epoch).finish_non_exhaustive()
    }
}
