//! A small number for each living thread, its own while it lives: one for all structures, so that there is one destructor, too.
//!
//! The invariants are on the page of [`counter`](crate::counter), whose stripes need that a number is nobody else's. Pools do not.

use std::cell::Cell;

use jeton_core::{sync::AtomicU32, util::Numbers};

/// Threads that have numbers of their own at the same time; any more share.
pub(crate) const OWN: usize = 256;

/// The cell of a thread that has not taken a number yet.
const UNKNOWN: usize = usize::MAX;

static NUMBERS: Numbers<AtomicU32, OWN> = Numbers::new();

thread_local! {
    /// Without a destructor: it can be read while the other thread-locals are torn down.
    static NUMBER: Cell<usize> = const { Cell::new(UNKNOWN) };
    static HAND_BACK: HandBack = const { HandBack };
}

/// Its destructor runs when the thread ends.
struct HandBack;

impl Drop for HandBack {
    fn drop(&mut self) {
        // Shared from now on (I3), before another thread can have the number (I1).
        NUMBERS.hand_back(NUMBER.replace(NUMBERS.shared()));
    }
}

/// The number of the current thread if it has taken one, and otherwise one of at least [`OWN`].
#[inline]
pub(crate) fn known() -> usize {
    NUMBER.get()
}

/// The number of the current thread, taken now if it has not yet; of at least [`OWN`] if others may have it as well.
#[inline]
pub(crate) fn current() -> usize {
    match NUMBER.get() {
        UNKNOWN => take(),
        number => number,
    }
}

#[cold]
#[inline(never)]
fn take() -> usize {
    // The destructor first: once it is registered it runs, and in a thread whose destructors have run none is taken.
    let number = HAND_BACK.try_with(|_| NUMBERS.take()).unwrap_or_else(|_| NUMBERS.shared());
    NUMBER.set(number);
    number
}

#[cfg(test)]
mod tests {
    use std::{
        cell::RefCell,
        sync::{Barrier, mpsc},
        thread,
    };

    use super::*;

    /// Also holds all numbers at once, so that the tests here run one after another.
    #[test]
    fn a_number_is_its_threads_alone_and_free_again_when_that_ends() {
        // Many more threads than numbers, one after another: each finds one free.
        for _ in 0..3 * OWN {
            assert!(thread::spawn(current).join().expect("no panic") < OWN);
        }

        let all_alive = Barrier::new(OWN + 20);
        let take = || {
            let number = current();
            all_alive.wait();
            assert_eq!((current(), known()), (number, number), "the same for life");
            number
        };
        let mut numbers: Vec<usize> = thread::scope(|scope| {
            let threads: Vec<_> = (0..OWN + 20).map(|_| scope.spawn(take)).collect();
            threads.into_iter().map(|thread| thread.join().expect("no panic")).collect()
        });
        numbers.sort_unstable();
        let own = numbers.iter().filter(|&&number| number < OWN).count();
        numbers.dedup();
        assert_eq!(numbers.len(), OWN + 20, "no number of its own twice, and the others spread");
        // The harness' own threads may have numbers, too.
        assert!((OWN - 8..=OWN).contains(&own), "{own}");

        // A thread-local that is torn down after the number has been handed back, since it was there before.
        struct Tells(mpsc::Sender<usize>);
        impl Drop for Tells {
            fn drop(&mut self) {
                _ = self.0.send(current());
            }
        }
        thread_local!(static BEFORE: RefCell<Option<Tells>> = const { RefCell::new(None) });
        let (sender, told) = mpsc::channel();
        let alive = thread::spawn(move || {
            BEFORE.set(Some(Tells(sender)));
            current()
        });
        assert!(alive.join().expect("no panic") < OWN);
        assert!(told.recv().expect("the destructor runs") >= OWN, "shared, once handed back");
    }
}
