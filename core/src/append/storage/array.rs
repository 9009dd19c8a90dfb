//! `Array`: bytes in place.

use core::{fmt, mem::MaybeUninit, ptr::NonNull, slice};

use super::{AppendError, Spare, Storage};

/// `N` bytes in place, on the stack or in a structure, as the storage of an [`AppendBuf`](crate::append::AppendBuf).
///
/// The length comes first: the compiler then knows that no byte written behind it is part of it.
#[repr(C)]
pub struct Array<const N: usize> {
    /// At most `N`.
    len: usize,
    /// The first `len` are initialized.
    bytes: [MaybeUninit<u8>; N],
}

impl<const N: usize> Array<N> {
    /// Empty. The bytes are not written, so this costs nothing.
    pub const fn new() -> Self {
        Self { bytes: [MaybeUninit::uninit(); N], len: 0 }
    }
}

// SAFETY: S1: the bytes behind the first `len`, which is at most `N`. S2, S3: `len` alone says where they are. S4: `grow` always fails.
unsafe impl<const N: usize> Storage for Array<N> {
    #[inline(always)]
    fn as_slice(&self) -> &[u8] {
        // SAFETY: the first `len` of `N` bytes are initialized.
        unsafe { slice::from_raw_parts(self.bytes.as_ptr().cast(), self.len) }
    }

    #[inline(always)]
    fn as_mut_slice(&mut self) -> &mut [u8] {
        // SAFETY: as above.
        unsafe { slice::from_raw_parts_mut(self.bytes.as_mut_ptr().cast(), self.len) }
    }

    #[inline(always)]
    fn capacity(&self) -> usize {
        N
    }

    #[inline(always)]
    fn spare(&mut self) -> Spare {
        // SAFETY: `len` is at most `N`, and an array's pointer is not null.
        let next = unsafe { NonNull::new_unchecked(self.bytes.as_mut_ptr().add(self.len).cast()) };
        Spare { next, room: N - self.len }
    }

    #[inline(always)]
    unsafe fn advance(&mut self, spare: Spare, by: usize) {
        self.len = N - spare.room + by;
    }

    #[inline]
    fn truncate(&mut self, len: usize) {
        self.len = self.len.min(len);
    }

    #[inline(always)]
    fn grow(&mut self, by: usize) -> Result<(), AppendError> {
        Err(AppendError::full(self.len, by, N))
    }
}

impl<const N: usize> Default for Array<N> {
    fn default() -> Self {
        Self::new()
    }
}

impl<const N: usize> fmt::Debug for Array<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Array").field(&self.as_slice()).finish()
    }
}
