//! The table of states: what a gate must know of its states.

use std::marker::PhantomData;

/// The states of a gate, numbered from 0, at most 16, and the edges between them.
pub trait States: Copy + 'static {
    /// The number of the first state.
    const FIRST: u8;
    /// The number of the state in which [`Gate::check`](super::Gate::check) succeeds.
    const OPEN: u8;
    /// For each state the states that one gets to from it, one bit each.
    const EDGES: [u16; 16];
    /// For each state the one that a transition given up there goes to.
    const ABORT: [u8; 16];
    /// The state's number.
    fn number(self) -> u8;
    /// The state of a number that a gate has had from [`number`](Self::number).
    fn from_number(number: u8) -> Self;
}

/// Some states of a gate.
pub struct StateSet<S>(u32, PhantomData<fn(S)>);

impl<S: States> StateSet<S> {
    pub(super) const fn bits(self) -> u32 {
        self.0
    }
}

impl<S> Clone for StateSet<S> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<S> Copy for StateSet<S> {}

impl<S> std::fmt::Debug for StateSet<S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "StateSet({:#b})", self.0)
    }
}

impl<S: States> From<S> for StateSet<S> {
    fn from(state: S) -> Self {
        Self(1 << state.number(), PhantomData)
    }
}

impl<S: States, const N: usize> From<[S; N]> for StateSet<S> {
    fn from(states: [S; N]) -> Self {
        Self(states.iter().fold(0, |set, state| set | 1 << state.number()), PhantomData)
    }
}
