//! Faults reported of other pools that wait, turned round: lost wakes, above all.
#![cfg(not(any(jeton_loom, jeton_shuttle)))]

mod id_pool;

use std::{
    collections::BTreeSet,
    panic,
    sync::mpsc,
    thread,
    time::{Duration, Instant},
};

use id_pool::{LONG, alloc_certainly, assert_conserved, pool};
use jeton::pool::AllocError;

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
