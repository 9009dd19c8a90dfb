//! Our pools in the rounds. Their storage is leaked: a program that measures makes one pool and ends.

use jeton_core::pool::{BitPool, BitWord, BorrowedBitPool, bit_pool_words};

use super::{Pool, User};

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
        let words: &'static [BitWord] = Vec::leak(std::iter::repeat_with(BitWord::default).take(bit_pool_words(ids)).collect());
        Self::new(words, 0, ids).expect("the storage is for so many IDs, from 0 on")
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
