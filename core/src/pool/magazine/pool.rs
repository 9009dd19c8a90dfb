//! `MagazinePool`: the range of IDs, and what is in no cache.

use core::fmt;

use super::{
    Cache,
    depot::FULL,
    parts::{Header, Parts},
    spill::index_at,
    storage::{BLOCK, Block, Blocks, GROUP, Group, Slices, Spill, Storage},
};
use crate::{
    const_fn, ord,
    pool::{IdRange, RangeError, traits::check_range},
};

/// IDs for any number of users, each of whom takes and gives them through a cache of its own: 64 at a time pass between them.
///
/// The storage `S` is [`Blocks<N>`](Blocks), in the pool itself (64 · `N` IDs, at most 2048), or [`Slices`], borrowed ones of any size.
///
/// # Examples
/// ```
/// use jeton_core::pool::{Blocks, MagazinePool};
/// static POOL: MagazinePool<Blocks<16>> = MagazinePool::new(); // 1024 IDs; zero bytes in .bss
///
/// std::thread::scope(|scope| {
///     for _ in 0..2 {
///         scope.spawn(|| {
///             let mut cache = POOL.cache();
///             let mut ids = [0; 100];
///             assert_eq!(cache.alloc_into(&mut ids), 100);
///             cache.free_slice(&ids)
///         });
///     }
/// });
/// ```
#[derive(Debug)]
pub struct MagazinePool<S: Storage> {
    header: Header,
    storage: S,
}

impl<const N: usize> MagazinePool<Blocks<N>> {
    const_fn! {
        /// All 64 · `N` IDs from 0 on.
        pub const fn new() -> Self {
            Self { header: Header::new(0, 0), storage: Blocks::new() }
        }
    }

    const_fn! {
        /// `capacity` IDs from `base` on. In a `static` the pool then lies in .data instead of .bss.
        ///
        /// # Errors
        /// [`RangeError`] if the last ID would not be a `u32`, or the blocks do not suffice.
        pub const fn with_range(base: u32, capacity: u32) -> Result<Self, RangeError> {
            let room = (N * BLOCK) as u32;
            match check_range(base, capacity, room as u64) {
                Ok(()) => Ok(Self { header: Header::new(base, room - capacity), storage: Blocks::new() }),
                Err(error) => Err(error),
            }
        }
    }
}

impl<'a> MagazinePool<Slices<'a>> {
    /// `capacity` IDs from `base` on, in borrowed storage; [`Slices::lengths`] says how much. What lies there is overwritten.
    ///
    /// # Errors
    /// [`RangeError`] if the last ID would not be a `u32`, or a slice is too short.
    pub fn over(
        (blocks, spills, groups): (&'a mut [Block], &'a mut [Spill], &'a mut [Group]),
        base: u32,
        capacity: u32,
    ) -> Result<Self, RangeError> {
        Self::over_storage(Slices::new(blocks, spills, groups), base, capacity)
    }
}

impl<S: Storage> MagazinePool<S> {
    /// `capacity` IDs from `base` on, in storage that is new.
    ///
    /// # Errors
    /// [`RangeError`]
    #[doc(hidden)]
    pub fn over_storage(storage: S, base: u32, capacity: u32) -> Result<Self, RangeError> {
        let blocks = storage.blocks().len().min(storage.spills().len()).min(storage.groups().len() * GROUP);
        check_range(base, capacity, (blocks * BLOCK) as u64)?;
        let withheld = (storage.blocks().len().wrapping_mul(BLOCK) as u32).wrapping_sub(capacity);
        Ok(Self { header: Header::new(base, withheld), storage })
    }

    #[inline(always)]
    pub(super) fn parts(&self, home: usize) -> Parts<'_> {
        let storage = &self.storage;
        let groups = storage.groups();
        let summaries = groups.get(..groups.len().div_ceil(GROUP)).unwrap_or_default();
        let base = self.header.front.base;
        Parts { header: &self.header, base, home, blocks: storage.blocks(), spills: storage.spills(), groups, summaries }
    }

    #[inline(always)]
    pub(super) fn groups(&self) -> usize {
        self.storage.groups().len()
    }

    #[inline(always)]
    pub(super) fn header(&self) -> &Header {
        &self.header
    }

    /// A cache for one owner. It begins empty.
    pub fn cache(&self) -> Cache<'_> {
        // Each cache another one, so that a few, each in a thread of its own, do not meet.
        let before = self.header.caches.fetch_add(1, ord!("magazine-56", Relaxed)) as usize;
        let groups = self.storage.groups().len();
        let home = before.checked_rem(groups).unwrap_or_default();
        Cache::new(self.parts(home))
    }

    /// How many IDs have ever been taken out of the range, in steps of up to 64, at some moment of the call: the highest ID handed
    /// out is less than `base + minted`.
    pub fn minted(&self) -> u32 {
        self.header.front.next.load(ord!("magazine-36", Relaxed))
    }

    /// How many IDs are neither taken nor in a cache, read piece by piece: no more than an estimate while others use the pool.
    pub fn available(&self) -> u32 {
        let parts = self.parts(0);
        let full = |group: &Group| group.blocks.full.load(ord!("magazine-37", Relaxed)).count_ones();
        let full: u32 = parts.groups.iter().map(full).sum();
        let spilled = self.header.spilled.load(ord!("magazine-38", Relaxed));
        let fresh = parts.capacity() - self.minted();
        fresh.wrapping_add(full.wrapping_mul(BLOCK as u32)).wrapping_add(spilled).min(parts.capacity())
    }

    /// Asks the next `free` of a cache to flush that cache.
    ///
    /// For a user who finds none while others may have many cached. One `free` heeds it, and whoever still finds none asks again. Beside
    /// stealable users that may be a `free` of theirs, which has nothing to flush.
    pub fn press(&self) {
        self.parts(0).press();
    }

    /// Calls `f` with every ID that is neither taken nor in a cache. Exact, since nobody uses the pool meanwhile.
    pub fn for_each_available(&mut self, mut f: impl FnMut(u32)) {
        let parts = self.parts(0);
        (self.minted()..parts.capacity()).for_each(|index| f(parts.id(index)));
        for (index, block) in parts.blocks.iter().enumerate() {
            let full = parts.groups.get(index / GROUP).map_or(0, |group| (FULL.word)(group).load(ord!("magazine-48", Relaxed)));
            if full & super::storage::bit(index) != 0 {
                // SAFETY: I2: `&mut self`: nobody holds a claim.
                block.0.with(|ids| unsafe { *ids }).into_iter().for_each(|index| f(parts.id(index)));
            }
        }
        for (block, spill) in parts.spills.iter().enumerate() {
            for (word, bits) in spill.0.iter().enumerate() {
                let bits = bits.load(ord!("magazine-39", Relaxed));
                (0..32).filter(|bit| bits >> bit & 1 != 0).for_each(|bit| f(parts.id(index_at(block, word, bit))));
            }
        }
    }
}

impl<S: Storage> IdRange for MagazinePool<S> {
    const MAX_CAPACITY: u32 = S::MOST;

    #[inline]
    fn base(&self) -> u32 {
        self.header.front.base
    }

    #[inline]
    fn capacity(&self) -> u32 {
        self.parts(0).capacity()
    }
}

impl<const N: usize> Default for MagazinePool<Blocks<N>> {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Header {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Header").field("base", &self.front.base).finish_non_exhaustive()
    }
}
