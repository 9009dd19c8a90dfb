//! The segmented log under every interleaving, with crossbeam-epoch in it: nobody looks at what is freed, no record is lost or read
//! twice, and nobody sleeps for good beside a record.
#![cfg(any(jeton_loom, jeton_shuttle))]

mod segmented_log;

use jeton_core::sync::UnsafeCell;
use jeton_models::explore::{Arc, Model, thread};
use segmented_log::{
    EMPTY,
    Found::{self, End, Nothing, Record, Trimmed},
    append, beside, cancel, come_beside_trim, epoch, explore, explore_bounded, log, memory, poll_once, read, read_all,
    read_beside_trim, wait,
};

/// The records that were found.
fn records(found: &[Found]) -> Vec<u8> {
    found.iter().filter_map(|found| if let Record(number) = found { Some(*number) } else { None }).collect()
}

#[test]
fn a_reader_beside_a_trim_reads_on_or_is_told() {
    explore(Model { threads: 2, loom: 7000, rmw: 8400, shuttle: 63000 }, read_beside_trim);
}

#[test]
fn a_reader_made_beside_a_trim_begins_where_the_log_begins() {
    explore(Model { threads: 2, loom: 83, rmw: 95, shuttle: 4900 }, come_beside_trim);
}

/// Its segment is empty at the first look, and full, and trimmed, at the next.
#[test]
fn a_reader_is_told_of_no_trim_while_there_are_records_where_it_is() {
    explore(Model { threads: 2, loom: 6200, rmw: 1900, shuttle: 63000 }, || {
        let log = log();
        let mut reader = log.reader();
        let other = beside(move || {
            append(&log, 0..2);
            log.trim(log.end())
        });
        let mut next = 0;
        for _ in 0..2 {
            match read(&mut reader) {
                Nothing => {}
                found => {
                    assert_eq!(found, Record(next));
                    next += 1;
                }
            }
        }
        assert_eq!(other(), 1);
        assert_eq!(read(&mut reader), if next < 2 { Record(next) } else { Nothing });
    });
}

/// Each of so many others has a reader in the segment that is trimmed here.
fn leave_beside_trim(others: usize) {
    let log = log();
    append(&log, 0..2);
    let readers: Vec<_> = (0..others).map(|_| log.reader()).collect();
    let end = log.end();
    let leave = |mut reader| {
        beside(move || {
            assert_eq!(read(&mut reader), Record(0));
            drop(reader);
        })
    };
    let others: Vec<_> = readers.into_iter().map(leave).collect();
    assert_eq!(log.trim(end), 1);
    others.into_iter().for_each(|other| other());
}

#[test]
fn the_last_one_that_leaves_a_trimmed_segment_frees_it() {
    explore(Model { threads: 2, loom: 4800, rmw: 2400, shuttle: 3300 }, || leave_beside_trim(1));
}

#[test]
#[ignore = "long"]
fn the_last_one_of_three_that_leaves_a_trimmed_segment_frees_it() {
    explore(Model { threads: 3, loom: 43000, rmw: 8400, shuttle: 18000 }, || leave_beside_trim(2));
}

#[test]
fn two_trims_give_up_each_segment_once() {
    explore(Model { threads: 2, loom: 1700, rmw: 2200, shuttle: 63000 }, || {
        let log = log();
        append(&log, 0..2);
        let middle = log.end();
        append(&log, 2..3);
        let (end, other) = (log.end(), log.clone());
        let trim = beside(move || other.trim(middle));
        let mine = log.trim(end);
        assert_eq!(mine + trim(), 2);
        assert_eq!(read_all(&mut log.reader()), [Record(2), Nothing]);
    });
}

#[test]
fn two_producers_link_one_segment_after_the_other() {
    explore(Model { threads: 2, loom: 3500, rmw: 630, shuttle: 63000 }, || {
        let log = log();
        append(&log, 0..1);
        let other = log.clone();
        let append_other = beside(move || append(&other, 1..3));
        append(&log, 3..4);
        append_other();
        let found = read_all(&mut log.reader());
        let order = records(&found);
        assert!([[0, 1, 2, 3], [0, 1, 3, 2], [0, 3, 1, 2]].contains(&order.as_slice().try_into().expect("four")), "{found:?}");
        assert_eq!(log.held().listed, 4);
    });
}

#[test]
fn a_reader_comes_into_a_segment_that_is_being_linked() {
    explore(Model { threads: 2, loom: 11, rmw: 57, shuttle: 63000 }, || {
        let log = log();
        append(&log, 0..1);
        let mut reader = log.reader();
        let other = beside(move || append(&log, 1..3));
        let mut found = read_all(&mut reader);
        other();
        found.extend(read_all(&mut reader));
        assert_eq!(records(&found), [0, 1, 2], "{found:?}");
    });
}

#[test]
fn a_new_writer_beside_a_link_and_a_trim_writes_where_the_log_ends() {
    explore(Model { threads: 2, loom: 19000, rmw: 6600, shuttle: 63000 }, || {
        let log = log();
        append(&log, 0..1);
        let other = log.clone();
        let link = beside(move || {
            append(&other, 1..2);
            other.trim(other.end())
        });
        let mut writer = log.writer();
        writer.append(&[2; 8]).expect("there is memory");
        assert!(link() >= 1);
        drop(writer);
        let found = records(&read_all(&mut log.reader()));
        assert!([&[1, 2][..], &[2, 1], &[2], &[1]].contains(&&found[..]), "{found:?}");
    });
}

#[test]
fn a_record_comes_before_the_close_or_is_refused() {
    explore(Model { threads: 2, loom: 320, rmw: 150, shuttle: 63000 }, || {
        let log = log();
        append(&log, 0..1);
        let other = log.clone();
        let close = beside(move || other.close());
        let appended = log.append(&[1; 8]);
        assert!(close());
        let expected = if appended.is_ok() { &[Record(0), Record(1), End][..] } else { &[Record(0), End] };
        assert_eq!(read_all(&mut log.reader()), expected);
        assert!(log.is_closed() && log.append(&[]).is_err() && !log.close());
    });
}

/// Plain memory beside a log.
struct Data(UnsafeCell<u32>);

// SAFETY: the model below says who may use the cell when; that the log orders this is what it checks.
unsafe impl Sync for Data {}

#[test]
fn who_reads_the_end_of_all_segments_sees_what_came_before_the_close() {
    explore(Model { threads: 2, loom: 17, rmw: 17, shuttle: 420 }, || {
        let log = log();
        let data = Arc::new(Data(UnsafeCell::new(0)));
        let (mut reader, written) = (log.reader(), data.clone());
        let other = beside(move || {
            // SAFETY: nobody reads it before this one has closed the log.
            written.0.with_mut(|data| unsafe { *data = 1 });
            log.close()
        });
        thread::yield_now();
        if read(&mut reader) == End {
            // SAFETY: the other thread has closed the log, and writes no more.
            assert_eq!(data.0.with(|data| unsafe { *data }), 1);
        }
        assert!(other());
    });
}

#[test]
fn who_is_refused_by_a_closed_log_sees_what_came_before_the_close() {
    explore(Model { threads: 2, loom: 320, rmw: 150, shuttle: 63000 }, || {
        let log = log();
        append(&log, 0..1);
        let data = Arc::new(Data(UnsafeCell::new(0)));
        let (other, written) = (log.clone(), data.clone());
        let close = beside(move || {
            // SAFETY: nobody reads it before this one closes the log.
            written.0.with_mut(|data| unsafe { *data = 1 });
            other.close()
        });
        if log.append(&[1; 8]).is_err() {
            // SAFETY: the other thread is about to close the log, and writes no more.
            assert_eq!(data.0.with(|data| unsafe { *data }), 1);
        }
        assert!(close());
    });
}

#[test]
fn who_waits_is_woken_by_a_record() {
    explore(Model { threads: 2, loom: 210, rmw: 190, shuttle: 63000 }, || {
        let log = log();
        let mut reader = log.reader();
        let other = beside(move || append(&log, 0..1));
        assert_eq!(wait(&mut reader), Record(0));
        other();
    });
}

#[test]
fn who_waits_is_woken_by_a_record_in_the_next_segment() {
    explore(Model { threads: 2, loom: 220, rmw: 210, shuttle: 63000 }, || {
        let log = log();
        append(&log, 0..1);
        let mut reader = log.reader();
        assert_eq!(read(&mut reader), Record(0));
        let other = beside(move || append(&log, 1..2));
        assert_eq!(wait(&mut reader), Record(1));
        other();
    });
}

#[test]
fn who_waits_is_woken_by_each_of_two_records() {
    explore(Model { threads: 2, loom: 1800, rmw: 380, shuttle: 63000 }, || {
        let log = log();
        let mut reader = log.reader();
        let other = beside(move || {
            log.append(&[]).expect("there is room");
            append(&log, 1..2);
        });
        assert_eq!(wait(&mut reader), Record(EMPTY));
        assert_eq!(wait(&mut reader), Record(1));
        other();
    });
}

#[test]
#[ignore = "long"]
fn two_who_wait_are_both_woken() {
    explore(Model { threads: 3, loom: 170000, rmw: 97000, shuttle: 18000 }, || {
        let log = log();
        let mut reader = log.reader();
        let mut other_reader = reader.clone();
        let other = beside(move || assert_eq!(wait(&mut other_reader), Record(0)));
        let writer = beside(move || append(&log, 0..1));
        assert_eq!(wait(&mut reader), Record(0));
        writer();
        other();
    });
}

#[test]
#[ignore = "long"]
fn who_waits_is_woken_by_either_of_two_producers() {
    explore(Model { threads: 3, loom: 180000, rmw: 110000, shuttle: 18000 }, || {
        let log = log();
        let mut reader = log.reader();
        let others = [log.clone(), log].map(|log| beside(move || log.append(&[]).expect("there is room")));
        assert_eq!(wait(&mut reader), Record(EMPTY));
        others.into_iter().for_each(|other| other());
    });
}

#[test]
fn who_waits_is_woken_by_a_close() {
    explore(Model { threads: 2, loom: 160, rmw: 140, shuttle: 63000 }, || {
        let log = log();
        let mut reader = log.reader();
        let other = beside(move || log.close());
        assert_eq!(wait(&mut reader), End);
        assert!(other());
    });
}

#[test]
fn who_waits_for_a_forgotten_grant_is_woken_by_a_trim() {
    explore(Model { threads: 2, loom: 12000, rmw: 12000, shuttle: 63000 }, || {
        let log = log();
        let mut writer = log.writer();
        std::mem::forget(writer.grant(8).expect("there is room"));
        drop(writer);
        append(&log, 1..2);
        let mut reader = log.reader();
        assert_eq!(read(&mut reader), Nothing);
        let other = beside(move || log.trim(log.end()));
        assert_eq!(wait(&mut reader), Trimmed(1));
        assert_eq!(wait(&mut reader), Record(1));
        assert_eq!(other(), 1);
    });
}

#[test]
fn who_waits_behind_a_grant_is_woken_by_its_end() {
    explore(Model { threads: 2, loom: 1400, rmw: 310, shuttle: 63000 }, || {
        let log = log();
        let mut writer = log.writer();
        let mut reader = log.reader();
        let other = beside(move || {
            drop(writer.grant(0).expect("there is room"));
            let mut grant = writer.grant(8).expect("there is room");
            grant.bytes().fill(1);
            grant.commit();
        });
        assert_eq!(wait(&mut reader), Record(1));
        other();
    });
}

#[test]
fn who_waits_behind_a_lease_is_woken_by_its_end() {
    explore(Model { threads: 2, loom: 130, rmw: 110, shuttle: 63000 }, || {
        let log = log();
        let mut writer = log.leased_writer(8);
        writer.append(&[]).expect("there is room");
        append(&log, 1..2);
        let mut reader = log.reader();
        assert_eq!(wait(&mut reader), Record(EMPTY));
        assert_eq!(read(&mut reader), Nothing);
        let other = beside(move || drop(writer));
        assert_eq!(wait(&mut reader), Record(1));
        other();
    });
}

#[test]
fn a_source_that_another_reader_has_made_is_seen_whole() {
    explore(Model { threads: 3, loom: 10000, rmw: 12000, shuttle: 18000 }, || {
        let log = log();
        let readers = [log.reader(), log.reader()];
        let others = readers.map(|mut reader| beside(move || poll_once(&mut reader)));
        others.into_iter().for_each(|other| assert!(!other()));
        drop(log);
    });
}

#[test]
fn a_source_in_the_place_of_another_one_is_seen_whole() {
    explore(Model { threads: 2, loom: 1500, rmw: 300, shuttle: 63000 }, || {
        let log = log();
        let mut reader = log.reader();
        let [mut writer, mut other] = [log.writer(), log.writer()];
        assert!(!poll_once(&mut reader));
        let other = beside(move || {
            let grant = other.grant(0).expect("there is room");
            // Has seen that somebody waits, and takes away what is there meanwhile.
            epoch::slowly(1, || drop(grant));
        });
        drop(writer.grant(0).expect("there is room"));
        assert!(!poll_once(&mut reader));
        other();
    });
}

#[test]
fn a_reader_made_beside_a_link_and_a_trim_sees_the_new_segment_whole() {
    explore(Model { threads: 2, loom: 53, rmw: 58, shuttle: 63000 }, || {
        let log = log();
        append(&log, 0..1);
        let other = log.clone();
        let link = beside(move || {
            append(&other, 1..2);
            other.trim(other.end())
        });
        let mut reader = epoch::slowly(1, || log.reader());
        assert!([Record(0), Record(1)].contains(&read(&mut reader)));
        assert_eq!(link(), 1);
    });
}

#[test]
fn a_reader_sees_whole_what_one_thread_has_linked_and_another_one_made_the_first() {
    // The guards yield where it matters.
    explore_bounded(1, Model { threads: 3, loom: 31000, rmw: 3600, shuttle: 18000 }, || {
        let log = log();
        append(&log, 0..1);
        let (mut writer, trimmer) = (log.writer(), log.clone());
        // Where this log's will be: positions are numbers.
        let end = {
            let longer = segmented_log::log();
            append(&longer, 0..2);
            longer.end()
        };
        let link = beside(move || writer.append(&[1; 8]).expect("there is memory"));
        let trim = beside(move || epoch::slowly(1, || trimmer.trim(end)));
        let mut reader = epoch::slowly(2, || log.reader());
        assert!([Record(0), Record(1), Nothing].contains(&read(&mut reader)));
        link();
        trim();
        assert_eq!(log.end(), end);
    });
}
