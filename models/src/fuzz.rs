//! What the fuzz targets run: any bytes, as calls of a buffer or as the memory of a log. Whatever they are, a wrong answer is a panic.
//!
//! `models/fuzz` hands these functions to libFuzzer (`cargo fuzz`); `tests/fuzz_append.rs` runs them on stable Rust with inputs of its own.

use std::ops::Range;

use jeton::append::{AppendLog, Array, Heap, LogError, LogWord, Read, Slice};

use crate::spec::{
    append::Bytes,
    append_calls::{Call, same},
};

/// Runs the bytes as calls of buffers, cursors among them.
///
/// # Panics
/// If a buffer does not do what its specification says.
pub fn cursor(bytes: &[u8]) {
    let mut input = Input(bytes);
    let cap = usize::from(input.number()) % 5_000;
    let mut calls = Vec::new();
    while let Some(kind) = input.byte() {
        calls.push(input.call(kind));
    }
    let mut slice = [0; 700];
    same(Slice::new(&mut slice), Bytes::fixed(700), &calls);
    same(Array::<700>::new(), Bytes::fixed(700), &calls);
    same(Heap::with_cap(cap), Bytes::growing(cap), &calls);
}

/// Takes the bytes as the memory of a log, in two ways: as they are; and as records and leases of a log, of which some words were changed then.
/// Which of the two were accepted.
///
/// # Panics
/// If a log that is accepted cannot be read to its end, changes what it had, or does not go on.
pub fn log_reader(bytes: &[u8]) -> [bool; 2] {
    let word = |bytes: &[u8]| {
        let mut word = [0; 4];
        word[..bytes.len()].copy_from_slice(bytes);
        u32::from_le_bytes(word)
    };
    let as_they_are = recover(&bytes.chunks(4).map(word).collect::<Vec<_>>()).is_some();

    let mut input = Input(bytes);
    let mut words: Vec<LogWord> = (0..input.number() % 100).map(|_| LogWord::new()).collect();
    let log = AppendLog::over(&mut words[..]);
    let mut lease = log.lease(usize::from(input.number() % 100));
    let changes = input.number() % 4;
    let places: Vec<(u16, u16, u8)> =
        (0..changes).map(|_| (input.number(), input.number(), input.byte().unwrap_or_default())).collect();
    while let Some(call) = input.byte() {
        let len = input.number() % 40;
        let record = input.take(len);
        match call % 8 {
            0..3 => _ = log.append(record),
            3..6 => _ = lease.append(record),
            6 => std::mem::forget(log.grant(record.len())),
            _ => drop(lease.grant(record.len())),
        }
    }
    if changes % 2 == 1 {
        std::mem::forget(lease);
    } else {
        drop(lease);
    }
    let mut saved: Vec<u32> = log.into_words().iter().map(LogWord::bits).collect();
    if changes == 0 {
        recover(&saved).expect("a log was saved");
    }
    for (place, low, high) in places {
        let at = usize::from(place) % saved.len().max(1);
        if let Some(word) = saved.get_mut(at) {
            *word ^= u32::from(low) | u32::from(high) << 24;
        }
    }
    [as_they_are, recover(&saved).is_some()]
}

/// Makes a log of the words, if they are one, and tries all that can be done with it.
fn recover(saved: &[u32]) -> Option<()> {
    let mut words: Vec<LogWord> = saved.iter().copied().map(LogWord::from_bits).collect();
    let memory = words.as_ptr_range();
    let memory = memory.start.addr()..memory.end.addr();
    let log = match AppendLog::recover(&mut words[..]) {
        Ok(log) => log,
        Err(corrupt) => {
            assert!(saved.get(corrupt.at as usize).is_some_and(|word| *word != 0), "a word that is zero is no error");
            assert!(words.iter().map(LogWord::bits).eq(saved.iter().copied()), "refused, and something is changed");
            return None;
        }
    };
    let records = records(&log, &memory);
    assert!(log.used() <= log.capacity());

    // It goes on behind what it had.
    let room = log.capacity() - log.used();
    let appended = log.append(b"behind");
    assert_eq!(appended.is_ok(), room >= 12, "{appended:?}, {room}");
    let leased = log.lease(8).append(b"leased");
    log.seal();
    assert_eq!(log.append(b""), Err(LogError::Sealed));
    let mut all = records.clone();
    all.extend(appended.is_ok().then(|| b"behind".to_vec()));
    all.extend(leased.is_ok().then(|| b"leased".to_vec()));
    assert_eq!(self::records(&log, &memory), all);
    let mut reader = log.reader();
    for _ in &all {
        assert!(matches!(reader.read(), Ok(Read::Record(_))));
    }
    assert!(matches!(reader.read(), Ok(Read::End)));

    // What it is saved as is the same log.
    let again: Vec<u32> = log.into_words().iter().map(LogWord::bits).collect();
    let mut again: Vec<LogWord> = again.into_iter().map(LogWord::from_bits).collect();
    let range = again.as_ptr_range();
    let range = range.start.addr()..range.end.addr();
    let log = AppendLog::recover(&mut again[..]).expect("a log was saved");
    assert_eq!(self::records(&log, &range), all);
    Some(())
}

/// The records, each of which lies in the log's memory.
fn records(log: &AppendLog<&mut [LogWord]>, memory: &Range<usize>) -> Vec<Vec<u8>> {
    let record = |record: jeton::append::Record<'_>| {
        let range = record.bytes().as_ptr_range();
        assert!(memory.start <= range.start.addr() && range.end.addr() <= memory.end);
        record.to_vec()
    };
    log.committed().map(|found| record(found.expect("it was recovered"))).collect()
}

/// Bytes that are taken one after another; when there are none left, numbers are 0.
struct Input<'a>(&'a [u8]);

impl<'a> Input<'a> {
    fn byte(&mut self) -> Option<u8> {
        self.0.split_off_first().copied()
    }

    fn number(&mut self) -> u16 {
        u16::from_le_bytes([self.byte().unwrap_or_default(), self.byte().unwrap_or_default()])
    }

    fn take(&mut self, len: u16) -> &'a [u8] {
        let len = usize::from(len).min(self.0.len());
        self.0.split_off(..len).unwrap_or_default()
    }

    fn call(&mut self, kind: u8) -> Call {
        let little = kind >= 128;
        match kind % 16 {
            0..3 => {
                let len = self.number() % 300;
                Call::Put(self.take(len).to_vec())
            }
            3 => Call::PutNumber(u64::from(self.number()) << 40 | u64::from(self.number()), little),
            4 => {
                let bytes = self.take(9);
                Call::PutString(bytes.iter().map(|byte| char::from(b'a' + byte % 26)).collect())
            }
            5..9 => {
                let (reserved, len) = (usize::from(self.number() % 300), self.number() % 300);
                Call::Cursor { reserved, put: self.take(len).to_vec(), commit: little }
            }
            9 => Call::Reserve(usize::MAX - usize::from(self.number())),
            10 => Call::Reserve(isize::MAX as usize - usize::from(self.number())),
            11 => Call::Slot,
            12 => Call::Patch(self.number().into(), little),
            13 => Call::Mark,
            14 => Call::Rewind,
            _ => Call::Clear,
        }
    }
}
