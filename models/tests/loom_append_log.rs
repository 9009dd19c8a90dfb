//! The append log under every interleaving: records whole, each once, none lost, and readers past whatever is given up.
#![cfg(any(jeton_loom, jeton_shuttle))]

use jeton_core::{
    append::{AppendLog, LogError, LogWord, Read, Reader},
    sync::UnsafeCell,
};
use jeton_models::explore::{Arc, Model, explore, note, thread};

type Log<const N: usize> = AppendLog<[LogWord; N]>;

fn log<const N: usize>() -> Arc<Log<N>> {
    Arc::new(Log::new())
}

/// In a thread of its own.
fn beside<T: Send + Sync + 'static, R: Send + 'static>(
    log: &Arc<T>,
    work: impl FnOnce(&T) -> R + Send + 'static,
) -> Box<dyn FnOnce() -> R> {
    let log = log.clone();
    let other = thread::spawn(move || work(&log));
    Box::new(move || other.join().expect("a thread of the model panicked"))
}

/// Appends what only it can have: two records of five bytes, the producer's number and theirs.
fn append_two<const N: usize>(log: &Log<N>, producer: u8) {
    for number in 0..2 {
        log.append(&[producer, number, 3, 4, 5]).expect("there is room");
    }
}

/// The same, leased.
fn lease_two<const N: usize>(log: &Log<N>, producer: u8) {
    let mut lease = log.lease(0);
    for number in 0..2 {
        lease.append(&[producer, number, 3, 4, 5]).expect("there is room");
    }
}

/// Producer and number of the records up to the first place without one, and whether that is the end of what there is now.
fn read_on(reader: &mut Reader<'_>) -> (Vec<(u8, u8)>, bool) {
    let mut records = Vec::new();
    loop {
        match reader.read().expect("not corrupt") {
            Read::Record(record) => {
                assert_eq!(record[2..], [3, 4, 5], "a record that is not whole");
                records.push((record[0], record[1]));
            }
            other => {
                note(&format!("read {records:?}"));
                return (records, !matches!(other, Read::Pending));
            }
        }
    }
}

/// Those of each producer in its order, and no others.
fn assert_in_order(records: &[(u8, u8)], complete: bool) {
    for producer in [1, 2] {
        let numbers: Vec<u8> = records.iter().filter(|record| record.0 == producer).map(|record| record.1).collect();
        let expected: &[u8] = if complete { &[0, 1] } else { &[0, 1][..numbers.len().min(2)] };
        assert_eq!(numbers, expected, "producer {producer}");
    }
}

#[test]
fn two_producers_are_read_in_order_while_they_write() {
    explore(Model { threads: 3, loom: 3300, rmw: 1200, shuttle: 18000 }, || {
        let log = log::<12>();
        let others = [1, 2].map(|producer| beside(&log, move |log| append_two(log, producer)));
        let mut reader = log.reader();
        let (mut records, _) = read_on(&mut reader);
        assert_in_order(&records, false);
        others.into_iter().for_each(|other| other());
        let (rest, at_end) = read_on(&mut reader);
        records.extend(rest);
        assert_in_order(&records, true);
        assert!(at_end, "nobody writes any more");
    });
}

#[test]
fn two_leases_are_read_in_order_while_they_write() {
    explore(Model { threads: 3, loom: 3300, rmw: 1200, shuttle: 18000 }, || {
        // A chunk for each record, since the leases ask for as little as there can be.
        let log = log::<16>();
        let others = [1, 2].map(|producer| beside(&log, move |log| lease_two(log, producer)));
        let mut reader = log.reader();
        let (mut records, _) = read_on(&mut reader);
        assert_in_order(&records, false);
        others.into_iter().for_each(|other| other());
        let (rest, at_end) = read_on(&mut reader);
        records.extend(rest);
        assert_in_order(&records, true);
        assert!(at_end, "nobody writes any more");
    });
}

#[test]
fn a_lease_and_an_ordered_producer_are_read_together() {
    explore(Model { threads: 3, loom: 3400, rmw: 860, shuttle: 18000 }, || {
        let log = log::<13>();
        let others = [
            beside(&log, |log| append_two(log, 1)),
            // One chunk for both.
            beside(&log, |log: &Log<13>| {
                let mut lease = log.lease(24);
                for number in 0..2 {
                    lease.append(&[2, number, 3, 4, 5]).expect("there is room");
                }
            }),
        ];
        let committed = |log: &Log<13>| -> Vec<(u8, u8)> {
            log.committed().map(|record| record.expect("not corrupt")).map(|record| (record[0], record[1])).collect()
        };
        // One that is being written as this goes by is missing, and its producer's next one may be there.
        let early = committed(&log);
        assert!([1, 2].iter().all(|producer| early.iter().filter(|record| record.0 == *producer).is_sorted()), "{early:?}");
        others.into_iter().for_each(|other| other());
        let late = committed(&log);
        assert_in_order(&late, true);
        assert!(early.iter().all(|record| late.contains(record)), "{early:?}");
        let (records, at_end) = read_on(&mut log.reader());
        assert_in_order(&records, true);
        assert!(at_end);
    });
}

#[test]
fn at_the_full_edge_one_of_two_is_refused_and_a_shorter_one_fits() {
    explore(Model { threads: 2, loom: 7, rmw: 11, shuttle: 29 }, || {
        let log = log::<4>();
        let other = beside(&log, |log| log.append(&[2; 8]));
        let mine = log.append(&[1; 8]);
        let others = other();
        let refused = LogError::Full { needed: 8, room: 0 };
        assert!(matches!((mine, others), (Ok(()), Err(error)) | (Err(error), Ok(())) if error == refused), "{mine:?}, {others:?}");
        log.append(&[]).expect("a word is left");
        let mut reader = log.reader();
        let Ok(Read::Record(record)) = reader.read() else { panic!("a record") };
        assert_eq!(*record, if mine.is_ok() { [1; 8] } else { [2; 8] });
        assert!(matches!(reader.read(), Ok(Read::Record(record)) if record.is_empty()));
        assert!(matches!(reader.read(), Ok(Read::Empty)));
    });
}

#[test]
fn at_the_full_edge_leases_share_what_is_left() {
    explore(Model { threads: 2, loom: 7, rmw: 11, shuttle: 330 }, || {
        let log = log::<7>();
        // Room for a chunk of 4 words and one of 3.
        let append = |log: &Log<7>| log.lease(12).append(&[1; 4]);
        let other = beside(&log, append);
        assert_eq!(append(&log), Ok(()));
        assert_eq!(other(), Ok(()));
        assert_eq!(log.used(), 28);
        assert_eq!(log.committed().count(), 2);
    });
}

#[test]
fn what_is_being_written_is_skipped() {
    explore(Model { threads: 2, loom: 47, rmw: 25, shuttle: 180 }, || {
        let log = log::<8>();
        let other = beside(&log, |log| {
            let mut grant = log.grant(4).expect("room");
            log.append(&[2; 4]).expect("room");
            grant.bytes().fill(1);
            grant.commit();
        });
        let seen: Vec<u8> = log.committed().map(|record| record.expect("not corrupt")[0]).collect();
        note(&format!("seen {seen:?}"));
        assert!([&[][..], &[2], &[1], &[1, 2]].contains(&&seen[..]), "{seen:?}");
        other();
        let seen: Vec<u8> = log.committed().map(|record| record.expect("not corrupt")[0]).collect();
        assert_eq!(seen, [1, 2]);
    });
}

#[test]
fn what_is_given_up_is_skipped() {
    explore(Model { threads: 3, loom: 690, rmw: 850, shuttle: 18000 }, || {
        let log = log::<10>();
        let others = [
            beside(&log, |log| {
                let mut grant = log.grant(4).expect("room");
                grant.bytes().fill(9);
                drop(grant);
            }),
            // Its chunk has room for more, which it gives up.
            beside(&log, |log: &Log<10>| log.lease(16).append(&[2; 4]).expect("room")),
        ];
        let mut reader = log.reader();
        let read = |reader: &mut Reader<'_>| match reader.read().expect("not corrupt") {
            Read::Record(record) => {
                assert_eq!(*record, [2; 4]);
                1
            }
            _ => 0,
        };
        let mut records = read(&mut reader);
        log.append(&[2; 4]).expect("room");
        others.into_iter().for_each(|other| other());
        records += read(&mut reader) + read(&mut reader);
        assert_eq!(records, 2);
        assert!(matches!(reader.read(), Ok(Read::Empty)));
    });
}

#[test]
fn a_record_comes_before_the_seal_or_is_refused() {
    explore(Model { threads: 3, loom: 230, rmw: 390, shuttle: 18000 }, || {
        let log = log::<12>();
        let producer = beside(&log, |log| [log.append(&[1; 4]), log.append(&[2; 4])]);
        let sealer = beside(&log, |log| log.seal());
        let mut reader = log.reader();
        let mut records = Vec::new();
        let mut read = |reader: &mut Reader<'_>| match reader.read().expect("not corrupt") {
            Read::Record(record) => {
                records.push(record[0]);
                None
            }
            other => Some(matches!(other, Read::End)),
        };
        let ended = (0..3).map_while(|_| read(&mut reader).filter(|ended| *ended)).next().is_some();
        let (appended, ()) = (producer(), sealer());
        let accepted: Vec<u8> =
            [1, 2].into_iter().zip(&appended).filter(|(_, answer)| answer.is_ok()).map(|(number, _)| number).collect();
        assert!(appended.iter().all(|answer| matches!(answer, Ok(()) | Err(LogError::Sealed))), "{appended:?}");
        assert!(!(appended[0].is_err() && appended[1].is_ok()), "after the seal");
        if ended {
            assert_eq!(records, accepted, "there is an end, and then another record");
            return;
        }
        while read(&mut reader).is_none() {}
        assert_eq!(records, accepted);
        assert!(matches!(reader.read(), Ok(Read::End)));
    });
}

/// A log and plain memory beside it.
struct WithData {
    log: Log<2>,
    data: UnsafeCell<u32>,
}

// SAFETY: the model below says who may use the cell when; that the log orders this is what it checks.
unsafe impl Sync for WithData {}

#[test]
fn who_reads_the_end_sees_what_came_before_the_seal() {
    explore(Model { threads: 2, loom: 6, rmw: 4, shuttle: 6 }, || {
        let with_data = Arc::new(WithData { log: Log::new(), data: UnsafeCell::new(0) });
        let other = beside(&with_data, |with_data| {
            // SAFETY: nobody reads it before the end of the log.
            with_data.data.with_mut(|data| unsafe { *data = 1 });
            with_data.log.seal();
        });
        if matches!(with_data.log.reader().read(), Ok(Read::End)) {
            // SAFETY: the other thread has sealed the log, and writes no more.
            assert_eq!(with_data.data.with(|data| unsafe { *data }), 1);
        }
        other();
    });
}
