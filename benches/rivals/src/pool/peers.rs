//! The peers in the rounds of the scenario, and our pool for threads. A pool for n IDs holds them from the beginning, where the peer is a
//! container of things to hand out; where it is a table of things in use, it has room for them.
#![allow(deprecated, reason = "heapless has nothing else that compares, and says itself what is wrong with its mpmc queue")]

use std::sync::{Mutex, PoisonError};

use jeton_benches::scenario::pool::{Pool, User};
use slotmap::DefaultKey;

/// A shared pool around `$inner`, whose users are references to it.
macro_rules! peer {
    ($pool:ident($inner:ty), $id:ty, |$ids:ident| $with:expr, |$of:ident| $alloc:expr, |$to:ident, $returned:ident| $free:expr) => {
        pub(super) struct $pool($inner);

        impl Pool for $pool {
            type Id = $id;
            type User<'p> = &'p Self;
            const TO_THE_LAST_ID: bool = true;

            fn with($ids: u32, _users: u32) -> Self {
                Self($with)
            }

            fn user(&self, _number: u32) -> &Self {
                self
            }
        }

        impl User for &$pool {
            type Id = $id;

            #[inline(always)]
            fn alloc(&mut self) -> Option<$id> {
                let $of = &self.0;
                $alloc
            }

            #[inline(always)]
            fn free(&mut self, $returned: $id) -> bool {
                let $to = &self.0;
                $free
            }
        }
    };
}

/// What a lock guards, also after a panic: a wrong pool ends the run.
macro_rules! held {
    ($mutex:expr) => {
        $mutex.lock().unwrap_or_else(PoisonError::into_inner)
    };
}

peer!(
    ArrayQueue(crossbeam_queue::ArrayQueue<u32>),
    u32,
    |ids| {
        let queue = crossbeam_queue::ArrayQueue::new(ids as usize);
        (0..ids).for_each(|id| _ = queue.push(id));
        queue
    },
    |pool| pool.pop(),
    |pool, id| pool.push(id).is_ok()
);

peer!(
    ObjectPool(object_pool::Pool<u32>),
    u32,
    |ids| {
        let next = std::cell::Cell::new(0);
        object_pool::Pool::new(ids as usize, || next.replace(next.get() + 1))
    },
    |pool| pool.try_pull().map(|id| id.detach().1),
    |pool, id| {
        pool.attach(id);
        true
    }
);

peer!(LockedVec(Mutex<Vec<u32>>), u32, |ids| Mutex::new((0..ids).rev().collect()), |pool| held!(pool).pop(), |pool, id| {
    held!(pool).push(id);
    true
});

peer!(
    ParkingLotVec(parking_lot::Mutex<Vec<u32>>),
    u32,
    |ids| parking_lot::Mutex::new((0..ids).rev().collect()),
    |pool| pool.lock().pop(),
    |pool, id| {
        pool.lock().push(id);
        true
    }
);

peer!(ShardedSlab(sharded_slab::Slab<()>), usize, |_ids| sharded_slab::Slab::new(), |pool| pool.insert(()), |pool, id| pool
    .remove(id));

peer!(
    LockedSlab(Mutex<slab::Slab<()>>),
    usize,
    |ids| Mutex::new(slab::Slab::with_capacity(ids as usize)),
    |pool| Some(held!(pool).insert(())),
    |pool, id| held!(pool).try_remove(id).is_some()
);

peer!(
    LockedSlotMap(Mutex<slotmap::SlotMap<DefaultKey, ()>>),
    DefaultKey,
    |ids| Mutex::new(slotmap::SlotMap::with_capacity(ids as usize)),
    |pool| Some(held!(pool).insert(())),
    |pool, id| held!(pool).remove(id).is_some()
);

/// Its capacity is a power of two.
const MPMC: usize = super::IDS.next_power_of_two() as usize;

peer!(
    Mpmc(Box<heapless::mpmc::Queue<u32, MPMC>>),
    u32,
    |ids| {
        let queue = Box::new(heapless::mpmc::Queue::new());
        (0..ids).for_each(|id| _ = queue.enqueue(id));
        queue
    },
    |pool| pool.dequeue(),
    // It says that it is full, which it never is.
    |pool, id| pool.enqueue(id).is_ok() || again(|| pool.enqueue(id).is_ok())
);

/// Asks until the answer is yes: for about a second.
#[cold]
#[inline(never)]
fn again(ask: impl Fn() -> bool) -> bool {
    (0..1 << 20).any(|_| {
        std::thread::yield_now();
        ask()
    })
}
