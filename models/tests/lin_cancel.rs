//! A source, call by call, against its specification.
//!
//! `Full` is not recorded: a slot is taken a step before its registration counts, and free a step after.
#![cfg(any(jeton_loom, jeton_shuttle))]

use std::sync::Mutex;

use jeton_core::cancel::{Deregistered, Reason, RegistrationId, Source};
use jeton_models::{
    explore::{Arc, Model, explore, thread},
    linearizability::Recorder,
    spec::cancel::{Answer, Call, Registry},
};

type Record = Recorder<Registry>;

/// A source with a slot for each callback, and which of them have been called, outside the model.
struct Subject {
    source: Source<2>,
    calls: [&'static Mutex<u32>; 2],
    ids: Mutex<[Option<RegistrationId>; 2]>,
}

fn count(calls: &'static Mutex<u32>) {
    *calls.lock().expect("nobody panics") += 1;
}

#[derive(Clone, Copy, Debug)]
enum Do {
    Register(u32),
    Deregister(u32),
    Cancel(u8),
    Dismiss,
    Status,
}

fn make(subject: &Subject, record: &Record, thread: usize, what: Do) {
    match what {
        Do::Register(number) => {
            record.call(thread, Call::Register(number), || {
                let registered = subject.source.token().on_cancel(count, subject.calls[number as usize]);
                let registered =
                    registered.map(|own| subject.ids.lock().expect("nobody panics")[number as usize] = Some(own.detach()));
                Answer::Registered(registered.map_err(|refused| refused.refusal))
            });
        }
        Do::Deregister(number) => {
            let id = subject.ids.lock().expect("nobody panics")[number as usize];
            if let Some(id) = id {
                record.call(thread, Call::Deregister(number), || {
                    Answer::Deregistered(subject.source.token().deregister(id) == Deregistered::Removed)
                });
            }
        }
        Do::Cancel(number) => {
            let reason = Reason::new(number);
            record.call(thread, Call::Cancel(reason), || Answer::Done(subject.source.cancel_with(reason)));
        }
        Do::Dismiss => _ = record.call(thread, Call::Dismiss, || Answer::Done(subject.source.dismiss())),
        Do::Status => _ = record.call(thread, Call::Status, || Answer::Status(subject.source.status())),
    }
}

/// Makes the calls of `before`, and then those of each program in a thread of its own.
fn history(before: &'static [Do], programs: &'static [&'static [Do]]) {
    let calls = [(); 2].map(|()| &*Box::leak(Box::new(Mutex::new(0))));
    let subject = Arc::new(Subject { source: Source::new(), calls, ids: Mutex::default() });
    let record = Record::default();
    for what in before {
        make(&subject, &record, 0, *what);
    }
    let work = |subject: &Subject, record: &Record, thread: usize| {
        programs[thread].iter().for_each(|what| make(subject, record, thread, *what))
    };
    let others: Vec<_> = (1..programs.len())
        .map(|number| {
            let (subject, record) = (subject.clone(), record.clone());
            thread::spawn(move || work(&subject, &record, number))
        })
        .collect();
    work(&subject, &record, 0);
    for other in others {
        other.join().expect("a thread of the model panicked");
    }
    for number in 0..2 {
        record.call(0, Call::Called(number), || {
            let calls = *subject.calls[number as usize].lock().expect("nobody panics");
            assert!(calls <= 1, "called {calls} times");
            Answer::Called(calls == 1)
        });
    }
    record.check(&Registry::new(2));
}

#[test]
fn registrations_and_deregistrations_beside_a_cancel_are_linearizable() {
    explore(Model { threads: 2, loom: 510, rmw: 510, shuttle: 63000 }, || {
        history(&[Do::Register(0)], &[&[Do::Register(1), Do::Deregister(0), Do::Deregister(1)], &[Do::Cancel(20), Do::Status]]);
    });
}

#[test]
fn a_cancel_beside_a_dismissal_is_linearizable() {
    explore(Model { threads: 2, loom: 13, rmw: 45, shuttle: 1200 }, || {
        history(&[Do::Register(0)], &[&[Do::Dismiss, Do::Status, Do::Register(1)], &[Do::Status, Do::Cancel(20), Do::Status]]);
    });
}

#[test]
fn two_cancels_beside_a_registration_are_linearizable() {
    explore(Model { threads: 3, loom: 6000, rmw: 5400, shuttle: 18000 }, || {
        history(
            &[Do::Register(0)],
            &[&[Do::Register(1), Do::Deregister(1)], &[Do::Cancel(20)], &[Do::Cancel(21), Do::Deregister(0)]],
        );
    });
}
