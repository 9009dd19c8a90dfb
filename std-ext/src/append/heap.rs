//! `Heap`: a storage that grows.

use std::{
    alloc::{Layout, alloc, dealloc, realloc},
    fmt,
    mem::ManuallyDrop,
    ptr::NonNull,
};

use jeton_core::append::{AppendBuf, AppendError, DEFAULT_CAP, Region, Spare, Storage, grown_capacity};

/// Bytes on the heap, twice as many each time they do not suffice, up to a cap.
///
/// It begins without memory, takes 512 bytes at first, and never has more than the cap: 64 MiB, or what [`with_cap`](Self::with_cap) says.
/// Dropping it frees the memory.
pub struct Heap {
    /// H1.
    region: Region,
    /// H2.
    cap: usize,
}

/// A buffer that grows.
pub type GrowBuf = AppendBuf<Heap>;

// SAFETY: H1: the memory is this storage's own.
unsafe impl Send for Heap {}
// SAFETY: H1, and a shared `Heap` can only be read.
unsafe impl Sync for Heap {}

impl Heap {
    /// Empty, with a cap of 64 MiB.
    pub const fn new() -> Self {
        Self::with_cap(DEFAULT_CAP)
    }

    /// Empty, and never longer than `cap` bytes; nor than `isize::MAX`, which is the longest there is.
    pub const fn with_cap(cap: usize) -> Self {
        let longest = isize::MAX as usize;
        Self { region: Region::EMPTY, cap: if cap < longest { cap } else { longest } }
    }

    /// The most bytes that it may have.
    pub const fn cap(&self) -> usize {
        self.cap
    }

    /// The bytes, as a vector of the same memory.
    pub fn into_vec(self) -> Vec<u8> {
        let region = ManuallyDrop::new(self).region;
        // SAFETY: H1, which is what a vector's memory is, or a dangling pointer and 0; `len` bytes are initialized, and are not more;
        // and it is not freed here any more.
        unsafe { Vec::from_raw_parts(region.start().as_ptr(), region.len(), region.capacity()) }
    }
}

/// The region with room for `by` bytes more. By value, so that the caller's own copy may stay in registers.
#[cold]
#[inline(never)]
fn grown(region: Region, by: usize, cap: usize) -> Result<Region, AppendError> {
    let (len, before) = (region.len(), region.capacity());
    let capacity = grown_capacity(len, by, before, cap)?;
    // No error, by H2.
    let layout = Layout::array::<u8>(capacity).map_err(|_| AppendError::Alloc)?;
    let start = if before == 0 {
        // SAFETY: `capacity` is at least `by`, which is not 0: there was no room for it.
        unsafe { alloc(layout) }
    } else {
        // SAFETY: H1: the memory came from here with this layout. `capacity` is not 0, and at most `isize::MAX` (H2).
        unsafe { realloc(region.start().as_ptr(), Layout::array::<u8>(before).map_err(|_| AppendError::Alloc)?, capacity) }
    };
    let start = NonNull::new(start).ok_or(AppendError::Alloc)?;
    // SAFETY: the allocation has `capacity` bytes, more than `len`, and `realloc` has moved the first `len`.
    Ok(unsafe { Region::new(start, len, capacity) })
}

// SAFETY: S1: the region is this storage's own memory (H1). S2, S3: `Region`. S4: `grown`, and H3.
unsafe impl Storage for Heap {
    #[inline(always)]
    fn as_slice(&self) -> &[u8] {
        // SAFETY: H1, and only `&mut self` writes.
        unsafe { self.region.as_slice() }
    }

    #[inline(always)]
    fn as_mut_slice(&mut self) -> &mut [u8] {
        // SAFETY: H1, and `&mut self`.
        unsafe { self.region.as_mut_slice() }
    }

    #[inline(always)]
    fn capacity(&self) -> usize {
        self.region.capacity()
    }

    #[inline(always)]
    fn spare(&mut self) -> Spare {
        self.region.spare()
    }

    #[inline(always)]
    unsafe fn advance(&mut self, spare: Spare, by: usize) {
        // SAFETY: as promised to this function.
        unsafe { self.region.advance(spare, by) }
    }

    #[inline]
    fn truncate(&mut self, len: usize) {
        self.region.truncate(len);
    }

    #[inline(always)]
    fn grow(&mut self, by: usize) -> Result<(), AppendError> {
        self.region = grown(self.region, by, self.cap)?;
        Ok(())
    }
}

impl Drop for Heap {
    fn drop(&mut self) {
        if let Ok(layout) = Layout::array::<u8>(self.region.capacity())
            && layout.size() != 0
        {
            // SAFETY: H1: the memory came from the global allocator with this layout.
            unsafe { dealloc(self.region.start().as_ptr(), layout) };
        }
    }
}

impl Default for Heap {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Heap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Heap").field("len", &self.region.len()).field("capacity", &self.capacity()).field("cap", &self.cap).finish()
    }
}
