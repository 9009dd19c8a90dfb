//! Calls in flight under every interleaving: who sees what, and who gets a slot next.
#![cfg(any(jeton_loom, jeton_shuttle))]

use jeton_core::{
    pool::{CallId, CompleteError, InFlight, bit_pool_words},
    sync::UnsafeCell,
};
use jeton_models::explore::{Arc, Model, explore, thread};

type Calls = InFlight<1, { bit_pool_words(1) }>;

/// One slot, and plain memory beside it.
struct WithData {
    calls: Calls,
    data: UnsafeCell<u32>,
}

// SAFETY: each model says who may use the cell when; that the calls order this is what it checks.
unsafe impl Sync for WithData {}

impl WithData {
    fn new() -> Arc<Self> {
        Arc::new(Self { calls: Calls::new(), data: UnsafeCell::new(0) })
    }

    fn touch(&self) {
        // SAFETY: see above.
        self.data.with_mut(|data| unsafe { *data += 1 });
    }
}

/// In a thread of its own.
fn beside<R: Send + 'static>(calls: &Arc<WithData>, id: CallId, work: fn(&WithData, CallId) -> R) -> impl FnOnce() -> R {
    let calls = calls.clone();
    let other = thread::spawn(move || work(&calls, id));
    move || other.join().expect("a thread of the model panicked")
}

#[test]
fn what_came_with_an_answer_is_visible() {
    explore(Model { threads: 2, loom: 3, rmw: 8, shuttle: 9 }, || {
        let calls = WithData::new();
        let ticket = calls.calls.begin().expect("a slot is free");
        let other = beside(&calls, ticket.id(), |calls, id| {
            calls.touch();
            calls.calls.complete(id)
        });
        thread::yield_now();
        if ticket.is_answered() {
            calls.touch();
        }
        assert_eq!(other(), Ok(()));
        assert!(ticket.finish());
    });
}

#[test]
fn who_finishes_sees_what_came_with_the_answer() {
    explore(Model { threads: 2, loom: 6, rmw: 4, shuttle: 22 }, || {
        let calls = WithData::new();
        let ticket = calls.calls.begin().expect("a slot is free");
        let id = ticket.id();
        let other = beside(&calls, id, |calls, id| {
            calls.touch();
            calls.calls.complete(id)
        });
        let answered = ticket.finish();
        if answered {
            calls.touch();
        }
        assert_eq!(other(), if answered { Ok(()) } else { Err(CompleteError::Stale(id)) });
        assert_eq!(calls.calls.outstanding(), 0);
    });
}

#[test]
fn a_late_answer_hands_the_slot_on() {
    explore(Model { threads: 2, loom: 46, rmw: 48, shuttle: 63000 }, || {
        let calls = WithData::new();
        let ticket = calls.calls.begin().expect("a slot is free");
        let id = ticket.id();
        let other = beside(&calls, id, |calls, id| {
            let answer = calls.calls.complete(id);
            // Free only after the time-out, if that came first; otherwise the ticket still has it.
            if let Ok(next) = calls.calls.begin() {
                assert_ne!(next.id(), id);
                calls.touch();
            }
            answer
        });
        calls.touch();
        match ticket.time_out() {
            Ok(_) => assert_eq!(other(), Err(CompleteError::Stale(id))),
            Err(ticket) => {
                assert!(ticket.is_answered());
                calls.touch();
                drop(ticket);
                assert_eq!(other(), Ok(()));
            }
        }
        assert_eq!(calls.calls.outstanding(), 0);
    });
}

#[test]
fn a_late_answer_and_a_forget_free_the_slot_once() {
    explore(Model { threads: 2, loom: 190, rmw: 59, shuttle: 63000 }, || {
        let calls = WithData::new();
        let id = calls.calls.begin().expect("a slot is free").time_out().expect("no answer");
        let other = beside(&calls, id, |calls, id| {
            let late = calls.calls.complete(id);
            (late, calls.calls.begin().map(|ticket| ticket.id()).ok())
        });
        let forgotten = calls.calls.forget(id);
        let (late, next) = other();
        assert!(late == Err(CompleteError::Stale(id)), "{late:?}, {forgotten:?}");
        assert!(next.is_none_or(|next| next != id));
        assert_eq!(calls.calls.outstanding(), 0);
    });
}

#[test]
fn of_two_answers_one_is_a_duplicate() {
    explore(Model { threads: 2, loom: 6, rmw: 9, shuttle: 9 }, || {
        let calls = WithData::new();
        let ticket = calls.calls.begin().expect("a slot is free");
        let id = ticket.id();
        let other = beside(&calls, id, |calls, id| calls.calls.complete(id));
        let mine = calls.calls.complete(id);
        let others = other();
        assert!(mine.is_ok() != others.is_ok(), "{mine:?}, {others:?}");
        assert_eq!(mine.and(others), Err(CompleteError::Duplicate(id)));
        assert!(ticket.finish());
    });
}
