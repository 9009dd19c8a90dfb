//! Counters with a stripe a thread.

use std::fmt;

use jeton_core::counter::{StripedCounter, StripedGauge};

use crate::thread_number;

/// A count that many threads add to, each in a stripe of its own. It only grows.
///
/// Of the threads that live at the same time, the first `N` (at most 256) add with a load and a store; any more with a `fetch_add`.
/// What a thread has counted stays when it ends. Works in the destructors of thread-locals. Not for signal handlers: one that
/// interrupts an addition of its own thread may lose a count.
///
/// # Ordering
/// Orders nothing, as [`StripedCounter`].
///
/// # Examples
/// ```
/// use jeton::counter::ThreadCounter;
/// static BYTES: ThreadCounter = ThreadCounter::new();
/// BYTES.add(1500);
/// assert_eq!(BYTES.sum(), 1500);
/// ```
#[derive(Default)]
pub struct ThreadCounter<const N: usize = 64>(StripedCounter<u64, N>);

impl<const N: usize> ThreadCounter<N> {
    /// Zero.
    pub const fn new() -> Self {
        const { assert!(N <= thread_number::OWN, "at most 256 threads have numbers") };
        Self(StripedCounter::new())
    }

    /// Adds. Wait-free.
    #[inline]
    pub fn add(&self, value: u64) {
        // One test for the three kinds of threads: those with a stripe of their own, those without, and those that count first now.
        match thread_number::known() {
            number if number < N => self.0.add_at_own(number, value),
            _ => self.add_without_known_stripe(value),
        }
    }

    #[cold]
    #[inline(never)]
    fn add_without_known_stripe(&self, value: u64) {
        self.0.add_at_own(thread_number::current(), value);
    }

    /// The sum of all threads, ended ones included: while nobody drains, between the count at the call's start and that at its end.
    pub fn sum(&self) -> u64 {
        self.0.sum()
    }

    /// Takes everything out: what was added before and not drained yet. Loses nothing that is added meanwhile. Lock-free.
    pub fn drain(&self) -> u64 {
        self.0.drain()
    }
}

/// A count that many threads add to and take from, each in a stripe of its own.
///
/// As [`ThreadCounter`], but a sum that runs while threads add and take may be a value that the count never had: see
/// [`StripedGauge`].
///
/// # Examples
/// ```
/// use jeton::counter::ThreadGauge;
/// static OPEN: ThreadGauge = ThreadGauge::new();
/// OPEN.add(1);
/// std::thread::spawn(|| OPEN.add(-1)).join().unwrap();
/// assert_eq!(OPEN.sum(), 0);
/// ```
#[derive(Default)]
pub struct ThreadGauge<const N: usize = 64>(StripedGauge<u64, N>);

impl<const N: usize> ThreadGauge<N> {
    /// Zero.
    pub const fn new() -> Self {
        const { assert!(N <= thread_number::OWN, "at most 256 threads have numbers") };
        Self(StripedGauge::new())
    }

    /// Adds `value`, which may be negative. Wait-free.
    #[inline]
    pub fn add(&self, value: i64) {
        // One test for the three kinds of threads: those with a stripe of their own, those without, and those that count first now.
        match thread_number::known() {
            number if number < N => self.0.add_at_own(number, value),
            _ => self.add_without_known_stripe(value),
        }
    }

    #[cold]
    #[inline(never)]
    fn add_without_known_stripe(&self, value: i64) {
        self.0.add_at_own(thread_number::current(), value);
    }

    /// The sum of all threads, ended ones included: exact once nobody adds.
    pub fn sum(&self) -> i64 {
        self.0.sum()
    }

    /// Takes everything out: the drains and what is left add up to what was added. Lock-free.
    pub fn drain(&self) -> i64 {
        self.0.drain()
    }
}

impl<const N: usize> fmt::Debug for ThreadCounter<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ThreadCounter").field("sum", &self.sum()).finish_non_exhaustive()
    }
}

impl<const N: usize> fmt::Debug for ThreadGauge<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ThreadGauge").field("sum", &self.sum()).finish_non_exhaustive()
    }
}
