//! Our gate and its peers, each used as its documentation says, in the same terms: four states, from any to any other.
#![allow(clippy::disallowed_types, reason = "the peers, and what the harness counts, are made of the standard library's atomics")]

use std::{
    hint::black_box,
    sync::{
        Condvar, Mutex, PoisonError,
        atomic::{AtomicU32, Ordering::*},
    },
    time::{Duration, Instant},
};

use event_listener::{Event, Listener, listener};
use jeton::gate::{self, StateSet, States, Waited, states};

/// The state that [`Gate::check`] asks for.
pub(super) const OPEN: u32 = 1;

/// A state that threads wait for; it begins as 0.
pub(super) trait Gate: Send + Sync + 'static {
    /// In state 0.
    fn new() -> Self;
    /// Goes from one state to another and wakes those who wait for it.
    fn set(&self, from: u32, to: u32);
    /// Blocks until it is in `state`.
    fn wait(&self, state: u32);
    #[cfg_attr(not(test), expect(dead_code, reason = "what it costs is not measured; the tests show who has it"))]
    /// The same with a timeout; whether it has got there. `None`: it cannot.
    fn wait_timeout(&self, state: u32, timeout: Duration) -> Option<bool>;
    /// Whether it is open.
    fn check(&self) -> bool;
}

states! {
    /// A state of ours, from each of which one gets to each other one.
    pub(super) enum State: open Open {
        First -> [Third, Fourth], abort Open;
        Open -> [Third, Fourth], abort First;
        Third -> [Open, Fourth], abort First;
        Fourth -> [Open, Third], abort First;
    }
}

fn state(number: u32) -> State {
    State::ALL[number as usize % State::ALL.len()]
}

#[repr(align(128))]
pub(super) struct Jeton(gate::Gate<State>);

impl Gate for Jeton {
    fn new() -> Self {
        Self(gate::Gate::new())
    }

    #[inline]
    fn set(&self, from: u32, to: u32) {
        _ = black_box(self.0.try_transition(state(from), state(to)));
    }

    fn wait(&self, state: u32) {
        _ = self.0.wait_for(StateSet::from(self::state(state)), None, None);
    }

    fn wait_timeout(&self, state: u32, timeout: Duration) -> Option<bool> {
        let waited = self.0.wait_for(StateSet::from(self::state(state)), Some(Instant::now() + timeout), None);
        Some(matches!(waited, Waited::Reached(_)))
    }

    #[inline]
    fn check(&self) -> bool {
        self.0.check()
    }
}

/// The state in a mutex, and a condition variable beside it.
#[repr(align(128))]
pub(super) struct Std(Mutex<u32>, Condvar);

impl Gate for Std {
    fn new() -> Self {
        Self(Mutex::new(0), Condvar::new())
    }

    #[inline]
    fn set(&self, _: u32, to: u32) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = to;
        self.1.notify_all();
    }

    fn wait(&self, state: u32) {
        let guard = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        drop(self.1.wait_while(guard, |found| *found != state).unwrap_or_else(PoisonError::into_inner));
    }

    fn wait_timeout(&self, state: u32, timeout: Duration) -> Option<bool> {
        let guard = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.1.wait_timeout_while(guard, timeout, |found| *found != state);
        Some(!waited.unwrap_or_else(PoisonError::into_inner).1.timed_out())
    }

    #[inline]
    fn check(&self) -> bool {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) == OPEN
    }
}

#[repr(align(128))]
pub(super) struct ParkingLot(parking_lot::Mutex<u32>, parking_lot::Condvar);

impl Gate for ParkingLot {
    fn new() -> Self {
        Self(parking_lot::Mutex::new(0), parking_lot::Condvar::new())
    }

    #[inline]
    fn set(&self, _: u32, to: u32) {
        *self.0.lock() = to;
        self.1.notify_all();
    }

    fn wait(&self, state: u32) {
        self.1.wait_while(&mut self.0.lock(), |found| *found != state);
    }

    fn wait_timeout(&self, state: u32, timeout: Duration) -> Option<bool> {
        Some(!self.1.wait_while_for(&mut self.0.lock(), |found| *found != state, timeout).timed_out())
    }

    #[inline]
    fn check(&self) -> bool {
        *self.0.lock() == OPEN
    }
}

/// Listen, then look, then sleep: as its documentation says.
#[repr(align(128))]
pub(super) struct EventListener(AtomicU32, Event);

impl Gate for EventListener {
    fn new() -> Self {
        Self(AtomicU32::new(0), Event::new())
    }

    #[inline]
    fn set(&self, _: u32, to: u32) {
        self.0.store(to, SeqCst);
        self.1.notify(usize::MAX);
    }

    fn wait(&self, state: u32) {
        while self.0.load(SeqCst) != state {
            listener!(self.1 => listener);
            if self.0.load(SeqCst) == state {
                return;
            }
            listener.wait();
        }
    }

    fn wait_timeout(&self, state: u32, timeout: Duration) -> Option<bool> {
        let deadline = Instant::now() + timeout;
        while self.0.load(SeqCst) != state {
            listener!(self.1 => listener);
            if self.0.load(SeqCst) == state {
                break;
            }
            if listener.wait_deadline(deadline).is_none() {
                return Some(self.0.load(SeqCst) == state);
            }
        }
        Some(true)
    }

    #[inline]
    fn check(&self) -> bool {
        self.0.load(Acquire) == OPEN
    }
}

/// It has no blocking wait: each thread blocks on a receiver's future, and has no timeout without a runtime.
#[repr(align(128))]
pub(super) struct TokioWatch(tokio::sync::watch::Sender<u32>);

impl Gate for TokioWatch {
    fn new() -> Self {
        Self(tokio::sync::watch::Sender::new(0))
    }

    #[inline]
    fn set(&self, _: u32, to: u32) {
        self.0.send_replace(to);
    }

    fn wait(&self, state: u32) {
        let mut receiver = self.0.subscribe();
        // An error would be that the sender is gone, and `self` has it.
        _ = futures_executor::block_on(receiver.wait_for(|found| *found == state)).is_ok();
    }

    fn wait_timeout(&self, _: u32, _: Duration) -> Option<bool> {
        None
    }

    #[inline]
    fn check(&self) -> bool {
        *self.0.borrow() == OPEN
    }
}

#[repr(align(128))]
pub(super) struct AtomicWait(AtomicU32);

impl Gate for AtomicWait {
    fn new() -> Self {
        Self(AtomicU32::new(0))
    }

    #[inline]
    fn set(&self, _: u32, to: u32) {
        self.0.store(to, Release);
        atomic_wait::wake_all(&self.0);
    }

    fn wait(&self, state: u32) {
        loop {
            let found = self.0.load(Acquire);
            if found == state {
                return;
            }
            atomic_wait::wait(&self.0, found);
        }
    }

    fn wait_timeout(&self, _: u32, _: Duration) -> Option<bool> {
        None
    }

    #[inline]
    fn check(&self) -> bool {
        self.0.load(Acquire) == OPEN
    }
}

#[cfg(test)]
mod tests {
    use super::{super::WITH_TIMEOUT, *};

    const SHORT: Duration = Duration::from_millis(20);

    fn does_what_the_trait_says<G: Gate>(has_timeout: bool) {
        let gate = G::new();
        assert!(!gate.check());
        gate.wait(0);
        gate.set(0, OPEN);
        assert!(gate.check());
        gate.wait(OPEN);
        let begin = Instant::now();
        assert_eq!(gate.wait_timeout(2, SHORT), has_timeout.then_some(false));
        assert!(!has_timeout || begin.elapsed() >= SHORT);
        assert_eq!(gate.wait_timeout(OPEN, SHORT), has_timeout.then_some(true));
        std::thread::scope(|scope| {
            let waiter = scope.spawn(|| gate.wait(2));
            gate.set(OPEN, 3);
            std::thread::sleep(SHORT);
            assert!(!waiter.is_finished(), "it waits for another state");
            gate.set(3, 2);
        });
        assert!(!gate.check());
    }

    #[test]
    fn each_does_what_the_trait_says() {
        assert_eq!(WITH_TIMEOUT.len(), 3);
        does_what_the_trait_says::<Jeton>(true);
        does_what_the_trait_says::<Std>(true);
        does_what_the_trait_says::<ParkingLot>(true);
        does_what_the_trait_says::<EventListener>(true);
        does_what_the_trait_says::<TokioWatch>(false);
        does_what_the_trait_says::<AtomicWait>(false);
    }
}
