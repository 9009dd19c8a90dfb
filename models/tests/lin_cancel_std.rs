//! A source on the heap, call by call, against its specification.
#![cfg(any(jeton_loom, jeton_shuttle))]

mod cancel_std;

use std::sync::Mutex;

use cancel_std::{
    room,
    std_ext::cancel::{CancelSource, CancelToken, Registration},
};
use jeton_core::cancel::{Deregistered, Reason, Refusal, Status};
use jeton_models::{
    explore::{Arc, Model, explore, thread},
    linearizability::Recorder,
    spec::cancel::{Answer, Call, Registry},
};

type Record = Recorder<Registry>;

/// A token, and which callbacks have been called, outside of the model.
struct Subject {
    token: CancelToken,
    calls: [std::sync::Arc<Mutex<u32>>; 2],
    registrations: Mutex<[Option<Registration>; 2]>,
}

#[derive(Clone, Copy, Debug)]
enum Do {
    Register(u32),
    Deregister(u32),
    Cancel(u8),
    /// Drops the thread's source, which is not the last one.
    Leave,
    /// Drops the thread's source, which is the last one.
    LeaveLast,
    Status,
}

/// A registration at a dismissed source has ended at once: for the specification that is a refusal.
fn register(subject: &Subject, number: u32) -> Result<(), Refusal> {
    let calls = subject.calls[number as usize].clone();
    let registered = subject.token.on_cancel(move || *calls.lock().expect("nobody panics") += 1);
    let registration = registered.map_err(|late| Refusal::Canceled(late.reason))?;
    if subject.token.status() == Status::Dismissed {
        return Err(Refusal::Dismissed);
    }
    subject.registrations.lock().expect("nobody panics")[number as usize] = Some(registration);
    Ok(())
}

fn make(subject: &Subject, source: &mut Option<CancelSource>, record: &Record, thread: usize, what: Do) {
    match what {
        Do::Register(number) => _ = record.call(thread, Call::Register(number), || Answer::Registered(register(subject, number))),
        Do::Deregister(number) => {
            let registration = subject.registrations.lock().expect("nobody panics")[number as usize].take();
            if let Some(registration) = registration {
                record.call(thread, Call::Deregister(number), || {
                    Answer::Deregistered(registration.unregister() == Deregistered::Removed)
                });
            }
        }
        Do::Cancel(number) => {
            let (source, reason) = (source.as_ref().expect("a source"), Reason::new(number));
            record.call(thread, Call::Cancel(reason), || Answer::Done(source.cancel_with(reason)));
        }
        Do::Leave => *source = None,
        Do::LeaveLast => {
            let source = source.take();
            record.call(thread, Call::Dismiss, || {
                drop(source);
                Answer::Done(subject.token.status() == Status::Dismissed)
            });
        }
        Do::Status => _ = record.call(thread, Call::Status, || Answer::Status(subject.token.status())),
    }
}

/// Makes the calls of `before`, and then those of each program in a thread of its own. The first `sources` threads have a source.
fn history(sources: usize, before: &'static [Do], programs: &'static [&'static [Do]]) {
    let source = CancelSource::new();
    let subject = Arc::new(Subject { token: source.token(), calls: Default::default(), registrations: Mutex::default() });
    let record = Record::default();
    for what in before {
        make(&subject, &mut None, &record, 0, *what);
    }
    let source = Some(source);
    let work = |subject: &Subject, mut source: Option<CancelSource>, record: &Record, thread: usize| {
        programs[thread].iter().for_each(|what| make(subject, &mut source, record, thread, *what));
        // It goes when all is done, outside of what is explored.
        source
    };
    let others: Vec<_> = (1..programs.len())
        .map(|number| {
            let (subject, record) = (subject.clone(), record.clone());
            let source = source.clone().filter(|_| number < sources);
            thread::spawn(move || work(&subject, source, &record, number))
        })
        .collect();
    let own = work(&subject, source, &record, 0);
    let others: Vec<_> = others.into_iter().map(|other| other.join().expect("a thread of the model panicked")).collect();
    for number in 0..2 {
        record.call(0, Call::Called(number), || {
            let calls = *subject.calls[number as usize].lock().expect("nobody panics");
            assert!(calls <= 1, "called {calls} times");
            Answer::Called(calls == 1)
        });
    }
    record.check(&Registry::new(usize::MAX));
    drop((own, others));
}

#[test]
fn registrations_and_deregistrations_beside_a_cancel_of_a_heap_source_are_linearizable() {
    explore(Model { threads: 2, loom: 111, rmw: 256, shuttle: 63000 }, || {
        history(1, &[Do::Register(0)], &[&[Do::Cancel(20), Do::Status], &[Do::Register(1), Do::Deregister(0), Do::Deregister(1)]]);
    });
}

#[test]
fn registrations_beside_the_end_of_the_last_source_are_linearizable() {
    explore(Model { threads: 2, loom: 313, rmw: 410, shuttle: 63000 }, || {
        history(
            1,
            &[Do::Register(0)],
            &[&[Do::LeaveLast, Do::Status], &[Do::Status, Do::Register(1), Do::Deregister(0), Do::Status]],
        );
    });
}

#[test]
fn a_cancel_beside_the_end_of_another_source_is_linearizable() {
    explore(Model { threads: 2, loom: 109, rmw: 362, shuttle: 63000 }, || {
        history(2, &[Do::Register(0)], &[&[Do::Status, Do::Leave, Do::Register(1)], &[Do::Status, Do::Cancel(20), Do::Status]]);
    });
}

#[test]
fn two_cancels_of_a_heap_source_beside_a_registration_are_linearizable() {
    explore(Model { threads: 3, loom: 2576, rmw: 2537, shuttle: 18000 }, || {
        history(
            2,
            &[Do::Register(0)],
            &[&[Do::Cancel(20)], &[Do::Cancel(21), Do::Deregister(0)], &[Do::Register(1), Do::Deregister(1)]],
        );
    });
}
