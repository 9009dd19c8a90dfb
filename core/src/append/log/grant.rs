//! `Grant`: a record that is being written.

use core::{fmt, mem};

use super::{
    header::{Header, Kind},
    words::{Memory, Payload},
};

/// The place of a record, to write it there and [commit](Self::commit) it.
///
/// Dropping it instead, as a panic does, gives its place up at once: it becomes padding, which readers skip. Forgetting it leaves the
/// place as it is: who reads in order waits there for ever, and [`committed`](super::AppendLog::committed) goes past it.
///
/// # Examples
/// ```
/// use jeton_core::append::{AppendBuf, AppendLog, LogWord, Put, Slice};
///
/// let log = AppendLog::<[LogWord; 16]>::new();
/// let mut grant = log.grant(12)?;
/// let mut record = AppendBuf::new(Slice::new(grant.bytes())); // typed puts, in place
/// record.put_u32_le(1)?;
/// record.put_f64_le(0.5)?;
/// grant.commit();
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use = "it is given up when it is dropped"]
pub struct Grant<'a> {
    words: Memory<'a>,
    at: u32,
    len: u32,
    payload: Payload,
}

impl<'a> Grant<'a> {
    /// # Safety
    /// L1: the caller owns the words from `at` on, enough for a record of `len` bytes, and leaves them to the grant.
    #[inline(always)]
    pub(super) unsafe fn new(words: Memory<'a>, at: u32, len: u32) -> Self {
        // SAFETY: as promised to this function.
        unsafe { words.open(at, len) };
        Self { words, at, len, payload: Payload::new() }
    }

    /// The record's bytes, to write them. They begin as zeros.
    #[inline]
    pub fn bytes(&mut self) -> &mut [u8] {
        // SAFETY: L1: the words are the grant's, and the borrow of it ends before it does.
        unsafe { self.payload.bytes(self.words, self.at, self.len) }
    }

    /// Hands the record to the readers. Wait-free: one store.
    #[inline]
    pub fn commit(self) {
        let Self { words, at, len, .. } = self;
        // SAFETY: L1: the words are the grant's, which ends here.
        unsafe {
            self.payload.finish(words, at, len);
            words.commit(at, len);
        }
        mem::forget(self);
    }
}

impl Drop for Grant<'_> {
    fn drop(&mut self) {
        // SAFETY: L1: the words are the grant's, which ends here.
        unsafe {
            self.payload.finish(self.words, self.at, self.len);
            self.words.fill(self.at, Header::new(Kind::Padding, self.len));
        }
    }
}

impl fmt::Debug for Grant<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Grant").field("len", &self.len).finish_non_exhaustive()
    }
}

#[cfg(all(test, not(any(jeton_loom, jeton_shuttle))))]
mod tests {
    extern crate std;
    use std::vec::Vec;

    use crate::append::{AppendLog, LogError, LogWord, Read};

    /// The bytes of a grant are a mutable borrow of words among those that the other calls go through.
    #[test]
    fn whatever_is_done_while_a_grant_is_written_leaves_its_bytes_alone() {
        let mut words = [const { LogWord::new() }; 32];
        let log = AppendLog::over(&mut words[..]);
        let (mut lease, mut reader) = (log.lease(24), log.reader());
        let (mut ordered, mut leased) = (log.grant(6).expect("room"), lease.grant(3).expect("room"));
        let (six, three) = (ordered.bytes(), leased.bytes());
        six[0] = b'o';
        log.append(b"between").expect("room");
        three[0] = b'l';
        lease.append(b"behind").expect("room");
        drop(lease);
        assert!(matches!(reader.read(), Ok(Read::Pending)));
        let kept: Vec<_> = log.committed().map(|record| record.expect("not corrupt").bytes()).collect();
        assert_eq!(kept, [&b"behind"[..], b"between"]);
        log.seal();
        assert_eq!((log.append(b""), log.used()), (Err(LogError::Sealed), 13 * 4));
        six[1..].copy_from_slice(b"rdere");
        three[1..].copy_from_slice(b"ea");
        ordered.commit();
        leased.commit();
        for expected in [&b"ordere"[..], b"lea", b"behind", b"between"] {
            assert!(matches!(reader.read(), Ok(Read::Record(record)) if *record == *expected));
        }
        assert!(matches!(reader.read(), Ok(Read::End)));
        assert_eq!(kept, [&b"behind"[..], b"between"]);
    }
}
