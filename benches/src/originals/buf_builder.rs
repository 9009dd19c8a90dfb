//! A growing buffer in three shapes: where the room is tested, and where memory is made. The one of MongoDB's `BufBuilder`, before and after.

use std::{
    alloc::{Layout, dealloc, handle_alloc_error, realloc},
    marker::PhantomData,
    ptr::{self, NonNull},
};

use jeton::append::{AppendError, Put};

/// The capacity that an empty buffer gets.
pub const FIRST: usize = 512;
/// What one append beyond the doubled capacity gets more than it needs.
pub const SLACK: usize = 16 * 1024;
/// The capacity that no buffer exceeds.
pub const CAP: usize = 64 * 1024 * 1024;

/// A buffer for one message.
///
/// Known faults, which are the original's: the length is advanced before the room is tested, so that after a refusal it counts bytes that are
/// not there, and every later append is refused, also one that would fit; a capacity that doubled exceeds the cap is refused though what is
/// needed would fit. Not taken over: the original counts in `int`.
#[derive(Debug)]
pub struct BufBuilder<G> {
    memory: Memory,
    grows: PhantomData<G>,
}

/// Invariant: `data` are `capacity` bytes of the global allocator, or dangling if that is 0; the first `len` of them are initialized if
/// there are so many. Neither number is greater than `isize::MAX`.
#[derive(Debug)]
pub struct Memory {
    data: NonNull<u8>,
    len: usize,
    capacity: usize,
}

/// How a buffer makes sure of room.
pub trait Grow {
    /// Advances the length by `by` bytes, and returns where they go.
    ///
    /// # Errors
    /// [`AppendError::Full`], with the length advanced.
    fn grow(memory: &mut Memory, by: usize) -> Result<NonNull<u8>, AppendError>;
}

/// All of it in one function that is called for each append: MongoDB's until 2010.
#[derive(Debug)]
pub struct Whole;

/// The test is in a function that is called for each append; making memory is apart.
#[derive(Debug)]
pub struct Checked;

/// The test is in the caller; making memory is apart: MongoDB's since 2010.
#[derive(Debug)]
pub struct Split;

impl Grow for Whole {
    #[inline(never)]
    fn grow(memory: &mut Memory, by: usize) -> Result<NonNull<u8>, AppendError> {
        let (at, fits) = memory.advance(by);
        if !fits {
            memory.reallocate()?;
        }
        // SAFETY: there is room for all of the length now.
        Ok(unsafe { memory.data.add(at) })
    }
}

impl Grow for Checked {
    #[inline(never)]
    fn grow(memory: &mut Memory, by: usize) -> Result<NonNull<u8>, AppendError> {
        let (at, fits) = memory.advance(by);
        if !fits {
            memory.reallocate_apart()?;
        }
        // SAFETY: there is room for all of the length now.
        Ok(unsafe { memory.data.add(at) })
    }
}

impl Grow for Split {
    #[inline(always)]
    fn grow(memory: &mut Memory, by: usize) -> Result<NonNull<u8>, AppendError> {
        let (at, fits) = memory.advance(by);
        if !fits {
            memory.reallocate_apart()?;
        }
        // SAFETY: there is room for all of the length now.
        Ok(unsafe { memory.data.add(at) })
    }
}

impl Memory {
    /// The old length, and whether there is room for the new one.
    #[inline(always)]
    fn advance(&mut self, by: usize) -> (usize, bool) {
        let at = self.len;
        // No overflow: neither is greater than `isize::MAX`.
        self.len += by;
        (at, self.len <= self.capacity)
    }

    #[cold]
    #[inline(never)]
    fn reallocate_apart(&mut self) -> Result<(), AppendError> {
        self.reallocate()
    }

    /// Makes room for the length, which is greater than the capacity: by the rule of the original.
    #[inline(always)]
    fn reallocate(&mut self) -> Result<(), AppendError> {
        let needed = self.len;
        let mut capacity = if self.capacity == 0 { FIRST } else { self.capacity * 2 };
        if needed > capacity {
            capacity = needed.saturating_add(SLACK);
        }
        if capacity > CAP {
            self.len = needed.min(isize::MAX as usize);
            return Err(AppendError::Full { needed, cap: CAP });
        }
        let data = match self.layout() {
            // SAFETY: this memory was allocated with this layout; the new size is neither 0 nor greater than the cap.
            Some(layout) => unsafe { realloc(self.data.as_ptr(), layout, capacity) },
            // SAFETY: the size is not 0.
            None => unsafe { std::alloc::alloc(bytes(capacity)) },
        };
        self.data = NonNull::new(data).unwrap_or_else(|| handle_alloc_error(bytes(capacity)));
        self.capacity = capacity;
        Ok(())
    }

    fn layout(&self) -> Option<Layout> {
        (self.capacity != 0).then(|| bytes(self.capacity))
    }
}

/// At most [`CAP`] bytes.
fn bytes(capacity: usize) -> Layout {
    Layout::array::<u8>(capacity).unwrap_or(Layout::new::<u8>())
}

impl<G> BufBuilder<G> {
    /// Without memory.
    pub const fn new() -> Self {
        Self { memory: Memory { data: NonNull::dangling(), len: 0, capacity: 0 }, grows: PhantomData }
    }

    /// The length, as the original counts it: too much after a refusal.
    pub const fn len(&self) -> usize {
        self.memory.len
    }

    /// Whether nothing was appended.
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many bytes fit without making memory.
    pub const fn capacity(&self) -> usize {
        self.memory.capacity
    }

    /// The bytes; `None` after a refusal, when the length counts bytes that are not there.
    pub fn bytes(&mut self) -> Option<&mut [u8]> {
        let Memory { data, len, capacity } = self.memory;
        // SAFETY: by the test, and the memory's invariant; the memory is borrowed.
        (len <= capacity).then(|| unsafe { std::slice::from_raw_parts_mut(data.as_ptr(), len) })
    }

    /// Forgets the bytes, and keeps the memory.
    pub fn clear(&mut self) {
        self.memory.len = 0;
    }
}

impl<G> Default for BufBuilder<G> {
    fn default() -> Self {
        Self::new()
    }
}

impl<G: Grow> Put for BufBuilder<G> {
    #[inline(always)]
    fn put(&mut self, bytes: &[u8]) -> Result<(), AppendError> {
        let to = G::grow(&mut self.memory, bytes.len())?;
        // SAFETY: `grow` has made room for so many bytes there; nobody else has the memory.
        unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), to.as_ptr(), bytes.len()) };
        Ok(())
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        if let Some(layout) = self.layout() {
            // SAFETY: it was allocated with this layout.
            unsafe { dealloc(self.data.as_ptr(), layout) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn growth_of<G: Grow>() {
        let mut builder = BufBuilder::<G>::new();
        assert_eq!((builder.capacity(), builder.is_empty(), builder.bytes()), (0, true, Some(&mut [][..])));
        builder.put_u8(1).expect("room");
        assert_eq!(builder.capacity(), FIRST);
        builder.put(&[2; FIRST]).expect("room");
        assert_eq!(builder.capacity(), 2 * FIRST);
        builder.put(&[3; 5_000]).expect("room");
        assert_eq!((builder.len(), builder.capacity()), (5_513, 5_513 + SLACK));
        assert_eq!(builder.bytes().map(|bytes| (bytes[0], bytes[512], bytes[5_512])), Some((1, 2, 3)));
        builder.clear();
        builder.put_u8(4).expect("room");
        assert_eq!(builder.bytes(), Some(&mut [4][..]));
    }

    #[test]
    fn all_three_grow_alike() {
        growth_of::<Whole>();
        growth_of::<Checked>();
        growth_of::<Split>();
    }

    #[test]
    fn a_refusal_has_the_faults_of_the_original() {
        let half = vec![0; CAP / 2 + 1];
        let mut builder = BufBuilder::<Split>::new();
        builder.put(&half).expect("its slack fits too");
        assert_eq!(
            builder.put(&half[..CAP / 2 - 1]),
            Err(AppendError::Full { needed: CAP, cap: CAP }),
            "twice the capacity is too much"
        );
        assert_eq!((builder.len(), builder.bytes()), (CAP, None), "advanced");
        assert_eq!(builder.put_u8(1), Err(AppendError::Full { needed: CAP + 1, cap: CAP }), "though it would fit");
    }
}
