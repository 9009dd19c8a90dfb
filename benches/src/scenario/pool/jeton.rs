//! Our pools in the rounds. Their storage is leaked: a program that measures makes one pool and ends.

use jeton_core::pool::{
    self, BitPool, BitWord, BorrowedBitPool, Cache, Checked, CheckedUser, MagazinePool, PoolUser, Slices, StealableCache, Users,
    bit_pool_words,
};

use super::{Pool, User};

const NO_RANGE_ERROR: &str = "the storage is for so many IDs, from 0 on";

fn magazine_pool(ids: u32) -> MagazinePool<Slices<'static>> {
    let (blocks, groups) = Slices::lengths(ids);
    MagazinePool::over((leak(blocks), leak(blocks), leak(groups)), 0, ids).expect(NO_RANGE_ERROR)
}

fn leak<T: Default>(len: usize) -> &'static mut [T] {
    Vec::leak(std::iter::repeat_with(T::default).take(len).collect())
}

/// A pool with a cache for each of its users, which only its owner uses.
#[derive(Debug)]
pub struct OwnerCaches(MagazinePool<Slices<'static>>);

impl Pool for OwnerCaches {
    type Id = u32;
    type User<'p> = Cache<'p>;

    const TO_THE_LAST_ID: bool = false;

    /// More IDs than that, by all that the caches can hold.
    fn with(ids: u32, users: u32) -> Self {
        Self(magazine_pool(ids + users * pool::magazine::CACHE as u32))
    }

    fn user(&self, _number: u32) -> Cache<'_> {
        self.0.cache()
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

/// As [`OwnerCaches`], with a bit an ID that says whether somebody has it.
#[derive(Debug)]
pub struct CheckedCaches(Checked<MagazinePool<Slices<'static>>, MOST_CHECKED>);

impl Pool for CheckedCaches {
    type Id = u32;
    type User<'p> = CheckedUser<'p, Cache<'p>, MOST_CHECKED>;

    const TO_THE_LAST_ID: bool = OwnerCaches::TO_THE_LAST_ID;

    fn with(ids: u32, users: u32) -> Self {
        Self(Checked::try_new(OwnerCaches::with(ids, users).0).expect("at most 101,000 IDs"))
    }

    fn user(&self, _number: u32) -> Self::User<'_> {
        self.0.user(self.0.pool().cache()).expect("a cache of this pool")
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
pub struct StealableCaches(StealableCache<Slices<'static>, Users<MOST_USERS>>);

impl Pool for StealableCaches {
    type Id = u32;
    type User<'p> = pool::User<'p>;

    const TO_THE_LAST_ID: bool = true;

    fn with(ids: u32, _users: u32) -> Self {
        Self(StealableCache::of(magazine_pool(ids)))
    }

    fn user(&self, number: u32) -> pool::User<'_> {
        self.0.user(number as usize).expect("at most four users")
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
        let words: &'static [BitWord] = leak(bit_pool_words(ids));
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
