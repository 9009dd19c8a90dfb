//! Faults reported of other gates, condition variables and notifications, turned round: each test is named for what must hold. The numbers are
//! those of their reports.
#![cfg(not(any(jeton_loom, jeton_shuttle)))]
#![allow(clippy::disallowed_types, reason = "what wakers count is outside of what is tested")]

mod meddler;

use std::{
    mem,
    panic::{AssertUnwindSafe, catch_unwind},
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering::Relaxed},
    },
    task::{Context, Poll, Wake, Waker},
};

use jeton_core::gate::{Changed, Epoch, Gate, Moment, Reached, StateSet, TransitionError, WaitError, states};
use meddler::{Act, MEDDLE, WAKERS, meddler};

states! {
    /// The life of a queue whose instance is now a leader and now a follower.
    enum Queue: open Running {
        Init -> [Startup], abort Waiting;
        Startup -> [Running], abort Waiting;
        Running -> [Ending], abort Ending;
        Ending -> [Waiting], abort Waiting;
        Waiting -> [Startup], abort Startup;
    }
}

use Queue::{Ending, Init, Running, Startup, Waiting};

const INIT: u8 = Init as u8;
const STARTUP: u8 = Startup as u8;
const RUNNING: u8 = Running as u8;
const ENDING: u8 = Ending as u8;
const WAITING: u8 = Waiting as u8;

/// What is borrowed for ever.
fn leak<const N: usize>() -> &'static Gate<Queue, N> {
    Box::leak(Box::new(Gate::new()))
}

/// Goes all the way to that state, which is not the first one.
fn go_to<const N: usize>(gate: &Gate<Queue, N>, state: Queue) {
    for (from, to) in [(Init, Startup), (Startup, Running), (Running, Ending), (Ending, Waiting)] {
        assert!(gate.try_transition(from, to).is_ok());
        if to == state {
            return;
        }
    }
    unreachable!("the road comes to every state")
}

#[derive(Default)]
struct Woken(AtomicU32);

impl Woken {
    fn times(&self) -> u32 {
        self.0.load(Relaxed)
    }
}

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Relaxed);
    }
}

fn waker() -> (Arc<Woken>, Waker) {
    let woken = Arc::new(Woken::default());
    (woken.clone(), woken.into())
}

fn poll<F: Future + Unpin>(future: &mut F, waker: &Waker) -> Poll<F::Output> {
    Pin::new(future).poll(&mut Context::from_waker(waker))
}

/// The state that a wait has ended in.
fn state(answer: Poll<Result<Moment<Queue>, WaitError>>) -> Option<Queue> {
    match answer {
        Poll::Ready(Ok(moment)) => Some(moment.state),
        _ => None,
    }
}

/// tarantool/queue, measured on #192 and later: of 100 fast changes to read-only and back, none was seen.
#[test]
fn of_a_hundred_fast_flips_none_is_missed() {
    let gate = leak::<1>();
    go_to(gate, Running);
    let before = gate.snapshot();
    let (woken, waker) = waker();
    let mut wait = gate.changed(before.epoch);
    assert!(poll(&mut wait, &waker).is_pending());
    for _ in 0..100 {
        for (from, to) in [(Running, Ending), (Ending, Waiting), (Waiting, Startup), (Startup, Running)] {
            assert!(gate.try_transition(from, to).is_ok());
        }
    }
    assert_eq!((gate.snapshot().state, gate.changed_since(before.epoch)), (before.state, 400));
    // Once is enough: whoever is woken asks how many there were.
    assert_eq!((woken.times(), state(poll(&mut wait, &waker))), (1, Some(Running)));
}

/// tarantool/queue#183: a wait of a millisecond at a time, in a loop. Here nothing wakes a task but what it waits for.
#[test]
fn an_idle_wait_is_not_woken() {
    let gate = leak::<2>();
    let (woken, waker) = waker();
    let mut waits = (gate.reached(Running), gate.changed(gate.snapshot().epoch));
    assert!(poll(&mut waits.0, &waker).is_pending() && poll(&mut waits.1, &waker).is_pending());
    // What is no transition.
    assert_eq!(gate.try_transition(Running, Ending), Err(TransitionError::Other(Init)));
    assert_eq!(gate.try_transition(Init, Running), Err(TransitionError::NoEdge));
    assert!(!gate.check() && !gate.is_closed());
    assert_eq!((woken.times(), gate.snapshot().epoch.get()), (0, 0));
}

/// tarantool/queue#226: the mode changed on a way that told nobody.
#[test]
fn every_way_to_change_the_state_wakes() {
    type Way = fn(&'static Gate<Queue, 1>);
    let ways: [(Way, Queue); 5] = [
        (|gate| _ = gate.try_transition(Init, Startup), Startup),
        (|gate| _ = gate.transition::<INIT, STARTUP>(), Startup),
        (|gate| mem::forget(gate.begin::<INIT, STARTUP>()), Startup),
        (|gate| _ = gate.begin::<INIT, STARTUP>().and_then(|begun| begun.commit::<RUNNING>()), Running),
        (|gate| drop(gate.begin::<INIT, STARTUP>()), Waiting),
    ];
    for (at, (way, end)) in ways.into_iter().enumerate() {
        for by_state in [false, true] {
            let gate = leak::<1>();
            let (woken, waker) = waker();
            let mut reached = gate.reached(end);
            let mut changed = gate.changed(gate.snapshot().epoch);
            let pending = if by_state { poll(&mut reached, &waker) } else { poll(&mut changed, &waker) };
            assert!(pending.is_pending());
            way(gate);
            assert_eq!(woken.times(), 1, "way {at}");
            let answer = if by_state { poll(&mut reached, &waker) } else { poll(&mut changed, &waker) };
            assert_eq!(state(answer), Some(end), "way {at}");
        }
    }
}

/// tarantool/queue#224, and an operation that stayed blocked for the whole of its time-out when the queue was closed.
#[test]
fn the_closing_wakes_everybody_once_with_an_error_and_is_for_ever() {
    let gate = leak::<2>();
    let (woken, waker) = waker();
    let mut waits = (gate.reached(Running), gate.changed(gate.snapshot().epoch));
    assert!(poll(&mut waits.0, &waker).is_pending() && poll(&mut waits.1, &waker).is_pending());
    assert!(gate.close() && !gate.close());
    assert_eq!(woken.times(), 2);
    assert_eq!(poll(&mut waits.0, &waker), Poll::Ready(Err(WaitError::Closed)));
    assert_eq!(poll(&mut waits.1, &waker), Poll::Ready(Err(WaitError::Closed)));
    assert_eq!(poll(&mut gate.reached(Init), &waker), Poll::Ready(Err(WaitError::Closed)), "though it is in that state");
    assert_eq!(gate.try_transition(Init, Startup), Err(TransitionError::Closed));
    assert_eq!(gate.transition::<INIT, STARTUP>(), Err(TransitionError::Closed));
    assert_eq!(gate.begin::<INIT, STARTUP>().err(), Some(TransitionError::Closed));
    assert_eq!((gate.snapshot().state, gate.snapshot().epoch.get(), woken.times()), (Init, 1, 2));
}

/// Whoever waits for no state waits for the end.
#[test]
fn a_wait_for_no_state_ends_with_the_closing() {
    let gate = leak::<1>();
    let (woken, waker) = waker();
    let mut wait = gate.reached(StateSet::none());
    assert!(poll(&mut wait, &waker).is_pending());
    go_to(gate, Waiting);
    assert_eq!((woken.times(), gate.close(), woken.times()), (0, true, 1));
    assert_eq!(poll(&mut wait, &waker), Poll::Ready(Err(WaitError::Closed)));
}

/// An open gate that is closed lets nobody through.
#[test]
fn the_check_fails_in_every_state_but_the_open_one_and_once_it_is_closed() {
    let gate = leak::<0>();
    assert!(!gate.check());
    go_to(gate, Startup);
    assert!(!gate.check());
    assert!(gate.try_transition(Startup, Running).is_ok() && gate.check());
    assert!(gate.close() && !gate.check());
    let gate = leak::<0>();
    go_to(gate, Ending);
    assert!(!gate.check());
}

/// tarantool/queue#262, #263: the step out of ENDING hung on a dead peer, and the machine with it.
#[test]
fn a_transition_that_is_given_up_takes_the_abort_edge_also_when_its_work_panics() {
    let gate = leak::<1>();
    go_to(gate, Running);
    let ending = gate.begin::<RUNNING, ENDING>().expect("it is running");
    // A deadline is the caller's: here it has passed.
    drop(ending);
    assert_eq!(gate.snapshot().state, Waiting);
    let stopped = catch_unwind(AssertUnwindSafe(|| {
        let _starting = gate.begin::<WAITING, STARTUP>().expect("it waits");
        panic!("the tube does not start");
    }));
    assert!(stopped.is_err());
    assert_eq!((gate.snapshot().state, gate.snapshot().epoch.get()), (Waiting, 6));
}

#[test]
fn a_transition_that_is_forgotten_wedges_nobody() {
    let gate = leak::<1>();
    mem::forget(gate.begin::<INIT, STARTUP>());
    assert_eq!(gate.snapshot().state, Startup);
    assert!(gate.try_transition(Startup, Waiting).is_ok(), "the abort edge is an edge for everybody");
}

/// Of two watchdogs one has aborted a transition: the other one, and the one who has begun it, must not undo what came after.
#[test]
fn a_transition_that_was_ended_by_others_does_nothing_more() {
    for commits in [false, true] {
        let gate = leak::<1>();
        go_to(gate, Ending);
        let begun =
            gate.try_transition(Ending, Waiting).and_then(|_| gate.begin::<WAITING, STARTUP>()).expect("nobody else is here");
        // Somebody else goes all the way round, to the same state.
        for (from, to) in [(Startup, Running), (Running, Ending), (Ending, Waiting), (Waiting, Startup)] {
            assert!(gate.try_transition(from, to).is_ok());
        }
        let before = gate.snapshot();
        if commits {
            assert_eq!(begun.commit::<RUNNING>(), Err(TransitionError::Other(Startup)));
        } else {
            drop(begun);
        }
        assert_eq!(gate.snapshot(), before);
    }
    let gate = leak::<1>();
    let begun = gate.begin::<INIT, STARTUP>().expect("nobody else is here");
    assert!(gate.close());
    assert_eq!(begun.commit::<RUNNING>(), Err(TransitionError::Closed));
    assert_eq!((gate.snapshot().state, gate.snapshot().epoch.get()), (Startup, 2));
}

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

#[test]
fn a_waker_that_panics_costs_the_others_nothing() {
    struct Bomb;
    impl Wake for Bomb {
        fn wake(self: Arc<Self>) {
            panic!("a waker");
        }
    }
    let gate = leak::<3>();
    let (woken, good) = waker();
    let mut waits = [gate.reached(Startup), gate.reached(Startup), gate.reached(Startup)];
    let wakers = [Waker::from(Arc::new(Bomb)), good.clone(), good];
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
