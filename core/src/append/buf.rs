//! `AppendBuf`: bytes one after another, each append a test, a copy and an addition.

use core::{fmt, hint, ptr};

use super::{AppendError, Cursor, Number, PastEnd, Put, Slice, Slot, Spare, Storage};

/// A buffer that bytes are appended to, in the memory that `S` has.
///
/// An append tests whether there is room, inline; if there is not, [`Storage::grow`], out of line, makes some or says why it cannot.
/// Length, pointer and capacity change only after success, so an append that is refused loses nothing, and a smaller one may still fit.
///
/// # Examples
/// ```
/// use jeton_core::append::{AppendBuf, AppendError, Put, Slice};
///
/// let mut bytes = [0; 32];
/// let mut buf = AppendBuf::new(Slice::new(&mut bytes));
/// let length = buf.slot::<u32>()?; // written later
/// buf.put_cstr(c"name")?;
/// buf.put_f64_le(1.5)?;
/// assert_eq!(buf.put(&[0; 100]), Err(AppendError::Full { needed: 117, cap: 32 }));
/// buf.patch_le(length, buf.len() as u32).expect("written above");
/// assert_eq!(buf.as_slice(), b"\x11\0\0\0name\0\0\0\0\0\0\0\xf8\x3f");
/// # Ok::<(), AppendError>(())
/// ```
#[derive(Default)]
pub struct AppendBuf<S> {
    storage: S,
}

/// A length that a buffer once had, to [`rewind`](AppendBuf::rewind) to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Mark(usize);

impl<S> AppendBuf<S> {
    /// Appends to what `storage` has.
    pub const fn new(storage: S) -> Self {
        Self { storage }
    }

    /// The storage, with the bytes in it.
    pub fn into_storage(self) -> S {
        self.storage
    }
}

impl<S: Storage> AppendBuf<S> {
    /// The bytes appended so far.
    #[inline(always)]
    pub fn as_slice(&self) -> &[u8] {
        self.storage.as_slice()
    }

    /// The bytes appended so far, to change.
    #[inline(always)]
    pub fn as_mut_slice(&mut self) -> &mut [u8] {
        self.storage.as_mut_slice()
    }

    /// How many bytes have been appended.
    #[inline(always)]
    pub fn len(&self) -> usize {
        self.as_slice().len()
    }

    /// Whether nothing has been appended.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many bytes it holds without growing.
    #[inline(always)]
    pub fn capacity(&self) -> usize {
        self.storage.capacity()
    }

    /// Room for `len` bytes at once, tested here and nowhere after: the cursor is a value, which the compiler keeps in registers.
    ///
    /// Nothing is appended until [`Cursor::commit`]. If `len` is known when this is compiled, so is the result of every test in the
    /// cursor. Also a way to have the room before it is needed: the storage keeps what it has grown.
    ///
    /// # Errors
    /// [`AppendError`]; nothing has changed then.
    #[inline(always)]
    pub fn reserve(&mut self, len: usize) -> Result<Cursor<'_, S>, AppendError> {
        self.room_for(len)?;
        // SAFETY: `room_for`: there is room for `len` bytes.
        Ok(unsafe { Cursor::new(&mut self.storage, len) })
    }

    /// Room for `fixed` bytes and for as many as `bytes` has, which the caller then puts itself: for a field with a string in it.
    ///
    /// As [`reserve`](Self::reserve) with the sum; but the compiler learns that the sum is not less than `fixed`, and leaves out the
    /// tests of the puts whose lengths it knows.
    ///
    /// # Errors
    /// [`AppendError`]; nothing has changed then.
    ///
    /// # Examples
    /// ```
    /// use jeton_core::append::{AppendBuf, AppendError, Array, Put};
    ///
    /// let mut buf = AppendBuf::new(Array::<32>::new());
    /// let name = "pool";
    /// let mut field = buf.reserve_with(4 + 1, name.as_bytes())?;
    /// field.put_u32_le(name.len() as u32 + 1)?;
    /// field.put_str(name)?;
    /// field.put_u8(0)?;
    /// field.commit();
    /// assert_eq!(buf.as_slice(), b"\x05\0\0\0pool\0");
    /// # Ok::<(), AppendError>(())
    /// ```
    #[inline(always)]
    pub fn reserve_with(&mut self, fixed: usize, bytes: &[u8]) -> Result<Cursor<'_, S>, AppendError> {
        // SAFETY: no slice is longer.
        unsafe { hint::assert_unchecked(bytes.len() <= isize::MAX as usize) };
        // Too much to fit, if it is too much for a `usize`: no storage has `usize::MAX` bytes.
        self.reserve(fixed.saturating_add(bytes.len()))
    }

    /// The room, which is enough for `len` bytes then.
    #[inline(always)]
    fn room_for(&mut self, len: usize) -> Result<Spare, AppendError> {
        // A comparison with what is left: a sum of lengths could wrap, this difference cannot.
        if len > self.storage.spare().room {
            self.storage.grow(len)?;
        }
        Ok(self.storage.spare())
    }

    /// Appends zeros in the place of a number that is not known yet: see [`patch_le`](Self::patch_le).
    ///
    /// # Errors
    /// [`AppendError`]; nothing has changed then.
    #[inline]
    pub fn slot<T: Number>(&mut self) -> Result<Slot<T>, AppendError> {
        let slot = Slot::at(self.len());
        self.put(T::default().le_bytes().as_ref())?;
        Ok(slot)
    }

    /// Writes a slot's number, the least significant byte first.
    ///
    /// # Errors
    /// [`PastEnd`] if the buffer is too short to have the slot: rewound, or another one. It cannot know whether the bytes there, if
    /// there are any, are still the slot's.
    #[inline]
    pub fn patch_le<T: Number>(&mut self, slot: Slot<T>, value: T) -> Result<(), PastEnd> {
        self.patch(slot, value.le_bytes().as_ref())
    }

    /// Writes a slot's number, the most significant byte first.
    ///
    /// # Errors
    /// As [`patch_le`](Self::patch_le).
    #[inline]
    pub fn patch_be<T: Number>(&mut self, slot: Slot<T>, value: T) -> Result<(), PastEnd> {
        self.patch(slot, value.be_bytes().as_ref())
    }

    #[inline(always)]
    fn patch<T>(&mut self, slot: Slot<T>, bytes: &[u8]) -> Result<(), PastEnd> {
        let place = self.as_mut_slice().get_mut(slot.start()..).and_then(|rest| rest.get_mut(..bytes.len()));
        place.ok_or(PastEnd)?.copy_from_slice(bytes);
        Ok(())
    }

    /// The length now.
    #[inline]
    pub fn mark(&self) -> Mark {
        Mark(self.len())
    }

    /// Drops whatever has been appended since `mark`. The capacity stays.
    ///
    /// # Errors
    /// [`PastEnd`] if the buffer is shorter than that already; nothing has changed then.
    #[inline]
    pub fn rewind(&mut self, mark: Mark) -> Result<(), PastEnd> {
        if mark.0 > self.len() {
            return Err(PastEnd);
        }
        self.storage.truncate(mark.0);
        Ok(())
    }

    /// Drops all bytes. The capacity stays.
    #[inline]
    pub fn clear(&mut self) {
        self.storage.truncate(0);
    }
}

impl<S: Storage> Put for AppendBuf<S> {
    #[inline(always)]
    fn put(&mut self, bytes: &[u8]) -> Result<(), AppendError> {
        let spare = self.room_for(bytes.len())?;
        // SAFETY: `room_for`: they fit. S1: the room is this storage's alone, so `bytes`, which can be read, are elsewhere. S2: `spare`
        // is what it is now.
        unsafe {
            ptr::copy_nonoverlapping(bytes.as_ptr(), spare.next.as_ptr(), bytes.len());
            self.storage.advance(spare, bytes.len());
        }
        Ok(())
    }
}

impl<'a> From<&'a mut [u8]> for AppendBuf<Slice<'a>> {
    fn from(bytes: &'a mut [u8]) -> Self {
        Self::new(Slice::new(bytes))
    }
}

impl<S: Storage> fmt::Debug for AppendBuf<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AppendBuf").field("len", &self.len()).field("capacity", &self.capacity()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use std::vec::Vec;

    use super::*;
    use crate::append::Array;

    /// Whatever the storage, the same calls give the same bytes; 16 of them fit.
    fn check<S: Storage>(storage: S) -> Vec<u8> {
        let mut buf = AppendBuf::new(storage);
        assert_eq!((buf.len(), buf.capacity(), buf.is_empty()), (0, 16, true));
        let slot = buf.slot::<u16>().expect("fits");
        buf.put_cstr(c"ab").expect("fits");
        let mark = buf.mark();
        let mut cursor = buf.reserve(8).expect("fits");
        cursor.put_u32_be(1).expect("fits");
        assert_eq!((cursor.len(), cursor.room()), (4, 4));
        drop(cursor);
        assert_eq!(buf.len(), 5);
        let mut cursor = buf.reserve_with(2, b"xyz").expect("fits");
        cursor.put_u8(7).expect("fits");
        cursor.put(b"xyz").expect("fits");
        cursor.commit();
        assert_eq!(buf.as_slice(), b"\0\0ab\0\x07xyz");
        buf.rewind(mark).expect("behind it");
        buf.put_u64_le(u64::MAX).expect("fits");
        assert_eq!(buf.put_u32_le(0), Err(AppendError::Full { needed: 17, cap: 16 }));
        assert_eq!(buf.put(&[]), Ok(()));
        assert_eq!(buf.reserve(usize::MAX).err(), Some(AppendError::Full { needed: usize::MAX, cap: 16 }));
        assert_eq!(buf.reserve_with(usize::MAX, b"a").err(), Some(AppendError::Full { needed: usize::MAX, cap: 16 }));
        buf.put(&[1, 2, 3]).expect("the rest");
        assert_eq!(buf.patch_be(slot, 0x102), Ok(()));
        buf.as_mut_slice()[15] = 9;
        buf.as_slice().to_vec()
    }

    #[test]
    fn every_storage_keeps_the_same_bytes() {
        let expected = b"\x01\x02ab\0\xff\xff\xff\xff\xff\xff\xff\xff\x01\x02\x09";
        let mut bytes = [0; 16];
        assert_eq!(check(Slice::new(&mut bytes)), expected);
        assert_eq!(bytes, *expected);
        assert_eq!(check(Array::<16>::new()), expected);
        #[cfg(feature = "heapless")]
        assert_eq!(check(heapless::Vec::<u8, 16>::new()), expected);
    }

    #[test]
    fn storages_come_back_with_their_bytes() {
        let mut bytes = [0; 4];
        let mut buf = AppendBuf::from(&mut bytes[..]);
        buf.put_u8(5).expect("fits");
        assert_eq!(buf.into_storage().into_bytes(), [5]);
        let mut nothing = AppendBuf::new(Array::<0>::default());
        assert_eq!(nothing.put_u8(1), Err(AppendError::Full { needed: 1, cap: 0 }));
        nothing.clear();
        assert_eq!(nothing.into_storage().as_slice(), []);
    }

    #[test]
    fn slots_and_marks_past_the_end_are_refused() {
        let mut buf = AppendBuf::new(Array::<8>::new());
        let start = buf.mark();
        let slot = buf.slot::<u32>().expect("fits");
        let end = buf.mark();
        buf.rewind(start).expect("behind it");
        buf.put(&[1, 2, 3]).expect("fits");
        assert_eq!(buf.patch_le(slot, 7), Err(PastEnd));
        assert_eq!(buf.rewind(end), Err(PastEnd));
        assert_eq!(buf.as_slice(), [1, 2, 3]);
        let second = buf.slot::<u8>().expect("fits");
        assert_eq!((second.start(), buf.patch_le(second, 4)), (3, Ok(())));
        assert_eq!(buf.as_slice(), [1, 2, 3, 4]);
    }
}
