//! Step mode for gates: an interrupt handler runs to its end between two steps of what it interrupts.
//!
//! The core is compiled here a second time (build.rs), with tables of two slots.
#![cfg(jeton_step)]
#![allow(clippy::disallowed_types, reason = "what wakers count takes no steps")]
#![allow(missing_docs, unused_imports, dead_code, reason = "the core's sources, of which only a part is used")]

#[path = "../../core/src"]
mod core_sources {
    pub mod gate;
    pub mod sync;
    pub mod util;
}
use core_sources::{gate, sync, util};
mod step;

/// What the pages' examples are for.
mod docs {}

use std::{
    cell::{Cell, RefCell},
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering::Relaxed},
    },
    task::{Context, Poll, Wake, Waker},
};

use gate::{Gate, Moment, Reached, StateSet, TransitionError, WaitError, states};
use step::at_every_step;

states! {
    /// A circle of three, and an end.
    enum Mode: open Running {
        Idle -> [Running], abort Ended;
        Running -> [Ending, Idle], abort Ending;
        Ending -> [Idle, Ended], abort Idle;
        Ended -> [];
    }
}

use Mode::{Ended, Ending, Idle, Running};

const IDLE: u8 = Idle as u8;
const RUNNING: u8 = Running as u8;

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

/// A gate with `N` slots, and a wait at it, for two tasks that take turns with it.
struct Subject<const N: usize> {
    gate: &'static Gate<Mode, N>,
    wait: RefCell<Option<Reached<'static, Mode, N>>>,
    woken: [Arc<Woken>; 2],
}

impl<const N: usize> Subject<N> {
    fn new(target: Mode) -> Self {
        let gate: &Gate<Mode, N> = step::leak(Gate::new());
        Self { gate, wait: RefCell::new(Some(gate.reached(target))), woken: Default::default() }
    }

    /// With the waker of the first task in it.
    fn waiting(target: Mode) -> Self {
        let subject = Self::new(target);
        assert!(subject.poll(0).is_pending());
        subject
    }

    fn poll(&self, task: usize) -> Poll<Result<Moment<Mode>, WaitError>> {
        let waker = Waker::from(self.woken[task].clone());
        let mut wait = self.wait.borrow_mut();
        Pin::new(wait.as_mut().expect("it has not been given up")).poll(&mut Context::from_waker(&waker))
    }

    fn go(&self, road: &[(Mode, Mode)]) {
        for (from, to) in road {
            assert!(self.gate.try_transition(*from, *to).is_ok(), "nobody else moves it");
        }
    }

    fn times(&self) -> [u32; 2] {
        self.woken.each_ref().map(|woken| woken.times())
    }

    /// The wait ends now, and nothing is left of it: no waker, and no slot.
    fn ends_in(&self, expected: Mode, at: usize) {
        assert!(matches!(self.poll(1), Poll::Ready(Ok(moment)) if moment.state == expected), "after step {at}");
        *self.wait.borrow_mut() = None;
        assert_eq!(self.woken.each_ref().map(Arc::strong_count), [1, 1], "a waker is left after step {at}");
        let mut waits = [(); N].map(|()| self.gate.reached(StateSet::none()));
        let mut all = waits.iter_mut().map(|wait| Pin::new(wait).poll(&mut Context::from_waker(Waker::noop())));
        assert!(all.all(|answer| answer.is_pending()), "a slot is left after step {at}");
    }
}

const TO_RUNNING: &[(Mode, Mode)] = &[(Idle, Running)];
const TO_ENDING: &[(Mode, Mode)] = &[(Idle, Running), (Running, Ending)];

#[test]
fn transitions_can_come_at_every_step_of_a_poll() {
    fn stands<const N: usize>(before: bool, road: &'static [(Mode, Mode)]) -> usize {
        let target = road.last().expect("a road").1;
        at_every_step(
            move || if before { Subject::<N>::waiting(target) } else { Subject::<N>::new(target) },
            |subject| subject.poll(1),
            move |subject| subject.go(road),
            move |subject, answer, (), at| {
                assert!(answer.is_ready() || subject.times()[1] >= 1, "asleep for ever after step {at}: {answer:?}");
                subject.ends_in(target, at);
            },
        )
    }
    for before in [false, true] {
        for road in [TO_RUNNING, TO_ENDING] {
            let steps = stands::<1>(before, road) + stands::<2>(before, road);
            assert!(steps >= 8, "{steps} steps");
        }
    }
}

#[test]
fn a_poll_can_come_at_every_step_of_transitions() {
    fn stands<const N: usize>(before: bool, road: &'static [(Mode, Mode)]) -> usize {
        let target = road.last().expect("a road").1;
        at_every_step(
            move || if before { Subject::<N>::waiting(target) } else { Subject::<N>::new(target) },
            move |subject| subject.go(road),
            |subject| subject.poll(1),
            move |subject, (), answer, at| {
                assert!(answer.is_ready() || subject.times()[1] >= 1, "asleep for ever after step {at}: {answer:?}");
                subject.ends_in(target, at);
            },
        )
    }
    for before in [false, true] {
        for road in [TO_RUNNING, TO_ENDING] {
            let steps = stands::<1>(before, road) + stands::<2>(before, road);
            assert!(steps >= 4, "{steps} steps");
        }
    }
}

/// Who has a place keeps it. A handler takes the gate on while a transition has just taken the waiter's waker, and polls, thrice.
#[test]
fn a_wait_that_has_a_place_is_not_refused_at_any_step_of_a_transition() {
    /// How often the polls have woken their own task, at most.
    fn stands<const N: usize>(task: usize) -> u32 {
        let most = Cell::new(0);
        let steps = at_every_step(
            || (Subject::<N>::waiting(Running), Cell::new(0)),
            |(subject, _)| subject.go(TO_RUNNING),
            move |(subject, woken)| {
                let moved = subject.gate.try_transition(Running, Ending).is_ok();
                let before = subject.times()[task];
                let answers = [(); 3].map(|()| subject.poll(task));
                woken.set(subject.times()[task] - before);
                (moved, answers)
            },
            |(subject, woken), (), (moved, answers), at| {
                assert_eq!(answers, [Poll::Pending; 3], "after step {at}");
                most.set(most.get().max(woken.get()));
                if moved {
                    if subject.times()[task] > 0 {
                        assert!(subject.poll(task).is_pending());
                    }
                    let before = subject.times()[task];
                    subject.go(&[(Ending, Idle), (Idle, Running)]);
                    assert_eq!(subject.times()[task], before + 1, "asleep for ever after step {at}");
                }
                subject.ends_in(Running, at);
            },
        );
        assert!(steps >= 4, "{steps} steps");
        most.get()
    }
    // The task that is woken by the interrupted transition waits for that. One that was handed the wait takes another slot; if there is none, it
    // looks again until that transition goes on.
    assert_eq!([stands::<1>(0), stands::<2>(0), stands::<2>(1), stands::<1>(1)], [0, 0, 0, 3]);
}

/// What an interrupt changes without a state that is waited for wakes nobody, at no step.
#[test]
fn transitions_to_other_states_wake_nobody_at_any_step() {
    let steps = at_every_step(
        || Subject::<1>::new(Ended),
        |subject| subject.poll(1),
        |subject| subject.go(TO_ENDING),
        |subject, answer, (), at| {
            assert_eq!((answer, subject.times()), (Poll::Pending, [0, 0]), "after step {at}");
            subject.go(&[(Ending, Ended)]);
            assert_eq!(subject.times(), [0, 1], "asleep for ever after step {at}");
            subject.ends_in(Ended, at);
        },
    );
    assert!(steps >= 4, "{steps} steps");
}

#[test]
fn the_closing_can_come_at_every_step_of_a_poll_and_the_other_way_round() {
    let check = |subject: &'static Subject<1>, answer: Poll<Result<Moment<Mode>, WaitError>>, at: usize| {
        let closed = Poll::Ready(Err(WaitError::Closed));
        assert!(answer == closed || subject.times()[1] >= 1, "asleep for ever after step {at}: {answer:?}");
        assert_eq!(subject.poll(1), closed);
        *subject.wait.borrow_mut() = None;
        assert_eq!(subject.woken.each_ref().map(Arc::strong_count), [1, 1], "a waker is left after step {at}");
    };
    for before in [false, true] {
        let subject = move || if before { Subject::<1>::waiting(Ended) } else { Subject::<1>::new(Ended) };
        let steps = at_every_step(
            subject,
            |subject| subject.poll(1),
            |subject| assert!(subject.gate.close()),
            move |subject, answer, (), at| check(subject, answer, at),
        ) + at_every_step(
            subject,
            |subject| assert!(subject.gate.close()),
            |subject| subject.poll(1),
            move |subject, (), answer, at| check(subject, answer, at),
        );
        assert!(steps >= 4, "{steps} steps");
    }
}

#[test]
fn a_wait_can_be_given_up_at_every_step_of_a_transition_and_the_other_way_round() {
    fn give_up(subject: &'static Subject<1>) {
        *subject.wait.borrow_mut() = None;
    }
    let check = |subject: &'static Subject<1>, at: usize| {
        assert!(subject.times()[0] <= 1);
        assert_eq!(Arc::strong_count(&subject.woken[0]), 1, "its waker is left after step {at}");
        *subject.wait.borrow_mut() = Some(subject.gate.reached(Ended));
        assert!(subject.poll(1).is_pending(), "its slot is left after step {at}");
    };
    let subject = || Subject::<1>::waiting(Running);
    let steps = at_every_step(subject, give_up, |subject| subject.go(TO_RUNNING), move |subject, (), (), at| check(subject, at))
        + at_every_step(subject, |subject| subject.go(TO_RUNNING), give_up, move |subject, (), (), at| check(subject, at));
    assert!(steps >= 6, "{steps} steps");
}

#[test]
fn of_two_transitions_from_one_state_one_is_made() {
    let steps = at_every_step(
        || Subject::<1>::waiting(Running),
        |subject| subject.gate.try_transition(Idle, Running),
        |subject| subject.gate.try_transition(Idle, Ended),
        |subject, outer, inner, at| {
            let ended = subject.gate.snapshot().state == Ended;
            let lost = Err(TransitionError::Other(if ended { Ended } else { Running }));
            assert_eq!((outer.is_ok(), inner.is_ok()), (!ended, ended), "at step {at}");
            assert_eq!(if ended { outer } else { inner }, lost);
            assert_eq!((subject.gate.snapshot().epoch.get(), subject.times()), (1, [u32::from(!ended), 0]));
        },
    );
    assert!(steps >= 2, "{steps} steps");
}

/// A handler moves the gate on, and back to where it was, at every step of the end of a transition.
#[test]
fn the_end_of_a_transition_undoes_nothing_of_an_interrupt() {
    for commits in [false, true] {
        let steps = at_every_step(
            || Subject::<1>::new(Ended),
            move |subject| {
                let begun = subject.gate.begin::<IDLE, RUNNING>().ok()?;
                if commits { begun.commit::<IDLE>().ok() } else { None }
            },
            |subject| {
                let moved = subject.gate.try_transition(Running, Idle).is_ok();
                (moved, moved && subject.gate.try_transition(Idle, Running).is_ok())
            },
            move |subject, committed, (out, back), at| {
                let end = subject.gate.snapshot();
                assert!(!out || back);
                assert_eq!(committed.is_some(), commits && (!back || end.epoch.get() > 3), "{end:?} at step {at}");
                let own = if commits { Idle } else { Ending };
                // Before the transition began there was nothing to move, and after its end only a commit leaves a way on.
                let expected = if back { (Running, 3) } else { (own, 2) };
                assert!(
                    (end.state, end.epoch.get()) == expected || (committed.is_some() && back),
                    "{end:?}, moved {back}, at step {at}"
                );
            },
        );
        assert!(steps >= 3, "{steps} steps");
    }
}
