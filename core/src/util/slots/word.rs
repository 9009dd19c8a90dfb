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
/// | 3, 4 | – | 0 |
/// | 5 to 31 | generation | how many registrations the slot has had, modulo 2^27; never 0 while there is one |
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SlotWord(pub(super) u32);

const STATE: u32 = 0b11;
const ARMED: u32 = 1;
const RUNNING: u32 = 2;
const DONE: u32 = 3;
const DETACHED: u32 = 1 << 2;
const GENERATION_SHIFT: u32 = 5;
const GENERATION: u32 = u32::MAX << GENERATION_SHIFT;
/// Where a handle has its slot's number and the word its state.
const INDEX: u32 = !GENERATION;

impl SlotWord {
    /// What `fetch_or` sets to detach.
    pub(super) const DETACH: u32 = DETACHED;

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

    /// Armed, for the slot's next registration.
    pub(super) const fn next_armed(self) -> Self {
        let next = (self.0 & GENERATION).wrapping_add(1 << GENERATION_SHIFT);
        // 0 is no generation, so that no handle is 0.
        Self(if next == 0 { 1 << GENERATION_SHIFT | ARMED } else { next | ARMED })
    }

    /// Armed again, for the same registration.
    pub(super) const fn armed(self) -> Self {
        self.with(ARMED)
    }

    pub(super) const fn running(self) -> Self {
        self.with(RUNNING)
    }

    pub(super) const fn done(self) -> Self {
        self.with(DONE)
    }

    pub(super) const fn detached(self) -> Self {
        Self(self.0 | DETACHED)
    }

    /// Empty; of what was there only the generation stays.
    pub(super) const fn emptied(self) -> Self {
        Self(self.0 & GENERATION)
    }

    const fn with(self, state: u32) -> Self {
        Self(self.0 & !STATE | state)
    }

    /// The handle of the registration that the slot with this number has now; `None` if it has never had one.
    pub(super) fn handle(self, index: u32) -> Option<Handle> {
        Some(Handle(NonZeroU32::new(self.0 & GENERATION)? | index & INDEX))
    }

    pub(super) const fn is_of(self, handle: Handle) -> bool {
        (self.0 ^ handle.0.get()) & GENERATION == 0
    }
}

/// A registration: the number of its slot and the slot's generation, in one word.
///
/// A handle that is kept for longer than its registration is refused, until the slot has had 2^27 − 1 more of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Handle(NonZeroU32);

impl Handle {
    /// The number of the slot.
    #[inline]
    pub const fn index(self) -> u32 {
        self.0.get() & INDEX
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_handle_is_of_its_generation_in_every_state() {
        let word = SlotWord(0).next_armed();
        let handle = word.handle(31).expect("a generation");
        assert_eq!(handle.index(), 31);
        for state in [word, word.running(), word.running().detached(), word.done(), word.done().armed(), word.emptied()] {
            assert!(state.is_of(handle), "{state:?}");
        }
        assert!(!word.emptied().next_armed().is_of(handle));
        assert!(!SlotWord(0).is_of(handle) && SlotWord(0).handle(3).is_none());
    }

    #[test]
    fn no_generation_is_0_after_the_wrap() {
        let last = SlotWord(GENERATION | DONE);
        assert_eq!(last.next_armed().handle(0), SlotWord(0).next_armed().handle(0));
    }

    #[test]
    fn a_mark_survives_what_a_runner_does_and_goes_with_the_registration() {
        let word = SlotWord(0).next_armed().detached();
        assert!(word.is_armed() && word.running().is_detached() && word.done().is_detached());
        assert!(!word.emptied().is_detached() && !word.next_armed().is_detached());
        assert_eq!(word.running().state(), State::Running);
        assert_eq!(word.emptied().state(), State::Empty);
        assert_eq!((word.done().state(), word.done().armed().state()), (State::Done, State::Armed));
    }
}
