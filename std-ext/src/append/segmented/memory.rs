//! Memory for one value that many look at, and that one of them frees. A model puts its own in this place, which notices who comes too late.

use std::{
    alloc::{Layout, alloc},
    ptr::NonNull,
};

/// A value on the heap.
pub(crate) struct Block<T>(T);

impl<T> Block<T> {
    /// On the heap; or the value again, if there is no memory.
    pub(crate) fn allocate(value: T) -> Result<NonNull<Self>, T> {
        let layout = const {
            assert!(size_of::<T>() != 0, "the allocator is not asked for nothing");
            Layout::new::<Self>()
        };
        // SAFETY: its size is not 0.
        let Some(block) = NonNull::new(unsafe { alloc(layout) }.cast::<Self>()) else { return Err(value) };
        // SAFETY: memory of that layout, which nobody else has.
        unsafe { block.write(Self(value)) };
        Ok(block)
    }

    /// The value.
    #[inline(always)]
    pub(crate) fn get(&self) -> &T {
        &self.0
    }

    /// Drops the value.
    ///
    /// # Safety
    /// It came from [`allocate`](Self::allocate), and nobody looks at it any more.
    pub(crate) unsafe fn free(block: NonNull<Self>) {
        // SAFETY: as promised: the global allocator's memory, of the layout that a box has.
        drop(unsafe { Box::from_raw(block.as_ptr()) });
    }
}
