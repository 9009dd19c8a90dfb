//! Step mode for the std extension's gate: another operation runs to its end between two steps of the one that it interrupts, as if the thread
//! of that one were suspended there. Whoever would wait for the suspended one takes too many steps, and whoever is not woken sees its deadline.
//!
//! The core's shim and the std extension's sources are compiled here a second time (build.rs), with a stand-in for the system's sleep.
#![cfg(jeton_step)]
#![allow(clippy::disallowed_types, reason = "what wakers count takes no steps")]
#![allow(missing_docs, unused_imports, dead_code, reason = "the sources of both crates, of which only a part is used")]

// What the std extension calls its core is this crate.
extern crate self as jeton_core;

#[path = "../../core/src"]
mod core_sources {
    pub mod cancel;
    pub mod gate;
    pub mod sync;
    pub mod util;
}
#[path = "../../std-ext/src"]
mod std_sources {
    pub mod cancel;
    pub mod gate;
    pub mod park;
}
use core_sources::{gate, sync, util};
use std_sources::park;
#[path = "cancel_heap/mod.rs"]
mod heap;
mod step;
#[path = "step/system.rs"]
mod system;
use system::{blocking, wait_word};

/// What the std extension calls `cancel`, its own and its core's.
mod cancel {
    pub(crate) use crate::std_sources::cancel::panics;
    pub use crate::{
        core_sources::cancel::*,
        std_sources::cancel::{CancelSource, CancelToken},
    };
}

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

use blocking::DEADLINE;
use cancel::{CancelSource, CancelToken};
use heap::{LIVE, Woken};
use std_sources::gate::{Closed, Gate, Moment, Reached, TransitionError, Waited, states};
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

/// A gate, a wait of a task at it with two wakers that take turns, and a source that may cancel threads' waits.
struct Subject {
    gate: &'static Gate<Mode>,
    wait: RefCell<Option<Reached<'static, Mode>>>,
    woken: [Arc<Woken>; 2],
    source: CancelSource,
    /// Whether the interrupt came before the deadline.
    in_time: Cell<bool>,
}

impl Subject {
    fn new(target: Mode) -> Self {
        blocking::set(0);
        let gate: &Gate<Mode> = step::leak(Gate::new());
        let wait = RefCell::new(Some(gate.reached(target)));
        Self { gate, wait, woken: Default::default(), source: CancelSource::new(), in_time: Cell::new(false) }
    }

    /// With the first waker in it.
    fn waiting(target: Mode) -> Self {
        let subject = Self::new(target);
        assert!(subject.poll(0).is_pending());
        subject
    }

    fn poll(&self, which: usize) -> Poll<Result<Moment<Mode>, Closed>> {
        let waker = Waker::from(self.woken[which].clone());
        let mut wait = self.wait.borrow_mut();
        Pin::new(wait.as_mut().expect("it has not been given up")).poll(&mut Context::from_waker(&waker))
    }

    fn give_up(&self) {
        *self.wait.borrow_mut() = None;
    }

    fn block(&self, target: Mode, can_be_canceled: bool) -> Waited<Mode> {
        let token = can_be_canceled.then(|| self.source.token());
        self.gate.wait_for(target, Some(DEADLINE), token.as_ref())
    }

    fn go(&self, road: &[(Mode, Mode)]) {
        for (from, to) in road {
            assert!(self.gate.try_transition(*from, *to).is_ok(), "nobody else moves it");
        }
    }

    fn act(&self, act: Act) {
        self.in_time.set(!blocking::is_late());
        match act {
            Act::Go(road) => self.go(road),
            Act::Close => assert!(self.gate.close()),
            Act::Cancel => assert!(self.source.cancel()),
            Act::GoAndCancel(road) => {
                self.go(road);
                assert!(self.source.cancel());
            }
            Act::GoAndBeLate(road) => {
                self.go(road);
                blocking::set(1);
            }
        }
    }

    fn times(&self) -> [u32; 2] {
        self.woken.each_ref().map(|woken| woken.0.load(Relaxed))
    }

    fn left(&self, at: usize) {
        self.give_up();
        assert_eq!(self.woken.each_ref().map(Arc::strong_count), [1, 1], "a waker is left after step {at}");
    }

    /// The task's wait ends now, and nothing is left of it.
    fn ends(&self, act: Act, at: usize) {
        match (act, self.poll(1)) {
            (Act::Close, Poll::Ready(Err(Closed))) => {}
            (Act::Go(road), Poll::Ready(Ok(moment))) => assert_eq!(Some(moment.state), road.last().map(|road| road.1)),
            (_, other) => panic!("{other:?} after step {at}"),
        }
        self.left(at);
    }
}

/// What ends waits.
#[derive(Clone, Copy, Debug)]
enum Act {
    Go(&'static [(Mode, Mode)]),
    Close,
    Cancel,
    GoAndCancel(&'static [(Mode, Mode)]),
    GoAndBeLate(&'static [(Mode, Mode)]),
}

const TO_RUNNING: &[(Mode, Mode)] = &[(Idle, Running)];
const TO_ENDING: &[(Mode, Mode)] = &[(Idle, Running), (Running, Ending)];
/// Past the state that is waited for, and to it again.
const ROUND: &[(Mode, Mode)] = &[(Idle, Running), (Running, Idle), (Idle, Running)];
const ROADS: [&[(Mode, Mode)]; 3] = [TO_RUNNING, TO_ENDING, ROUND];

fn end_of(road: &[(Mode, Mode)]) -> Mode {
    road.last().expect("a road").1
}

#[test]
fn whatever_ends_a_threads_wait_can_come_at_every_step_of_it() {
    for can_be_canceled in [false, true] {
        for road in ROADS {
            let target = end_of(road);
            for act in [Act::Go(road), Act::Close, Act::Cancel, Act::GoAndCancel(road), Act::GoAndBeLate(road)] {
                if matches!(act, Act::Cancel) && !can_be_canceled {
                    continue;
                }
                let steps = at_every_step(
                    move || Subject::new(target),
                    move |subject| subject.block(target, can_be_canceled),
                    move |subject| subject.act(act),
                    move |subject, answer, (), at| {
                        let is_right = match (act, answer) {
                            (Act::Close, Waited::Closed) | (Act::Cancel, Waited::Canceled) => true,
                            // Also if a cancel or the deadline follow at once.
                            (Act::Go(_) | Act::GoAndCancel(_) | Act::GoAndBeLate(_), Waited::Reached(moment)) => {
                                moment.state == target
                            }
                            (_, Waited::TimedOut) => !subject.in_time.get(),
                            _ => false,
                        };
                        assert!(is_right, "{act:?}: {answer:?} after step {at}");
                        let is_late = blocking::is_late() && !matches!(act, Act::GoAndBeLate(_));
                        assert!(
                            !is_late || !subject.in_time.get(),
                            "{act:?}: the deadline has woken it, {answer:?} after step {at}"
                        );
                        subject.left(at);
                    },
                );
                assert!(steps >= 5, "{steps} steps");
            }
        }
    }
}

/// A thread that is suspended in the middle of a transition, of a close, or of a cancel keeps no other one from finding what is there, or from giving up.
#[test]
fn a_threads_wait_can_come_at_every_step_of_what_ends_it() {
    for can_be_canceled in [false, true] {
        for before in [false, true] {
            for act in ROADS.map(Act::Go).into_iter().chain([Act::Close, Act::Cancel]) {
                let target = if let Act::Go(road) = act { end_of(road) } else { Ended };
                at_every_step(
                    move || if before { Subject::waiting(target) } else { Subject::new(target) },
                    move |subject| subject.act(act),
                    move |subject| {
                        let answer = subject.block(target, can_be_canceled);
                        (answer, subject.gate.snapshot().state == target, subject.gate.is_closed(), subject.source.is_canceled())
                    },
                    move |subject, (), (answer, is_there, is_closed, is_canceled), at| {
                        let is_right = match answer {
                            Waited::Reached(_) => is_there,
                            Waited::Closed => is_closed,
                            Waited::Canceled => can_be_canceled && is_canceled,
                            Waited::TimedOut => !(is_there || is_closed || can_be_canceled && is_canceled),
                        };
                        assert!(is_right, "{act:?}: {answer:?} after step {at}");
                        assert!(!before || matches!(act, Act::Cancel) || subject.times()[0] >= 1, "the task is asleep, {at}");
                        subject.left(at);
                    },
                );
            }
        }
    }
}

#[test]
fn what_ends_a_tasks_wait_can_come_at_every_step_of_a_poll_and_the_other_way_round() {
    let mut steps = 0;
    for before in [false, true] {
        for act in ROADS.map(Act::Go).into_iter().chain([Act::Close]) {
            let target = if let Act::Go(road) = act { end_of(road) } else { Ended };
            let subject = move || if before { Subject::waiting(target) } else { Subject::new(target) };
            let check = move |subject: &'static Subject, answer: Poll<Result<Moment<Mode>, Closed>>, at| {
                assert!(answer.is_ready() || subject.times()[1] >= 1, "asleep for ever after step {at}: {answer:?}");
                subject.ends(act, at);
            };
            let poll = |subject: &'static Subject| subject.poll(1);
            let act = move |subject: &'static Subject| subject.act(act);
            steps += at_every_step(subject, poll, act, move |subject, answer, (), at| check(subject, answer, at));
            steps += at_every_step(subject, act, poll, move |subject, (), answer, at| check(subject, answer, at));
        }
    }
    assert!(steps >= 90, "{steps} steps");
}

/// What an interrupt changes without a state that is waited for wakes nobody, at no step.
#[test]
fn transitions_to_other_states_wake_nobody_at_any_step() {
    let polls = at_every_step(
        || Subject::new(Ended),
        |subject| subject.poll(1),
        |subject| subject.go(TO_ENDING),
        |subject, answer, (), at| {
            assert_eq!((answer, subject.times()), (Poll::Pending, [0, 0]), "after step {at}");
            subject.go(&[(Ending, Ended)]);
            assert_eq!(subject.times(), [0, 1], "asleep for ever after step {at}");
            subject.left(at);
        },
    );
    let waits = at_every_step(
        || Subject::new(Ended),
        |subject| (wait_word::wakes(), subject.block(Ended, false), wait_word::wakes()),
        |subject| subject.go(TO_ENDING),
        |_, (before, answer, after), (), at| assert_eq!((answer, after), (Waited::TimedOut, before), "after step {at}"),
    );
    assert!(polls >= 5 && waits >= 5, "{polls} and {waits} steps");
}

/// A task that waits for `Running`, in the last free slot of the gate's only block.
fn last_slot() -> Subject {
    const BLOCK: usize = 64;
    let subject = Subject::waiting(Running);
    let mut others: Vec<_> = (1..BLOCK).map(|_| subject.gate.reached(Ended)).collect();
    others.iter_mut().for_each(|other| {
        assert!(Pin::new(other).poll(&mut Context::from_waker(Waker::noop())).is_pending());
    });
    std::mem::forget(others);
    subject
}

/// If the slot were lost the next task would need another block.
#[test]
fn a_wait_can_be_given_up_at_every_step_of_a_transition_and_the_other_way_round() {
    let check = |subject: &'static Subject, at: usize| {
        assert!(subject.times()[0] <= 1);
        assert_eq!(Arc::strong_count(&subject.woken[0]), 1, "its waker is left after step {at}");
        let before = LIVE.get();
        *subject.wait.borrow_mut() = Some(subject.gate.reached(Ended));
        assert!(subject.poll(1).is_pending());
        assert_eq!(LIVE.get(), before, "its slot is lost after step {at}");
    };
    let (give_up, go) = (|subject: &'static Subject| subject.give_up(), |subject: &'static Subject| subject.go(TO_RUNNING));
    let polls = |subject: &'static Subject| _ = subject.poll(1);
    let mut steps = at_every_step(last_slot, give_up, go, move |subject, (), (), at| check(subject, at));
    steps += at_every_step(last_slot, go, give_up, move |subject, (), (), at| check(subject, at));
    // A poll by another task puts a waker in anew, or ends the wait; either way there is one slot.
    let then_gives_up = move |subject: &'static Subject, at| {
        subject.give_up();
        check(subject, at);
    };
    steps += at_every_step(last_slot, polls, go, move |subject, (), (), at| then_gives_up(subject, at));
    steps += at_every_step(last_slot, go, polls, move |subject, (), (), at| then_gives_up(subject, at));
    assert!(steps >= 20, "{steps} steps");
}

/// And if it were given to the next task while the waker of the last one is taken out, that one would sleep for ever.
#[test]
fn a_slot_can_go_to_the_next_task_at_every_step_of_a_transition() {
    let steps = at_every_step(
        last_slot,
        |subject| subject.go(TO_RUNNING),
        |subject| {
            *subject.wait.borrow_mut() = Some(subject.gate.reached(Ending));
            subject.poll(1).is_pending()
        },
        |subject, (), is_pending, at| {
            assert!(is_pending && subject.times()[1] == 0);
            subject.go(&[(Running, Ending)]);
            assert_eq!(subject.times()[1], 1, "asleep for ever after step {at}");
            subject.left(at);
        },
    );
    assert!(steps >= 6, "{steps} steps");
}

#[test]
fn of_two_transitions_from_one_state_one_is_made() {
    let steps = at_every_step(
        || Subject::waiting(Running),
        |subject| subject.gate.try_transition(Idle, Running),
        |subject| subject.gate.try_transition(Idle, Ended),
        |subject, outer, inner, at| {
            let ended = subject.gate.snapshot().state == Ended;
            let lost = Err(TransitionError::Other(if ended { Ended } else { Running }));
            assert_eq!((outer.is_ok(), inner.is_ok()), (!ended, ended), "at step {at}");
            assert_eq!(if ended { outer } else { inner }, lost);
            assert_eq!((subject.gate.snapshot().epoch.get(), subject.times()), (1, [u32::from(!ended), 0]));
            subject.left(at);
        },
    );
    assert!(steps >= 2, "{steps} steps");
}

/// Another thread moves the gate on, and back to where it was, at every step of the end of a transition.
#[test]
fn the_end_of_a_transition_undoes_nothing_of_an_interrupt() {
    for commits in [false, true] {
        let steps = at_every_step(
            || Subject::new(Ended),
            move |subject| {
                let begun = subject.gate.begin::<IDLE, RUNNING>(None).ok()?;
                if commits { begun.commit::<IDLE>().ok() } else { None }
            },
            |subject| {
                let moved = subject.gate.try_transition(Running, Idle).is_ok();
                moved && subject.gate.try_transition(Idle, Running).is_ok()
            },
            move |subject, committed, back, at| {
                let end = subject.gate.snapshot();
                assert_eq!(committed.is_some(), commits && (!back || end.epoch.get() > 3), "{end:?} at step {at}");
                let expected = match () {
                    () if back => (Running, 3),
                    () if commits => (Idle, 2),
                    () => (Ending, 2),
                };
                assert!((end.state, end.epoch.get()) == expected || committed.is_some() && back, "{end:?} at step {at}");
            },
        );
        assert!(steps >= 3, "{steps} steps");
    }
}

#[test]
fn a_check_takes_one_step_a_transition_and_a_poll_again_two() {
    let steps =
        |subject: fn() -> Subject, operation: fn(&'static Subject)| at_every_step(subject, operation, |_| (), |_, (), (), _| ());
    assert_eq!(steps(|| Subject::new(Ended), |subject| assert!(!subject.gate.check())), 1);
    assert_eq!(steps(|| Subject::new(Ended), |subject| assert!(!subject.gate.is_closed())), 1);
    assert_eq!(steps(|| Subject::new(Ended), |subject| subject.go(TO_RUNNING)), 2);
    // The word, and whether the waker is in its slot still.
    assert_eq!(steps(|| Subject::waiting(Ended), |subject| assert!(subject.poll(0).is_pending())), 2);
    // It looks, takes the slot back, and gives it up.
    assert_eq!(steps(|| Subject::waiting(Ended), Subject::give_up), 3);
}
