//! `Transition`: a transition that ends well, or along an abort edge.

use std::{fmt, mem};

use jeton_core::gate::{States, TransitionError};

use super::{changes::Epoch, inner::is_late, shared::Gate};
use crate::blocking::Instant;

/// Why a transition was not committed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommitError<S> {
    /// The deadline has passed, and the abort edge was taken.
    Late,
    /// Somebody else has moved the gate on, or closed it.
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

/// A gate in the state `AT`, which this has brought it to: [`commit`](Self::commit) goes on from there, and a drop takes the abort edge.
///
/// If somebody else has moved the gate on meanwhile, also if it has come back to the state since, neither does anything. Forgetting it
/// leaves the gate as it is. Nothing watches the clock: a deadline that has passed is found by `commit`.
#[must_use = "dropping it takes the abort edge"]
pub struct Transition<'g, S: States, const AT: u8> {
    gate: &'g Gate<S>,
    epoch: Epoch,
    deadline: Option<Instant>,
}

impl<'g, S: States, const AT: u8> Transition<'g, S, AT> {
    #[inline]
    pub(super) fn new(gate: &'g Gate<S>, epoch: Epoch, deadline: Option<Instant>) -> Self {
        Self { gate, epoch, deadline }
    }

    /// The epoch that it has begun.
    pub const fn epoch(&self) -> Epoch {
        self.epoch
    }

    /// Goes on to the state `TO as u8`. An edge that is not there does not compile.
    ///
    /// # Errors
    /// [`CommitError::Late`], if the deadline has passed; the abort edge was taken then, unless somebody else has moved the gate on.
    /// [`CommitError::Refused`], if somebody else has moved it on or closed it: [`TransitionError::Other`] may then name the state `AT` itself.
    ///
    /// # Panics
    /// If a waker does, once all are woken: the transition is made then.
    ///
    /// ```compile_fail,E0080
    /// # use jeton::gate::{Gate, states};
    /// # states! { enum Door: open Open { Shut -> [Open], abort Locked; Open -> [Shut], abort Shut; Locked -> []; } }
    /// static DOOR: Gate<Door> = Gate::new();
    /// let opened = DOOR.begin::<{ Door::Shut as u8 }, { Door::Open as u8 }>(None).expect("it is shut");
    /// _ = opened.commit::<{ Door::Locked as u8 }>(); // there is no such edge
    /// ```
    #[inline]
    pub fn commit<const TO: u8>(self) -> Result<Epoch, CommitError<S>> {
        const { assert!(S::TABLE.has_edge(AT, TO), "there is no such edge") };
        if is_late(self.deadline) {
            return Err(CommitError::Late);
        }
        let (gate, epoch) = (self.gate, self.epoch);
        mem::forget(self);
        gate.go_if(AT, TO, |word| word.epoch() == epoch.0).map_err(CommitError::Refused)
    }
}

impl<S: States, const AT: u8> Drop for Transition<'_, S, AT> {
    fn drop(&mut self) {
        let abort = S::TABLE.abort(AT);
        if abort != AT {
            // If somebody else has moved the gate on, or closed it, there is nothing to abort.
            _ = self.gate.go_if(AT, abort, |word| word.epoch() == self.epoch.0);
        }
    }
}

impl<S: States + fmt::Debug, const AT: u8> fmt::Debug for Transition<'_, S, AT> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Transition").field("epoch", &self.epoch).finish_non_exhaustive()
    }
}
