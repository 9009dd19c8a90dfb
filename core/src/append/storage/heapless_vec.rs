//! The vector of the crate heapless.

use core::ptr::NonNull;

use super::{AppendError, Spare, Storage};

// SAFETY: S1: the vector's spare capacity begins at its length. S2, S3: its length alone says where. S4: `grow` always fails.
unsafe impl<const N: usize> Storage for heapless::Vec<u8, N> {
    #[inline(always)]
    fn as_slice(&self) -> &[u8] {
        self
    }

    #[inline(always)]
    fn as_mut_slice(&mut self) -> &mut [u8] {
        self
    }

    #[inline(always)]
    fn capacity(&self) -> usize {
        N
    }

    #[inline(always)]
    fn spare(&mut self) -> Spare {
        let len = self.len();
        // SAFETY: the length is at most `N`, and a vector's pointer is not null.
        let next = unsafe { NonNull::new_unchecked(self.as_mut_ptr().add(len)) };
        Spare { next, room: N - len }
    }

    #[inline(always)]
    unsafe fn advance(&mut self, spare: Spare, by: usize) {
        let len = N - spare.room + by;
        // SAFETY: there is room, and the bytes are written, as promised to this function.
        unsafe { self.set_len(len) }
    }

    #[inline]
    fn truncate(&mut self, len: usize) {
        // The vector's own method.
        Self::truncate(self, len);
    }

    #[inline(always)]
    fn grow(&mut self, by: usize) -> Result<(), AppendError> {
        Err(AppendError::full(self.len(), by, N))
    }
}
