//! `SegmentedLog`: a log without an end, in segments.
mod error;
mod list;
#[cfg(not(any(jeton_loom, jeton_shuttle)))]
mod memory;
mod next;
mod reader;
mod segment;
mod signal;
#[cfg(not(any(jeton_loom, jeton_shuttle)))]
mod wait;
mod writer;

use std::{
    fmt,
    panic::{RefUnwindSafe, UnwindSafe},
    sync::Arc,
};

use jeton_core::append::MAX_WORDS;

use self::{list::List, signal::Signal};
use crate::epoch;
#[cfg(any(jeton_loom, jeton_shuttle))]
use crate::memory::Block;
#[cfg(not(any(jeton_loom, jeton_shuttle)))]
use memory::Block;

pub use error::{ReadError, SegmentedError};
pub use next::NextRecord;
pub use reader::LogReader;
pub use writer::{LogGrant, LogWriter};

/// A log of records without an end: any number of producers, and of readers that read all of it while it is written.
///
/// Its memory is a list of segments of one size. A record that does not fit into the last one goes into a new one; [`trim`](Self::trim)
/// gives up the oldest ones. Cloning it is cheap, and all clones are the same log.
///
/// Records are appended in one of three ways, also side by side: by [`append`](Self::append) here; by a [writer](Self::writer), which
/// costs less and has [grants](LogWriter::grant); and by a [leased writer](Self::leased_writer), which costs least where there are many
/// producers, and whose records come in no order with those of others.
///
/// # Ordering
/// Whatever the producer of a record did before committing it is visible to whoever reads it; whatever was done before
/// [`close`](Self::close) is visible to whoever reads the end, or is refused.
///
/// # Panics
/// If a waker panics, the call that wakes does, after it has done its work and has woken all the others. No other call panics.
///
/// # Examples
/// ```
/// use std::thread;
/// use jeton::append::{ReadError, SegmentedLog};
///
/// let log = SegmentedLog::new(4096)?;
/// let mut reader = log.reader();
/// let lines = thread::spawn(move || {
///     let mut lines = Vec::new();
///     while let Ok(line) = reader.wait() {
///         lines.push(line.to_vec());
///     }
///     lines
/// });
/// log.append(b"one")?;
/// log.append(b"two")?;
/// log.close(); // the reader comes to the end
/// assert_eq!(lines.join().unwrap(), [b"one", b"two"]);
/// # Ok::<(), jeton::append::SegmentedError>(())
/// ```
#[derive(Clone)]
pub struct SegmentedLog(Arc<Shared>);

struct Shared {
    list: List,
    signal: Signal,
}

/// A place in a log: the beginning of a segment. That of a [reader](LogReader::position) is where the segment begins that it is in.
///
/// It means something in the log that it comes from; in another one it is a number of segments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position(u64);

/// The memory of a log, piece by piece: no more than an estimate while others use it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Held {
    /// Segments in memory: those of the log; those that are trimmed and pinned by a reader or a writer; and those that wait for a guard
    /// of crossbeam-epoch.
    pub segments: u64,
    /// Of these, the log's own.
    pub listed: u64,
    /// Bytes in memory for records: the segments, times the bytes of one.
    pub bytes: u64,
}

impl SegmentedLog {
    /// Empty, with one segment of `segment_bytes` bytes, rounded up to words: at least 16, at most 512 MiB.
    ///
    /// The longest record is four bytes shorter, or eight with a lease. A record that does not fit at a segment's end leaves less empty
    /// there than it would have taken; that of a lease also the rest of its chunk.
    ///
    /// # Errors
    /// [`SegmentedError::Alloc`]
    pub fn new(segment_bytes: usize) -> Result<Self, SegmentedError> {
        let words = segment_bytes.div_ceil(4).clamp(4, MAX_WORDS as usize);
        Ok(Self(Arc::new(Shared { list: List::new(words)?, signal: Signal::new() })))
    }

    /// Appends a record, in order. Lock-free: it waits for nobody.
    ///
    /// # Errors
    /// [`SegmentedError`]. Nothing is lost then.
    pub fn append(&self, bytes: &[u8]) -> Result<(), SegmentedError> {
        let shared = &*self.0;
        let guard = epoch::pin();
        let mut last = shared.list.last(&guard);
        while last.log.append(bytes).is_err() {
            shared.check(bytes.len(), 1)?;
            last = shared.list.after(last.number, &guard)?;
        }
        drop(guard);
        shared.signal.wake();
        Ok(())
    }

    /// A producer of its own, whose records come in order. It pins the segment that it has last written.
    pub fn writer(&self) -> LogWriter {
        LogWriter::new(self.0.clone(), None)
    }

    /// A producer of its own, which takes chunks of `bytes` bytes, as a [`Lease`](super::Lease) does: its records come in its order, and
    /// readers come past its chunk when it is full, or the writer is dropped.
    pub fn leased_writer(&self, bytes: usize) -> LogWriter {
        LogWriter::new(self.0.clone(), Some(bytes))
    }

    /// Reads the records in their order, from the oldest one on that is kept. It pins the segment that it is in.
    pub fn reader(&self) -> LogReader {
        LogReader::new(self.0.clone())
    }

    /// Refuses all appends from now on; whether this call has closed the log. Lock-free.
    ///
    /// What producers have already can still be committed: grants, and what fits into a lease's chunk. A reader comes to the
    /// [end](ReadError::End) once they have given it up.
    pub fn close(&self) -> bool {
        let closed = self.0.list.close();
        self.0.signal.wake();
        closed
    }

    /// Whether the log is closed.
    pub fn is_closed(&self) -> bool {
        self.0.list.is_closed(&epoch::pin())
    }

    /// The place before the segment that is written now: trimming there keeps no other one.
    pub fn end(&self) -> Position {
        Position(self.0.list.last(&epoch::pin()).number)
    }

    /// Gives up all segments before `position`, but for the last one of the log; how many. Lock-free.
    ///
    /// Readers and writers keep the segment that they are in, and free it when they leave it. A reader that has not come so far reads
    /// what there is in its segment, and is then told that it was [trimmed](ReadError::Trimmed); so nobody waits for a grant or a lease
    /// in a segment that is given up, and what they still commit there is read by nobody who is not there already.
    ///
    /// To lose nothing, trim to the least [position](LogReader::position) of all readers.
    pub fn trim(&self, position: Position) -> u64 {
        let count = self.0.list.trim(position.0);
        if count != 0 {
            self.0.signal.wake();
        }
        count
    }

    /// How much memory the log has.
    pub fn held(&self) -> Held {
        let list = &self.0.list;
        let guard = epoch::pin();
        // Numbers only rise: the first one first.
        let first = list.first(&guard).number;
        let listed = list.last(&guard).number - first + 1;
        let segments = u64::from(list.live.segments());
        Held { segments, listed, bytes: segments * (list.words as u64 * 4) }
    }

    /// The longest record that [`append`](Self::append) takes.
    pub fn longest(&self) -> usize {
        self.0.cap(1)
    }
}

impl Shared {
    /// The longest record that a segment takes with so many headers.
    fn cap(&self, headers: usize) -> usize {
        (self.list.words - headers) * 4
    }

    /// Whether a record may be so long.
    fn check(&self, len: usize, headers: usize) -> Result<(), SegmentedError> {
        let cap = self.cap(headers);
        if len > cap { Err(SegmentedError::Full { needed: len, cap }) } else { Ok(()) }
    }
}

// What is left after a panic of a waker's is a log as good as before.
impl UnwindSafe for SegmentedLog {}
impl RefUnwindSafe for SegmentedLog {}

impl fmt::Debug for SegmentedLog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SegmentedLog").field("held", &self.held()).field("closed", &self.is_closed()).finish_non_exhaustive()
    }
}
