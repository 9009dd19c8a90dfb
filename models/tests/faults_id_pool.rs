//! Faults reported of other pools for threads, turned round: each test is named for what must hold.
#![cfg(not(any(jeton_loom, jeton_shuttle)))]

use std::{
    cell::RefCell,
    collections::BTreeSet,
    mem, panic,
    sync::{Arc, Barrier, mpsc},
    thread,
    time::{Duration, Instant},
};

use jeton::pool::{AllocError, FreeError, IdGuard, IdPool, IdPoolError, IdRange, RangeError};

/// So long nobody has to wait for anything here, unless a wake is lost.
const LONG: Duration = Duration::from_secs(60);

fn pool(capacity: u32, users: usize) -> IdPool {
    IdPool::with_users(0, capacity, users).expect("a small pool")
}

/// At rest: every ID can be allocated once, but for those that are `held`. Gives them back.
fn assert_conserved(pool: &IdPool, held: &[u32]) {
    let rest: Vec<u32> = std::iter::from_fn(|| pool.alloc().ok()).collect();
    assert_eq!(pool.alloc(), Err(AllocError::Exhausted), "at rest, the answer is certain");
    let mut all: Vec<u32> = rest.iter().chain(held).copied().collect();
    all.sort_unstable();
    let (base, capacity) = (pool.base(), pool.capacity());
    assert!(all.iter().copied().eq((0..capacity).map(|index| base + index)), "{} of {capacity} IDs: {all:?}", all.len());
    assert_eq!(pool.free_slice(&rest), Ok(()));
}

/// An ID while others are at work; only `Contended` may come before it.
fn alloc_certainly(pool: &IdPool) -> u32 {
    loop {
        match pool.alloc() {
            Ok(id) => return id,
            Err(error) => assert_eq!(error, AllocError::Contended, "there are IDs"),
        }
    }
}

// ---- The range. ----

/// ovs 79db89c4b and its like: every capacity, and every range at its edges.
#[test]
fn ranges_are_exact_at_both_ends_and_never_overflow() {
    let edges = [(u32::MAX, 1), (u32::MAX - 63, 64), (u32::MAX - 2999, 3000), (7, 0), (9, 2048), (0, 2049), (1 << 31, 70_001)];
    let sizes = [1, 2, 63, 64, 65, 127, 128, 129, 1000].map(|capacity| (5, capacity));
    for (base, capacity) in edges.into_iter().chain(sizes) {
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
    for users in [0, 1, 2, 3, 255, 256, 257, usize::MAX] {
        assert_conserved(&pool(100, users), &[]);
    }
}

/// slab PR #152: compared with the capacity instead of what is in use.
#[test]
fn an_id_that_was_never_handed_out_is_refused_and_changes_nothing() {
    let pool = pool(1000, 2);
    let id = pool.alloc().expect("an ID");
    assert_eq!((pool.free(999), pool.free(1000)), (Err(FreeError::NotAllocated(999)), Err(FreeError::OutOfRange(1000))));
    let error = pool.free_slice(&[id, 999, 1000]).expect_err("the second one is refused");
    assert_eq!((error.freed, error.error), (1, FreeError::NotAllocated(999)));
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

// ---- Waiting. ----

#[test]
fn a_deadline_in_the_past_does_not_wait_but_takes_what_there_is() {
    let pool = pool(1, 1);
    let past = Instant::now();
    let id = pool.alloc_deadline(past).expect("there is one");
    assert_eq!(pool.alloc_deadline(past), Err(AllocError::Exhausted));
    assert_eq!(pool.alloc_timeout(Duration::ZERO), Err(AllocError::Exhausted));
    assert_eq!(pool.free(id), Ok(()));
    assert_eq!((pool.alloc_timeout(Duration::ZERO), pool.free(id)), (Ok(id), Ok(())));
    assert_eq!((pool.alloc_timeout(Duration::MAX), pool.free(id)), (Ok(id), Ok(())));
}

#[test]
fn a_wait_ends_at_its_deadline_and_not_before() {
    for pool in [pool(0, 2), pool(1, 2)] {
        let held = pool.alloc().ok();
        let start = Instant::now();
        let timeout = Duration::from_millis(30);
        assert_eq!(pool.alloc_timeout(timeout), Err(AllocError::Exhausted));
        assert!(start.elapsed() >= timeout);
        let deadline = Instant::now() + timeout;
        assert_eq!(pool.alloc_deadline(deadline), Err(AllocError::Exhausted));
        assert!(Instant::now() >= deadline);
        held.into_iter().for_each(|id| assert_eq!(pool.free(id), Ok(())));
        assert_conserved(&pool, &[]);
    }
}

/// poco #2986, crossbeam #324: what was returned was not lent to those who wait. Here it lands in another thread's cache.
#[test]
fn a_waiter_is_woken_by_a_free_into_another_threads_cache() {
    for users in [1, 2, 8] {
        let pool = pool(2, users);
        for _ in 0..if cfg!(miri) { 2 } else { 20 } {
            let held = [pool.alloc_wait(), pool.alloc_wait()];
            thread::scope(|scope| {
                let waiting = scope.spawn(|| pool.alloc_timeout(LONG));
                thread::sleep(Duration::from_millis(3));
                assert_eq!(pool.free(held[0]), Ok(()));
                assert_eq!(waiting.join().expect("no panic"), Ok(held[0]), "and long before its timeout");
            });
            assert_eq!(pool.free_slice(&held), Ok(()));
        }
    }
}

/// A waiter looks into the caches of others, those of ended threads among them, before it sleeps.
#[test]
fn a_waiter_takes_from_other_caches_before_it_sleeps() {
    let pool = pool(8, 8);
    for _ in 0..10 {
        thread::scope(|scope| {
            scope.spawn(|| {
                let ids: Vec<u32> = (0..8).map(|_| alloc_certainly(&pool)).collect();
                assert_eq!(pool.free_slice(&ids), Ok(()));
            });
        });
        let ids: Vec<u32> = (0..8).map(|_| pool.alloc_wait()).collect();
        assert_eq!(pool.free_slice(&ids), Ok(()));
    }
}

/// Two IDs come back one after the other, and only the first free sees that somebody waits.
#[test]
fn every_waiter_gets_one_of_the_ids_that_come_together() {
    let waiters = if cfg!(miri) { 3 } else { 12 };
    let pool = pool(waiters, 4);
    for round in 0..if cfg!(miri) { 2 } else { 50 } {
        let held: Vec<u32> = (0..waiters).map(|_| pool.alloc_wait()).collect();
        let got: BTreeSet<u32> = thread::scope(|scope| {
            let threads: Vec<_> = (0..waiters).map(|_| scope.spawn(|| pool.alloc_timeout(LONG))).collect();
            if round % 2 == 0 {
                thread::sleep(Duration::from_millis(2));
            }
            assert_eq!(pool.free_slice(&held), Ok(()));
            threads.into_iter().map(|thread| thread.join().expect("no panic").expect("long before the timeout")).collect()
        });
        assert_eq!(got.len(), waiters as usize, "each has another one");
        got.into_iter().for_each(|id| assert_eq!(pool.free(id), Ok(())));
    }
}

/// A guard that is dropped wakes too, in a panic as well.
#[test]
fn a_waiter_is_woken_by_a_guard_that_is_dropped() {
    let pool = pool(1, 2);
    for panics in [false, true] {
        let guard = pool.alloc_guard().expect("the only ID").into_owned();
        thread::scope(|scope| {
            let waiting = scope.spawn(|| pool.alloc_timeout(LONG).map(|id| pool.free(id)));
            let holding = thread::spawn(move || {
                let _guard = guard;
                thread::sleep(Duration::from_millis(3));
                if panics {
                    panic::resume_unwind(Box::new("on purpose, without a message"));
                }
            });
            assert_eq!(holding.join().is_err(), panics);
            assert_eq!(waiting.join().expect("no panic"), Ok(Ok(())));
        });
    }
}

/// Few IDs, many who wait for them, in all three ways, with timeouts that end about when IDs come back. A lost wake would end it
/// with threads that sleep beside free IDs.
#[test]
fn no_wake_is_lost_on_a_waiter_that_gives_up() {
    for (capacity, users) in [(1, 1), (1, 4), (2, 4), (3, 2)] {
        let pool = pool(capacity, users);
        let rounds = if cfg!(miri) { 5 } else { 3000 };
        thread::scope(|scope| {
            for number in 0..6_u64 {
                let pool = &pool;
                scope.spawn(move || {
                    for round in 0..rounds {
                        let short = Duration::from_micros(round * 7 % 90);
                        let id = match number {
                            0 | 1 => Some(pool.alloc_timeout(LONG).expect("a wake is lost")),
                            2 => Some(pool.alloc_wait()),
                            3 | 4 => pool.alloc_timeout(short).ok(),
                            _ => pool.alloc_deadline(Instant::now() + short).ok(),
                        };
                        if round % 64 == number {
                            // Long enough for the others to fall asleep.
                            thread::sleep(Duration::from_micros(200));
                        }
                        id.into_iter().for_each(|id| assert_eq!(pool.free(id), Ok(())));
                    }
                });
            }
        });
        assert_conserved(&pool, &[]);
    }
}

/// Allocated here, freed there: the waits of both sides together bound what is on its way.
#[test]
fn a_producer_that_waits_goes_on_as_fast_as_its_consumer_gives_back() {
    let pool = pool(4, 2);
    let (send, receive) = mpsc::channel();
    thread::scope(|scope| {
        scope.spawn(|| receive.into_iter().for_each(|id| assert_eq!(pool.free(id), Ok(()))));
        for _ in 0..if cfg!(miri) { 20 } else { 20_000 } {
            send.send(pool.alloc_timeout(LONG).expect("a wake is lost")).expect("received");
        }
        drop(send);
    });
    assert_conserved(&pool, &[]);
}
