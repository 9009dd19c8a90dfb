//! The gate's word, and each change of it as a pure function.

/// `state:4 | closed:1 | epoch:35 | interest:16 | cascade:5 | crowd:1 | threads:1 | tasks:1`, from the lowest bit.
///
/// The low half is what a sleeping thread is compared with. State and closing lie in it, and 27 bits of the epoch; interest does not, so that
/// nobody who goes to sleep disturbs another one who does. What number a state has here is for who uses the word to say. The cascade is the
/// state whose threads are being woken by each other, and a bit that says that there is one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Word(pub(super) u64);

/// Who waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Waiter {
    /// A thread, asleep on the word.
    Thread,
    /// A task, in a slot.
    Task,
}

impl Word {
    const STATE: u64 = 0xF;
    const CLOSED: u64 = 1 << 4;
    const EPOCH_SHIFT: u32 = 5;
    const ONE_EPOCH: u64 = 1 << Self::EPOCH_SHIFT;
    const EPOCH: u64 = ((1 << 35) - 1) << Self::EPOCH_SHIFT;
    const INTEREST_SHIFT: u32 = 40;
    const INTEREST: u64 = 0xFFFF << Self::INTEREST_SHIFT;
    const CASCADE_SHIFT: u32 = 56;
    const IN_CASCADE: u64 = 1 << 60;
    const CASCADE: u64 = Self::IN_CASCADE | 0xF << Self::CASCADE_SHIFT;
    const CROWD: u64 = 1 << 61;
    const THREADS: u64 = 1 << 62;
    const TASKS: u64 = 1 << 63;

    pub(super) const fn new(state: u8) -> Self {
        Self(state as u64 & Self::STATE)
    }

    #[inline]
    pub(super) const fn state(self) -> u8 {
        (self.0 & Self::STATE) as u8
    }

    #[inline]
    pub(super) const fn is_closed(self) -> bool {
        self.0 & Self::CLOSED != 0
    }

    /// In this state, and not closed: one masked comparison.
    #[inline]
    pub(super) const fn is_in(self, state: u8) -> bool {
        self.0 & (Self::STATE | Self::CLOSED) == state as u64
    }

    #[inline]
    pub(super) const fn epoch(self) -> u64 {
        (self.0 & Self::EPOCH) >> Self::EPOCH_SHIFT
    }

    /// From one epoch to a later one, modulo 2^35.
    pub(super) const fn epochs_between(earlier: u64, later: u64) -> u64 {
        later.wrapping_sub(earlier) & (Self::EPOCH >> Self::EPOCH_SHIFT)
    }

    /// Epochs from `earlier` until this one, modulo 2^35.
    pub(super) const fn epochs_since(self, earlier: u64) -> u64 {
        Self::epochs_between(earlier, self.epoch())
    }

    /// Whether nobody waits, and it is in this state and not closed: one masked comparison.
    #[inline]
    const fn is_quietly_in(self, state: u8) -> bool {
        self.0 & !Self::EPOCH == state as u64
    }

    /// After a transition between these states: an epoch more, and nobody waits for the new state any more. If a crowd of threads may have,
    /// a cascade has begun, unless another one goes on.
    #[inline]
    pub(super) const fn moved(self, from: u8, to: u8) -> Self {
        if self.is_quietly_in(from) {
            // One addition. What an epoch of all ones carries over is an interest of nobody's, which the next transition to that state clears.
            return Self(self.0.wrapping_add(Self::ONE_EPOCH).wrapping_add(to as u64).wrapping_sub(from as u64));
        }
        if self.is_awaited(to) {
            return self.moved_to_waiters(to);
        }
        Self(self.0.wrapping_add(Self::ONE_EPOCH) & Self::EPOCH | self.0 & !(Self::EPOCH | Self::STATE) | to as u64)
    }

    /// The same, if somebody waits for that state. Apart, so that its constants take no registers of the other ways.
    #[cold]
    #[inline(never)]
    pub(super) const fn moved_to_waiters(self, to: u8) -> Self {
        let interest = self.0 & Self::INTEREST & !Self::interest(1 << to);
        // Without interest, nobody waits that is not woken by this very transition.
        let waiters = if interest == 0 { 0 } else { self.0 & (Self::CROWD | Self::THREADS | Self::TASKS) };
        let cascade =
            if self.begins_cascade(to) { Self::IN_CASCADE | (to as u64) << Self::CASCADE_SHIFT } else { self.0 & Self::CASCADE };
        Self(self.0.wrapping_add(Self::ONE_EPOCH) & Self::EPOCH | to as u64 | interest | cascade | waiters)
    }

    /// Whether a transition to `state` begins a cascade.
    pub(super) const fn begins_cascade(self, state: u8) -> bool {
        self.is_awaited(state) && self.0 & (Self::CROWD | Self::IN_CASCADE) == Self::CROWD
    }

    /// After closing: nobody waits any more.
    pub(super) const fn closed(self) -> Self {
        Self(self.0 & (Self::STATE | Self::EPOCH) | Self::CLOSED)
    }

    /// With a waiter for `states`, one bit a state.
    pub(super) const fn awaited(self, states: u32, waiter: Waiter) -> Self {
        let waiter = match waiter {
            Waiter::Thread if self.has_threads() && self.0 & Self::interest(states) != 0 => Self::CROWD,
            Waiter::Thread => Self::THREADS,
            Waiter::Task => Self::TASKS,
        };
        Self(self.0 | Self::interest(states) | waiter)
    }

    /// The state whose threads wake each other, if there is one.
    pub(super) const fn cascade(self) -> Option<u8> {
        if self.0 & Self::IN_CASCADE == 0 { None } else { Some((self.0 >> Self::CASCADE_SHIFT & 0xF) as u8) }
    }

    /// After a cascade: all of its threads are awake.
    pub(super) const fn without_cascade(self) -> Self {
        Self(self.0 & !Self::CASCADE)
    }

    /// Whether a transition to `state` has somebody to wake.
    #[inline]
    pub(super) const fn is_awaited(self, state: u8) -> bool {
        self.0 & Self::interest(1 << state) != 0
    }

    /// Whether threads may sleep: also those of a cascade, in which nobody else may be interested any more.
    pub(super) const fn has_threads(self) -> bool {
        self.0 & (Self::THREADS | Self::IN_CASCADE) != 0
    }

    pub(super) const fn has_tasks(self) -> bool {
        self.0 & Self::TASKS != 0
    }

    /// Whether anything is left of who waits, or has waited.
    #[cfg(test)]
    pub(super) const fn has_waiters(self) -> bool {
        self.0 & (Self::INTEREST | Self::CASCADE | Self::CROWD | Self::THREADS | Self::TASKS) != 0
    }

    const fn interest(states: u32) -> u64 {
        (states as u64) << Self::INTEREST_SHIFT & Self::INTEREST
    }
}

#[cfg(all(test, not(any(jeton_loom, jeton_shuttle))))]
mod tests {
    use super::*;

    #[test]
    fn a_transition_clears_the_interest_in_its_state_alone() {
        let word = Word::new(1).awaited(0b1100, Waiter::Thread).awaited(0b1000, Waiter::Task);
        let moved = word.moved(1, 2);
        assert_eq!((moved.state(), moved.epoch()), (2, 1));
        assert!(!moved.is_awaited(2) && moved.is_awaited(3) && moved.has_threads() && moved.has_tasks());
        let moved = moved.moved(2, 3);
        assert_eq!(moved, Word(Word::new(3).0 + 2 * Word::ONE_EPOCH));
    }

    #[test]
    fn an_epoch_goes_round_beside_everything_else() {
        let last = Word(Word::EPOCH | 5);
        assert_eq!((last.moved(5, 2).state(), last.moved(5, 2).epoch()), (2, 0));
        assert_eq!(last.moved(5, 2).epochs_since(last.epoch()), 1);
        let awaited = last.awaited(0xFFFF, Waiter::Thread).moved(5, 0);
        assert_eq!(awaited, Word::new(0).awaited(0xFFFE, Waiter::Thread));
        assert_eq!(last.moved(5, 2).moved(2, 0).0 & !Word::EPOCH, 0);
    }

    #[test]
    fn closing_keeps_the_state_and_the_epoch() {
        let word = Word::new(3).moved(3, 7).awaited(0xFF, Waiter::Task);
        let closed = word.closed();
        assert_eq!((closed.state(), closed.epoch(), closed.is_closed(), closed.has_tasks()), (7, 1, true, false));
        assert!(!closed.is_in(7) && word.is_in(7));
    }

    #[test]
    fn every_change_but_interest_shows_in_the_half_that_is_compared() {
        let word = Word::new(4);
        assert_eq!(word.0 as u32, word.awaited(0xFFFF, Waiter::Task).awaited(1, Waiter::Thread).0 as u32);
        for changed in [word.moved(4, 4), word.moved(4, 9), word.closed()] {
            assert_ne!(word.0 as u32, changed.0 as u32);
        }
    }

    #[test]
    fn a_crowd_begins_a_cascade_if_there_is_none() {
        let alone = Word::new(0).awaited(0b110, Waiter::Thread);
        assert_eq!(alone.moved(0, 1).cascade(), None);
        assert_eq!(alone.awaited(0b1000, Waiter::Thread).moved(0, 1).cascade(), None, "nobody else waits for that");
        assert_eq!(alone.awaited(0b110, Waiter::Task).moved(0, 1).cascade(), None, "a task wakes nobody");
        let first = alone.awaited(0b100, Waiter::Thread).moved(0, 1);
        assert_eq!((first.cascade(), first.is_awaited(1), first.is_awaited(2)), (Some(1), false, true));
        let second = first.moved(1, 2);
        assert_eq!((second.cascade(), second.state(), second.epoch()), (Some(1), 2, 2), "the first one goes on");
        assert!(second.has_threads() && second.closed().cascade().is_none());
        assert_eq!(second.without_cascade(), Word(Word::new(2).0 + 2 * Word::ONE_EPOCH));
    }
}
