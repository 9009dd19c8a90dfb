//! Known outcomes that a checker must find, or cannot: if one of these changes, the ways' table in `explore` is no longer true.
#![cfg(any(jeton_loom, jeton_shuttle))]

use jeton_core::{ord, sync::AtomicU32};
use jeton_models::explore::{
    Arc, Seeded,
    Way::{Loom, Rmw, Shuttle},
    find, thread,
};

/// Runs one of `work` in a second thread and the other in this one.
fn both<A, B: Send + 'static>(
    here: impl FnOnce(&(AtomicU32, AtomicU32)) -> A,
    there: impl FnOnce(&(AtomicU32, AtomicU32)) -> B + Send + 'static,
) -> (A, B) {
    let words = Arc::new((AtomicU32::new(0), AtomicU32::new(0)));
    let other = {
        let words = words.clone();
        thread::spawn(move || there(&words))
    };
    (here(&words), other.join().expect("a thread of the model panicked"))
}

/// Old values: without fences, neither of two writers need see the other. Only plain loom knows.
#[test]
fn writers_without_fences_may_miss_each_other() {
    find(Seeded { threads: 2, found_by: &[Loom] }, || {
        let (here, there) = both(
            |words| {
                words.0.store(1, ord!("shim-11", Relaxed));
                words.1.load(ord!("shim-12", Relaxed))
            },
            |words| {
                words.1.store(1, ord!("shim-13", Relaxed));
                words.0.load(ord!("shim-14", Relaxed))
            },
        );
        assert!(here + there > 0, "neither sees the other");
    });
}

/// Interleavings: two threads that each load and compare-and-swap the same word. Plain loom never lets the second thread go first,
/// because each thread's own load hides that the other's swap depends on it; that is why there is a second way.
#[test]
fn the_second_of_two_loops_may_go_first() {
    fn add(words: &(AtomicU32, AtomicU32)) -> u32 {
        let count = words.0.load(ord!("shim-15", Relaxed));
        _ = words.0.compare_exchange(count, count + 1, ord!("shim-16", Relaxed), ord!("shim-17", Relaxed));
        count
    }
    find(Seeded { threads: 2, found_by: &[Rmw, Shuttle] }, || {
        let (here, _) = both(add, add);
        assert!(here == 0, "the other thread went first");
    });
}
