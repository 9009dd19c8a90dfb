//! Faults reported of other pools for threads, turned round: each test is named for what must hold. Those of waiting are in
//! `faults_id_pool_wait`.
#![cfg(not(any(jeton_loom, jeton_shuttle)))]

mod id_pool;

use std::{
    cell::RefCell,
    collections::BTreeSet,
    mem, panic,
    sync::{Arc, Barrier, mpsc},
    thread,
};

use id_pool::{LONG, alloc_certainly, assert_conserved, pool};
use jeton::pool::{AllocError, FreeError, IdGuard, IdPool, IdPoolError, IdRange, RangeError};

// ---- The range. ----

/// ovs 79db89c4b and its like: every capacity, and every range at its edges.
#[test]
fn ranges_are_exact_at_both_ends_and_never_overflow() {
    let edges = [(u32::MAX, 1), (u32::MAX - 63, 64), (u32::MAX - 2999, 3000), (7, 0), (9, 2048), (0, 2049), (1 << 31, 70_001)];
    let sizes = [1, 2, 63, 64, 65, 127, 128, 129, 1000].map(|capacity| (5, capacity));
    for (base, capacity) in edges.into_iter().chain(sizes).filter(|(_, capacity)| !cfg!(miri) || *capacity < 200) {
        let pool = IdPool::with_range(base, capacity).expect("a range");
        assert_eq!((pool.base(), pool.capacity(), pool.available()), (base, capacity, capacity));
        assert_conserved(&pool, &[]);
        for outside in [base.wrapping_sub(1), base.wrapping_add(capacity)] {
            assert_eq!(pool.free(outside), Err(FreeError::OutOfRange(outside)), "{base} {capacity}");
        }
        assert_conserved(&pool, &[]);
    }
    // Refused before memory is taken for them.
    for (base, capacity) in [(2, u32::MAX), (u32::MAX, 2), (u32::MAX, u32::MAX)] {
        let refused = IdPool::with_range(base, capacity).err();
        assert_eq!(refused, Some(IdPoolError::Range(RangeError::PastLastId { base, capacity })));
    }
}

#[test]
fn any_number_of_users_does() {
    let few = [0, 1, 2, 3].into_iter();
    for users in few.chain([255, 256, 257, usize::MAX].into_iter().filter(|_| !cfg!(miri))) {
        assert_conserved(&pool(100, users), &[]);
    }
}

/// slab PR #152: compared with the capacity instead of what is in use.
#[test]
fn an_id_that_was_never_handed_out_is_refused_and_changes_nothing() {
    let pool = pool(300, 2);
    let id = pool.alloc().expect("an ID");
    assert_eq!((pool.free(299), pool.free(300)), (Err(FreeError::NotAllocated(299)), Err(FreeError::OutOfRange(300))));
    let error = pool.free_slice(&[id, 299, 300]).expect_err("the second one is refused");
    assert_eq!((error.freed, error.error), (1, FreeError::NotAllocated(299)));
    assert_conserved(&pool, &[]);
}

// ---- Threads. ----

/// heapless #583, thingbuf: "empty" while most IDs were free, whenever a thread was preempted inside a call.
#[test]
fn eight_threads_that_hold_one_of_64_ids_each_are_never_told_that_all_are_taken() {
    let calls: u32 = if cfg!(miri) { 20 } else { 200_000 };
    for users in [8, 2] {
        let pool = pool(64, users);
        let start = Barrier::new(8);
        let failures: u32 = thread::scope(|scope| {
            let work = || {
                let mut failures = 0;
                start.wait();
                for _ in 0..calls {
                    match pool.alloc() {
                        Ok(id) => assert_eq!(pool.free(id), Ok(())),
                        Err(error) => {
                            assert_eq!(error, AllocError::Contended, "at most eight of 64 were taken");
                            failures += 1;
                        }
                    }
                }
                failures
            };
            let threads: Vec<_> = (0..8).map(|_| scope.spawn(work)).collect();
            threads.into_iter().map(|thread| thread.join().expect("no panic")).sum()
        });
        // Where four threads share a user, one that is stopped inside may have most of the IDs in there.
        assert!(users < 8 || failures <= 8 * calls / 100, "{failures} of {} calls failed", 8 * calls);
        assert_conserved(&pool, &[]);
    }
}

/// odp-dpdk #194: two threads could not get two of 32 buffers, because the first had cached them all.
#[test]
fn every_thread_gets_its_share_down_to_the_last_id() {
    for _ in 0..if cfg!(miri) { 1 } else { 50 } {
        let pool = pool(100, 8);
        let start = Barrier::new(4);
        let share = || {
            start.wait();
            (0..25).map(|_| alloc_certainly(&pool)).collect::<Vec<_>>()
        };
        let held: Vec<u32> = thread::scope(|scope| {
            let threads: Vec<_> = (0..4).map(|_| scope.spawn(share)).collect();
            threads.into_iter().flat_map(|thread| thread.join().expect("no panic")).collect()
        });
        assert_conserved(&pool, &held);
        assert_eq!(pool.alloc(), Err(AllocError::Exhausted));
    }
}

/// sharded-slab #62, tracing #2856, neon #2545: limits on the number of threads. Here are more than there are numbers, all alive.
#[test]
#[cfg_attr(miri, ignore = "too many threads")]
fn more_threads_than_users_and_than_numbers_share_them() {
    let pool = pool(2000, 4);
    let all_alive = Barrier::new(300);
    let held: BTreeSet<u32> = thread::scope(|scope| {
        let work = || {
            let first = alloc_certainly(&pool);
            all_alive.wait();
            for _ in 0..100 {
                let id = alloc_certainly(&pool);
                assert_eq!(pool.free(id), Ok(()));
            }
            first
        };
        let threads: Vec<_> = (0..300).map(|_| scope.spawn(work)).collect();
        threads.into_iter().map(|thread| thread.join().expect("no panic")).collect()
    });
    assert_eq!(held.len(), 300, "each has another one");
    assert_conserved(&pool, &held.into_iter().collect::<Vec<_>>());
}

/// valkey-search #1119, folly #133: what a thread had went with it. Here its cached IDs stay within everybody's reach.
#[test]
fn a_thread_that_ends_takes_no_id_with_it() {
    let pool = pool(128, 4);
    for _ in 0..if cfg!(miri) { 3 } else { 200 } {
        let fills_its_cache = || {
            let ids: Vec<u32> = (0..100).map(|_| alloc_certainly(&pool)).collect();
            assert_eq!(pool.free_slice(&ids), Ok(()));
        };
        thread::scope(|scope| {
            scope.spawn(fills_its_cache);
        });
        assert_eq!(pool.available(), 128);
    }
    // Not even if it ends by a panic, or keeps some, or if all threads ended together.
    let kept: Vec<u32> = thread::scope(|scope| {
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(|| [alloc_certainly(&pool), alloc_certainly(&pool)])).collect();
        threads.into_iter().flat_map(|thread| thread.join().expect("no panic")).collect()
    });
    assert_conserved(&pool, &kept);
}

/// The same to the last ID: one thread gets all of them at once, also those that were spilled because threads shared a cache.
#[test]
fn the_next_thread_gets_every_id_that_ended_threads_have_freed() {
    let sizes = [(1, 1), (3, 4), (64, 2), (129, 4), (1000, 1), (5000, 8)];
    for (capacity, users) in sizes.into_iter().filter(|(capacity, _)| !cfg!(miri) || *capacity < 200) {
        let pool = pool(capacity, users);
        for _ in 0..if cfg!(miri) { 1 } else { 40 } {
            let start = Barrier::new(4);
            thread::scope(|scope| {
                for _ in 0..4 {
                    scope.spawn(|| {
                        start.wait();
                        for _ in 0..3 {
                            let ids: Vec<u32> = (0..capacity.div_ceil(3)).map_while(|_| pool.alloc().ok()).collect();
                            let (odd, even): (Vec<u32>, Vec<u32>) = ids.iter().partition(|&id| id % 2 == 1);
                            assert_eq!((pool.free_slice(&odd), pool.free_slice(&even)), (Ok(()), Ok(())));
                        }
                    });
                }
            });
            let takes_all = || {
                let mut ids = vec![0; capacity as usize];
                let done = pool.alloc_into(&mut ids);
                ids.truncate(done);
                ids
            };
            let ids = thread::scope(|scope| scope.spawn(takes_all).join().expect("no panic"));
            assert_eq!(ids.len(), capacity as usize, "without waiting, and without another try");
            assert_conserved(&pool, &ids);
            assert_eq!(pool.free_slice(&ids), Ok(()));
        }
    }
}

#[test]
fn a_thread_uses_many_pools_and_many_threads_do() {
    let pools: Vec<IdPool> = (0..if cfg!(miri) { 5 } else { 100 }).map(|number| pool(number + 1, 2)).collect();
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                for _ in 0..if cfg!(miri) { 2 } else { 50 } {
                    for pool in &pools {
                        if let Ok(id) = pool.alloc() {
                            assert!(id < pool.capacity());
                            assert_eq!(pool.free(id), Ok(()));
                        }
                    }
                }
            });
        }
    });
    pools.iter().for_each(|pool| assert_conserved(pool, &[]));
}

/// A pool is gone when its last clone is, whichever thread has that; and threads that have used it don't mind.
#[test]
fn pools_come_and_go_while_a_thread_lives() {
    let weak: Vec<_> = (0..20)
        .map(|_| {
            let pool = pool(10, 1);
            let witness = Arc::new(pool.clone());
            let id = thread::spawn(move || pool.alloc()).join().expect("no panic");
            assert_eq!(id.map(|id| witness.free(id)), Ok(Ok(())));
            Arc::downgrade(&witness)
        })
        .collect();
    assert!(weak.iter().all(|weak| weak.upgrade().is_none()));
}

/// sharded-slab #95: a use while thread-locals are torn down panicked. Allocating, freeing and waiting, on either side of that.
#[test]
fn it_works_while_thread_locals_are_torn_down() {
    struct UsesWhenDropped(IdPool, Option<IdGuard>, mpsc::Sender<u32>);
    impl Drop for UsesWhenDropped {
        fn drop(&mut self) {
            let id = self.0.alloc_wait();
            assert_eq!(self.0.free(id), Ok(()));
            drop(self.1.take());
            assert!(self.0.alloc_timeout(LONG).is_ok_and(|id| self.0.free(id).is_ok()));
            _ = self.2.send(id);
        }
    }
    thread_local! {
        static EARLIER: RefCell<Option<UsesWhenDropped>> = const { RefCell::new(None) };
        static LATER: RefCell<Option<UsesWhenDropped>> = const { RefCell::new(None) };
    }
    let (pool, (send, receive)) = (pool(3, 2), mpsc::channel());
    let user = |send: &mpsc::Sender<u32>, guard| UsesWhenDropped(pool.clone(), guard, send.clone());
    let (early, late) = (user(&send, None), user(&send, pool.alloc_guard().ok().map(IdGuard::into_owned)));
    let thread = thread::spawn({
        let pool = pool.clone();
        move || {
            // One registered before the thread has its number and one after it, so that one is torn down on either side of it.
            EARLIER.set(Some(early));
            drop(pool.alloc_guard());
            LATER.set(Some(late));
        }
    });
    thread.join().expect("no panic");
    // And one in a thread that has never used it before.
    let only = user(&send, None);
    thread::spawn(|| EARLIER.set(Some(only))).join().expect("no panic");
    drop(send);
    // The destructors of thread-locals may run after `join` returns: the channel ends with the last of them.
    assert_eq!(receive.iter().count(), 3);
    assert_conserved(&pool, &[]);
}

// ---- Guards. ----

#[test]
fn a_guard_frees_its_id_also_in_a_panic() {
    let pool = pool(2, 2);
    for _ in 0..10 {
        let panicked = panic::catch_unwind(|| {
            let _guards = (pool.alloc_guard().expect("an ID"), pool.alloc_guard().expect("an ID").into_owned());
            panic::resume_unwind(Box::new("on purpose, without a message"));
        });
        assert!(panicked.is_err());
        let thread = thread::spawn({
            let guard = pool.alloc_guard().expect("an ID").into_owned();
            move || {
                let _guard = guard;
                panic::resume_unwind(Box::new("on purpose, without a message"));
            }
        });
        assert!(thread.join().is_err());
        assert_conserved(&pool, &[]);
    }
}

#[test]
fn a_forgotten_guard_keeps_its_id_and_hurts_nobody_else() {
    let pool = pool(3, 2);
    let guard = pool.alloc_guard().expect("an ID");
    let kept = guard.id();
    mem::forget(guard);
    assert_conserved(&pool, &[kept]);
    assert_eq!(pool.free(kept), Ok(()), "who knows the ID may still free it");
    let id = pool.alloc_guard().expect("an ID").into_owned().into_id();
    assert_conserved(&pool, &[id]);
}
