//! The end of a node: who is its last user, who frees it, and with it those above that nobody else has.

use std::{mem::ManuallyDrop, ptr::NonNull};

use jeton_core::ord;

use super::{
    node::{Above, Node},
    panics::Panics,
    payload::Payload,
    word::Word,
};

impl Node {
    /// One user less.
    ///
    /// # Safety
    /// The caller was one, and does not touch the node after this (N1).
    #[inline]
    pub(super) unsafe fn remove_user(this: NonNull<Self>) {
        // SAFETY: by the caller.
        if unsafe { Self::count_down(this) } {
            // SAFETY: it was the last one.
            unsafe { Self::abandon(this) };
        }
    }

    /// Frees a node that has no users any more, or leaves it to the cancel that has it; and then those above that nobody else has.
    ///
    /// # Safety
    /// The caller was its last user, and does not touch it after this (N1).
    pub(super) unsafe fn abandon(this: NonNull<Self>) {
        // SAFETY: by the caller it is there until this call has let go of it.
        let node = unsafe { this.as_ref() };
        // The common case: nothing is to be dropped, and the parent has others.
        let word = Word(node.word.load(ord!("cancel-std-54", Relaxed)));
        if word.may_have_others() && !node.table.is_bare() {
            // SAFETY: by the caller.
            return unsafe { Self::abandon_any(this) };
        }
        let above = node.above;
        // SAFETY: by the caller.
        if above.is_some_and(|above| unsafe { !Self::let_go(this, above) }) {
            return;
        }
        // SAFETY: nobody has it any more (N5), and it has nothing.
        unsafe { Self::free_bare(this) };
        if let Some(Above { parent, .. }) = above {
            // SAFETY: the freed node was a user of it (N2), and its last one leaves it.
            unsafe {
                if Self::count_down(parent) {
                    Self::abandon_any(parent);
                }
            }
        }
    }

    /// As [`abandon`](Self::abandon), whatever the node has.
    ///
    /// # Safety
    /// As there.
    #[cold]
    unsafe fn abandon_any(this: NonNull<Self>) {
        // SAFETY: by the caller it is there until this call has let go of it; then nobody has it any more (N5).
        unsafe {
            if this.as_ref().above.is_none_or(|above| Self::let_go(this, above)) {
                Self::free(this);
            }
        }
    }

    /// Frees the memory of a node in which nothing is to be dropped.
    ///
    /// # Safety
    /// Nobody has the node any more (N5).
    #[inline]
    unsafe fn free_bare(this: NonNull<Self>) {
        // SAFETY: by the caller.
        unsafe { this.as_ref() }.unused();
        // SAFETY: it came from a box, and nobody has it any more.
        drop(unsafe { Box::from_raw(this.as_ptr().cast::<ManuallyDrop<Self>>()) });
    }

    /// Frees a node, and those above that have lost their last user by it: one after another, not one within another.
    ///
    /// # Safety
    /// Nobody has the node any more (N5).
    #[cold]
    pub(super) unsafe fn free(mut this: NonNull<Self>) {
        let mut panics = Panics::default();
        loop {
            // SAFETY: by the caller, and in each turn the last user has gone.
            let node = unsafe { this.as_ref() };
            if Word(node.word.load(ord!("cancel-std-55", Relaxed))).has(Word::HAS_REGISTRATIONS) {
                node.clear(&mut panics);
            }
            let above = node.above;
            node.unused();
            // SAFETY: it came from a box, and nobody has it any more.
            drop(unsafe { Box::from_raw(this.as_ptr()) });
            let Some(Above { parent, .. }) = above else { break };
            this = parent;
            // SAFETY: the freed node was a user of it (N2).
            if !unsafe { Self::count_down(this) } {
                break;
            }
            // SAFETY: it is let go of by its last user, and there until that.
            if unsafe { this.as_ref().above.is_some_and(|above| !Self::let_go(this, above)) } {
                break;
            }
        }
        panics.resume();
    }

    /// Drops what is left in the slots of a node that nobody has any more.
    #[cold]
    fn clear(&self, panics: &mut Panics) {
        let mut slots = self.table.slots::<Payload>();
        panics.keep(|| slots.each(|slot| slot.clear()));
    }

    /// As [`abandon`](Self::abandon) by the only user of a node, of one that has never had parent, child or registration.
    ///
    /// # Safety
    /// As there.
    #[inline]
    pub(super) unsafe fn abandon_only(this: NonNull<Self>) {
        // SAFETY: by the caller.
        let node = unsafe { this.as_ref() };
        let bare = Word::LINKED | Word::HAS_CHILDREN | Word::HAS_REGISTRATIONS;
        if Word(node.word.load(ord!("cancel-std-56", Relaxed))).has(bare) {
            // SAFETY: by the caller.
            unsafe { Self::abandon(this) };
        } else {
            // SAFETY: by the caller; it has nothing.
            unsafe { Self::free_bare(this) };
        }
    }

    /// One user less; whether that was the last one.
    ///
    /// # Safety
    /// As [`remove_user`](Self::remove_user).
    #[inline]
    unsafe fn count_down(this: NonNull<Self>) -> bool {
        // SAFETY: by the caller it is there until this.
        let node = unsafe { this.as_ref() };
        node.in_use();
        // Release and Acquire pair among the users: the last one sees what the others have done.
        node.users.down()
    }

    /// Takes a node without users out of its parent's slot; whether it is the caller's to be freed.
    ///
    /// # Safety
    /// It has no users, and the caller was the last one (N1); it is there `above`.
    #[inline]
    unsafe fn let_go(this: NonNull<Self>, above: Above) -> bool {
        // SAFETY: the node is a user of its parent until it is freed (N2), and the slot is in the parent (N4).
        let (parent, slot) = unsafe { (above.parent.as_ref(), above.slot.as_ref()) };
        // SAFETY: the node owns that slot, and lets go of it here only (N3).
        if unsafe { parent.table.remove_child(slot) } {
            return true;
        }
        // SAFETY: by the caller, and N5, it is there until this call has said *released*.
        let node = unsafe { this.as_ref() };
        node.in_use();
        // A cancel has taken it out. Whoever comes second frees it. A sum is a fetch_or here: the bit is set once.
        Word(node.word.fetch_add(Word::RELEASED, ord!("cancel-std-57", AcqRel))).has(Word::UNPINNED)
    }
}
