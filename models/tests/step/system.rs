//! What stands in the place of the system where another operation runs at every step of a blocking wait.
#![allow(missing_docs, reason = "a part of tests")]

/// In the place of the clock.
pub mod blocking {
    use std::cell::Cell;

    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub struct Instant(u32);

    thread_local! {
        static NOW: Cell<u32> = const { Cell::new(0) };
    }

    impl Instant {
        pub fn now() -> Self {
            Self(NOW.get())
        }
    }

    pub const DEADLINE: Instant = Instant(1);

    pub fn set(now: u32) {
        NOW.set(now);
    }

    pub fn is_late() -> bool {
        NOW.get() >= DEADLINE.0
    }
}

/// In the place of the system's sleep. One step long: if nobody wakes it in that one, nobody ever will, and the deadline comes.
pub mod wait_word {
    use std::cell::{Cell, RefCell};

    use crate::{
        blocking::{self, Instant},
        sync::{AtomicU64, Ordering::Relaxed},
    };

    struct Sleeper {
        number: u32,
        word: usize,
        bits: u32,
    }

    thread_local! {
        static SLEEPERS: RefCell<Vec<Sleeper>> = const { RefCell::new(Vec::new()) };
        static SLEEPS: Cell<u32> = const { Cell::new(0) };
        static WAKES: Cell<u32> = const { Cell::new(0) };
    }

    /// How many were woken.
    pub fn wakes() -> u32 {
        WAKES.get()
    }

    pub fn wait(word: &AtomicU64, seen: u64, bits: u32, deadline: Option<Instant>) {
        if word.load(Relaxed) as u32 != seen as u32 {
            return;
        }
        let number = SLEEPS.get();
        SLEEPS.set(number + 1);
        SLEEPERS.with_borrow_mut(|all| all.push(Sleeper { number, word: std::ptr::from_ref(word).addr(), bits }));
        // Asleep.
        word.load(Relaxed);
        let before = SLEEPERS.with_borrow(Vec::len);
        SLEEPERS.with_borrow_mut(|all| all.retain(|sleeper| sleeper.number != number));
        if SLEEPERS.with_borrow(Vec::len) < before {
            assert!(deadline.is_some(), "asleep for ever");
            blocking::set(1);
        }
    }

    pub fn wake(word: &AtomicU64, bits: u32, count: u32) -> u32 {
        let word = std::ptr::from_ref(word).addr();
        let mut woken = 0;
        SLEEPERS.with_borrow_mut(|all| {
            all.retain(|sleeper| {
                let is_woken = woken < count && sleeper.word == word && sleeper.bits & bits != 0;
                woken += u32::from(is_woken);
                !is_woken
            });
        });
        WAKES.set(WAKES.get() + woken);
        woken
    }
}
