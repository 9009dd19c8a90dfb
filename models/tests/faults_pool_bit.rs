//! Faults reported of other pools, turned round, for `BitPool`, its wrappers and calls in flight: each test is named for what must hold.
#![cfg(not(any(jeton_loom, jeton_shuttle)))]

use std::{
    collections::{BTreeSet, HashSet},
    sync::{Barrier, Mutex},
    thread,
};

use jeton_core::pool::{
    AllocError, BitPool, BitWord, BorrowedBitPool, CallId, Checked, CompleteError, FreeError, Full, Generational, Handle, InFlight,
    Pool, RangeError, ReserveError, Retire, Wrap, bit_pool_words,
};

fn words(capacity: u32) -> Vec<BitWord> {
    (0..bit_pool_words(capacity)).map(|_| BitWord::new()).collect()
}

/// Capacities around every power of the word's size, and none.
const CAPACITIES: [u32; 14] = [0, 1, 2, 31, 32, 33, 63, 64, 65, 1023, 1024, 1025, 32_768, 32_769];

/// Open vSwitch 05901b912: one ID more than there are, and the first one lost; 79db89c4b: base + n overflowed.
#[test]
fn a_pool_has_exactly_its_ids_at_every_edge() {
    for capacity in CAPACITIES {
        let highest = u32::MAX - capacity.saturating_sub(1);
        for base in [0, 1, 7, 0x7fff_fff0, highest] {
            let words = words(capacity);
            let pool = BorrowedBitPool::new(&words, base, capacity).expect("the last ID fits");
            let ids: Vec<u32> = (0..capacity).map(|_| pool.alloc().expect("one is left")).collect();
            assert!(ids.iter().copied().eq((0..capacity).map(|index| base + index)), "{capacity} from {base}");
            assert_eq!(pool.alloc(), Err(AllocError::Exhausted));
            assert_eq!(pool.allocated(), capacity);
            for outside in [base.wrapping_sub(1), base.wrapping_add(capacity), base.wrapping_add(capacity).wrapping_add(31)] {
                let inside = outside.wrapping_sub(base) < capacity;
                assert_eq!(pool.free(outside).is_ok(), inside, "{outside} of {capacity} from {base}");
                assert_eq!(inside, pool.reserve(outside).is_ok());
            }
            assert_eq!(pool.free_slice(&ids), Ok(()));
            assert_eq!(pool.free_ids().count(), capacity as usize);
        }
    }
    assert_eq!(BorrowedBitPool::new(&words(2), u32::MAX, 2).err(), Some(RangeError::PastLastId { base: u32::MAX, capacity: 2 }));
    assert_eq!(BorrowedBitPool::new(&words(32), 0, 33).err(), Some(RangeError::StorageTooSmall { capacity: 33 }));
    let huge = u32::MAX;
    assert_eq!(BorrowedBitPool::new(&words(1), 1, huge).err(), Some(RangeError::StorageTooSmall { capacity: huge }));
}

/// Open vSwitch id-fpool: the ID freed twice was live twice. slab RUSTSEC-2025-0047: a bound checked against the wrong length.
#[test]
fn a_refused_free_changes_nothing() {
    fn check(pool: &impl Pool) {
        let (base, capacity) = (pool.base(), pool.capacity());
        let first = pool.alloc().expect("all are free");
        let never = base + capacity - 1;
        let refused = [
            (never, FreeError::NotAllocated(never)),
            (base.wrapping_sub(1), FreeError::OutOfRange(base.wrapping_sub(1))),
            (base + capacity, FreeError::OutOfRange(base + capacity)),
            (u32::MAX, FreeError::OutOfRange(u32::MAX)),
        ];
        for (id, error) in refused {
            assert_eq!(pool.free(id), Err(error));
        }
        assert_eq!(pool.free(first), Ok(()));
        assert_eq!(pool.free(first), Err(FreeError::NotAllocated(first)));
        let all: BTreeSet<u32> = (0..capacity).map(|_| pool.alloc().expect("one is left")).collect();
        assert_eq!(all, (base..base + capacity).collect());
        assert_eq!(pool.alloc(), Err(AllocError::Exhausted));
    }
    type Ids = BitPool<70, { bit_pool_words(70) }, 500>;
    check(&Ids::new());
    check(&Checked::<Ids, 70>::new(Ids::new()));
    let words = words(70);
    check(&BorrowedBitPool::new(&words, 500, 70).expect("in range"));
}

/// Open vSwitch id-pool: an ID added twice and freed once was lost for ever. slab #117: no given ID could be had.
#[test]
fn an_id_reserved_twice_is_refused_once_and_comes_back_once() {
    let pool = BitPool::<100, { bit_pool_words(100) }>::new();
    for id in [0, 3, 31, 32, 99] {
        assert_eq!(pool.reserve(id), Ok(()));
        assert_eq!(pool.reserve(id), Err(ReserveError::Allocated(id)));
    }
    assert_eq!(pool.reserve(100), Err(ReserveError::OutOfRange(100)));
    let rest: Vec<u32> = (0..95).map(|_| pool.alloc().expect("one is left")).collect();
    assert!(rest.iter().all(|id| ![0, 3, 31, 32, 99].contains(id)));
    assert_eq!(pool.alloc(), Err(AllocError::Exhausted));
    assert_eq!(pool.free(3), Ok(()));
    assert_eq!((pool.alloc(), pool.alloc()), (Ok(3), Err(AllocError::Exhausted)));
}

/// Open vSwitch id-pool: each allocation scanned from the base. commonwarexyz #4449: every miss looked at the whole bitmap.
/// Freed IDs come smallest first, however they were freed.
#[test]
fn the_smallest_free_id_comes_first_in_any_order_of_frees() {
    let pool = BitPool::<5000, { bit_pool_words(5000) }>::new();
    let mut ids = vec![0; 5000];
    assert_eq!(pool.alloc_into(&mut ids), 5000);
    let mut freed = BTreeSet::new();
    for step in 1..2000u32 {
        let id = step * 2503 % 5000;
        assert_eq!(pool.free(id), Ok(()));
        freed.insert(id);
        if step % 3 == 0 {
            assert_eq!(pool.alloc().ok(), freed.pop_first());
        }
    }
}

/// slotmap #125, #86, #11: after 2^31 versions an old key was good again. #156: the order of versions failed at 2^31.
#[test]
fn a_handle_is_good_once_over_the_last_generation_too() {
    type Ids = BitPool<2, { bit_pool_words(2) }>;
    let retiring = Generational::<Ids, 2, Retire, 3>::new(Ids::new());
    let mut seen = HashSet::new();
    while let Ok(handle) = retiring.alloc() {
        assert!(seen.insert(handle), "{handle} twice");
        assert_eq!(retiring.free(handle), Ok(()));
        assert_eq!(retiring.free(handle), Err(FreeError::Stale(handle)));
    }
    assert_eq!((seen.len(), retiring.retired()), (2 * 8, 2), "two IDs of eight generations each");
    assert!(seen.iter().all(|&handle| retiring.free(handle) == Err(FreeError::Stale(handle))));

    let wrapping = Generational::<Ids, 2, Wrap, 3>::new(Ids::new());
    let round = || -> Vec<Handle> {
        let one = || wrapping.alloc().inspect(|&handle| wrapping.free(handle).expect("current"));
        (0..8).map(|_| one().expect("none retires")).collect()
    };
    assert_eq!((round(), wrapping.retired()), (round(), 0));
    // No generation and a foreign one: not one of them is good.
    assert_eq!(Handle::from_bits(7), None);
    assert_eq!(Handle::from_bits(2 << 32), None);
    let forged = Handle::from_bits(17 << 32).expect("odd");
    assert_eq!(wrapping.free(forged), Err(FreeError::Stale(forged)));
}

/// open5gs #3297 and cFE #924: an ID that was freed and given out again passed for the old one.
#[test]
fn a_stale_handle_does_not_free_the_id_of_its_successor() {
    type Ids = BitPool<1, { bit_pool_words(1) }>;
    let pool = Generational::<Ids, 1>::new(Ids::new());
    let mut handle = pool.alloc().expect("all are free");
    for _ in 0..1000 {
        assert_eq!(pool.free(handle), Ok(()));
        let next = pool.alloc().expect("all are free");
        assert!(pool.is_current(next) && !pool.is_current(handle));
        assert_eq!(pool.free(handle), Err(FreeError::Stale(handle)));
        assert_eq!(pool.alloc(), Err(AllocError::Exhausted));
        handle = next;
    }
}

/// Frees every ID of `pool` twice over, from all threads at once.
fn racing_frees<T: Copy + Send + Sync, E>(ids: &[T], free: impl Fn(T) -> Result<(), E> + Sync) -> usize {
    let barrier = Barrier::new(4);
    let free_all = || {
        barrier.wait();
        ids.iter().filter(|&&id| free(id).is_ok()).count()
    };
    thread::scope(|scope| {
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(free_all)).collect();
        threads.into_iter().map(|thread| thread.join().expect("no panic")).sum()
    })
}

/// iceoryx #2351: a double free in the field. Here of four frees at the same time exactly one is good.
#[test]
fn of_racing_frees_of_an_allocation_exactly_one_succeeds() {
    type Ids = BitPool<1000, { bit_pool_words(1000) }>;
    for _ in 0..20 {
        let (plain, checked) = (Ids::new(), Checked::<Ids, 1000>::new(Ids::new()));
        let generations = Generational::<Ids, 1000>::new(Ids::new());
        let ids: Vec<u32> = (0..1000).map(|_| plain.alloc().expect("one is left")).collect();
        assert_eq!(racing_frees(&ids, |id| plain.free(id)), 1000);
        assert!((0..1000).all(|_| checked.alloc().is_ok()));
        assert_eq!(racing_frees(&ids, |id| checked.free(id)), 1000);
        let handles: Vec<Handle> = (0..1000).map(|_| generations.alloc().expect("one is left")).collect();
        assert_eq!(racing_frees(&handles, |handle| generations.free(handle)), 1000);
        assert_eq!((plain.allocated(), checked.pool().allocated(), generations.pool().allocated()), (0, 0, 0));
    }
}

/// sharded-slab #18, #83 and odp #194: IDs that never came back, and growth for it. All come back, each once.
#[test]
fn after_any_turmoil_every_id_can_be_had_once() {
    const IDS: u32 = 200;
    let pool = BitPool::<{ IDS as usize }, { bit_pool_words(IDS) }, 1000>::new();
    let owners = Mutex::new(HashSet::new());
    thread::scope(|scope| {
        for number in 0..4u32 {
            let (pool, owners) = (&pool, &owners);
            scope.spawn(move || {
                let (mut held, mut random) = (Vec::new(), number + 1);
                let mut slice = [0; 40];
                for _ in 0..3000 {
                    random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                    let before = held.len();
                    match random >> 29 {
                        0..=2 => held.extend(pool.alloc()),
                        3 => {
                            let count = pool.alloc_into(&mut slice);
                            held.extend(&slice[..count]);
                        }
                        4 => held.extend(pool.reserve(1000 + random % IDS).is_ok().then_some(1000 + random % IDS)),
                        _ => {
                            let back = held.split_off(held.len() - held.len().min(20));
                            let mut owners = owners.lock().expect("not poisoned");
                            assert!(back.iter().all(|id| owners.remove(id)));
                            drop(owners);
                            assert_eq!(pool.free_slice(&back), Ok(()));
                        }
                    }
                    let mut owners = owners.lock().expect("not poisoned");
                    assert!(held.iter().skip(before).all(|&id| owners.insert(id)), "an ID that somebody has");
                }
                // Before they are free, as above: the next owner enters itself.
                let mut owners = owners.lock().expect("not poisoned");
                assert!(held.iter().all(|id| owners.remove(id)));
                drop(owners);
                assert_eq!(pool.free_slice(&held), Ok(()));
            });
        }
    });
    assert!((0..IDS).all(|index| pool.alloc() == Ok(1000 + index)), "each once, smallest first");
    assert_eq!(pool.alloc(), Err(AllocError::Exhausted));
}

/// heapless #583, Open vSwitch's walk over other users: "none" although there are always some. 64 IDs, 8 threads, one ID each.
#[test]
fn nobody_is_refused_while_ids_are_left() {
    let pool = BitPool::<64, { bit_pool_words(64) }>::new();
    let barrier = Barrier::new(8);
    let calls = if cfg!(miri) { 50 } else { 50_000 };
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                barrier.wait();
                for _ in 0..calls {
                    let id = pool.alloc().expect("at most eight of 64 are allocated");
                    pool.free(id).expect("allocated here");
                }
            });
        }
    });
}

/// The same to the last ID: as many IDs as threads.
#[test]
fn n_threads_of_n_ids_all_get_one() {
    for _ in 0..200 {
        let pool = BitPool::<8, { bit_pool_words(8) }>::new();
        let barrier = Barrier::new(8);
        let all: HashSet<u32> = thread::scope(|scope| {
            let take = || {
                barrier.wait();
                for _ in 0..20 {
                    let id = pool.alloc().expect("as many IDs as threads");
                    pool.free(id).expect("allocated here");
                }
                pool.alloc().expect("as many IDs as threads")
            };
            let threads: Vec<_> = (0..8).map(|_| scope.spawn(take)).collect();
            threads.into_iter().map(|thread| thread.join().expect("no panic")).collect()
        });
        assert_eq!(all.len(), 8);
        assert_eq!(pool.alloc(), Err(AllocError::Exhausted));
    }
}

type Calls = InFlight<8, { bit_pool_words(8) }>;

/// Tables indexed by the number modulo their size: full although they were not, or a newer call in an older one's slot.
#[test]
fn a_table_is_full_at_exactly_its_size_and_overwrites_nothing() {
    let calls = Calls::new();
    let slow = calls.begin().expect("a slot is free");
    for _ in 0..1000 {
        // As many calls as lead round any table, while the slow one waits.
        let others: Vec<_> = (0..7).map(|_| calls.begin().expect("a slot is free")).collect();
        assert_eq!(calls.begin().err(), Some(Full));
        assert!(others.iter().all(|other| other.slot() != slow.slot() && other.id() != slow.id()));
        assert!(others.iter().all(|other| calls.complete(other.id()) == Ok(())));
        assert!(others.into_iter().all(|other| other.finish()));
    }
    assert!(!slow.is_answered());
    assert_eq!((calls.complete(slow.id()), slow.finish()), (Ok(()), true));
}

#[test]
fn a_slot_that_timed_out_is_kept_until_its_answer_or_until_forgotten() {
    let calls = Calls::new();
    let late: Vec<CallId> = (0..8).map(|_| calls.begin().expect("a slot is free").time_out().expect("no answer")).collect();
    assert_eq!(calls.begin().err(), Some(Full));
    assert_eq!(calls.complete(late[3]), Err(CompleteError::Stale(late[3])));
    let next = calls.begin().expect("the late answer has freed its slot");
    assert_eq!(calls.complete(late[3]), Err(CompleteError::Stale(late[3])), "not the answer to the next call");
    assert!(!next.is_answered());
    assert_eq!(calls.forget(late[5]), Ok(()));
    assert!(calls.forget(late[5]).is_err() && calls.forget(late[3]).is_err() && calls.forget(next.id()).is_err());
    let other = calls.begin().expect("the forgotten call's slot is free");
    assert_eq!(calls.begin().err(), Some(Full));
    drop((next, other));
    assert_eq!(calls.outstanding(), 6);
}

#[test]
fn a_forgotten_ticket_strands_its_slot_and_nothing_else() {
    let calls = Calls::new();
    let ticket = calls.begin().expect("a slot is free");
    let id = ticket.id();
    std::mem::forget(ticket);
    assert_eq!((calls.complete(id), calls.complete(id)), (Ok(()), Err(CompleteError::Duplicate(id))));
    for _ in 0..100 {
        let others: Vec<_> = (0..7).map(|_| calls.begin().expect("a slot is free")).collect();
        assert_eq!(calls.begin().err(), Some(Full));
        assert!(others.iter().all(|other| calls.complete(other.id()) == Ok(())));
    }
    assert_eq!(calls.outstanding(), 1);
}

/// Callers, answers and time-outs in threads of their own: each answer is good once, and no slot is lost.
#[test]
fn answers_from_other_threads_are_good_once() {
    let calls = Calls::new();
    let (sender, receiver) = std::sync::mpsc::channel::<CallId>();
    let receiver = Mutex::new(receiver);
    let (good, answered): (usize, usize) = thread::scope(|scope| {
        let answer = || {
            let mut good = 0;
            while let Ok(id) = { receiver.lock().expect("not poisoned").recv() } {
                good += [calls.complete(id), calls.complete(id)].iter().filter(|answer| answer.is_ok()).count();
            }
            good
        };
        let answerers: Vec<_> = (0..2).map(|_| scope.spawn(answer)).collect();
        let call = |sender: std::sync::mpsc::Sender<CallId>| {
            let mut answered = 0;
            for round in 0..2000 {
                let Ok(ticket) = calls.begin() else { continue };
                sender.send(ticket.id()).expect("somebody listens");
                if round % 3 == 0 {
                    match ticket.time_out() {
                        Ok(_) => {}
                        Err(ticket) => answered += usize::from(ticket.finish()),
                    }
                } else {
                    answered += usize::from(ticket.finish());
                }
            }
            answered
        };
        let callers: Vec<_> =
            (0..2).map(|_| (sender.clone(), call)).map(|(sender, call)| scope.spawn(move || call(sender))).collect();
        drop(sender);
        let answered = callers.into_iter().map(|caller| caller.join().expect("no panic")).sum();
        (answerers.into_iter().map(|answerer| answerer.join().expect("no panic")).sum(), answered)
    });
    assert_eq!(good, answered, "an answer that is good reaches its caller");
    assert_eq!(calls.outstanding(), 0, "every late answer has come");
}
