//! Our pools in the rounds, over borrowed storage, which lives as long as the pool.

use core::ptr::NonNull;
use std::any::Any;

use jeton::pool::IdPool;
use jeton_core::pool::{
    self, BitPool, BitWord, BorrowedBitPool, Cache, Checked, CheckedUser, MagazinePool, PoolUser, Slices, StealableCache, Users,
    bit_pool_words,
};

use super::{Pool, User};

const NO_RANGE_ERROR: &str = "the storage is for so many IDs, from 0 on";

/// A pool over borrowed storage, and that storage: to be dropped after the pool and its users.
fn magazine_pool(ids: u32) -> (MagazinePool<Slices<'static>>, Memory) {
    let (blocks, groups) = Slices::lengths(ids);
    let (blocks, spills, groups) = (slice(blocks), slice(blocks), slice(groups));
    // SAFETY: each is borrowed once, and whoever gets the pool keeps the memory with it.
    let borrowed = unsafe { (&mut *blocks.0.as_ptr(), &mut *spills.0.as_ptr(), &mut *groups.0.as_ptr()) };
    let pool = MagazinePool::over(borrowed, 0, ids).expect(NO_RANGE_ERROR);
    (pool, Memory { _slices: [Box::new(blocks), Box::new(spills), Box::new(groups)] })
}

/// What is freed with it, after the field before it: a comparison makes thousands of pools.
#[derive(Debug)]
struct Memory {
    _slices: [Box<dyn Any + Send + Sync>; 3],
}

struct Slice<T>(NonNull<[T]>);

fn slice<T: Default>(len: usize) -> Slice<T> {
    let slice: Box<[T]> = std::iter::repeat_with(T::default).take(len).collect();
    Slice(NonNull::from(Box::leak(slice)))
}

// SAFETY: it owns its elements, as a box does.
unsafe impl<T: Send> Send for Slice<T> {}
// SAFETY: as above.
unsafe impl<T: Sync> Sync for Slice<T> {}

impl<T> Drop for Slice<T> {
    fn drop(&mut self) {
        // SAFETY: it was a box, of which `magazine_pool` lent the elements to a pool that has been dropped.
        drop(unsafe { Box::from_raw(self.0.as_ptr()) });
    }
}

/// A pool with a cache for each of its users, which only its owner uses.
#[derive(Debug)]
pub struct OwnerCaches {
    pool: MagazinePool<Slices<'static>>,
    _memory: Memory,
}

impl Pool for OwnerCaches {
    type Id = u32;
    type User<'p> = Cache<'p>;

    const TO_THE_LAST_ID: bool = false;

    /// More IDs than that, by all that the caches can hold.
    fn with(ids: u32, users: u32) -> Self {
        let (pool, _memory) = magazine_pool(ids + users * pool::magazine::CACHE as u32);
        Self { pool, _memory }
    }

    fn user(&self, _number: u32) -> Cache<'_> {
        self.pool.cache()
    }
}

impl User for Cache<'_> {
    type Id = u32;

    #[inline(always)]
    fn alloc(&mut self) -> Option<u32> {
        self.alloc().ok()
    }

    #[inline(always)]
    fn free(&mut self, id: u32) -> bool {
        self.free(id).is_ok()
    }
}

const MOST_CHECKED: usize = 101_000;

/// As [`OwnerCaches`], with a byte an ID that says whether somebody has it.
#[derive(Debug)]
pub struct CheckedCaches {
    pool: Checked<MagazinePool<Slices<'static>>, MOST_CHECKED>,
    _memory: Memory,
}

impl Pool for CheckedCaches {
    type Id = u32;
    type User<'p> = CheckedUser<'p, Cache<'p>, MOST_CHECKED>;

    const TO_THE_LAST_ID: bool = OwnerCaches::TO_THE_LAST_ID;

    fn with(ids: u32, users: u32) -> Self {
        let OwnerCaches { pool, _memory } = OwnerCaches::with(ids, users);
        Self { pool: Checked::try_new(pool).expect("at most 101,000 IDs"), _memory }
    }

    fn user(&self, _number: u32) -> Self::User<'_> {
        self.pool.user(self.pool.pool().cache()).expect("a cache of this pool")
    }
}

impl User for CheckedUser<'_, Cache<'_>, MOST_CHECKED> {
    type Id = u32;

    #[inline(always)]
    fn alloc(&mut self) -> Option<u32> {
        PoolUser::alloc(self).ok()
    }

    #[inline(always)]
    fn free(&mut self, id: u32) -> bool {
        PoolUser::free(self, id).is_ok()
    }
}

const MOST_USERS: usize = 4;

/// A pool with a cache for each of its users, at most four, which the others take from when there is no other ID.
#[derive(Debug)]
pub struct StealableCaches {
    pool: StealableCache<Slices<'static>, Users<MOST_USERS>>,
    _memory: Memory,
}

impl Pool for StealableCaches {
    type Id = u32;
    type User<'p> = pool::User<'p>;

    const TO_THE_LAST_ID: bool = true;

    fn with(ids: u32, _users: u32) -> Self {
        let (pool, _memory) = magazine_pool(ids);
        Self { pool: StealableCache::of(pool), _memory }
    }

    fn user(&self, number: u32) -> pool::User<'_> {
        self.pool.user(number as usize).expect("at most four users")
    }
}

impl User for pool::User<'_> {
    type Id = u32;

    #[inline(always)]
    fn alloc(&mut self) -> Option<u32> {
        pool::User::alloc(self).ok()
    }

    #[inline(always)]
    fn free(&mut self, id: u32) -> bool {
        pool::User::free(self, id).is_ok()
    }
}

/// The most IDs of a round.
const MOST: usize = 100_000;

/// A `BitPool` with its words inside, as in a `static`.
pub type OwnBitPool = BitPool<MOST, { bit_pool_words(MOST as u32) }>;

impl Pool for OwnBitPool {
    type Id = u32;
    type User<'p> = &'p Self;

    /// In rounds of 100,000 IDs.
    const TO_THE_LAST_ID: bool = true;

    fn with(ids: u32, _users: u32) -> Self {
        assert!(ids as usize <= MOST, "at most 100,000 IDs");
        Self::new()
    }

    fn user(&self, _number: u32) -> &Self {
        self
    }
}

impl User for &OwnBitPool {
    type Id = u32;

    #[inline(always)]
    fn alloc(&mut self) -> Option<u32> {
        OwnBitPool::alloc(self).ok()
    }

    #[inline(always)]
    fn free(&mut self, id: u32) -> bool {
        OwnBitPool::free(self, id).is_ok()
    }
}

impl Pool for BorrowedBitPool<'static> {
    type Id = u32;
    type User<'p> = &'p Self;

    const TO_THE_LAST_ID: bool = true;

    fn with(ids: u32, _users: u32) -> Self {
        // Its words are leaked: an eighth of a byte for each ID.
        let words: &'static [BitWord] = Vec::leak(std::iter::repeat_with(BitWord::default).take(bit_pool_words(ids)).collect());
        Self::new(words, 0, ids).expect(NO_RANGE_ERROR)
    }

    fn user(&self, _number: u32) -> &Self {
        self
    }
}

impl User for &BorrowedBitPool<'_> {
    type Id = u32;

    #[inline(always)]
    fn alloc(&mut self) -> Option<u32> {
        BorrowedBitPool::alloc(self).ok()
    }

    #[inline(always)]
    fn free(&mut self, id: u32) -> bool {
        BorrowedBitPool::free(self, id).is_ok()
    }
}

/// The standard library's pool for any threads: a thread's number says which of its caches it uses, so that the two users of `xfer` are
/// the same one if one thread has both.
impl Pool for IdPool {
    type Id = u32;
    type User<'p> = &'p Self;

    const TO_THE_LAST_ID: bool = true;

    fn with(ids: u32, _users: u32) -> Self {
        // Not as many as the machine has processors for: the counts depend on it.
        Self::with_users(0, ids, 8).expect("memory for its IDs")
    }

    fn user(&self, _number: u32) -> &Self {
        self
    }
}

impl User for &IdPool {
    type Id = u32;

    #[inline(always)]
    fn alloc(&mut self) -> Option<u32> {
        IdPool::alloc(self).ok()
    }

    #[inline(always)]
    fn free(&mut self, id: u32) -> bool {
        IdPool::free(self, id).is_ok()
    }
}
