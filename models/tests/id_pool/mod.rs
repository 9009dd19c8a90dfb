//! What the tests of `IdPool` share.

use std::{iter, time::Duration};

use jeton::pool::{AllocError, IdPool, IdRange};

/// So long nobody has to wait for anything here, unless a wake is lost.
pub const LONG: Duration = Duration::from_secs(60);

pub fn pool(capacity: u32, users: usize) -> IdPool {
    IdPool::with_users(0, capacity, users).expect("a small pool")
}

/// At rest: every ID can be allocated once, but for those that are `held`. Gives them back.
pub fn assert_conserved(pool: &IdPool, held: &[u32]) {
    let rest: Vec<u32> = iter::from_fn(|| pool.alloc().ok()).collect();
    assert_eq!(pool.alloc(), Err(AllocError::Exhausted), "at rest, the answer is certain");
    let mut all: Vec<u32> = rest.iter().chain(held).copied().collect();
    all.sort_unstable();
    let (base, capacity) = (pool.base(), pool.capacity());
    assert!(all.iter().copied().eq((0..capacity).map(|index| base + index)), "{} of {capacity} IDs: {all:?}", all.len());
    assert_eq!(pool.free_slice(&rest), Ok(()));
}

/// An ID while others are at work; only `Contended` may come before it.
pub fn alloc_certainly(pool: &IdPool) -> u32 {
    loop {
        match pool.alloc() {
            Ok(id) => return id,
            Err(error) => assert_eq!(error, AllocError::Contended, "there are IDs"),
        }
    }
}
