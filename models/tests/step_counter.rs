//! Step mode: an interrupt handler runs to its end between two steps of what it interrupts, which waits meanwhile.
//!
//! That is neither a thread nor a call after the other: the handler must not wait for what it has interrupted. Every operation is
//! interrupted by every other one at each of its steps; the results must be those of some order of the calls, and the handler's own
//! must be final. The core is compiled here a second time, with words that call a hook before each step (build.rs).
#![cfg(jeton_step)]
#![allow(missing_docs, unused_imports, dead_code, reason = "the core's sources, of which only a part is used")]

#[path = "../../core/src"]
mod core_sources {
    pub mod counter;
    pub mod sync;
    pub mod util;
}
use core_sources::{counter, sync, util};

use std::{cell::RefCell, panic, rc::Rc};

use counter::{Exhaust, IdSpace, SharedIds, Space, StripedCounter};
use jeton_models::{
    linearizability::{Entry, Order, explain},
    spec::counter::{End, Ids, NextId},
};
use sync::{AtomicU32, model::interrupted};

/// The shim of the core that the specification is made with is another one than the one under test.
enum Small {}
impl Space for Small {
    type Word = u32;
    const SPACE: IdSpace = IdSpace::bits(3);
}
const SMALL: jeton_core::counter::IdSpace = jeton_core::counter::IdSpace::bits(3);

/// Interrupts `operation` with `interrupt` at every step in turn, each time on a new `subject`, and lets `check` judge both results.
/// Returns the number of steps.
fn at_every_step<S: 'static, A, B: 'static>(
    subject: impl Fn() -> S,
    operation: impl Fn(&S) -> A,
    interrupt: impl Fn(&S) -> B + Copy + 'static,
    check: impl Fn(&S, A, B),
) -> usize {
    for step in 0.. {
        let (subject, of_interrupt) = (Rc::new(subject()), Rc::new(RefCell::new(None)));
        let (inner_subject, inner_result) = (subject.clone(), of_interrupt.clone());
        let mut of_operation = None;
        let run_interrupt = move || *inner_result.borrow_mut() = Some(interrupt(&inner_subject));
        let happened = interrupted(step, || of_operation = Some(operation(&subject)), run_interrupt);
        if !happened {
            return step;
        }
        let of_interrupt = of_interrupt.borrow_mut().take().expect("the interrupt has run");
        check(&subject, of_operation.expect("the operation has run"), of_interrupt);
    }
    unreachable!("an operation has an end")
}

type Call<S> = fn(&S) -> Vec<Option<u64>>;

/// The calls of both, the interrupt's within the operation's, must have an order.
fn check_order(spec: &Ids, outer: &[Option<u64>], inner: &[Option<u64>]) {
    let entry = |thread, answer: &Option<u64>, begin, end| Entry { thread, call: NextId, answer: *answer, begin, end };
    // The operation's calls come one after another; the interrupt may have come within any of them.
    let fits = (0..outer.len()).any(|within| {
        let outer = outer.iter().enumerate().map(|(at, answer)| {
            let at = if at > within { at + 100 } else { at };
            entry(0, answer, 1000 * at, 1000 * at + if at == within { 999 } else { 1 })
        });
        let inner =
            inner.iter().enumerate().map(|(at, answer)| entry(1, answer, 1000 * within + 2 * at + 1, 1000 * within + 2 * at + 2));
        explain(spec, &outer.chain(inner).collect::<Vec<_>>(), Order::RealTime).is_some()
    });
    assert!(fits, "the operation got {outer:?}, the interrupt {inner:?}");
}

fn pairs<S: 'static>(subject: fn() -> S, calls: &[Call<S>], spec: &Ids) -> usize {
    let mut steps = 0;
    for operation in calls {
        for interrupt in calls {
            steps += at_every_step(subject, operation, *interrupt, |_, outer, inner| check_order(spec, &outer, &inner));
        }
    }
    steps
}

#[test]
fn exhausting_ids_can_be_interrupted_by_themselves_at_every_step() {
    type Subject = SharedIds<Small, Exhaust>;
    let subject = || Subject::starting_at(5).expect("an ID");
    let calls: [Call<Subject>; 2] =
        [|ids| vec![ids.try_next_id().ok().map(u64::from)], |ids| (0..4).map(|_| ids.try_next_id().ok().map(u64::from)).collect()];
    let spec = Ids::starting_at(SMALL, End::Exhaust { capacity: 8 }, 5, 5).expect("an ID");
    // One call takes two steps; four take seven, since the last is refused after one.
    assert_eq!(pairs(subject, &calls, &spec), 2 * 2 + 2 * 7);
}

#[test]
fn wrapping_ids_can_be_interrupted_by_themselves_at_every_step() {
    type Subject = SharedIds<Small>;
    let subject = || Subject::starting_at(6).expect("an ID");
    let calls: [Call<Subject>; 2] =
        [|ids| vec![Some(ids.next_id().into())], |ids| (0..4).map(|_| Some(ids.next_id().into())).collect()];
    let spec = Ids::starting_at(SMALL, End::Wrap, 6, 0).expect("an ID");
    assert_eq!(pairs(subject, &calls, &spec), 2 + 2 * 4);
}

/// More reserved values than IDs: two callers that each stepped over them by itself would go once round.
#[test]
fn wrapping_ids_over_reserved_values_can_be_interrupted_by_themselves_at_every_step() {
    #[derive(Debug)]
    enum Few {}
    impl Space for Few {
        type Word = u32;
        const SPACE: IdSpace = IdSpace::bits(4).reserve_below(11).reserve(13);
    }
    type Subject = SharedIds<Few>;
    let subject = || Subject::starting_at(15).expect("an ID");
    let calls: [Call<Subject>; 2] =
        [|ids| vec![Some(ids.next_id().into())], |ids| (0..3).map(|_| Some(ids.next_id().into())).collect()];
    // The test compiles the core a second time, and the specification knows the first.
    let space = jeton_core::counter::IdSpace::bits(4).reserve_below(11).reserve(13);
    let spec = Ids::starting_at(space, End::Wrap, 15, 0).expect("an ID");
    // One call takes one step; the second takes three, to the values 0, and on to 11.
    assert_eq!(pairs(subject, &calls, &spec), 2 + 2 * 5);
}

/// Leases: a handler with a lease of its own between the steps of another lease's refill and end.
#[test]
fn leases_can_be_interrupted_by_leases_and_calls_at_every_step() {
    type Subject = SharedIds<Small, Exhaust>;
    fn with_lease(ids: &Subject) -> Vec<u32> {
        let lease = ids.lease::<3>();
        (0..2).filter_map(|_| lease.try_next_id().ok()).collect()
    }
    fn calls(ids: &Subject) -> Vec<u32> {
        (0..2).filter_map(|_| ids.try_next_id().ok()).collect()
    }
    let operations: [fn(&Subject) -> Vec<u32>; 2] = [with_lease, calls];
    let mut steps = 0;
    for operation in operations {
        for interrupt in operations {
            steps += at_every_step(Subject::new, operation, interrupt, |ids, outer, inner| {
                let mut all = [outer, inner].concat();
                assert_eq!(8 - ids.remaining(), all.len() as u64 + ids.gaps(), "used {all:?}");
                all.sort_unstable();
                all.dedup();
                assert_eq!(all.len(), 4, "an ID twice");
            });
        }
    }
    assert!(steps >= 12, "{steps} steps");
}

/// Stripes: a handler that adds, claims, sums or drains between any two steps of each of these.
#[test]
fn striped_counters_can_be_interrupted_at_every_step() {
    type Subject = StripedCounter<u32, 1>;
    /// What it adds, and what it takes out.
    type Effect = (u32, u32);
    let operations: [fn(&Subject) -> Effect; 4] = [
        |counter| {
            match counter.claim() {
                Some(mine) => mine.add(2),
                None => counter.add(0, 2),
            }
            (2, 0)
        },
        |counter| {
            counter.add(0, 5);
            (5, 0)
        },
        |counter| (0, counter.drain()),
        |counter| {
            assert!([10, 12, 15, 0, 2, 5].contains(&counter.sum()), "a sum that the count never had: {}", counter.sum());
            (0, 0)
        },
    ];
    let subject = || {
        let counter = Subject::new();
        counter.claim().expect("free").add(10);
        counter
    };
    let mut steps = 0;
    for operation in operations {
        for interrupt in operations {
            steps += at_every_step(subject, operation, interrupt, |counter, outer, inner| {
                assert_eq!(10 + outer.0 + inner.0, outer.1 + inner.1 + counter.sum(), "added and taken: {outer:?} {inner:?}");
            });
        }
    }
    assert!(steps >= 4 * 12, "{steps} steps");
}

// ---- What step mode is for: mistakes that it must find. ----

/// The message of the panic that `f` ends with.
fn panic_of(f: impl FnOnce() + panic::UnwindSafe) -> String {
    let payload = panic::catch_unwind(f).expect_err("step mode must find this");
    payload
        .downcast_ref::<String>()
        .cloned()
        .or_else(|| payload.downcast_ref::<&str>().map(|text| (*text).to_owned()))
        .unwrap_or_default()
}

/// A spin lock is right between threads; a handler that spins for what it has interrupted never ends.
#[test]
fn a_handler_that_waits_for_what_it_interrupts_is_found() {
    fn locked_increment(words: &(AtomicU32, AtomicU32)) -> u32 {
        while words.0.swap(1, ord!("spin-1", Acquire)) == 1 {}
        let count = words.1.load(ord!("spin-2", Relaxed));
        words.1.store(count + 1, ord!("spin-3", Relaxed));
        words.0.store(0, ord!("spin-4", Release));
        count
    }
    let subject = || (AtomicU32::new(0), AtomicU32::new(0));
    let message = panic_of(move || {
        at_every_step(subject, locked_increment, locked_increment, |_, _, _| {});
    });
    assert_eq!(message, "the interrupt waits for the operation that it interrupted");
}

#[test]
fn a_lost_update_is_found() {
    fn increment(count: &AtomicU32) -> Vec<Option<u64>> {
        let before = count.load(ord!("lost-1", Relaxed));
        count.store(before + 1, ord!("lost-2", Relaxed));
        vec![Some(before.into())]
    }
    let spec = Ids::new(SMALL, End::Exhaust { capacity: 8 });
    let message = panic_of(move || {
        pairs(|| AtomicU32::new(0), &[increment], &spec);
    });
    assert_eq!(message, "the operation got [Some(0)], the interrupt [Some(0)]");
}
