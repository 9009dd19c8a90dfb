//! The specification of the append structures: a vector of bytes, and a vector of records.

use jeton_core::append::{AppendError, LogError};

use crate::linearizability::Spec;

/// A buffer as a vector of bytes that must not become longer than a cap.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bytes {
    /// What has been appended.
    pub bytes: Vec<u8>,
    cap: usize,
    capacity: usize,
    grows: bool,
}

impl Bytes {
    /// An empty buffer of fixed size.
    pub fn fixed(capacity: usize) -> Self {
        Self { bytes: Vec::new(), cap: capacity, capacity, grows: false }
    }

    /// An empty buffer without memory, which grows up to `cap`.
    pub fn growing(cap: usize) -> Self {
        Self { bytes: Vec::new(), cap, capacity: 0, grows: true }
    }

    /// Makes room for `len` bytes, or says why not.
    ///
    /// # Errors
    /// As the buffer's.
    pub fn reserve(&mut self, len: usize) -> Result<(), AppendError> {
        // In numbers that no length is too large for.
        let needed = self.bytes.len() as u128 + len as u128;
        if needed > self.cap as u128 {
            return Err(AppendError::Full { needed: usize::try_from(needed).unwrap_or(usize::MAX), cap: self.cap });
        }
        if self.grows && needed > self.capacity as u128 {
            let doubled = [2 * self.capacity as u128, needed, 512].into_iter().max().unwrap_or_default();
            self.capacity = doubled.min(self.cap as u128) as usize;
        }
        Ok(())
    }

    /// Appends, or says why not.
    ///
    /// # Errors
    /// As the buffer's.
    pub fn put(&mut self, bytes: &[u8]) -> Result<(), AppendError> {
        self.reserve(bytes.len())?;
        self.bytes.extend_from_slice(bytes);
        Ok(())
    }

    /// The bytes that it has memory for.
    pub fn capacity(&self) -> usize {
        self.capacity
    }
}

/// A call of a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Call {
    /// Append a record.
    Append(Vec<u8>),
    /// Refuse what comes.
    Seal,
    /// Read the next record. There is one reader.
    Read,
}

/// What a call returns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Of `Append`.
    Appended(Result<(), LogError>),
    /// Of `Seal`.
    Sealed,
    /// Of `Read`.
    Record(Vec<u8>),
    /// Of `Read`: there is a record, and its producer is still writing it.
    Pending,
    /// Of `Read`: there is no record.
    Empty,
    /// Of `Read`: there is no record, and there will be none.
    End,
}

/// An ordered log as a vector of records, which take four bytes more than they have, rounded up to four.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Records {
    /// In the order in which they took their places.
    pub records: Vec<Vec<u8>>,
    free_words: usize,
    sealed: bool,
    read: usize,
}

impl Records {
    /// An empty log of so many words.
    pub fn new(words: usize) -> Self {
        Self { records: Vec::new(), free_words: words, sealed: false, read: 0 }
    }

    /// Appends a record.
    ///
    /// # Errors
    /// As the log's.
    pub fn append(&mut self, bytes: &[u8]) -> Result<(), LogError> {
        if self.sealed {
            return Err(LogError::Sealed);
        }
        let words = 1 + bytes.len().div_ceil(4);
        let Some(left) = self.free_words.checked_sub(words) else {
            return Err(LogError::Full { needed: bytes.len(), room: self.free_words.saturating_sub(1) * 4 });
        };
        self.free_words = left;
        self.records.push(bytes.to_vec());
        Ok(())
    }

    /// Refuses what comes.
    pub fn seal(&mut self) {
        self.sealed = true;
    }

    /// What is there to read, if no producer is writing.
    pub fn read(&mut self) -> Answer {
        match self.records.get(self.read) {
            Some(record) => {
                self.read += 1;
                Answer::Record(record.clone())
            }
            None if self.sealed => Answer::End,
            None => Answer::Empty,
        }
    }
}

impl Spec for Records {
    type Call = Call;
    type Answer = Answer;

    fn accepts(&mut self, call: &Call, answer: &Answer) -> bool {
        match (call, answer) {
            (Call::Append(bytes), Answer::Appended(answer)) => self.append(bytes) == *answer,
            (Call::Seal, Answer::Sealed) => {
                self.seal();
                true
            }
            // The record has its place, and the call that appends it has not returned.
            (Call::Read, Answer::Pending) => self.read < self.records.len(),
            (Call::Read, answer) => self.read() == *answer,
            _ => false,
        }
    }
}

#[cfg(all(test, not(any(jeton_loom, jeton_shuttle))))]
mod tests {
    use super::*;

    #[test]
    fn a_log_is_read_in_the_order_of_its_appends() {
        let mut log = Records::new(4);
        assert!(log.accepts(&Call::Read, &Answer::Empty));
        assert!(log.accepts(&Call::Append(b"12345".to_vec()), &Answer::Appended(Ok(()))));
        assert!(!log.clone().accepts(&Call::Read, &Answer::Empty));
        assert!(log.accepts(&Call::Read, &Answer::Pending));
        assert!(log.accepts(&Call::Append(vec![0; 4]), &Answer::Appended(Err(LogError::Full { needed: 4, room: 0 }))));
        assert!(log.accepts(&Call::Append(vec![]), &Answer::Appended(Ok(()))));
        assert!(log.accepts(&Call::Seal, &Answer::Sealed));
        assert!(log.accepts(&Call::Append(vec![]), &Answer::Appended(Err(LogError::Sealed))));
        assert!(!log.clone().accepts(&Call::Read, &Answer::Record(vec![])));
        for record in [b"12345".to_vec(), vec![]] {
            assert!(log.accepts(&Call::Read, &Answer::Record(record)));
        }
        assert!(!log.clone().accepts(&Call::Read, &Answer::Pending));
        assert!(log.accepts(&Call::Read, &Answer::End));
    }

    #[test]
    fn a_growing_buffer_doubles_from_512_up_to_its_cap() {
        let mut bytes = Bytes::growing(3000);
        let capacities = [0, 1, 511, 1, 600, 1000, 3000 - 2113].map(|len| bytes.put(&vec![0; len]).map(|()| bytes.capacity()));
        assert_eq!(capacities, [0, 512, 512, 1024, 2048, 3000, 3000].map(Ok));
        assert_eq!(bytes.put(&[0]), Err(AppendError::Full { needed: 3001, cap: 3000 }));
        assert_eq!(bytes.reserve(usize::MAX), Err(AppendError::Full { needed: usize::MAX, cap: 3000 }));
        assert_eq!(Bytes::fixed(1).put(&[0; 2]), Err(AppendError::Full { needed: 2, cap: 1 }));
    }
}
