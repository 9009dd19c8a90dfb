//! The loops of Apache Kudu's call-ID figures: `calls` IDs, of which nobody uses any but the last.
//!
//! A run begins where Kudu's generator begins, so that the first ID is 0: the last one is `(calls - 1) % 2^31`, however it was made.

use core::hint::{black_box, select_unpredictable};

/// Before the first call, in both versions: the next ID is 0.
const START: u32 = MAX;
const MAX: u32 = 0x7fff_ffff;

/// The old version, as written: compare, then reset or increment.
#[inline]
pub fn old_branch(calls: u64) -> u32 {
    let mut id = START;
    for _ in 0..calls {
        id = if id == MAX { 0 } else { id + 1 };
    }
    id
}

/// The old version in the branch-free shape of the documented figures: 14 instructions and one branch for four calls.
///
/// Today's compilers turn two of four conditional moves back into branches; `select_unpredictable` keeps them all.
#[inline]
pub fn old_branch_free(calls: u64) -> u32 {
    let mut id = START;
    for _ in 0..calls {
        id = select_unpredictable(id == MAX, 0, id.wrapping_add(1));
    }
    id
}

/// The new version: increment, then mask. As in Kudu, the counter itself keeps its top bit and only the ID loses it, so that the
/// compiler folds the whole loop into one addition and one mask; with a masked counter it does not.
#[inline]
pub fn new_mask(calls: u64) -> u32 {
    let (mut counter, mut id) = (START, START);
    for _ in 0..calls {
        counter = counter.wrapping_add(1);
        id = counter & MAX;
    }
    id
}

/// The old version, every ID used.
#[inline]
pub fn old_branch_used(calls: u64) -> u32 {
    let mut id = START;
    for _ in 0..calls {
        id = black_box(if id == MAX { 0 } else { id + 1 });
    }
    id
}

/// The new version, every ID used.
#[inline]
pub fn new_mask_used(calls: u64) -> u32 {
    let (mut counter, mut id) = (START, START);
    for _ in 0..calls {
        counter = counter.wrapping_add(1);
        id = black_box(counter & MAX);
    }
    id
}

/// What every version returns after `calls` calls.
pub fn expected(calls: u64) -> u32 {
    calls.wrapping_add(START.into()) as u32 & MAX
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_version_ends_with_the_same_id() {
        for calls in [0, 1, 2, 3, 4, 5, 1000, 1001, 1002, 1003] {
            for version in [old_branch, old_branch_free, new_mask, old_branch_used, new_mask_used] {
                assert_eq!(version(calls), expected(calls), "{calls} calls");
            }
        }
        assert_eq!(expected((1 << 31) + 1), 0, "once round");
    }
}
