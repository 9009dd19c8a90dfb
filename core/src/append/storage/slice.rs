//! `Slice`: somebody else's bytes.

use core::{fmt, marker::PhantomData, ptr::NonNull};

use super::{AppendError, Region, Spare, Storage};

/// Why a region that cannot grow does not take `by` bytes.
#[cold]
#[inline(never)]
fn refused(region: Region, by: usize) -> AppendError {
    AppendError::full(region.len(), by, region.capacity())
}

/// Somebody's slice, as the storage of an [`AppendBuf`](crate::append::AppendBuf): nothing is allocated or copied.
pub struct Slice<'a> {
    region: Region,
    bytes: PhantomData<&'a mut [u8]>,
}

// SAFETY: I1: the region is the slice that was borrowed mutably, which may go to another thread.
unsafe impl Send for Slice<'_> {}
// SAFETY: I1: a shared `Slice` can only be read.
unsafe impl Sync for Slice<'_> {}

impl<'a> Slice<'a> {
    /// Appends from the first byte of `bytes` on.
    pub const fn new(bytes: &'a mut [u8]) -> Self {
        let capacity = bytes.len();
        // SAFETY: a slice's pointer is not null. I1: these are its bytes, borrowed for 'a.
        let region = unsafe { Region::new(NonNull::new_unchecked(bytes.as_mut_ptr()), 0, capacity) };
        Self { region, bytes: PhantomData }
    }

    /// The bytes appended, for as long as the slice was borrowed.
    pub fn into_bytes(mut self) -> &'a mut [u8] {
        // SAFETY: I1: borrowed mutably for 'a, and nobody appends any more.
        unsafe { self.region.as_mut_slice() }
    }
}

// SAFETY: S1: the region's room is in the borrowed slice (I1). S2, S3: `Region`. S4: `grow` always fails.
unsafe impl Storage for Slice<'_> {
    #[inline(always)]
    fn as_slice(&self) -> &[u8] {
        // SAFETY: I1: borrowed for longer than `self` is, and only `&mut self` writes.
        unsafe { self.region.as_slice() }
    }

    #[inline(always)]
    fn as_mut_slice(&mut self) -> &mut [u8] {
        // SAFETY: I1, and `&mut self`.
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
        Err(refused(self.region, by))
    }
}

impl fmt::Debug for Slice<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Slice").field(&self.as_slice()).finish()
    }
}
