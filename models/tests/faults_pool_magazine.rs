//! Faults reported of other pools, turned round: each test is named for what must hold, and covers the fault's kind.
#![cfg(not(any(jeton_loom, jeton_shuttle)))]

use std::{
    collections::BTreeSet,
    mem,
    sync::{Barrier, mpsc},
    thread,
};

use jeton_core::pool::{
    AllocError, Blocks, Cache, FreeError, IdRange, MagazinePool, RangeError, StealableCache, Users,
    magazine::{Block, Group, Spill, Storage, UserStorage},
};

/// Every ID once: those that are free and those that are `held`.
fn assert_conserved<S: Storage, U: UserStorage>(pool: &mut StealableCache<S, U>, held: impl IntoIterator<Item = u32>) {
    let mut all: Vec<u32> = held.into_iter().collect();
    pool.for_each_available(|id| all.push(id));
    all.sort_unstable();
    let (base, capacity) = (pool.base(), pool.capacity());
    assert!(all.iter().copied().eq((0..capacity).map(|index| base + index)), "{} of {capacity} IDs: {all:?}", all.len());
}

fn assert_pool_conserved<S: Storage>(pool: &mut MagazinePool<S>, held: impl IntoIterator<Item = u32>) {
    let mut all: Vec<u32> = held.into_iter().collect();
    pool.for_each_available(|id| all.push(id));
    all.sort_unstable();
    let (base, capacity) = (pool.base(), pool.capacity());
    assert!(all.iter().copied().eq((0..capacity).map(|index| base + index)), "{} of {capacity} IDs", all.len());
}

/// odp-dpdk #194, odp PR #1463: two threads could not get two of 32 buffers, because the first had cached them all.
#[test]
fn n_allocations_by_four_users_on_n_ids_all_succeed() {
    fn check<const N: usize>() {
        let mut pool = StealableCache::<Blocks<N>, Users<4>>::new();
        let capacity = pool.capacity();
        for round in 0..if cfg!(miri) { 2 } else { 50 } {
            let start = Barrier::new(4);
            let work = |number: usize| {
                let user = pool.user(number).expect("of four");
                let share = capacity as usize / 4 + if number == 0 { capacity as usize % 4 } else { 0 };
                start.wait();
                let mut ids = Vec::new();
                while ids.len() < share {
                    match user.alloc() {
                        Ok(id) => ids.push(id),
                        Err(error) => assert_eq!(error, AllocError::Contended, "round {round}: IDs are left for everybody"),
                    }
                }
                ids
            };
            let held: Vec<u32> = thread::scope(|scope| {
                let users: Vec<_> = (0..4).map(|number| scope.spawn(move || work(number))).collect();
                users.into_iter().flat_map(|user| user.join().expect("no panic")).collect()
            });
            assert_eq!(pool.user(3).expect("of four").alloc(), Err(AllocError::Exhausted), "at rest, the answer is certain");
            assert_conserved(&mut pool, held.iter().copied());
            // Back through another user than they came from, so that the next round begins with uneven caches.
            let user = pool.user(round % 4).expect("of four");
            assert_eq!(user.free_slice(&held), Ok(()));
            assert_conserved(&mut pool, []);
        }
    }
    check::<1>();
    check::<2>();
    check::<32>();
}

/// heapless #583, thingbuf, heapless::mpmc: "empty" while most IDs were free, whenever a thread was preempted inside a call.
#[test]
fn eight_threads_that_hold_one_of_64_ids_each_are_never_told_that_all_are_taken() {
    let calls: u32 = if cfg!(miri) { 20 } else { 200_000 };
    let mut pool = StealableCache::<Blocks<1>, Users<8>>::new();
    let failures: u32 = thread::scope(|scope| {
        let work = |number: usize| {
            let user = pool.user(number).expect("of eight");
            let mut failures = 0;
            for _ in 0..calls {
                match user.alloc() {
                    Ok(id) => assert_eq!(user.free(id), Ok(())),
                    Err(error) => {
                        assert_eq!(error, AllocError::Contended, "at most eight of 64 were taken");
                        failures += 1;
                    }
                }
            }
            failures
        };
        let threads: Vec<_> = (0..8).map(|number| scope.spawn(move || work(number))).collect();
        threads.into_iter().map(|thread| thread.join().expect("no panic")).sum()
    });
    assert!(failures <= 8 * calls / 100, "{failures} of {} calls failed", 8 * calls);
    assert_conserved(&mut pool, []);
}

/// sharded-slab #62, tracing #2856, neon #2545: limits on the number of threads. Here several threads share a user.
#[test]
fn more_threads_than_users_share_them() {
    let mut pool = StealableCache::<Blocks<2>, Users<2>>::new();
    let rounds = if cfg!(miri) { 5 } else { 20_000 };
    let held: Vec<u32> = thread::scope(|scope| {
        let work = |number: usize| {
            let user = pool.user(number % 2).expect("of two");
            let mut held = Vec::new();
            for round in 0..rounds {
                if held.len() < 8 {
                    held.extend(user.alloc().ok());
                }
                if (round + number).is_multiple_of(3)
                    && let Some(id) = held.pop()
                {
                    assert_eq!(user.free(id), Ok(()));
                }
            }
            held
        };
        let threads: Vec<_> = (0..7).map(|number| scope.spawn(move || work(number))).collect();
        threads.into_iter().flat_map(|thread| thread.join().expect("no panic")).collect()
    });
    assert_conserved(&mut pool, held);
}

/// sharded-slab PR #18: what was freed uncontended never came back. Every path an ID can take, and all are there afterwards.
#[test]
fn every_id_comes_back_on_every_path() {
    let mut pool = MagazinePool::<Blocks<4>>::new();
    let mut ids = [0; 256];
    assert_eq!(pool.cache().alloc_into(&mut ids), 256);
    for chunk in [1, 2, 63, 64, 65, 127, 128, 129, 255, 256] {
        for part in ids.chunks(chunk) {
            assert_eq!(pool.cache().free_slice(part), Ok(()), "a cache of its own for {chunk} IDs");
        }
        assert_pool_conserved(&mut pool, []);
        assert_eq!(pool.cache().alloc_into(&mut ids), 256);
        assert_pool_conserved(&mut pool, ids);
    }
}

/// The first ID leaked, and base + n overflowed (ovs 79db89c4b): every range at its edges.
#[test]
fn ranges_are_exact_at_both_ends_and_never_overflow() {
    for (base, capacity) in
        [(0, 1), (1, 1), (5, 64), (0, 65), (100, 127), (u32::MAX, 1), (u32::MAX - 63, 64), (u32::MAX - 99, 100), (9, 0)]
    {
        let pool = MagazinePool::<Blocks<2>>::with_range(base, capacity).expect("a range");
        let mut pool = StealableCache::<_, Users<2>>::of(pool);
        let user = pool.user(1).expect("of two");
        let ids: Vec<u32> = std::iter::from_fn(|| user.alloc().ok()).collect();
        assert!(ids.iter().copied().eq((0..capacity).map(|index| base + index)), "{base} {capacity}: {ids:?}");
        assert_eq!(user.alloc(), Err(AllocError::Exhausted));
        let outside = [base.wrapping_sub(1), base.wrapping_add(capacity)];
        assert!(outside.iter().all(|&id| user.free(id) == Err(FreeError::OutOfRange(id))), "{base} {capacity}");
        assert!(ids.iter().all(|&id| user.free(id).is_ok()));
        assert_conserved(&mut pool, []);
    }
    let refused = |base, capacity| MagazinePool::<Blocks<2>>::with_range(base, capacity).err();
    assert_eq!(refused(u32::MAX, 2), Some(RangeError::PastLastId { base: u32::MAX, capacity: 2 }));
    assert_eq!(refused(u32::MAX - 9, u32::MAX), Some(RangeError::PastLastId { base: u32::MAX - 9, capacity: u32::MAX }));
    assert_eq!(refused(0, 129), Some(RangeError::StorageTooSmall { capacity: 129 }));
    let (mut blocks, mut spills, mut groups) =
        ([const { Block::new() }; 1], [const { Spill::new() }; 2], [const { Group::new() }; 1]);
    let over = MagazinePool::over((&mut blocks, &mut spills, &mut groups), 0, 65);
    assert_eq!(over.err(), Some(RangeError::StorageTooSmall { capacity: 65 }));
}

/// OVS id-fpool: an ID of the range that was never minted was taken back, given out at once, and minted again later.
/// slab PR #152, RUSTSEC-2025-0047: compared with the capacity instead of what is in use.
#[test]
fn an_id_that_no_cache_has_held_is_refused_and_changes_nothing() {
    let mut pool = StealableCache::<Blocks<4>, Users<2>>::new();
    let (user, mut cache) = (pool.user(0).expect("of two"), pool.pool().cache());
    let held = [user.alloc().expect("an ID"), cache.alloc().expect("an ID")];
    for id in [128, 200, 255] {
        assert_eq!((user.free(id), cache.free(id)), (Err(FreeError::NotAllocated(id)), Err(FreeError::NotAllocated(id))));
    }
    for id in [256, 1 << 31, u32::MAX] {
        assert_eq!((user.free(id), cache.free(id)), (Err(FreeError::OutOfRange(id)), Err(FreeError::OutOfRange(id))));
    }
    drop(cache);
    assert_conserved(&mut pool, held);
}

/// OVS id-fpool: alloc, free, free, alloc at the edge of a slab moved a slab each time, for ever.
#[test]
fn a_user_at_the_edge_of_a_magazine_does_not_go_to_the_depot_each_time() {
    let pool = StealableCache::<Blocks<8>, Users<1>>::new();
    let user = pool.user(0).expect("of one");
    let mut cache = pool.pool().cache();
    let mut ids: Vec<u32> = (0..256).map(|at| if at % 2 == 0 { user.alloc() } else { cache.alloc() }.expect("an ID")).collect();
    for start in 0..if cfg!(miri) { 6 } else { 140 } {
        // From every filling of the caches: what passes between them and the pool shows in the count of what is outside.
        let id = ids.pop().expect("an ID");
        assert_eq!(if start % 2 == 0 { user.free(id) } else { cache.free(id) }, Ok(()));
        let mut moves = 0;
        let mut outside = pool.pool().available();
        for _ in 0..100 {
            let held = [user.alloc().expect("an ID"), cache.alloc().expect("an ID")];
            assert_eq!((user.free(held[0]), cache.free(held[1])), (Ok(()), Ok(())));
            let more = [ids.pop().expect("an ID"), ids.pop().expect("an ID")];
            assert_eq!((user.free(more[0]), cache.free(more[1])), (Ok(()), Ok(())));
            ids.extend([user.alloc().expect("an ID"), cache.alloc().expect("an ID")]);
            moves += u32::from(pool.pool().available() != outside);
            outside = pool.pool().available();
        }
        assert!(moves <= 2, "{moves} moves in 100 rounds at filling {start}");
    }
}

/// What a dropped cache held is there for everybody; what a forgotten one held is lost, counted, and never more than 128.
#[test]
fn a_dropped_cache_returns_everything_and_a_forgotten_one_strands_a_counted_bounded_number() {
    let mut pool = MagazinePool::<Blocks<32>>::new();
    for held in [0, 1, 63, 64, 65, 100, 127, 128, 129, 300] {
        let mut ids = vec![0; held];
        let mut cache = pool.cache();
        assert_eq!(cache.alloc_into(&mut ids), held);
        assert_eq!(cache.free_slice(&ids), Ok(()));
        drop(cache);
        assert_pool_conserved(&mut pool, []);
    }
    let mut stranded = 0;
    for held in [1, 64, 128, 200, 500] {
        let mut ids = vec![0; held];
        let mut cache = pool.cache();
        assert_eq!(cache.alloc_into(&mut ids), held);
        assert_eq!(cache.free_slice(&ids), Ok(()));
        assert!(cache.len() <= 128);
        stranded += cache.len() as u32;
        mem::forget(cache);
        let mut free = 0;
        pool.for_each_available(|_| free += 1);
        assert_eq!((free, pool.available()), (pool.capacity() - stranded, pool.capacity() - stranded));
    }
}

/// gperftools #1020: short-lived threads grew caches.
#[test]
fn short_lived_caches_leave_nothing_behind() {
    let mut pool = MagazinePool::<Blocks<2>>::new();
    for round in 0..if cfg!(miri) { 20 } else { 2000 } {
        let mut cache = pool.cache();
        let id = cache.alloc().expect("an ID");
        assert!(id < 128);
        if round % 2 == 0 {
            assert_eq!(cache.free(id), Ok(()));
        } else {
            drop(cache);
            assert_eq!(pool.cache().free(id), Ok(()));
        }
    }
    assert!(pool.minted() <= 64, "one magazine does for all of them");
    assert_pool_conserved(&mut pool, []);
}

/// jemalloc #148: one thread allocates, another one frees, and IDs pile up on one side.
#[test]
fn a_producer_never_runs_out_while_its_consumer_gives_back() {
    fn run(mut alloc: impl FnMut() -> Result<u32, AllocError>, mut free: impl FnMut(u32) + Send) {
        let (send, receive) = mpsc::sync_channel(50);
        thread::scope(|scope| {
            scope.spawn(move || receive.into_iter().for_each(&mut free));
            for _ in 0..if cfg!(miri) { 200 } else { 50_000 } {
                let id = loop {
                    match alloc() {
                        Ok(id) => break id,
                        Err(error) => assert_eq!(error, AllocError::Contended, "at most 52 of the IDs are in use"),
                    }
                };
                send.send(id).expect("received");
            }
            drop(send);
        });
    }
    let mut pool = StealableCache::<Blocks<1>, Users<2>>::new();
    let (producer, consumer) = (pool.user(0).expect("of two"), pool.user(1).expect("of two"));
    run(|| producer.alloc(), |id| consumer.free(id).expect("taken back"));
    assert_conserved(&mut pool, []);
    // Owner caches cannot be stolen from: 128 IDs more for the consumer's, and 64 for the producer's.
    let pool = MagazinePool::<Blocks<4>>::new();
    let (mut producer, mut consumer) = (pool.cache(), pool.cache());
    run(|| producer.alloc(), |id| consumer.free(id).expect("taken back"));
}

/// Hoarding: a cache that has many and is never full gives them up when asked.
#[test]
fn a_pressed_cache_gives_up_what_it_hoards_at_its_next_free() {
    let pool = MagazinePool::<Blocks<2>>::new();
    let (mut hoarder, mut poor): (Cache<'_>, Cache<'_>) = (pool.cache(), pool.cache());
    let mut ids = [0; 128];
    assert_eq!(hoarder.alloc_into(&mut ids), 128);
    assert_eq!(hoarder.free_slice(&ids[1..]), Ok(()));
    assert_eq!(hoarder.len(), 127);
    assert_eq!(poor.alloc(), Err(AllocError::Exhausted));
    pool.press();
    assert_eq!(hoarder.free(ids[0]), Ok(()));
    let all: BTreeSet<u32> = std::iter::from_fn(|| poor.alloc().ok()).collect();
    assert_eq!(all.len(), 128);
}

/// A hundred thousand random calls of four threads on few IDs, through users and caches; then every ID is there once.
#[test]
fn nothing_is_lost_or_given_twice_under_stress() {
    let steps = if cfg!(miri) { 100 } else { 100_000 };
    let mut pool = StealableCache::<Blocks<3>, Users<3>>::new();
    let held: Vec<u32> = thread::scope(|scope| {
        let work = |number: usize| {
            let user = pool.user(number % 3).expect("of three");
            let mut cache = pool.pool().cache();
            let (mut held, mut random) = (Vec::new(), 0x9e37_79b9_u32.wrapping_mul(number as u32 + 1));
            for _ in 0..steps {
                random ^= random << 13;
                random ^= random >> 17;
                random ^= random << 5;
                match random % 16 {
                    0..6 => held.extend(user.alloc()),
                    6..8 => held.extend(cache.alloc()),
                    8 => cache.flush(),
                    9 => user.flush(),
                    _ => {
                        if let Some(id) = held.pop() {
                            let freed = if random % 16 < 13 { user.free(id) } else { cache.free(id) };
                            assert_eq!(freed, Ok(()));
                        }
                    }
                }
            }
            held
        };
        let threads: Vec<_> = (0..4).map(|number| scope.spawn(move || work(number))).collect();
        threads.into_iter().flat_map(|thread| thread.join().expect("no panic")).collect()
    });
    assert_conserved(&mut pool, held);
}
