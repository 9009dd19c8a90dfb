//! Deadlines, and numbers of states, of the std extension's gate on real threads.
#![cfg(not(any(jeton_loom, jeton_shuttle)))]

use std::{
    thread,
    time::{Duration, Instant},
};

use jeton::{
    cancel::CancelSource,
    gate::{Gate, States, Waited, states},
};

const STATES: usize = 15;

states! {
    /// As many as there can be but one; the open one is neither the first nor a power of two.
    enum Many: open S11 {
        S0 -> [S1], abort S1;
        S1 -> [S2], abort S2;
        S2 -> [S3], abort S3;
        S3 -> [S4], abort S4;
        S4 -> [S5], abort S5;
        S5 -> [S6], abort S6;
        S6 -> [S7], abort S7;
        S7 -> [S8], abort S8;
        S8 -> [S9], abort S9;
        S9 -> [S10], abort S10;
        S10 -> [S11], abort S11;
        S11 -> [S12], abort S12;
        S12 -> [S13], abort S13;
        S13 -> [S14], abort S14;
        S14 -> [S0], abort S0;
    }
}

fn all() -> impl Iterator<Item = Many> {
    Many::ALL.into_iter().take(STATES)
}

/// The state that its edge leads to.
fn next(state: Many) -> Many {
    Many::ALL[(state as usize + 1) % STATES]
}

/// A deadline that comes with the wake: whoever wins, the waiter is back, and the state is found by the next look.
#[test]
fn a_deadline_may_come_with_the_wake() {
    let gate = Gate::<Many>::new();
    let source = CancelSource::new();
    let rounds = if cfg!(miri) { 10 } else { 400 };
    for round in 0..rounds {
        let token = (round % 2 == 0).then(|| source.token());
        let from = gate.snapshot().state;
        let to = next(from);
        thread::scope(|scope| {
            scope.spawn(|| {
                let deadline = Instant::now() + Duration::from_micros(10 * (round % 20));
                let first = gate.wait_for(to, Some(deadline), token.as_ref());
                assert!(matches!(first, Waited::Reached(_)) || first == Waited::TimedOut && Instant::now() >= deadline);
                let Waited::Reached(moment) = gate.wait_for(to, None, token.as_ref()) else { panic!("no other end") };
                assert_eq!((moment.state, moment.epoch.get()), (to, round + 1));
            });
            thread::sleep(Duration::from_micros(5 * (round % 40)));
            gate.try_transition(from, to).expect("an edge");
        });
    }
}

/// The open state has the number 0 in the word, and every other one another than in the table: nobody sees that.
#[test]
fn every_state_ends_the_wait_for_it_and_no_other() {
    let gate = Gate::<Many>::new();
    for _ in 0..2 {
        for state in all() {
            assert_eq!((gate.snapshot().state, gate.check()), (state, state == Many::S11), "{state:?}");
            for other in all() {
                let found = gate.wait_for(other, Some(Instant::now()), None);
                assert_eq!(found == Waited::TimedOut, other != state, "{found:?} {other:?} {state:?}");
            }
            gate.try_transition(state, next(state)).expect("an edge");
        }
    }
}
