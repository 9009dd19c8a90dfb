//! The packed words, as values with named bits: pure functions, which every atomic operation applies as a whole.

/// The depot's word: how many calls are moving blocks, and how many have.
///
/// | bits | field |
/// |---|---|
/// | 0–11 | in flight: calls between their first and last step on blocks |
/// | 12–31 | epoch: calls that have ended, modulo 2^20 |
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct DepotWord(pub u32);

impl DepotWord {
    const EPOCH: u32 = 1 << 12;
    /// Added when a call begins to move a block.
    pub const BEGIN: u32 = 1;
    /// Added when it has ended: one less in flight, one epoch more.
    pub const END: u32 = Self::EPOCH - Self::BEGIN;

    /// Nobody is moving a block.
    pub const fn is_quiet(self) -> bool {
        self.0.is_multiple_of(Self::EPOCH)
    }
}

/// A stealable user's word: bit 0 says that somebody is inside, the others count what has been changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Version(pub u32);

impl Version {
    /// The bit that whoever enters sets.
    pub const BUSY: u32 = 1;

    /// Somebody is inside.
    pub const fn is_busy(self) -> bool {
        self.0 & Self::BUSY != 0
    }

    /// Outside again, with changes: the carry out of the busy bit is the next version.
    pub const fn after_change(self) -> Self {
        Self(self.0.wrapping_add(1))
    }

    /// Outside again, with everything as it was.
    pub const fn unchanged(self) -> Self {
        Self(self.0 & !Self::BUSY)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_epoch_passes_for_each_call_that_ends() {
        let begun = DepotWord(DepotWord::BEGIN);
        assert!(DepotWord(0).is_quiet() && !begun.is_quiet());
        let ended = DepotWord(begun.0 + DepotWord::END);
        assert!(ended.is_quiet() && ended != DepotWord(0));
        let last = DepotWord((u32::MAX - 0xfff).wrapping_add(DepotWord::BEGIN).wrapping_add(DepotWord::END));
        assert_eq!(last, DepotWord(0), "the epoch wraps and leaves the calls in flight alone");
    }

    #[test]
    fn a_version_changes_with_what_it_guards() {
        let inside = Version(6 | Version::BUSY);
        assert!(inside.is_busy());
        assert_eq!((inside.unchanged(), inside.after_change()), (Version(6), Version(8)));
        assert_eq!(Version(u32::MAX).after_change(), Version(0));
    }
}
