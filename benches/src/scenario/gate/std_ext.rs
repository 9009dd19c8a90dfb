//! The same with the gate of the std extension, for which threads wait as well.

use core::{hint::black_box, task::Waker};
use std::time::Instant;

use jeton::gate::{Gate, Waited};

use super::{Mode, Stopped, waits};

/// A gate for any number of threads and tasks that wait.
pub type StdGate = Gate<Mode>;

/// As [`super::checked`].
#[inline]
pub fn checked(gate: &StdGate, calls: u32) -> u32 {
    for call in 0..calls {
        if !gate.check() {
            return call;
        }
        black_box(());
    }
    calls
}

/// As [`super::check`].
#[inline]
pub fn check(gate: &StdGate, calls: u32) {
    for _ in 0..calls {
        black_box(gate.check());
    }
}

/// As [`super::snapshot`].
#[inline]
pub fn snapshot(gate: &StdGate, calls: u32) {
    for _ in 0..calls {
        let moment = gate.snapshot();
        black_box((moment.state, moment.epoch));
    }
}

/// As [`super::transitions`].
///
/// # Errors
/// That of a transition, if somebody else moves the gate.
#[inline]
pub fn transitions(gate: &StdGate, calls: u32) -> Result<(), Stopped> {
    for _ in 0..calls / 2 {
        gate.try_transition(Mode::Idle, Mode::Running)?;
        gate.try_transition(Mode::Running, Mode::Idle)?;
    }
    Ok(())
}

/// As [`super::transitions_looked_up`].
///
/// # Errors
/// As [`transitions`].
#[inline]
pub fn transitions_looked_up(gate: &StdGate, calls: u32) -> Result<(), Stopped> {
    for _ in 0..calls / 2 {
        gate.try_transition(black_box(Mode::Idle), black_box(Mode::Running))?;
        gate.try_transition(black_box(Mode::Running), black_box(Mode::Idle))?;
    }
    Ok(())
}

/// As [`super::transitions_beside_others`], beside one task.
///
/// # Errors
/// As [`transitions`].
#[inline]
pub fn transitions_beside_another(gate: &StdGate, calls: u32) -> Result<(), Stopped> {
    let mut another = gate.reached(Mode::Ended);
    black_box(waits(&mut another, Waker::noop()));
    transitions(gate, calls)
}

/// As [`super::poll_again`].
#[inline]
pub fn poll_again(gate: &StdGate, calls: u32) -> u32 {
    let mut wait = gate.reached(Mode::Ended);
    for call in 0..calls {
        if !waits(&mut wait, Waker::noop()) {
            return call;
        }
    }
    calls
}

/// As [`super::wait_and_give_up`].
#[inline]
pub fn wait_and_give_up(gate: &StdGate, calls: u32) {
    for _ in 0..calls {
        let mut wait = gate.reached(Mode::Ended);
        black_box(waits(&mut wait, Waker::noop()));
    }
}

/// As [`super::wait_and_wake`].
///
/// # Errors
/// As [`transitions`].
#[inline]
pub fn wait_and_wake(gate: &StdGate, calls: u32) -> Result<(), Stopped> {
    for _ in 0..calls {
        let mut wait = gate.reached(Mode::Running);
        black_box(waits(&mut wait, Waker::noop()));
        gate.try_transition(Mode::Idle, Mode::Running)?;
        black_box(waits(&mut wait, Waker::noop()));
        gate.try_transition(Mode::Running, Mode::Idle)?;
    }
    Ok(())
}

/// A gate at its first state, for whose states a task and a thread have waited in vain, and which has been in each of these states since.
///
/// # Errors
/// As [`transitions`].
pub fn left() -> Result<StdGate, Stopped> {
    let gate = Gate::new();
    let mut wait = gate.reached(Mode::Running);
    black_box(waits(&mut wait, Waker::noop()));
    drop(wait);
    // Late from the start: it looks, and is gone.
    let late = gate.wait_for(Mode::Running, Some(Instant::now()), None);
    assert_eq!(late, Waited::TimedOut);
    transitions(&gate, 2)?;
    Ok(gate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_check_lets_through_what_the_state_allows() {
        let gate = StdGate::new();
        assert_eq!(checked(&gate, 10), 0);
        assert!(gate.try_transition(Mode::Idle, Mode::Running).is_ok());
        assert_eq!(checked(&gate, 10), 10);
        assert!(gate.close());
        assert_eq!(checked(&gate, 10), 0);
    }

    #[test]
    fn every_scenario_makes_its_transitions() {
        let epochs = |work: fn(&StdGate, u32) -> Result<(), Stopped>| {
            let gate = left().expect("nobody else is here");
            work(&gate, 100).expect("nobody else is here");
            assert_eq!(gate.snapshot().state, Mode::Idle);
            gate.snapshot().epoch.get() - 2
        };
        assert_eq!([transitions, transitions_looked_up, transitions_beside_another].map(epochs), [100; 3]);
        assert_eq!(epochs(wait_and_wake), 200);
    }

    #[test]
    fn waits_go_on() {
        let gate = StdGate::new();
        wait_and_give_up(&gate, 10);
        assert_eq!(poll_again(&gate, 10), 10);
    }
}
