//! `Cursor`: an append whose place and room are values, which stay in registers.

use core::{
    fmt,
    marker::PhantomData,
    ptr::{self, NonNull},
};

use super::{AppendError, Put, Spare, Storage};

/// Room that [`AppendBuf::reserve`](super::AppendBuf::reserve) has made sure of, filled from its beginning on.
///
/// The buffer has its bytes after [`commit`](Self::commit), and none of them if the cursor is dropped or forgotten instead.
///
/// Why it is faster than the buffer itself: the buffer's own pointer is in memory, and for all that the compiler knows the byte just
/// written may be part of it; so it is read again for each append. A cursor is a local value that no byte can be part of.
///
/// # Examples
/// ```
/// use jeton_core::append::{AppendBuf, AppendError, Array, Put};
///
/// let mut buf = AppendBuf::new(Array::<64>::new());
/// let mut field = buf.reserve(1 + 4 + 8)?; // the one test
/// field.put_u8(1)?;
/// field.put_cstr(c"abc")?;
/// field.put_f64_le(1.0)?;
/// assert_eq!(field.put_u8(0), Err(AppendError::Full { needed: 14, cap: 13 }));
/// field.commit();
///
/// let mut abandoned = buf.reserve(10)?;
/// abandoned.put_u32_le(7)?;
/// drop(abandoned);
/// assert_eq!(buf.len(), 13);
/// # Ok::<(), AppendError>(())
/// ```
#[must_use = "nothing is appended until it is committed"]
pub struct Cursor<'a, S> {
    /// A pointer, since a reference would claim the bytes that lie in the storage, and end the right to write through `next`.
    storage: NonNull<S>,
    borrowed: PhantomData<&'a mut S>,
    /// The storage's room when this was made.
    spare: Spare,
    /// Where the next byte goes.
    next: NonNull<u8>,
    /// How many more fit.
    room: usize,
    reserved: usize,
}

impl<'a, S: Storage> Cursor<'a, S> {
    /// # Safety
    /// `storage` has room for `reserved` bytes.
    #[inline(always)]
    pub(super) unsafe fn new(storage: &'a mut S, reserved: usize) -> Self {
        let mut storage = NonNull::from(storage);
        // SAFETY: it has just been a reference. `spare` comes from the pointer that `commit` uses, not from that reference.
        let spare = unsafe { storage.as_mut() }.spare();
        Self { storage, borrowed: PhantomData, spare, next: spare.next, room: reserved, reserved }
    }

    /// How many bytes have been put.
    #[inline(always)]
    pub fn len(&self) -> usize {
        self.reserved - self.room
    }

    /// Whether nothing has been put.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many more bytes fit.
    #[inline(always)]
    pub fn room(&self) -> usize {
        self.room
    }

    /// Appends what has been put; room that is left stays the buffer's.
    #[inline(always)]
    pub fn commit(mut self) {
        let len = self.len();
        // SAFETY: the storage is borrowed mutably for 'a, also since `spare` was read (S2). I2: so many bytes of it have been written.
        unsafe { self.storage.as_mut().advance(self.spare, len) };
    }
}

impl<S: Storage> Put for Cursor<'_, S> {
    #[inline(always)]
    fn put(&mut self, bytes: &[u8]) -> Result<(), AppendError> {
        if bytes.len() > self.room {
            return Err(AppendError::full(self.len(), bytes.len(), self.reserved));
        }
        // SAFETY: I2: there is room for `room` bytes from `next` on, and these are not more. S1: the room is the storage's alone, so
        // `bytes`, which can be read, are elsewhere.
        unsafe {
            ptr::copy_nonoverlapping(bytes.as_ptr(), self.next.as_ptr(), bytes.len());
            self.next = self.next.add(bytes.len());
        }
        self.room -= bytes.len();
        Ok(())
    }
}

impl<S: Storage> fmt::Debug for Cursor<'_, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cursor").field("len", &self.len()).field("room", &self.room).finish_non_exhaustive()
    }
}
