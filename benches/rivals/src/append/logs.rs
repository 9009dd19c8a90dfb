//! Records of 16 bytes: into one log that all threads append to, and is not read meanwhile; or through a queue.
//!
//! A log of ours is used once, until it is cleared: it has memory for all records of a window, and others have as much. The memory is there before
//! the window, and is used again in the next one. The queues are emptied by who fills them.
#![allow(clippy::disallowed_types, reason = "the harness counts with the standard library's atomics")]

use std::{
    hint::black_box,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
};

use bbqueue::nicknames::Churrasco;
use jeton::append::{AppendLog, LogWord};
use thingbuf::ThingBuf;

use crate::{
    contender::{Contender, Entry, Group, Target},
    counter::equal,
    window::Pace,
};

const LEASED: &str = "jeton AppendLog, leased 4 KiB";
const ORDERED: &str = "jeton AppendLog, ordered";
const MUTEX: &str = "std Mutex<Vec<u8>>";
const PARKING_LOT: &str = "parking_lot Mutex<Vec<u8>>";
const THINGBUF: &str = "thingbuf 0.1, and out again";
const BBQUEUE: &str = "bbqueue 0.7, framed, and out again";

pub(super) const GROUP: Group = Group {
    name: "log",
    operation: "a record of 16 bytes appended",
    reference: MUTEX,
    ours: LEASED,
    fewest: 1000,
    entries: &[
        Entry { name: "nothing (loop and black_box)", most_threads: 2, make: || Box::new(Nothing) },
        Entry { name: LEASED, most_threads: 2, make: || Box::new(Ours::<true>(Log::take())) },
        Entry { name: ORDERED, most_threads: 2, make: || Box::new(Ours::<false>(Log::take())) },
        Entry { name: MUTEX, most_threads: 2, make: || Box::<Locked<Mutex<Vec<u8>>>>::default() },
        Entry { name: PARKING_LOT, most_threads: 2, make: || Box::<Locked<parking_lot::Mutex<Vec<u8>>>>::default() },
        Entry { name: BBQUEUE, most_threads: 1, make: || Box::<BbQueue>::default() },
        Entry { name: THINGBUF, most_threads: 2, make: || Box::<Things>::default() },
    ],
    targets: &[
        Target { ours: LEASED, peers: &[MUTEX], threads: 2, at_least: Some(20.0) },
        Target { ours: LEASED, peers: &[MUTEX, PARKING_LOT, BBQUEUE, THINGBUF], threads: 1, at_least: None },
        Target { ours: ORDERED, peers: &[MUTEX], threads: 1, at_least: None },
        Target { ours: ORDERED, peers: &[MUTEX], threads: 2, at_least: None },
    ],
    not_correct: &[],
};

const RECORD: [u8; 16] = *b"0123456789abcdef";

#[inline(always)]
fn record() -> &'static [u8; 16] {
    black_box(&RECORD)
}

/// The harness' own cost.
struct Nothing;

impl Contender for Nothing {
    fn work(&self, _: usize, pace: Pace<'_>) {
        pace.run(|times| {
            for _ in 0..times {
                record();
            }
        });
    }
    fn check(&self, _: u64) -> Result<(), String> {
        Ok(())
    }
}

/// 96 MiB: more than two threads fill in a window of a millisecond and its warm-up.
const BYTES: usize = 96 << 20;

/// A log whose memory goes from window to window.
struct Log(Option<AppendLog<&'static mut [LogWord]>>);

static MEMORY: Mutex<Option<AppendLog<&'static mut [LogWord]>>> = Mutex::new(None);

impl Log {
    fn take() -> Self {
        let before = MEMORY.lock().unwrap_or_else(PoisonError::into_inner).take();
        Self(Some(before.unwrap_or_else(|| {
            let words: Vec<LogWord> = (0..BYTES / 4).map(|_| LogWord::new()).collect();
            AppendLog::over(words.leak())
        })))
    }
}

impl Drop for Log {
    fn drop(&mut self) {
        if let Some(mut log) = self.0.take() {
            log.clear();
            *MEMORY.lock().unwrap_or_else(PoisonError::into_inner) = Some(log);
        }
    }
}

struct Ours<const LEASED: bool>(Log);

impl<const LEASED: bool> Contender for Ours<LEASED> {
    fn work(&self, _: usize, pace: Pace<'_>) {
        let Some(log) = &self.0.0 else { return };
        // A refused record is missing in the end, and the check notices.
        if LEASED {
            let mut lease = log.lease(4096);
            pace.run(|times| {
                for _ in 0..times {
                    _ = black_box(lease.append(record()));
                }
            });
        } else {
            pace.run(|times| {
                for _ in 0..times {
                    _ = black_box(log.append(record()));
                }
            });
        }
    }
    fn check(&self, operations: u64) -> Result<(), String> {
        let Some(log) = &self.0.0 else { return Err("no log".into()) };
        let mut records = 0;
        for record in log.committed() {
            let record = record.map_err(|corrupt| corrupt.to_string())?;
            if *record != RECORD {
                return Err(format!("a record {record:?}"));
            }
            records += 1;
        }
        equal("records", records, operations)
    }
}

/// A vector behind a lock, with the record's length before its bytes; emptied when it has as much as a log of ours.
#[derive(Default)]
#[repr(align(128))]
struct Locked<L> {
    log: L,
    emptied: AtomicU64,
}

trait Lock: Default + Sync {
    fn with(&self, work: impl FnOnce(&mut Vec<u8>));
}

impl Lock for Mutex<Vec<u8>> {
    #[inline(always)]
    fn with(&self, work: impl FnOnce(&mut Vec<u8>)) {
        work(&mut self.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

impl Lock for parking_lot::Mutex<Vec<u8>> {
    #[inline(always)]
    fn with(&self, work: impl FnOnce(&mut Vec<u8>)) {
        work(&mut self.lock());
    }
}

/// With its length.
const LEN: usize = 4 + RECORD.len();
/// What the vector has at most: it stays in the cache, which is in its favour.
const MOST: usize = 256 << 10;

impl<L: Lock> Contender for Locked<L> {
    fn work(&self, _: usize, pace: Pace<'_>) {
        self.log.with(|log| log.reserve(MOST));
        pace.run(|times| {
            for _ in 0..times {
                let record = record();
                self.log.with(|log| {
                    if log.len() + LEN > MOST {
                        self.emptied.fetch_add((log.len() / LEN) as u64, Relaxed);
                        log.clear();
                    }
                    log.extend_from_slice(&(record.len() as u32).to_ne_bytes());
                    log.extend_from_slice(record);
                });
            }
        });
    }
    fn check(&self, operations: u64) -> Result<(), String> {
        let mut rest = 0;
        self.log.with(|log| rest = (log.len() / LEN) as u64);
        equal("records", self.emptied.load(Relaxed) + rest, operations)
    }
}

/// A queue for one producer and one consumer, here the same thread.
#[derive(Default)]
struct BbQueue(AtomicU64);

impl Contender for BbQueue {
    fn work(&self, _: usize, pace: Pace<'_>) {
        let queue = Box::new(Churrasco::<4096>::new());
        let (producer, consumer) = (queue.framed_producer(), queue.framed_consumer());
        let mut records = 0;
        pace.run(|times| {
            for _ in 0..times {
                let record = record();
                let Ok(mut grant) = producer.grant(record.len() as u16) else { continue };
                grant.copy_from_slice(record);
                grant.commit(record.len() as u16);
                let Ok(read) = consumer.read() else { continue };
                records += u64::from(**black_box(&read) == record[..]);
                read.release();
            }
        });
        self.0.store(records, Relaxed);
    }
    fn check(&self, operations: u64) -> Result<(), String> {
        equal("records", self.0.load(Relaxed), operations)
    }
}

/// A queue for any threads, each of which takes one record out for each that it puts in.
#[repr(align(128))]
struct Things {
    queue: ThingBuf<[u8; 16]>,
    records: AtomicU64,
}

impl Default for Things {
    fn default() -> Self {
        Self { queue: ThingBuf::new(1024), records: AtomicU64::new(0) }
    }
}

impl Contender for Things {
    fn work(&self, _: usize, pace: Pace<'_>) {
        let mut records = 0;
        pace.run(|times| {
            for _ in 0..times {
                // No more are in it than there are threads, but at times it says that it is full: then again.
                loop {
                    if let Ok(mut place) = self.queue.push_ref() {
                        *place = *record();
                        records += 1;
                        break;
                    }
                }
                black_box(self.queue.pop_ref().map(|place| *place));
            }
        });
        self.records.fetch_add(records, Relaxed);
    }
    fn check(&self, operations: u64) -> Result<(), String> {
        equal("records", self.records.load(Relaxed), operations)
    }
}
