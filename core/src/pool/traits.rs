//! What the pools have in common, for the wrappers around them.

use super::{AllocError, FreeError, RangeError};

/// A range of IDs, from `base` to `base + capacity − 1`.
///
/// Whatever implements it answers the same for as long as it lives.
pub trait IdRange {
    /// No value of this type has more IDs, so that a wrapper can check its own size when it is compiled. Storage whose size is known
    /// only at run time leaves this at the highest number.
    const MAX_CAPACITY: u32 = u32::MAX;

    /// The first ID.
    fn base(&self) -> u32;

    /// How many IDs there are, allocated or not.
    fn capacity(&self) -> u32;
}

/// A pool that any number of threads may use through a shared reference.
pub trait Pool: IdRange {
    /// An ID that nobody has.
    ///
    /// # Errors
    /// As the pool's own `alloc`.
    fn alloc(&self) -> Result<u32, AllocError>;

    /// Takes an ID back.
    ///
    /// # Errors
    /// As the pool's own `free`. A refused ID changes nothing.
    fn free(&self, id: u32) -> Result<(), FreeError>;

    /// As `alloc`: the ID as its distance from [`base`](IdRange::base). For wrappers that keep something for each ID.
    ///
    /// # Errors
    /// As `alloc`.
    #[inline(always)]
    fn alloc_index(&self) -> Result<u32, AllocError> {
        self.alloc().map(|id| id.wrapping_sub(self.base()))
    }

    /// As `free`, of the ID at this distance from [`base`](IdRange::base).
    ///
    /// # Errors
    /// As `free`.
    #[inline(always)]
    fn free_index(&self, index: u32) -> Result<(), FreeError> {
        self.free(self.base().wrapping_add(index))
    }
}

/// One user's way to a pool: `&P` for every [`Pool`], and a cache that one owner has.
pub trait PoolUser: IdRange {
    /// An ID that nobody has.
    ///
    /// # Errors
    /// As the pool's own `alloc`.
    fn alloc(&mut self) -> Result<u32, AllocError>;

    /// Takes an ID back.
    ///
    /// # Errors
    /// As the pool's own `free`. A refused ID changes nothing.
    fn free(&mut self, id: u32) -> Result<(), FreeError>;

    /// As `alloc`: the ID as its distance from [`base`](IdRange::base). For wrappers that keep something for each ID.
    ///
    /// # Errors
    /// As `alloc`.
    #[inline(always)]
    fn alloc_index(&mut self) -> Result<u32, AllocError> {
        self.alloc().map(|id| id.wrapping_sub(self.base()))
    }

    /// As `free`, of the ID at this distance from [`base`](IdRange::base).
    ///
    /// # Errors
    /// As `free`.
    #[inline(always)]
    fn free_index(&mut self, index: u32) -> Result<(), FreeError> {
        self.free(self.base().wrapping_add(index))
    }
}

impl<P: IdRange + ?Sized> IdRange for &P {
    const MAX_CAPACITY: u32 = u32::MAX;

    #[inline(always)]
    fn base(&self) -> u32 {
        (**self).base()
    }

    #[inline(always)]
    fn capacity(&self) -> u32 {
        (**self).capacity()
    }
}

impl<P: Pool + ?Sized> PoolUser for &P {
    #[inline(always)]
    fn alloc(&mut self) -> Result<u32, AllocError> {
        P::alloc(self)
    }

    #[inline(always)]
    fn free(&mut self, id: u32) -> Result<(), FreeError> {
        P::free(self, id)
    }

    #[inline(always)]
    fn alloc_index(&mut self) -> Result<u32, AllocError> {
        P::alloc_index(self)
    }

    #[inline(always)]
    fn free_index(&mut self, index: u32) -> Result<(), FreeError> {
        P::free_index(self, index)
    }
}

/// Whether `capacity` IDs from `base` on are 32-bit numbers, and storage for `room` of them suffices.
///
/// # Errors
/// [`RangeError`], with what was asked for.
#[allow(dead_code, reason = "a target without read-modify-writes has no pools")]
pub(super) const fn check_range(base: u32, capacity: u32, room: u64) -> Result<(), RangeError> {
    // In 64 bits: base + capacity itself may be 2^32.
    if base as u64 + capacity as u64 > 1 << 32 {
        return Err(RangeError::PastLastId { base, capacity });
    }
    if capacity as u64 > room {
        return Err(RangeError::StorageTooSmall { capacity });
    }
    Ok(())
}
