//! `Cache`: one owner's IDs, at the cost of an array access.

use core::{cell::Cell, fmt, hint::cold_path, marker::PhantomData};

use super::{
    magazines::{Count, Magazines},
    parts::Parts,
};
use crate::pool::{AllocError, FreeError, IdRange, PoolUser, SliceError};

/// One owner's cache of a [`MagazinePool`](super::MagazinePool): up to 128 IDs, from which allocating is a read of an array.
///
/// Its IDs count as taken: nobody else can have them until it is dropped, is [flushed](Self::flush), or has 128 and frees one more.
/// Forgetting it strands them, [`len`](Self::len) of them and never more than 128, until the pool is made anew.
///
/// `Send` but not `Sync`: it moves between threads, and one at a time uses it.
///
/// # Ordering
/// What was done before [`free`](Self::free) of an ID comes before everything that is done with it after it is allocated again.
///
/// # Examples
/// ```
/// use jeton_core::pool::{Blocks, MagazinePool};
/// static POOL: MagazinePool<Blocks<4>> = MagazinePool::new();
/// let mut cache = POOL.cache();
/// let id = cache.alloc()?;
/// assert_eq!(id, 0);
/// cache.free(id)?;
/// assert!(cache.free(200).is_err(), "no cache has held it");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
/// It cannot be shared between threads:
/// ```compile_fail
/// # use jeton_core::pool::{Blocks, MagazinePool};
/// fn share<T: Sync>(_: T) {}
/// static POOL: MagazinePool<Blocks<4>> = MagazinePool::new();
/// share(POOL.cache());
/// ```
pub struct Cache<'p> {
    parts: Parts<'p>,
    count: Count,
    ids: Magazines,
    /// Not `Sync`, as a `Cell`.
    owner: PhantomData<Cell<()>>,
}

impl<'p> Cache<'p> {
    pub(super) fn new(parts: Parts<'p>) -> Self {
        Self { parts, count: Count::new(), ids: Magazines::new(), owner: PhantomData }
    }

    /// How many IDs it holds that nobody has.
    #[inline]
    pub fn len(&self) -> usize {
        self.count.get()
    }

    /// Whether it holds none. Allocating may succeed all the same.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.count.get() == 0
    }

    /// An ID that nobody has. Wait-free while the cache has one, and lock-free otherwise.
    ///
    /// # Errors
    /// [`Exhausted`](AllocError::Exhausted) if at some instant of the call all IDs were taken, or in caches;
    /// [`Contended`](AllocError::Contended) if it found none and others were moving some.
    #[inline]
    pub fn alloc(&mut self) -> Result<u32, AllocError> {
        self.alloc_index().map(|index| self.parts.id(index))
    }

    #[inline(always)]
    fn alloc_index(&mut self) -> Result<u32, AllocError> {
        match self.count.get().checked_sub(1) {
            Some(last) => Ok(self.pop(last)),
            None => self.alloc_from_pool(),
        }
    }

    #[cold]
    #[inline(never)]
    fn alloc_from_pool(&mut self) -> Result<u32, AllocError> {
        // At least one and at most BLOCK.
        let filled = match self.ids.fill(&self.parts, 1) {
            0 => self.ids.fill_or_tell(&self.parts)?,
            filled => filled,
        };
        self.count.set(filled);
        Ok(self.pop(filled - 1))
    }

    #[inline(always)]
    fn pop(&mut self, last: usize) -> u32 {
        // SAFETY: I1: `last` is less than the count, which is at most CACHE.
        let index = unsafe { self.ids.at(last) };
        self.count.decrement();
        index
    }

    /// Takes an ID back, from whichever user. Wait-free while the cache has room, and lock-free otherwise; it never fails for want
    /// of room.
    ///
    /// An ID that is freed twice is not noticed here: [`Checked`](crate::pool::Checked) does that.
    ///
    /// # Errors
    /// [`OutOfRange`](FreeError::OutOfRange), or [`NotAllocated`](FreeError::NotAllocated) if no cache has ever held it.
    #[inline]
    pub fn free(&mut self, id: u32) -> Result<(), FreeError> {
        self.free_index(self.parts.index(id))
    }

    #[inline(always)]
    fn free_index(&mut self, index: u32) -> Result<(), FreeError> {
        if self.parts.is_below_guard(index) && self.push(index) {
            return Ok(());
        }
        cold_path();
        self.free_to_pool(index)
    }

    #[cold]
    #[inline(never)]
    fn free_to_pool(&mut self, index: u32) -> Result<(), FreeError> {
        let pressed = self.parts.look_at(index)?;
        if !self.push(index) {
            let left = self.ids.flush_half(&self.parts);
            self.count.set(left);
            self.push(index);
        }
        if pressed {
            self.flush();
        }
        Ok(())
    }

    /// Adds an ID, if there is room.
    #[inline(always)]
    fn push(&mut self, index: u32) -> bool {
        let Some(place) = self.ids.place(self.count.get()) else { return false };
        *place = index;
        self.count.increment();
        true
    }

    /// Allocates into `ids` from the front. Returns how many: fewer than asked for only if [`alloc`](Self::alloc) then fails.
    pub fn alloc_into(&mut self, ids: &mut [u32]) -> usize {
        let mut done = 0;
        while let Some(rest) = ids.get_mut(done..).filter(|rest| !rest.is_empty()) {
            if self.is_empty() {
                match self.ids.fill_or_tell(&self.parts) {
                    Ok(filled) => self.count.set(filled),
                    Err(_) => break,
                }
            }
            let (parts, cached) = (&self.parts, self.ids.first(self.count.get()));
            let taken = cached.iter().rev().zip(rest).map(|(index, id)| *id = parts.id(*index)).count();
            self.count.set(self.count.get() - taken);
            done += taken;
        }
        done
    }

    /// Takes all of `ids` back, from the front.
    ///
    /// # Errors
    /// [`SliceError`] at the first ID that is refused; those before it are back.
    pub fn free_slice(&mut self, ids: &[u32]) -> Result<(), SliceError> {
        SliceError::free_each(ids, |id| self.free(id))
    }

    /// Gives back to everybody all IDs that the cache holds.
    #[inline(never)]
    pub fn flush(&mut self) {
        self.ids.flush(self.count.get(), &self.parts);
        self.count.set(0);
    }
}

impl IdRange for Cache<'_> {
    #[inline]
    fn base(&self) -> u32 {
        self.parts.base
    }

    #[inline]
    fn capacity(&self) -> u32 {
        self.parts.capacity()
    }
}

impl PoolUser for Cache<'_> {
    #[inline(always)]
    fn alloc(&mut self) -> Result<u32, AllocError> {
        self.alloc()
    }

    #[inline(always)]
    fn free(&mut self, id: u32) -> Result<(), FreeError> {
        self.free(id)
    }

    #[inline(always)]
    fn alloc_index(&mut self) -> Result<u32, AllocError> {
        self.alloc_index()
    }

    #[inline(always)]
    fn free_index(&mut self, index: u32) -> Result<(), FreeError> {
        self.free_index(index)
    }
}

impl Drop for Cache<'_> {
    fn drop(&mut self) {
        self.flush();
    }
}

impl fmt::Debug for Cache<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cache").field("len", &self.len()).finish_non_exhaustive()
    }
}
