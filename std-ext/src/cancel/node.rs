//! One node: its counts, its word, its place below another one, and its slots.

use std::{
    mem::{ManuallyDrop, MaybeUninit},
    ptr::NonNull,
};

use jeton_core::{
    cancel::Reason,
    const_fn, ord,
    sync::{AtomicU32, AtomicU64, UnsafeCell},
};

use super::{count::Count, panics::Panics, table::Table, word::Word};

/// What sources, tokens, registrations and futures point to.
pub(super) struct Node {
    /// Sources, tokens, registrations, futures and children. From 2^31 up it stays as it is.
    users: Count,
    /// Sources alone. From 2^31 up it stays as it is.
    sources: Count,
    word: AtomicU32,
    parent_slot: u32,
    /// The child is one of its users.
    parent: Option<NonNull<Node>>,
    /// The thread that calls what waits here, once it does; see `room`.
    canceler: AtomicU64,
    /// The next one that the same cancel has marked.
    next: UnsafeCell<MaybeUninit<Option<NonNull<Node>>>>,
    /// The next one below the same cancel that another cancel has marked.
    lost: UnsafeCell<MaybeUninit<Option<NonNull<Node>>>>,
    table: Table,
}

// 112 bytes with what the allocator adds.
#[cfg(not(any(jeton_loom, jeton_shuttle)))]
const _: () = assert!(size_of::<Node>() <= 104);

// SAFETY: what it holds is `Send`: closures, wakers, nodes. Its cells are touched as N3 and N6 say.
unsafe impl Send for Node {}
// SAFETY: as above.
unsafe impl Sync for Node {}

impl Node {
    const_fn! {
        const fn with(word: Word, users: u32, parent: Option<NonNull<Node>>, parent_slot: u32) -> Self {
            Self {
                users: Count::new(users),
                sources: Count::new(users),
                word: AtomicU32::new(word.0),
                parent_slot,
                parent,
                canceler: AtomicU64::new(0),
                next: UnsafeCell::new(MaybeUninit::uninit()),
                lost: UnsafeCell::new(MaybeUninit::uninit()),
                table: Table::new(),
            }
        }
    }

    /// For a static: nobody counts its users.
    #[cfg(not(jeton_loom))]
    pub(super) const fn immortal(word: Word) -> Self {
        Self::with(word, Count::SATURATED, None, 0)
    }

    /// A node of its own with one source.
    #[inline]
    pub(super) fn new(word: Word) -> NonNull<Self> {
        Self::boxed(|| Self::with(word, 1, None, 0))
    }

    #[inline]
    fn boxed(make: impl FnOnce() -> Self) -> NonNull<Self> {
        // First the memory, so that the node is made where it stays.
        let place = Box::into_raw(Box::<Self>::new_uninit()).cast::<Self>();
        // SAFETY: the box has room for it, and is not null.
        unsafe {
            place.write(make());
            NonNull::new_unchecked(place)
        }
    }

    /// A node below this one, with one source.
    ///
    /// # Safety
    /// The caller is a user of it (N1).
    pub(super) unsafe fn child(this: NonNull<Self>) -> NonNull<Self> {
        // SAFETY: by the caller.
        let parent = unsafe { this.as_ref() };
        let word = parent.look();
        if word.is_marked() {
            return Self::new(Word::ACTIVE.marked(word.reason()));
        }
        if word.has(Word::DISMISSED) && parent.parent.is_none() {
            // No cancel will ever come from above.
            return Self::new(Word::ACTIVE);
        }
        let (index, slot) = parent.table.take();
        parent.add_user();
        let child = Self::boxed(|| Self::with(Word(Word::LINKED), 1, Some(this), index));
        // SAFETY: the slot was taken just now (N3).
        unsafe { slot.arm_child(child) };
        let word = parent.publish(Word::HAS_CHILDREN);
        if word.is_marked() {
            // Whoever has marked this one may have passed by that slot.
            // SAFETY: the child is the caller's.
            let new = unsafe { child.as_ref() };
            let pinned = if slot.claim_child().is_some() { Word::UNPINNED } else { 0 };
            _ = new.mark(word.reason(), pinned);
        }
        child
    }

    /// Marks it, and adds `more` if it is marked; how it was before, or `None` if it was marked already.
    #[inline]
    fn mark(&self, reason: Reason, more: u32) -> Option<Word> {
        self.settle(|word| (!word.is_marked()).then(|| word.marked(reason).with(more)))
    }

    /// Marks the child of a marked node, which a cancel has claimed.
    ///
    /// # Safety
    /// The caller has claimed it (N5). Unless it is [`Marked::Mine`], it is not touched after this.
    #[inline]
    pub(super) unsafe fn mark_claimed(this: NonNull<Self>, reason: Reason, wait: bool) -> Marked {
        // SAFETY: by the caller it is there until it is unpinned (N5).
        let node = unsafe { this.as_ref() };
        node.in_use();
        let before = node.settle(|word| {
            // Nobody to be told: it is done with in the same step.
            let more = if word.may_have_others() { 0 } else { Word::UNPINNED };
            (!word.is_marked()).then(|| word.marked(reason).with(more))
        });
        match before {
            Some(before) if before.may_have_others() => return Marked::Mine,
            // SAFETY: by the caller; whoever comes second frees it (N5).
            Some(before) if before.has(Word::RELEASED) => unsafe { Self::clear_chain(this) },
            Some(_) => {}
            None if wait && node.look().has(Word::NOTIFYING) => return Marked::Others,
            // SAFETY: by the caller.
            None => _ = unsafe { Self::unpin(this, 0) },
        }
        Marked::Done
    }

    /// Ends a cancel's use of a node that it has claimed, and takes `flags` away in the same step.
    ///
    /// # Safety
    /// The caller has claimed it, and does not touch it after this (N5). The flags are set, and only the caller takes them away.
    #[inline]
    pub(super) unsafe fn unpin(this: NonNull<Self>, flags: u32) -> Word {
        // SAFETY: by the caller it is there until this.
        let node = unsafe { this.as_ref() };
        node.in_use();
        // A sum is a fetch_or here: the bit is set once. Release and Acquire pair with `let_go` and, as `end_notifying`, with waiters.
        let before = Word(node.word.fetch_add(Word::UNPINNED.wrapping_sub(flags), ord!("cancel-std-32", AcqRel)));
        if before.has(Word::RELEASED) {
            // SAFETY: its last user has gone, and left it to this call (N5).
            unsafe { Self::clear_chain(this) };
        }
        before
    }

    /// Says that the root of a cancel is done with.
    pub(super) fn end_notifying(&self) -> Word {
        // Release pairs with who waits for it: what the callbacks have done is visible.
        Word(self.word.fetch_and(!Word::NOTIFYING, ord!("cancel-std-33", Release)))
    }

    /// # Safety
    /// The caller's cancel has marked the node (N6).
    #[inline]
    pub(super) unsafe fn set_next(&self, next: Option<NonNull<Self>>) {
        // SAFETY: by the caller.
        self.next.with_mut(|place| unsafe { (*place).write(next) });
    }

    /// # Safety
    /// The caller's cancel has marked the node (N6), and set it.
    #[inline]
    pub(super) unsafe fn next(&self) -> Option<NonNull<Self>> {
        // SAFETY: by the caller.
        self.next.with(|place| unsafe { (*place).assume_init() })
    }

    /// # Safety
    /// The caller's cancel has claimed the node, and another one has marked it (N6).
    pub(super) unsafe fn set_lost(&self, next: Option<NonNull<Self>>) {
        // SAFETY: by the caller.
        self.lost.with_mut(|place| unsafe { (*place).write(next) });
    }

    /// # Safety
    /// As [`set_lost`](Self::set_lost), which was called.
    pub(super) unsafe fn lost(&self) -> Option<NonNull<Self>> {
        // SAFETY: by the caller.
        self.lost.with(|place| unsafe { (*place).assume_init() })
    }

    /// For the models, to which a cell is a witness: the caller uses the node until its next step.
    #[inline(always)]
    fn in_use(&self) {
        self.lost.with(|_| ());
    }

    /// For the models: nobody uses the node any more.
    #[inline(always)]
    fn unused(&self) {
        self.lost.with_mut(|_| ());
    }

    #[inline]
    pub(super) fn look(&self) -> Word {
        // Acquire pairs with `settle`: what was done before a cancel is visible.
        Word(self.word.load(ord!("cancel-std-34", Acquire)))
    }

    pub(super) fn word(&self) -> &AtomicU32 {
        &self.word
    }

    pub(super) fn canceler(&self) -> u64 {
        self.canceler.load(ord!("cancel-std-35", Relaxed))
    }

    pub(super) fn set_canceler(&self, thread: u64) {
        self.canceler.store(thread, ord!("cancel-std-36", Relaxed));
    }

    pub(super) fn table(&self) -> &Table {
        &self.table
    }

    /// Says that a slot is armed. How it stood: if a cancel has come, it may have passed by that slot.
    #[inline]
    pub(super) fn publish(&self, flag: u32) -> Word {
        // Release pairs with `settle` that comes later, and then sees the slot; Acquire with one that came before.
        Word(self.word.fetch_or(flag, ord!("cancel-std-37", AcqRel)))
    }

    /// Moves the word on; how it was before, or `None` if `to` has nothing for it.
    #[inline]
    pub(super) fn settle(&self, to: impl Fn(Word) -> Option<Word>) -> Option<Word> {
        let mut word = Word(self.word.load(ord!("cancel-std-38", Relaxed)));
        while let Some(new) = to(word) {
            // Linearization point. Release pairs with `look`, Acquire with `publish`.
            match self.word.compare_exchange_weak(word.0, new.0, ord!("cancel-std-39", AcqRel), ord!("cancel-std-40", Relaxed)) {
                Ok(_) => return Some(word),
                Err(found) => word = Word(found),
            }
        }
        None
    }

    /// One more user, of one who is a user.
    #[inline]
    pub(super) fn add_user(&self) {
        self.users.up();
    }

    /// As [`add_user`](Self::add_user), and leaves alone what is never freed.
    #[inline]
    pub(super) fn add_user_unless_immortal(&self) {
        if !self.users.is_immortal() {
            self.add_user();
        }
    }

    /// One more source, of one who is a source.
    pub(super) fn add_source(&self) {
        self.sources.up();
        self.add_user();
    }

    /// Whether the caller is its only user.
    #[inline]
    pub(super) fn has_one_user(&self) -> bool {
        // Acquire pairs with `remove_user`: what the others have done is done.
        self.users.is_one()
    }

    /// One source less, which stays a user; whether it was the last one.
    pub(super) fn remove_source(&self) -> bool {
        // Release and Acquire pair among the sources: what was done before each of them went is visible to who sees the dismissal.
        self.sources.down()
    }

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

    /// Frees a node that has no users any more, or leaves it to the cancel that has it.
    ///
    /// # Safety
    /// The caller was its last user, and does not touch it after this (N1).
    pub(super) unsafe fn abandon(mut this: NonNull<Self>) {
        // SAFETY: by the caller, and in each turn the last user has gone.
        while unsafe { Self::let_go(this) } {
            // SAFETY: nobody has it any more (N5).
            let node = unsafe { this.as_ref() };
            if Word(node.word.load(ord!("cancel-std-51", Relaxed))).has(Word::HAS_REGISTRATIONS) {
                // SAFETY: as above.
                unsafe { Self::clear_chain(this) };
                return;
            }
            // As in `free_chain`, with nobody's code on the way.
            let parent = node.parent;
            node.unused();
            // SAFETY: it came from a box, and nobody has it any more.
            drop(unsafe { Box::from_raw(this.as_ptr()) });
            let Some(parent) = parent else { return };
            this = parent;
            // SAFETY: the freed node was a user of it (N2).
            if !unsafe { Self::count_down(this) } {
                return;
            }
        }
    }

    /// # Safety
    /// As [`free_chain`](Self::free_chain).
    #[cold]
    unsafe fn clear_chain(this: NonNull<Self>) {
        let mut panics = Panics::default();
        // SAFETY: by the caller.
        unsafe { Self::free_chain(this, &mut panics) };
        panics.resume();
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
        if Word(node.word.load(ord!("cancel-std-52", Relaxed))).has(bare) {
            // SAFETY: by the caller.
            unsafe { Self::abandon(this) };
        } else {
            node.unused();
            // SAFETY: it came from a box, and nobody else has it. Its table has no segments, and nothing else is to be dropped.
            drop(unsafe { Box::from_raw(this.as_ptr().cast::<ManuallyDrop<Self>>()) });
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
    /// It has no users, and the caller was the last one (N1).
    #[inline]
    unsafe fn let_go(this: NonNull<Self>) -> bool {
        // SAFETY: by the caller, and N5, it is there until this call has said *released*.
        let node = unsafe { this.as_ref() };
        let Some(parent) = node.parent else { return true };
        // SAFETY: the node is a user of its parent until it is freed (N2).
        let parent = unsafe { parent.as_ref() };
        let slot = parent.table.slot(node.parent_slot);
        // SAFETY: the node owns that slot, and lets go of it here only (N3).
        if unsafe { slot.disarm_child() } {
            // SAFETY: as above.
            unsafe { parent.table.put_back(node.parent_slot, slot) };
            return true;
        }
        node.in_use();
        // A cancel has taken it out. Whoever comes second frees it. A sum is a fetch_or here: the bit is set once.
        Word(node.word.fetch_add(Word::RELEASED, ord!("cancel-std-46", AcqRel))).has(Word::UNPINNED)
    }

    /// Frees a node, and those above that have lost their last user by it: one after another, not one within another.
    ///
    /// # Safety
    /// Nobody has the node any more (N5).
    unsafe fn free_chain(mut this: NonNull<Self>, panics: &mut Panics) {
        loop {
            // SAFETY: by the caller.
            let node = unsafe { Box::from_raw(this.as_ptr()) };
            node.unused();
            let parent = node.parent;
            if Word(node.word.load(ord!("cancel-std-47", Relaxed))).has(Word::HAS_REGISTRATIONS) {
                let mut slots = node.table.slots();
                panics.keep(|| slots.each(|slot| slot.clear()));
            }
            drop(node);
            let Some(parent) = parent else { return };
            this = parent;
            // SAFETY: the freed node was a user of it (N2); it is let go of by the last one.
            if unsafe { !Self::count_down(this) || !Self::let_go(this) } {
                return;
            }
        }
    }
}

/// What became of a child that a cancel has claimed.
pub(super) enum Marked {
    /// This cancel has marked it, and there is something to be told.
    Mine,
    /// Another one has marked it, and is not done with it.
    Others,
    /// It is not to be touched any more.
    Done,
}

#[cfg(all(test, not(any(jeton_loom, jeton_shuttle))))]
mod tests {
    use crate::cancel::CancelToken;

    #[test]
    fn what_is_never_canceled_is_never_written() {
        for token in [CancelToken::uncancelable(), CancelToken::already_canceled()] {
            let node = token.node();
            let before = (node.look(), node.canceler());
            drop((token.clone(), token.canceled(), token.child(), token.on_cancel(|| {}), token.wait()));
            // A count of a static that somebody has written is no longer this one.
            assert!(node.users.is_immortal() && node.sources.is_immortal());
            assert_eq!((node.look(), node.canceler()), before);
        }
    }
}
