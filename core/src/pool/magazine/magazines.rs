//! Two magazines' worth of IDs in one array: what an owner cache and each stealable user have.

use super::{depot::Near, parts::Parts, storage::BLOCK};
use crate::{const_fn, ord, sync::OwnerWord};

/// The most IDs in a cache: with two magazines, a user that goes up and down by one magazine never goes to the depot.
pub const CACHE: usize = 2 * BLOCK;

/// The word of a count, as wide as an index, so that no instruction widens it.
#[cfg(target_pointer_width = "64")]
type CountWord = crate::sync::OwnerU64;
#[cfg(not(target_pointer_width = "64"))]
type CountWord = crate::sync::OwnerU32;

/// How many IDs there are: at most [`CACHE`] (I1). Whoever has the IDs writes it; others may look.
///
/// A word that is read again instead of kept is incremented in memory, by one instruction.
#[derive(Debug)]
pub(super) struct Count(CountWord);

impl Count {
    const_fn! {
        pub const fn new() -> Self {
            Self(crate::zero_word!(CountWord))
        }
    }

    #[inline(always)]
    pub fn get(&self) -> usize {
        OwnerWord::load(&self.0, ord!("magazine-46", Relaxed)) as usize
    }

    #[inline(always)]
    pub fn set(&self, count: usize) {
        OwnerWord::store(&self.0, count as u64, ord!("magazine-47", Relaxed));
    }

    /// One ID less. Only if there is one.
    #[inline(always)]
    pub fn decrement(&self) {
        self.set(self.get().wrapping_sub(1));
    }

    /// One ID more. Only if there is room.
    #[inline(always)]
    pub fn increment(&self) {
        self.set(self.get().wrapping_add(1));
    }
}

/// The IDs; how many of them count is kept beside. The coldest are at the bottom.
#[derive(Debug)]
pub(super) struct Magazines {
    halves: [[u32; BLOCK]; 2],
    /// Where a block was found last, empty or full.
    near: Near,
}

impl Magazines {
    /// Zero bytes.
    pub const fn new() -> Self {
        Self { halves: [[0; BLOCK]; 2], near: Near::HOME }
    }

    /// The ID at `at`.
    ///
    /// # Safety
    /// `at` is less than [`CACHE`].
    #[inline(always)]
    pub unsafe fn at(&self, at: usize) -> u32 {
        // SAFETY: as the caller promises.
        unsafe { *self.halves.as_flattened().get_unchecked(at) }
    }

    /// The place of the ID number `at`, if there is room for so many.
    #[inline(always)]
    pub fn place(&mut self, at: usize) -> Option<&mut u32> {
        self.halves.as_flattened_mut().get_mut(at)
    }

    /// The first `count` IDs.
    pub fn first(&self, count: usize) -> &[u32] {
        self.halves.as_flattened().get(..count).unwrap_or_default()
    }

    /// All places.
    pub fn all(&mut self) -> &mut [u32] {
        self.halves.as_flattened_mut()
    }

    /// Fills the lower half while both are empty, as [`Parts::fill`]. Returns how many IDs there are.
    #[inline(always)]
    pub fn fill(&mut self, parts: &Parts<'_>, users: usize) -> usize {
        parts.fill(&mut self.halves[0], &mut self.near, users)
    }

    /// As `fill`, or why not.
    pub fn fill_or_tell(&mut self, parts: &Parts<'_>) -> Result<usize, crate::pool::AllocError> {
        parts.fill_or_tell(&mut self.halves[0], &mut self.near)
    }

    /// Moves the lower, colder half to the depot while both are full. Returns how many IDs are left.
    pub fn flush_half(&mut self, parts: &Parts<'_>) -> usize {
        let [lower, upper] = &mut self.halves;
        if !parts.put(lower, &mut self.near) {
            parts.spill_all(lower);
        }
        *lower = *upper;
        BLOCK
    }

    /// Moves all `count` IDs to where everybody finds them.
    pub fn flush(&mut self, count: usize, parts: &Parts<'_>) {
        let mut left = count;
        for half in &self.halves {
            if left < BLOCK || !parts.put(half, &mut self.near) {
                parts.spill_all(half.get(..left.min(BLOCK)).unwrap_or_default());
            }
            left = left.saturating_sub(BLOCK);
        }
    }

    /// Takes the colder half, rounded up, of the `count` IDs of `victim` while this one is empty.
    /// Returns how many IDs are here now, and there.
    pub fn steal(&mut self, victim: &mut Self, count: usize) -> (usize, usize) {
        let stolen = count.div_ceil(2);
        for (to, from) in self.all().iter_mut().zip(victim.first(stolen)) {
            *to = *from;
        }
        if count <= CACHE {
            victim.all().copy_within(stolen..count, 0);
        }
        (stolen, count - stolen)
    }
}
