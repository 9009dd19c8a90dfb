//! The pools of Open vSwitch in the rounds.

use std::sync::{Mutex, PoisonError};

use super::{Pool, User};
use crate::originals::{Lock, MapPool, SlabPool};

/// A user of a slab pool.
#[derive(Debug)]
pub struct SlabUser<'p, L> {
    pool: &'p SlabPool<L>,
    number: usize,
}

impl<L: Lock> Pool for SlabPool<L> {
    type Id = u32;
    type User<'p>
        = SlabUser<'p, L>
    where
        L: 'p;

    const TO_THE_LAST_ID: bool = true;

    fn with(ids: u32, users: u32) -> Self {
        Self::new(0, ids, users)
    }

    fn user(&self, number: u32) -> SlabUser<'_, L> {
        SlabUser { pool: self, number: number as usize }
    }
}

impl<L: Lock> User for SlabUser<'_, L> {
    type Id = u32;

    #[inline(always)]
    fn alloc(&mut self) -> Option<u32> {
        self.pool.alloc(self.number)
    }

    /// The original does not say whether it took the ID.
    #[inline(always)]
    fn free(&mut self, id: u32) -> bool {
        self.pool.free(self.number, id);
        true
    }
}

impl Pool for Mutex<MapPool> {
    type Id = u32;
    type User<'p> = &'p Self;

    const TO_THE_LAST_ID: bool = true;

    fn with(ids: u32, _users: u32) -> Self {
        Self::new(MapPool::new(0, ids))
    }

    fn user(&self, _number: u32) -> &Self {
        self
    }
}

/// Whoever panicked with the lock held ends the process: nobody else looks at the map.
impl User for &Mutex<MapPool> {
    type Id = u32;

    fn alloc(&mut self) -> Option<u32> {
        self.lock().unwrap_or_else(PoisonError::into_inner).alloc()
    }

    fn free(&mut self, id: u32) -> bool {
        self.lock().unwrap_or_else(PoisonError::into_inner).free(id);
        true
    }
}
