//! Waiting for a state, or for any change.

use core::{
    fmt,
    future::Future,
    pin::Pin,
    task::{Context, Poll, Waker},
};

use super::{Epoch, Gate, Moment, StateSet, States, WaitError, word::Word};
use crate::util::slots::{Handle, Renewed};

/// Waits until the gate is in one of some states: see [`Gate::reached`].
#[must_use = "it does nothing unless it is polled"]
pub struct Reached<'g, S: States, const N: usize> {
    wait: Wait<'g, S, N>,
    states: StateSet<S>,
}

/// Waits for the next transition: see [`Gate::changed`].
#[must_use = "it does nothing unless it is polled"]
pub struct Changed<'g, S: States, const N: usize> {
    wait: Wait<'g, S, N>,
    epoch: Epoch,
}

/// A gate, and the slot in it, once there is one.
struct Wait<'g, S: States, const N: usize> {
    gate: &'g Gate<S, N>,
    handle: Option<Handle>,
}

impl<'g, S: States, const N: usize> Reached<'g, S, N> {
    pub(super) fn new(gate: &'g Gate<S, N>, states: StateSet<S>) -> Self {
        Self { wait: Wait { gate, handle: None }, states }
    }
}

impl<'g, S: States, const N: usize> Changed<'g, S, N> {
    pub(super) fn new(gate: &'g Gate<S, N>, epoch: Epoch) -> Self {
        Self { wait: Wait { gate, handle: None }, epoch }
    }
}

impl<S: States, const N: usize> Future for Reached<'_, S, N> {
    /// The state that the gate is in.
    type Output = Result<Moment<S>, WaitError>;

    #[inline]
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.get_mut();
        let states = this.states.bits();
        this.wait.poll(context.waker(), states, |word| states & 1 << word.state(S::TABLE.open()) != 0)
    }
}

impl<S: States, const N: usize> Future for Changed<'_, S, N> {
    /// The state that the gate is in now.
    type Output = Result<Moment<S>, WaitError>;

    #[inline]
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.get_mut();
        let epoch = this.epoch.0;
        this.wait.poll(context.waker(), u16::MAX, |word| word.epochs_since(epoch) != 0)
    }
}

/// What has become of a waker that was to be put into a slot.
enum Armed {
    /// It is there, in place of this one.
    Instead(Option<Waker>),
    /// Whoever has just taken the last one wakes the same task.
    Awake,
    /// There is no slot.
    Full,
    /// Not yet: whoever has just taken the last one still has the slot, and wakes another task.
    NotYet,
}

impl<S: States, const N: usize> Wait<'_, S, N> {
    /// The answer, if there is one; otherwise whoever brings it from now on wakes the task.
    #[inline]
    fn poll(&mut self, waker: &Waker, wanted: u16, is_it: impl Fn(Word) -> bool) -> Poll<Result<Moment<S>, WaitError>> {
        let seen = self.gate.look();
        if seen.is_closed() || is_it(seen) {
            return self.end(seen);
        }
        if let Some(handle) = self.handle
            // SAFETY: the future owns its registration (G3), and is borrowed for this call alone.
            && unsafe { self.gate.waiters.holds(handle, waker) }
        {
            // It was published when it was put there.
            return Poll::Pending;
        }
        self.begin(seen, waker, wanted, is_it)
    }

    /// The same, when the waker is not in the slot.
    #[cold]
    fn begin(
        &mut self,
        mut seen: Word,
        waker: &Waker,
        wanted: u16,
        is_it: impl Fn(Word) -> bool,
    ) -> Poll<Result<Moment<S>, WaitError>> {
        // What was in the slot before is dropped at the end, when nobody depends on this call any more.
        let _old = match self.arm(waker, wanted) {
            Armed::Instead(old) => old,
            Armed::Awake => return Poll::Pending,
            Armed::Full => return Poll::Ready(Err(WaitError::Full)),
            Armed::NotYet => {
                waker.wake_by_ref();
                return Poll::Pending;
            }
        };
        // If a transition in between has taken the waker, it has woken the task, which then polls again.
        while !self.gate.publish(seen) {
            seen = self.gate.look();
            if seen.is_closed() || is_it(seen) {
                return self.end(seen);
            }
        }
        Poll::Pending
    }

    /// The end of the wait, at a word that is its answer.
    #[cold]
    fn end(&mut self, word: Word) -> Poll<Result<Moment<S>, WaitError>> {
        self.leave();
        Poll::Ready(if word.is_closed() { Err(WaitError::Closed) } else { Ok(Gate::<S, N>::moment(word)) })
    }

    /// Puts a waker into a slot.
    fn arm(&mut self, waker: &Waker, wanted: u16) -> Armed {
        let waiters = &self.gate.waiters;
        let Some(handle) = self.handle else {
            return match waiters.register(waker.clone(), wanted) {
                Ok(handle) => {
                    self.handle = Some(handle);
                    Armed::Instead(None)
                }
                Err(_) => Armed::Full,
            };
        };
        // SAFETY: the future owns its registration (G3), and is borrowed for this call alone.
        let new = match unsafe { waiters.renew(handle, waker) } {
            Some(Renewed::Armed(old)) => return Armed::Instead(old),
            Some(Renewed::Running(new)) => new,
            None => waker.clone(),
        };
        // Whoever has taken the last waker wakes its task when it has let the slot go (G6): if that is this one, it polls again then.
        // SAFETY: as above.
        if unsafe { waiters.held(handle, waker) } {
            return Armed::Awake;
        }
        // Otherwise this waits for nobody: it takes another slot, and keeps this one if there is none.
        match waiters.register(new, wanted) {
            Ok(other) => {
                self.leave();
                self.handle = Some(other);
                Armed::Instead(None)
            }
            Err(_) => Armed::NotYet,
        }
    }

    /// Gives the slot up.
    fn leave(&mut self) {
        if let Some(handle) = self.handle.take() {
            // SAFETY: the future owns its registration (G3), which is forgotten here.
            unsafe { self.gate.waiters.deregister(handle) };
        }
    }
}

impl<S: States, const N: usize> Drop for Wait<'_, S, N> {
    fn drop(&mut self) {
        self.leave();
    }
}

impl<S: States, const N: usize> fmt::Debug for Reached<'_, S, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reached").field("gate", self.wait.gate).field("states", &self.states).finish_non_exhaustive()
    }
}

impl<S: States, const N: usize> fmt::Debug for Changed<'_, S, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Changed").field("gate", self.wait.gate).field("epoch", &self.epoch).finish_non_exhaustive()
    }
}
