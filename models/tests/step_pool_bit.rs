//! Step mode for `BitPool` and calls in flight: an interrupt handler runs to its end between two steps of what it interrupts.
//!
//! Every operation is interrupted by every other one at each of its steps; what both return must have an order, and afterwards no ID
//! is lost or hidden. The core is compiled here a second time (build.rs), with words of two bits.
#![cfg(jeton_step)]
#![allow(missing_docs, unused_imports, dead_code, reason = "the core's sources, of which only a part is used")]

#[path = "../../core/src"]
mod core_sources {
    pub mod pool;
    pub mod sync;
    pub mod util;
}
use core_sources::{pool, sync, util};
mod step;
#[path = "step/errors.rs"]
mod step_errors;

use std::{cell::RefCell, rc::Rc};

use jeton_models::{
    linearizability::{Entry, Order, explain},
    spec::pool::{Answer, Call, Choice, FreeIds},
};
use pool::{AllocError, BitPool, CompleteError, FreeError, InFlight, ReserveError, bit_pool_words};
use step::interrupt_at;
use step_errors::{alloc_error, free_error};
use sync::model::interrupted;

type Ids = BitPool<6, { bit_pool_words(6) }>;

/// The errors of the core that the specification is made with are other types.
fn make(ids: &Ids, call: Call) -> Answer {
    match call {
        Call::Alloc => Answer::Alloc(ids.alloc().map_err(alloc_error)),
        Call::Free(id) => Answer::Free(ids.free(id).map_err(free_error)),
        Call::Reserve(id) => Answer::Reserve(ids.reserve(id).map_err(|error| match error {
            ReserveError::OutOfRange(id) => jeton_core::pool::ReserveError::OutOfRange(id),
            ReserveError::Allocated(id) => jeton_core::pool::ReserveError::Allocated(id),
        })),
    }
}

/// A pool in which the IDs below `taken` are allocated, after `before`.
fn subject(taken: u32, before: &[Call]) -> (Rc<Ids>, FreeIds) {
    let (ids, mut spec) = (Rc::new(Ids::new()), FreeIds::new(Choice::Any, 0, 6));
    for id in 0..taken {
        ids.reserve(id).expect("free at first");
        spec.reserve(id).expect("free at first");
    }
    for &call in before {
        use jeton_models::linearizability::Spec;
        assert!(spec.accepts(&call, &make(&ids, call)));
    }
    (ids, spec)
}

/// After all of it, the smallest free ID comes first, each once.
fn check_rest(ids: &Ids) {
    let free: Vec<_> = ids.free_ids().collect();
    let next: Vec<_> = free.iter().map(|_| ids.alloc().ok()).collect();
    assert_eq!(next, free.into_iter().map(Some).collect::<Vec<_>>(), "the smallest first");
    assert_eq!(ids.alloc(), Err(AllocError::Exhausted));
}

#[test]
fn every_pair_of_calls_of_a_bit_pool_can_interrupt_each_other_at_every_step() {
    let calls = [Call::Alloc, Call::Free(0), Call::Free(1), Call::Free(4), Call::Reserve(5), Call::Reserve(2)];
    // Marks are there, or not; the last allocation of some is refused.
    let befores: [&[Call]; 3] = [&[], &[Call::Alloc, Call::Alloc], &[Call::Alloc, Call::Free(2), Call::Alloc]];
    let mut steps = 0;
    for taken in 0..=6 {
        for before in befores {
            for operation in calls {
                for first in calls {
                    for second in calls {
                        let mut at = 0;
                        loop {
                            let (ids, spec) = subject(taken, before);
                            let both = interrupt_at(
                                at,
                                &ids,
                                |ids| vec![(operation, make(ids, operation))],
                                move |ids| [first, second].map(|call| (call, make(ids, call))).to_vec(),
                            );
                            let Some((outer, inner)) = both else { break };
                            let entry = |thread, begin, end| {
                                move |(call, answer): (Call, Answer)| Entry { thread, call, answer, begin, end }
                            };
                            let history: Vec<_> =
                                [entry(0, 0, 9)(outer[0]), entry(1, 1, 2)(inner[0]), entry(1, 3, 4)(inner[1])].into();
                            assert!(explain(&spec, &history, Order::RealTime).is_some(), "{taken} {before:?}: {history:?}");
                            check_rest(&ids);
                            at += 1;
                            steps += 1;
                        }
                    }
                }
            }
        }
    }
    assert!(steps > 20_000, "{steps} steps");
}

type Calls = InFlight<2, { bit_pool_words(2) }>;

/// What a handler may do about a call, by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Did {
    Completed(Result<(), CompleteError>),
    Forgotten(bool),
    Begun(bool),
}

fn act(calls: &Calls, id: pool::CallId, which: usize) -> Did {
    match which {
        0 => Did::Completed(calls.complete(id)),
        1 => Did::Forgotten(calls.forget(id).is_ok()),
        _ => Did::Begun(calls.begin().map(|ticket| assert_ne!(ticket.id(), id)).is_ok()),
    }
}

#[test]
fn an_end_of_a_call_can_be_interrupted_by_answers_at_every_step() {
    let mut steps = 0;
    for ends_with_time_out in [false, true] {
        for which in 0..3 {
            for at in 0.. {
                let leaked: &'static Calls = Box::leak(Box::new(Calls::new()));
                let ticket = leaked.begin().expect("a slot is free");
                let id = ticket.id();
                let inner = Rc::new(RefCell::new(None));
                let result = inner.clone();
                let mut answered = None;
                let operation = || {
                    answered = Some(match ends_with_time_out {
                        true => ticket.time_out().map_or_else(|ticket| ticket.finish(), |_| false),
                        false => ticket.finish(),
                    });
                };
                if !interrupted(at, operation, move || *result.borrow_mut() = Some(act(leaked, id, which))) {
                    break;
                }
                let (answered, did) = (answered.expect("it has ended"), inner.borrow_mut().take().expect("the interrupt has run"));
                // Exactly one of the two knows of an answer only if the other one gave it.
                assert_eq!(answered, did == Did::Completed(Ok(())), "{did:?} at step {at}");
                _ = leaked.complete(id);
                assert_eq!(leaked.outstanding(), 0, "a slot is lost after {did:?} at step {at}");
                steps += 1;
            }
        }
    }
    assert!(steps >= 12, "{steps} steps");
}

#[test]
fn an_answer_can_be_interrupted_by_another_one_and_by_calls_at_every_step() {
    let mut steps = 0;
    for timed_out in [false, true] {
        for which in 0..3 {
            for at in 0.. {
                let calls: &'static Calls = Box::leak(Box::new(Calls::new()));
                let ticket = calls.begin().expect("a slot is free");
                let id = ticket.id();
                let ticket = if timed_out {
                    ticket.time_out().expect("no answer");
                    None
                } else {
                    Some(ticket)
                };
                let inner = Rc::new(RefCell::new(None));
                let result = inner.clone();
                let mut outer = None;
                let run = move || *result.borrow_mut() = Some(act(calls, id, which));
                if !interrupted(at, || outer = Some(calls.complete(id)), run) {
                    break;
                }
                let (outer, inner) = (outer.expect("it has ended"), inner.borrow_mut().take().expect("the interrupt has run"));
                match ticket {
                    // One answer is good, whichever came first.
                    Some(ticket) => {
                        let other = inner == Did::Completed(Ok(()));
                        assert!(outer.is_ok() != other, "{outer:?}, {inner:?}");
                        assert!(ticket.finish());
                    }
                    None => assert!(outer.is_err() && inner != Did::Completed(Ok(()))),
                }
                assert_eq!(calls.outstanding(), 0, "a slot is lost after {outer:?}, {inner:?} at step {at}");
                steps += 1;
            }
        }
    }
    assert!(steps >= 12, "{steps} steps");
}
