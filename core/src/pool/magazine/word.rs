//! The packed words, as values with named bits: pure functions, which every atomic operation applies as a whole.

use super::magazines::CACHE;

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

/// What a user's word is made of: as wide as a pointer, so that its version hardly ever comes round.
#[cfg(target_pointer_width = "64")]
pub(super) type UserBits = u64;
#[cfg(not(target_pointer_width = "64"))]
pub(super) type UserBits = u32;

/// A stealable user's word.
///
/// | bits | field |
/// |---|---|
/// | 0–7 | 0 ..= [`CACHE`]: the IDs it has; 255: somebody is inside, who keeps the word meanwhile |
/// | 8– | version: how often the IDs have changed, modulo 2^56, or 2^24 where pointers have 32 bits |
///
/// Nothing in here takes a place of its own for "somebody is inside": one comparison finds both that and an empty, or a full, user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct UserWord(pub UserBits);

impl UserWord {
    /// What whoever enters puts in.
    pub const INSIDE: Self = Self(0xff);
    const VERSION: UserBits = 0x100;

    const fn low(self) -> u8 {
        self.0 as u8
    }

    /// Somebody is inside.
    pub const fn is_busy(self) -> bool {
        self.low() == Self::INSIDE.low()
    }

    /// How many IDs there are; 0 if somebody is inside.
    pub const fn count(self) -> usize {
        if self.is_busy() { 0 } else { self.low() as usize }
    }

    /// The place of the last ID. `None` if there is none, or somebody is inside.
    #[inline(always)]
    pub fn last(self) -> Option<usize> {
        Some(usize::from(self.low().wrapping_sub(1))).filter(|last| *last < CACHE)
    }

    /// The place for one more ID. `None` if all are taken, or somebody is inside.
    #[inline(always)]
    pub fn room(self) -> Option<usize> {
        Some(usize::from(self.low())).filter(|count| *count < CACHE)
    }

    /// One ID less. Only if there is one.
    #[inline(always)]
    pub const fn popped(self) -> Self {
        Self(self.0.wrapping_add(Self::VERSION - 1))
    }

    /// One ID more. Only if there is room.
    #[inline(always)]
    pub const fn pushed(self) -> Self {
        Self(self.0.wrapping_add(Self::VERSION + 1))
    }

    /// The empty user with `count` IDs, at most [`CACHE`], and the same version: for whoever pops one of them at once.
    pub const fn filled(self, count: usize) -> Self {
        Self(self.0 | count as UserBits)
    }

    /// So many IDs, at most [`CACHE`].
    pub const fn with_count(self, count: usize) -> Self {
        Self((self.0 & !0xff | count as UserBits).wrapping_add(Self::VERSION))
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
        let three = UserWord(0x703);
        assert_eq!((three.popped(), three.pushed(), three.with_count(1)), (UserWord(0x802), UserWord(0x804), UserWord(0x801)));
        assert_eq!(UserWord(UserBits::MAX - 0xff).pushed(), UserWord(1), "the version wraps and leaves the count alone");
    }

    #[test]
    fn one_comparison_finds_the_ends_and_whoever_is_inside() {
        let ends = |low| (UserWord(0x700 | low).last(), UserWord(0x700 | low).room());
        let full = CACHE as UserBits;
        assert_eq!(ends(0), (None, Some(0)));
        assert_eq!(ends(1), (Some(0), Some(1)));
        assert_eq!(ends(full - 1), (Some(CACHE - 2), Some(CACHE - 1)));
        assert_eq!(ends(full), (Some(CACHE - 1), None));
        assert_eq!(ends(0xff), (None, None));
        assert_eq!((UserWord::INSIDE.is_busy(), UserWord::INSIDE.count(), UserWord(full).count()), (true, 0, CACHE));
    }
}
