//! What a source and a node of a tree have in common: a state word, a deadline and a table of registrations.

use super::{
    entry::Entry,
    status::{Reason, Status},
    word::Word,
};
use crate::{
    const_fn, ord,
    sync::AtomicU32,
    util::slots::{Slot, Slots, Taken, next_bit},
};

/// One slot of a source.
pub(super) type EntrySlot = Slot<Entry>;

/// State word, deadline and slots; `[EntrySlot; N]` where it stands, `[EntrySlot]` where a token refers to it.
#[derive(Debug)]
pub(super) struct Inner<S: ?Sized> {
    pub(super) word: AtomicU32,
    deadline: AtomicU32,
    pub(super) slots: Slots<S>,
}

impl<const N: usize> Inner<[EntrySlot; N]> {
    const_fn! {
        pub(super) const fn new(word: Word) -> Self {
            Self { word: AtomicU32::new(word.0), deadline: AtomicU32::new(0), slots: Slots::new() }
        }
    }
}

/// Half of all ticks: a deadline that is farther away than this has passed.
const HORIZON: u32 = 1 << 31;

impl Inner<[EntrySlot]> {
    #[inline]
    pub(super) fn look(&self) -> Word {
        // Acquire pairs with the step that has ended it: what was done before a cancel is visible.
        Word(self.word.load(ord!("cancel-1", Acquire)))
    }

    #[inline]
    pub(super) fn status(&self) -> Status {
        self.look().status()
    }

    /// Says that a slot is armed. How it stands now: if it is not active, whoever has ended it may have passed by that slot.
    #[inline]
    pub(super) fn publish(&self) -> Word {
        // Release pairs with `settle` that comes later, and then sees the slot. Whose old value is not used is one instruction on x86;
        // what came before is in the word still, and `look` sees it.
        self.word.fetch_or(Word::HAS_REGISTRATIONS, ord!("cancel-2", Release));
        self.look()
    }

    /// Moves the word on from *active*; how it was before, or `None` if it was not active.
    pub(super) fn settle(&self, to: impl Fn(Word) -> Word) -> Option<Word> {
        let mut word = Word(self.word.load(ord!("cancel-3", Relaxed)));
        while word.is_active() {
            // Linearization point. Release pairs with `look`, Acquire with `publish`.
            match self.word.compare_exchange_weak(word.0, to(word).0, ord!("cancel-4", AcqRel), ord!("cancel-5", Relaxed)) {
                Ok(_) => return Some(word),
                Err(found) => word = Word(found),
            }
        }
        None
    }

    pub(super) fn cancel(&self, reason: Reason) -> bool {
        let Some(before) = self.settle(|word| word.canceled(reason)) else { return false };
        if before.has(Word::HAS_REGISTRATIONS) {
            let _end = End(self);
            Notify::all_of(self, true).run();
        }
        true
    }

    pub(super) fn dismiss(&self) -> bool {
        let Some(before) = self.settle(|word| Word(word.0 | Word::DISMISSED)) else { return false };
        if before.has(Word::HAS_REGISTRATIONS) {
            Notify::all_of(self, false).run();
        }
        true
    }

    pub(super) fn set_deadline(&self, at: u32) -> bool {
        // A word that is never written must not be written here either.
        if !Word(self.word.load(ord!("cancel-7", Relaxed))).is_active() {
            return false;
        }
        self.deadline.store(at, ord!("cancel-8", Relaxed));
        // Release pairs with `deadline_has_passed`.
        Word(self.word.fetch_or(Word::TIMED, ord!("cancel-9", Release))).is_active()
    }

    pub(super) fn deadline_has_passed(&self, now: u32) -> bool {
        // Acquire pairs with `set_deadline`.
        let word = Word(self.word.load(ord!("cancel-10", Acquire)));
        word.is_active() && word.has(Word::TIMED) && now.wrapping_sub(self.deadline.load(ord!("cancel-11", Relaxed))) < HORIZON
    }
}

/// Takes *notifying* away, also if a callback has panicked.
struct End<'a>(&'a Inner<[EntrySlot]>);

impl Drop for End<'_> {
    fn drop(&mut self) {
        // Release pairs with `look`: who sees that nobody is notified any more sees what callbacks have done.
        self.0.word.fetch_and(!Word::NOTIFYING, ord!("cancel-6", Release));
    }
}

/// Runs what waits in a table, once.
pub(super) struct Notify<'a> {
    inner: &'a Inner<[EntrySlot]>,
    left: u32,
    /// Whether callbacks are run, or only wakers woken.
    canceled: bool,
}

impl<'a> Notify<'a> {
    #[inline]
    pub(super) fn all_of(inner: &'a Inner<[EntrySlot]>, canceled: bool) -> Self {
        Self { inner, left: inner.slots.used(), canceled }
    }

    /// Inlined where it is called, so that what is left stays in a register.
    #[inline(always)]
    pub(super) fn run(&mut self) {
        while let Some(index) = next_bit(&mut self.left) {
            let Some(Taken { payload, run }) = self.inner.slots.take(index) else { continue };
            match payload {
                // The slot is *running* meanwhile: that is what a deregistration sees.
                Entry::Callback(callback) if self.canceled => callback.run(),
                Entry::Callback(_) => {}
                Entry::Waker(waker) => {
                    drop(run);
                    waker.wake();
                }
            }
        }
    }
}

impl Drop for Notify<'_> {
    /// If a callback or a waker has panicked, the others still get their turn.
    #[inline(always)]
    fn drop(&mut self) {
        if self.left != 0 {
            run_rest(self.inner, self.left, self.canceled);
        }
    }
}

#[cold]
fn run_rest(inner: &Inner<[EntrySlot]>, left: u32, canceled: bool) {
    Notify { inner, left, canceled }.run();
}
