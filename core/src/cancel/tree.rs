//! `Tree`: a hierarchy of sources in a fixed arena.

use core::{fmt, ops::Range};

use super::{
    error::NoNode,
    inner::{EntrySlot, Inner, Notify},
    status::{Reason, Status},
    token::Token,
    word::Word,
};
use crate::{
    array, const_fn, ord,
    sync::{AtomicU32, OwnerU32},
};

/// One node: a source, and its place in the hierarchy.
struct Place<const SLOTS: usize> {
    inner: Inner<[EntrySlot; SLOTS]>,
    /// Its handle, if that is not dropped, and its children.
    users: AtomicU32,
    /// 1 more than the number of its parent; 0 for a root. Written by the one who has just claimed the node.
    parent: OwnerU32,
}

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
    /// Where to look for a free node first. A hint.
    hint: AtomicU32,
    /// 1 once a node has had a parent with a higher number, so that one pass in the order of the numbers may not do.
    unordered: AtomicU32,
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
                hint: AtomicU32::new(0),
                unordered: AtomicU32::new(0),
            }
        }
    }

    /// A node without a parent. Lock-free.
    ///
    /// # Errors
    /// [`NoNode`] if all nodes seemed taken, looked at one after another.
    pub fn root(&self) -> Result<Node<'_, NODES, SLOTS>, NoNode> {
        let hint = self.hint.load(ord!("cancel-12", Relaxed)) as usize;
        let (number, place) = self.claim(hint, 0..NODES, 0)?;
        Ok(Node { tree: self, inner: &place.inner, number })
    }

    /// Claims a free node of these numbers, the first from `start` on and round; it has no link yet, so that no cancel comes to it.
    fn claim(&self, start: usize, numbers: Range<usize>, parent: u32) -> Result<(usize, &Place<SLOTS>), NoNode> {
        let from = start.clamp(numbers.start, numbers.end);
        for number in (from..numbers.end).chain(numbers.start..from) {
            let place = self.places.get(number).ok_or(NoNode)?;
            let word = &place.inner.word;
            if word.load(ord!("cancel-13", Relaxed)) == 0
                // Acquire pairs with `free`.
                && word.compare_exchange(0, Word::IN_USE, ord!("cancel-14", Acquire), ord!("cancel-15", Relaxed)).is_ok()
            {
                place.parent.store(parent, ord!("cancel-16", Relaxed));
                place.users.store(1, ord!("cancel-17", Relaxed));
                self.hint.store(number as u32 + 1, ord!("cancel-18", Relaxed));
                return Ok((number, place));
            }
        }
        Err(NoNode)
    }

    fn child(&self, parent: usize) -> Result<Node<'_, NODES, SLOTS>, NoNode> {
        // Above its parent if possible: one pass in the order of the numbers then cancels it.
        let hint = self.hint.load(ord!("cancel-19", Relaxed)) as usize;
        let above = self.claim(hint, parent + 1..NODES, parent as u32 + 1);
        let (number, place) = above.or_else(|_| self.claim(0, 0..parent, parent as u32 + 1))?;
        let above = self.places.get(parent).ok_or(NoNode)?;
        // The parent's handle is borrowed: it has at least this user, and gets another one.
        above.users.fetch_add(1, ord!("cancel-20", Relaxed));
        if number < parent {
            // Published by the `fetch_or` below.
            self.unordered.store(1, ord!("cancel-21", Relaxed));
        }
        let mut mine = Word(Word::IN_USE).linked(parent);
        // From here on a cancel of the parent may come to it. Nobody else changes a word without a link.
        place.inner.word.store(mine.0, ord!("cancel-22", Relaxed));
        // Release pairs with a mark on the parent that comes later, and whose maker then sees the link; Acquire with one before.
        let parent = Word(above.inner.word.fetch_or(Word::HAS_CHILDREN, ord!("cancel-23", AcqRel)));
        if parent.is_marked() {
            let before = mine.0;
            mine = Word(before).canceled(parent.reason());
            if let Some(root) = parent.link() {
                mine = mine.linked(root);
            }
            // It fails if the cancel has come to it meanwhile. Whoever is to see the node gets it from this call.
            _ = place.inner.word.compare_exchange(before, mine.0, ord!("cancel-24", Relaxed), ord!("cancel-25", Relaxed));
        }
        Ok(Node { tree: self, inner: &place.inner, number })
    }

    /// Ends one use of a node; frees it after the last one, and so on upwards.
    fn release(&self, number: usize) {
        let mut number = Some(number);
        while let Some(place) = number.and_then(|number| self.places.get(number)) {
            // Release and Acquire pair among the users: the last one sees what the others have done.
            if place.users.fetch_add(u32::MAX, ord!("cancel-26", AcqRel)) != 1 {
                return;
            }
            // Whoever comes second, this or the end of the cancel that is at it, frees it.
            let before = Word(place.inner.word.fetch_or(Word::RELEASED, ord!("cancel-27", AcqRel)));
            if before.has(Word::NOTIFYING) {
                return;
            }
            number = place.free();
        }
    }

    /// Ends the cancel's use of a node that it has marked.
    fn unpin(&self, place: &Place<SLOTS>) {
        let before = Word(place.inner.word.fetch_and(!Word::NOTIFYING, ord!("cancel-28", AcqRel)));
        if before.has(Word::RELEASED)
            && let Some(parent) = place.free()
        {
            self.release(parent);
        }
    }

    fn cancel(&self, root: usize, reason: Reason) -> bool {
        let Some(place) = self.places.get(root) else { return false };
        let inner: &Inner<[EntrySlot]> = &place.inner;
        let Some(before) = inner.settle(|word| word.canceled(reason).linked(root)) else { return false };
        if !before.has(Word::HAS_CHILDREN | Word::HAS_REGISTRATIONS) {
            return true;
        }
        let mut marked = Marked { tree: self, root, left: 1, next: root, last: root };
        if before.has(Word::HAS_CHILDREN) {
            self.mark_below(&mut marked);
        }
        marked.notify();
        true
    }

    /// Marks all below the root, but for what another cancel has marked, before anybody is told.
    ///
    /// A node is marked if its parent is, by this call; that one is *notifying* until this call is done with it, and cannot be freed.
    /// So a node that names it as parent is a child of it, whichever node that number was before.
    fn mark_below(&self, marked: &mut Marked<'_, NODES, SLOTS>) {
        let root = marked.root;
        loop {
            let unordered = self.unordered.load(ord!("cancel-29", Relaxed)) != 0;
            let first = if unordered { 0 } else { root + 1 };
            let mut any = false;
            for (number, place) in self.places.iter().enumerate().skip(first) {
                let mut word = Word(place.inner.word.load(ord!("cancel-30", Relaxed)));
                while !word.is_marked()
                    && !word.has(Word::RELEASED)
                    && word.link().is_some_and(|parent| self.is_marked(parent, root))
                {
                    let reason = word.link().map_or(Reason::REQUESTED, |parent| self.reason(parent));
                    let mark = if word.is_active() { word.canceled(reason) } else { word.visited(reason) }.linked(root);
                    // Release pairs with `look`, Acquire with `publish` and with the birth of children (cancel-23).
                    match place.inner.word.compare_exchange(word.0, mark.0, ord!("cancel-31", AcqRel), ord!("cancel-32", Relaxed)) {
                        Ok(_) => {
                            if mark.has(Word::NOTIFYING) {
                                marked.add(number);
                            }
                            any = true;
                            break;
                        }
                        Err(found) => word = Word(found),
                    }
                }
            }
            // In order, one pass is enough: parents come before children. Children born behind it see their parent's mark.
            let done = if unordered { !any } else { self.unordered.load(ord!("cancel-33", Relaxed)) == 0 };
            if done {
                return;
            }
        }
    }

    /// Whether the running cancel of `root` has marked a node and is not done with it.
    fn is_marked(&self, number: usize, root: usize) -> bool {
        // It has written that itself.
        let word = self.places.get(number).map_or(Word(0), |place| Word(place.inner.word.load(ord!("cancel-34", Relaxed))));
        word.has(Word::NOTIFYING) && word.is_marked() && word.link() == Some(root)
    }

    fn reason(&self, number: usize) -> Reason {
        self.places.get(number).map_or(Reason::REQUESTED, |place| Word(place.inner.word.load(ord!("cancel-35", Relaxed))).reason())
    }
}

impl<const SLOTS: usize> Place<SLOTS> {
    /// Frees a node that nobody uses; the number of its parent, which loses a user.
    fn free(&self) -> Option<usize> {
        let inner: &Inner<[EntrySlot]> = &self.inner;
        // What was forgotten there is dropped.
        // SAFETY: the node's handle is gone, and with it all that borrowed it; no cancel is at it (T2).
        unsafe { inner.slots.clear() };
        let parent = self.parent.load(ord!("cancel-36", Relaxed));
        // Release pairs with `claim`. Nobody else changes a word that is released.
        inner.word.store(0, ord!("cancel-37", Release));
        parent.checked_sub(1).map(|parent| parent as usize)
    }
}

/// The nodes that a cancel has marked and has not told yet: those between `next` and `last` that say so.
struct Marked<'t, const NODES: usize, const SLOTS: usize> {
    tree: &'t Tree<NODES, SLOTS>,
    root: usize,
    left: usize,
    next: usize,
    last: usize,
}

impl<const NODES: usize, const SLOTS: usize> Marked<'_, NODES, SLOTS> {
    fn add(&mut self, number: usize) {
        self.left += 1;
        self.next = self.next.min(number);
        self.last = self.last.max(number);
    }

    fn notify(&mut self) {
        while self.left > 0 && self.next <= self.last {
            let number = self.next;
            self.next += 1;
            if let Some(place) = self.tree.places.get(number)
                && self.tree.is_marked(number, self.root)
            {
                self.left -= 1;
                let _end = Unpin { tree: self.tree, place };
                let word = place.inner.word.load(ord!("cancel-38", Relaxed));
                if Word(word).has(Word::CANCELED) && Word(word).has(Word::HAS_REGISTRATIONS) {
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

/// Ends the cancel's use of a node, also if a callback has panicked.
struct Unpin<'t, const NODES: usize, const SLOTS: usize> {
    tree: &'t Tree<NODES, SLOTS>,
    place: &'t Place<SLOTS>,
}

impl<const NODES: usize, const SLOTS: usize> Drop for Unpin<'_, NODES, SLOTS> {
    fn drop(&mut self) {
        self.tree.unpin(self.place);
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
    /// that call marks it. A dismissed node stays dismissed; what is below it is canceled.
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
        self.inner.dismiss();
        self.tree.release(self.number);
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
