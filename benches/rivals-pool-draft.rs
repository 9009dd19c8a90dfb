//! `cargo rivals pool`: IDs, or whatever a peer calls what it hands out and takes back.
mod peers;

use std::sync::{Mutex, PoisonError};

use jeton::pool::BorrowedBitPool;
use jeton_benches::{
    originals::{Lean, MapPool, Shipped, SlabPool},
    scenario::pool::{NoPool, OwnerCaches, Pool, Random, Refused, StealableCaches, User, del, mix, new, xfer},
};

use crate::{
    contender::{Contender, Entry, Group, Structure, Target},
    window::Pace,
};

/// Our pools and their peers.
pub const STRUCTURE: Structure = Structure { name: "pool", groups: &[FILL, MIX, RND, XFER] };

const OWNER: &str = "jeton Cache, an owner's";
const STEALABLE: &str = "jeton StealableCache";
const ARRAY_QUEUE: &str = "crossbeam ArrayQueue";
const OBJECT_POOL: &str = "object-pool";
const LEAN: &str = "OVS slabs, lock inlined";

const FILL: Group =
    group("fill", "allocate until the array is full, free it, again and again: new and del", &entries::<Fill>(), &targets(4.0));
const MIX: Group = group("mix", "allocate, free, allocate; then free", &entries::<Mix>(), &targets(4.0));
const RND: Group = group("rnd", "free a random ID of the array, allocate another one", &entries::<Rnd>(), &targets(3.0));
const XFER: Group = group("xfer", "one user allocates, another one frees", &entries::<Xfer>(), &targets(4.0));

const fn group(name: &'static str, operation: &'static str, entries: &'static [Entry], targets: &'static [Target]) -> Group {
    Group { name, operation, reference: ARRAY_QUEUE, ours: OWNER, entries, targets }
}

/// The correct peers that are fastest, at one thread and at two.
const fn targets(owner_alone: f64) -> [Target; 8] {
    const fn target(ours: &'static str, peer: &'static str, threads: usize, at_least: f64) -> Target {
        Target { ours, peer, threads, at_least }
    }
    [
        target(OWNER, ARRAY_QUEUE, 1, owner_alone),
        target(OWNER, OBJECT_POOL, 1, owner_alone),
        target(STEALABLE, ARRAY_QUEUE, 1, 1.3),
        target(STEALABLE, OBJECT_POOL, 1, 1.3),
        target(OWNER, ARRAY_QUEUE, 2, 5.0),
        target(OWNER, LEAN, 2, 5.0),
        target(STEALABLE, ARRAY_QUEUE, 2, 1.5),
        target(STEALABLE, LEAN, 2, 1.5),
    ]
}

const fn entries<R: Round>() -> [Entry; 15] {
    const fn entry<P: Pool + 'static, R: Round>(name: &'static str) -> Entry {
        Entry { name, most_threads: 2, make: made::<P, R> }
    }
    [
        entry::<NoPool, R>("nothing (round alone)"),
        entry::<OwnerCaches, R>(OWNER),
        entry::<StealableCaches, R>(STEALABLE),
        entry::<BorrowedBitPool<'static>, R>("jeton BitPool"),
        entry::<peers::ArrayQueue, R>(ARRAY_QUEUE),
        entry::<peers::ObjectPool, R>(OBJECT_POOL),
        entry::<peers::LockedVec, R>("std Mutex<Vec<u32>>"),
        entry::<peers::ShardedSlab, R>("sharded-slab"),
        entry::<peers::LockedSlab, R>("std Mutex<slab>"),
        entry::<peers::LockedSlotMap, R>("std Mutex<slotmap>"),
        // With two threads it refuses what is possible, however often it is asked, while one of them is off its CPU.
        Entry { most_threads: 1, ..entry::<peers::Mpmc, R>("heapless mpmc") },
        entry::<SlabPool<Shipped>, R>("OVS slabs, lock as shipped"),
        entry::<SlabPool<Lean>, R>(LEAN),
        entry::<Mutex<MapPool>, R>("OVS map"),
        entry::<peers::ParkingLotVec, R>("parking_lot Mutex<Vec<u32>>"),
    ]
}

/// The IDs of each thread's array: small enough that a window of a millisecond goes through it often, also in `OVS map`.
const IDS: u32 = 4096;

/// What each thread does.
trait Round: Sync + 'static {
    /// Whether the whole array is allocated before.
    const ALLOCATED: bool = false;
    /// Does `operations`, rounded up to whole steps.
    fn run<U: User>(
        users: &mut [U; 2],
        ids: &mut [U::Id],
        random: &mut Random,
        at: &mut usize,
        operations: u32,
    ) -> Result<(), Refused>;
}

struct Fill;
struct Mix;
struct Rnd;
struct Xfer;

impl Round for Fill {
    fn run<U: User>(
        [user, _]: &mut [U; 2],
        ids: &mut [U::Id],
        _: &mut Random,
        at: &mut usize,
        operations: u32,
    ) -> Result<(), Refused> {
        // `at` counts through both halves: first the array fills, then it empties.
        let mut left = operations as usize;
        while left > 0 {
            let (filling, begin) = (*at < ids.len(), *at % ids.len());
            let part = left.min(ids.len() - begin);
            let ids = &mut ids[begin..begin + part];
            if filling {
                new(user, ids)?
            } else {
                del(user, ids)?
            }
            left -= part;
            *at += part;
            if *at == 2 * IDS as usize {
                *at = 0;
            }
        }
        Ok(())
    }
}

impl Round for Mix {
    fn run<U: User>(
        [user, _]: &mut [U; 2],
        ids: &mut [U::Id],
        _: &mut Random,
        _: &mut usize,
        operations: u32,
    ) -> Result<(), Refused> {
        for part in parts(operations, 4) {
            mix(user, &mut ids[..part])?;
            del(user, &ids[..part])?;
        }
        Ok(())
    }
}

impl Round for Rnd {
    const ALLOCATED: bool = true;

    fn run<U: User>(
        [user, _]: &mut [U; 2],
        ids: &mut [U::Id],
        random: &mut Random,
        _: &mut usize,
        operations: u32,
    ) -> Result<(), Refused> {
        for _ in 0..operations.div_ceil(2) {
            let id = &mut ids[random.up_to(IDS - 1) as usize];
            del(user, std::slice::from_ref(id))?;
            new(user, std::slice::from_mut(id))?;
        }
        Ok(())
    }
}

impl Round for Xfer {
    fn run<U: User>(
        [from, to]: &mut [U; 2],
        ids: &mut [U::Id],
        _: &mut Random,
        _: &mut usize,
        operations: u32,
    ) -> Result<(), Refused> {
        parts(operations, 2).try_for_each(|part| xfer(from, to, &mut ids[..part]))
    }
}

/// `operations` in steps of `a_step`, in parts that fit into the array.
fn parts(operations: u32, a_step: u32) -> impl Iterator<Item = usize> {
    let steps = operations.div_ceil(a_step);
    (0..steps).step_by(IDS as usize).map(move |done| (steps - done).min(IDS) as usize)
}

/// A pool in one window: each thread has two users, of whom only `xfer` uses the second one.
#[repr(align(128))]
struct Rounds<P, R> {
    pool: P,
    done: Mutex<Result<u64, Refused>>,
    round: std::marker::PhantomData<R>,
}

fn made<P: Pool + 'static, R: Round>() -> Box<dyn Contender> {
    // Two threads at most, each with an array and two users. IDs for a third array: a pool may say that it found none, and be right to
    // do so, while others hold the last ones in their hands for a moment.
    Box::new(Rounds::<P, R> { pool: P::with(3 * IDS, 4), done: Mutex::new(Ok(0)), round: std::marker::PhantomData })
}

impl<P: Pool, R: Round> Contender for Rounds<P, R> {
    fn work(&self, thread: usize, pace: Pace<'_>) {
        let number = 2 * thread as u32;
        let mut users = [self.pool.user(number), self.pool.user(number + 1)];
        let mut ids = vec![P::Id::default(); IDS as usize];
        let (mut random, mut at) = (Random::new(number + 1), 0);
        let mut done = if R::ALLOCATED { new(&mut users[0], &mut ids).map(|()| 0) } else { Ok(0) };
        pace.run(|operations| {
            if let Ok(before) = done {
                let round = R::run(&mut users, &mut ids, &mut random, &mut at, operations);
                done = round.map(|()| before + u64::from(operations));
            }
        });
        let mut all = self.done.lock().unwrap_or_else(PoisonError::into_inner);
        *all = (*all).and_then(|others| Ok(others + done?));
    }

    fn check(&self, operations: u64) -> Result<(), String> {
        let done = *self.done.lock().unwrap_or_else(PoisonError::into_inner);
        let done = done.map_err(|refused| refused.to_string())?;
        if done == operations { Ok(()) } else { Err(format!("{done} operations instead of {operations}")) }
    }
}
