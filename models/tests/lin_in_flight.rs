//! Calls in flight, call by call, against a list of slots.
//!
//! The table has one slot. A ticket stays with the thread that began the call; answers come from all.
//!
//! What ends a call does that in one step, and frees its slot in a later one, before it returns: so it is recorded as two calls,
//! the end within [`Call::Freed`].
#![cfg(any(jeton_loom, jeton_shuttle))]

use std::collections::BTreeSet;

use jeton_core::pool::{CallId, CompleteError, Full, InFlight, NotTimedOut, Ticket, bit_pool_words};
use jeton_models::{
    explore::{Arc, Model, explore, thread},
    linearizability::{Recorder, Spec},
};

type Calls = InFlight<1, { bit_pool_words(1) }>;
type OneTicket<'a> = Ticket<'a, 1, { bit_pool_words(1) }>;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Call {
    Begin,
    Complete(CallId, usize),
    Finish(CallId, usize),
    TimeOut(CallId),
    Forget(CallId, usize),
    /// The slot that this thread's call before has ended, if it has ended one, is free.
    Freed(usize),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Answer {
    Begun(Result<CallId, Full>),
    Completed(Result<(), CompleteError>),
    /// Whether the answer had come.
    Finished(bool),
    TimedOut(bool),
    Forgotten(Result<(), NotTimedOut>),
    Freed,
}

/// One slot: the last call, and how it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Slot {
    last: Option<CallId>,
    answered: bool,
    held: bool,
    timed_out: bool,
    /// The thread whose call has ended the last call, and not yet freed its slot.
    ending: Option<usize>,
    /// The threads of which a `Freed` is due.
    due: BTreeSet<usize>,
}

impl Slot {
    fn waiting(id: CallId) -> Self {
        Self { last: Some(id), answered: false, held: true, timed_out: false, ending: None, due: BTreeSet::new() }
    }
}

impl Spec for Slot {
    type Call = Call;
    type Answer = Answer;

    fn accepts(&mut self, call: &Call, answer: &Answer) -> bool {
        let expected = match *call {
            Call::Begin if self.held || self.timed_out || self.ending.is_some() => Answer::Begun(Err(Full)),
            Call::Begin => {
                let Answer::Begun(Ok(id)) = *answer else { return false };
                // With one slot, the number is the generation.
                if id.to_bits() != self.last.map_or(0, CallId::to_bits) + 1 {
                    return false;
                }
                *self = Self { due: std::mem::take(&mut self.due), ..Self::waiting(id) };
                return true;
            }
            Call::Freed(thread) if self.due.remove(&thread) => {
                self.ending = self.ending.filter(|ending| *ending != thread);
                Answer::Freed
            }
            Call::Freed(_) => return false,
            Call::Complete(id, thread) => Answer::Completed(match self.last {
                _ if !self.due.insert(thread) => return false,
                Some(last) if last != id => Err(CompleteError::Stale(id)),
                None => Err(CompleteError::Unknown(id)),
                _ if self.answered => Err(CompleteError::Duplicate(id)),
                _ if self.held => {
                    self.answered = true;
                    Ok(())
                }
                _ if self.timed_out => {
                    (self.answered, self.timed_out, self.ending) = (true, false, Some(thread));
                    Err(CompleteError::Stale(id))
                }
                _ => Err(CompleteError::Stale(id)),
            }),
            Call::Finish(_, thread) => {
                (self.held, self.ending) = (false, Some(thread));
                self.due.insert(thread);
                Answer::Finished(self.answered)
            }
            Call::TimeOut(_) => {
                self.timed_out = !self.answered;
                self.held = self.answered;
                Answer::TimedOut(!self.answered)
            }
            Call::Forget(id, thread) if self.last == Some(id) && self.timed_out => {
                (self.timed_out, self.ending) = (false, Some(thread));
                self.due.insert(thread);
                Answer::Forgotten(Ok(()))
            }
            Call::Forget(id, thread) => {
                self.due.insert(thread);
                Answer::Forgotten(Err(NotTimedOut(id)))
            }
        };
        expected == *answer
    }
}

type Record = Recorder<Slot>;

/// Makes a call that may free the slot.
fn ending(record: &Record, thread: usize, call: Call, make: impl FnOnce() -> Answer) {
    record.call(thread, Call::Freed(thread), || {
        record.call(thread, call, make);
        Answer::Freed
    });
}

fn finish(record: &Record, thread: usize, ticket: OneTicket<'_>) {
    ending(record, thread, Call::Finish(ticket.id(), thread), || Answer::Finished(ticket.finish()));
}

fn begin_and_finish(calls: &Calls, record: &Record, thread: usize) {
    let mut ticket = None;
    record.call(thread, Call::Begin, || {
        let begun = calls.begin();
        let answer = begun.as_ref().map(|ticket| ticket.id()).map_err(|full| *full);
        ticket = begun.ok();
        Answer::Begun(answer)
    });
    if let Some(ticket) = ticket {
        finish(record, thread, ticket);
    }
}

fn complete(calls: &Calls, record: &Record, thread: usize, id: CallId) {
    ending(record, thread, Call::Complete(id, thread), || Answer::Completed(calls.complete(id)));
}

/// Begins a call, and then runs `first` here and `others` beside it.
fn history(first: fn(&Calls, &Record, OneTicket<'_>), others: &[fn(&Calls, &Record, usize, CallId)]) {
    let calls = Arc::new(Calls::new());
    let record = Record::default();
    let ticket = calls.begin().expect("a slot is free");
    let id = ticket.id();
    let run = |(number, other): (usize, &fn(&Calls, &Record, usize, CallId))| {
        let (calls, record, other) = (calls.clone(), record.clone(), *other);
        thread::spawn(move || other(&calls, &record, number + 1, id))
    };
    let others: Vec<_> = others.iter().enumerate().map(run).collect();
    first(&calls, &record, ticket);
    for other in others {
        other.join().expect("a thread of the model panicked");
    }
    record.check(&Slot::waiting(id));
}

#[test]
fn an_answer_beside_a_finish_and_the_next_call_is_linearizable() {
    explore(Model { threads: 2, loom: 9900, rmw: 680, shuttle: 63000 }, || {
        history(
            |calls, record, ticket| {
                finish(record, 0, ticket);
                begin_and_finish(calls, record, 0);
            },
            &[|calls, record, thread, id| {
                complete(calls, record, thread, id);
                complete(calls, record, thread, id);
                begin_and_finish(calls, record, thread);
            }],
        );
    });
}

#[test]
fn a_time_out_beside_late_answers_is_linearizable() {
    explore(Model { threads: 2, loom: 350, rmw: 120, shuttle: 63000 }, || {
        history(
            |calls, record, ticket| {
                let id = ticket.id();
                let mut left = None;
                record.call(0, Call::TimeOut(id), || match ticket.time_out() {
                    Ok(_) => Answer::TimedOut(true),
                    Err(ticket) => {
                        left = Some(ticket);
                        Answer::TimedOut(false)
                    }
                });
                if let Some(ticket) = left {
                    finish(record, 0, ticket);
                }
                ending(record, 0, Call::Forget(id, 0), || Answer::Forgotten(calls.forget(id)));
            },
            &[|calls, record, thread, id| {
                complete(calls, record, thread, id);
                begin_and_finish(calls, record, thread);
            }],
        );
    });
}

#[test]
fn two_answers_beside_a_finish_are_linearizable() {
    explore(Model { threads: 3, loom: 2400, rmw: 1200, shuttle: 18000 }, || {
        history(
            |_, record, ticket| {
                finish(record, 0, ticket);
            },
            &[complete, |calls, record, thread, id| {
                complete(calls, record, thread, id);
                begin_and_finish(calls, record, thread);
            }],
        );
    });
}
