//! A gate and its waiters under every interleaving.
#![cfg(any(jeton_loom, jeton_shuttle))]

use std::{
    pin::Pin,
    sync::Mutex,
    task::{Context, Poll, Wake, Waker},
};

use jeton_core::{
    gate::{Gate, TransitionError, WaitError},
    sync::UnsafeCell,
};
use jeton_models::{
    explore::{Arc, Model, explore, thread},
    spec::gate::Mode::{self, Ending, Idle, Running},
};

/// A gate for `N` waiters, and plain memory beside it.
struct Subject<const N: usize> {
    gate: Gate<Mode, N>,
    data: UnsafeCell<u32>,
}

// SAFETY: each model says who may use the cell when; that the gate orders this is what it checks.
unsafe impl<const N: usize> Sync for Subject<N> {}
// SAFETY: as above.
unsafe impl<const N: usize> Send for Subject<N> {}

impl<const N: usize> Subject<N> {
    fn touch(&self) {
        // SAFETY: see above.
        self.data.with_mut(|data| unsafe { *data += 1 });
    }

    fn go(&self, from: Mode, to: Mode) {
        self.gate.try_transition(from, to).expect("it is there, and nobody else moves it");
    }
}

fn subject<const N: usize>() -> Arc<Subject<N>> {
    Arc::new(Subject { gate: Gate::new(), data: UnsafeCell::new(0) })
}

/// In a thread of its own.
fn beside<const N: usize, R: Send + 'static>(
    subject: &Arc<Subject<N>>,
    work: impl FnOnce(&Subject<N>) -> R + Send + 'static,
) -> impl FnOnce() -> R {
    let subject = subject.clone();
    let other = thread::spawn(move || work(&subject));
    move || other.join().expect("a thread of the model panicked")
}

/// A waker that counts, outside the model.
#[derive(Default)]
struct Woken(Mutex<u32>);

impl Woken {
    fn times(&self) -> u32 {
        *self.0.lock().expect("nobody panics")
    }
}

impl Wake for Woken {
    fn wake(self: std::sync::Arc<Self>) {
        *self.0.lock().expect("nobody panics") += 1;
    }
}

fn waker() -> (std::sync::Arc<Woken>, Waker) {
    let woken = std::sync::Arc::new(Woken::default());
    (woken.clone(), woken.into())
}

fn poll<F: Future + Unpin>(future: &mut F, waker: &Waker) -> Poll<F::Output> {
    Pin::new(future).poll(&mut Context::from_waker(waker))
}

#[test]
fn who_sees_a_state_sees_what_came_before() {
    explore(Model { threads: 2, loom: 4, rmw: 9, shuttle: 10 }, || {
        let subject = subject::<1>();
        let other = beside(&subject, |subject| {
            subject.touch();
            subject.go(Idle, Running);
        });
        thread::yield_now();
        if subject.gate.check() {
            subject.touch();
        }
        other();
    });
}

#[test]
fn who_is_refused_for_a_state_sees_what_came_before_it() {
    explore(Model { threads: 2, loom: 4, rmw: 9, shuttle: 10 }, || {
        let subject = subject::<1>();
        let other = beside(&subject, |subject| {
            subject.touch();
            subject.go(Idle, Running);
        });
        thread::yield_now();
        if subject.gate.try_transition(Ending, Idle) == Err(TransitionError::Other(Running)) {
            subject.touch();
        }
        other();
    });
}

#[test]
fn transitions_hand_memory_on() {
    explore(Model { threads: 2, loom: 4, rmw: 9, shuttle: 10 }, || {
        let subject = subject::<1>();
        let other = beside(&subject, |subject| {
            subject.touch();
            subject.go(Idle, Running);
        });
        thread::yield_now();
        if subject.gate.try_transition(Running, Ending).is_ok() {
            subject.touch();
        }
        other();
    });
}

#[test]
fn a_waiter_beside_a_transition_is_answered_or_woken() {
    explore(Model { threads: 2, loom: 7, rmw: 11, shuttle: 108 }, || {
        let subject = subject::<1>();
        let other = beside(&subject, |subject| {
            subject.touch();
            subject.go(Idle, Running);
        });
        let (woken, waker) = waker();
        let mut wait = subject.gate.reached(Running);
        let mut answer = poll(&mut wait, &waker);
        if answer.is_pending() {
            other();
            assert_eq!(woken.times(), 1);
            answer = poll(&mut wait, &waker);
        } else {
            subject.touch();
            other();
        }
        assert!(matches!(answer, Poll::Ready(Ok(moment)) if moment.state == Running && moment.epoch.get() == 1));
    });
}

#[test]
fn who_waits_for_another_state_is_woken_by_that_one_alone() {
    explore(Model { threads: 2, loom: 10, rmw: 18, shuttle: 1451 }, || {
        let subject = subject::<1>();
        let other = beside(&subject, |subject| {
            subject.go(Idle, Running);
            subject.go(Running, Ending);
        });
        let (woken, waker) = waker();
        let mut wait = subject.gate.reached(Ending);
        let pending = poll(&mut wait, &waker).is_pending();
        other();
        assert_eq!(woken.times(), u32::from(pending), "not by the first one");
        assert!(matches!(poll(&mut wait, &waker), Poll::Ready(Ok(moment)) if moment.state == Ending));
    });
}

#[test]
fn a_change_and_back_is_not_missed() {
    explore(Model { threads: 2, loom: 9, rmw: 17, shuttle: 1903 }, || {
        let subject = subject::<1>();
        let before = subject.gate.snapshot().epoch;
        let other = beside(&subject, |subject| {
            subject.go(Idle, Running);
            subject.go(Running, Idle);
        });
        let (woken, waker) = waker();
        let mut wait = subject.gate.changed(before);
        let pending = poll(&mut wait, &waker).is_pending();
        other();
        assert!(!pending || woken.times() == 1);
        assert_eq!(subject.gate.changed_since(before), 2);
        assert!(matches!(poll(&mut wait, &waker), Poll::Ready(Ok(moment)) if moment.state == Idle));
    });
}

#[test]
fn of_two_who_move_it_one_wins_and_the_waiter_is_woken() {
    explore(Model { threads: 3, loom: 191, rmw: 307, shuttle: 18000 }, || {
        let subject = subject::<1>();
        let others = [Running, Mode::Ended]
            .map(|to| beside(&subject, move |subject| u32::from(subject.gate.try_transition(Idle, to).is_ok())));
        let (woken, waker) = waker();
        let mut wait = subject.gate.reached([Running, Mode::Ended]);
        let pending = poll(&mut wait, &waker).is_pending();
        assert_eq!(others.map(|other| other()).iter().sum::<u32>(), 1);
        assert!(!pending || woken.times() == 1);
        assert!(poll(&mut wait, &waker).is_ready());
    });
}

#[test]
fn a_wait_dropped_beside_a_transition_leaves_its_slot() {
    explore(Model { threads: 2, loom: 19, rmw: 12, shuttle: 28 }, || {
        let subject = subject::<1>();
        let (woken, first) = waker();
        let mut wait = subject.gate.reached(Running);
        assert!(poll(&mut wait, &first).is_pending());
        let other = beside(&subject, |subject| subject.go(Idle, Running));
        drop(wait);
        other();
        assert!(woken.times() <= 1);
        let (_, second) = waker();
        assert!(poll(&mut subject.gate.reached(Ending), &second).is_pending(), "there is a slot");
        drop(first);
        assert_eq!(std::sync::Arc::strong_count(&woken), 1, "its waker is dropped");
    });
}

#[test]
fn a_slot_goes_from_one_wait_to_the_next_beside_a_transition() {
    explore(Model { threads: 2, loom: 1310, rmw: 376, shuttle: 63000 }, || {
        let subject = subject::<1>();
        let other = beside(&subject, |subject| {
            subject.go(Idle, Running);
            subject.go(Running, Ending);
        });
        let (_, first) = waker();
        let mut wait = subject.gate.reached(Running);
        _ = poll(&mut wait, &first);
        drop(wait);
        let (woken, second) = waker();
        let mut wait = subject.gate.reached(Ending);
        let answer = poll(&mut wait, &second);
        other();
        // The slot's end may still have been the first one's runner's.
        let refused = matches!(answer, Poll::Ready(Err(WaitError::Full)));
        assert!(refused || answer.is_ready() || woken.times() >= 1);
    });
}

#[test]
fn a_waker_that_changes_beside_a_transition_is_woken_or_answered() {
    explore(Model { threads: 2, loom: 57, rmw: 132, shuttle: 17047 }, || {
        let subject = subject::<2>();
        let (_, first) = waker();
        let mut wait = subject.gate.reached(Running);
        assert!(poll(&mut wait, &first).is_pending());
        let other = beside(&subject, |subject| subject.go(Idle, Running));
        let (woken, second) = waker();
        let answer = poll(&mut wait, &second);
        other();
        assert!(answer.is_ready() || woken.times() >= 1);
        assert!(poll(&mut wait, &second).is_ready());
    });
}

#[test]
fn who_is_polled_without_a_wake_up_is_still_woken() {
    explore(Model { threads: 2, loom: 44, rmw: 78, shuttle: 656 }, || {
        let subject = subject::<1>();
        let (woken, waker) = waker();
        let mut wait = subject.gate.reached(Ending);
        assert!(poll(&mut wait, &waker).is_pending());
        let other = beside(&subject, |subject| {
            subject.go(Idle, Running);
            subject.go(Running, Ending);
        });
        thread::yield_now();
        let pending = poll(&mut wait, &waker).is_pending();
        other();
        // Once more, if its waker was just being taken when it looked for a slot.
        assert!(!pending || woken.times() >= 1, "asleep for ever");
        assert!(poll(&mut wait, &waker).is_ready());
    });
}

/// Who has a place keeps it, while its last waker is just being taken: polled by the same task, and by another one.
fn keeps_its_place(handed_on: bool) {
    let subject = subject::<1>();
    let (mut woken, mut task) = waker();
    let mut wait = subject.gate.reached(Running);
    assert!(poll(&mut wait, &task).is_pending());
    let other = beside(&subject, |subject| subject.go(Idle, Running));
    thread::yield_now();
    if subject.gate.try_transition(Running, Ending).is_err() {
        return other();
    }
    if handed_on {
        (woken, task) = waker();
    }
    assert!(poll(&mut wait, &task).is_pending(), "refused");
    if handed_on && woken.times() > 0 {
        assert!(poll(&mut wait, &task).is_pending(), "refused");
    }
    other();
    if woken.times() > 0 {
        assert!(poll(&mut wait, &task).is_pending(), "refused");
    }
    let before = woken.times();
    subject.go(Ending, Idle);
    subject.go(Idle, Running);
    assert_eq!(woken.times(), before + 1, "asleep for ever");
}

#[test]
fn a_wait_keeps_its_place_while_its_waker_is_taken() {
    explore(Model { threads: 2, loom: 20, rmw: 62, shuttle: 2772 }, || keeps_its_place(false));
}

#[test]
fn a_wait_keeps_its_place_while_the_waker_of_another_task_is_taken() {
    explore(Model { threads: 2, loom: 43, rmw: 110, shuttle: 14878 }, || keeps_its_place(true));
}

#[test]
fn a_waiter_beside_the_closing_is_told() {
    explore(Model { threads: 2, loom: 7, rmw: 11, shuttle: 108 }, || {
        let subject = subject::<1>();
        let other = beside(&subject, |subject| {
            subject.touch();
            assert!(subject.gate.close());
        });
        let (woken, waker) = waker();
        let mut wait = subject.gate.reached(Running);
        let mut answer = poll(&mut wait, &waker);
        if answer.is_pending() {
            other();
            assert_eq!(woken.times(), 1);
            answer = poll(&mut wait, &waker);
        } else {
            subject.touch();
            other();
        }
        assert_eq!(answer, Poll::Ready(Err(WaitError::Closed)));
    });
}

#[test]
fn two_waiters_are_both_woken() {
    explore(Model { threads: 3, loom: 378, rmw: 847, shuttle: 18000 }, || {
        let subject = subject::<2>();
        let others = [(); 2].map(|()| {
            beside(&subject, |subject| {
                let (woken, waker) = waker();
                let mut wait = subject.gate.reached(Running);
                let pending = poll(&mut wait, &waker).is_pending();
                std::mem::forget(wait);
                (pending, woken)
            })
        });
        subject.go(Idle, Running);
        for other in others {
            let (pending, woken) = other();
            // Who has seen the state itself may have been woken too.
            assert!(woken.times() == 1 || woken.times() == 0 && !pending, "asleep for ever");
        }
    });
}

/// The word says already that somebody waits, so that the second one's publishing does not change it.
#[test]
fn who_waits_after_another_has_left_is_woken() {
    explore(Model { threads: 2, loom: 88, rmw: 114, shuttle: 20841 }, || {
        let subject = subject::<1>();
        let (_, first) = waker();
        let mut wait = subject.gate.reached(Running);
        assert!(poll(&mut wait, &first).is_pending());
        drop(wait);
        let other = beside(&subject, |subject| subject.go(Idle, Running));
        let (woken, second) = waker();
        let mut wait = subject.gate.reached(Running);
        let pending = poll(&mut wait, &second).is_pending();
        other();
        assert!(!pending || woken.times() == 1, "asleep for ever");
        assert!(poll(&mut wait, &second).is_ready());
    });
}

#[test]
fn a_transition_that_is_given_up_undoes_nothing_of_others() {
    explore(Model { threads: 2, loom: 18, rmw: 25, shuttle: 59 }, || {
        let subject = subject::<1>();
        let other = beside(&subject, |subject| {
            let out = subject.gate.try_transition(Running, Idle).is_ok();
            (out, out && subject.gate.try_transition(Idle, Running).is_ok())
        });
        let begun = subject.gate.begin::<{ Idle as u8 }, { Running as u8 }>();
        let began = begun.is_ok();
        drop(begun);
        let moved = other();
        let end = subject.gate.snapshot();
        assert!(began && moved.0 == moved.1);
        assert_eq!((end.state, end.epoch.get()), if moved.0 { (Running, 3) } else { (Ending, 2) });
    });
}
