//! Faults reported of those who wait at other gates, condition variables and notifications, turned round: as `faults_gate.rs`.
#![cfg(not(any(jeton_loom, jeton_shuttle)))]

mod gate;
mod meddler;

use std::{
    cell::{Cell, RefCell},
    mem,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
    task::{Poll, Waker},
};

use gate::{Ending, INIT, Init, Queue, Running, STARTUP, Startup, Waiting, bomb, go_to, leak, poll, state, waker};
use jeton_core::gate::{Changed, Epoch, Gate, Reached, StateSet, WaitError};
use meddler::{Act, MEDDLE, WAKERS, meddler};

/// tarantool/tarantool#11709: a wait that never looked again at what had changed.
#[test]
fn a_wait_for_several_states_ends_in_each_of_them() {
    for end in [Running, Ending] {
        let gate = leak::<1>();
        let (woken, waker) = waker();
        let mut wait = gate.reached([Running, Ending]);
        assert!(poll(&mut wait, &waker).is_pending());
        go_to(gate, end);
        assert_eq!((woken.times(), state(poll(&mut wait, &waker))), (1, Some(end)));
    }
}

/// smol-rs/event-listener#138, #139: "nobody listens" was concluded from what was old. After the first waiter has gone the next one counts.
#[test]
fn who_waits_after_others_have_left_is_woken() {
    let gate = leak::<2>();
    let (first, second) = (waker(), waker());
    let mut wait = gate.reached(Startup);
    assert!(poll(&mut wait, &first.1).is_pending());
    drop(wait);
    go_to(gate, Startup);
    let mut wait = gate.reached(Running);
    assert!(poll(&mut wait, &second.1).is_pending());
    assert!(gate.try_transition(Startup, Running).is_ok());
    assert_eq!((first.0.times(), second.0.times()), (0, 1));
}

/// The slot's next waiter waits for another state than its last one.
#[test]
fn a_slot_has_the_states_of_its_waiter() {
    let gate = leak::<1>();
    let (first, second) = (waker(), waker());
    let mut wait = gate.reached(Running);
    assert!(poll(&mut wait, &first.1).is_pending());
    drop(wait);
    let mut wait = gate.reached(Ending);
    assert!(poll(&mut wait, &second.1).is_pending());
    go_to(gate, Running);
    assert_eq!((first.0.times(), second.0.times()), (0, 0));
    assert!(gate.try_transition(Running, Ending).is_ok());
    assert_eq!((first.0.times(), second.0.times()), (0, 1));
}

/// rust-lang/rust#133615, Amanieu/parking_lot#318: a herd that wakes for nothing.
#[test]
fn of_many_who_wait_only_those_are_woken_whose_state_has_come() {
    let gate = leak::<32>();
    let (herd, one, any) = (waker(), waker(), waker());
    let mut waits: Vec<_> = (0..30).map(|_| gate.reached(Waiting)).collect();
    waits.iter_mut().for_each(|wait| assert!(poll(wait, &herd.1).is_pending()));
    let (mut startup, mut changed) = (gate.reached(Startup), gate.changed(gate.snapshot().epoch));
    assert!(poll(&mut startup, &one.1).is_pending() && poll(&mut changed, &any.1).is_pending());
    go_to(gate, Ending);
    assert_eq!((herd.0.times(), one.0.times(), any.0.times()), (0, 1, 1));
    assert!(gate.try_transition(Ending, Waiting).is_ok());
    assert_eq!((herd.0.times(), one.0.times(), any.0.times()), (30, 1, 1));
}

/// embassy-rs/embassy#1446, #1490: a full table woke everybody, who then registered again; andymai/stackchan-kai#294: it had one place, and
/// the second task starved.
#[test]
fn a_full_table_refuses_and_disturbs_nobody() {
    let gate = leak::<2>();
    let (woken, waker) = waker();
    let mut waits = [gate.reached(Startup), gate.reached(Startup)];
    waits.iter_mut().for_each(|wait| assert!(poll(wait, &waker).is_pending()));
    let mut late = gate.reached(Startup);
    assert_eq!(poll(&mut late, &waker), Poll::Ready(Err(WaitError::Full)));
    assert_eq!((woken.times(), poll(&mut late, &waker)), (0, Poll::Ready(Err(WaitError::Full))));
    // What needs no place is answered nevertheless.
    assert_eq!(state(poll(&mut gate.reached(Init), &waker)), Some(Init));
    go_to(gate, Startup);
    assert_eq!(woken.times(), 2);
    drop(waits);
    assert!(poll(&mut gate.reached(Running), &waker).is_pending(), "there is a place again");
    assert_eq!(poll(&mut leak::<0>().reached(Running), &waker), Poll::Ready(Err(WaitError::Full)));
}

/// embassy-rs/embassy#4490: duplicates of one waker, each woken, and each registered again.
#[test]
fn a_task_that_polls_again_is_woken_once() {
    let gate = leak::<1>();
    let (woken, waker) = waker();
    let mut wait = gate.reached(Startup);
    for _ in 0..5 {
        assert!(poll(&mut wait, &waker).is_pending());
        assert_eq!(Arc::strong_count(&woken), 3, "one of them in the slot");
    }
    go_to(gate, Startup);
    assert_eq!((woken.times(), Arc::strong_count(&woken)), (1, 2));
}

/// embassy-rs/embassy#4598, #946: a waker that was replaced, or reset, was dropped and its task never heard of it.
#[test]
fn the_last_waker_is_the_one_that_is_woken() {
    let gate = leak::<1>();
    let (first, second) = (waker(), waker());
    let mut wait = gate.reached(Startup);
    assert!(poll(&mut wait, &first.1).is_pending() && poll(&mut wait, &second.1).is_pending());
    assert_eq!(Arc::strong_count(&first.0), 2, "the slot has let it go");
    go_to(gate, Startup);
    assert_eq!((first.0.times(), second.0.times()), (0, 1));
}

/// tokio-rs/tokio#3168, #2839: a spurious wake-up became a change.
#[test]
fn a_poll_without_a_change_is_no_change() {
    let gate = leak::<1>();
    let before = gate.snapshot().epoch;
    let mut wait = gate.changed(before);
    for _ in 0..3 {
        assert!(poll(&mut wait, Waker::noop()).is_pending());
    }
    assert_eq!(gate.changed_since(before), 0);
}

/// tokio-rs/tokio#4618, #3652: a notification went down with the waiter that it was given to.
#[test]
fn a_woken_waiter_that_is_dropped_takes_nothing_with_it() {
    let gate = leak::<2>();
    let (first, second) = (waker(), waker());
    let (mut dropped, mut kept) = (gate.reached(Startup), gate.reached(Startup));
    assert!(poll(&mut dropped, &first.1).is_pending() && poll(&mut kept, &second.1).is_pending());
    go_to(gate, Startup);
    drop(dropped);
    assert_eq!((second.0.times(), state(poll(&mut kept, &second.1))), (1, Some(Startup)));
}

/// llvm/llvm-project#46357, #77659, #79265, pytorch/pytorch#177884: the version was read after the test that it belongs to.
#[test]
fn a_change_between_the_look_and_the_wait_ends_the_wait_at_once() {
    let gate = leak::<1>();
    let seen = gate.snapshot();
    go_to(gate, Running);
    assert_eq!(state(poll(&mut gate.changed(seen.epoch), Waker::noop())), Some(Running));
}

/// smol-rs/event-listener#148, rust-lang/futures-rs#868: a lock around what is not one's own. Here a waker's functions use the gate that calls them.
#[test]
fn a_wakers_clone_wake_and_drop_may_use_the_gate() {
    let before = WAKERS.get();
    let uses: [fn(&'static Gate<Queue, 4>); 5] = [
        |gate| _ = gate.try_transition(gate.snapshot().state, Startup),
        |gate| _ = gate.close(),
        |gate| assert!(!matches!(poll(&mut gate.reached(Ending), Waker::noop()), Poll::Ready(Err(WaitError::Full)))),
        |gate| drop(gate.begin::<INIT, STARTUP>()),
        |gate| _ = (gate.check(), gate.snapshot(), gate.changed_since(gate.snapshot().epoch)),
    ];
    for which in 0..3 {
        for (number, used) in uses.into_iter().enumerate() {
            let gate = leak::<4>();
            let act: Act = Box::new(move || used(gate));
            MEDDLE.with_borrow_mut(|all| all[which] = Some(act));
            let waker = meddler();
            let (mut reached, mut changed) = (gate.reached(Startup), gate.changed(gate.snapshot().epoch));
            let answers = [poll(&mut reached, &waker).is_ready(), poll(&mut changed, &waker).is_ready()];
            // A clone that has closed it, or brought it to the state, is seen by the poll that it was part of.
            let (moved, closed) = (gate.snapshot().state == Startup, gate.is_closed());
            assert!(answers[0] || !(closed || moved), "clone {which}, use {number}");
            _ = gate.try_transition(Init, Startup);
            drop(reached);
            drop(changed);
            drop(waker);
            MEDDLE.with_borrow_mut(|all| *all = Default::default());
            assert_eq!(WAKERS.get(), before, "each waker is dropped once: function {which}, use {number}");
        }
    }
}

/// The waker is cloned while the slot is as it was.
#[test]
fn a_clone_that_panics_leaves_the_wait_as_it_was() {
    let gate = leak::<1>();
    let (first, second) = (waker(), waker());
    let mut wait = gate.reached(Startup);
    let fails = |wait: &mut Reached<'static, Queue, 1>| {
        MEDDLE.with_borrow_mut(|all| all[0] = Some(Box::new(|| panic!("a clone"))));
        assert!(catch_unwind(AssertUnwindSafe(|| poll(wait, &meddler()))).is_err());
    };
    fails(&mut wait);
    assert!(poll(&mut gate.reached(Startup), &second.1).is_pending(), "it has no slot");
    assert!(poll(&mut wait, &first.1).is_pending());
    fails(&mut wait);
    go_to(gate, Startup);
    assert_eq!((first.0.times(), state(poll(&mut wait, &first.1))), (1, Some(Startup)));
}

/// A wait that ends in its first poll, after it has taken a slot, has given it up: also while it is kept.
#[test]
fn a_wait_that_ends_in_its_first_poll_has_no_slot() {
    let gate = leak::<1>();
    MEDDLE.with_borrow_mut(|all| all[0] = Some(Box::new(|| _ = gate.try_transition(Init, Startup))));
    let mut kept = gate.reached(Startup);
    assert_eq!(state(poll(&mut kept, &meddler())), Some(Startup));
    assert!(poll(&mut gate.reached(Running), Waker::noop()).is_pending(), "there is a slot");
    drop(kept);
}

/// What a waker does when it is woken finds the slot free, if its owner has given it up.
#[test]
fn a_waker_may_give_its_own_wait_up_and_wait_again() {
    let gate = leak::<1>();
    let wait = Box::leak(Box::new(RefCell::new(Some(gate.reached(Startup)))));
    let answer = Box::leak(Box::new(Cell::new(None)));
    let act: Act = Box::new(|| {
        *wait.borrow_mut() = None;
        answer.set(Some(poll(&mut gate.reached(Running), Waker::noop())));
    });
    let waker = meddler();
    assert!(poll(wait.borrow_mut().as_mut().expect("it waits"), &waker).is_pending());
    MEDDLE.with_borrow_mut(|all| all[1] = Some(act));
    go_to(gate, Startup);
    assert_eq!(answer.get(), Some(Poll::Pending));
}

#[test]
fn a_waker_that_panics_costs_the_others_nothing() {
    let gate = leak::<3>();
    let (woken, good) = waker();
    let mut waits = [gate.reached(Startup), gate.reached(Startup), gate.reached(Startup)];
    let wakers = [bomb(), good.clone(), good];
    for (wait, waker) in waits.iter_mut().zip(&wakers) {
        assert!(poll(wait, waker).is_pending());
    }
    assert!(catch_unwind(AssertUnwindSafe(|| gate.try_transition(Init, Startup))).is_err());
    assert_eq!((woken.times(), gate.snapshot().state), (2, Startup));
    assert!(waits.iter_mut().all(|wait| state(poll(wait, Waker::noop())) == Some(Startup)));
}

/// smol-rs/event-listener#42, rtic-rs/rtic#1117: no allocation, and no word wider than 32 bits that is changed in one step.
#[test]
fn a_gate_without_waiters_is_a_few_words_and_a_wait_is_small() {
    assert!(mem::size_of::<Gate<Queue, 0>>() <= 2 * mem::size_of::<usize>(), "the word, and the table's");
    assert!(mem::size_of::<Reached<'static, Queue, 32>>() <= 4 * mem::size_of::<usize>());
    static GATE: Gate<Queue, 2> = Gate::new();
    assert_eq!(GATE.snapshot().state, Init);
    fn shared<T: Send + Sync>() {}
    shared::<Gate<Queue, 2>>();
    shared::<Reached<'static, Queue, 2>>();
    shared::<Changed<'static, Queue, 2>>();
    shared::<Epoch>();
    shared::<StateSet<Queue>>();
}

#[test]
fn a_forgotten_wait_strands_its_slot_and_nothing_else() {
    let gate = leak::<2>();
    let (woken, waker) = waker();
    let mut wait = gate.reached(Startup);
    assert!(poll(&mut wait, &waker).is_pending());
    mem::forget(wait);
    let mut other = gate.reached(Startup);
    assert!(poll(&mut other, &waker).is_pending());
    assert_eq!(poll(&mut gate.reached(Running), &waker), Poll::Ready(Err(WaitError::Full)));
    go_to(gate, Startup);
    assert_eq!(woken.times(), 2);
}

#[test]
fn a_gate_that_is_dropped_drops_what_was_forgotten_in_it() {
    let (woken, waker) = waker();
    let gate = Gate::<Queue, 1>::new();
    let mut wait = gate.reached(Running);
    assert!(poll(&mut wait, &waker).is_pending());
    mem::forget(wait);
    drop(gate);
    assert_eq!((Arc::strong_count(&woken), woken.times()), (2, 0));
}

/// A wait that has ended can be polled again, and begins anew.
#[test]
fn a_wait_that_has_ended_can_be_used_again() {
    let gate = leak::<1>();
    let (woken, waker) = waker();
    let mut wait = gate.reached(Startup);
    assert!(poll(&mut wait, &waker).is_pending());
    go_to(gate, Startup);
    assert_eq!(state(poll(&mut wait, &waker)), Some(Startup));
    assert!(gate.try_transition(Startup, Waiting).is_ok());
    assert!(poll(&mut wait, &waker).is_pending());
    assert!(gate.try_transition(Waiting, Startup).is_ok());
    assert_eq!((woken.times(), state(poll(&mut wait, &waker))), (2, Some(Startup)));
}

/// A state that came and went before the task looked is no end of a wait for it; it waits on, with a slot.
#[test]
fn a_state_that_has_gone_again_is_waited_for_once_more() {
    let gate = leak::<1>();
    let (woken, waker) = waker();
    let mut wait = gate.reached(Running);
    assert!(poll(&mut wait, &waker).is_pending());
    go_to(gate, Waiting);
    assert_eq!(woken.times(), 1);
    assert!(poll(&mut wait, &waker).is_pending());
    assert!(gate.try_transition(Waiting, Startup).and_then(|_| gate.try_transition(Startup, Running)).is_ok());
    assert_eq!((woken.times(), state(poll(&mut wait, &waker))), (2, Some(Running)));
}
