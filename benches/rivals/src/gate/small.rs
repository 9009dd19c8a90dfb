//! What is done while nobody waits: a check, a transition.
#![allow(clippy::disallowed_types, reason = "the peers, and what the harness counts, are made of the standard library's atomics")]

use std::{
    hint::black_box,
    sync::atomic::{AtomicU64, Ordering::Relaxed},
};

use super::peers::{Gate, OPEN};
use crate::{contender::Contender, window::Pace};

/// A check of an open gate.
struct Check<G> {
    gate: G,
    found_open: AtomicU64,
}

pub(super) fn check<G: Gate>() -> Box<dyn Contender> {
    let gate = G::new();
    gate.set(0, OPEN);
    Box::new(Check { gate, found_open: AtomicU64::new(0) })
}

impl<G: Gate> Contender for Check<G> {
    fn work(&self, _: usize, pace: Pace<'_>) {
        let mut found_open = 0;
        pace.run(|calls| (0..calls).for_each(|_| found_open += u64::from(black_box(&self.gate).check())));
        self.found_open.store(found_open, Relaxed);
    }

    fn check(&self, operations: u64) -> Result<(), String> {
        expect("checks of an open gate that found it open", self.found_open.load(Relaxed), operations)
    }
}

/// From closed to open and back.
struct Transition<G> {
    gate: G,
    done: AtomicU64,
}

pub(super) fn transition<G: Gate>() -> Box<dyn Contender> {
    Box::new(Transition { gate: G::new(), done: AtomicU64::new(0) })
}

impl<G: Gate> Contender for Transition<G> {
    fn work(&self, _: usize, pace: Pace<'_>) {
        let mut state = 0;
        let mut done = 0;
        pace.run(|calls| {
            for _ in 0..calls {
                black_box(&self.gate).set(state, OPEN - state);
                state = OPEN - state;
            }
            done += u64::from(calls);
        });
        self.done.store(done, Relaxed);
    }

    fn check(&self, operations: u64) -> Result<(), String> {
        let is_open = operations % 2 == 1;
        if self.gate.check() != is_open {
            return Err(format!("not in its state after {operations} transitions"));
        }
        expect("transitions", self.done.load(Relaxed), operations)
    }
}

pub(super) fn expect(what: &str, found: u64, expected: u64) -> Result<(), String> {
    if found == expected { Ok(()) } else { Err(format!("{what}: {found} instead of {expected}")) }
}
