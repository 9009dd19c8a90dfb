//! The words of a log, each a header or four bytes of payload, and how both are reached.
//!
//! Payload is plain memory: its pointers come from the whole slice of words, since one that comes from a header's reference may reach
//! no further than that word. loom's and shuttle's words are more than four bytes long; a model's payload is in cells beside them.

use super::{
    Header,
    header::{Kind, MAX_WORDS},
};
#[cfg(any(jeton_loom, jeton_shuttle))]
use crate::const_fn;
use crate::{ord, sync::OwnerU32};

/// Memory of an [`AppendLog`](super::AppendLog).
///
/// # Safety
/// [`words`](Self::words) gives the same words each time, and they cannot be reached in another way.
pub unsafe trait Words {
    /// The words.
    fn words(&self) -> &[LogWord];
}

// SAFETY: an array's own elements.
unsafe impl<const N: usize> Words for [LogWord; N] {
    #[inline(always)]
    fn words(&self) -> &[LogWord] {
        self
    }
}

// SAFETY: borrowed mutably: nobody else reaches them.
unsafe impl Words for &mut [LogWord] {
    #[inline(always)]
    fn words(&self) -> &[LogWord] {
        self
    }
}

/// The words that a log uses of those it has.
#[derive(Clone, Copy)]
pub(super) struct Memory<'a> {
    words: &'a [LogWord],
    /// How many of them: at most [`MAX_WORDS`].
    len: u32,
}

/// How many of `words` words a log uses.
pub(super) const fn usable(words: usize) -> u32 {
    // In 64 bits, since `usize` may have 16.
    if words as u64 > MAX_WORDS as u64 { MAX_WORDS } else { words as u32 }
}

impl<'a> Memory<'a> {
    /// The first `len` of the words.
    ///
    /// # Safety
    /// There are so many.
    #[inline(always)]
    pub(super) unsafe fn new(words: &'a (impl Words + ?Sized), len: u32) -> Self {
        Self { words: words.words(), len }
    }

    /// How many words.
    #[inline(always)]
    pub(super) fn len(self) -> u32 {
        self.len
    }

    /// The words themselves.
    pub(super) fn iter(self) -> impl Iterator<Item = &'a LogWord> {
        self.words.iter().take(self.len as usize)
    }

    /// Makes the words from `at` on zero, for who has them alone.
    pub(super) fn clear_from(self, at: u32) {
        for word in self.iter().skip(at as usize) {
            word.header().store(0, ord!("append-13", Relaxed));
        }
    }

    /// # Safety
    /// `at` is below the length.
    #[inline(always)]
    unsafe fn header(self, at: u32) -> &'a OwnerU32 {
        // SAFETY: as promised to this function.
        unsafe { self.words.get_unchecked(at as usize) }.header()
    }

    /// Says that a record of `len` bytes is being written.
    ///
    /// # Safety
    /// L1: the caller owns the record's words, and no header stands at `at` yet.
    #[inline(always)]
    pub(super) unsafe fn open(self, at: u32, len: u32) {
        // Release pairs with `look`: who sees the header sees that the tail is behind the record.
        // SAFETY: as promised to this function.
        unsafe { self.header(at) }.store(Header::new(Kind::Writing, len).bits(), ord!("append-4", Release));
    }

    /// Hands a record of `len` bytes to the readers.
    ///
    /// # Safety
    /// L1: the caller owns the record's words, which it gives up by this, and uses them no more.
    #[inline(always)]
    pub(super) unsafe fn commit(self, at: u32, len: u32) {
        // Release pairs with `look`: the payload is read as it was written.
        // SAFETY: as promised to this function.
        unsafe { self.header(at) }.store(Header::new(Kind::Committed, len).bits(), ord!("append-5", Release));
    }

    /// Gives words up with nothing in them, or with a chunk that begins there.
    ///
    /// # Safety
    /// L1: the caller owns the words that the header spans; it uses them no more, unless it is a chunk's.
    #[inline(always)]
    pub(super) unsafe fn fill(self, at: u32, header: Header) {
        // Release pairs with `look`, as in `open`.
        // SAFETY: as promised to this function.
        unsafe { self.header(at) }.store(header.bits(), ord!("append-6", Release));
    }

    /// The word at `at`, a header or 0.
    ///
    /// # Safety
    /// `at` is below the length, and no payload's (L3).
    #[inline(always)]
    pub(super) unsafe fn look(self, at: u32) -> u32 {
        // Acquire pairs with `open`, `commit` and `fill`.
        // SAFETY: as promised to this function.
        unsafe { self.header(at) }.load(ord!("append-7", Acquire))
    }
}

#[cfg(not(any(jeton_loom, jeton_shuttle)))]
pub use real::LogWord;
#[cfg(not(any(jeton_loom, jeton_shuttle)))]
pub(super) use real::{Payload, RecordBytes};

#[cfg(not(any(jeton_loom, jeton_shuttle)))]
mod real {
    use core::{ptr, slice};

    use super::*;

    /// 32 bits of a log's memory. All zero at first, so that a log in a `static` lies in .bss.
    #[repr(transparent)]
    #[derive(Debug)]
    pub struct LogWord(OwnerU32);

    const _: () = assert!(size_of::<LogWord>() == 4, "the payload lies in the words");

    impl LogWord {
        /// Zero.
        pub const fn new() -> Self {
            Self::from_bits(0)
        }

        /// As it was saved, for [`AppendLog::recover`](crate::append::AppendLog::recover).
        pub const fn from_bits(bits: u32) -> Self {
            Self(OwnerU32::new(bits))
        }

        /// To save it. Of a word that a log is in, only the log's owner has it.
        pub fn bits(&self) -> u32 {
            self.0.load(ord!("append-8", Relaxed))
        }

        #[inline(always)]
        pub(super) fn header(&self) -> &OwnerU32 {
            &self.0
        }
    }

    impl Default for LogWord {
        fn default() -> Self {
            Self::new()
        }
    }

    impl Memory<'_> {
        /// # Safety
        /// `at` is below the length.
        #[inline(always)]
        unsafe fn payload(self, at: u32) -> *mut u8 {
            // SAFETY: as promised: the byte behind the header is in the slice, or at its end.
            unsafe { self.words.as_ptr().add(at as usize + 1).cast::<u8>().cast_mut() }
        }

        /// Writes the payload of the record at `at`.
        ///
        /// # Safety
        /// L1: the caller owns the record's words, which are enough for the bytes.
        #[inline(always)]
        pub(in super::super) unsafe fn write(self, at: u32, bytes: &[u8]) {
            // SAFETY: as promised; and since the words are the caller's alone, `bytes`, which can be read, are elsewhere.
            unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), self.payload(at), bytes.len()) };
        }
    }

    /// The payload that a grant writes: in the words themselves.
    #[derive(Debug)]
    pub struct Payload;

    impl Payload {
        #[inline(always)]
        pub(in super::super) const fn new() -> Self {
            Self
        }

        /// # Safety
        /// L1: the caller owns the words of the record at `at`, of `len` bytes, for as long as it borrows this.
        #[inline(always)]
        pub(in super::super) unsafe fn bytes<'b>(&'b mut self, words: Memory<'b>, at: u32, len: u32) -> &'b mut [u8] {
            // SAFETY: as promised; they were initialized when the log was made.
            unsafe { slice::from_raw_parts_mut(words.payload(at), len as usize) }
        }

        /// Nothing: see the models' one.
        #[inline(always)]
        pub(in super::super) unsafe fn finish(&self, _: Memory<'_>, _: u32, _: u32) {}
    }

    /// The payload that a reader has: in the words themselves.
    #[derive(Clone, Copy, Debug)]
    pub struct RecordBytes<'a>(&'a [u8]);

    impl<'a> RecordBytes<'a> {
        #[inline(always)]
        pub(in super::super) fn as_slice(self) -> &'a [u8] {
            self.0
        }
    }

    impl<'a> Memory<'a> {
        /// The payload of the record at `at`.
        ///
        /// # Safety
        /// L2: the record, of `len` bytes, is committed, and the caller has seen that.
        #[inline(always)]
        pub(in super::super) unsafe fn read(self, at: u32, len: u32) -> RecordBytes<'a> {
            // SAFETY: as promised: nobody writes there as long as the log is borrowed.
            RecordBytes(unsafe { slice::from_raw_parts(self.payload(at), len as usize) })
        }
    }
}

#[cfg(any(jeton_loom, jeton_shuttle))]
pub use model::LogWord;
#[cfg(any(jeton_loom, jeton_shuttle))]
pub(super) use model::{Payload, RecordBytes};

/// The same for models: four bytes of payload in a cell beside each header, so that an access which no header orders is an error.
#[cfg(any(jeton_loom, jeton_shuttle))]
mod model {
    use super::*;
    use crate::sync::UnsafeCell;

    /// The longest payload of a model.
    const MOST: usize = 32;

    /// 32 bits of a log's memory.
    #[derive(Debug)]
    pub struct LogWord {
        header: OwnerU32,
        payload: UnsafeCell<[u8; 4]>,
    }

    // SAFETY: L1, L2: that the headers order all accesses is what the models check.
    unsafe impl Sync for LogWord {}

    impl LogWord {
        const_fn! {
            /// Zero.
            pub const fn new() -> Self {
                Self { header: OwnerU32::new(0), payload: UnsafeCell::new([0; 4]) }
            }
        }

        #[inline(always)]
        pub(super) fn header(&self) -> &OwnerU32 {
            &self.header
        }
    }

    impl<'a> Memory<'a> {
        /// # Safety
        /// As the real one's.
        pub(in super::super) unsafe fn write(self, at: u32, bytes: &[u8]) {
            for (word, bytes) in self.iter().skip(at as usize + 1).zip(bytes.chunks(4)) {
                // SAFETY: as promised to this function.
                word.payload.with_mut(|payload| unsafe { &mut *payload }[..bytes.len()].copy_from_slice(bytes));
            }
        }

        /// # Safety
        /// As the real one's.
        pub(in super::super) unsafe fn read(self, at: u32, len: u32) -> RecordBytes<'a> {
            let mut record = RecordBytes { bytes: [0; MOST], len: len as usize, log: core::marker::PhantomData };
            for (word, bytes) in self.iter().skip(at as usize + 1).zip(record.bytes[..len as usize].chunks_mut(4)) {
                // SAFETY: as promised to this function.
                word.payload.with(|payload| bytes.copy_from_slice(&unsafe { &*payload }[..bytes.len()]));
            }
            record
        }
    }

    /// The payload that a grant writes: a copy, which goes into the cells at the end.
    #[derive(Debug)]
    pub struct Payload([u8; MOST]);

    impl Payload {
        pub(in super::super) fn new() -> Self {
            Self([0; MOST])
        }

        /// # Safety
        /// As the real one's.
        pub(in super::super) unsafe fn bytes<'b>(&'b mut self, _: Memory<'b>, _: u32, len: u32) -> &'b mut [u8] {
            &mut self.0[..len as usize]
        }

        /// # Safety
        /// As that of [`Memory::write`].
        pub(in super::super) unsafe fn finish(&self, words: Memory<'_>, at: u32, len: u32) {
            // SAFETY: as promised to this function.
            unsafe { words.write(at, &self.0[..len as usize]) };
        }
    }

    /// The payload that a reader has: a copy, taken when the record is read.
    #[derive(Clone, Copy, Debug)]
    pub struct RecordBytes<'a> {
        bytes: [u8; MOST],
        len: usize,
        log: core::marker::PhantomData<&'a ()>,
    }

    impl RecordBytes<'_> {
        pub(in super::super) fn as_slice(&self) -> &[u8] {
            &self.bytes[..self.len]
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_too_many_words_a_log_uses_as_many_as_headers_can_say() {
        let most = MAX_WORDS as usize;
        assert_eq!([0, 1, most, most + 1, usize::MAX].map(usable), [0, 1, MAX_WORDS, MAX_WORDS, MAX_WORDS]);
    }
}
