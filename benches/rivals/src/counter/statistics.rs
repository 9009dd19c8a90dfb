//! A statistic that many threads add 1 to.
#![allow(clippy::disallowed_types, reason = "the peers are made of the standard library's atomics")]

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use contatori::counters::{CounterValue, Observable, unsigned::Unsigned};
use fast_counter::ConcurrentCounter;
use jeton::counter::{StripedCounter, ThreadCounter};
use jeton_benches::scenario::counter::every_value_added;

use super::{boxed, equal};
use crate::{
    contender::{Contender, Entry, Group, Target},
    window::Pace,
};

const OWN_STRIPE: &str = "jeton StripedCounter: own stripe";
const ONE_WORD: &str = "std AtomicU64: fetch_add";
const FAST_COUNTER: &str = "fast-counter 1.0";

pub(super) const GROUP: Group = Group {
    name: "statistics",
    operation: "adding 1",
    reference: ONE_WORD,
    ours: OWN_STRIPE,
    fewest: 1000,
    entries: &[
        Entry { name: "nothing (loop and black_box)", most_threads: 2, make: boxed::<Nothing> },
        Entry { name: OWN_STRIPE, most_threads: 2, make: boxed::<OwnStripes> },
        Entry { name: "jeton StripedCounter: shared add", most_threads: 2, make: boxed::<Shared<StripedCounter<u64, STRIPES>>> },
        Entry { name: "jeton ThreadCounter", most_threads: 2, make: boxed::<Shared<ThreadCounter>> },
        Entry { name: ONE_WORD, most_threads: 2, make: boxed::<Shared<AtomicU64>> },
        Entry { name: "std [AtomicU64]: stripes, not padded", most_threads: 2, make: boxed::<Shared<[AtomicU64; STRIPES]>> },
        Entry { name: FAST_COUNTER, most_threads: 2, make: boxed::<Shared<FastCounter>> },
        Entry { name: "contatori 0.7", most_threads: 2, make: boxed::<Shared<Unsigned>> },
    ],
    targets: &[Target { ours: OWN_STRIPE, peers: &[FAST_COUNTER], threads: 2, at_least: Some(1.5) }],
    not_correct: &[],
};

const STRIPES: usize = 16;

/// The harness' own cost.
#[derive(Default)]
struct Nothing;

impl Contender for Nothing {
    fn work(&self, _: usize, pace: Pace<'_>) {
        pace.run(|additions| every_value_added(additions, |_| ()));
    }
    fn check(&self, _: u64) -> Result<(), String> {
        Ok(())
    }
}

/// A stripe for each thread alone.
#[derive(Default)]
#[repr(align(128))]
struct OwnStripes(StripedCounter<u64, STRIPES>);

impl Contender for OwnStripes {
    fn work(&self, _: usize, pace: Pace<'_>) {
        let mine = self.0.claim().expect("more stripes than threads");
        pace.run(|additions| every_value_added(additions, |value| mine.add(value)));
    }
    fn check(&self, operations: u64) -> Result<(), String> {
        equal("the sum", self.0.sum(), operations)
    }
}

/// A counter that every thread adds to by a shared reference.
trait Counter: Sync {
    fn add(&self, thread: usize, value: u64);
    fn sum(&self) -> u64;
}

#[derive(Default)]
#[repr(align(128))]
struct Shared<C>(C);

impl<C: Counter> Contender for Shared<C> {
    fn work(&self, thread: usize, pace: Pace<'_>) {
        pace.run(|additions| every_value_added(additions, |value| self.0.add(thread, value)));
    }
    fn check(&self, operations: u64) -> Result<(), String> {
        equal("the sum", self.0.sum(), operations)
    }
}

impl Counter for StripedCounter<u64, STRIPES> {
    #[inline]
    fn add(&self, thread: usize, value: u64) {
        self.add(thread, value);
    }
    fn sum(&self) -> u64 {
        self.sum()
    }
}

impl Counter for ThreadCounter {
    #[inline]
    fn add(&self, _: usize, value: u64) {
        self.add(value);
    }
    fn sum(&self) -> u64 {
        self.sum()
    }
}

impl Counter for AtomicU64 {
    #[inline]
    fn add(&self, _: usize, value: u64) {
        self.fetch_add(value, Relaxed);
    }
    fn sum(&self) -> u64 {
        self.load(Relaxed)
    }
}

/// Neighbouring words: the threads write different words of the same cache line.
impl Counter for [AtomicU64; STRIPES] {
    #[inline]
    fn add(&self, thread: usize, value: u64) {
        self[thread % STRIPES].fetch_add(value, Relaxed);
    }
    fn sum(&self) -> u64 {
        self.iter().map(|stripe| stripe.load(Relaxed)).sum()
    }
}

struct FastCounter(ConcurrentCounter);

impl Default for FastCounter {
    fn default() -> Self {
        Self(ConcurrentCounter::new(STRIPES))
    }
}

impl Counter for FastCounter {
    #[inline]
    fn add(&self, _: usize, value: u64) {
        self.0.add(value.cast_signed() as isize);
    }
    fn sum(&self) -> u64 {
        self.0.sum() as u64
    }
}

impl Counter for Unsigned {
    #[inline]
    fn add(&self, _: usize, value: u64) {
        self.add(value as usize);
    }
    fn sum(&self) -> u64 {
        match self.value() {
            CounterValue::Unsigned(sum) => sum,
            _ => 0,
        }
    }
}
