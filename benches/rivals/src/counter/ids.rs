//! IDs of Kudu's space (31 bits from 0, wrapping), each used: the scenario of the instruction counts.
#![allow(clippy::disallowed_types, reason = "the peers are made of the standard library's atomics")]

use std::{
    convert::Infallible,
    hint::black_box,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicU32, Ordering::Relaxed},
    },
};

use jeton::counter::{IdGenerator, KuduCallIds, OwnerIds, SharedIds};
use jeton_benches::scenario::counter::{every_id_used, no_generator};
use sharded_counter::CounterPool;

use super::{boxed, equal};
use crate::{
    contender::{Contender, Entry, Group, Target},
    window::Pace,
};

const LEASE: &str = "jeton IdLease 64";
const FETCH_ADD: &str = "std AtomicU32: fetch_add & mask";
const MUTEX: &str = "std Mutex<u32>";

pub(super) const GROUP: Group = Group {
    name: "ids",
    operation: "the next ID of 31 bits, used",
    reference: FETCH_ADD,
    ours: LEASE,
    fewest: 1000,
    entries: &[
        Entry { name: "nothing (loop and black_box)", most_threads: 2, make: boxed::<Nothing> },
        Entry { name: "jeton OwnerIds", most_threads: 1, make: boxed::<Owner> },
        Entry { name: "jeton SharedIds", most_threads: 2, make: boxed::<Shared<SharedIds<KuduCallIds>>> },
        Entry { name: LEASE, most_threads: 2, make: boxed::<Leased<64>> },
        Entry { name: "jeton IdLease 1024", most_threads: 2, make: boxed::<Leased<1024>> },
        Entry { name: FETCH_ADD, most_threads: 2, make: boxed::<Shared<FetchAdd>> },
        Entry { name: "std AtomicU32: compare-and-swap", most_threads: 2, make: boxed::<Shared<CompareAndSwap>> },
        Entry { name: MUTEX, most_threads: 2, make: boxed::<Shared<Locked>> },
        Entry { name: "parking_lot Mutex<u32>", most_threads: 2, make: boxed::<Shared<ParkingLot>> },
        Entry { name: "sharded-counter 0.1", most_threads: 2, make: boxed::<ShardedCounter> },
    ],
    targets: &[
        Target { ours: LEASE, peers: &[FETCH_ADD], threads: 2, at_least: Some(5.0) },
        Target { ours: LEASE, peers: &[MUTEX], threads: 2, at_least: Some(15.0) },
    ],
    not_correct: &[],
};

/// The highest ID; the next one is 0.
const HIGHEST: u32 = 0x7fff_ffff;

/// An exhausted generator stops early, and the check notices.
fn use_ids(ids: &impl IdGenerator<Id = u32>, calls: u32) {
    black_box(every_id_used(ids, calls).ok());
}

/// The harness' own cost.
#[derive(Default)]
struct Nothing;

impl Contender for Nothing {
    fn work(&self, _: usize, pace: Pace<'_>) {
        pace.run(|calls| {
            black_box(no_generator(calls));
        });
    }
    fn check(&self, _: u64) -> Result<(), String> {
        Ok(())
    }
}

/// A generator that all threads use.
#[derive(Default)]
#[repr(align(128))]
struct Shared<G>(G);

impl<G: IdGenerator<Id = u32> + Sync> Contender for Shared<G> {
    fn work(&self, _: usize, pace: Pace<'_>) {
        pace.run(|calls| use_ids(&self.0, calls));
    }
    // A window ends long before the IDs come again: the next one is the number of those handed out.
    fn check(&self, operations: u64) -> Result<(), String> {
        let next = self.0.try_next_id().map_err(|error| error.to_string())?;
        equal("the next ID", next.into(), operations)
    }
}

/// A generator for one thread.
#[derive(Default)]
struct Owner {
    next: Mutex<u64>,
}

impl Contender for Owner {
    fn work(&self, _: usize, pace: Pace<'_>) {
        let ids = OwnerIds::<KuduCallIds>::new();
        pace.run(|calls| use_ids(&ids, calls));
        *self.next.lock().unwrap_or_else(PoisonError::into_inner) = ids.next_id().into();
    }
    fn check(&self, operations: u64) -> Result<(), String> {
        equal("the next ID", *self.next.lock().unwrap_or_else(PoisonError::into_inner), operations)
    }
}

/// A lease for each thread.
#[derive(Default)]
#[repr(align(128))]
struct Leased<const N: u32>(SharedIds<KuduCallIds>);

impl<const N: u32> Contender for Leased<N> {
    fn work(&self, _: usize, pace: Pace<'_>) {
        let lease = self.0.lease::<N>();
        pace.run(|calls| use_ids(&lease, calls));
    }
    fn check(&self, operations: u64) -> Result<(), String> {
        equal("the next ID", self.0.next_id().into(), operations + self.0.gaps())
    }
}

#[derive(Default)]
struct FetchAdd(AtomicU32);

impl IdGenerator for FetchAdd {
    type Id = u32;
    type Error = Infallible;
    #[inline]
    fn try_next_id(&self) -> Result<u32, Infallible> {
        Ok(self.0.fetch_add(1, Relaxed) & HIGHEST)
    }
}

#[derive(Default)]
struct CompareAndSwap(AtomicU32);

impl IdGenerator for CompareAndSwap {
    type Id = u32;
    type Error = Infallible;
    #[inline]
    fn try_next_id(&self) -> Result<u32, Infallible> {
        let mut id = self.0.load(Relaxed);
        loop {
            match self.0.compare_exchange_weak(id, after(id), Relaxed, Relaxed) {
                Ok(id) => return Ok(id),
                Err(found) => id = found,
            }
        }
    }
}

fn after(id: u32) -> u32 {
    if id == HIGHEST { 0 } else { id + 1 }
}

#[derive(Default)]
struct Locked(Mutex<u32>);

impl IdGenerator for Locked {
    type Id = u32;
    type Error = Infallible;
    #[inline]
    fn try_next_id(&self) -> Result<u32, Infallible> {
        let mut next = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let id = *next;
        *next = after(id);
        Ok(id)
    }
}

#[derive(Default)]
struct ParkingLot(parking_lot::Mutex<u32>);

impl IdGenerator for ParkingLot {
    type Id = u32;
    type Error = Infallible;
    #[inline]
    fn try_next_id(&self) -> Result<u32, Infallible> {
        let mut next = self.0.lock();
        let id = *next;
        *next = after(id);
        Ok(id)
    }
}

/// Blocks of IDs for each thread, as our leases; each block is twice as large as the one before, from 256 on.
#[derive(Default)]
#[repr(align(128))]
struct ShardedCounter {
    pool: CounterPool,
    highest: Mutex<u64>,
}

impl Contender for ShardedCounter {
    fn work(&self, _: usize, pace: Pace<'_>) {
        let mut ids = self.pool.counter();
        let mut last = 0;
        pace.run(|calls| {
            for _ in 0..calls {
                last = black_box(ids.next().map_or(0, |id| id as u32));
            }
        });
        let mut highest = self.highest.lock().unwrap_or_else(PoisonError::into_inner);
        *highest = u64::from(last).max(*highest);
    }
    // What is left of its blocks cannot be asked for, so this is less than for the others: enough IDs for all to be different.
    fn check(&self, operations: u64) -> Result<(), String> {
        let highest = *self.highest.lock().unwrap_or_else(PoisonError::into_inner);
        if highest + 1 >= operations { Ok(()) } else { Err(format!("{operations} IDs up to {highest}: some came twice")) }
    }
}

#[cfg(test)]
mod tests {
    use std::{collections::HashSet, thread};

    use super::*;

    /// All IDs of two threads, of whom each takes 10,000.
    fn ids_of_two_threads(ids: impl Fn() -> Vec<u32> + Sync) -> Vec<u32> {
        thread::scope(|scope| {
            let threads = [scope.spawn(&ids), scope.spawn(&ids)];
            threads.into_iter().flat_map(|thread| thread.join().expect("no panic")).collect()
        })
    }

    fn take(ids: &impl IdGenerator<Id = u32>) -> Vec<u32> {
        (0..10_000).filter_map(|_| ids.try_next_id().ok()).collect()
    }

    #[test]
    fn no_peer_gives_an_id_twice() {
        let (fetch_add, compare_and_swap) = (FetchAdd::default(), CompareAndSwap::default());
        let (locked, parking_lot, pool) = (Locked::default(), ParkingLot::default(), CounterPool::new());
        let all = [
            ids_of_two_threads(|| take(&fetch_add)),
            ids_of_two_threads(|| take(&compare_and_swap)),
            ids_of_two_threads(|| take(&locked)),
            ids_of_two_threads(|| take(&parking_lot)),
            ids_of_two_threads(|| pool.counter().take(10_000).map(|id| id as u32).collect()),
        ];
        for ids in all {
            assert_eq!(ids.iter().collect::<HashSet<_>>().len(), 20_000);
        }
    }

    #[test]
    fn the_peers_wrap_where_ours_does() {
        assert_eq!(take(&FetchAdd(HIGHEST.into()))[..2], [HIGHEST, 0]);
        assert_eq!(take(&CompareAndSwap(HIGHEST.into()))[..2], [HIGHEST, 0]);
        assert_eq!(take(&Locked(HIGHEST.into()))[..2], [HIGHEST, 0]);
        assert_eq!(take(&ParkingLot(HIGHEST.into()))[..2], [HIGHEST, 0]);
    }
}
