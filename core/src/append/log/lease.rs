//! `Lease`: a producer with a chunk of its own.

use core::fmt;

use super::{
    Grant, LogError, Parts,
    header::{Header, Kind, span_of},
    refused,
};

/// A producer that owns a chunk of the log, in which a record costs one store that others see.
///
/// When a record does not fit into the rest of its chunk, the lease takes a new one and fills the old one up with padding; if it cannot
/// take one, it keeps what it has, where a shorter record may still fit. Dropping it fills its chunk up. Forgetting it leaves the chunk
/// open: who reads in order waits there for ever, and [`committed`](super::AppendLog::committed) goes past it.
///
/// A sealed log gives no new chunks; the lease may use up what it has.
#[derive(Debug)]
pub struct Lease<'a> {
    log: Parts<'a>,
    /// The words of the chunk that are left, which are the lease's alone (L1); `next` is where the next header goes.
    next: u32,
    end: u32,
    /// How many words to take at once, or what is left if that is less.
    chunk: u32,
}

impl<'a> Lease<'a> {
    pub(super) fn new(log: Parts<'a>, bytes: usize) -> Self {
        Self { log, next: 0, end: 0, chunk: span_of(bytes) }
    }

    /// Appends a record. Wait-free while it fits into the chunk; taking a chunk is lock-free.
    ///
    /// # Errors
    /// [`LogError`], if it fits neither into the chunk nor behind it, or if it does not fit into the chunk of a sealed log. Nothing is
    /// lost then.
    #[inline]
    pub fn append(&mut self, bytes: &[u8]) -> Result<(), LogError> {
        let at = self.place(bytes.len())?;
        // SAFETY: L1: `place`: these words are this lease's, and enough.
        unsafe {
            self.log.words.write(at, bytes);
            self.log.words.commit(at, bytes.len() as u32);
        }
        Ok(())
    }

    /// Takes the place of a record of `len` bytes, to write it there. The lease can go on meanwhile.
    ///
    /// # Errors
    /// [`LogError`], as [`append`](Self::append).
    #[inline]
    pub fn grant(&mut self, len: usize) -> Result<Grant<'a>, LogError> {
        let at = self.place(len)?;
        // SAFETY: L1: `place`: these words were this lease's, and are enough; now they are the grant's.
        Ok(unsafe { Grant::new(self.log.words, at, len as u32) })
    }

    /// The longest record that fits into the chunk now.
    #[inline]
    pub fn room(&self) -> usize {
        Header::filling(Kind::Padding, self.end - self.next).len as usize
    }

    /// Takes the words for a record of `len` bytes out of the chunk, which is a new one if they are not in this one.
    #[inline(always)]
    fn place(&mut self, len: usize) -> Result<u32, LogError> {
        let span = span_of(len);
        if span > self.end - self.next {
            self.take_chunk(len)?;
        }
        let at = self.next;
        self.next = at + span;
        Ok(at)
    }

    /// A new chunk, with room for a record of `len` bytes.
    #[cold]
    #[inline(never)]
    fn take_chunk(&mut self, len: usize) -> Result<(), LogError> {
        // The chunk's own header, and the record's.
        let least = span_of(len).saturating_add(1);
        let wanted = self.chunk.max(least);
        let (at, taken) = self.log.claim(least, |room| room.min(wanted)).map_err(|tail| self.refused(tail, len))?;
        self.fill_up();
        // SAFETY: L1: the claim's words. The header goes first; the rest is for records.
        unsafe { self.log.words.fill(at, Header::filling(Kind::Chunk, taken)) };
        (self.next, self.end) = (at + 1, at + taken);
        Ok(())
    }

    /// A chunk has a header, so that there is less room than for a record alone; and what is left of the chunk counts.
    fn refused(&self, tail: u32, len: usize) -> LogError {
        match refused(self.log.words.len(), tail, len) {
            LogError::Full { needed, room } => LogError::Full { needed, room: room.saturating_sub(4).max(self.room()) },
            LogError::Sealed => LogError::Sealed,
        }
    }

    /// Gives up what is left of the chunk.
    fn fill_up(&mut self) {
        if self.next < self.end {
            // SAFETY: L1: these words are this lease's, which uses them no more.
            unsafe { self.log.words.fill(self.next, Header::filling(Kind::Padding, self.end - self.next)) };
            self.next = self.end;
        }
    }
}

impl Drop for Lease<'_> {
    fn drop(&mut self) {
        self.fill_up();
    }
}

impl fmt::Debug for Parts<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AppendLog").finish_non_exhaustive()
    }
}
