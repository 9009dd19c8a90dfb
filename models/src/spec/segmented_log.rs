//! The specification of the segmented log: vectors of records.

use std::collections::BTreeMap;

use crate::linearizability::Spec;

/// A call of a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Call {
    /// Append a record.
    Append(Vec<u8>),
    /// The next record of the reader of that number.
    Read(usize),
    /// Give up all segments but the last one.
    TrimToEnd,
    /// Refuse what comes.
    Close,
}

/// What a call returns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Of `Append`.
    Appended,
    /// Of `Append`: longer than a segment takes.
    Full {
        /// The longest one.
        cap: usize,
    },
    /// Of `Append`: the log is closed.
    Closed,
    /// Of `Read`.
    Record(Vec<u8>),
    /// Of `Read`: there is a record, and its producer is still writing it.
    Pending,
    /// Of `Read`: there is no record.
    Empty,
    /// Of `Read`: there is no record, and there will be none.
    End,
    /// Of `Read`: so many segments are gone that it has not read.
    Trimmed(u64),
    /// Of `TrimToEnd`: so many segments are gone.
    GivenUp(u64),
    /// Of `Close`: whether this call has.
    HasClosed(bool),
}

/// A log of segments, each a vector of records, of which each takes four bytes more than it has, rounded up to four.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segments {
    segments: Vec<Vec<Vec<u8>>>,
    /// How many of them are given up.
    first: usize,
    words: usize,
    /// Of the last one.
    free_words: usize,
    closed: bool,
    /// Segment and record that each reader comes to.
    readers: BTreeMap<usize, (usize, usize)>,
}

impl Segments {
    /// An empty log whose segments have so many words.
    pub fn new(words: usize) -> Self {
        Self { segments: vec![Vec::new()], first: 0, words, free_words: words, closed: false, readers: BTreeMap::new() }
    }

    /// A new reader, from where the log begins.
    pub fn add_reader(&mut self, reader: usize) {
        self.readers.insert(reader, (self.first, 0));
    }

    /// No longer a reader.
    pub fn remove_reader(&mut self, reader: usize) {
        self.readers.remove(&reader);
    }

    /// How many segments are listed, and how many of those that are not are pinned by readers.
    pub fn held(&self) -> (u64, u64) {
        let mut pinned: Vec<usize> = self.readers.values().map(|place| place.0).filter(|segment| *segment < self.first).collect();
        pinned.sort_unstable();
        pinned.dedup();
        ((self.segments.len() - self.first) as u64, pinned.len() as u64)
    }

    /// What the call returns, if no other one is under way.
    pub fn answer(&mut self, call: &Call) -> Answer {
        match call {
            Call::Append(bytes) => self.append(bytes),
            Call::Read(reader) => self.read(*reader),
            Call::TrimToEnd => self.trim_before(self.segments.len() - 1),
            Call::Close => Answer::HasClosed(!std::mem::replace(&mut self.closed, true)),
        }
    }

    /// Gives up the segments before the one that the reader is in.
    pub fn trim_to(&mut self, reader: usize) -> Answer {
        self.trim_before(self.readers[&reader].0)
    }

    fn trim_before(&mut self, segment: usize) -> Answer {
        let given_up = segment.saturating_sub(self.first);
        self.first += given_up;
        Answer::GivenUp(given_up as u64)
    }

    fn append(&mut self, bytes: &[u8]) -> Answer {
        let (words, cap) = (1 + bytes.len().div_ceil(4), (self.words - 1) * 4);
        if bytes.len() > cap {
            return Answer::Full { cap };
        }
        if self.closed {
            return Answer::Closed;
        }
        if words > self.free_words {
            self.segments.push(Vec::new());
            self.free_words = self.words;
        }
        self.free_words -= words;
        self.segments.last_mut().expect("there is one").push(bytes.to_vec());
        Answer::Appended
    }

    fn read(&mut self, reader: usize) -> Answer {
        let place = self.readers.get_mut(&reader).expect("a reader");
        loop {
            if let Some(record) = self.segments[place.0].get(place.1) {
                place.1 += 1;
                return Answer::Record(record.clone());
            }
            if place.0 + 1 == self.segments.len() {
                return if self.closed { Answer::End } else { Answer::Empty };
            }
            let next = place.0 + 1;
            *place = (next.max(self.first), 0);
            if place.0 != next {
                return Answer::Trimmed((place.0 - next) as u64);
            }
        }
    }
}

impl Spec for Segments {
    type Call = Call;
    type Answer = Answer;

    fn accepts(&mut self, call: &Call, answer: &Answer) -> bool {
        match (call, answer) {
            // The record has its place, and the call that appends it has not returned.
            (Call::Read(reader), Answer::Pending) => matches!(self.clone().read(*reader), Answer::Record(_)),
            // A reader may have gone on into a segment while there was nothing in it yet, and keeps it.
            (Call::Read(reader), Answer::Record(_)) if matches!(self.clone().read(*reader), Answer::Trimmed(_)) => {
                let first = std::mem::replace(&mut self.first, 0);
                let same = self.read(*reader) == *answer;
                self.first = first;
                same
            }
            (call, answer) => self.answer(call) == *answer,
        }
    }
}

#[cfg(all(test, not(any(jeton_loom, jeton_shuttle))))]
mod tests {
    use super::*;

    #[test]
    fn a_log_is_read_segment_by_segment() {
        let mut log = Segments::new(3);
        log.add_reader(0);
        log.add_reader(1);
        let mut expect = |call, answer| assert_eq!(log.answer(&call), answer);
        for bytes in [b"1234", b"5678", b"9abc"] {
            expect(Call::Append(bytes.to_vec()), Answer::Appended);
        }
        expect(Call::Append(vec![0; 9]), Answer::Full { cap: 8 });
        expect(Call::Append(vec![]), Answer::Appended);
        expect(Call::Read(0), Answer::Record(b"1234".to_vec()));
        expect(Call::Read(0), Answer::Record(b"5678".to_vec()));
        expect(Call::TrimToEnd, Answer::GivenUp(2));
        expect(Call::Read(1), Answer::Record(b"1234".to_vec()));
        expect(Call::Read(1), Answer::Trimmed(1));
        expect(Call::Close, Answer::HasClosed(true));
        expect(Call::Close, Answer::HasClosed(false));
        expect(Call::Append(vec![]), Answer::Closed);
        for record in [b"9abc".to_vec(), vec![]] {
            expect(Call::Read(0), Answer::Record(record.clone()));
            expect(Call::Read(1), Answer::Record(record));
        }
        expect(Call::Read(0), Answer::End);
        assert_eq!(log.held(), (1, 0));
    }

    #[test]
    fn a_record_that_is_there_may_be_pending_and_nothing_else_may() {
        let mut log = Segments::new(3);
        log.add_reader(0);
        assert!(!log.accepts(&Call::Read(0), &Answer::Pending));
        assert!(log.accepts(&Call::Append(vec![1]), &Answer::Appended));
        assert!(log.accepts(&Call::Read(0), &Answer::Pending) && !log.clone().accepts(&Call::Read(0), &Answer::Empty));
        assert!(log.accepts(&Call::Read(0), &Answer::Record(vec![1])));
    }
}
