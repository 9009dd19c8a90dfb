//! `AppendLog`: records of any length, one after another, from any number of producers.
mod error;
mod grant;
mod header;
mod lease;
mod reader;
mod recover;
mod words;

use core::fmt;

use self::{
    header::{Header, Kind, span_of},
    words::Memory,
};
use crate::{array, const_fn, ord, sync::AtomicU32, util::Padded};

pub use error::{Corrupt, LogError};
pub use grant::Grant;
pub use header::MAX_WORDS;
pub use lease::Lease;
pub use reader::{Committed, Read, Reader, Record};
pub use words::{LogWord, Words};

/// Set in the tail of a sealed log. The words are fewer than that (L4).
const SEALED: u32 = 1 << 31;

/// A log of records, appended by any number of producers in memory that it borrows or has in place, and read while they go on.
///
/// `W` is the memory: `[LogWord; N]` in place, as in a `static`, or `&mut [LogWord]`. Of a longer slice 512 MiB are used. A record takes
/// a word and its payload, rounded up to words.
///
/// Records come in one of two ways, also both in one log:
/// * *ordered*, by [`append`](Self::append) and [`grant`](Self::grant): in the order in which the calls took their places;
/// * *leased*, by a [`Lease`], which owns a chunk: those of a producer in their order, and the chunks in the order in which they were
///   taken. A record then costs a store in memory that no other producer writes.
///
/// The words are never used twice, so a record that has been read stays as long as the log is borrowed; [`clear`](Self::clear) needs
/// the log alone.
///
/// # Ordering
/// Whatever the producer of a record did before committing it is visible to whoever reads the record; whatever was done before
/// [`seal`](Self::seal) is visible to whoever reads [`Read::End`].
///
/// # Examples
/// ```
/// use jeton_core::append::{AppendLog, LogWord, Read};
///
/// static LOG: AppendLog<[LogWord; 1024]> = AppendLog::new();
///
/// LOG.append(b"one")?;
/// let mut grant = LOG.grant(3)?; // written in place
/// grant.bytes().copy_from_slice(b"two");
/// grant.commit();
/// drop(LOG.grant(100)?); // given up: readers skip it
/// let mut mine = LOG.lease(256);
/// mine.append(b"three")?;
///
/// let mut reader = LOG.reader();
/// for expected in [&b"one"[..], b"two", b"three"] {
///     let Ok(Read::Record(record)) = reader.read() else { panic!() };
///     assert_eq!(&*record, expected);
/// }
/// assert!(matches!(reader.read(), Ok(Read::Pending))); // the lease may still write here
/// drop(mine);
/// LOG.seal();
/// assert!(matches!(reader.read(), Ok(Read::End)));
/// # Ok::<(), jeton_core::append::LogError>(())
/// ```
pub struct AppendLog<W> {
    /// The first word that nobody owns yet, and [`SEALED`].
    tail: Padded<AtomicU32>,
    /// How many of the words are used.
    len: u32,
    words: W,
}

impl<const N: usize> AppendLog<[LogWord; N]> {
    const_fn! {
        /// Empty, all zeros.
        pub const fn new() -> Self {
            Self { tail: Padded::new(AtomicU32::new(0)), len: words::usable(N), words: array![LogWord::new(); N] }
        }
    }
}

impl<W: Words> AppendLog<W> {
    /// Empty, in these words, which are cleared.
    pub fn over(words: W) -> Self {
        // SAFETY: they are cleared before anybody else has the log.
        let log = unsafe { Self::over_zeros(words) };
        log.parts().words.clear_from(0);
        log
    }

    /// Empty, in these words, which are zero: they are not written again, as [`over`](Self::over) does.
    ///
    /// # Safety
    /// 1. Each of the words is zero. What stands there otherwise would be read as headers.
    pub unsafe fn over_zeros(words: W) -> Self {
        let len = words::usable(words.words().len());
        Self { tail: Padded::new(AtomicU32::new(0)), len, words }
    }

    /// The words, with what is in them.
    pub fn into_words(self) -> W {
        self.words
    }

    /// Appends a record. Lock-free.
    ///
    /// # Errors
    /// [`LogError`], if it does not fit or the log is sealed. Nothing is lost then, and a shorter one may still fit.
    #[inline]
    pub fn append(&self, bytes: &[u8]) -> Result<(), LogError> {
        let log = self.parts();
        let at = log.claim_record(bytes.len())?;
        let len = bytes.len() as u32;
        // SAFETY: L1: the claim's words are enough for the record, and this call's until it is committed.
        unsafe {
            log.words.open(at, len);
            log.words.write(at, bytes);
            log.words.commit(at, len);
        }
        Ok(())
    }

    /// Takes the place of a record of `len` bytes, to write it there. Lock-free.
    ///
    /// It must come to an end: a grant that is kept makes those wait who read in order, and one that is forgotten makes them wait for
    /// ever.
    ///
    /// # Errors
    /// [`LogError`], as [`append`](Self::append).
    #[inline]
    pub fn grant(&self, len: usize) -> Result<Grant<'_>, LogError> {
        let log = self.parts();
        let at = log.claim_record(len)?;
        // SAFETY: L1: the claim's words are enough for the record, and nobody else's.
        Ok(unsafe { Grant::new(log.words, at, len as u32) })
    }

    /// A producer of its own, which takes chunks of `bytes` bytes; longer ones for longer records, shorter ones at the end of the log.
    ///
    /// It takes the first one with its first record.
    #[inline]
    pub fn lease(&self, bytes: usize) -> Lease<'_> {
        Lease::new(self.parts(), bytes)
    }

    /// Refuses all appends from now on. Wait-free.
    ///
    /// What producers have already can still be committed: grants, and what fits into a lease's chunk. A reader comes to the
    /// [end](Read::End) once they have given it up.
    pub fn seal(&self) {
        // Release pairs with the reader's look at the tail.
        self.tail.fetch_or(SEALED, ord!("append-9", Release));
    }

    /// Reads the records in their order, from the first one on.
    pub fn reader(&self) -> Reader<'_> {
        Reader::new(self.parts())
    }

    /// Everything that is committed now, from the first record on; what is still being written is skipped.
    pub fn committed(&self) -> Committed<'_> {
        Committed::new(self.parts())
    }

    /// Whether the log is sealed, as far as this call can know.
    pub fn is_sealed(&self) -> bool {
        self.tail.load(ord!("append-10", Relaxed)) & SEALED != 0
    }

    /// How many bytes of memory are taken, at some moment of the call: headers, rounding and padding among them.
    pub fn used(&self) -> usize {
        (self.tail.load(ord!("append-11", Relaxed)) & !SEALED) as usize * 4
    }

    /// How many bytes of memory there are.
    pub fn capacity(&self) -> usize {
        self.len as usize * 4
    }

    /// Empties the log, and opens it if it was sealed. Needs the log alone: nobody has a record, a grant or a lease of it.
    pub fn clear(&mut self) {
        self.tail = Padded::new(AtomicU32::new(0));
        self.parts().words.clear_from(0);
    }

    #[inline(always)]
    fn parts(&self) -> Parts<'_> {
        // SAFETY: L4: `usable` words, of those that `Words` gives each time.
        Parts { words: unsafe { Memory::new(&self.words, self.len) }, tail: &self.tail }
    }
}

/// A log's parts, put together for one call, a lease or a reader.
#[derive(Clone, Copy)]
struct Parts<'a> {
    words: Memory<'a>,
    tail: &'a AtomicU32,
}

impl Parts<'_> {
    /// Takes the words for a record of `len` bytes.
    #[inline(always)]
    fn claim_record(self, len: usize) -> Result<u32, LogError> {
        let span = span_of(len);
        match self.claim(span, |_| span) {
            Ok((at, _)) => Ok(at),
            Err(tail) => Err(refused(self.words.len(), tail, len)),
        }
    }

    /// Takes words, `size` of what is left, if at least `least` are; or else says where the tail is. Whoever gets them owns them (L1).
    #[inline(always)]
    fn claim(self, least: u32, size: impl Fn(u32) -> u32) -> Result<(u32, u32), u32> {
        let mut tail = self.tail.load(ord!("append-1", Relaxed));
        // Where the tail may be at most. A sealed log's is larger than any length (L4).
        let Some(last) = self.words.len().checked_sub(least) else { return Err(tail) };
        while tail <= last {
            let taken = size(self.words.len() - tail);
            // Linearization point. Nobody has used these words before, so that there is nothing to acquire; and their headers publish
            // what is done with them.
            match self.tail.compare_exchange_weak(tail, tail + taken, ord!("append-2", Relaxed), ord!("append-3", Relaxed)) {
                Ok(_) => return Ok((tail, taken)),
                Err(found) => tail = found,
            }
        }
        Err(tail)
    }
}

/// Why a record of `len` bytes does not fit behind the tail of a log of `words` words.
#[cold]
#[inline(never)]
fn refused(words: u32, tail: u32, len: usize) -> LogError {
    if tail & SEALED != 0 {
        return LogError::Sealed;
    }
    LogError::Full { needed: len, room: Header::filling(Kind::Padding, words.saturating_sub(tail)).len as usize }
}

impl<const N: usize> Default for AppendLog<[LogWord; N]> {
    fn default() -> Self {
        Self::new()
    }
}

impl<W: Words> fmt::Debug for AppendLog<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (used, sealed) = (self.used(), self.is_sealed());
        f.debug_struct("AppendLog").field("used", &used).field("sealed", &sealed).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use std::{boxed::Box, format, panic, thread, vec::Vec};

    use super::*;

    type Log<const N: usize> = AppendLog<[LogWord; N]>;

    /// What a reader gets until there is no record, and what it gets then.
    fn read_all<'a>(reader: &mut Reader<'a>) -> (Vec<&'a [u8]>, Read<'a>) {
        let mut records = Vec::new();
        loop {
            match reader.read().expect("not corrupt") {
                Read::Record(record) => records.push(record.bytes()),
                other => return (records, other),
            }
        }
    }

    fn all<const N: usize>(log: &Log<N>) -> (Vec<&[u8]>, Read<'_>) {
        read_all(&mut log.reader())
    }

    #[test]
    fn a_refused_record_loses_nothing_and_a_shorter_one_still_fits() {
        let log = Log::<4>::new();
        log.append(b"1234").expect("two words");
        assert_eq!(log.append(b"12345"), Err(LogError::Full { needed: 5, room: 4 }));
        assert_eq!(log.grant(usize::MAX).err(), Some(LogError::Full { needed: usize::MAX, room: 4 }));
        log.append(b"5678").expect("the rest");
        assert_eq!(log.append(b""), Err(LogError::Full { needed: 0, room: 0 }));
        assert!(matches!(all(&log), (records, Read::Empty) if records == [b"1234", b"5678"]));
        log.seal();
        assert_eq!(log.append(b""), Err(LogError::Sealed));
        assert!(matches!(all(&log), (_, Read::End)));
        assert_eq!(format!("{log:?}"), "AppendLog { used: 16, sealed: true, .. }");
    }

    #[test]
    fn grants_that_end_in_any_way_are_read_past_and_a_forgotten_one_is_not() {
        let log = Log::<32>::new();
        let mut first = log.grant(5).expect("room");
        first.bytes().copy_from_slice(b"first");
        drop(log.grant(3).expect("room"));
        let panicking = || {
            let mut grant = log.grant(4).expect("room");
            grant.bytes()[0] = 1;
            panic!("on purpose");
        };
        assert!(panic::catch_unwind(panic::AssertUnwindSafe(panicking)).is_err());
        log.append(b"last").expect("room");
        let mut reader = log.reader();
        assert!(matches!(reader.read(), Ok(Read::Pending)));
        assert_eq!(log.committed().count(), 1);
        first.commit();
        assert_eq!(read_all(&mut reader).0, [&b"first"[..], b"last"]);
        core::mem::forget(log.grant(1).expect("room"));
        log.append(b"behind").expect("room");
        assert!(matches!(read_all(&mut reader), (records, Read::Pending) if records.is_empty()));
        assert_eq!(log.committed().filter_map(Result::ok).last().as_deref(), Some(&b"behind"[..]));
    }

    #[test]
    fn leases_take_chunks_and_fill_them_up() {
        let log = Log::<16>::new();
        let (mut one, mut two) = (log.lease(12), log.lease(12));
        assert_eq!(log.used(), 0);
        one.append(b"a").expect("a chunk of 4 words");
        two.append(b"b").expect("a chunk of 4 words");
        one.append(b"").expect("in the chunk");
        assert_eq!((log.used(), one.room(), two.room()), (32, 0, 0));
        let mut grant = one.grant(7).expect("a chunk of 4 words");
        assert_eq!(one.room(), 0);
        one.append(b"c").expect("the last 4 words");
        assert_eq!(two.append(b"dddd"), Err(LogError::Full { needed: 4, room: 0 }));
        two.append(b"").expect("what was left of the chunk");
        assert!(matches!(all(&log), (records, Read::Pending) if records == [&b"a"[..], b"", b"b", b""]));
        grant.bytes().copy_from_slice(b"granted");
        grant.commit();
        assert!(matches!(all(&log), (records, Read::Pending) if records == [&b"a"[..], b"", b"b", b"", b"granted", b"c"]));
        drop((one, two));
        assert!(matches!(all(&log), (_, Read::Empty)));
    }

    #[test]
    fn a_sealed_log_lets_leases_finish_their_chunks() {
        let log = Log::<16>::new();
        let mut lease = log.lease(20);
        lease.append(b"a").expect("room");
        log.seal();
        assert_eq!(log.lease(4).append(b""), Err(LogError::Sealed));
        lease.append(b"b").expect("in its chunk");
        assert_eq!(lease.append(b"ccccc"), Err(LogError::Sealed));
        assert!(matches!(all(&log), (_, Read::Pending)));
        drop(lease);
        assert!(matches!(all(&log), (records, Read::End) if records == [b"a", b"b"]));
    }

    #[test]
    fn a_cleared_log_begins_again() {
        let mut words: Box<[LogWord]> = (0..8).map(LogWord::from_bits).collect();
        let mut log = AppendLog::over(&mut words[..]);
        log.append(b"first").expect("room");
        log.seal();
        log.clear();
        log.append(b"second").expect("room");
        assert_eq!(read_all(&mut log.reader()).0, [b"second"]);
        assert_eq!((log.capacity(), log.is_sealed()), (32, false));
        assert_ne!(log.into_words()[0].bits(), 0);
    }

    #[test]
    fn threads_append_and_one_reads_meanwhile() {
        const EACH: usize = if cfg!(miri) { 20 } else { 2000 };
        static LOG: Log<{ 2 * EACH * 4 }> = Log::new();
        thread::scope(|scope| {
            scope.spawn(|| (0..EACH).for_each(|number| LOG.append(&[1, number as u8, 3, 4, 5]).expect("room")));
            scope.spawn(|| {
                let mut lease = LOG.lease(64);
                (0..EACH).for_each(|number| lease.append(&[2, number as u8]).expect("room"));
            });
            let (mut reader, mut next) = (LOG.reader(), [0; 3]);
            while next[1] + next[2] < 2 * EACH {
                match reader.read().expect("not corrupt") {
                    Read::Record(record) => {
                        let producer = usize::from(record[0]);
                        assert_eq!(record[1], next[producer] as u8, "in the producer's order");
                        next[producer] += 1;
                    }
                    _ => thread::yield_now(),
                }
            }
        });
    }
}
