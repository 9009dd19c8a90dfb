//! `Tree`: a hierarchy of sources in a fixed arena.

mod mark;
mod place;

use core::{fmt, ops::Range};

use super::{
    error::NoNode,
    inner::{EntrySlot, Inner},
    status::{Reason, Status},
    token::Token,
    word::Word,
};
use crate::{
    array, const_fn, ord,
    sync::{AtomicU32, OwnerU32},
};
use place::{Ending, Place, use_by};

/// Up to `NODES` sources, at most 32,767, each with `SLOTS` slots, at most 32. Canceling one cancels all below it.
///
/// # Examples
/// ```
/// use jeton_core::cancel::{Reason, Tree};
///
/// static TREE: Tree<8, 2> = Tree::new(); // zero bytes in .bss
/// let server = TREE.root().expect("a free node");
/// let connection = server.child().expect("a free node");
/// let request = connection.child().expect("a free node");
/// assert!(connection.cancel_with(Reason::new(20)));
/// assert!(request.token().is_canceled() && !server.token().is_canceled());
/// ```
pub struct Tree<const NODES: usize, const SLOTS: usize = 1> {
    places: [Place<SLOTS>; NODES],
    /// The node that was freed last: where to look for a free one first. A hint.
    freed: AtomicU32,
    /// From where to look on then. A hint.
    hint: AtomicU32,
}

/// A node of a tree. Dropping it dismisses it; a cancel still goes through it to its children.
///
/// Forgetting it ([`core::mem::forget`]) strands the node, and the nodes above it.
#[must_use = "dropping a node dismisses it"]
pub struct Node<'t, const NODES: usize, const SLOTS: usize = 1> {
    tree: &'t Tree<NODES, SLOTS>,
    inner: &'t Inner<[EntrySlot]>,
    number: usize,
}

impl<const NODES: usize, const SLOTS: usize> Tree<NODES, SLOTS> {
    const_fn! {
        /// All nodes free.
        pub const fn new() -> Self {
            const { assert!(NODES < 1 << 15, "a tree has at most 32,767 nodes") };
            Self {
                places: array![
                    Place { inner: Inner::new(Word(0)), users: AtomicU32::new(0), parent: OwnerU32::new(0) };
                    NODES
                ],
                freed: AtomicU32::new(0),
                hint: AtomicU32::new(0),
            }
        }
    }

    /// A node without a parent. Lock-free.
    ///
    /// # Errors
    /// [`NoNode`] if all nodes seemed taken, looked at one after another.
    pub fn root(&self) -> Result<Node<'_, NODES, SLOTS>, NoNode> {
        let (number, place) = self.claim(0..NODES, 0)?;
        Ok(Node { tree: self, inner: &place.inner, number })
    }

    /// Claims a free node of these numbers; it has no link yet, so that no cancel comes to it.
    fn claim(&self, numbers: Range<usize>, parent: u32) -> Result<(usize, &Place<SLOTS>), NoNode> {
        let freed = self.freed.load(ord!("cancel-12", Relaxed)) as usize;
        if numbers.contains(&freed)
            && let Some(place) = self.claim_this(freed, parent)
        {
            return Ok((freed, place));
        }
        let from = (self.hint.load(ord!("cancel-13", Relaxed)) as usize).clamp(numbers.start, numbers.end);
        for number in (from..numbers.end).chain(numbers.start..from) {
            if let Some(place) = self.claim_this(number, parent) {
                self.hint.store(number as u32 + 1, ord!("cancel-14", Relaxed));
                return Ok((number, place));
            }
        }
        Err(NoNode)
    }

    /// Claims a node, if it is free.
    #[inline]
    fn claim_this(&self, number: usize, parent: u32) -> Option<&Place<SLOTS>> {
        let place = self.places.get(number)?;
        let word = &place.inner.word;
        if word.load(ord!("cancel-15", Relaxed)) != 0 {
            return None;
        }
        // Acquire pairs with the end of its last use.
        word.compare_exchange(0, Word::IN_USE, ord!("cancel-16", Acquire), ord!("cancel-17", Relaxed)).ok()?;
        place.parent.store(parent, ord!("cancel-18", Relaxed));
        place.users.store(1, ord!("cancel-19", Relaxed));
        Some(place)
    }

    fn child(&self, parent: usize) -> Result<Node<'_, NODES, SLOTS>, NoNode> {
        let above = self.places.get(parent).ok_or(NoNode)?;
        // With a higher number than its parent if possible: one pass in the order of the numbers then cancels it.
        let claimed = self.claim(parent + 1..NODES, parent as u32 + 1);
        let (number, place) = claimed.or_else(|_| self.claim(0..parent, parent as u32 + 1))?;
        // The parent's handle is borrowed: it has at least this user, and gets another one.
        above.users.fetch_add(use_by(number, parent), ord!("cancel-20", Relaxed));
        let mine = Word(Word::IN_USE).linked(parent);
        // From here on a cancel of the parent may come to it. Nobody else changes a word without a link.
        place.inner.word.store(mine.0, ord!("cancel-21", Relaxed));
        // Release pairs with a mark on the parent that comes later, and whose maker then sees the link.
        above.inner.word.fetch_or(Word::HAS_CHILDREN, ord!("cancel-22", Release));
        // A mark that came before is in the word still. Acquire pairs with it.
        let parent = Word(above.inner.word.load(ord!("cancel-23", Acquire)));
        if parent.is_marked() {
            let mark = mine.below(parent);
            // It fails if the cancel has come to it meanwhile. Whoever is to see the node gets it from this call.
            _ = place.inner.word.compare_exchange(mine.0, mark.0, ord!("cancel-24", Relaxed), ord!("cancel-25", Relaxed));
        }
        Ok(Node { tree: self, inner: &place.inner, number })
    }
}

impl<'t, const NODES: usize, const SLOTS: usize> Node<'t, NODES, SLOTS> {
    /// A node below this one. If this one is canceled, it is too, from its birth. Lock-free.
    ///
    /// # Errors
    /// [`NoNode`] if all nodes seemed taken, looked at one after another.
    pub fn child(&self) -> Result<Self, NoNode> {
        self.tree.child(self.number)
    }

    /// The node's number, below `NODES`: an index of the caller's own data about nodes.
    ///
    /// # Ordering
    /// What was done with a node of this number before it was dropped is visible now.
    #[inline]
    pub fn number(&self) -> usize {
        self.number
    }

    /// A token of this node.
    #[inline]
    pub fn token(&self) -> Token<'_> {
        Token(self.inner)
    }

    /// As [`cancel_with`](Self::cancel_with) with [`Reason::REQUESTED`].
    pub fn cancel(&self) -> bool {
        self.cancel_with(Reason::REQUESTED)
    }

    /// Cancels this node and all below it; whether this call has canceled this node. Neither waits, nor recurses, nor allocates.
    ///
    /// The whole subtree is marked before the first callback is called, except what is below a node whose cancel another call has won:
    /// that call marks it. A dismissed node below stays dismissed, and what is below that is canceled.
    /// If this node itself is dismissed, nothing is done, and this says `false`.
    pub fn cancel_with(&self, reason: Reason) -> bool {
        self.tree.cancel(self.number, reason)
    }

    /// As [`Source::dismiss`](super::Source::dismiss). What is below is not dismissed, and a cancel from above still comes to it.
    pub fn dismiss(&self) -> bool {
        self.inner.dismiss()
    }

    /// As [`Source::set_deadline`](super::Source::set_deadline).
    pub fn set_deadline(&self, at: u32) -> bool {
        self.inner.set_deadline(at)
    }

    /// As [`Source::poll_deadline`](super::Source::poll_deadline), with all below.
    pub fn poll_deadline(&self, now: u32) -> bool {
        self.inner.deadline_has_passed(now) && self.cancel_with(Reason::DEADLINE)
    }

    /// As [`Token::status`].
    #[inline]
    pub fn status(&self) -> Status {
        self.inner.status()
    }
}

impl<const NODES: usize, const SLOTS: usize> Drop for Node<'_, NODES, SLOTS> {
    fn drop(&mut self) {
        // Also if a waker panics.
        let mut ending = Ending { tree: self.tree, next: Some((self.number, 1)) };
        self.inner.dismiss();
        ending.run();
    }
}

impl<const NODES: usize, const SLOTS: usize> Default for Tree<NODES, SLOTS> {
    fn default() -> Self {
        Self::new()
    }
}

impl<const NODES: usize, const SLOTS: usize> fmt::Debug for Tree<NODES, SLOTS> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tree").finish_non_exhaustive()
    }
}

impl<const NODES: usize, const SLOTS: usize> fmt::Debug for Node<'_, NODES, SLOTS> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Node").field("number", &self.number).field("status", &self.status()).finish_non_exhaustive()
    }
}

#[cfg(all(test, target_pointer_width = "64", not(any(jeton_loom, jeton_shuttle))))]
mod tests {
    use super::*;

    /// As the page says.
    #[test]
    fn a_slot_is_32_bytes_and_a_node_with_one_56() {
        assert_eq!((size_of::<EntrySlot>(), size_of::<Place<1>>()), (32, 56));
    }
}
