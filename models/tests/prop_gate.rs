//! Properties of gates for any calls: against the specification, and against the plainest list of who waits for what.
#![cfg(not(any(jeton_loom, jeton_shuttle)))]
#![allow(clippy::disallowed_types, reason = "what wakers count is outside of what is tested")]

use std::{
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering::Relaxed},
    },
    task::{Context, Poll, Wake, Waker},
};

use jeton_core::gate::{Changed, Epoch, Gate, Moment, Reached, StateSet, States, Transition, TransitionError, WaitError};
use jeton_models::spec::gate::{
    Answer, Call, Life,
    Mode::{self, Ended, Ending, Idle, Running},
};
use proptest::{collection::vec, prelude::*};

const SLOTS: usize = 3;
const MODES: [Mode; 4] = [Idle, Running, Ending, Ended];
const IDLE: u8 = Idle as u8;
const RUNNING: u8 = Running as u8;

#[derive(Clone, Copy, Debug)]
enum Act {
    Go(usize, usize),
    /// Along some edge from the state that it is in, if there is one.
    Move(usize),
    Begin,
    Commit,
    Abort,
    Ask,
    Reach(u16),
    Change(usize),
    Poll(usize, bool),
    GiveUp(usize),
    Close,
}

fn acts() -> impl Strategy<Value = Vec<Act>> {
    let any = any::<usize>;
    let act = prop_oneof![
        4 => (0..4_usize, 0..4_usize).prop_map(|(from, to)| Act::Go(from, to)),
        8 => any().prop_map(Act::Move),
        3 => Just(Act::Begin),
        2 => Just(Act::Commit),
        2 => Just(Act::Abort),
        3 => Just(Act::Ask),
        6 => (0_u16..16).prop_map(Act::Reach),
        4 => any().prop_map(Act::Change),
        8 => (any(), proptest::bool::ANY).prop_map(|(which, other)| Act::Poll(which, other)),
        4 => any().prop_map(Act::GiveUp),
        1 => Just(Act::Close),
    ];
    vec(act, 0..80)
}

#[derive(Default)]
struct Woken(AtomicU32);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Relaxed);
    }
}

enum Future<'g> {
    Reached(Reached<'g, Mode, SLOTS>, u16),
    Changed(Changed<'g, Mode, SLOTS>, u32),
}

/// A wait, and what is to be true of it.
struct Waiter<'g> {
    future: Future<'g>,
    woken: Arc<Woken>,
    /// How often it must have been woken.
    expected: u32,
    has_slot: bool,
    armed: bool,
}

impl Waiter<'_> {
    fn poll(&mut self) -> Poll<Result<Moment<Mode>, WaitError>> {
        let waker = Waker::from(self.woken.clone());
        let mut context = Context::from_waker(&waker);
        match &mut self.future {
            Future::Reached(wait, _) => Pin::new(wait).poll(&mut context),
            Future::Changed(wait, _) => Pin::new(wait).poll(&mut context),
        }
    }

    fn is_over(&self, life: &Life) -> bool {
        match self.future {
            Future::Reached(_, states) => states & 1 << life.state.number() != 0,
            Future::Changed(_, since) => life.epoch != since,
        }
    }

    /// What a transition, or the closing, does to it.
    fn told(&mut self, state: Option<Mode>) {
        let wants = match (&self.future, state) {
            (Future::Reached(_, states), Some(state)) => states & 1 << state.number() != 0,
            _ => true,
        };
        if self.armed && wants {
            self.armed = false;
            self.expected += 1;
        }
    }
}

fn set(states: u16) -> StateSet<Mode> {
    MODES.into_iter().filter(|mode| states & 1 << mode.number() != 0).fold(StateSet::none(), StateSet::with)
}

/// Makes a transition in the specification, and tells the waiters; what it answers.
fn go(life: &mut Life, waiters: &mut [Waiter<'_>], from: Mode, to: Mode) -> Result<u32, TransitionError<Mode>> {
    let Answer::Gone(answer) = life.call(Call::Go(from, to)) else { unreachable!("that of a transition") };
    if answer.is_ok() {
        waiters.iter_mut().for_each(|waiter| waiter.told(Some(to)));
    }
    answer
}

fn number(answer: Result<Epoch, TransitionError<Mode>>) -> Result<u32, TransitionError<Mode>> {
    answer.map(Epoch::get)
}

proptest! {
    #[test]
    fn a_gate_does_what_its_specification_says(acts in acts()) {
        let gate = Gate::<Mode, SLOTS>::new();
        let mut life = Life::default();
        let mut waiters: Vec<Waiter<'_>> = Vec::new();
        let mut begun: Vec<Transition<'_, Mode, SLOTS, RUNNING>> = Vec::new();
        let mut moments = vec![gate.snapshot().epoch];
        for act in acts {
            match act {
                Act::Go(from, to) => {
                    let expected = go(&mut life, &mut waiters, MODES[from], MODES[to]);
                    prop_assert_eq!(number(gate.try_transition(MODES[from], MODES[to])), expected);
                }
                Act::Move(choice) => {
                    let from = life.state;
                    let ends: Vec<_> = MODES.into_iter().filter(|to| Mode::TABLE.has_edge(from.number(), to.number())).collect();
                    if !ends.is_empty() {
                        let to = ends[choice % ends.len()];
                        let expected = go(&mut life, &mut waiters, from, to);
                        prop_assert_eq!(number(gate.try_transition(from, to)), expected);
                    }
                }
                Act::Begin => {
                    let expected = go(&mut life, &mut waiters, Idle, Running);
                    let answer = gate.begin::<IDLE, RUNNING>();
                    prop_assert_eq!(answer.as_ref().map(|begun| begun.epoch().get()).map_err(|error| *error), expected);
                    begun.extend(answer);
                }
                Act::Commit | Act::Abort => {
                    let Some(last) = begun.pop() else { continue };
                    let own = last.epoch().get() == life.epoch;
                    if matches!(act, Act::Commit) {
                        let expected = if own || life.closed {
                            go(&mut life, &mut waiters, Running, Idle)
                        } else {
                            Err(TransitionError::Other(life.state))
                        };
                        prop_assert_eq!(number(last.commit::<IDLE>()), expected);
                    } else {
                        if own && !life.closed {
                            prop_assert!(go(&mut life, &mut waiters, Running, Ending).is_ok());
                        }
                        drop(last);
                    }
                }
                Act::Ask => {
                    let moment = gate.snapshot();
                    prop_assert_eq!(life.call(Call::Snapshot), Answer::Moment(moment.state, moment.epoch.get()));
                    prop_assert_eq!(life.call(Call::Check), Answer::Is(gate.check()));
                    prop_assert_eq!(life.closed, gate.is_closed());
                    for earlier in &moments {
                        let expected = life.call(Call::ChangedSince(earlier.get()));
                        prop_assert_eq!(expected, Answer::Changes(gate.changed_since(*earlier)));
                    }
                    moments.push(moment.epoch);
                }
                Act::Reach(states) => {
                    let future = Future::Reached(gate.reached(set(states)), states);
                    waiters.push(Waiter { future, woken: Arc::default(), expected: 0, has_slot: false, armed: false });
                }
                Act::Change(choice) => {
                    let since = moments[choice % moments.len()];
                    let future = Future::Changed(gate.changed(since), since.get());
                    waiters.push(Waiter { future, woken: Arc::default(), expected: 0, has_slot: false, armed: false });
                }
                Act::Poll(choice, other) if !waiters.is_empty() => {
                    let free = SLOTS > waiters.iter().filter(|waiter| waiter.has_slot).count();
                    let at = choice % waiters.len();
                    let waiter = &mut waiters[at];
                    if other {
                        // Another task: the waker of before is dropped or was woken.
                        waiter.woken = Arc::default();
                        waiter.expected = 0;
                    }
                    let over = if life.closed { Some(Err(WaitError::Closed)) } else { waiter.is_over(&life).then_some(Ok(())) };
                    let expected = match over {
                        Some(end) => {
                            (waiter.has_slot, waiter.armed) = (false, false);
                            Poll::Ready(end)
                        }
                        None if waiter.has_slot || free => {
                            (waiter.has_slot, waiter.armed) = (true, true);
                            Poll::Pending
                        }
                        None => Poll::Ready(Err(WaitError::Full)),
                    };
                    let answer = waiter.poll();
                    if let Poll::Ready(Ok(moment)) = answer {
                        prop_assert_eq!((moment.state, moment.epoch.get()), (life.state, life.epoch));
                    }
                    prop_assert_eq!(answer.map(|end| end.map(drop)), expected);
                }
                Act::GiveUp(choice) if !waiters.is_empty() => {
                    let at = choice % waiters.len();
                    let given_up = waiters.swap_remove(at);
                    let woken = given_up.woken.clone();
                    drop(given_up);
                    prop_assert_eq!(Arc::strong_count(&woken), 1, "its waker is left");
                }
                Act::Close => {
                    let Answer::Is(first) = life.call(Call::Close) else { unreachable!("that of a closing") };
                    if first {
                        waiters.iter_mut().for_each(|waiter| waiter.told(None));
                    }
                    prop_assert_eq!(gate.close(), first);
                }
                Act::Poll(..) | Act::GiveUp(_) => {}
            }
            for waiter in &waiters {
                prop_assert_eq!(waiter.woken.0.load(Relaxed), waiter.expected, "after {:?}", act);
            }
        }
    }
}
