//! The registration table, call by call, against a slot that is free, armed, running or done.
#![cfg(any(jeton_loom, jeton_shuttle))]

use jeton_core::util::slots::{Deregistered, Handle, Slot, Slots};
use jeton_models::{
    explore::{Arc, Model, explore, thread},
    linearizability::{Recorder, Spec},
};

type Table = Slots<[Slot<u32>; 1]>;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Call {
    Register(u32),
    Deregister(Handle),
    /// Take what is armed.
    Take,
    /// End a run.
    End(u32),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Answer {
    Registered(Option<Handle>),
    /// The payload, if it was removed.
    Removed(Option<u32>),
    Taken(Option<u32>),
    Ended,
}

/// The one slot: a payload with its registration's handle, or what runs.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Only {
    Free,
    Armed(Option<Handle>, u32),
    Running(u32),
}

impl Spec for Only {
    type Call = Call;
    type Answer = Answer;

    fn accepts(&mut self, call: &Call, answer: &Answer) -> bool {
        match (*call, *answer) {
            // A slot that is about to be free, or to be armed, is taken: `None` is no promise.
            (Call::Register(_), Answer::Registered(None)) => true,
            (Call::Register(payload), Answer::Registered(handle)) if *self == Self::Free => {
                *self = Self::Armed(handle, payload);
                true
            }
            (Call::Deregister(handle), Answer::Removed(removed)) => match *self {
                Self::Armed(mine, payload) if mine == Some(handle) => {
                    *self = Self::Free;
                    removed == Some(payload)
                }
                _ => removed.is_none(),
            },
            (Call::Take, Answer::Taken(taken)) => match *self {
                Self::Armed(_, payload) => {
                    *self = Self::Running(payload);
                    taken == Some(payload)
                }
                _ => taken.is_none(),
            },
            (Call::End(payload), Answer::Ended) if *self == Self::Running(payload) => {
                *self = Self::Free;
                true
            }
            _ => false,
        }
    }
}

type Record = Recorder<Only>;

fn register(slots: &Slots<[Slot<u32>]>, record: &Record, thread: usize, payload: u32) -> Option<Handle> {
    let mut handle = None;
    record.call(thread, Call::Register(payload), || {
        handle = slots.register(payload).ok();
        // SAFETY: it has just been registered here.
        handle.into_iter().for_each(|handle| unsafe { slots.detach(handle) });
        Answer::Registered(handle)
    });
    handle
}

fn take(slots: &Slots<[Slot<u32>]>, record: &Record, thread: usize) {
    let mut run = None;
    record.call(thread, Call::Take, || {
        let taken = slots.take(0);
        let payload = taken.as_ref().map(|taken| taken.payload);
        run = taken;
        Answer::Taken(payload)
    });
    if let Some(taken) = run {
        record.call(thread, Call::End(taken.payload), || {
            drop(taken);
            Answer::Ended
        });
    }
}

fn deregister(slots: &Slots<[Slot<u32>]>, record: &Record, thread: usize, handle: Handle) {
    record.call(thread, Call::Deregister(handle), || match slots.deregister_detached(handle) {
        Deregistered::Removed(payload) => Answer::Removed(Some(payload)),
        Deregistered::Running | Deregistered::Ended => Answer::Removed(None),
    });
}

fn history(others: &[fn(&Slots<[Slot<u32>]>, &Record, usize, Handle)]) {
    let table = Arc::new(Table::new());
    let record = Record::default();
    let slots: &Slots<[Slot<u32>]> = &*table;
    let first = register(slots, &record, 0, 1).expect("a free slot");
    let threads: Vec<_> = others
        .iter()
        .enumerate()
        .map(|(number, other)| {
            let (table, record, other) = (table.clone(), record.clone(), *other);
            thread::spawn(move || other(&*table, &record, number + 1, first))
        })
        .collect();
    deregister(slots, &record, 0, first);
    if let Some(next) = register(slots, &record, 0, 2) {
        deregister(slots, &record, 0, next);
    }
    for other in threads {
        other.join().expect("a thread of the model panicked");
    }
    record.check(&Only::Free);
}

#[test]
fn a_runner_beside_an_owner_is_linearizable() {
    explore(Model { threads: 2, loom: 100, rmw: 94, shuttle: 2300 }, || {
        history(&[|slots, record, thread, _| {
            take(slots, record, thread);
            take(slots, record, thread);
        }]);
    });
}

#[test]
fn an_old_handle_beside_a_runner_is_linearizable() {
    explore(Model { threads: 3, loom: 1700, rmw: 1200, shuttle: 18000 }, || {
        history(&[|slots, record, thread, _| take(slots, record, thread), deregister]);
    });
}
