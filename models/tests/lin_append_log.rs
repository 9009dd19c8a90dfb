//! The ordered log, call by call, against a vector of records.
//!
//! Not here: grants, which are two calls, and leases, whose records come in no order of the calls.
#![cfg(any(jeton_loom, jeton_shuttle))]

use jeton_core::append::{AppendLog, LogWord, Read, Reader};
use jeton_models::{
    explore::{Arc, Model, explore, thread},
    linearizability::Recorder,
    spec::append::{Answer, Call, Records},
};

const WORDS: usize = 5;

type Log = AppendLog<[LogWord; WORDS]>;

fn append(log: &Log, recorder: &Recorder<Records>, thread: usize, bytes: &[u8]) {
    recorder.call(thread, Call::Append(bytes.to_vec()), || Answer::Appended(log.append(bytes)));
}

fn seal(log: &Log, recorder: &Recorder<Records>, thread: usize) {
    recorder.call(thread, Call::Seal, || {
        log.seal();
        Answer::Sealed
    });
}

fn read(reader: &mut Reader<'_>, recorder: &Recorder<Records>, thread: usize) {
    recorder.call(thread, Call::Read, || match reader.read().expect("not corrupt") {
        Read::Record(record) => Answer::Record(record.to_vec()),
        Read::Pending => Answer::Pending,
        Read::Empty => Answer::Empty,
        Read::End => Answer::End,
    });
}

type Work = fn(&Log, &Recorder<Records>, usize);

/// The first one in this thread, the others in their own.
fn history(works: &[Work]) {
    let (log, recorder) = (Arc::new(Log::new()), Recorder::<Records>::default());
    let others: Vec<_> = works
        .iter()
        .copied()
        .enumerate()
        .skip(1)
        .map(|(number, work)| {
            let (log, recorder) = (log.clone(), recorder.clone());
            thread::spawn(move || work(&log, &recorder, number))
        })
        .collect();
    works[0](&log, &recorder, 0);
    for other in others {
        other.join().expect("a thread of the model panicked");
    }
    recorder.check(&Records::new(WORDS));
}

#[test]
fn appends_and_reads_of_two_threads_are_linearizable() {
    explore(Model { threads: 2, loom: 800, rmw: 140, shuttle: 8000 }, || {
        history(&[
            |log, recorder, thread| {
                let mut reader = log.reader();
                (0..3).for_each(|_| read(&mut reader, recorder, thread));
            },
            |log, recorder, thread| [b"1234", &b""[..], b"12"].into_iter().for_each(|bytes| append(log, recorder, thread, bytes)),
        ]);
    });
}

/// Five words for records of two, two, two and one: somebody is refused, and who asks for less is not.
#[test]
fn two_producers_at_the_full_edge_and_a_reader_are_linearizable() {
    explore(Model { threads: 3, loom: 1400, rmw: 1700, shuttle: 18000 }, || {
        history(&[
            |log, recorder, thread| {
                let mut reader = log.reader();
                (0..2).for_each(|_| read(&mut reader, recorder, thread));
            },
            |log, recorder, thread| [b"a", b"aa" as &[u8]].into_iter().for_each(|bytes| append(log, recorder, thread, bytes)),
            |log, recorder, thread| [b"b", b"" as &[u8]].into_iter().for_each(|bytes| append(log, recorder, thread, bytes)),
        ]);
    });
}

#[test]
fn a_seal_between_appends_and_reads_is_linearizable() {
    explore(Model { threads: 3, loom: 1100, rmw: 1400, shuttle: 18000 }, || {
        history(&[
            |log, recorder, thread| {
                let mut reader = log.reader();
                (0..2).for_each(|_| read(&mut reader, recorder, thread));
            },
            |log, recorder, thread| [b"a", b"aa" as &[u8]].into_iter().for_each(|bytes| append(log, recorder, thread, bytes)),
            |log, recorder, thread| {
                append(log, recorder, thread, b"b");
                seal(log, recorder, thread);
            },
        ]);
    });
}
