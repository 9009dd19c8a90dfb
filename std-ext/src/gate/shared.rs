//! `Gate`.

use std::{fmt, marker::PhantomData};

use jeton_core::{
    const_fn,
    gate::{MOST_STATES, StateSet, States, TransitionError},
};

use super::{
    changes::{Changes, Epoch, Moment, Waited},
    future::{Changed, Reached},
    inner::{End, Inner, Want},
    transition::Transition,
    word::Word,
};
use crate::{blocking::Instant, cancel::CancelToken};

/// A state that threads and tasks check, change and wait for.
///
/// It is `Sync` and needs no lock; put it into a `static` or an `Arc`.
pub struct Gate<S> {
    pub(super) inner: Inner,
    states: PhantomData<fn(S) -> S>,
}

impl<S: States> Gate<S> {
    const_fn! {
        /// A gate in the first state of its table, at epoch 0, with nobody waiting.
        pub const fn new() -> Self {
            Self { inner: Inner::new(Self::code(0)), states: PhantomData }
        }
    }

    /// Whether the gate is in the state that is declared open, and is not closed.
    ///
    /// # Ordering
    /// Acquire: what was done before the transition to that state is visible.
    #[inline]
    pub fn check(&self) -> bool {
        self.inner.look().is_in(const { Self::code(S::TABLE.open()) })
    }

    /// The state, and when it is.
    #[inline]
    pub fn snapshot(&self) -> Moment<S> {
        Self::moment(self.inner.look())
    }

    /// Whether the gate has been closed.
    #[inline]
    pub fn is_closed(&self) -> bool {
        self.inner.look().is_closed()
    }

    /// Goes from one state to another, and wakes those who wait for it.
    ///
    /// # Errors
    /// If there is no such edge, or the gate is in another state or closed. Nothing has changed then.
    ///
    /// # Panics
    /// If a waker does, once all are woken: the transition is made then.
    ///
    /// # Ordering
    /// AcqRel: who sees the new state sees what was done before this.
    #[inline]
    pub fn try_transition(&self, from: S, to: S) -> Result<Epoch, TransitionError<S>> {
        if !S::TABLE.has_edge(from.number(), to.number()) {
            return Err(TransitionError::NoEdge);
        }
        self.go_if(from.number(), to.number(), |_| true)
    }

    /// The same along an edge that is known when this is compiled, from `FROM as u8` to `TO as u8`.
    ///
    /// # Errors
    /// If the gate is not in `FROM`, or closed.
    ///
    /// ```compile_fail,E0080
    /// # use jeton::gate::{Gate, states};
    /// # states! { enum Door: open Open { Shut -> [Open], abort Locked; Open -> [Shut], abort Shut; Locked -> []; } }
    /// static DOOR: Gate<Door> = Gate::new();
    /// _ = DOOR.transition::<{ Door::Locked as u8 }, { Door::Open as u8 }>(); // there is no such edge
    /// ```
    #[inline]
    pub fn transition<const FROM: u8, const TO: u8>(&self) -> Result<Epoch, TransitionError<S>> {
        const { assert!(S::TABLE.has_edge(FROM, TO), "there is no such edge") };
        self.go_if(FROM, TO, |_| true)
    }

    /// The same, if the word is also what the caller says.
    #[inline]
    pub(super) fn go_if(&self, from: u8, to: u8, is_right: impl Fn(Word) -> bool) -> Result<Epoch, TransitionError<S>> {
        let word = self.inner.go_if(Self::code(from), Self::code(to), is_right).map_err(Self::refused)?;
        Ok(Epoch(word.epoch()))
    }

    /// Why there is no transition from the word found.
    #[inline]
    fn refused(found: Word) -> TransitionError<S> {
        if found.is_closed() { TransitionError::Closed } else { TransitionError::Other(Self::moment(found).state) }
    }

    /// Goes to the state `TO`, to go on from there by [`Transition::commit`], or along the abort edge of `TO` if that does not come before
    /// `deadline`, or the guard is dropped.
    ///
    /// # Errors
    /// If the gate is not in `FROM`, or closed. An edge that is not there does not compile.
    ///
    /// # Panics
    /// If a waker does, once all are woken; the abort edge is taken then.
    ///
    /// # Examples
    /// ```
    /// use jeton::gate::{CommitError, Gate, states};
    /// use std::time::Instant;
    ///
    /// states! {
    ///     enum Queue: open Running {
    ///         Waiting -> [Starting], abort Starting;
    ///         Starting -> [Running], abort Waiting;
    ///         Running -> [Waiting], abort Waiting;
    ///     }
    /// }
    /// static QUEUE: Gate<Queue> = Gate::new();
    ///
    /// let starting = QUEUE.begin::<{ Queue::Waiting as u8 }, { Queue::Starting as u8 }>(Some(Instant::now())).expect("it waits");
    /// assert_eq!(starting.commit::<{ Queue::Running as u8 }>(), Err(CommitError::Late));
    /// assert_eq!(QUEUE.snapshot().state, Queue::Waiting);
    /// let starting = QUEUE.begin::<{ Queue::Waiting as u8 }, { Queue::Starting as u8 }>(None).expect("it waits");
    /// starting.commit::<{ Queue::Running as u8 }>().expect("nobody has moved it on");
    /// assert!(QUEUE.check());
    /// ```
    ///
    /// ```compile_fail,E0080
    /// # use jeton::gate::{Gate, states};
    /// # states! { enum Door: open Open { Shut -> [Open], abort Locked; Open -> [Shut], abort Shut; Locked -> []; } }
    /// static DOOR: Gate<Door> = Gate::new();
    /// _ = DOOR.begin::<{ Door::Locked as u8 }, { Door::Open as u8 }>(None); // there is no such edge
    /// ```
    #[inline]
    pub fn begin<const FROM: u8, const TO: u8>(
        &self,
        deadline: Option<Instant>,
    ) -> Result<Transition<'_, S, TO>, TransitionError<S>> {
        const { assert!(S::TABLE.has_edge(FROM, TO), "there is no such edge") };
        let (replaced, word) = self.inner.exchange(Self::code(FROM), Self::code(TO), |_| true).map_err(Self::refused)?;
        // Before anybody is woken: if a waker panics there is somebody who takes the abort edge.
        let begun = Transition::new(self, Epoch(word.epoch()), deadline);
        self.inner.tell(replaced, Self::code(TO));
        Ok(begun)
    }

    /// How many transitions there have been since then: none is missed, whatever the state is now.
    #[inline]
    pub fn changed_since(&self, epoch: Epoch) -> Changes {
        Changes(self.inner.look().epochs_since(epoch.0))
    }

    /// Closes the gate for good: [`check`](Self::check) fails, no transition is possible, and all who wait are woken. Whether this call has.
    ///
    /// # Panics
    /// If a waker does, once all are woken.
    pub fn close(&self) -> bool {
        self.inner.close()
    }

    /// Blocks until the gate is in one of `states`, until `deadline`, or until `token` is canceled.
    ///
    /// It looks at the gate whenever a transition to one of them comes; a state that has gone again by then is not seen. See
    /// [`wait_change`](Self::wait_change), which misses none. For no state, it waits for the end of the gate. What has come counts before a
    /// deadline or a cancel that has come too.
    ///
    /// # Ordering
    /// Acquire: what was done before the transition that ends the wait is visible.
    pub fn wait_for(&self, states: impl Into<StateSet<S>>, deadline: Option<Instant>, token: Option<&CancelToken>) -> Waited<S> {
        Self::waited(self.inner.wait(Self::wanted(states.into()), deadline, token))
    }

    /// Blocks until the epoch is another one than `epoch`, until `deadline`, or until `token` is canceled.
    pub fn wait_change(&self, epoch: Epoch, deadline: Option<Instant>, token: Option<&CancelToken>) -> Waited<S> {
        Self::waited(self.inner.wait(Self::change(epoch), deadline, token))
    }

    /// Waits until the gate is in one of `states`, as a future. Dropped, it leaves nothing behind; forgotten, it keeps a slot until the gate goes.
    #[inline]
    pub fn reached(&self, states: impl Into<StateSet<S>>) -> Reached<'_, S> {
        Reached::new(&self.inner, states.into())
    }

    /// Waits until the epoch is another one than `epoch`, as a future. Dropped, it leaves nothing behind.
    #[inline]
    pub fn changed(&self, epoch: Epoch) -> Changed<'_, S> {
        Changed::new(&self.inner, epoch)
    }

    #[inline]
    pub(super) fn moment(word: Word) -> Moment<S> {
        Moment { state: S::ALL[usize::from(Self::code(word.state()))], epoch: Epoch(word.epoch()) }
    }

    /// A state's number as the word has it, and back: 0 is the open one, so that a check is one masked test.
    #[inline]
    const fn code(number: u8) -> u8 {
        number ^ const { S::TABLE.open() }
    }

    /// The states that an edge leads to, as the word has them, a bit for each. An interest in another one would stay for ever.
    const COMING: u32 = {
        let (mut states, mut edge) = (0, 0);
        while edge < MOST_STATES * MOST_STATES {
            let (from, to) = ((edge / MOST_STATES) as u8, (edge % MOST_STATES) as u8);
            if S::TABLE.has_edge(from, to) {
                states |= 1 << Self::code(to);
            }
            edge += 1;
        }
        // Without edges there is an end still, which looks for who has an interest.
        if states == 0 { 1 } else { states }
    };

    #[inline]
    pub(super) fn wanted(states: StateSet<S>) -> Want {
        let states = Self::codes(states);
        Want::States(states, if states == 0 { Self::COMING } else { states })
    }

    #[inline]
    pub(super) const fn change(since: Epoch) -> Want {
        Want::Change(since.0, Self::COMING)
    }

    /// The states as the word has them, a bit for each.
    #[inline]
    fn codes(states: StateSet<S>) -> u32 {
        let mut bits = states.bits();
        // Each digit of the open state's number that is set exchanges neighbours at that distance.
        for (digit, lower) in [0x5555, 0x3333, 0x0F0F, 0x00FF].into_iter().enumerate() {
            if const { S::TABLE.open() } & 1 << digit != 0 {
                bits = (bits & lower) << (1 << digit) | bits >> (1 << digit) & lower;
            }
        }
        bits.into()
    }

    fn waited(end: End) -> Waited<S> {
        match end {
            End::Reached(word) => Waited::Reached(Self::moment(word)),
            End::TimedOut => Waited::TimedOut,
            End::Canceled => Waited::Canceled,
            End::Closed => Waited::Closed,
        }
    }
}

impl<S: States> Default for Gate<S> {
    fn default() -> Self {
        Self::new()
    }
}

impl<S: States + fmt::Debug> fmt::Debug for Gate<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = self.inner.look();
        let Moment { state, epoch } = Self::moment(word);
        f.debug_struct("Gate").field("state", &state).field("epoch", &epoch).field("closed", &word.is_closed()).finish()
    }
}

#[cfg(all(test, not(any(jeton_loom, jeton_shuttle))))]
mod tests {
    use std::{
        pin::Pin,
        task::{Context, Waker},
    };

    use jeton_core::gate::states;

    use super::*;

    states! {
        /// The first state does not come again.
        enum Way: open Open {
            New -> [Open], abort Shut;
            Open -> [Shut], abort Shut;
            Shut -> [Open], abort Open;
        }
    }

    /// Otherwise each transition would look for somebody for ever.
    #[test]
    fn whoever_has_waited_for_any_state_or_none_leaves_no_interest_once_each_has_come() {
        let gate = Gate::<Way>::new();
        for wants_change in [true, false] {
            let epoch = gate.snapshot().epoch;
            let mut context = Context::from_waker(Waker::noop());
            let is_pending = if wants_change {
                Pin::new(&mut gate.changed(epoch)).poll(&mut context).is_pending()
            } else {
                Pin::new(&mut gate.reached(StateSet::none())).poll(&mut context).is_pending()
            };
            assert!(is_pending && gate.inner.look().has_tasks());
            let first = if wants_change { Way::New } else { Way::Open };
            let road = [(first, Way::Shut), (Way::Shut, Way::Open)];
            road.into_iter().for_each(|(from, to)| assert!(gate.try_transition(from, to).is_ok()));
            assert!(!gate.inner.look().has_waiters(), "{:?}", gate.inner.look());
        }
    }
}
