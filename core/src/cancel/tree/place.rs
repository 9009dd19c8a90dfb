//! A node's place in the arena, and how it becomes free.

use super::{
    super::{
        inner::{EntrySlot, Inner},
        word::Word,
    },
    Tree,
};
use crate::{
    ord,
    sync::{AtomicU32, OwnerU32},
};

/// One node: a source, and its place in the hierarchy.
pub(super) struct Place<const SLOTS: usize> {
    pub(super) inner: Inner<[EntrySlot; SLOTS]>,
    /// Low half: its handle, if that is not dropped, and its children. High half: how many of these children have lower numbers.
    pub(super) users: AtomicU32,
    /// 1 more than the number of its parent; 0 for a root. Written by the one who has just claimed the node.
    pub(super) parent: OwnerU32,
}

/// A child with a lower number, in `users`.
const LOWER: u32 = 1 << 16;

/// What a child is in its parent's `users`.
pub(super) fn use_by(child: usize, parent: usize) -> u32 {
    if child < parent { LOWER + 1 } else { 1 }
}

impl<const SLOTS: usize> Place<SLOTS> {
    /// Whether it has children with lower numbers, of those that were born before the caller's mark.
    pub(super) fn has_lower_children(&self) -> bool {
        self.users.load(ord!("cancel-29", Relaxed)) >= LOWER
    }
}

/// The end of a use of a node; if that frees the node, of its use of its parent, and so on upwards. Also if a waker panics on the way.
pub(super) struct Ending<'t, const NODES: usize, const SLOTS: usize> {
    pub(super) tree: &'t Tree<NODES, SLOTS>,
    /// A node, and the use of it that ends.
    pub(super) next: Option<(usize, u32)>,
}

impl<'t, const NODES: usize, const SLOTS: usize> Ending<'t, NODES, SLOTS> {
    /// Frees a node that nobody uses, with all above that nobody uses then.
    #[cold]
    pub(super) fn of_last(tree: &'t Tree<NODES, SLOTS>, number: usize, place: &Place<SLOTS>) {
        let mut ending = Self { tree, next: None };
        ending.free(number, place);
        ending.run();
    }

    pub(super) fn run(&mut self) {
        while let Some((number, used)) = self.next.take()
            && let Some(place) = self.tree.places.get(number)
        {
            // Release and Acquire pair among the users: the last one sees what the others have done.
            if place.users.fetch_add(used.wrapping_neg(), ord!("cancel-26", AcqRel)) != used {
                return;
            }
            // Whoever comes second, this or the end of the cancel that is at it, frees it. The bit is not set: this is its last user.
            let before = Word(place.inner.word.fetch_add(Word::RELEASED, ord!("cancel-27", AcqRel)));
            if before.has(Word::NOTIFYING) {
                return;
            }
            self.free(number, place);
        }
    }

    /// Frees a node that nobody uses; next, its parent loses a user.
    fn free(&mut self, number: usize, place: &Place<SLOTS>) {
        let parent = place.parent.load(ord!("cancel-30", Relaxed)).checked_sub(1);
        self.next = parent.map(|parent| (parent as usize, use_by(number, parent as usize)));
        let _free = Free { tree: self.tree, number, place };
        let inner: &Inner<[EntrySlot]> = &place.inner;
        // What was forgotten there is dropped.
        // SAFETY: the node's handle is gone, and with it all that borrowed it; no cancel is at it (T2).
        unsafe { inner.slots.clear() };
    }
}

impl<const NODES: usize, const SLOTS: usize> Drop for Ending<'_, NODES, SLOTS> {
    fn drop(&mut self) {
        self.run();
    }
}

/// A node that is free when this is dropped.
struct Free<'t, const NODES: usize, const SLOTS: usize> {
    tree: &'t Tree<NODES, SLOTS>,
    number: usize,
    place: &'t Place<SLOTS>,
}

impl<const NODES: usize, const SLOTS: usize> Drop for Free<'_, NODES, SLOTS> {
    fn drop(&mut self) {
        // Release pairs with `claim`. Nobody else changes a word that is released.
        self.place.inner.word.store(0, ord!("cancel-31", Release));
        self.tree.freed.store(self.number as u32, ord!("cancel-32", Relaxed));
    }
}
