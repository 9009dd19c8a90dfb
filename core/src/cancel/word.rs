//! The state word.

use super::status::{Reason, Status};

/// The state word of a source, and of a node of a tree.
///
/// | bits | name | meaning |
/// |---|---|---|
/// | 0 | canceled | with the reason, in one step |
/// | 1 | dismissed | never together with *canceled* |
/// | 2 | notifying | who has set *canceled* or *visited* is not done with it |
/// | 3 | visited | dismissed, and a cancel has gone through it to what is below |
/// | 4 | has registrations | somebody has armed a slot |
/// | 5 | has children | somebody has put a node below |
/// | 6 | timed | there is a deadline |
/// | 7 | in use | a node: not free |
/// | 8 | released | a node: the last one who had it has gone |
/// | 9 to 16 | reason | of the cancel |
/// | 17 to 31 | link | a node, and 1 more than its number: its parent; once marked, the root of the cancel that has marked it. 0: none |
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Word(pub(super) u32);

const REASON_SHIFT: u32 = 9;
const REASON: u32 = 0xff << REASON_SHIFT;
const LINK_SHIFT: u32 = 17;
const LINK: u32 = u32::MAX << LINK_SHIFT;

impl Word {
    pub(super) const CANCELED: u32 = 1;
    pub(super) const DISMISSED: u32 = 1 << 1;
    pub(super) const NOTIFYING: u32 = 1 << 2;
    pub(super) const VISITED: u32 = 1 << 3;
    pub(super) const HAS_REGISTRATIONS: u32 = 1 << 4;
    pub(super) const HAS_CHILDREN: u32 = 1 << 5;
    pub(super) const TIMED: u32 = 1 << 6;
    pub(super) const IN_USE: u32 = 1 << 7;
    pub(super) const RELEASED: u32 = 1 << 8;

    pub(super) const fn has(self, flags: u32) -> bool {
        self.0 & flags != 0
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

    pub(super) const fn reason(self) -> Reason {
        Reason(((self.0 & REASON) >> REASON_SHIFT) as u8)
    }

    /// The node's number that the link names.
    pub(super) const fn link(self) -> Option<usize> {
        match (self.0 >> LINK_SHIFT).checked_sub(1) {
            Some(number) => Some(number as usize),
            None => None,
        }
    }

    /// The same with this link.
    pub(super) const fn linked(self, number: usize) -> Self {
        Self(self.0 & !LINK | (number as u32 + 1) << LINK_SHIFT)
    }

    /// Canceled.
    pub(super) const fn canceled(self, reason: Reason) -> Self {
        self.marked(Self::CANCELED, (reason.0 as u32) << REASON_SHIFT | self.0 & LINK)
    }

    /// Of a node below a marked one, with its reason and its root: canceled; or, if it is dismissed, visited.
    pub(super) const fn below(self, above: Self) -> Self {
        let mark = if self.has(Self::DISMISSED) { Self::VISITED } else { Self::CANCELED };
        self.marked(mark, above.0 & (REASON | LINK))
    }

    /// *Notifying*, if there is anybody to be told, or anything below.
    const fn marked(self, mark: u32, reason_and_link: u32) -> Self {
        let notifying = if self.has(Self::HAS_REGISTRATIONS | Self::HAS_CHILDREN) { Self::NOTIFYING } else { 0 };
        Self(self.0 & !(REASON | LINK) | reason_and_link | mark | notifying)
    }

    /// Whether the cancel with this root has marked it, and is not done with it.
    pub(super) const fn is_marked_by(self, root: usize) -> bool {
        self.0 & (LINK | Self::NOTIFYING) == Self(Self::NOTIFYING).linked(root).0
    }

    /// Whether a cancel has come to it.
    pub(super) const fn is_marked(self) -> bool {
        self.has(Self::CANCELED | Self::VISITED)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flag_and_reason_come_in_one_word() {
        for number in [0, 1, 16, 255] {
            let word = Word(Word::IN_USE).linked(32_766).canceled(Reason::new(number));
            assert_eq!(word.status(), Status::Canceled(Reason::new(number)));
            assert_eq!((word.link(), word.has(Word::NOTIFYING)), (Some(32_766), false));
        }
        assert_eq!((Word(0).status(), Word(0).link()), (Status::Active, None));
    }

    #[test]
    fn a_dismissed_word_stays_dismissed_when_a_cancel_goes_through_it() {
        let above = Word(Word::HAS_CHILDREN).canceled(Reason::DEADLINE).linked(7);
        let word = Word(Word::DISMISSED | Word::HAS_CHILDREN).linked(0).below(above);
        assert_eq!((word.status(), word.reason(), word.link()), (Status::Dismissed, Reason::DEADLINE, Some(7)));
        assert!(word.is_marked() && word.has(Word::NOTIFYING));
        assert!(!Word(Word::DISMISSED).below(above).has(Word::NOTIFYING));
    }

    #[test]
    fn a_mark_has_the_reason_and_the_root_of_the_one_above() {
        let above = Word(Word::HAS_CHILDREN | Word::HAS_REGISTRATIONS).canceled(Reason::new(200)).linked(32_766);
        let word = Word(Word::IN_USE | Word::TIMED).linked(12).below(above);
        assert_eq!((word.status(), word.link()), (Status::Canceled(Reason::new(200)), Some(32_766)));
        assert!(word.has(Word::IN_USE) && word.has(Word::TIMED) && !word.has(Word::HAS_CHILDREN | Word::NOTIFYING));
        assert!(Word(Word::HAS_REGISTRATIONS).below(above).has(Word::NOTIFYING));
    }
}
