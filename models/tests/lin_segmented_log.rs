//! The segmented log, call by call, against vectors of records.
//!
//! Not here: grants, which are two calls, and leases, whose records come in no order of the calls.
#![cfg(any(jeton_loom, jeton_shuttle))]

mod segmented_log;

use jeton_core::append::Read;
use jeton_models::{
    explore::Model,
    linearizability::Recorder,
    spec::segmented_log::{Answer, Call, Segments},
};
use segmented_log::{
    beside, cancel, epoch, explore, log, memory,
    std_ext::append::{LogReader, ReadError, SegmentedError, SegmentedLog},
};

/// Of each segment.
const WORDS: usize = 4;

fn append(log: &SegmentedLog, recorder: &Recorder<Segments>, thread: usize, bytes: &[u8]) {
    recorder.call(thread, Call::Append(bytes.to_vec()), || match log.append(bytes) {
        Ok(()) => Answer::Appended,
        Err(SegmentedError::Full { cap, .. }) => Answer::Full { cap },
        Err(SegmentedError::Closed) => Answer::Closed,
        Err(SegmentedError::Alloc) => panic!("there is memory"),
    });
}

fn read(reader: &mut LogReader, recorder: &Recorder<Segments>, thread: usize) {
    recorder.call(thread, Call::Read(0), || match reader.read() {
        Ok(Read::Record(record)) => Answer::Record(record.to_vec()),
        Ok(Read::Pending) => Answer::Pending,
        Ok(Read::Empty) => Answer::Empty,
        Ok(Read::End) => Answer::End,
        Err(ReadError::Trimmed { segments }) => Answer::Trimmed(segments),
        Err(other) => panic!("{other}"),
    });
}

fn trim(log: &SegmentedLog, recorder: &Recorder<Segments>, thread: usize) {
    recorder.call(thread, Call::TrimToEnd, || Answer::GivenUp(log.trim(log.end())));
}

fn close(log: &SegmentedLog, recorder: &Recorder<Segments>, thread: usize) {
    recorder.call(thread, Call::Close, || Answer::HasClosed(log.close()));
}

type Work = fn(&SegmentedLog, &Recorder<Segments>, usize);

/// One reads here, `reads` times; the others work in their own threads.
fn history(reads: usize, works: &[Work]) {
    let (log, recorder) = (log(), Recorder::<Segments>::default());
    let mut reader = log.reader();
    let others: Vec<_> = works
        .iter()
        .copied()
        .zip(1..)
        .map(|(work, number)| {
            let (log, recorder) = (log.clone(), recorder.clone());
            beside(move || work(&log, &recorder, number))
        })
        .collect();
    (0..reads).for_each(|_| read(&mut reader, &recorder, 0));
    others.into_iter().for_each(|other| other());
    let mut spec = Segments::new(WORDS);
    spec.add_reader(0);
    recorder.check(&spec);
}

#[test]
fn reads_beside_appends_to_two_segments_are_linearizable() {
    explore(Model { threads: 2, loom: 780, rmw: 260, shuttle: 63000 }, || {
        history(
            3,
            &[|log, recorder, thread| {
                [b"12345678", &b""[..], b"1"].into_iter().for_each(|bytes| append(log, recorder, thread, bytes))
            }],
        );
    });
}

#[test]
fn reads_beside_appends_and_a_trim_are_linearizable() {
    explore(Model { threads: 2, loom: 23000, rmw: 6300, shuttle: 63000 }, || {
        history(
            3,
            &[|log, recorder, thread| {
                (0..3).for_each(|number| append(log, recorder, thread, &[number; 12]));
                trim(log, recorder, thread);
            }],
        );
    });
}

#[test]
fn reads_beside_appends_and_a_close_are_linearizable() {
    explore(Model { threads: 2, loom: 400, rmw: 250, shuttle: 63000 }, || {
        history(
            3,
            &[|log, recorder, thread| {
                append(log, recorder, thread, &[1; 12]);
                close(log, recorder, thread);
                append(log, recorder, thread, &[]);
                append(log, recorder, thread, &[0; 13]);
            }],
        );
    });
}

#[test]
fn appends_of_two_threads_and_a_close_are_linearizable() {
    explore(Model { threads: 3, loom: 14000, rmw: 9600, shuttle: 18000 }, || {
        history(
            0,
            &[
                |log, recorder, thread| append(log, recorder, thread, &[1; 12]),
                |log, recorder, thread| {
                    append(log, recorder, thread, &[2; 12]);
                    close(log, recorder, thread);
                },
            ],
        );
    });
}
