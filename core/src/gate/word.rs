//! The gate's word, and each change of it as a pure function.

/// `state:4 | closed:1 | awaited:1 | epoch:26`, from the lowest bit.
///
/// The state stands there as its number xor that of the open state, so that a word that is open ends in five zeros.
///
/// | from | to | by |
/// |---|---|---|
/// | a state | another one, an epoch more | a transition |
/// | any | awaited | the first waiter that publishes itself; it stays so |
/// | not closed | closed; state and epoch stay | `close`; nothing comes after it |
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Word(pub(super) u32);

impl Word {
    const STATE: u32 = 0xf;
    const CLOSED: u32 = 1 << 4;
    const AWAITED: u32 = 1 << 5;
    const EPOCH_SHIFT: u32 = 6;
    const ONE_EPOCH: u32 = 1 << Self::EPOCH_SHIFT;
    const EPOCHS: u32 = u32::MAX >> Self::EPOCH_SHIFT;

    /// In the first state, at epoch 0.
    pub(super) const fn first(open: u8) -> Self {
        Self(open as u32 & Self::STATE)
    }

    #[inline(always)]
    pub(super) const fn state(self, open: u8) -> u8 {
        ((self.0 ^ open as u32) & Self::STATE) as u8
    }

    /// In the open state, and not closed.
    #[inline(always)]
    pub(super) const fn is_open(self) -> bool {
        self.0 & (Self::STATE | Self::CLOSED) == 0
    }

    /// In this state, and not closed.
    #[inline(always)]
    pub(super) const fn is_in(self, state: u8, open: u8) -> bool {
        (self.0 ^ (state ^ open) as u32) & (Self::STATE | Self::CLOSED) == 0
    }

    #[inline(always)]
    pub(super) const fn is_closed(self) -> bool {
        self.0 & Self::CLOSED != 0
    }

    #[inline(always)]
    pub(super) const fn is_awaited(self) -> bool {
        self.0 & Self::AWAITED != 0
    }

    /// Transitions so far, modulo 2^26.
    #[inline(always)]
    pub(super) const fn epoch(self) -> u32 {
        self.0 >> Self::EPOCH_SHIFT
    }

    /// Transitions since that epoch, modulo 2^26.
    #[inline(always)]
    pub(super) const fn epochs_since(self, earlier: u32) -> u32 {
        self.epoch().wrapping_sub(earlier) & Self::EPOCHS
    }

    /// After a transition between these states, of a word that is in the first one.
    #[inline(always)]
    pub(super) const fn moved(self, from: u8, to: u8) -> Self {
        // What the epoch's last one carries over falls off.
        Self((self.0 ^ (from ^ to) as u32).wrapping_add(Self::ONE_EPOCH))
    }

    /// After closing, of a word that is not closed.
    #[inline(always)]
    pub(super) const fn closed(self) -> Self {
        Self(self.0 | Self::CLOSED)
    }

    /// With somebody waiting.
    #[inline(always)]
    pub(super) const fn awaited(self) -> Self {
        Self(self.0 | Self::AWAITED)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OPEN: u8 = 5;

    #[test]
    fn a_transition_changes_the_state_and_the_epoch_alone() {
        for (from, to) in [(0, 15), (5, 0), (3, 5), (7, 7)] {
            let word = Word(u32::from(from ^ OPEN) | 9 << Word::EPOCH_SHIFT).awaited();
            let moved = word.moved(from, to);
            assert!(word.is_in(from, OPEN) && moved.is_in(to, OPEN) && moved.is_awaited() && !moved.is_closed());
            assert_eq!((moved.state(OPEN), moved.epoch(), moved.epochs_since(word.epoch())), (to, 10, 1));
            assert_eq!(moved.is_open(), to == OPEN);
        }
    }

    #[test]
    fn the_epoch_wraps_beside_everything_else() {
        let last = Word(u32::MAX << Word::EPOCH_SHIFT | u32::from(2 ^ OPEN));
        let moved = last.moved(2, 5);
        assert_eq!((moved, moved.epochs_since(last.epoch())), (Word(0), 1));
    }

    #[test]
    fn what_is_closed_is_in_no_state_and_keeps_its_last_one_and_the_epoch() {
        let closed = Word::first(OPEN).moved(0, 5).closed();
        assert!(!closed.is_open() && !closed.is_in(5, OPEN) && closed.is_closed());
        assert_eq!((closed.state(OPEN), closed.epoch(), closed), (5, 1, closed.closed()));
    }
}
