//! A log from memory that had one before.

use super::{
    AppendLog, Corrupt, Reader, Words,
    header::{Header, Kind},
    reader::Found,
    words,
};
use crate::{sync::AtomicU32, util::Padded};

impl<W: Words> AppendLog<W> {
    /// The log that these words hold: read from a file, or kept over a reset. It is open, also if it was sealed.
    ///
    /// The words are numbers, and a record's bytes lie in them in the byte order of the machine that wrote them.
    ///
    /// What was being written then is padding now, and so is what leases had left. Where a producer had taken a place and had not yet
    /// said how long it is, the log ends, and what comes behind is lost.
    ///
    /// # Errors
    /// [`Corrupt`] if the headers do not lead from the first word to a word that is zero, or to the end. The words are as they were then;
    /// lend them, as `&mut [LogWord]`, to have them afterwards.
    ///
    /// # Examples
    /// ```
    /// use jeton_core::append::{AppendLog, LogWord, Record};
    ///
    /// let saved = [18, u32::from_ne_bytes(*b"ab\0\0"), 33, 0, 0]; // a record of two bytes, and one that was being written
    /// let log = AppendLog::recover(saved.map(LogWord::from_bits))?;
    /// log.append(b"")?;
    /// let records: Vec<&[u8]> = log.committed().flatten().map(Record::bytes).collect();
    /// assert_eq!(records, [&b"ab"[..], b""]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn recover(words: W) -> Result<Self, Corrupt> {
        let len = words::usable(words.words().len());
        // All taken, until it is known how many are.
        let log = Self { tail: Padded::new(AtomicU32::new(len)), len, words };
        let memory = log.parts().words;
        // Once to see whether it is a log, and nothing is changed before that is known.
        log.walk(|_, _| {})?;
        let tail = log.walk(|at, end| {
            // SAFETY: L1: nobody but this call has the words, and `end` is behind `at` and not behind the tail.
            unsafe { memory.fill(at, Header::filling(Kind::Padding, end - at)) };
        })?;
        memory.clear_from(tail);
        Ok(Self { tail: Padded::new(AtomicU32::new(tail)), ..log })
    }

    /// Where the log ends. Whatever an owner has left open, from where to where, goes to `open`.
    fn walk(&self, mut open: impl FnMut(u32, u32)) -> Result<u32, Corrupt> {
        let mut position = Reader::new(self.parts()).into_position();
        loop {
            match position.find()? {
                Found::Record(_) => {}
                Found::Owned { up_to: Some(end) } => {
                    open(position.at, end);
                    position.go_to(end);
                }
                Found::Owned { up_to: None } | Found::Tail { .. } => return Ok(position.at),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use std::vec::Vec;

    use super::*;
    use crate::append::{LogWord, Read};

    fn bits(kind: Kind, len: u32) -> u32 {
        Header::new(kind, len).bits()
    }

    fn records(log: &AppendLog<&mut [LogWord]>) -> Vec<Vec<u8>> {
        log.committed().map(|record| record.expect("a record").to_vec()).collect()
    }

    #[test]
    fn a_recovered_log_has_its_records_and_goes_on_behind_them() {
        let payload = u32::from_ne_bytes(*b"data");
        let mut words = [
            bits(Kind::Committed, 4),
            payload,
            bits(Kind::Writing, 3),
            payload,
            bits(Kind::Chunk, 12),
            bits(Kind::Committed, 2),
            payload,
            0, // the lease's rest
            0,
            payload, // written and never committed
            9,
        ]
        .map(LogWord::from_bits);
        let log = AppendLog::recover(&mut words[..]).expect("a log");
        assert_eq!(records(&log), [b"data".to_vec(), b"da".to_vec()]);
        assert_eq!(log.used(), 8 * 4);
        log.append(b"more").expect("two words");
        log.append(b"").expect("one word");
        assert!(log.append(b"").is_err());
        assert_eq!(records(&log), [b"data".to_vec(), b"da".to_vec(), b"more".to_vec(), b"".to_vec()]);
        let mut reader = log.reader();
        assert_eq!((0..4).filter(|_| matches!(reader.read(), Ok(Read::Record(_)))).count(), 4);
        assert!(matches!(reader.read(), Ok(Read::Empty)));
    }

    #[test]
    fn what_lies_behind_the_end_is_neither_read_nor_taken_for_a_leases_records() {
        let lost = bits(Kind::Committed, 0);
        let mut words = [0, lost, lost, lost].map(LogWord::from_bits);
        let log = AppendLog::recover(&mut words[..]).expect("a log that ends at once");
        log.append(b"").expect("room");
        let mut reader = log.reader();
        assert!(matches!(reader.read(), Ok(Read::Record(record)) if record.is_empty()));
        assert!(matches!(reader.read(), Ok(Read::Empty)));
        let mut lease = log.lease(8);
        lease.append(b"").expect("a chunk of three words");
        assert!(matches!(reader.read(), Ok(Read::Record(record)) if record.is_empty()));
        assert!(matches!(reader.read(), Ok(Read::Pending)));
        assert_eq!(log.committed().count(), 2);
        let mut words = [0, u32::MAX, u32::MAX].map(LogWord::from_bits);
        let log = AppendLog::recover(&mut words[..]).expect("a log that ends at once");
        assert_eq!(log.grant(8).expect("room").bytes(), [0; 8], "nothing of what was lost");
    }

    #[test]
    fn words_that_are_no_log_are_an_error() {
        for (words, at) in [
            ([5, 0, 0], 0),                                                       // no kind
            ([8, 0, 0], 0),                                                       // a length without a kind
            ([bits(Kind::Committed, 9), 0, 0], 0),                                // longer than the log
            ([bits(Kind::Committed, 0), u32::MAX, 0], 1),                         // the second header
            ([bits(Kind::Chunk, 8), bits(Kind::Chunk, 4), 0], 1),                 // a chunk in a chunk
            ([bits(Kind::Chunk, 4), bits(Kind::Committed, 4), 0], 1),             // a record longer than its chunk
            ([bits(Kind::Padding, 0), bits(Kind::Writing, (1 << 29) - 1), 0], 1), // the longest there is
        ] {
            let mut words = words.map(LogWord::from_bits);
            assert_eq!(AppendLog::recover(&mut words[..]).err(), Some(Corrupt { at }), "{words:?}");
        }
        let saved = [bits(Kind::Writing, 0), bits(Kind::Chunk, 4), 0, u32::MAX];
        let mut words = saved.map(LogWord::from_bits);
        assert_eq!(AppendLog::recover(&mut words[..]).err(), Some(Corrupt { at: 3 }));
        assert_eq!(words.map(|word| word.bits()), saved, "refused, and nothing is changed");
        let full = [bits(Kind::Chunk, 0), bits(Kind::Padding, 0), bits(Kind::Committed, 0)];
        assert_eq!(AppendLog::recover(full.map(LogWord::from_bits)).map(|log| log.used()), Ok(12));
    }
}
