//! A cancel of a node with all below it: first everything is marked, then everybody is told.

use super::{
    super::{
        inner::{EntrySlot, Inner, Notify},
        status::Reason,
        word::Word,
    },
    Tree,
    place::{Ending, Place},
};
use crate::ord;

impl<const NODES: usize, const SLOTS: usize> Tree<NODES, SLOTS> {
    pub(super) fn cancel(&self, root: usize, reason: Reason) -> bool {
        let Some(place) = self.places.get(root) else { return false };
        let inner: &Inner<[EntrySlot]> = &place.inner;
        let Some(before) = inner.settle(|word| word.canceled(reason).linked(root)) else { return false };
        if !before.has(Word::HAS_CHILDREN | Word::HAS_REGISTRATIONS) {
            return true;
        }
        let mut marked = Marked { tree: self, root, left: 1, next: root };
        if before.has(Word::HAS_CHILDREN) {
            self.mark_below(&mut marked, place.has_lower_children());
        }
        marked.notify();
        true
    }

    /// Marks all below the root, but for what another cancel has marked, before anybody is told.
    ///
    /// A pass in the order of the numbers meets all whose parents have lower numbers. It is repeated while it has marked a parent of
    /// others: those are children that had been born before their parent's mark, which therefore sees that there are any. Children
    /// that are born later see the mark.
    fn mark_below(&self, marked: &mut Marked<'_, NODES, SLOTS>, mut lower: bool) {
        let root = marked.root;
        loop {
            let first = if lower { 0 } else { root + 1 };
            lower = false;
            for number in first..NODES {
                if let Some(place) = self.places.get(number)
                    && let Some(mark) = self.mark(place, root)
                    && mark.has(Word::NOTIFYING)
                {
                    marked.add(number);
                    if place.has_lower_children() {
                        lower = true;
                    }
                }
            }
            if !lower {
                return;
            }
        }
    }

    /// Marks a node if it is below one that the running cancel of `root` has marked; the mark, if this call has made it.
    ///
    /// The one above is *notifying* until this cancel is done with it, and cannot be freed. So a node that names it as parent is a child of
    /// it, whichever node that number was before (T3).
    #[inline]
    fn mark(&self, place: &Place<SLOTS>, root: usize) -> Option<Word> {
        let mut word = Word(place.inner.word.load(ord!("cancel-33", Relaxed)));
        while !word.has(Word::CANCELED | Word::VISITED | Word::RELEASED) {
            let mark = word.below(self.marked(word.link()?, root)?);
            // Release pairs with `look` and the one at a birth, Acquire with `publish` and with births (cancel-22).
            match place.inner.word.compare_exchange(word.0, mark.0, ord!("cancel-34", AcqRel), ord!("cancel-35", Relaxed)) {
                Ok(_) => return Some(mark),
                Err(found) => word = Word(found),
            }
        }
        None
    }

    /// The word of a node, if the running cancel of `root` has marked it and is not done with it.
    #[inline]
    fn marked(&self, number: usize, root: usize) -> Option<Word> {
        // It has written that itself.
        let word = Word(self.places.get(number)?.inner.word.load(ord!("cancel-36", Relaxed)));
        word.is_marked_by(root).then_some(word)
    }
}

/// The nodes that a cancel has marked and has not told yet: so many of those from `next` on that say so.
struct Marked<'t, const NODES: usize, const SLOTS: usize> {
    tree: &'t Tree<NODES, SLOTS>,
    root: usize,
    left: usize,
    next: usize,
}

impl<const NODES: usize, const SLOTS: usize> Marked<'_, NODES, SLOTS> {
    fn add(&mut self, number: usize) {
        self.left += 1;
        if number < self.next {
            self.next = number;
        }
    }

    fn notify(&mut self) {
        while self.left > 0
            && let Some(place) = self.tree.places.get(self.next)
        {
            let number = self.next;
            self.next += 1;
            if let Some(word) = self.tree.marked(number, self.root) {
                self.left -= 1;
                let _end = Unpin { tree: self.tree, number, place };
                if word.has(Word::CANCELED) && word.has(Word::HAS_REGISTRATIONS) {
                    Notify::all_of(&place.inner, true).run();
                }
            }
        }
    }
}

impl<const NODES: usize, const SLOTS: usize> Drop for Marked<'_, NODES, SLOTS> {
    /// If a callback or a waker has panicked, the others still get their turn.
    fn drop(&mut self) {
        self.notify();
    }
}

/// Ends the cancel's use of a node that it has marked, also if a callback has panicked.
struct Unpin<'t, const NODES: usize, const SLOTS: usize> {
    tree: &'t Tree<NODES, SLOTS>,
    number: usize,
    place: &'t Place<SLOTS>,
}

impl<const NODES: usize, const SLOTS: usize> Drop for Unpin<'_, NODES, SLOTS> {
    #[inline]
    fn drop(&mut self) {
        // A subtraction, since the bit is set, and this alone takes it away.
        let before = Word(self.place.inner.word.fetch_add(Word::NOTIFYING.wrapping_neg(), ord!("cancel-28", AcqRel)));
        if before.has(Word::RELEASED) {
            Ending::of_last(self.tree, self.number, self.place);
        }
    }
}
