//! One node: its counts, its word, its place below another one, and its slots.

use std::{mem::MaybeUninit, ptr::NonNull};

use jeton_core::{
    cancel::Reason,
    const_fn, ord,
    sync::{AtomicU32, AtomicU64, UnsafeCell},
};

use super::{count::Count, payload::Child, room, slot::Slot, table::Table, word::Word};

/// What sources, tokens, registrations and futures point to.
pub(super) struct Node {
    /// Sources, tokens, registrations, futures and children.
    pub(super) users: Count,
    /// Sources alone.
    sources: Count,
    pub(super) word: AtomicU32,
    /// A static, of which nobody is a user: it is not counted, and never freed.
    is_static: bool,
    pub(super) above: Option<Above>,
    /// The thread that calls what waits here, once it does; see `room`.
    canceler: AtomicU64,
    /// The next one that the same cancel has marked.
    next: UnsafeCell<MaybeUninit<Option<NonNull<Node>>>>,
    pub(super) table: Table,
    /// For the models, to which a cell is a witness: looked at by who uses the node, and written by who frees it.
    there: UnsafeCell<()>,
}

/// A node's place below another one.
#[derive(Clone, Copy)]
pub(super) struct Above {
    /// The child is one of its users.
    pub(super) parent: NonNull<Node>,
    /// The parent's slot that the child is armed in.
    pub(super) slot: NonNull<Slot<Child>>,
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
        const fn with(word: Word, above: Option<Above>, is_static: bool) -> Self {
            Self {
                users: Count::one(),
                sources: Count::one(),
                word: AtomicU32::new(word.0),
                is_static,
                above,
                canceler: AtomicU64::new(0),
                next: UnsafeCell::new(MaybeUninit::uninit()),
                table: Table::new(),
                there: UnsafeCell::new(()),
            }
        }
    }

    #[cfg(not(jeton_loom))]
    pub(super) const fn of_static(word: Word) -> Self {
        Self::with(word, None, true)
    }

    /// A node of its own with one source.
    #[inline]
    pub(super) fn new(word: Word) -> NonNull<Self> {
        Self::boxed(|| Self::with(word, None, false))
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
        let seen = parent.look();
        if !seen.is_active() {
            if seen.is_marked() {
                return Self::new(Word::ACTIVE.marked(seen.reason()));
            }
            if parent.above.is_none() {
                // It is dismissed, and no cancel will ever come from above.
                return Self::new(Word::ACTIVE);
            }
        }
        let slot = parent.table.take::<Child>();
        parent.add_user();
        let above = Above { parent: this, slot: NonNull::from_ref(slot) };
        let child = Self::boxed(|| Self::with(Word(Word::LINKED), Some(above), false));
        // SAFETY: the slot was taken just now (N3).
        unsafe { slot.arm_child(child) };
        if let Err(word) = parent.publish(seen, Word::HAS_CHILDREN)
            && word.is_marked()
        {
            // Whoever has marked this one may have passed by that slot, or may come to it yet.
            // SAFETY: the child is the caller's.
            unsafe { child.as_ref() }.mark_late(word.reason());
        }
        child
    }

    /// Marks a child that nobody knows yet, and so has nobody to be told.
    #[cold]
    fn mark_late(&self, reason: Reason) {
        _ = self.settle(|word| (!word.is_marked()).then(|| word.marked(reason)));
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
        // The common case apart from the others, without their arithmetic.
        let word = node.guess();
        if word.is_active() && word.may_have_others() && node.step(word, word.canceled(reason)).is_ok() {
            return Marked::Mine(word);
        }
        // SAFETY: by the caller.
        unsafe { Self::mark_in_any_state(this, reason, wait) }
    }

    /// # Safety
    /// As [`mark_claimed`](Self::mark_claimed).
    #[inline(never)]
    unsafe fn mark_in_any_state(this: NonNull<Self>, reason: Reason, wait: bool) -> Marked {
        // SAFETY: by the caller it is there until it is unpinned (N5).
        let node = unsafe { this.as_ref() };
        let before = node.settle(|word| {
            // Nobody to be told: it is done with in the same step.
            let more = if word.may_have_others() { 0 } else { Word::UNPINNED };
            (!word.is_marked()).then(|| word.marked(reason).with(more))
        });
        match before {
            Some(before) if before.may_have_others() => return Marked::Mine(before),
            // SAFETY: by the caller; whoever comes second frees it (N5).
            Some(before) if before.has(Word::RELEASED) => unsafe { Self::free(this) },
            Some(_) => {}
            None if wait && node.look().has(Word::NOTIFYING) => return Marked::Others,
            // SAFETY: by the caller.
            None => unsafe { Self::unpin(this, 0) },
        }
        Marked::Done
    }

    /// Ends a cancel's use of a node that it has claimed, and takes `flags` away in the same step.
    ///
    /// # Safety
    /// The caller has claimed it, and does not touch it after this (N5). The flags are set, and only the caller takes them away.
    #[inline]
    pub(super) unsafe fn unpin(this: NonNull<Self>, flags: u32) {
        // SAFETY: by the caller it is there until this.
        let node = unsafe { this.as_ref() };
        node.in_use();
        // A sum is a fetch_or here: the bit is set once. Release and Acquire pair with `let_go` and, as `end_notifying`, with waiters.
        let before = Word(node.word.fetch_add(Word::UNPINNED.wrapping_sub(flags), ord!("cancel-std-43", AcqRel)));
        if before.has(Word::RELEASED | Word::AWAITED) {
            // SAFETY: by the caller.
            unsafe { Self::after_unpin(this, before) };
        }
    }

    /// # Safety
    /// The caller has unpinned the node, which was so before.
    #[cold]
    unsafe fn after_unpin(this: NonNull<Self>, before: Word) {
        if before.has(Word::AWAITED) {
            room::wake();
        }
        if before.has(Word::RELEASED) {
            // SAFETY: its last user has gone, and left it to this call (N5).
            unsafe { Self::free(this) };
        }
    }

    /// Says that the root of a cancel is done with.
    #[inline]
    pub(super) fn end_notifying(&self) {
        // Release pairs with who waits for it: what the callbacks have done is visible.
        if Word(self.word.fetch_and(!Word::NOTIFYING, ord!("cancel-std-44", Release))).has(Word::AWAITED) {
            room::wake();
        }
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

    /// Keeps `next` in the slot that the node was claimed from.
    ///
    /// # Safety
    /// The caller has claimed the node (N5).
    pub(super) unsafe fn set_lost(&self, next: Child) {
        if let Some(above) = self.above {
            // SAFETY: the node is a user of its parent (N2), in which the slot is; by the caller it is claimed.
            unsafe { above.slot.as_ref().leave(next) };
        }
    }

    /// What [`set_lost`](Self::set_lost) has kept.
    ///
    /// # Safety
    /// The caller has claimed the node (N5), and called that.
    pub(super) unsafe fn lost(&self) -> Child {
        // SAFETY: as there.
        self.above.and_then(|above| unsafe { above.slot.as_ref().left() })
    }

    /// For the models: the caller uses the node until its next step.
    #[inline(always)]
    pub(super) fn in_use(&self) {
        self.there.with(|_| ());
    }

    /// For the models: nobody uses the node any more.
    #[inline(always)]
    pub(super) fn unused(&self) {
        self.there.with_mut(|_| ());
    }

    #[inline]
    pub(super) fn look(&self) -> Word {
        // Acquire pairs with `settle`: what was done before a cancel is visible.
        Word(self.word.load(ord!("cancel-std-45", Acquire)))
    }

    pub(super) fn word(&self) -> &AtomicU32 {
        &self.word
    }

    pub(super) fn canceler(&self) -> u64 {
        self.canceler.load(ord!("cancel-std-46", Relaxed))
    }

    pub(super) fn set_canceler(&self, thread: u64) {
        self.canceler.store(thread, ord!("cancel-std-47", Relaxed));
    }

    pub(super) fn table(&self) -> &Table {
        &self.table
    }

    /// Says that a slot is armed.
    ///
    /// # Errors
    /// How the node stood, if that has changed since it was `seen`: a cancel that has come meanwhile may have passed by that slot.
    #[inline]
    pub(super) fn publish(&self, seen: Word, flag: u32) -> Result<(), Word> {
        let with = seen.with(flag).0;
        // Release pairs with `settle` that comes later, and then sees the slot.
        match self.word.compare_exchange(seen.0, with, ord!("cancel-std-48", Release), ord!("cancel-std-49", Relaxed)) {
            Ok(_) => Ok(()),
            Err(_) => Err(self.publish_late(flag)),
        }
    }

    #[cold]
    fn publish_late(&self, flag: u32) -> Word {
        // Release as above; Acquire pairs with `settle` that came before.
        Word(self.word.fetch_or(flag, ord!("cancel-std-50", AcqRel)))
    }

    /// Moves the word on; how it was before, or `None` if `to` has nothing for it.
    #[inline]
    pub(super) fn settle(&self, to: impl Fn(Word) -> Option<Word>) -> Option<Word> {
        let mut word = self.guess();
        while let Some(new) = to(word) {
            match self.step(word, new) {
                Ok(()) => return Some(word),
                Err(found) => word = found,
            }
        }
        None
    }

    /// How it stands, or has stood: what is made of it, [`step`](Self::step) checks.
    #[inline]
    fn guess(&self) -> Word {
        Word(self.word.load(ord!("cancel-std-51", Relaxed)))
    }

    /// Moves the word on, if it is still the old one.
    #[inline]
    fn step(&self, old: Word, new: Word) -> Result<(), Word> {
        // Linearization point. Release pairs with `look`, Acquire with `publish`.
        let stepped = self.word.compare_exchange(old.0, new.0, ord!("cancel-std-52", AcqRel), ord!("cancel-std-53", Relaxed));
        stepped.map(drop).map_err(Word)
    }

    /// One more user, of one who is a user.
    #[inline]
    pub(super) fn add_user(&self) {
        self.users.up();
    }

    /// Whether there are no users to be counted.
    #[inline]
    pub(super) fn is_static(&self) -> bool {
        self.is_static
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
}

/// What became of a child that a cancel has claimed.
pub(super) enum Marked {
    /// This cancel has marked it, and there is something to be told; how it was before.
    Mine(Word),
    /// Another one has marked it, and is not done with it.
    Others,
    /// It is not to be touched any more.
    Done,
}

#[cfg(all(test, not(any(jeton_loom, jeton_shuttle))))]
mod tests {
    use super::super::CancelToken;

    #[test]
    fn what_is_never_canceled_is_never_written() {
        for token in [CancelToken::uncancelable(), CancelToken::already_canceled()] {
            let node = token.node();
            let state = || format!("{:?} {:?} {:?} {}", node.users, node.sources, node.look(), node.canceler());
            let before = state();
            drop((token.clone(), token.canceled(), token.child(), token.on_cancel(|| {}), token.wait()));
            assert!(node.is_static() && state() == before);
        }
    }
}
