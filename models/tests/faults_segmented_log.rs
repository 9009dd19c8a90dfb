//! Faults that logs in pieces have: each test is named for what must hold.

use std::{
    alloc::{GlobalAlloc, Layout, System},
    cell::Cell,
    mem,
    panic::{self, AssertUnwindSafe},
    pin::{Pin, pin},
    sync::{Arc, Mutex},
    task::{Context, Poll, Wake, Waker},
    thread,
    time::{Duration, Instant},
};

use jeton::{
    append::{LogReader, LogWriter, NextRecord, Read, ReadError, SegmentedError, SegmentedLog},
    cancel::CancelSource,
};

/// The system's allocator, which this thread can make fail.
struct Failing;

thread_local! {
    /// How many calls still succeed.
    static CALLS: Cell<usize> = const { Cell::new(usize::MAX) };
}

fn refuse() -> bool {
    let left = CALLS.get();
    CALLS.set(if left == usize::MAX { left } else { left.saturating_sub(1) });
    left == 0
}

// SAFETY: the system's, or a null pointer, which says that there is no memory.
unsafe impl GlobalAlloc for Failing {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if refuse() {
            return std::ptr::null_mut();
        }
        // SAFETY: as promised to this function.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as promised to this function.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Failing = Failing;

/// With the first `calls` allocations only.
fn with_allocations<R>(calls: usize, f: impl FnOnce() -> R) -> R {
    CALLS.set(calls);
    let result = f();
    CALLS.set(usize::MAX);
    result
}

/// Nobody has to wait so long for anything here, unless a wake is lost.
const LONG: Duration = Duration::from_secs(60);

/// Segments of two records of four bytes each.
fn log() -> SegmentedLog {
    SegmentedLog::new(16).expect("there is memory")
}

/// The records of so many, four bytes each.
fn append(log: &SegmentedLog, numbers: impl IntoIterator<Item = u32>) {
    numbers.into_iter().for_each(|number| log.append(&number.to_le_bytes()).expect("there is memory"));
}

fn number(bytes: &[u8]) -> u32 {
    u32::from_le_bytes(bytes.try_into().expect("four bytes"))
}

/// What there is to read, and what comes then.
fn read_all(reader: &mut LogReader) -> (Vec<u32>, Result<Read<'_>, ReadError>) {
    let mut numbers = Vec::new();
    loop {
        // A second call, since the first one's record is borrowed from the reader.
        match reader.clone().read() {
            Ok(Read::Record(record)) => numbers.push(number(&record)),
            _ => return (numbers, reader.read()),
        }
        assert!(matches!(reader.read(), Ok(Read::Record(_))));
    }
}

#[derive(Default)]
struct Woken(Mutex<u32>);

impl Woken {
    fn times(&self) -> u32 {
        *self.0.lock().expect("nobody panics")
    }
}

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        *self.0.lock().expect("nobody panics") += 1;
    }
}

fn waker() -> (Arc<Woken>, Waker) {
    let woken = Arc::new(Woken::default());
    (woken.clone(), woken.into())
}

fn poll<'a>(next: &mut Pin<&mut NextRecord<'a>>, waker: &Waker) -> Poll<Result<u32, ReadError>> {
    next.as_mut().poll(&mut Context::from_waker(waker)).map_ok(|record| number(&record))
}

/// Gives what was freed a chance: others in this process may be inside of a guard.
fn held_at_last(log: &SegmentedLog, segments: u64) -> u64 {
    let until = Instant::now() + LONG;
    while log.held().segments > segments && Instant::now() < until {
        let end = log.end();
        let other = self::log();
        append(&other, 0..4);
        other.trim(other.end());
        assert_eq!(log.trim(end), 0);
    }
    log.held().segments
}

#[test]
fn a_refused_allocation_changes_nothing() {
    // The first one is small and of a fixed size.
    for calls in [1, 2] {
        assert_eq!(with_allocations(calls, || SegmentedLog::new(1 << 20).err()), Some(SegmentedError::Alloc));
    }
    let log = log();
    append(&log, 0..1);
    let mut writer = log.writer();
    let mut leased = log.leased_writer(4);
    // The guards' own memory is taken at the first use.
    for calls in 0..2 {
        let refused = Err(SegmentedError::Alloc);
        assert_eq!(with_allocations(calls, || log.append(&[1; 8])), refused, "after {calls}");
        assert_eq!(with_allocations(calls, || writer.append(&[1; 8])), refused, "after {calls}");
        assert_eq!(with_allocations(calls, || writer.grant(8).map(drop)), refused, "after {calls}");
        assert_eq!(with_allocations(calls, || leased.append(&[1; 4])), refused, "after {calls}");
    }
    let held = log.held();
    assert_eq!((held.segments, held.listed), (1, 1));
    with_allocations(0, || log.append(&1_u32.to_le_bytes())).expect("it still fits, and nothing is sealed");
    append(&log, 2..3);
    assert!(matches!(read_all(&mut log.reader()), (numbers, Ok(Read::Empty)) if numbers == [0, 1, 2]));
}

#[test]
fn a_record_longer_than_a_segment_is_refused_with_the_longest_there_is() {
    for (asked, words) in [(0, 4), (16, 4), (17, 5), (400, 100)] {
        let log = SegmentedLog::new(asked).expect("there is memory");
        let (longest, mut leased) = ((words - 1) * 4, log.leased_writer(usize::MAX));
        assert_eq!(log.longest(), longest);
        for needed in [longest + 1, 1 << 20] {
            let full = Err(SegmentedError::Full { needed, cap: longest });
            assert_eq!(log.append(&vec![0; needed]), full);
            assert_eq!(log.writer().append(&vec![0; needed]), full);
        }
        assert_eq!(log.writer().grant(usize::MAX).err(), Some(SegmentedError::Full { needed: usize::MAX, cap: longest }));
        assert_eq!(leased.append(&vec![0; longest]), Err(SegmentedError::Full { needed: longest, cap: longest - 4 }));
        assert_eq!(log.held().segments, 1, "nothing is taken for what never fits");
        log.append(&vec![1; longest]).expect("the longest");
        leased.append(&vec![2; longest - 4]).expect("the longest of a lease");
        assert_eq!(log.held().segments, 2);
    }
}

#[test]
fn a_reader_that_stands_still_holds_one_segment_and_is_told_what_it_has_missed() {
    let log = log();
    append(&log, 0..2);
    let mut still = log.reader();
    append(&log, 2..40);
    assert_eq!(log.held().segments, 20);
    assert_eq!(log.trim(log.end()), 19);
    assert_eq!(held_at_last(&log, 2), 2, "the last one, and the one that is pinned");
    assert_eq!(log.held().bytes, 2 * 16);
    assert!(matches!(read_all(&mut still), (numbers, Err(ReadError::Trimmed { segments: 18 })) if numbers == [0, 1]));
    assert!(matches!(read_all(&mut still), (numbers, Ok(Read::Empty)) if numbers == [38, 39]));
    assert_eq!(held_at_last(&log, 1), 1);
}

#[test]
fn trimming_keeps_the_last_segment_and_what_comes_after_the_position() {
    let log = log();
    let start = log.end();
    assert_eq!(log.trim(start), 0);
    append(&log, 0..10);
    let mut reader = log.reader();
    assert_eq!(reader.position(), start);
    for expected in 0..5 {
        assert!(matches!(reader.read(), Ok(Read::Record(record)) if number(&record) == expected));
    }
    assert!(reader.position() > start && reader.position() < log.end());
    assert_eq!((log.trim(reader.position()), log.trim(reader.position()), log.trim(start)), (2, 0, 0));
    assert_eq!(log.held().listed, 3);
    assert!(matches!(read_all(&mut log.reader()), (numbers, _) if numbers == [4, 5, 6, 7, 8, 9]));
    assert!(matches!(read_all(&mut reader), (numbers, Ok(Read::Empty)) if numbers == [5, 6, 7, 8, 9]));
    assert_eq!((log.trim(log.end()), log.held().listed), (2, 1));
    append(&log, 10..12);
    assert!(matches!(read_all(&mut reader), (numbers, Ok(Read::Empty)) if numbers == [10, 11]));
}

#[test]
fn the_last_reader_and_the_last_writer_free_what_was_trimmed() {
    let log = log();
    let (mut writer, reader) = (log.writer(), log.reader());
    append(&log, 0..4);
    log.trim(log.end());
    assert_eq!(held_at_last(&log, 2), 2, "one for both");
    drop(reader);
    assert_eq!(held_at_last(&log, 2), 2, "the writer is still there");
    writer.append(&4_u32.to_le_bytes()).expect("there is memory");
    assert_eq!(held_at_last(&log, 2), 2, "the writer went on; the log has two");
    let reader = log.reader();
    drop(log);
    drop(writer);
    assert!(matches!(read_all(&mut reader.clone()), (numbers, Ok(Read::Empty)) if numbers == [2, 3, 4]));
}

#[test]
fn a_grant_that_is_dropped_or_panics_is_skipped_at_once() {
    let log = log();
    let mut writer = log.writer();
    drop(writer.grant(4).expect("there is memory"));
    let panicking = panic::catch_unwind(AssertUnwindSafe(|| {
        let mut grant = writer.grant(8).expect("there is memory");
        grant.bytes()[0] = 1;
        panic::resume_unwind(Box::new("on purpose"));
    }));
    assert!(panicking.is_err());
    let mut grant = writer.grant(4).expect("there is memory");
    assert_eq!(grant.bytes(), [0; 4]);
    grant.bytes().copy_from_slice(&7_u32.to_le_bytes());
    append(&log, 8..9);
    assert!(matches!(read_all(&mut log.reader()), (numbers, Ok(Read::Pending)) if numbers.is_empty()));
    grant.commit();
    assert!(matches!(read_all(&mut log.reader()), (numbers, Ok(Read::Empty)) if numbers == [7, 8]));
}

#[test]
fn a_forgotten_grant_holds_readers_until_it_is_trimmed() {
    let log = log();
    append(&log, 0..1);
    let mut writer = log.writer();
    mem::forget(writer.grant(4).expect("there is memory"));
    drop(writer);
    append(&log, 2..4);
    let mut reader = log.reader();
    assert!(matches!(read_all(&mut reader), (numbers, Ok(Read::Pending)) if numbers == [0]));
    assert_eq!(reader.wait_timeout(Duration::from_millis(5)).err(), Some(ReadError::TimedOut));
    let waiting = thread::spawn(move || (reader.wait().err(), reader.wait().map(|record| number(&record)).ok()));
    thread::sleep(Duration::from_millis(5));
    assert_eq!(log.trim(log.end()), 1);
    assert_eq!(waiting.join().expect("no panic"), (Some(ReadError::Trimmed { segments: 1 }), Some(2)));
}

#[test]
#[cfg_attr(miri, ignore = "what is forgotten is a leak")]
fn a_forgotten_leased_writer_holds_readers_until_it_is_trimmed_and_frees_nothing_early() {
    let log = log();
    let mut leased = log.leased_writer(12);
    leased.append(&0_u32.to_le_bytes()).expect("there is memory");
    mem::forget(leased);
    append(&log, 1..3);
    let mut reader = log.reader();
    assert!(matches!(read_all(&mut reader), (numbers, Ok(Read::Pending)) if numbers == [0]));
    log.trim(log.end());
    assert!(matches!(read_all(&mut reader), (_, Err(ReadError::Trimmed { segments: 1 }))));
    assert!(matches!(read_all(&mut reader), (numbers, Ok(Read::Empty)) if numbers == [1, 2]));
    assert_eq!(held_at_last(&log, 2), 2, "the forgotten writer is there for ever");
}

#[test]
fn what_is_committed_in_a_trimmed_segment_is_read_by_who_is_there() {
    let log = log();
    let mut writer = log.writer();
    let mut grant = writer.grant(4).expect("there is memory");
    let mut reader = log.reader();
    append(&log, 1..4);
    grant.bytes().copy_from_slice(&9_u32.to_le_bytes());
    log.trim(log.end());
    grant.commit();
    assert!(matches!(read_all(&mut reader), (numbers, Ok(Read::Empty)) if numbers == [9, 1, 2, 3]));
    assert!(matches!(read_all(&mut log.reader()), (numbers, _) if numbers == [2, 3]));
}

#[test]
fn a_closed_log_refuses_and_is_read_to_its_end() {
    let log = log();
    let mut writer = log.writer();
    let mut leased = log.leased_writer(8);
    leased.append(&[]).expect("there is memory");
    let mut readers = [log.reader(), log.reader()];
    assert!(!log.is_closed() && log.close() && !log.close() && log.is_closed());
    for refused in [log.append(&[]), writer.append(&[]), writer.grant(0).map(drop), log.writer().append(&[0; 4])] {
        assert_eq!(refused, Err(SegmentedError::Closed));
    }
    assert_eq!(log.append(&[0; 13]), Err(SegmentedError::Full { needed: 13, cap: 12 }));
    assert!(matches!(readers[0].read(), Ok(Read::Record(record)) if record.is_empty()));
    assert!(matches!(readers[0].read(), Ok(Read::Pending)), "the lease has room for another one");
    leased.append(&[]).expect("in its chunk");
    assert_eq!(leased.append(&[]), Err(SegmentedError::Closed));
    drop(leased);
    for (reader, more) in readers.iter_mut().zip([1, 2]) {
        (0..more).for_each(|_| assert!(matches!(reader.wait(), Ok(record) if record.is_empty())));
        assert_eq!((reader.wait().err(), reader.wait().err()), (Some(ReadError::End), Some(ReadError::End)));
    }
}

#[test]
fn deadlines_that_have_passed_or_never_come_do_not_wait_and_do_not_overflow() {
    let log = log();
    let mut reader = log.reader();
    let past = Instant::now();
    assert_eq!(reader.wait_until(past).err(), Some(ReadError::TimedOut));
    assert_eq!(reader.wait_timeout(Duration::ZERO).err(), Some(ReadError::TimedOut));
    append(&log, 0..2);
    assert_eq!(reader.wait_until(past).map(|record| number(&record)), Ok(0), "what is there is read");
    assert_eq!(reader.wait_timeout(Duration::MAX).map(|record| number(&record)), Ok(1));
    let waiting = thread::spawn(move || reader.wait_timeout(Duration::MAX).map(|record| number(&record)));
    append(&log, 2..3);
    assert_eq!(waiting.join().expect("no panic"), Ok(2));
}

#[test]
fn a_future_that_is_dropped_has_read_nothing_and_is_not_woken() {
    let log = log();
    let mut reader = log.reader();
    let (woken, waker) = waker();
    {
        let mut next = pin!(reader.next_record());
        assert!(poll(&mut next, &waker).is_pending() && poll(&mut next, &waker).is_pending());
    }
    append(&log, 0..1);
    assert_eq!(woken.times(), 0);
    let mut next = pin!(reader.next_record());
    assert_eq!(poll(&mut next, &waker), Poll::Ready(Ok(0)));
    assert!(poll(&mut next, &waker).is_pending(), "it was ready");
}

#[test]
fn every_change_wakes_whoever_waits_for_it_once() {
    type Change = fn(&SegmentedLog);
    let changes: [(Change, Result<u32, ReadError>); 4] = [
        (|log| append(log, 9..10), Ok(9)),
        (|log| log.writer().append(&9_u32.to_le_bytes()).expect("there is memory"), Ok(9)),
        (
            |log| {
                let mut writer = log.leased_writer(0);
                let mut grant = writer.grant(4).expect("there is memory");
                grant.bytes().copy_from_slice(&9_u32.to_le_bytes());
                grant.commit();
            },
            Ok(9),
        ),
        (|log| assert!(log.close()), Err(ReadError::End)),
    ];
    for (change, expected) in changes {
        for records in 0..3 {
            let log = log();
            append(&log, 0..records);
            let mut reader = log.reader();
            (0..records).for_each(|expected| assert_eq!(reader.wait().map(|record| number(&record)), Ok(expected)));
            let mut others = [reader.clone(), reader.clone()];
            let mut nexts = others.each_mut().map(|reader| Box::pin(reader.next_record()));
            let wakers = [waker(), waker()];
            for (next, (_, waker)) in nexts.iter_mut().zip(&wakers) {
                assert!(poll(&mut next.as_mut(), waker).is_pending());
            }
            change(&log);
            for (next, (woken, waker)) in nexts.iter_mut().zip(&wakers) {
                assert_eq!(woken.times(), 1);
                assert_eq!(poll(&mut next.as_mut(), waker), Poll::Ready(expected));
            }
        }
    }
}

/// A chunk is given up when its lease takes another one, in the same segment or the next, or ends: not only when something comes of that.
#[test]
fn who_waits_behind_a_chunk_is_woken_when_its_lease_goes_on_or_ends_whatever_comes_of_that() {
    type GoOn = fn(&mut Option<LogWriter>);
    fn lease(leased: &mut Option<LogWriter>) -> &mut LogWriter {
        leased.as_mut().expect("it has not ended")
    }
    let ways: [GoOn; 5] = [
        |leased| mem::forget(lease(leased).grant(8).expect("it fits into the segment")),
        |leased| mem::forget(lease(leased).grant(40).expect("there is memory")),
        |leased| lease(leased).append(&[0; 8]).expect("it fits into the segment"),
        |leased| lease(leased).append(&[0; 40]).expect("there is memory"),
        |leased| *leased = None,
    ];
    for (number_of_way, go_on) in ways.into_iter().enumerate() {
        let log = SegmentedLog::new(48).expect("there is memory");
        let mut leased = Some(log.leased_writer(12));
        lease(&mut leased).append(&0_u32.to_le_bytes()).expect("there is memory");
        append(&log, 1..2);
        let mut reader = log.reader();
        assert!(matches!(read_all(&mut reader), (numbers, Ok(Read::Pending)) if numbers == [0]));
        let (woken, waker) = waker();
        let mut next = pin!(reader.next_record());
        assert!(poll(&mut next, &waker).is_pending());
        go_on(&mut leased);
        assert_eq!(woken.times(), 1, "way {number_of_way}");
        assert_eq!(poll(&mut next, &waker), Poll::Ready(Ok(1)), "way {number_of_way}");
    }
}

#[test]
fn a_leased_writer_has_chunks_in_every_segment() {
    let log = SegmentedLog::new(32).expect("there is memory");
    let mut leased = log.leased_writer(12);
    let mut reader = log.reader();
    for number in [0, 10, 20] {
        append(&log, number..number + 4); // A segment.
        leased.append(&(number + 4).to_le_bytes()).expect("there is memory");
        append(&log, number + 5..number + 6);
        assert_eq!(read_all(&mut reader).0.last(), Some(&(number + 4)), "the rest of the chunk comes first");
        append(&log, number + 6..number + 7);
    }
    drop(leased);
    assert!(matches!(read_all(&mut reader), (numbers, Ok(Read::Empty)) if numbers == [25, 26]));
}

#[test]
fn a_wait_ends_with_a_token() {
    let log = log();
    let mut reader = log.reader();
    let source = CancelSource::new();
    let (woken, waker) = waker();
    let token = source.token();
    {
        let mut next = pin!(token.run_until_canceled(reader.next_record()));
        let mut context = Context::from_waker(&waker);
        assert!(next.as_mut().poll(&mut context).is_pending());
        assert!(source.cancel());
        assert_eq!(woken.times(), 1);
        assert!(matches!(next.as_mut().poll(&mut context), Poll::Ready(Err(_))));
    }
    append(&log, 0..1);
    assert_eq!(reader.wait().map(|record| number(&record)), Ok(0), "nothing is lost by the cancel");
}

/// A waker that appends and trims, and one that panics.
#[test]
fn wakers_may_use_the_log_and_may_panic() {
    struct Meddler(SegmentedLog);
    impl Wake for Meddler {
        fn wake(self: Arc<Self>) {
            append(&self.0, 5..9);
            self.0.trim(self.0.end());
        }
    }
    struct Panics;
    impl Wake for Panics {
        fn wake(self: Arc<Self>) {
            panic::resume_unwind(Box::new("on purpose"));
        }
    }
    let log = log();
    let mut reader = log.reader();
    {
        let mut next = pin!(reader.next_record());
        assert!(poll(&mut next, &Waker::from(Arc::new(Meddler(log.clone())))).is_pending());
        append(&log, 4..5);
        assert_eq!(poll(&mut next, Waker::noop()), Poll::Ready(Ok(4)));
    }
    assert!(matches!(read_all(&mut reader), (numbers, Err(ReadError::Trimmed { segments: 1 })) if numbers == [5]));
    assert!(matches!(read_all(&mut reader), (numbers, Ok(Read::Empty)) if numbers == [8]));
    {
        let mut next = pin!(reader.next_record());
        assert!(poll(&mut next, &Waker::from(Arc::new(Panics))).is_pending());
        assert!(panic::catch_unwind(|| append(&log, 9..10)).is_err());
        assert_eq!(poll(&mut next, Waker::noop()), Poll::Ready(Ok(9)), "the record is there all the same");
    }
    append(&log, 10..11);
    assert!(matches!(read_all(&mut reader), (numbers, Ok(Read::Empty)) if numbers == [10]));
}

#[test]
fn the_destructors_of_thread_locals_may_use_a_log() {
    struct AtExit(SegmentedLog);
    impl Drop for AtExit {
        fn drop(&mut self) {
            append(&self.0, 1..4);
            self.0.trim(self.0.end());
            drop(self.0.reader());
        }
    }
    thread_local!(static AT_EXIT: Cell<Option<AtExit>> = const { Cell::new(None) });
    let log = log();
    let other = log.clone();
    thread::spawn(move || {
        AT_EXIT.set(Some(AtExit(other.clone())));
        append(&other, 0..1);
    })
    .join()
    .expect("no panic");
    assert!(matches!(read_all(&mut log.reader()), (numbers, Ok(Read::Empty)) if numbers == [2, 3]));
}
