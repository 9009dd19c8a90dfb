//! `BitPool` under every interleaving: an ID belongs to one at a time, none is lost, none is hidden once the calls are over.
//!
//! Words have two bits in models: up to four IDs take one level of summary, six take two.
#![cfg(any(jeton_loom, jeton_shuttle))]

use jeton_core::{
    pool::{AllocError, BitPool, Checked, FreeError, Generational, Retire, bit_pool_words},
    sync::UnsafeCell,
};
use jeton_models::explore::{Arc, Model, explore, thread};

const W1: usize = bit_pool_words(1);
const W2: usize = bit_pool_words(2);
const W4: usize = bit_pool_words(4);

/// Runs `first` in this thread and the others in threads of their own.
fn together<S: Send + Sync + 'static>(subject: &Arc<S>, first: impl Fn(&S), others: &[fn(&S)]) {
    let run = |other: fn(&S)| {
        let subject = subject.clone();
        thread::spawn(move || other(&subject))
    };
    let others: Vec<_> = others.iter().copied().map(run).collect();
    first(subject);
    for other in others {
        other.join().expect("a thread of the model panicked");
    }
}

/// What lies beside the IDs: plain memory of whoever has the ID.
struct WithData<const N: usize, const WORDS: usize> {
    pool: BitPool<N, WORDS>,
    data: [UnsafeCell<u32>; N],
}

// SAFETY: the cell of an ID is used only by whoever has that ID from the pool; that this suffices is what the model checks.
unsafe impl<const N: usize, const WORDS: usize> Sync for WithData<N, WORDS> {}

impl<const N: usize, const WORDS: usize> WithData<N, WORDS> {
    fn new() -> Self {
        Self { pool: BitPool::new(), data: core::array::from_fn(|_| UnsafeCell::new(0)) }
    }

    fn touch(&self, id: u32) {
        // SAFETY: see above: the ID is allocated to this thread.
        self.data[id as usize].with_mut(|data| unsafe { *data += 1 });
    }

    fn take_and_give(&self) {
        if let Ok(id) = self.pool.alloc() {
            self.touch(id);
            self.pool.free(id).expect("allocated here");
        }
    }
}

/// Allocates all IDs: each comes once, smallest first, and then the pool is exhausted.
fn check_all_free<const N: usize, const WORDS: usize>(pool: &BitPool<N, WORDS>) {
    assert_eq!((0..N).map(|_| pool.alloc()).collect::<Vec<_>>(), (0..N as u32).map(Ok).collect::<Vec<_>>());
    assert_eq!(pool.alloc(), Err(AllocError::Exhausted));
}

#[test]
fn what_was_done_before_a_free_is_visible_to_who_gets_the_id_next() {
    explore(Model { threads: 2, loom: 140, rmw: 120, shuttle: 63000 }, || {
        let ids = Arc::new(WithData::<1, W1>::new());
        together(&ids, WithData::take_and_give, &[WithData::take_and_give]);
        check_all_free(&ids.pool);
    });
}

#[test]
fn what_was_done_before_a_free_is_visible_to_who_gets_a_slice_next() {
    explore(Model { threads: 2, loom: 140, rmw: 190, shuttle: 63000 }, || {
        let ids = Arc::new(WithData::<2, W2>::new());
        together(
            &ids,
            WithData::take_and_give,
            &[|ids| {
                let mut slice = [0; 2];
                let count = ids.pool.alloc_into(&mut slice);
                slice[..count].iter().for_each(|&id| ids.touch(id));
                ids.pool.free_slice(&slice[..count]).expect("allocated here");
            }],
        );
        check_all_free(&ids.pool);
    });
}

const W6: usize = bit_pool_words(6);

/// One marks the first word, in which it has found nothing, and goes on to the second; the other frees an ID in the first.
fn free_beside_a_search<const N: usize, const WORDS: usize>(taken: u32, freed: u32) {
    let ids = Arc::new(WithData::<N, WORDS>::new());
    (0..taken).for_each(|id| ids.pool.reserve(id).expect("free at first"));
    let other = {
        let ids = ids.clone();
        thread::spawn(move || ids.touch(ids.pool.alloc().expect("one is free all the time")))
    };
    ids.touch(freed);
    ids.pool.free(freed).expect("allocated");
    other.join().expect("a thread of the model panicked");
    let free: Vec<_> = ids.pool.free_ids().collect();
    assert_eq!(free.len(), N - taken as usize);
    // With others left above, a hidden one would not be the next.
    let next: Vec<_> = free.iter().map(|_| ids.pool.alloc()).collect();
    assert_eq!(next, free.into_iter().map(Ok).collect::<Vec<_>>(), "the smallest first");
    assert_eq!(ids.pool.alloc(), Err(AllocError::Exhausted));
}

#[test]
fn a_freed_id_is_not_hidden_by_a_mark() {
    explore(Model { threads: 2, loom: 33, rmw: 47, shuttle: 31000 }, || free_beside_a_search::<6, W6>(2, 1));
}

/// With two words full: the mark above them must go too.
#[test]
fn a_freed_id_is_not_hidden_by_a_mark_above() {
    explore(Model { threads: 2, loom: 64, rmw: 92, shuttle: 63000 }, || free_beside_a_search::<6, W6>(4, 1));
}

/// There is an ID free at every moment: the one freed, or the one taken after that.
#[test]
fn exhausted_is_not_said_while_an_id_is_free() {
    explore(Model { threads: 2, loom: 170, rmw: 240, shuttle: 63000 }, || {
        let pool = Arc::new(BitPool::<3, W4>::new());
        (0..2).for_each(|id| pool.reserve(id).expect("free at first"));
        together(
            &pool,
            |pool| assert!(pool.alloc().is_ok(), "an ID was free all the time"),
            &[|pool| {
                pool.free(0).expect("allocated");
                if pool.reserve(2).is_ok() {
                    pool.free(1).expect("allocated");
                }
            }],
        );
    });
}

/// The look at all words by itself: an ID is freed behind it, and the last one taken ahead of it. Then the freed one is used.
#[test]
fn an_id_freed_before_another_is_taken_is_seen_with_its_data() {
    explore(Model { threads: 2, loom: 140, rmw: 180, shuttle: 63000 }, || {
        let ids = Arc::new(WithData::<3, W4>::new());
        (0..2).for_each(|id| ids.pool.reserve(id).expect("free at first"));
        let looks = |ids: &WithData<3, W4>| {
            assert!(!ids.pool.is_exhausted(), "an ID was free all the time");
            ids.touch(ids.pool.alloc().expect("an ID was free all the time"));
        };
        together(
            &ids,
            looks,
            &[|ids| {
                ids.touch(0);
                ids.pool.free(0).expect("allocated");
                _ = ids.pool.reserve(2);
            }],
        );
    });
}

/// The same where IDs are taken by the slice, among them one that the look's thread frees afterwards.
#[test]
fn an_id_freed_before_a_slice_is_taken_is_seen_with_its_data() {
    explore(Model { threads: 2, loom: 160, rmw: 200, shuttle: 63000 }, || {
        let ids = Arc::new(WithData::<4, W4>::new());
        (1..4).for_each(|id| ids.pool.reserve(id).expect("free at first"));
        let looks = |ids: &WithData<4, W4>| {
            assert!(!ids.pool.is_exhausted(), "an ID was free all the time");
            ids.touch(1);
            ids.pool.free(1).expect("allocated");
        };
        together(
            &ids,
            looks,
            &[|ids| {
                ids.touch(2);
                ids.pool.free_slice(&[2, 3]).expect("allocated");
                let mut slice = [0; 2];
                let count = ids.pool.alloc_into(&mut slice);
                assert_eq!(count, 2, "three are free, and nobody else takes any");
                slice[..count].iter().for_each(|&id| ids.touch(id));
            }],
        );
    });
}

#[test]
fn three_threads_that_take_and_give_lose_no_id() {
    explore(Model { threads: 3, loom: 1800, rmw: 3400, shuttle: 18000 }, || {
        let ids = Arc::new(WithData::<2, W2>::new());
        together(&ids, WithData::take_and_give, &[WithData::take_and_give, WithData::take_and_give]);
        check_all_free(&ids.pool);
    });
}

#[test]
fn of_two_frees_of_an_allocation_one_is_refused() {
    explore(Model { threads: 2, loom: 3, rmw: 3, shuttle: 16 }, || {
        let pool = Arc::new(Checked::<BitPool<2, W2>, 2>::new(BitPool::new()));
        let id = pool.alloc().expect("free at first");
        let other = {
            let pool = pool.clone();
            thread::spawn(move || pool.free(id))
        };
        let mut both = [pool.free(id), other.join().expect("a thread of the model panicked")];
        both.sort_by_key(Result::is_err);
        assert_eq!(both, [Ok(()), Err(FreeError::NotAllocated(id))]);
        check_all_free(pool.pool());
    });
}

#[test]
fn of_two_frees_with_a_handle_one_is_stale() {
    explore(Model { threads: 2, loom: 11, rmw: 9, shuttle: 190 }, || {
        let pool = Arc::new(Generational::<BitPool<2, W2>, 2, Retire>::new(BitPool::new()));
        let handle = pool.alloc().expect("free at first");
        let other = {
            let pool = pool.clone();
            thread::spawn(move || (pool.free(handle), pool.alloc()))
        };
        let mine = pool.free(handle);
        let (others, next) = other.join().expect("a thread of the model panicked");
        assert!(mine.is_ok() != others.is_ok(), "{mine:?}, {others:?}");
        let next = next.expect("two IDs, of which at most one is taken");
        assert!(pool.is_current(next) && !pool.is_current(handle));
    });
}
