//! Records of 16 bytes without an end: all threads append, and the first one reads all of them too, in order, and gives up what is read.
//!
//! It reads after each chunk of its own appends, which is what there is from one look at the clock to the next. What is left when the window
//! ends is read by the check, which counts each producer's records and their order.
#![allow(clippy::disallowed_types, reason = "the harness' own lock")]

use std::{
    collections::VecDeque,
    mem,
    sync::{Mutex, PoisonError},
};

use crossbeam_queue::SegQueue;
use jeton::append::{LogReader, LogWriter, Read, SegmentedLog};

use crate::{
    contender::{Contender, Entry, Group, Target},
    counter::equal,
    window::Pace,
};

const LEASED: &str = "jeton SegmentedLog, leased 4 KiB";
const ORDERED: &str = "jeton SegmentedLog, a writer each";
const SHARED: &str = "jeton SegmentedLog, append";
const MUTEX: &str = "std Mutex<VecDeque>";
const PARKING_LOT: &str = "parking_lot Mutex<VecDeque>";
const SEG_QUEUE: &str = "crossbeam-queue 0.3 SegQueue";

pub(super) const GROUP: Group = Group {
    name: "stream",
    operation: "a record of 16 bytes appended, and read by the first thread",
    reference: MUTEX,
    ours: ORDERED,
    fewest: 1000,
    entries: &[
        Entry { name: LEASED, most_threads: 2, make: || Box::<Stream<Log<2>>>::default() },
        Entry { name: ORDERED, most_threads: 2, make: || Box::<Stream<Log<1>>>::default() },
        Entry { name: SHARED, most_threads: 2, make: || Box::<Stream<Log<0>>>::default() },
        Entry { name: MUTEX, most_threads: 2, make: || Box::<Stream<Locked<Mutex<VecDeque<Record>>>>>::default() },
        Entry {
            name: PARKING_LOT,
            most_threads: 2,
            make: || Box::<Stream<Locked<parking_lot::Mutex<VecDeque<Record>>>>>::default(),
        },
        Entry { name: SEG_QUEUE, most_threads: 2, make: || Box::<Stream<SegQueue<Record>>>::default() },
    ],
    targets: &[
        Target { ours: LEASED, peers: &[MUTEX, PARKING_LOT, SEG_QUEUE], threads: 1, at_least: None },
        Target { ours: LEASED, peers: &[MUTEX, PARKING_LOT, SEG_QUEUE], threads: 2, at_least: None },
        Target { ours: ORDERED, peers: &[MUTEX, PARKING_LOT, SEG_QUEUE], threads: 1, at_least: None },
        Target { ours: ORDERED, peers: &[MUTEX, PARKING_LOT, SEG_QUEUE], threads: 2, at_least: None },
    ],
    not_correct: &[],
};

/// The producer's number, and how many records it has appended before.
type Record = [u8; 16];

fn record(thread: usize, number: u64) -> Record {
    (((thread as u128) << 64) | u128::from(number)).to_ne_bytes()
}

/// What records are appended to, and read from.
trait Queue: Default + Sync {
    type Producer<'a>
    where
        Self: 'a;
    type Consumer: Send;

    fn producer(&self) -> Self::Producer<'_>;
    fn consumer(&self) -> Self::Consumer;
    /// What is refused is missing in the end, and the check notices.
    fn put(producer: &mut Self::Producer<'_>, record: Record);
    /// Takes what there is, about `most` records at once.
    fn take(&self, consumer: &mut Self::Consumer, most: usize, each: impl FnMut(&[u8]));
}

/// What the first thread has read.
struct Taken<C> {
    consumer: C,
    /// Of each producer, the number of the next record.
    next: [u64; 2],
    /// Records that are not the next one of a producer.
    wrong: u64,
}

#[repr(align(128))]
struct Stream<Q: Queue> {
    queue: Q,
    taken: Mutex<Taken<Q::Consumer>>,
}

impl<Q: Queue> Default for Stream<Q> {
    fn default() -> Self {
        let queue = Q::default();
        Self { taken: Mutex::new(Taken { consumer: queue.consumer(), next: [0; 2], wrong: 0 }), queue }
    }
}

/// Takes what there is, and looks whether each record is the next one of its producer.
#[inline(always)]
fn take<Q: Queue>(queue: &Q, taken: &mut Taken<Q::Consumer>, most: usize) {
    let Taken { consumer, next, wrong } = taken;
    queue.take(consumer, most, |bytes| {
        let record = bytes.try_into().map_or(u128::MAX, u128::from_ne_bytes);
        match next.get_mut((record >> 64) as usize) {
            Some(next) if *next == record as u64 => *next += 1,
            _ => *wrong += 1,
        }
    });
}

impl<Q: Queue> Contender for Stream<Q> {
    fn work(&self, thread: usize, pace: Pace<'_>) {
        let mut producer = self.queue.producer();
        let mut taken = (thread == 0).then(|| self.taken.lock().unwrap_or_else(PoisonError::into_inner));
        let mut number = 0;
        pace.run(|times| {
            for _ in 0..times {
                Q::put(&mut producer, record(thread, number));
                number += 1;
            }
            if let Some(taken) = &mut taken {
                // The other one appends as well, and perhaps faster.
                take(&self.queue, taken, 4 * times as usize);
            }
        });
    }
    fn check(&self, operations: u64) -> Result<(), String> {
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        take(&self.queue, &mut taken, usize::MAX);
        equal("records out of order", taken.wrong, 0)?;
        equal("records", taken.next.iter().sum(), operations)
    }
}

/// Of so many bytes are the segments: those of a log that is read at once stay in the cache.
const SEGMENT: usize = 64 << 10;
const CHUNK: usize = 4096;

/// Ours: by `append`, by a writer, or by a leased one.
struct Log<const WAY: u8>(SegmentedLog);

impl<const WAY: u8> Default for Log<WAY> {
    fn default() -> Self {
        Self(SegmentedLog::new(SEGMENT).expect("memory for the first segment"))
    }
}

impl<const WAY: u8> Queue for Log<WAY> {
    type Producer<'a> = (&'a SegmentedLog, Option<LogWriter>);
    type Consumer = LogReader;

    fn producer(&self) -> Self::Producer<'_> {
        let writer = match WAY {
            0 => None,
            1 => Some(self.0.writer()),
            _ => Some(self.0.leased_writer(CHUNK)),
        };
        (&self.0, writer)
    }
    fn consumer(&self) -> LogReader {
        self.0.reader()
    }
    #[inline(always)]
    fn put((log, writer): &mut Self::Producer<'_>, record: Record) {
        _ = match writer {
            None => log.append(&record),
            Some(writer) => writer.append(&record),
        };
    }
    #[inline(always)]
    fn take(&self, reader: &mut LogReader, most: usize, mut each: impl FnMut(&[u8])) {
        let before = reader.position();
        for _ in 0..most {
            match reader.read() {
                Ok(Read::Record(record)) => each(&record),
                _ => break,
            }
        }
        if reader.position() != before {
            self.0.trim(reader.position());
        }
    }
}

/// A queue behind a lock. What there is is taken out at once, and looked at without the lock.
trait Lock: Default + Sync {
    fn with(&self, work: impl FnOnce(&mut VecDeque<Record>));
}

impl Lock for Mutex<VecDeque<Record>> {
    #[inline(always)]
    fn with(&self, work: impl FnOnce(&mut VecDeque<Record>)) {
        work(&mut self.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

impl Lock for parking_lot::Mutex<VecDeque<Record>> {
    #[inline(always)]
    fn with(&self, work: impl FnOnce(&mut VecDeque<Record>)) {
        work(&mut self.lock());
    }
}

#[derive(Default)]
struct Locked<L>(L);

impl<L: Lock> Queue for Locked<L> {
    type Producer<'a>
        = &'a L
    where
        L: 'a;
    type Consumer = VecDeque<Record>;

    fn producer(&self) -> &L {
        &self.0
    }
    fn consumer(&self) -> VecDeque<Record> {
        VecDeque::new()
    }
    #[inline(always)]
    fn put(producer: &mut &L, record: Record) {
        producer.with(|queue| queue.push_back(record));
    }
    #[inline(always)]
    fn take(&self, consumer: &mut VecDeque<Record>, _: usize, mut each: impl FnMut(&[u8])) {
        self.0.with(|queue| mem::swap(queue, consumer));
        consumer.drain(..).for_each(|record| each(&record));
    }
}

impl Queue for SegQueue<Record> {
    type Producer<'a> = &'a Self;
    type Consumer = ();

    fn producer(&self) -> &Self {
        self
    }
    fn consumer(&self) {}
    #[inline(always)]
    fn put(producer: &mut &Self, record: Record) {
        producer.push(record);
    }
    #[inline(always)]
    fn take(&self, (): &mut (), most: usize, mut each: impl FnMut(&[u8])) {
        for _ in 0..most {
            match self.pop() {
                Some(record) => each(&record),
                None => break,
            }
        }
    }
}
