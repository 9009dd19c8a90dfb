//! Any calls on several caches and stealable users of one pool, against the set of free IDs; and on each range of IDs.
#![cfg(not(any(jeton_loom, jeton_shuttle)))]

use std::collections::BTreeSet;

use jeton_core::pool::{AllocError, Blocks, Cache, FreeError, IdRange, MagazinePool, Slices, StealableCache, Users};
use jeton_models::spec::pool::{Choice, FreeIds};
use proptest::prelude::*;

const USERS: usize = 3;
const CACHES: usize = 2;

#[derive(Clone, Copy, Debug)]
enum Call {
    Alloc(usize),
    /// The ID at this place (modulo) of those that are taken.
    Free(usize, usize),
    AllocInto(usize, usize),
    /// So many of the IDs that are taken, from this place on.
    FreeSlice(usize, usize, usize),
    /// An ID that nobody has, or that is none of the pool's.
    FreeWrongly(usize, u32),
    /// Flushes a user, or drops a cache.
    End(usize),
    Press,
}

fn calls() -> impl Strategy<Value = Vec<Call>> {
    let who = 0..USERS + CACHES;
    let call = prop_oneof![
        8 => who.clone().prop_map(Call::Alloc),
        6 => (who.clone(), any::<usize>()).prop_map(|(who, at)| Call::Free(who, at)),
        4 => (who.clone(), 0usize..200).prop_map(|(who, len)| Call::AllocInto(who, len)),
        4 => (who.clone(), any::<usize>(), 0usize..200).prop_map(|(who, at, len)| Call::FreeSlice(who, at, len)),
        2 => (who.clone(), any::<u32>()).prop_map(|(who, id)| Call::FreeWrongly(who, id)),
        1 => who.prop_map(Call::End),
        1 => Just(Call::Press),
    ];
    prop::collection::vec(call, 1..300)
}

type Pool<'a> = StealableCache<Slices<'a>, Users<USERS>>;

struct World<'p> {
    pool: &'p Pool<'p>,
    caches: [Option<Cache<'p>>; CACHES],
    spec: FreeIds,
    taken: Vec<u32>,
    /// The highest ID handed out, and whether there was one.
    highest: Option<u32>,
}

impl<'p> World<'p> {
    fn cache(&mut self, number: usize) -> &mut Cache<'p> {
        let pool = self.pool;
        self.caches[number].get_or_insert_with(|| pool.pool().cache())
    }

    fn alloc(&mut self, who: usize) -> Result<u32, AllocError> {
        match self.pool.user(who) {
            Some(user) => user.alloc(),
            None => self.cache(who - USERS).alloc(),
        }
    }

    fn free(&mut self, who: usize, id: u32) -> Result<(), FreeError> {
        match self.pool.user(who) {
            Some(user) => user.free(id),
            None => self.cache(who - USERS).free(id),
        }
    }

    fn alloc_into(&mut self, who: usize, ids: &mut [u32]) -> usize {
        match self.pool.user(who) {
            Some(user) => user.alloc_into(ids),
            None => self.cache(who - USERS).alloc_into(ids),
        }
    }

    /// IDs that `who` cannot get: those in owner caches of others, and for an owner also those of the stealable users.
    fn out_of_reach(&self, who: usize) -> usize {
        let others = self.caches.iter().enumerate().filter(|(number, _)| number + USERS != who);
        let owned: usize = others.filter_map(|(_, cache)| cache.as_ref()).map(Cache::len).sum();
        let stealable = (self.pool.available() - self.pool.pool().available()) as usize;
        owned + if who < USERS { 0 } else { stealable }
    }

    fn got(&mut self, id: u32) {
        let reserved = self.spec.reserve(id);
        assert_eq!(reserved, Ok(()), "an ID that somebody has");
        let bound = self.highest.map_or(u64::from(self.pool.base()), |highest| u64::from(highest) + 1);
        let users = (USERS + CACHES) as u64;
        assert!(u64::from(id) <= bound + users * 64, "{id} is too far above {:?}", self.highest);
        self.highest = self.highest.max(Some(id));
        self.taken.push(id);
    }

    fn make(&mut self, call: Call) {
        match call {
            Call::Alloc(who) => match self.alloc(who) {
                Ok(id) => self.got(id),
                Err(error) => {
                    assert_eq!(error, AllocError::Exhausted, "alone, nobody contends");
                    assert_eq!(self.spec.available(), self.out_of_reach(who), "{who} was refused");
                }
            },
            Call::AllocInto(who, len) => {
                let mut ids = vec![u32::MAX; len];
                let done = self.alloc_into(who, &mut ids);
                ids[..done].iter().for_each(|id| self.got(*id));
                assert!(done == len || self.spec.available() == self.out_of_reach(who), "{done} of {len}");
            }
            Call::Free(who, at) if !self.taken.is_empty() => {
                let at = at % self.taken.len();
                let id = self.taken.swap_remove(at);
                assert_eq!((self.free(who, id), self.spec.free(id)), (Ok(()), Ok(())));
            }
            Call::FreeSlice(who, at, len) if !self.taken.is_empty() => {
                let at = at % self.taken.len();
                let end = self.taken.len().min(at + len);
                let ids: Vec<u32> = self.taken.drain(at..end).collect();
                let freed = match self.pool.user(who) {
                    Some(user) => user.free_slice(&ids),
                    None => self.cache(who - USERS).free_slice(&ids),
                };
                assert_eq!(freed, Ok(()));
                ids.iter().for_each(|id| assert_eq!(self.spec.free(*id), Ok(())));
            }
            Call::Free(..) | Call::FreeSlice(..) => {}
            Call::FreeWrongly(who, id) => {
                let expected = self.spec.free(id);
                let index = id.wrapping_sub(self.pool.base());
                if expected.is_ok() {
                    // Back to as it was; an ID that was minted and then freed is `Checked`'s to find.
                    self.spec.reserve(id).expect("just freed");
                }
                if index >= self.pool.capacity() {
                    assert_eq!(self.free(who, id), Err(FreeError::OutOfRange(id)));
                } else if index >= self.pool.pool().minted() {
                    assert_eq!(self.free(who, id), Err(FreeError::NotAllocated(id)));
                    self.spec.free(id).expect_err("free already");
                }
            }
            Call::End(who) => match self.pool.user(who) {
                Some(user) => user.flush(),
                None => self.caches[who - USERS] = None,
            },
            Call::Press => self.pool.pool().press(),
        }
        let cached: usize = self.caches.iter().flatten().map(Cache::len).sum();
        assert_eq!(self.pool.available() as usize + cached, self.spec.available(), "the counts of a pool at rest are exact");
    }
}

fn run(base: u32, capacity: u32, calls: Vec<Call>) {
    let (blocks, groups) = Slices::lengths(capacity);
    let (mut blocks, mut spills): (Vec<_>, Vec<_>) = (0..blocks).map(|_| Default::default()).unzip();
    let mut groups: Vec<_> = (0..groups).map(|_| Default::default()).collect();
    let pool = MagazinePool::over((&mut blocks, &mut spills, &mut groups), base, capacity).expect("a range");
    let mut pool = Pool::of(pool);
    let (mut taken, spec) = {
        let spec = FreeIds::new(Choice::Any, base, capacity);
        // The pool outlives the world, which ends here with its caches.
        let shared: &Pool<'_> = &pool;
        let shared: &Pool<'_> = one_lifetime(shared);
        let mut world = World { pool: shared, caches: [const { None }; CACHES], spec, taken: Vec::new(), highest: None };
        calls.into_iter().for_each(|call| world.make(call));
        (world.taken, world.spec)
    };
    let mut free = BTreeSet::new();
    pool.for_each_available(|id| assert!(free.insert(id), "{id} twice"));
    assert!(free.iter().copied().eq(spec.free_ids()), "what is free at the end");
    taken.extend(free);
    taken.sort_unstable();
    assert!(taken.into_iter().eq((0..capacity).map(|index| base + index)), "all IDs recovered, each once");
}

/// A reference with one lifetime in both places.
fn one_lifetime<'s>(pool: &'s Pool<'_>) -> &'s Pool<'s> {
    pool
}

proptest! {
    #[test]
    fn any_calls_agree_with_a_set_of_free_ids(
        (base, capacity) in prop_oneof![
            (Just(0_u32), 0_u32..700),
            (any::<u32>(), 0_u32..700).prop_map(|(base, capacity)| (base.min(u32::MAX - capacity), capacity)),
            (1_u32..700).prop_map(|capacity| (u32::MAX - capacity + 1, capacity)),
            (Just(7_u32), 4000_u32..5000),
        ],
        calls in calls(),
    ) {
        run(base, capacity, calls);
    }
}

#[test]
fn a_pool_that_owns_its_blocks_has_64_ids_for_each() {
    let mut pool = MagazinePool::<Blocks<3>>::new();
    let mut ids = [0; 193];
    assert_eq!((pool.capacity(), pool.cache().alloc_into(&mut ids)), (192, 192));
    assert_eq!(ids[..3], [0, 1, 2], "fresh IDs ascend");
    let mut free = 0;
    pool.for_each_available(|_| free += 1);
    assert_eq!((free, pool.cache().alloc()), (0, Err(AllocError::Exhausted)));
}
