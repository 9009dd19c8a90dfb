//! `LogReader`: from segment to segment.

use std::{fmt, sync::Arc};

use jeton_core::append::{Read, Reader, Record};

use super::{
    NextRecord, Position, ReadError, Shared,
    segment::{Next, Pinned},
};
use crate::epoch;

/// Reads the records of a [`SegmentedLog`](super::SegmentedLog) in their order.
///
/// It keeps the segment that it is in, trimmed or not, and no other one: a reader that stands still holds one segment, and is told when the log was
/// [trimmed](ReadError::Trimmed) past it. It holds a guard of crossbeam-epoch while it changes the segment, and at no other time.
///
/// A record is bytes in the log's own memory, and is there until the next call. A clone reads on from the same place.
#[derive(Clone)]
pub struct LogReader {
    /// In the segment (G4).
    cursor: Reader<'static>,
    pinned: Pinned,
    log: Arc<Shared>,
}

impl LogReader {
    pub(super) fn new(log: Arc<Shared>) -> Self {
        let pinned = first(&log);
        Self { cursor: cursor_in(&pinned), pinned, log }
    }

    /// The next record, or why there is none now. It waits for nobody.
    ///
    /// # Errors
    /// [`ReadError::Trimmed`], [`ReadError::Corrupt`]
    pub fn read(&mut self) -> Result<Read<'_>, ReadError> {
        self.look()
    }

    /// The next record, as a future. Dropped before it is ready, it has read nothing.
    ///
    /// Any executor will do; [`run_until_canceled`](crate::cancel::CancelToken::run_until_canceled) makes it end with a token.
    pub fn next_record(&mut self) -> NextRecord<'_> {
        NextRecord::new(self)
    }

    /// Where it is: all segments before are read, or were trimmed.
    pub fn position(&self) -> Position {
        Position(self.pinned.number)
    }

    pub(super) fn log(&self) -> &Arc<Shared> {
        &self.log
    }

    /// As [`read`](Self::read). The record may be used until the next call, or as long as the reader is borrowed.
    pub(super) fn look(&mut self) -> Result<Read<'static>, ReadError> {
        loop {
            match self.cursor.read()? {
                Read::Record(record) => return Ok(Read::Record(record)),
                Read::End => {
                    if let Some(nothing) = self.go_on()? {
                        return Ok(nothing);
                    }
                }
                nothing => {
                    if !self.is_trimmed() {
                        return Ok(nothing);
                    }
                    // Again: whoever has trimmed this segment has seen it sealed, and so does this look.
                    match self.cursor.read()? {
                        Read::Record(record) => return Ok(Read::Record(record)),
                        Read::End => {}
                        Read::Pending | Read::Empty => return Err(self.skip()),
                    }
                }
            }
        }
    }

    /// Into the next segment, at the end of this one; or what there is instead.
    fn go_on(&mut self) -> Result<Option<Read<'static>>, ReadError> {
        let (pinned, skipped) = {
            let guard = epoch::pin();
            let number = self.pinned.number + 1;
            loop {
                let mut target = self.log.list.first(&guard);
                if target.number <= number {
                    // SAFETY: the list begins at the next segment at the latest, and the guard is older than that.
                    target = match unsafe { self.pinned.next(&guard) } {
                        Next::Nothing => return Ok(Some(Read::Empty)),
                        Next::Closed => return Ok(Some(Read::End)),
                        Next::Segment(next) => next,
                    };
                }
                if let Some(pinned) = Pinned::new(target) {
                    break (pinned, target.number - number);
                }
                // Trimmed meanwhile: the list begins further on.
            }
        };
        self.move_to(pinned);
        if skipped == 0 { Ok(None) } else { Err(ReadError::Trimmed { segments: skipped }) }
    }

    /// Whether the segment that this is in is trimmed.
    fn is_trimmed(&self) -> bool {
        self.log.list.first(&epoch::pin()).number > self.pinned.number
    }

    /// From a trimmed segment, where a record is that nobody commits, to where the log begins.
    #[cold]
    fn skip(&mut self) -> ReadError {
        let pinned = first(&self.log);
        let segments = pinned.number - self.pinned.number;
        self.move_to(pinned);
        ReadError::Trimmed { segments }
    }

    fn move_to(&mut self, pinned: Pinned) {
        self.cursor = cursor_in(&pinned);
        self.pinned = pinned;
    }
}

/// The oldest segment.
fn first(log: &Shared) -> Pinned {
    let guard = epoch::pin();
    loop {
        if let Some(pinned) = Pinned::new(log.list.first(&guard)) {
            return pinned;
        }
        // Trimmed meanwhile: the list begins further on.
    }
}

fn cursor_in(pinned: &Pinned) -> Reader<'static> {
    // SAFETY: G4: the reader keeps the segment as long as it uses the cursor and what that has read.
    unsafe { pinned.log() }.reader()
}

/// What `look` has found, as a record.
pub(super) fn record(read: Read<'_>) -> Result<Option<Record<'_>>, ReadError> {
    match read {
        Read::Record(record) => Ok(Some(record)),
        Read::End => Err(ReadError::End),
        Read::Pending | Read::Empty => Ok(None),
    }
}

impl fmt::Debug for LogReader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LogReader").field("segment", &self.pinned.number).finish_non_exhaustive()
    }
}
