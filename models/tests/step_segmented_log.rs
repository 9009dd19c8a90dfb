//! Step mode for the segmented log: another operation runs to its end between two steps of the one that it interrupts.
//!
//! The sources of both crates are compiled here a second time (build.rs). What interrupts has guards of its own, as another thread would; and
//! what is freed is overwritten.
#![cfg(jeton_step)]
#![allow(clippy::disallowed_types, reason = "what wakers count takes no steps")]
#![allow(missing_docs, unused_imports, dead_code, reason = "the sources of both crates, of which only a part is used")]

// What the std extension calls its core is this crate.
extern crate self as jeton_core;

#[path = "../../core/src"]
mod core_sources {
    pub mod append;
    pub mod sync;
    pub mod util;
}
#[path = "../../std-ext/src"]
mod std_sources {
    pub mod append;
    pub mod park;
}
use core_sources::{append, sync, util};
use std_sources::park;

/// The library's own, whose steps have a test of their own.
mod cancel {
    pub use jeton::cancel::{CancelSource, Canceled};
}

/// crossbeam-epoch, with a collector for each execution and one participant for each side.
mod epoch {
    use std::cell::{Cell, RefCell};

    pub use crossbeam_epoch::Guard;
    use crossbeam_epoch::{Collector, LocalHandle};

    thread_local! {
        static SIDES: RefCell<Option<[LocalHandle; 2]>> = const { RefCell::new(None) };
        static SIDE: Cell<usize> = const { Cell::new(0) };
    }

    pub fn begin() {
        let collector = Collector::new();
        SIDES.set(Some([collector.register(), collector.register()]));
        SIDE.set(0);
    }

    pub fn side(side: usize) {
        SIDE.set(side);
    }

    /// What is left is freed.
    pub fn end() {
        drop(SIDES.take());
    }

    pub fn pin() -> Guard {
        // Without an execution it is one of the sources' own tests.
        SIDES.with_borrow(|sides| sides.as_ref().map_or_else(crossbeam_epoch::pin, |sides| sides[SIDE.get()].pin()))
    }
}

use std::{
    alloc::{GlobalAlloc, Layout, System},
    cell::{Cell, RefCell},
    pin::Pin,
    rc::Rc,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering::Relaxed},
    },
    task::{Context, Poll, Wake, Waker},
};

use append::Read;
use std_sources::append::{LogReader, LogWriter, NextRecord, Position, ReadError, SegmentedError, SegmentedLog};
use sync::model::interrupted;

/// Counts what this thread has on the heap, and overwrites what is freed.
struct Counting;

thread_local! {
    static LIVE: Cell<isize> = const { Cell::new(0) };
}

// SAFETY: as the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        LIVE.set(LIVE.get() + layout.size() as isize);
        // SAFETY: by the caller.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        LIVE.set(LIVE.get() - layout.size() as isize);
        // SAFETY: by the caller: so many bytes, which nobody uses any more.
        unsafe {
            pointer.write_bytes(0xdd, layout.size());
            System.dealloc(pointer, layout);
        }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[derive(Default)]
struct Woken(AtomicU32);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Relaxed);
    }
}

/// What a reader finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Found {
    Record(u32),
    Trimmed(u64),
    Nothing,
    End,
}

fn number(bytes: &[u8]) -> u32 {
    u32::from_le_bytes(bytes.try_into().expect("a record of four bytes"))
}

fn found(read: Result<Read<'_>, ReadError>) -> Found {
    match read {
        Ok(Read::Record(record)) => Found::Record(number(&record)),
        Ok(Read::Pending | Read::Empty) => Found::Nothing,
        Ok(Read::End) | Err(ReadError::End) => Found::End,
        Err(ReadError::Trimmed { segments }) => Found::Trimmed(segments),
        Err(error) => panic!("{error}"),
    }
}

fn read_all(reader: &mut LogReader) -> Vec<Found> {
    let mut all = Vec::new();
    while !matches!(all.last(), Some(Found::Nothing | Found::End)) {
        all.push(found(reader.read()));
    }
    all
}

fn records(all: &[Found]) -> Vec<u32> {
    all.iter().filter_map(|found| if let Found::Record(number) = found { Some(*number) } else { None }).collect()
}

/// A reader that waits.
struct Waiter {
    next: RefCell<Option<NextRecord<'static>>>,
    reader: *mut LogReader,
    woken: Arc<Woken>,
}

impl Waiter {
    fn new(reader: LogReader) -> Self {
        Self { next: RefCell::new(None), reader: Box::into_raw(Box::new(reader)), woken: Arc::default() }
    }

    /// What was found, if anything was.
    fn poll(&self) -> Option<Found> {
        let mut next = self.next.borrow_mut();
        // SAFETY: the reader is there as long as this, and only this future uses it.
        let future = next.get_or_insert_with(|| unsafe { &mut *self.reader }.next_record());
        self.woken.0.store(0, Relaxed);
        let waker = Waker::from(self.woken.clone());
        let Poll::Ready(ready) = Pin::new(future).poll(&mut Context::from_waker(&waker)) else { return None };
        let ready = found(ready.map(Read::Record));
        *next = None;
        Some(ready)
    }

    /// If it waits and was not woken, there is nothing.
    fn check(&self, context: &str) {
        if self.next.take().is_some() && self.woken.0.load(Relaxed) == 0 {
            // SAFETY: as above; the future has gone.
            assert_eq!(found(unsafe { &mut *self.reader }.read()), Found::Nothing, "asleep for ever: {context}");
        }
    }
}

impl Drop for Waiter {
    fn drop(&mut self) {
        self.next.take();
        // SAFETY: from a box, and the future has gone.
        drop(unsafe { Box::from_raw(self.reader) });
    }
}

/// What one side has.
struct Side {
    /// Of its records.
    first: u32,
    /// What was appended.
    appended: RefCell<Vec<u32>>,
    trimmed: Cell<bool>,
    writer: RefCell<LogWriter>,
    leased: RefCell<Option<LogWriter>>,
    reader: RefCell<Option<LogReader>>,
    waiter: Waiter,
    /// A place of a longer log.
    beyond: Position,
}

impl Side {
    fn new(log: &SegmentedLog, first: u32, beyond: Position) -> Self {
        let waiter = Waiter::new(log.reader());
        // SAFETY: no future has it yet.
        read_all(unsafe { &mut *waiter.reader });
        Self {
            first,
            appended: RefCell::default(),
            trimmed: Cell::new(false),
            writer: RefCell::new(log.writer()),
            leased: RefCell::new(Some(log.leased_writer(4))),
            reader: RefCell::new(Some(log.reader())),
            waiter,
            beyond,
        }
    }

    /// The next record, by the call given.
    fn append(&self, call: impl FnOnce(&[u8]) -> Result<(), SegmentedError>) {
        let number = self.first + self.appended.borrow().len() as u32;
        match call(&number.to_le_bytes()) {
            Ok(()) => self.appended.borrow_mut().push(number),
            Err(error) => assert_eq!(error, SegmentedError::Closed),
        }
    }
}

/// A log of three segments: one that all are in, one that nobody is in any more, and one with room for a record.
struct Subject {
    log: SegmentedLog,
    /// From the first record on.
    watcher: LogReader,
    sides: [Side; 2],
}

impl Subject {
    fn new() -> Self {
        let log = SegmentedLog::new(16).expect("there is memory");
        let watcher = log.reader();
        (0..2_u32).for_each(|number| log.append(&number.to_le_bytes()).expect("there is memory"));
        let longer = SegmentedLog::new(16).expect("there is memory");
        (0..20_u32).for_each(|number| longer.append(&number.to_le_bytes()).expect("there is memory"));
        let sides = [100, 200].map(|first| Side::new(&log, first, longer.end()));
        for number in 2..5_u32 {
            log.append(&number.to_le_bytes()).expect("there is memory");
            sides.iter().for_each(|side| assert_eq!(side.waiter.poll(), Some(Found::Record(number))));
        }
        Self { log, watcher, sides }
    }

    fn check(self, context: &str) {
        let Self { log, mut watcher, sides } = self;
        sides.iter().for_each(|side| side.waiter.check(context));
        let (mut expected, mut trimmed) = (vec![0, 1, 2, 3, 4], false);
        for side in sides {
            expected.extend(side.appended.take());
            trimmed |= side.trimmed.get();
        }
        let all = read_all(&mut watcher);
        let (watched, kept) = (records(&all), records(&read_all(&mut log.reader())));
        let end = if log.is_closed() { Found::End } else { Found::Nothing };
        assert_eq!(all.last(), Some(&end), "nobody writes any more: {context}");
        assert!(watched.ends_with(&kept), "{watched:?}, {kept:?}: {context}");
        if trimmed {
            assert!(watched.iter().all(|number| expected.contains(number)), "{watched:?} of {expected:?}: {context}");
        } else {
            assert_eq!(watched.len(), all.len() - 1, "{context}");
        }
        let mut sorted = watched.clone();
        sorted.sort_unstable();
        sorted.dedup();
        assert_eq!(sorted.len(), watched.len(), "a record twice: {watched:?}: {context}");
        assert!(trimmed || sorted == expected, "{watched:?} of {expected:?}: {context}");
        drop(watcher);
        (0..4).for_each(|_| epoch::pin().flush());
        let held = log.held();
        assert_eq!(held.segments, held.listed, "{context}");
    }
}

type Operation = fn(&SegmentedLog, &Side);

const OPERATIONS: [(&str, Operation); 14] = [
    ("append", |log, side| side.append(|bytes| log.append(bytes))),
    ("append by a writer", |_, side| side.append(|bytes| side.writer.borrow_mut().append(bytes))),
    ("grant", |_, side| {
        side.append(|bytes| {
            let mut writer = side.writer.borrow_mut();
            let mut grant = writer.grant(4)?;
            grant.bytes().copy_from_slice(bytes);
            grant.commit();
            Ok(())
        });
    }),
    ("drop a grant with a record behind it", |log, side| {
        let mut writer = side.writer.borrow_mut();
        let grant = writer.grant(4);
        side.append(|bytes| log.append(bytes));
        drop(grant);
    }),
    ("append by a lease", |_, side| {
        (0..2).for_each(|_| side.append(|bytes| side.leased.borrow_mut().as_mut().expect("not dropped").append(bytes)));
    }),
    ("append by a lease that ends", |_, side| {
        let mut leased = side.leased.take().expect("not dropped");
        side.append(|bytes| leased.append(bytes));
    }),
    ("read", |_, side| {
        let all = read_all(side.reader.borrow_mut().as_mut().expect("not dropped"));
        assert!(all.len() >= 2, "{all:?}");
    }),
    ("trim to the end", |log, side| {
        side.trimmed.set(true);
        log.trim(log.end());
    }),
    // Positions are numbers.
    ("trim to a place that it has not come to", |log, side| {
        side.trimmed.set(true);
        log.trim(side.beyond);
    }),
    ("close", |log, _| _ = log.close()),
    ("a new reader", |log, _| assert!(!matches!(found(log.reader().read()), Found::Trimmed(_)))),
    ("a clone of a reader, and its end", |_, side| {
        let reader = side.reader.take().expect("not dropped");
        let mut clone = reader.clone();
        drop(reader);
        assert!(matches!(found(clone.read()), Found::Record(_)));
    }),
    ("a new writer", |log, side| side.append(|bytes| log.writer().append(bytes))),
    ("poll", |_, side| _ = side.waiter.poll()),
];

/// Interrupts `operation` with `interrupt` at every step, each time on a new subject, and then checks; nothing may be left on the heap.
fn at_every_step<S: 'static>(
    subject: fn() -> S,
    operation: impl Fn(&S),
    interrupt: impl Fn(&S) + Clone + 'static,
    check: impl Fn(S, usize),
) -> usize {
    for at in 0.. {
        let live = LIVE.get();
        epoch::begin();
        let subject = Rc::new(subject());
        let (interrupt, of_interrupt) = (interrupt.clone(), subject.clone());
        let run = move || {
            epoch::side(1);
            interrupt(&of_interrupt);
            epoch::side(0);
        };
        let happened = interrupted(at, || operation(&subject), run);
        if happened {
            check(Rc::try_unwrap(subject).ok().expect("nobody else has it"), at);
        } else {
            drop(subject);
        }
        epoch::end();
        if !happened {
            return at;
        }
        assert_eq!(LIVE.get(), live, "bytes are left on the heap, or gone twice, after step {at}");
    }
    unreachable!("an operation has an end")
}

#[test]
fn every_operation_can_be_interrupted_by_every_one_at_every_step() {
    let mut steps = 0;
    for (outer_name, outer) in OPERATIONS {
        for (inner_name, inner) in OPERATIONS {
            steps += at_every_step(
                Subject::new,
                |subject| outer(&subject.log, &subject.sides[0]),
                move |subject| inner(&subject.log, &subject.sides[1]),
                |subject, at| subject.check(&format!("{outer_name}, at step {at}: {inner_name}")),
            );
        }
    }
    assert!(steps >= 1500, "{steps} steps");
}

/// A lease's chunk, a record behind it, and a reader that waits for that.
struct Behind {
    log: SegmentedLog,
    leased: RefCell<LogWriter>,
    waiter: Waiter,
    refused: Cell<bool>,
}

impl Behind {
    fn new() -> Self {
        let log = SegmentedLog::new(48).expect("there is memory");
        let mut leased = log.leased_writer(12);
        [(0_u32, true), (1, false)].into_iter().for_each(|(number, by_lease)| {
            let bytes = number.to_le_bytes();
            if by_lease { leased.append(&bytes) } else { log.append(&bytes) }.expect("there is memory");
        });
        let waiter = Waiter::new(log.reader());
        assert_eq!((waiter.poll(), waiter.poll()), (Some(Found::Record(0)), None));
        Self { log, leased: RefCell::new(leased), waiter, refused: Cell::new(false) }
    }
}

/// The lease goes on to a segment that others fill before it has a place there, and then is refused: its old chunk is given up all the same.
#[test]
fn who_waits_behind_a_chunk_is_woken_also_if_its_lease_goes_on_for_nothing() {
    type GoOn = fn(&mut LogWriter) -> Result<(), SegmentedError>;
    let ways: [GoOn; 2] = [|leased| leased.append(&[9; 36]), |leased| leased.grant(36).map(drop)];
    for go_on in ways {
        let went_on_for_nothing = Cell::new(0);
        at_every_step(
            Behind::new,
            |behind| behind.refused.set(go_on(&mut behind.leased.borrow_mut()).is_err()),
            |behind| {
                let full = behind.log.held().listed + 1;
                while behind.log.held().listed < full {
                    behind.log.append(&3_u32.to_le_bytes()).expect("there is memory");
                }
                behind.log.close();
                behind.waiter.poll();
            },
            |behind, at| {
                let woken = behind.waiter.woken.0.load(Relaxed) != 0;
                went_on_for_nothing.set(went_on_for_nothing.get() + u32::from(behind.refused.get() && woken));
                behind.waiter.check(&format!("at step {at}"));
            },
        );
        assert!(went_on_for_nothing.get() != 0);
    }
}
