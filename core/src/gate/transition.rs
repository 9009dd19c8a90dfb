//! `Transition`: a transition that goes on, or back along the abort edge.

use core::mem;

use super::{Epoch, Gate, States, TransitionError};

/// A gate in the state `AT`, which this has brought it to: [`commit`](Self::commit) goes on from there, and a drop takes the abort edge.
///
/// If somebody else has moved the gate on meanwhile, also if it has come back to the state since, neither does anything. Forgetting it leaves the gate as it is.
/// A deadline is the caller's: who finds that it has passed drops this.
///
/// Both wake as [`Gate::try_transition`] does, and panic as it does. So if it is dropped by a panic, a waker that panics too ends the program.
#[must_use = "dropping it takes the abort edge"]
#[derive(Debug)]
pub struct Transition<'g, S: States, const N: usize, const AT: u8> {
    gate: &'g Gate<S, N>,
    epoch: Epoch,
}

impl<'g, S: States, const N: usize, const AT: u8> Transition<'g, S, N, AT> {
    #[inline]
    pub(super) fn new(gate: &'g Gate<S, N>, epoch: Epoch) -> Self {
        Self { gate, epoch }
    }

    /// The epoch that it has begun.
    pub const fn epoch(&self) -> Epoch {
        self.epoch
    }

    /// Goes on to the state `TO as u8`. An edge that is not there does not compile.
    ///
    /// # Errors
    /// [`TransitionError`], if somebody else has moved the gate on or closed it: [`TransitionError::Other`] may then name the state `AT` itself.
    ///
    /// # Panics
    /// As the first waker that does, after the transition.
    ///
    /// ```compile_fail,E0080
    /// # use jeton_core::gate::{Gate, states};
    /// # states! { enum Door: open Open { Shut -> [Open], abort Locked; Open -> [Shut], abort Shut; Locked -> []; } }
    /// static DOOR: Gate<Door, 1> = Gate::new();
    /// if let Ok(opening) = DOOR.begin::<{ Door::Shut as u8 }, { Door::Open as u8 }>() {
    ///     _ = opening.commit::<{ Door::Locked as u8 }>(); // there is no such edge
    /// }
    /// ```
    #[inline]
    pub fn commit<const TO: u8>(self) -> Result<Epoch, TransitionError<S>> {
        const { assert!(S::TABLE.has_edge(AT, TO), "there is no such edge") };
        let (gate, epoch) = (self.gate, self.epoch);
        mem::forget(self);
        gate.go_if(AT, TO, |word| word.epoch() == epoch.0, |epoch| epoch)
    }
}

impl<S: States, const N: usize, const AT: u8> Drop for Transition<'_, S, N, AT> {
    fn drop(&mut self) {
        let abort = S::TABLE.abort(AT);
        if abort != AT {
            // If somebody else has moved the gate on, there is nothing to abort.
            _ = self.gate.go_if(AT, abort, |word| word.epoch() == self.epoch.0, |_| ());
        }
    }
}
