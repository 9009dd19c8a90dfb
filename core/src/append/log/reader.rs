//! Reading a log while it is written: in order, or everything that is committed.

use core::{fmt, ops::Deref};

use super::{
    Corrupt, Parts, SEALED,
    header::{Header, Kind},
    words::RecordBytes,
};
use crate::ord;

/// A record, as it was committed: its bytes, in the log's own memory.
#[derive(Clone, Copy)]
pub struct Record<'a>(RecordBytes<'a>);

/// What a reader finds at its place.
#[derive(Clone, Copy, Debug)]
pub enum Read<'a> {
    /// The next record. The reader is behind it now.
    Record(Record<'a>),
    /// A producer has the next place and has not committed or given it up; what others have committed behind it waits with it.
    Pending,
    /// There is nothing behind the last record, yet.
    Empty,
    /// There is nothing behind the last record, and never will be: the log is sealed.
    End,
}

/// Reads a log's records in their order: those before the first one that is still being written.
///
/// Any number of readers read at the same time; none of them makes a producer wait, and reading is wait-free: it is the *next record*
/// that waits for its producer, and with it what comes after.
#[derive(Clone, Debug)]
pub struct Reader<'a>(Position<'a>);

/// An iterator over the records that are committed, past those that are still being written: see
/// [`AppendLog::committed`](super::AppendLog::committed).
///
/// It ends where a producer has taken a place and has not yet said how long it is, which is its very next step; and after an error.
#[derive(Clone, Debug)]
pub struct Committed<'a> {
    position: Position<'a>,
    ended: bool,
}

/// A place in the log, from which the headers lead on (L3).
#[derive(Clone, Debug)]
pub(super) struct Position<'a> {
    log: Parts<'a>,
    /// Where the next header is or will be: no payload's word, and at most `tail`.
    pub(super) at: u32,
    /// The end of the chunk that `at` is in; 0 if it is in none.
    chunk_end: u32,
    /// Where the tail was when it was last looked at.
    tail: u32,
}

/// What stands at a place.
pub(super) enum Found<'a> {
    Record(Record<'a>),
    /// Somebody owns the words, up to the place given, if that is known.
    Owned {
        up_to: Option<u32>,
    },
    /// Nobody does.
    Tail {
        ended: bool,
    },
}

impl<'a> Reader<'a> {
    pub(super) fn new(log: Parts<'a>) -> Self {
        Self(Position { log, at: 0, chunk_end: 0, tail: 0 })
    }

    pub(super) fn into_position(self) -> Position<'a> {
        self.0
    }

    /// The next record, or why there is none. Wait-free, but for padding, of which it skips what is there.
    ///
    /// # Errors
    /// [`Corrupt`] if what stands there was written by no producer. The reader stays before it.
    pub fn read(&mut self) -> Result<Read<'a>, Corrupt> {
        Ok(match self.0.find()? {
            Found::Record(record) => Read::Record(record),
            Found::Owned { .. } => Read::Pending,
            Found::Tail { ended: false } => Read::Empty,
            Found::Tail { ended: true } => Read::End,
        })
    }
}

impl<'a> Committed<'a> {
    pub(super) fn new(log: Parts<'a>) -> Self {
        Self { position: Reader::new(log).into_position(), ended: false }
    }
}

impl<'a> Iterator for Committed<'a> {
    type Item = Result<Record<'a>, Corrupt>;

    fn next(&mut self) -> Option<Self::Item> {
        while !self.ended {
            match self.position.find() {
                Ok(Found::Record(record)) => return Some(Ok(record)),
                Ok(Found::Owned { up_to: Some(end) }) => self.position.go_to(end),
                Ok(Found::Owned { up_to: None } | Found::Tail { .. }) => self.ended = true,
                Err(corrupt) => {
                    self.ended = true;
                    return Some(Err(corrupt));
                }
            }
        }
        None
    }
}

impl<'a> Position<'a> {
    /// What stands here, padding and the headers of chunks passed over. Behind a record afterwards, before anything else.
    pub(super) fn find(&mut self) -> Result<Found<'a>, Corrupt> {
        loop {
            if self.at >= self.log.words.len() {
                return Ok(self.without_header());
            }
            // SAFETY: `at` is below the length, and L3: a header's place.
            let bits = unsafe { self.log.words.look(self.at) };
            if bits == 0 {
                return Ok(self.without_header());
            }
            let header = Header::from_bits(bits).filter(|header| self.fits(*header)).ok_or(Corrupt { at: self.at })?;
            let (at, end) = (self.at, self.at + header.span());
            match header.kind {
                Kind::Writing => return Ok(Found::Owned { up_to: Some(end) }),
                Kind::Padding => self.go_to(end),
                Kind::Chunk if self.chunk_end != 0 => return Err(Corrupt { at }),
                Kind::Chunk => {
                    self.go_to(at + 1);
                    self.chunk_end = if self.at < end { end } else { 0 };
                }
                Kind::Committed => {
                    self.go_to(end);
                    // SAFETY: L2: this call has just seen that it is committed.
                    return Ok(Found::Record(Record(unsafe { self.log.words.read(at, header.len) })));
                }
            }
        }
    }

    pub(super) fn go_to(&mut self, end: u32) {
        self.at = end;
        if self.at == self.chunk_end {
            self.chunk_end = 0;
        }
    }

    /// Whether what the header spans ends in its chunk, or else before the tail: it does, if a producer has written it.
    fn fits(&mut self, header: Header) -> bool {
        let end = self.at + header.span();
        if self.chunk_end != 0 {
            return end <= self.chunk_end;
        }
        if end > self.tail {
            self.look_at_tail();
        }
        end <= self.tail
    }

    /// There is no header: its producer has not written it, or there is no producer.
    fn without_header(&mut self) -> Found<'a> {
        // Looked at after the header, so that an answer that there is nothing is right at this moment.
        let ended = self.at >= self.tail && self.look_at_tail();
        if self.at < self.tail {
            Found::Owned { up_to: (self.chunk_end != 0).then_some(self.chunk_end) }
        } else {
            Found::Tail { ended }
        }
    }

    /// Whether the log is sealed.
    fn look_at_tail(&mut self) -> bool {
        // Acquire pairs with `seal`.
        let tail = self.log.tail.load(ord!("append-12", Acquire));
        self.tail = tail & !SEALED;
        tail & SEALED != 0
    }
}

impl Deref for Record<'_> {
    type Target = [u8];

    #[inline(always)]
    fn deref(&self) -> &[u8] {
        self.0.as_slice()
    }
}

#[cfg(not(any(jeton_loom, jeton_shuttle)))]
impl<'a> Record<'a> {
    /// The bytes, for as long as the log is borrowed.
    #[inline(always)]
    pub fn bytes(self) -> &'a [u8] {
        self.0.as_slice()
    }
}

impl fmt::Debug for Record<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Record").field(&&**self).finish()
    }
}
