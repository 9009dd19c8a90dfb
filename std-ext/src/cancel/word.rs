//! The state word.

use jeton_core::cancel::{Reason, Status};

/// The state word of a node.
///
/// | bits | name | meaning |
/// |---|---|---|
/// | 0 | canceled | with the reason, in one step |
/// | 1 | dismissed | its last source has gone; never together with *canceled* |
/// | 2 | visited | dismissed, and a cancel has come through it to what is below |
/// | 3 | notifying | who has set *canceled* or *visited* is not done with it, or with what is below |
/// | 4 | has registrations | somebody has armed a slot with a callback or a waker |
/// | 5 | has children | somebody has armed a slot with a child |
/// | 6 | unpinned | the cancel that has taken it out of its parent's slot is done with it |
/// | 7 | released | its last user has gone, and found it taken out of that slot |
/// | 8 | awaited | a thread sleeps until it is no longer *notifying* |
/// | 9 | linked | it has a parent, from its birth on |
/// | 16 to 23 | reason | of the cancel |
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Word(pub(super) u32);

const REASON_SHIFT: u32 = 16;
const REASON: u32 = 0xff << REASON_SHIFT;

impl Word {
    pub(super) const ACTIVE: Self = Self(0);
    pub(super) const CANCELED: u32 = 1;
    pub(super) const DISMISSED: u32 = 1 << 1;
    pub(super) const VISITED: u32 = 1 << 2;
    pub(super) const NOTIFYING: u32 = 1 << 3;
    pub(super) const HAS_REGISTRATIONS: u32 = 1 << 4;
    pub(super) const HAS_CHILDREN: u32 = 1 << 5;
    pub(super) const UNPINNED: u32 = 1 << 6;
    pub(super) const RELEASED: u32 = 1 << 7;
    pub(super) const AWAITED: u32 = 1 << 8;
    pub(super) const LINKED: u32 = 1 << 9;

    pub(super) const fn has(self, flags: u32) -> bool {
        self.0 & flags != 0
    }

    pub(super) const fn has_all(self, flags: u32) -> bool {
        self.0 & flags == flags
    }

    pub(super) const fn with(self, flags: u32) -> Self {
        Self(self.0 | flags)
    }

    pub(super) const fn status(self) -> Status {
        if self.has(Self::CANCELED) {
            Status::Canceled(self.reason())
        } else if self.has(Self::DISMISSED) {
            Status::Dismissed
        } else {
            Status::Active
        }
    }

    pub(super) const fn is_active(self) -> bool {
        !self.has(Self::CANCELED | Self::DISMISSED)
    }

    /// Whether a cancel has come to it.
    pub(super) const fn is_marked(self) -> bool {
        self.has(Self::CANCELED | Self::VISITED)
    }

    pub(super) const fn reason(self) -> Reason {
        Reason::new(((self.0 & REASON) >> REASON_SHIFT) as u8)
    }

    /// Of one that is not marked, and so has no reason: canceled, or dismissed and visited. *Notifying*, if there may be anybody to be told.
    #[inline]
    pub(super) const fn marked(self, reason: Reason) -> Self {
        let mark = if self.has(Self::DISMISSED) { Self::VISITED } else { Self::CANCELED };
        let notifying = if self.may_have_others() { Self::NOTIFYING } else { 0 };
        self.with((reason.number() as u32) << REASON_SHIFT | mark | notifying)
    }

    /// Of one that is active, and has others to be told.
    #[inline]
    pub(super) const fn canceled(self, reason: Reason) -> Self {
        self.with((reason.number() as u32) << REASON_SHIFT | Self::CANCELED | Self::NOTIFYING)
    }

    pub(super) const fn may_have_others(self) -> bool {
        self.has(Self::HAS_REGISTRATIONS | Self::HAS_CHILDREN)
    }
}

#[cfg(all(test, not(any(jeton_loom, jeton_shuttle))))]
mod tests {
    use super::*;

    #[test]
    fn flag_and_reason_come_in_one_word() {
        for number in [0, 1, 16, 255] {
            let word = Word::ACTIVE.with(Word::AWAITED).marked(Reason::new(number));
            assert_eq!((word.status(), word.is_marked()), (Status::Canceled(Reason::new(number)), true));
            assert!(!word.has(Word::NOTIFYING) && !word.is_active());
        }
        assert_eq!((Word::ACTIVE.status(), Word::ACTIVE.is_active()), (Status::Active, true));
    }

    #[test]
    fn a_dismissed_word_stays_dismissed_when_a_cancel_goes_through_it() {
        let word = Word(Word::DISMISSED | Word::HAS_CHILDREN).marked(Reason::DEADLINE);
        assert_eq!((word.status(), word.reason(), word.is_marked()), (Status::Dismissed, Reason::DEADLINE, true));
        assert!(word.has(Word::NOTIFYING));
        assert!(!Word(Word::DISMISSED).marked(Reason::REQUESTED).has(Word::NOTIFYING));
    }
}
