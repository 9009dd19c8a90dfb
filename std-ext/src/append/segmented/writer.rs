//! `LogWriter`: a producer that keeps its segment.

use std::{fmt, sync::Arc};

use jeton_core::append::{Grant, Lease};

use super::{SegmentedError, Shared, segment::Pinned};
use crate::epoch;

/// A producer of a [`SegmentedLog`](super::SegmentedLog), ordered or leased.
///
/// It keeps the segment that it has last written, trimmed or not, until it writes into the next one or is dropped. Its appends hold no
/// guard of crossbeam-epoch, but when it changes the segment.
///
/// Forgetting a leased writer leaves its chunk open, as forgetting a [`LogGrant`] does: who reads in order waits there until the
/// segment is trimmed.
pub struct LogWriter {
    /// In the segment, before which it is dropped (G4).
    lease: Option<Lease<'static>>,
    /// The bytes of a chunk, if it leases.
    chunk: Option<usize>,
    pinned: Pinned,
    log: Arc<Shared>,
}

impl LogWriter {
    pub(super) fn new(log: Arc<Shared>, chunk: Option<usize>) -> Self {
        let pinned = last(&log);
        Self { lease: lease_in(&pinned, chunk), chunk, pinned, log }
    }

    /// Appends a record. Lock-free; leased, wait-free while the record fits into the chunk, but for waking those who wait.
    ///
    /// # Errors
    /// [`SegmentedError`]. Nothing is lost then.
    #[inline]
    pub fn append(&mut self, bytes: &[u8]) -> Result<(), SegmentedError> {
        loop {
            let appended = match &mut self.lease {
                None => self.pinned.log.append(bytes),
                Some(lease) => lease.append(bytes),
            };
            if appended.is_ok() {
                self.log.signal.wake();
                return Ok(());
            }
            self.go_on(bytes.len())?;
        }
    }

    /// Takes the place of a record of `len` bytes, to write it there.
    ///
    /// It must come to an end: a grant that is kept makes those wait who read in order, and one that is forgotten makes them wait until
    /// its segment is [trimmed](super::SegmentedLog::trim).
    ///
    /// # Errors
    /// [`SegmentedError`], as [`append`](Self::append).
    #[inline]
    pub fn grant(&mut self, len: usize) -> Result<LogGrant<'_>, SegmentedError> {
        let mut left_chunk = false;
        let grant = loop {
            let granted = match &mut self.lease {
                // SAFETY: G4: the grant goes into one that borrows this writer, which keeps the segment meanwhile.
                None => unsafe { self.pinned.log() }.grant(len),
                Some(lease) => {
                    // It may, at the least.
                    left_chunk |= len >= lease.room();
                    lease.grant(len)
                }
            };
            match granted {
                Ok(grant) => break grant,
                Err(_) => self.go_on(len)?,
            }
        };
        let grant = LogGrant { grant: Some(grant), log: &self.log };
        if left_chunk {
            // Readers come past the old chunk now, and not only when the grant ends.
            self.log.signal.wake();
        }
        Ok(grant)
    }

    /// Into the next segment, where a record of `len` bytes fits if nobody comes before it.
    #[cold]
    #[inline(never)]
    fn go_on(&mut self, len: usize) -> Result<(), SegmentedError> {
        let gone_on = self.try_go_on(len);
        if gone_on.is_err() && self.chunk.is_some() {
            // The call ends here, and has perhaps left a chunk the last time it went on.
            self.log.signal.wake();
        }
        gone_on
    }

    fn try_go_on(&mut self, len: usize) -> Result<(), SegmentedError> {
        // A chunk has a header as well.
        self.log.check(len, if self.chunk.is_some() { 2 } else { 1 })?;
        let pinned = {
            let guard = epoch::pin();
            loop {
                if let Some(pinned) = Pinned::new(self.log.list.after(self.pinned.number, &guard)?) {
                    break pinned;
                }
            }
        };
        // What is left of the chunk is given up before the segment is left.
        self.lease = lease_in(&pinned, self.chunk);
        self.pinned = pinned;
        Ok(())
    }
}

/// The last segment.
fn last(log: &Shared) -> Pinned {
    let guard = epoch::pin();
    loop {
        if let Some(pinned) = Pinned::new(log.list.last(&guard)) {
            return pinned;
        }
    }
}

fn lease_in(pinned: &Pinned, chunk: Option<usize>) -> Option<Lease<'static>> {
    // SAFETY: G4: the writer drops the lease before it leaves the segment.
    chunk.map(|bytes| unsafe { pinned.log() }.lease(bytes))
}

impl Drop for LogWriter {
    fn drop(&mut self) {
        if self.lease.take().is_some() {
            // Readers come past the chunk now.
            self.log.signal.wake();
        }
    }
}

impl fmt::Debug for LogWriter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LogWriter").field("segment", &self.pinned.number).field("chunk", &self.chunk).finish_non_exhaustive()
    }
}

/// The place of a record in a [`SegmentedLog`](super::SegmentedLog), to write it there and [commit](Self::commit) it.
///
/// Dropping it instead, as a panic does, gives its place up at once: it becomes padding, which readers skip.
#[must_use = "it is given up when it is dropped"]
pub struct LogGrant<'a> {
    grant: Option<Grant<'a>>,
    log: &'a Shared,
}

impl LogGrant<'_> {
    /// The record's bytes, to write them. They begin as zeros.
    #[inline]
    pub fn bytes(&mut self) -> &mut [u8] {
        self.grant.as_mut().map_or(&mut [], Grant::bytes)
    }

    /// Hands the record to the readers.
    #[inline]
    pub fn commit(mut self) {
        if let Some(grant) = self.grant.take() {
            grant.commit();
        }
        // Dropping this wakes those who wait.
    }
}

impl Drop for LogGrant<'_> {
    fn drop(&mut self) {
        self.grant = None;
        self.log.signal.wake();
    }
}

impl fmt::Debug for LogGrant<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("LogGrant").field(&self.grant).finish()
    }
}
