//! A slot's word, and a registration's handle.

use core::num::NonZeroU32;

/// Who may touch a slot's payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// There is none. The slot is free, or reserved by whoever has set its bit.
    Empty,
    /// There is one, which belongs to whoever takes the word out of this state.
    Armed,
    /// Its runner has taken it.
    Running,
    /// Its run is over, or its owner has taken it; the owner may put another one in.
    Done,
}

/// The word of a slot.
///
/// | bits | name | meaning |
/// |---|---|---|
/// | 0, 1 | state | [`State`] |
/// | 2 | detached | nobody owns the slot: whoever ends its run frees it |
/// | 3, 4, 5 | – | 0 |
/// | 6 to 31 | generation | how many registrations of the slot have ended, modulo 2^26 |
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SlotWord(pub(super) u32);

const STATE: u32 = 0b11;
const ARMED: u32 = 1;
const RUNNING: u32 = 2;
const DONE: u32 = 3;
const DETACHED: u32 = 1 << 2;
const GENERATION_SHIFT: u32 = 6;
const GENERATION: u32 = u32::MAX << GENERATION_SHIFT;
/// Where a handle has its slot's number.
const INDEX: u32 = (1 << 5) - 1;
/// Set in every handle, so that none is 0.
const HANDLE: NonZeroU32 = NonZeroU32::new(1 << 5).unwrap();

impl SlotWord {
    /// What the owner adds to detach, once.
    pub(super) const DETACH: u32 = DETACHED;
    /// What a runner adds to end its run.
    pub(super) const END: u32 = DONE - RUNNING;

    pub(super) const fn state(self) -> State {
        match self.0 & STATE {
            ARMED => State::Armed,
            RUNNING => State::Running,
            DONE => State::Done,
            _ => State::Empty,
        }
    }

    pub(super) const fn is_armed(self) -> bool {
        self.0 & STATE == ARMED
    }

    pub(super) const fn is_detached(self) -> bool {
        self.0 & DETACHED != 0
    }

    /// From *empty* or *done*: armed.
    pub(super) const fn armed(self) -> Self {
        Self(self.0 & !STATE | ARMED)
    }

    /// From *armed*: running.
    pub(super) const fn running(self) -> Self {
        Self(self.0 + (RUNNING - ARMED))
    }

    /// From *armed*: done.
    pub(super) const fn done(self) -> Self {
        Self(self.0 + (DONE - ARMED))
    }

    /// Empty, with the next generation.
    pub(super) const fn emptied(self) -> Self {
        Self((self.0 & GENERATION).wrapping_add(1 << GENERATION_SHIFT))
    }

    /// The handle of the registration that the slot with this number has now, or gets next.
    pub(super) fn handle(self, index: u32) -> Handle {
        Handle(HANDLE | (self.0 & GENERATION | index & INDEX))
    }

    pub(super) const fn is_of(self, handle: Handle) -> bool {
        (self.0 ^ handle.0.get()) & GENERATION == 0
    }
}

/// A registration: the number of its slot and the slot's generation, in one word.
///
/// A handle that is kept for longer than its registration is refused, until the slot has had 2^26 − 1 more of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Handle(NonZeroU32);

impl Handle {
    /// The number of the slot.
    #[inline]
    pub const fn index(self) -> u32 {
        self.0.get() & INDEX
    }

    /// The slot's word while the registration is armed and not detached.
    pub(super) const fn armed(self) -> SlotWord {
        SlotWord(self.0.get() & GENERATION | ARMED)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_handle_is_of_its_generation_in_every_state_until_the_end() {
        let word = SlotWord(0).emptied().armed();
        let handle = word.handle(31);
        assert_eq!((handle.index(), handle.armed()), (31, word));
        let detached = SlotWord(word.0 + SlotWord::DETACH);
        for state in [word, word.running(), detached, detached.running(), word.done(), word.done().armed()] {
            assert!(state.is_of(handle), "{state:?}");
        }
        assert!(!word.emptied().is_of(handle) && !word.emptied().armed().is_of(handle) && !SlotWord(0).is_of(handle));
    }

    #[test]
    fn a_generation_has_the_word_to_itself_up_to_the_wrap() {
        let mut word = SlotWord(GENERATION);
        assert_eq!(word.armed().handle(0).armed(), word.armed());
        word = word.armed().done().emptied();
        assert_eq!((word, word.handle(0).index()), (SlotWord(0), 0));
    }

    #[test]
    fn a_mark_survives_what_a_runner_does_and_goes_with_the_registration() {
        let word = SlotWord(SlotWord(0).armed().0 + SlotWord::DETACH);
        let ended = SlotWord(word.running().0 + SlotWord::END);
        assert!(word.is_armed() && word.running().is_detached() && ended.is_detached());
        assert!(!word.emptied().is_detached() && !ended.emptied().is_detached());
        assert_eq!((word.running().state(), ended.state(), ended.emptied().state()), (State::Running, State::Done, State::Empty));
        assert_eq!(SlotWord(0).armed().done().armed(), SlotWord(0).armed());
    }
}
