//! A gate: the check that is part of every operation, the transitions, and the waiting.
//!
//! [`nothing`] is the loop alone, which is part of every figure; [`nothing_checked`] is the loop of [`checked`], without the check.

use core::{
    hint::black_box,
    pin::Pin,
    task::{Context, Waker},
};

use jeton_core::gate::{Gate, TransitionError, states};

pub mod std_ext;

states! {
    /// What is measured: a circle, with a state that nobody comes to meanwhile.
    pub enum Mode: open Running {
        /// The first one.
        Idle -> [Running], abort Ended;
        /// The open one.
        Running -> [Idle], abort Ended;
        /// Is waited for, and never comes.
        Ended -> [];
    }
}

const IDLE: u8 = Mode::Idle as u8;
const RUNNING: u8 = Mode::Running as u8;

/// A gate on which nobody can wait for long without being in the way of the others.
pub type BenchGate<const N: usize> = Gate<Mode, N>;

/// Why a scenario has ended before its last call.
pub type Stopped = TransitionError<Mode>;

/// The loop alone.
#[inline]
pub fn nothing(calls: u32) {
    for _ in 0..calls {
        black_box(());
    }
}

/// The loop of [`checked`] alone: how many operations there were.
#[inline]
pub fn nothing_checked(calls: u32) -> u32 {
    for _ in 0..calls {
        black_box(());
    }
    calls
}

/// An empty operation behind the check, as every operation of a queue stands behind it: how many there were until the gate was found shut.
#[inline]
pub fn checked<const N: usize>(gate: &BenchGate<N>, calls: u32) -> u32 {
    for call in 0..calls {
        if !gate.check() {
            return call;
        }
        black_box(());
    }
    calls
}

/// The check, and its answer as a value.
#[inline]
pub fn check<const N: usize>(gate: &BenchGate<N>, calls: u32) {
    for _ in 0..calls {
        black_box(gate.check());
    }
}

/// State and epoch, both used.
#[inline]
pub fn snapshot<const N: usize>(gate: &BenchGate<N>, calls: u32) {
    for _ in 0..calls {
        let moment = gate.snapshot();
        black_box((moment.state, moment.epoch));
    }
}

/// `calls` transitions along edges that are known when this is compiled, of a gate in its first state; to an even number of them.
///
/// # Errors
/// That of a transition, if somebody else moves the gate.
#[inline]
pub fn transitions<const N: usize>(gate: &BenchGate<N>, calls: u32) -> Result<(), Stopped> {
    for _ in 0..calls / 2 {
        gate.transition::<IDLE, RUNNING>()?;
        gate.transition::<RUNNING, IDLE>()?;
    }
    Ok(())
}

/// The same along edges that are looked up.
///
/// # Errors
/// As [`transitions`].
#[inline]
pub fn transitions_looked_up<const N: usize>(gate: &BenchGate<N>, calls: u32) -> Result<(), Stopped> {
    for _ in 0..calls / 2 {
        gate.try_transition(black_box(Mode::Idle), black_box(Mode::Running))?;
        gate.try_transition(black_box(Mode::Running), black_box(Mode::Idle))?;
    }
    Ok(())
}

/// The same, each pair of them as a transition that is begun and committed.
///
/// # Errors
/// As [`transitions`].
#[inline]
pub fn begun<const N: usize>(gate: &BenchGate<N>, calls: u32) -> Result<(), Stopped> {
    for _ in 0..calls / 2 {
        gate.begin::<IDLE, RUNNING>()?.commit::<IDLE>()?;
    }
    Ok(())
}

/// Whether a wait goes on.
#[inline]
pub fn waits<W: Future + Unpin>(wait: &mut W, waker: &Waker) -> bool {
    Pin::new(wait).poll(&mut Context::from_waker(waker)).is_pending()
}

/// A poll of a wait that goes on, by the task that waits already: how many there were until it was over.
#[inline]
pub fn poll_again<const N: usize>(gate: &BenchGate<N>, calls: u32) -> u32 {
    let mut wait = gate.reached(Mode::Ended);
    for call in 0..calls {
        if !waits(&mut wait, Waker::noop()) {
            return call;
        }
    }
    calls
}

/// A wait that is polled once and given up.
#[inline]
pub fn wait_and_give_up<const N: usize>(gate: &BenchGate<N>, calls: u32) {
    for _ in 0..calls {
        let mut wait = gate.reached(Mode::Ended);
        black_box(waits(&mut wait, Waker::noop()));
    }
}

/// A wait for the open state, the transition there that wakes it, the poll that sees it, and the transition back.
///
/// # Errors
/// As [`transitions`].
#[inline]
pub fn wait_and_wake<const N: usize>(gate: &BenchGate<N>, calls: u32) -> Result<(), Stopped> {
    for _ in 0..calls {
        let mut wait = gate.reached(Mode::Running);
        black_box(waits(&mut wait, Waker::noop()));
        gate.transition::<IDLE, RUNNING>()?;
        black_box(waits(&mut wait, Waker::noop()));
        gate.transition::<RUNNING, IDLE>()?;
    }
    Ok(())
}

/// `calls` transitions beside one wait for each slot of the gate, for a state that does not come: nobody is woken.
///
/// # Errors
/// As [`transitions`].
#[inline]
pub fn transitions_beside_others<const N: usize>(gate: &BenchGate<N>, calls: u32) -> Result<(), Stopped> {
    let mut waits_of_others = [(); N].map(|()| gate.reached(Mode::Ended));
    for wait in &mut waits_of_others {
        black_box(waits(wait, Waker::noop()));
    }
    transitions(gate, calls)
}

/// A gate that somebody has waited for, and nobody does any more.
pub fn left<const N: usize>() -> BenchGate<N> {
    let gate = Gate::new();
    wait_and_give_up(&gate, 1);
    gate
}

#[cfg(test)]
mod tests {
    use std::{sync::Arc, task::Wake};

    use jeton_core::sync::{AtomicU32, Ordering::Relaxed};

    use super::*;

    #[test]
    fn the_check_lets_through_what_the_state_allows() {
        let gate = BenchGate::<1>::new();
        assert_eq!(checked(&gate, 10), 0);
        assert_eq!(gate.transition::<IDLE, RUNNING>().map(|epoch| epoch.get()), Ok(1));
        assert_eq!((checked(&gate, 10), nothing_checked(10)), (10, 10));
        assert!(gate.close());
        assert_eq!(checked(&gate, 10), 0);
    }

    #[test]
    fn every_scenario_makes_its_transitions() {
        let epochs = |work: fn(&BenchGate<4>, u32) -> Result<(), Stopped>| {
            let gate = left();
            work(&gate, 100).expect("nobody else is here");
            assert_eq!(gate.snapshot().state, Mode::Idle);
            gate.snapshot().epoch.get()
        };
        let circles = [transitions, transitions_looked_up, begun, transitions_beside_others];
        assert_eq!(circles.map(epochs), [100; 4]);
        assert_eq!(epochs(wait_and_wake), 200);
    }

    #[test]
    fn waits_leave_the_gate_as_it_was() {
        let gate = left::<1>();
        wait_and_give_up(&gate, 10);
        assert_eq!(poll_again(&gate, 10), 10);
        assert!(waits(&mut gate.reached(Mode::Ended), Waker::noop()), "there is a slot");
    }

    struct Woken(AtomicU32);

    impl Wake for Woken {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Relaxed);
        }
    }

    #[test]
    fn nobody_is_woken_by_a_state_that_nobody_waits_for() {
        let (gate, woken) = (BenchGate::<2>::new(), Arc::new(Woken(AtomicU32::new(0))));
        let mut wait = gate.reached(Mode::Ended);
        assert!(waits(&mut wait, &Waker::from(woken.clone())));
        assert_eq!(transitions(&gate, 100), Ok(()));
        assert_eq!(woken.0.load(Relaxed), 0);
        assert!(gate.close());
        assert_eq!(woken.0.load(Relaxed), 1);
    }
}
