//! Tasks that wait for the std extension's gate, under every interleaving: each is woken, or sees what it waits for, and leaves its slot.
#![cfg(any(jeton_loom, jeton_shuttle))]

mod cancel_std;
mod gate_std;

use cancel_std::{Probe, beside, room, std_ext::cancel, waker};
use gate_std::{
    Mode,
    std_ext::gate::Gate,
    system::{blocking, gate, go, poll, state, three, two, wait_word},
};
use jeton_models::explore::explore;

#[test]
fn closing_wakes_a_task() {
    explore(two(7, 10, 50), || {
        let (gate, (woken, waker)) = (gate(), waker());
        let closer = gate.clone();
        let other = beside(move || closer.close());
        let mut future = gate.reached(Mode::One);
        let pending = !poll(&mut future, &waker);
        assert!(other());
        assert!(!pending || woken.times() == 1);
        assert!(poll(&mut future, &waker));
    });
}

#[test]
fn a_task_is_woken_or_sees_the_transition() {
    explore(two(7, 10, 50), || {
        let (gate, probe, (woken, waker)) = (gate(), Probe::new(), waker());
        let (setter, before) = (gate.clone(), probe.clone());
        let other = beside(move || {
            before.touch();
            go(&setter, Mode::Zero, Mode::One);
        });
        let mut future = gate.reached(Mode::One);
        let pending = !poll(&mut future, &waker);
        if !pending {
            probe.touch();
        }
        other();
        assert!(!pending || woken.times() == 1);
        assert!(poll(&mut future, &waker));
        drop((future, waker));
        assert_eq!(std::sync::Arc::strong_count(&woken), 1);
    });
}

#[test]
fn the_last_waker_of_a_task_is_woken() {
    explore(two(56, 100, 21_000), || {
        let gate = gate();
        let ((_, one), (second, two)) = (waker(), waker());
        let mut future = gate.reached(Mode::One);
        assert!(!poll(&mut future, &one));
        let setter = gate.clone();
        let other = beside(move || go(&setter, Mode::Zero, Mode::One));
        let pending = !poll(&mut future, &two);
        other();
        assert!(!pending || second.times() == 1);
        assert!(poll(&mut future, &two));
        drop((future, two));
        assert_eq!(std::sync::Arc::strong_count(&second), 1);
    });
}

#[test]
fn a_task_polled_again_between_two_transitions_is_woken_for_the_second() {
    explore(two(340, 240, 70_000), || {
        // Leaked, so that its future may go to another thread: one that knows nothing of the transitions.
        let gate: &'static Gate<Mode> = Box::leak(Box::new(Gate::new()));
        let ((_, one), (woken, two)) = (waker(), waker());
        let mut future = gate.reached([Mode::One, Mode::Three]);
        assert!(!poll(&mut future, &one));
        let other = beside(move || {
            let pending = !poll(&mut future, &two);
            (pending, future, two)
        });
        go(gate, Mode::Zero, Mode::One);
        go(gate, Mode::One, Mode::Two);
        go(gate, Mode::Two, Mode::Three);
        let (pending, mut future, two) = other();
        assert!(!pending || woken.times() > 0, "not woken since the poll");
        assert!(poll(&mut future, &two));
    });
}

#[test]
fn a_future_dropped_beside_a_transition_leaves_nothing_behind() {
    explore(two(100, 160, 11_000), || {
        let (gate, (woken, waker)) = (gate(), waker());
        let mut future = gate.reached(Mode::One);
        assert!(!poll(&mut future, &waker));
        let setter = gate.clone();
        let other = beside(move || go(&setter, Mode::Zero, Mode::One));
        drop(future);
        // The slot may be another one's by now.
        let ((second, other_waker), mut next) = (self::waker(), gate.reached(Mode::Two));
        assert!(!poll(&mut next, &other_waker));
        other();
        assert_eq!(second.times(), 0);
        go(&gate, Mode::One, Mode::Two);
        assert_eq!(second.times(), 1);
        drop((waker, next, other_waker));
        assert_eq!((std::sync::Arc::strong_count(&woken), std::sync::Arc::strong_count(&second)), (1, 1));
    });
}

#[test]
fn a_slot_goes_from_one_task_to_another() {
    explore(two(600, 690, 70_000), || {
        let gate = gate();
        let tasks = [gate.clone(), gate.clone()];
        let mut others = tasks.map(|gate| {
            move || {
                let (woken, waker) = waker();
                for mode in [Mode::One, Mode::Two] {
                    let mut future = gate.reached(mode);
                    assert!(!poll(&mut future, &waker));
                }
                assert_eq!(woken.times(), 0);
            }
        });
        let [one, two] = &mut others;
        let one = beside(one.clone());
        two();
        one();
    });
}

#[test]
fn tasks_that_need_a_new_block_are_all_woken() {
    explore(two(41, 120, 70_000), || {
        let (gate, (woken, waker)) = (gate(), waker());
        let mut first = [gate.reached(Mode::One), gate.reached(Mode::One)];
        first.iter_mut().for_each(|future| assert!(!poll(future, &waker)));
        let setter = gate.clone();
        let other = beside(move || go(&setter, Mode::Zero, Mode::One));
        let mut late = gate.reached(Mode::One);
        let pending = !poll(&mut late, &waker);
        other();
        // A task that sees the transition itself may have been in its slot already.
        assert!((2 + u32::from(pending)..=3).contains(&woken.times()));
    });
}

#[test]
fn two_tasks_that_need_the_same_new_block_both_get_a_slot() {
    explore(three(1100, 1500, 20_000), || {
        let gate = gate();
        let tasks = [gate.clone(), gate.clone()];
        let others = tasks.map(|gate| {
            beside(move || {
                let (woken, waker) = waker();
                let mut future = gate.reached(Mode::One);
                let pending = !poll(&mut future, &waker);
                (pending, woken, std::mem::ManuallyDrop::new(waker))
            })
        });
        go(&gate, Mode::Zero, Mode::One);
        others.into_iter().for_each(|other| {
            // Dropped after its poll, woken or not; once at most.
            let (_, woken, _) = other();
            assert!(woken.times() <= 1);
        });
    });
}

#[test]
fn a_thread_and_a_task_are_both_woken() {
    explore(three(110, 230, 20_000), || {
        let gate = gate();
        let (sleeper, setter) = (gate.clone(), gate.clone());
        let sleeper = beside(move || state(sleeper.wait_for(Mode::One, None, None)));
        let (woken, waker) = waker();
        let mut future = gate.reached([Mode::One, Mode::Two]);
        let pending = !poll(&mut future, &waker);
        let other = beside(move || go(&setter, Mode::Zero, Mode::One));
        other();
        assert_eq!(sleeper(), Some(Mode::One));
        assert!(pending && woken.times() == 1);
    });
}
