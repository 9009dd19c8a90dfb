//! What a user of a `StealableCache` has: magazines that one caller at a time is inside of, and nobody waits for.

use core::fmt;

use super::{
    magazines::Magazines,
    parts::{Header, Parts},
    word::UserWord,
};
use crate::{const_fn, ord, sync::UnsafeCell, util::Padded};

#[cfg(not(target_pointer_width = "64"))]
type AtomicWord = crate::sync::AtomicU32;
#[cfg(target_pointer_width = "64")]
type AtomicWord = crate::sync::AtomicU64;

/// The memory of one user of a [`StealableCache`](super::StealableCache), on cache lines of its own.
pub struct UserCell(Padded<Inner>);

struct Inner {
    /// See [`UserWord`].
    word: AtomicWord,
    ids: UnsafeCell<Magazines>,
}

// SAFETY: I8: `ids` is accessed only by whoever is inside, and entering and leaving hand it on with acquire and release.
unsafe impl Sync for UserCell {}

impl UserCell {
    const_fn! {
        /// No IDs.
        pub const fn new() -> Self {
            Self(Padded::new(Inner { word: AtomicWord::new(0), ids: UnsafeCell::new(Magazines::new()) }))
        }
    }

    /// Enters. The caller is inside now, unless the word that it gets says that somebody else is: then the caller does something
    /// else, and never waits.
    #[inline(always)]
    pub(super) fn enter(&self) -> UserWord {
        // Acquire pairs with `leave`.
        UserWord(self.0.word.swap(UserWord::INSIDE.0, ord!("magazine-40", Acquire)))
    }

    /// Leaves `word` behind: the one that was found, if nothing has changed.
    #[inline(always)]
    pub(super) fn leave(&self, word: UserWord) {
        // Others put in meanwhile what is there already, so that a store loses nothing (I8). Release pairs with the next `enter`.
        self.0.word.store_over(word.0, ord!("magazine-41", Release));
    }

    /// Enters if that seems worth it. The word, which has an ID at least.
    pub(super) fn enter_if_any(&self) -> Option<UserWord> {
        UserWord(self.0.word.load(ord!("magazine-42", Relaxed))).last()?;
        let inside = self.enter();
        if inside.last().is_none() && !inside.is_busy() {
            self.leave(inside);
        }
        inside.last().map(|_| inside)
    }

    /// The word as it is, by a read-modify-write that changes nothing: a load may give an old one.
    pub(super) fn look(&self) -> UserWord {
        // Acquire pairs with `leave`: what the one inside did comes before this look. Release pairs with the next `enter`: who frees an
        // ID after this look sees what the one who looked did before it, which is to press.
        UserWord(self.0.word.fetch_or(0, ord!("magazine-43", AcqRel)))
    }

    /// The word, once more after [`look`](Self::look). Relaxed: the loads between acquire, and this comes after them.
    pub(super) fn look_again(&self) -> UserWord {
        UserWord(self.0.word.load(ord!("magazine-44", Relaxed)))
    }

    /// Calls `f` with the IDs.
    ///
    /// # Safety
    /// The caller is inside (I8).
    #[inline(always)]
    pub(super) unsafe fn with<R>(&self, f: impl FnOnce(&mut Magazines) -> R) -> R {
        // SAFETY: I8: as the caller promises, nobody else has the IDs.
        self.0.ids.with_mut(|ids| f(unsafe { &mut *ids }))
    }

    /// Takes the last index of the word `inside`, at the place `last`, and leaves.
    #[inline(always)]
    pub(super) fn pop(&self, inside: UserWord, last: usize) -> u32 {
        // SAFETY: I1: `last` is less than the count, which is at most CACHE. I8: this caller is inside.
        let index = unsafe { self.with(|ids| ids.at(last)) };
        // The linearization point.
        self.leave(inside.popped());
        index
    }

    /// Adds an index to those of the word `inside`, at `place`, and leaves.
    #[inline(always)]
    pub(super) fn push(&self, inside: UserWord, place: usize, index: u32) {
        let put = |ids: &mut Magazines| {
            if let Some(place) = ids.place(place) {
                *place = index;
            }
        };
        // SAFETY: I8: this caller is inside.
        unsafe { self.with(put) };
        // The linearization point.
        self.leave(inside.pushed());
    }

    /// An index, or else the word that was found.
    #[inline(always)]
    pub(super) fn try_alloc(&self) -> Result<u32, UserWord> {
        let found = self.enter();
        found.last().map(|last| self.pop(found, last)).ok_or(found)
    }

    /// Takes an index back, if there is room and the index is below the guard; or else gives the word that was found.
    #[inline(always)]
    pub(super) fn try_free(&self, index: u32, header: &Header) -> Result<(), UserWord> {
        let found = self.enter();
        // The guard is read inside, so that whoever pressed before having looked in here is noticed.
        match found.room() {
            Some(place) if header.is_below_guard(index) => {
                self.push(found, place, index);
                Ok(())
            }
            _ => Err(found),
        }
    }

    /// Calls `f` with every ID. Exact, since nobody uses it meanwhile.
    pub(super) fn for_each(&mut self, parts: &Parts<'_>, mut f: impl FnMut(u32)) {
        let count = self.estimate();
        // SAFETY: I8: `&mut self`: nobody is inside.
        unsafe { self.with(|ids| ids.first(count as usize).iter().for_each(|index| f(parts.id(*index)))) }
    }

    /// How many IDs it had at some moment of the call, none if somebody was inside.
    pub(super) fn estimate(&self) -> u32 {
        UserWord(self.0.word.load(ord!("magazine-45", Relaxed))).count() as u32
    }
}

impl Default for UserCell {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for UserCell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UserCell").field("count", &self.estimate()).finish_non_exhaustive()
    }
}
