//! `Gate`.

use core::{fmt, marker::PhantomData};

use super::{Changed, Epoch, Moment, Reached, StateSet, States, Transition, TransitionError, waiters::Waiters, word::Word};
use crate::{const_fn, ord, sync::AtomicU32};

/// A state that any threads, tasks and interrupt handlers check, change and wait for.
///
/// `S` are the states, declared by [`states!`](crate::gate::states); `N` is how many can wait at a time, at most 32.
///
/// # Ordering
/// Whatever was done before a transition is visible to whoever sees its state, or a later one.
///
/// # Examples
/// ```
/// use jeton_core::gate::{Gate, TransitionError, states};
///
/// states! {
///     enum Link: open Up {
///         Down -> [Up], abort Failed;
///         Up -> [Down], abort Down;
///         Failed -> [];
///     }
/// }
///
/// static LINK: Gate<Link, 4> = Gate::new();
///
/// assert!(!LINK.check());
/// let before = LINK.snapshot();
/// LINK.try_transition(Link::Down, Link::Up)?;
/// assert!(LINK.check());
/// LINK.transition::<{ Link::Up as u8 }, { Link::Down as u8 }>()?; // an edge that is not there would not compile
/// assert_eq!(LINK.changed_since(before.epoch), 2); // though it is down again, as before
/// assert_eq!(LINK.try_transition(Link::Up, Link::Down), Err(TransitionError::Other(Link::Down)));
/// # Ok::<(), TransitionError<Link>>(())
/// ```
pub struct Gate<S, const N: usize> {
    word: AtomicU32,
    pub(super) waiters: Waiters<N>,
    states: PhantomData<fn() -> S>,
}

impl<S: States, const N: usize> Gate<S, N> {
    const_fn! {
        /// A gate in its first state, at epoch 0, that nobody waits for.
        pub const fn new() -> Self {
            Self { word: AtomicU32::new(Word::first(S::TABLE.open()).0), waiters: Waiters::new(), states: PhantomData }
        }
    }

    /// Whether the gate is in its open state, and not closed. One load.
    ///
    /// # Ordering
    /// What was done before the transition to that state is visible.
    #[inline]
    pub fn check(&self) -> bool {
        self.look().is_open()
    }

    /// The state, and its epoch. One load.
    #[inline]
    pub fn snapshot(&self) -> Moment<S> {
        Self::moment(self.look())
    }

    /// Whether the gate was closed. One load.
    #[inline]
    pub fn is_closed(&self) -> bool {
        self.look().is_closed()
    }

    /// How many transitions there were since that epoch; 0 if none, and if 2^26 or a multiple of it. One load.
    ///
    /// Closing is no transition, and not counted: [`is_closed`](Self::is_closed) says that.
    #[inline]
    pub fn changed_since(&self, epoch: Epoch) -> u32 {
        self.look().epochs_since(epoch.0)
    }

    /// Goes from one state to another, and wakes those who wait for that.
    ///
    /// # Errors
    /// [`TransitionError`], if there is no such edge or the gate is not in `from`. Nothing has changed then.
    ///
    /// # Panics
    /// As the first waker that does, after the transition, and after the others were woken. A second one that panics then ends the program.
    #[inline]
    pub fn try_transition(&self, from: S, to: S) -> Result<Epoch, TransitionError<S>> {
        if !S::TABLE.has_edge(from.number(), to.number()) {
            return Err(TransitionError::NoEdge);
        }
        self.go_if(from.number(), to.number(), |_| true, |epoch| epoch)
    }

    /// The same along an edge that is known when this is compiled, from `FROM as u8` to `TO as u8`.
    ///
    /// # Errors
    /// [`TransitionError`], if the gate is not in `FROM`.
    ///
    /// ```compile_fail,E0080
    /// # use jeton_core::gate::{Gate, states};
    /// # states! { enum Door: open Open { Shut -> [Open], abort Locked; Open -> [Shut], abort Shut; Locked -> []; } }
    /// static DOOR: Gate<Door, 1> = Gate::new();
    /// _ = DOOR.transition::<{ Door::Locked as u8 }, { Door::Open as u8 }>(); // there is no such edge
    /// ```
    ///
    /// ```compile_fail,E0080
    /// # use jeton_core::gate::{Gate, states};
    /// # states! { enum Door: open Open { Shut -> [Open], abort Locked; Open -> [Shut], abort Shut; Locked -> []; } }
    /// static DOOR: Gate<Door, 1> = Gate::new();
    /// _ = DOOR.transition::<{ Door::Shut as u8 + 16 }, { Door::Open as u8 }>(); // there is no such state
    /// ```
    #[inline]
    pub fn transition<const FROM: u8, const TO: u8>(&self) -> Result<Epoch, TransitionError<S>> {
        const { assert!(S::TABLE.has_edge(FROM, TO), "there is no such edge") };
        self.go_if(FROM, TO, |_| true, |epoch| epoch)
    }

    /// Goes to the state `TO`, to go on from there by [`Transition::commit`], or along the abort edge of `TO` if that guard is dropped.
    ///
    /// # Errors
    /// [`TransitionError`], if the gate is not in `FROM`.
    ///
    /// # Panics
    /// As [`try_transition`](Self::try_transition), and along the abort edge.
    ///
    /// # Examples
    /// ```
    /// # use jeton_core::gate::{Gate, TransitionError, states};
    /// states! {
    ///     enum Queue: open Running {
    ///         Waiting -> [Starting], abort Starting;
    ///         Starting -> [Running], abort Waiting;
    ///         Running -> [Waiting], abort Waiting;
    ///     }
    /// }
    /// static QUEUE: Gate<Queue, 1> = Gate::new();
    ///
    /// let starting = QUEUE.begin::<{ Queue::Waiting as u8 }, { Queue::Starting as u8 }>()?;
    /// drop(starting); // as a panic does, or a deadline that has passed
    /// assert_eq!(QUEUE.snapshot().state, Queue::Waiting);
    /// let starting = QUEUE.begin::<{ Queue::Waiting as u8 }, { Queue::Starting as u8 }>()?;
    /// starting.commit::<{ Queue::Running as u8 }>()?;
    /// assert!(QUEUE.check());
    /// # Ok::<(), TransitionError<Queue>>(())
    /// ```
    ///
    /// ```compile_fail,E0080
    /// # use jeton_core::gate::{Gate, states};
    /// # states! { enum Door: open Open { Shut -> [Open], abort Locked; Open -> [Shut], abort Shut; Locked -> []; } }
    /// static DOOR: Gate<Door, 1> = Gate::new();
    /// _ = DOOR.begin::<{ Door::Open as u8 }, { Door::Locked as u8 }>(); // there is no such edge
    /// ```
    #[inline]
    pub fn begin<const FROM: u8, const TO: u8>(&self) -> Result<Transition<'_, S, N, TO>, TransitionError<S>> {
        const { assert!(S::TABLE.has_edge(FROM, TO), "there is no such edge") };
        self.go_if(FROM, TO, |_| true, |epoch| Transition::new(self, epoch))
    }

    /// Closes the gate for good: `check` fails, there are no transitions any more, and all who wait are woken. Whether this call has.
    ///
    /// # Panics
    /// As [`try_transition`](Self::try_transition).
    pub fn close(&self) -> bool {
        let closed = self.step(|word| (!word.is_closed()).then(|| word.closed()));
        if let Ok(before) = closed
            && before.is_awaited()
        {
            self.waiters.wake_all();
        }
        closed.is_ok()
    }

    /// Waits until the gate is in one of these states. Dropped, it leaves nothing behind.
    ///
    /// Transitions to these states wake it, and hardly ever others, for nothing; a state that has gone again when it looks is not seen. [`changed`](Self::changed)
    /// misses none.
    #[inline]
    pub fn reached(&self, states: impl Into<StateSet<S>>) -> Reached<'_, S, N> {
        Reached::new(self, states.into())
    }

    /// Waits until there was a transition since that epoch. Dropped, it leaves nothing behind.
    #[inline]
    pub fn changed(&self, epoch: Epoch) -> Changed<'_, S, N> {
        Changed::new(self, epoch)
    }

    #[inline]
    pub(super) fn look(&self) -> Word {
        // Acquire pairs with `step`: what was done before the transition is visible.
        Word(self.word.load(ord!("gate-1", Acquire)))
    }

    #[inline]
    pub(super) fn moment(word: Word) -> Moment<S> {
        Moment { state: state_of(word), epoch: Epoch(word.epoch()) }
    }

    /// Goes from one state to another, if the word is also what the caller says. What `made` makes is there before anybody is woken: if a waker
    /// panics, it is dropped.
    #[inline]
    pub(super) fn go_if<R>(
        &self,
        from: u8,
        to: u8,
        is_right: impl Fn(Word) -> bool,
        made: impl FnOnce(Epoch) -> R,
    ) -> Result<R, TransitionError<S>> {
        let open = S::TABLE.open();
        match self.step(|word| (word.is_in(from, open) && is_right(word)).then(|| word.moved(from, to))) {
            Ok(before) => {
                let made = made(Epoch(before.moved(from, to).epoch()));
                if before.is_awaited() {
                    self.waiters.wake(to);
                }
                Ok(made)
            }
            Err(found) if found.is_closed() => Err(TransitionError::Closed),
            Err(found) => Err(TransitionError::Other(state_of(found))),
        }
    }

    /// Moves the word on, if `to` has something for it; how it was before. Otherwise how it is.
    #[inline]
    fn step(&self, to: impl Fn(Word) -> Option<Word>) -> Result<Word, Word> {
        let mut word = self.look();
        while let Some(new) = to(word) {
            // Linearization point. Release pairs with `look`; Acquire with `publish`: whoever has published itself before is found.
            match self.word.compare_exchange_weak(word.0, new.0, ord!("gate-2", AcqRel), ord!("gate-3", Relaxed)) {
                Ok(_) => return Ok(word),
                Err(_) => word = self.look(),
            }
        }
        Err(word)
    }

    /// Says that a slot is armed, if the word is still as its owner has `seen` it; whether it was.
    #[inline]
    pub(super) fn publish(&self, seen: Word) -> bool {
        // Also if the word stays the same: Release pairs with `step` that comes later, and finds the slot.
        self.word.compare_exchange(seen.0, seen.awaited().0, ord!("gate-4", Release), ord!("gate-5", Relaxed)).is_ok()
    }
}

/// The state that a word has.
#[inline]
#[allow(clippy::indexing_slicing, reason = "the remainder is within the array")]
fn state_of<S: States>(word: Word) -> S {
    // No number is beyond the table's end.
    S::ALL[usize::from(word.state(S::TABLE.open())) % S::ALL.len()]
}

impl<S: States, const N: usize> Default for Gate<S, N> {
    fn default() -> Self {
        Self::new()
    }
}

impl<S: States, const N: usize> fmt::Debug for Gate<S, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = self.look();
        let Moment { state, epoch } = Self::moment(word);
        f.debug_struct("Gate")
            .field("state", &state)
            .field("epoch", &epoch)
            .field("closed", &word.is_closed())
            .finish_non_exhaustive()
    }
}
