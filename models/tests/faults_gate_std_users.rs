//! Users' code within the std extension's gate: wakers that use it, panic, drop waits and take their time; nothing of the library stands in their way.
#![cfg(not(any(jeton_loom, jeton_shuttle)))]
#![allow(clippy::disallowed_types, reason = "what wakers count is outside of what is tested")]

mod cancel_heap;
mod meddler;

use std::{
    cell::RefCell,
    mem,
    panic::{AssertUnwindSafe, catch_unwind},
    rc::Rc,
    sync::{Arc, Barrier, atomic::Ordering::Relaxed},
    task::{Poll, Wake, Waker},
    thread,
    time::{Duration, Instant},
};

use cancel_heap::{LIVE, Woken, fail, many, poll, waker, without_leak};
use jeton::gate::{Changed, Closed, Gate, Moment, Reached, StateSet, Waited, states};
use meddler::{Act, MEDDLE, WAKERS, meddler};

states! {
    enum Mode: open Open {
        Shut -> [Open], abort Open;
        Open -> [Shut, Ended], abort Ended;
        Ended -> [];
    }
}

use Mode::{Ended, Open, Shut};

const SHUT: u8 = Shut as u8;
const OPEN: u8 = Open as u8;

fn times(woken: &Woken) -> u32 {
    woken.0.load(Relaxed)
}

fn leak() -> &'static Gate<Mode> {
    Box::leak(Box::new(Gate::new()))
}

fn state(answer: Poll<Result<Moment<Mode>, Closed>>) -> Option<Mode> {
    match answer {
        Poll::Ready(Ok(moment)) => Some(moment.state),
        _ => None,
    }
}

/// Whether it panics.
fn panics(work: impl FnOnce()) -> bool {
    catch_unwind(AssertUnwindSafe(work)).is_err()
}

/// smol-rs/event-listener#148, rust-lang/futures-rs#868: a lock around what is not one's own. Here a waker's functions use the gate that calls them.
#[test]
fn a_wakers_clone_wake_and_drop_may_use_the_gate() {
    let uses: [fn(&'static Gate<Mode>); 6] = [
        |gate| _ = gate.try_transition(gate.snapshot().state, Open),
        |gate| _ = gate.close(),
        |gate| _ = poll(&mut gate.reached(Ended), Waker::noop()),
        |gate| drop(gate.begin::<SHUT, OPEN>(None)),
        |gate| _ = (gate.check(), gate.snapshot(), gate.changed_since(gate.snapshot().epoch)),
        |gate| _ = gate.wait_for(Ended, Some(Instant::now() + Duration::from_millis(1)), None),
    ];
    let before = WAKERS.get();
    for which in 0..3 {
        for (number, used) in uses.into_iter().enumerate() {
            let gate = leak();
            let act: Act = Box::new(move || used(gate));
            MEDDLE.with_borrow_mut(|all| all[which] = Some(act));
            let waker = meddler();
            let (mut reached, mut changed) = (gate.reached(Open), gate.changed(gate.snapshot().epoch));
            let answers = [poll(&mut reached, &waker).is_ready(), poll(&mut changed, &waker).is_ready()];
            // A clone that has closed it, or brought it to the state, is seen by the poll that it was part of.
            let (moved, closed) = (gate.check(), gate.is_closed());
            assert!(answers[0] || !(closed || moved), "clone {which}, use {number}");
            _ = gate.try_transition(Shut, Open);
            drop((reached, changed, waker));
            MEDDLE.with_borrow_mut(|all| *all = Default::default());
            assert_eq!(WAKERS.get(), before, "each waker is dropped once: function {which}, use {number}");
        }
    }
}

/// A task that is run within its wake ends the waits that are being woken: its own, one before it and one behind it.
#[test]
fn a_wake_may_drop_and_poll_any_wait() {
    type Waits = Rc<RefCell<Vec<Option<Reached<'static, Mode>>>>>;
    for which in 0..3 {
        for polls in [false, true] {
            let gate = leak();
            let waits: Waits = Rc::default();
            let (woken, other) = waker();
            for number in 0..3 {
                let waker = if number == 1 { meddler() } else { other.clone() };
                let mut wait = gate.reached(Open);
                assert!(poll(&mut wait, &waker).is_pending());
                waits.borrow_mut().push(Some(wait));
            }
            let own = waits.clone();
            let act: Act = Box::new(move || {
                let mut taken = own.borrow_mut()[which].take();
                if let (true, Some(wait)) = (polls, &mut taken) {
                    assert_eq!(state(poll(wait, Waker::noop())), Some(Open));
                }
            });
            MEDDLE.with_borrow_mut(|all| all[1] = Some(act));
            gate.try_transition(Shut, Open).expect("an edge");
            assert_eq!(times(&woken), if which == 2 { 1 } else { 2 }, "who has gone is not woken");
            waits.borrow_mut().clear();
            drop(other);
            assert_eq!((Arc::strong_count(&woken), WAKERS.get()), (1, 0));
        }
    }
}

#[test]
fn a_waker_that_panics_costs_the_others_nothing() {
    let (gate, (woken, good)) = (leak(), waker());
    let mut waits: Vec<_> = (0..5).map(|_| gate.reached(Open)).collect();
    for (number, wait) in waits.iter_mut().enumerate() {
        let waker = if number % 2 == 0 { good.clone() } else { Waker::from(Arc::new(Bomb)) };
        assert!(poll(wait, &waker).is_pending());
    }
    thread::scope(|scope| {
        let thread = scope.spawn(|| gate.wait_for(Open, None, None));
        thread::sleep(Duration::from_millis(10));
        assert!(panics(|| _ = gate.try_transition(Shut, Open)));
        assert!(matches!(thread.join().expect("no panic"), Waited::Reached(_)));
    });
    assert_eq!((times(&woken), gate.snapshot().state), (3, Open));
    assert!(waits.iter_mut().all(|wait| state(poll(wait, Waker::noop())) == Some(Open)));
}

struct Bomb;

impl Wake for Bomb {
    fn wake(self: Arc<Self>) {
        fail();
    }
}

/// The abort edge is taken while the stack unwinds; a second panic then would be the end of the process.
#[test]
fn a_waker_that_panics_in_an_abort_is_no_second_panic() {
    let gate = leak();
    let mut wait = gate.reached(Ended);
    assert!(poll(&mut wait, &Waker::from(Arc::new(Bomb))).is_pending());
    let unwound = catch_unwind(AssertUnwindSafe(|| {
        let _begun = gate.begin::<SHUT, OPEN>(None).expect("an edge");
        panic!("in the middle");
    }));
    let payload = unwound.expect_err("it panics");
    assert_eq!((payload.downcast_ref::<&str>(), gate.snapshot().state), (Some(&"in the middle"), Ended));
}

/// tarantool/queue#262, #263: a machine wedged in the middle of a change. Here there is no guard yet when the first wakers are called.
#[test]
fn a_waker_that_panics_at_the_begin_of_a_transition_has_it_aborted() {
    let (gate, (woken, good)) = (leak(), waker());
    let (mut open, mut ended) = (gate.reached(Open), gate.reached(Ended));
    assert!(poll(&mut open, &Waker::from(Arc::new(Bomb))).is_pending() && poll(&mut ended, &good).is_pending());
    assert!(panics(|| _ = gate.begin::<SHUT, OPEN>(None).map(mem::forget)));
    assert_eq!((gate.snapshot().state, times(&woken), state(poll(&mut ended, &good))), (Ended, 1, Some(Ended)));
}

#[test]
fn a_clone_that_panics_leaves_the_wait_as_it_was() {
    let before = WAKERS.get();
    without_leak(|| {
        let (gate, (woken, first)) = (Gate::<Mode>::new(), waker());
        let mut wait = gate.reached(Open);
        for is_armed in [false, true] {
            let second = meddler();
            MEDDLE.with_borrow_mut(|all| all[0] = Some(Box::new(fail)));
            assert!(panics(|| _ = poll(&mut wait, &second)));
            if !is_armed {
                assert!(poll(&mut wait, &first).is_pending());
            }
        }
        gate.try_transition(Shut, Open).expect("an edge");
        assert_eq!((times(&woken), state(poll(&mut wait, &first))), (1, Some(Open)));
    });
    assert_eq!(WAKERS.get(), before);
}

#[test]
fn a_drop_that_panics_loses_neither_the_slot_nor_the_next_waker() {
    fn panics_once() {
        MEDDLE.with_borrow_mut(|all| all[2] = Some(Box::new(fail)));
    }
    let (gate, first, (woken, second)) = (Gate::<Mode>::new(), meddler(), waker());
    let mut wait = gate.reached(Open);
    // Replaced by another one.
    assert!(poll(&mut wait, &first).is_pending());
    panics_once();
    assert!(panics(|| _ = poll(&mut wait, &second)));
    gate.try_transition(Shut, Open).expect("an edge");
    assert_eq!((times(&woken), state(poll(&mut wait, &second))), (1, Some(Open)));
    gate.try_transition(Open, Shut).expect("an edge");
    // Given up.
    let before = LIVE.get();
    for _ in 0..many(100) {
        let mut wait = gate.reached(Open);
        assert!(poll(&mut wait, &first).is_pending());
        panics_once();
        assert!(panics(|| drop(wait)));
    }
    assert_eq!(LIVE.get(), before, "slots are lost");
}

#[test]
fn a_gate_that_is_dropped_drops_what_was_forgotten_in_it_also_if_that_panics() {
    without_leak(|| {
        let gate = Gate::<Mode>::new();
        let (woken, waker) = waker();
        for number in 0..130 {
            let mut wait = gate.reached(Open);
            let waker = if number % 64 == 1 { Waker::from(Arc::new(BombOnDrop)) } else { waker.clone() };
            assert!(poll(&mut wait, &waker).is_pending());
            mem::forget(wait);
        }
        assert!(panics(|| drop(gate)));
        assert_eq!((Arc::strong_count(&woken), times(&woken)), (2, 0));
    });
}

struct BombOnDrop;

impl Wake for BombOnDrop {
    fn wake(self: Arc<Self>) {}
}

impl Drop for BombOnDrop {
    fn drop(&mut self) {
        fail();
    }
}

#[test]
fn a_forgotten_wait_keeps_its_slot_and_nothing_else() {
    let (gate, (woken, waker)) = (leak(), waker());
    let (mut forgotten, mut kept) = (gate.reached(Open), gate.reached(Open));
    assert!(poll(&mut forgotten, &waker).is_pending() && poll(&mut kept, &waker).is_pending());
    mem::forget(forgotten);
    gate.try_transition(Shut, Open).expect("an edge");
    assert_eq!((times(&woken), state(poll(&mut kept, &waker))), (2, Some(Open)));
}

/// However many tasks have waited, a gate has the slots of those who did at the same time.
#[test]
fn slots_are_used_again_whatever_ends_a_wait() {
    let gate = Gate::<Mode>::new();
    let (_, waker) = waker();
    let round = |how: usize| {
        let mut waits: Vec<_> = (0..64).map(|_| gate.reached(Open)).collect();
        waits.iter_mut().for_each(|wait| assert!(poll(wait, &waker).is_pending()));
        if how == 0 {
            return;
        }
        gate.try_transition(Shut, Open).expect("an edge");
        if how == 1 {
            waits.iter_mut().for_each(|wait| assert!(poll(wait, &waker).is_ready()));
        }
        drop(waits);
        gate.try_transition(Open, Shut).expect("an edge");
    };
    round(0);
    let before = LIVE.get();
    (0..many(300)).for_each(|number| round(number % 3));
    assert_eq!(LIVE.get(), before);
}

/// embassy-rs/embassy#4598, #946: a waker that was replaced was dropped and its task never heard of it.
#[test]
fn a_wait_that_goes_from_one_task_to_another_wakes_the_last_one() {
    let gate = leak();
    let ((first, one), (second, two)) = (waker(), waker());
    let mut wait = gate.reached(Open);
    assert!(poll(&mut wait, &one).is_pending());
    for _ in 0..5 {
        assert!(poll(&mut wait, &two).is_pending());
        assert_eq!((Arc::strong_count(&first), Arc::strong_count(&second)), (2, 3), "one of the second in the slot");
    }
    let two = thread::scope(|scope| {
        scope.spawn(|| gate.try_transition(Shut, Open).expect("an edge"));
        two
    });
    assert_eq!((times(&first), times(&second), state(poll(&mut wait, &two))), (0, 1, Some(Open)));
    // It begins anew.
    gate.try_transition(Open, Shut).expect("an edge");
    assert!(poll(&mut wait, &one).is_pending());
    gate.try_transition(Shut, Open).expect("an edge");
    assert_eq!((times(&first), state(poll(&mut wait, &one))), (1, Some(Open)));
}

/// Everything goes on while a waker of another transition takes its time.
#[test]
fn nobody_waits_for_a_waker() {
    struct Slow(Barrier, Barrier);
    impl Wake for Slow {
        fn wake(self: Arc<Self>) {
            self.0.wait();
            self.1.wait();
        }
    }
    let (gate, slow) = (leak(), Arc::new(Slow(Barrier::new(2), Barrier::new(2))));
    let mut woken_slowly = gate.reached(Open);
    assert!(poll(&mut woken_slowly, &Waker::from(slow.clone())).is_pending());
    thread::scope(|scope| {
        scope.spawn(|| gate.try_transition(Shut, Open).expect("an edge"));
        slow.0.wait();
        assert!(gate.check());
        let (woken, waker) = waker();
        let (mut shut, mut changed) = (gate.reached(Shut), gate.changed(gate.snapshot().epoch));
        assert!(poll(&mut shut, &waker).is_pending() && poll(&mut changed, &waker).is_pending());
        drop(gate.reached(Shut));
        gate.try_transition(Open, Shut).expect("an edge");
        assert_eq!((times(&woken), state(poll(&mut shut, &waker))), (2, Some(Shut)));
        assert!(matches!(gate.wait_for(Shut, None, None), Waited::Reached(_)));
        // Also the wait that is being woken.
        assert!(poll(&mut woken_slowly, &waker).is_pending());
        drop(woken_slowly);
        assert!(gate.close());
        slow.1.wait();
    });
}

#[test]
fn who_waits_at_a_gate_without_edges_is_released_when_it_closes() {
    states! {
        enum Lone: open Only { Only -> []; }
    }
    let gate = Gate::<Lone>::new();
    let ((woken, waker), before) = (waker(), gate.snapshot().epoch);
    let (mut changed, mut never) = (gate.changed(before), gate.reached(StateSet::none()));
    assert!(poll(&mut changed, &waker).is_pending() && poll(&mut never, &waker).is_pending());
    thread::scope(|scope| {
        let waits =
            [scope.spawn(|| gate.wait_change(before, None, None)), scope.spawn(|| gate.wait_for(StateSet::none(), None, None))];
        thread::sleep(Duration::from_millis(10));
        assert!(gate.close());
        waits.into_iter().for_each(|wait| assert_eq!(wait.join().expect("no panic"), Waited::Closed));
    });
    assert_eq!(
        (times(&woken), poll(&mut changed, &waker), poll(&mut never, &waker)),
        (2, Poll::Ready(Err(Closed)), Poll::Ready(Err(Closed)))
    );
}

#[test]
fn waits_may_go_to_other_threads() {
    fn shared<T: Send + Sync + Unpin>() {}
    shared::<Gate<Mode>>();
    shared::<Reached<'static, Mode>>();
    shared::<Changed<'static, Mode>>();
}
