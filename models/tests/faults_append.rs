//! Faults reported of other buffers and logs, turned round: each test is named for what must hold, and covers the fault's kind.

use std::{
    alloc::{GlobalAlloc, Layout, System},
    cell::Cell,
    panic::{self, AssertUnwindSafe},
    sync::Barrier,
    thread,
};

use jeton::append::{
    AppendBuf, AppendError, AppendLog, Array, Corrupt, DEFAULT_CAP, GrowBuf, Heap, LogError, LogWord, Put, Read, Slice, Storage,
    grown_capacity,
};

/// The system's allocator, which this thread can make fail, and which counts what this thread asks of it.
struct Failing;

thread_local! {
    static FAILS: Cell<bool> = const { Cell::new(false) };
    static CALLS: Cell<usize> = const { Cell::new(0) };
}

fn refuse() -> bool {
    CALLS.set(CALLS.get() + 1);
    FAILS.get()
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

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if refuse() {
            return std::ptr::null_mut();
        }
        // SAFETY: as promised to this function.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Failing = Failing;

fn without_memory<R>(f: impl FnOnce() -> R) -> R {
    FAILS.set(true);
    let result = f();
    FAILS.set(false);
    result
}

fn allocations(f: impl FnOnce()) -> usize {
    let before = CALLS.get();
    f();
    CALLS.get() - before
}

fn grow_buf(cap: usize) -> GrowBuf {
    AppendBuf::new(Heap::with_cap(cap))
}

/// MongoDB's builder of 2010 had advanced its length before it found that it could not grow.
#[test]
fn a_failed_growth_loses_nothing() {
    let mut buf = grow_buf(DEFAULT_CAP);
    assert_eq!(without_memory(|| buf.put_u8(1)), Err(AppendError::Alloc));
    assert_eq!((buf.len(), buf.capacity()), (0, 0));
    buf.put(&[7; 500]).expect("memory");
    let place = buf.as_slice().as_ptr();
    for len in [13, 600, 1 << 20] {
        let bytes = vec![0; len];
        assert_eq!(without_memory(|| buf.put(&bytes)), Err(AppendError::Alloc), "{len}");
        assert_eq!(without_memory(|| buf.reserve(len).map(drop)), Err(AppendError::Alloc), "{len}");
        assert_eq!(without_memory(|| buf.slot::<u128>().map(drop)), Err(AppendError::Alloc), "{len}");
        assert_eq!((buf.as_slice(), buf.as_slice().as_ptr(), buf.capacity()), (&[7; 500][..], place, 512));
    }
    // What fits without memory still does, and with memory everything does.
    assert_eq!(without_memory(|| buf.put(&[8; 12])), Ok(()));
    buf.put(&[9; 600]).expect("memory");
    assert_eq!((buf.len(), buf.capacity()), (1112, 1112));
}

/// bytes RUSTSEC-2026-0007, FlatBuffers #9025, V8's zone buffer: sums of lengths that wrap, and a test that they then pass.
#[test]
fn no_length_is_too_large_for_the_right_error() {
    fn check<S: Storage>(buf: &mut AppendBuf<S>, cap: usize) {
        let len = buf.len();
        let (huge, half) = (usize::MAX, isize::MAX as usize);
        for asked in [huge, huge - 1, huge - len, huge - len + 1, half, half + 1, half - len + 1, cap - len + 1] {
            let expected = Err(AppendError::Full { needed: len.saturating_add(asked), cap });
            assert_eq!(buf.reserve(asked).map(drop), expected, "{asked} behind {len}");
            assert_eq!(buf.reserve_with(asked - 1, b"x").map(drop), expected, "{asked} behind {len}");
        }
        assert_eq!(buf.reserve_with(huge, &[0; 5]).map(drop), Err(AppendError::Full { needed: huge, cap }));
        assert_eq!(buf.len(), len);
        let mut cursor = buf.reserve(1).expect("room");
        assert_eq!(cursor.put(&[0; 2]), Err(AppendError::Full { needed: 2, cap: 1 }));
    }
    for len in [1, 3] {
        let mut bytes = [0; 8];
        let mut slice = AppendBuf::new(Slice::new(&mut bytes));
        let mut array = AppendBuf::new(Array::<8>::new());
        let mut heap = grow_buf(8);
        slice.put(&[0; 3][..len]).expect("room");
        array.put(&[0; 3][..len]).expect("room");
        heap.put(&[0; 3][..len]).expect("room");
        check(&mut slice, 8);
        check(&mut array, 8);
        check(&mut heap, 8);
        let mut unlimited = grow_buf(usize::MAX);
        unlimited.put(&[0; 3][..len]).expect("room");
        check(&mut unlimited, isize::MAX as usize);
        // Not too long for a length, and more than there is.
        assert_eq!(unlimited.reserve(isize::MAX as usize - len).map(drop), Err(AppendError::Alloc));
        assert_eq!(unlimited.len(), len);
    }
}

/// FlatBuffers #6113 gave up at half of its limit, tenzir #2432 had no way to ask for it: the last step goes up to the cap.
#[test]
fn every_byte_up_to_the_cap_can_be_had() {
    for cap in [0, 1, 511, 512, 513, 1023, 1024, 1025, 1500, 4097] {
        let mut buf = grow_buf(cap);
        for len in 0..cap {
            assert_eq!(buf.put_u8(len as u8), Ok(()), "{len} of {cap}");
        }
        assert_eq!(buf.put_u8(0), Err(AppendError::Full { needed: cap + 1, cap }));
        assert_eq!((buf.len(), buf.capacity(), buf.into_storage().cap()), (cap, cap, cap));
    }
}

#[test]
fn the_capacity_doubles_from_512_at_every_boundary() {
    let mut buf = GrowBuf::default();
    assert_eq!(buf.capacity(), 0);
    let mut expected = 512;
    while expected < 1 << 20 {
        buf.put(&vec![0; expected - buf.len()]).expect("room");
        assert_eq!(buf.capacity(), expected, "full");
        buf.put_u8(0).expect("room");
        expected *= 2;
        assert_eq!(buf.capacity(), expected, "one more");
    }
    // Twice is not enough: as much as is needed.
    assert_eq!(grown_capacity(500, 525, 512, DEFAULT_CAP), Ok(1025));
    assert_eq!(grown_capacity(0, 513, 0, DEFAULT_CAP), Ok(513));
    assert_eq!(
        grown_capacity(1 << 25, (1 << 25) + 1, 1 << 25, DEFAULT_CAP),
        Err(AppendError::Full { needed: DEFAULT_CAP + 1, cap: DEFAULT_CAP })
    );
    assert_eq!(grown_capacity((1 << 25) + 1, 1, (1 << 25) + 1, DEFAULT_CAP), Ok(DEFAULT_CAP));
}

/// bytes #850, #459, #595, #313, #81 and smallvec: appends that call something. What is counted here is only what can be counted in any
/// build: the allocator is asked once a doubling, and never where there is room.
#[test]
fn the_allocator_is_asked_once_a_doubling() {
    let mut buf = GrowBuf::default();
    let building = |buf: &mut GrowBuf| (0..65_536).for_each(|number: u32| buf.put_u32_le(number).expect("room"));
    assert_eq!(allocations(|| building(&mut buf)), 10, "512 bytes to 262,144");
    buf.clear();
    assert_eq!(allocations(|| building(&mut buf)), 0);
    buf.clear();
    assert_eq!(allocations(|| buf.reserve(262_144).expect("room").commit()), 0);
    assert_eq!(allocations(|| buf.reserve(262_145).expect("room").commit()), 1);
}

/// mongo's `grow(int by)` takes negative lengths, and its `reserveBytes` compares pointers that wrap. smallvec #252, #96: lengths that are
/// promised and not kept. Here nothing counts but what has been written.
#[test]
fn what_a_cursor_has_not_written_is_never_part_of_the_buffer() {
    let mut buf = grow_buf(4096);
    buf.put(b"before").expect("room");
    drop(buf.reserve(1000).expect("room"));
    let unwound = panic::catch_unwind(AssertUnwindSafe(|| {
        let mut cursor = buf.reserve(3).expect("room");
        cursor.put_u16_le(1).expect("room");
        panic!("on purpose");
    }));
    assert!(unwound.is_err());
    assert_eq!(buf.as_slice(), b"before");
    buf.reserve(900).expect("room").commit();
    assert_eq!((buf.as_slice(), buf.capacity()), (&b"before"[..], 1024));
}

/// bytes #387: a slice as a buffer that silently means something else; #680: documented to panic, grows. One meaning of full.
#[test]
fn a_full_storage_says_so_and_keeps_what_it_has() {
    let mut bytes = [0xee; 6];
    let mut buf = AppendBuf::from(&mut bytes[..]);
    buf.put_u32_be(0x0102_0304).expect("room");
    assert_eq!(buf.put_u32_be(5), Err(AppendError::Full { needed: 8, cap: 6 }));
    buf.put_u16_be(0x0506).expect("a shorter one fits");
    assert_eq!(buf.into_storage().into_bytes(), [1, 2, 3, 4, 5, 6]);
    assert_eq!(bytes, [1, 2, 3, 4, 5, 6]);
}

// ---- Logs. ----

/// aeron #377 and #375, artio #25, rmind/ringbuf #4: a writer that dies holds up everybody, or its place is handed on while it writes.
#[test]
fn a_producer_that_panics_holds_nobody_up() {
    static LOG: AppendLog<[LogWord; 64]> = AppendLog::new();
    let dies = |work: fn()| thread::spawn(work).join().expect_err("it panics");
    dies(|| {
        let mut grant = LOG.grant(9).expect("room");
        grant.bytes()[3] = 1;
        panic!("on purpose");
    });
    dies(|| {
        let mut lease = LOG.lease(40);
        lease.append(b"leased").expect("room");
        let _grant = lease.grant(3).expect("room");
        panic!("on purpose");
    });
    LOG.append(b"after").expect("room");
    let mut reader = LOG.reader();
    for expected in [&b"leased"[..], b"after"] {
        assert!(matches!(reader.read(), Ok(Read::Record(record)) if *record == *expected));
    }
    assert!(matches!(reader.read(), Ok(Read::Empty)));
}

/// The one way to hold readers up, said in the documentation: a grant that is never ended. It costs order and no record.
#[test]
fn a_forgotten_grant_blocks_who_reads_in_order_and_nobody_else() {
    let mut log = AppendLog::<[LogWord; 64]>::new();
    log.append(b"before").expect("room");
    std::mem::forget(log.grant(5).expect("room"));
    std::mem::forget(log.lease(20));
    let mut lease = log.lease(20);
    lease.append(b"in a chunk").expect("room");
    std::mem::forget(lease);
    log.append(b"after").expect("room");
    let mut reader = log.reader();
    assert!(matches!(reader.read(), Ok(Read::Record(_))));
    for _ in 0..3 {
        assert!(matches!(reader.read(), Ok(Read::Pending)));
    }
    let records: Vec<&[u8]> = log.committed().map(|record| record.expect("not corrupt").bytes()).collect();
    assert_eq!(records, [&b"before"[..], b"in a chunk", b"after"]);
    log.seal();
    assert!(matches!(reader.read(), Ok(Read::Pending)));
    log.clear();
    assert_eq!((log.used(), log.committed().count()), (0, 0));
}

/// BqLog #20, and every log that adds before it tests: a refused record takes room from those that fit.
#[test]
fn refused_records_take_no_room_however_many_they_are() {
    const WORDS: usize = 9;
    for _ in 0..200 {
        let log = AppendLog::<[LogWord; WORDS]>::new();
        let start = Barrier::new(3);
        thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    start.wait();
                    for _ in 0..50 {
                        let refused = log.append(&[0; 4 * WORDS]);
                        assert!(matches!(refused, Err(LogError::Full { needed: 36, room: ..=32 })), "{refused:?}");
                        assert!(matches!(log.grant(usize::MAX), Err(LogError::Full { needed: usize::MAX, .. })));
                    }
                });
            }
            start.wait();
            for number in 0..WORDS {
                assert_eq!(log.append(&[]), Ok(()), "record {number}");
            }
        });
        assert_eq!(log.append(&[]), Err(LogError::Full { needed: 0, room: 0 }));
        assert_eq!(log.committed().count(), WORDS);
    }
}

/// A word that something else has changed: an error there, and all that comes before it.
#[test]
fn corrupt_words_are_an_error_and_not_a_record() {
    let records = [&b"one"[..], b"two two", b"", b"three"];
    let log = AppendLog::<[LogWord; 10]>::new();
    records.iter().for_each(|record| log.append(record).expect("room"));
    let saved: Vec<u32> = log.into_words().iter().map(LogWord::bits).collect();
    let headers = [0, 2, 5, 6];
    for at in headers {
        for flip in 0..32 {
            let mut words: Vec<LogWord> = saved.iter().copied().map(LogWord::from_bits).collect();
            words[at] = LogWord::from_bits(saved[at] ^ 1 << flip);
            let before = headers.iter().take_while(|header| **header < at).count();
            match AppendLog::recover(&mut words[..]) {
                Err(Corrupt { at: found }) => assert!(found as usize >= at),
                // Another length or kind that a log could have: what comes before is as it was.
                Ok(log) => {
                    let read: Vec<&[u8]> = log.committed().map(|record| record.expect("a log").bytes()).take(before).collect();
                    assert_eq!(read, records[..before]);
                }
            }
        }
    }
    for word in [5, 6, 7, 8, 0xffff_fff8, u32::MAX] {
        let words = [word, 0, 0].map(LogWord::from_bits);
        assert_eq!(AppendLog::recover(words).err(), Some(Corrupt { at: 0 }), "{word:#x}");
    }
}
