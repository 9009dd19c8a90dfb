//! What must hold of sleeping on a word, on both ways to do it: the system's, and the queues for where the system has none. The files are
//! the library's own, and both are run whatever the library has chosen.
#![cfg(not(any(jeton_loom, jeton_shuttle)))]
#![allow(missing_docs, reason = "the library's sources")]

use std::{
    sync::mpsc,
    thread,
    time::{Duration, Instant},
};

use jeton_core::sync::{AtomicU64, Ordering::SeqCst};

/// What the files take from their crate.
mod blocking {
    pub(crate) use std::time::Instant;
}

#[cfg(all(target_os = "linux", target_has_atomic = "64"))]
#[path = "../../std-ext/src/wait/futex.rs"]
mod futex;
#[path = "../../std-ext/src/wait/parking.rs"]
mod parking;

/// One of the two ways.
#[derive(Clone, Copy)]
struct Way {
    wait: fn(&AtomicU64, u64, u32, Option<Instant>),
    wake: fn(&AtomicU64, u32, u32) -> u32,
}

const LONG: Duration = Duration::from_secs(60);
const ROUNDS: u64 = if cfg!(miri) { 20 } else { 2000 };
/// As many as there are.
const ALL: u32 = i32::MAX as u32;
const HIGH: u64 = 1 << 40;

/// The system's interrupts apart, neither way returns for no reason.
fn elapsed(way: Way, word: &AtomicU64, seen: u64, rest: Duration) -> Duration {
    let before = Instant::now();
    (way.wait)(word, seen, 1, Some(before + rest));
    before.elapsed()
}

fn nobody_sleeps_on_a_word_that_has_changed(way: Way) {
    assert!(elapsed(way, &AtomicU64::new(5), 4, LONG) < LONG / 2);
    assert!(elapsed(way, &AtomicU64::new(HIGH | 5), HIGH | 4, LONG) < LONG / 2);
}

fn the_low_half_alone_is_compared(way: Way) {
    let rest = Duration::from_millis(20);
    assert!(elapsed(way, &AtomicU64::new(HIGH | 5), 5, rest) >= rest);
}

fn a_deadline_is_kept_and_never_early(way: Way) {
    let word = AtomicU64::new(0);
    for rest in [0, 1, 20].map(Duration::from_millis) {
        let slept = elapsed(way, &word, 0, rest);
        assert!(slept >= rest && slept < LONG / 2, "{slept:?} of {rest:?}");
    }
    // One that has passed.
    let before = Instant::now();
    thread::sleep(Duration::from_millis(1));
    (way.wait)(&word, 0, 1, Some(before));
    assert!(before.elapsed() < LONG / 2);
}

/// Three sleepers for the bits 1, 2 and both. The wakes are repeated: a sleeper may be late.
fn a_wake_reaches_all_that_sleep_for_its_bits_and_nobody_else(way: Way) {
    let (word, other) = (AtomicU64::new(0), AtomicU64::new(0));
    let (sender, awake) = mpsc::channel();
    thread::scope(|scope| {
        for bits in 1..=3 {
            let (sender, word) = (sender.clone(), &word);
            scope.spawn(move || {
                (way.wait)(word, 0, bits, None);
                sender.send(bits).expect("the test listens");
            });
        }
        let wake_until = |bits, expected: usize| {
            let mut woken: Vec<u32> = vec![];
            while woken.len() < expected {
                (way.wake)(&word, bits, ALL);
                woken.extend(awake.recv_timeout(Duration::from_millis(1)));
            }
            woken.sort_unstable();
            woken
        };
        assert_eq!(wake_until(0b10, 2), [2, 3]);
        for bits in [0b10, 0b100, 0] {
            (way.wake)(&word, bits, ALL);
            (way.wake)(&other, !0, ALL);
        }
        assert!(awake.recv_timeout(Duration::from_millis(20)).is_err(), "it sleeps for the bit 1");
        // As the end of a gate does.
        assert_eq!(wake_until(!0, 1), [1]);
    });
}

/// Five sleepers, three of them for the bit 2: who wakes some can rely on having woken all, if there were less.
fn a_wake_of_some_wakes_so_many_and_says_if_there_were_less(way: Way) {
    let word = AtomicU64::new(0);
    let (sender, awake) = mpsc::channel();
    thread::scope(|scope| {
        for bits in [1, 2, 2, 3, 1] {
            let (sender, word) = (sender.clone(), &word);
            scope.spawn(move || {
                (way.wait)(word, 0, bits, None);
                sender.send(bits & 2).expect("the test listens");
            });
        }
        let woken = |bits: u32, count: u32, expected: u32| {
            let mut all = 0;
            while all < expected {
                let some = (way.wake)(&word, bits, count.min(expected - all));
                assert!(some <= count);
                (0..some).for_each(|_| assert_eq!(awake.recv_timeout(LONG).expect("it is awake") & bits, bits & 2));
                all += some;
            }
        };
        woken(2, 1, 1);
        woken(2, 2, 2);
        assert_eq!((way.wake)(&word, 2, 3), 0, "all of these are awake");
        assert!(awake.recv_timeout(Duration::from_millis(20)).is_err(), "the others sleep");
        woken(1, 9, 2);
    });
}

/// Two threads take turns. Each sleeps without a deadline: a lost wake would be the end of both.
fn no_wake_is_lost_between_the_look_and_the_sleep(way: Way) {
    let word = AtomicU64::new(0);
    let takes_turns = |mine: u64| {
        for _ in 0..ROUNDS {
            loop {
                let seen = word.load(SeqCst);
                if seen % 2 == mine {
                    break;
                }
                (way.wait)(&word, seen, 1, None);
            }
            word.fetch_add(1, SeqCst);
            (way.wake)(&word, 1, ALL);
        }
    };
    thread::scope(|scope| {
        scope.spawn(|| takes_turns(1));
        takes_turns(0);
    });
    assert_eq!(word.load(SeqCst), 2 * ROUNDS);
}

/// Whoever wins, the sleeper is awake, and sees the change at its next look if it was late.
fn a_deadline_may_come_with_the_wake(way: Way) {
    for round in 0..ROUNDS / 10 {
        let word = AtomicU64::new(0);
        thread::scope(|scope| {
            scope.spawn(|| {
                let deadline = Instant::now() + Duration::from_micros(10 * (round % 20));
                while word.load(SeqCst) == 0 && Instant::now() < deadline {
                    (way.wait)(&word, 0, 1, Some(deadline));
                }
                // It left nothing behind that would end this sleep, or make it miss the wake.
                while word.load(SeqCst) == 0 {
                    (way.wait)(&word, 0, 1, None);
                }
            });
            thread::sleep(Duration::from_micros(5 * (round % 40)));
            word.store(1, SeqCst);
            (way.wake)(&word, 1, ALL);
        });
    }
}

macro_rules! on {
    ($module:ident, $way:ident: $($test:ident)*) => {
        mod $module {
            use super::Way;

            const WAY: Way = Way { wait: super::$way::wait, wake: super::$way::wake };
            $(
                #[test]
                fn $test() {
                    super::$test(WAY);
                }
            )*
        }
    };
}

macro_rules! on_both {
    ($($test:ident)*) => {
        #[cfg(all(target_os = "linux", target_has_atomic = "64"))]
        on!(on_the_system, futex: $($test)*);
        on!(on_queues, parking: $($test)*);
    };
}

on_both! {
    nobody_sleeps_on_a_word_that_has_changed
    the_low_half_alone_is_compared
    a_deadline_is_kept_and_never_early
    a_wake_reaches_all_that_sleep_for_its_bits_and_nobody_else
    a_wake_of_some_wakes_so_many_and_says_if_there_were_less
    no_wake_is_lost_between_the_look_and_the_sleep
    a_deadline_may_come_with_the_wake
}
