//! What `BitPool` does, for owned and for borrowed words. IDs are indexes here: the base is added outside.

use super::{AllocError, FreeError, error::ReserveError};
use crate::{
    const_fn, ord,
    sync::AtomicU32,
    util::{BITS, BitWord, Summary, low_bits},
};

/// What tells an exhausted pool from one that many use.
pub(super) struct Counts {
    /// Two for each free so far: even, modulo 2^32.
    frees: AtomicU32,
    /// `frees` plus one at the last instant at which a call has proved that all IDs were allocated; 0 at first.
    proven: AtomicU32,
}

impl Counts {
    const_fn! {
        pub(super) const fn new() -> Self {
            Self { frees: AtomicU32::new(0), proven: AtomicU32::new(0) }
        }
    }
}

/// A pool's parts, put together for one call.
#[derive(Clone, Copy)]
pub(super) struct Bits<'a> {
    /// A set bit is an allocated ID (B1).
    pub(super) ids: &'a [BitWord],
    pub(super) summary: Summary<'a>,
    pub(super) counts: &'a Counts,
    pub(super) capacity: u32,
}

impl<'a> Bits<'a> {
    /// The lowest free index of the word that is lowest not long ago, or that word.
    #[inline(always)]
    pub(super) fn alloc(&self) -> Result<u32, u32> {
        let at = self.summary.low();
        if let Some(word) = self.ids.get(at as usize) {
            let before = word.glance();
            if before != low_bits(BITS) {
                let bit = (!before).trailing_zeros();
                let index = at * BITS + bit;
                // Linearization point: setting the bit.
                if index < self.capacity && word.set(bit) {
                    return Ok(index);
                }
            }
        }
        Err(at)
    }

    /// The word `looked_at` has nothing, or another call has just taken what it had.
    pub(super) fn alloc_by_search(&self, looked_at: u32) -> Result<u32, AllocError> {
        let mut at = Some(looked_at);
        loop {
            if let Some((at, word)) = at.and_then(|at| Some((at, self.ids.get(at as usize)?))) {
                if let Some(bit) = word.set_lowest(self.valid(at)) {
                    return Ok(at * BITS + bit);
                }
                // B3: marks are made only here, where a look has found nothing.
                self.summary.mark(at, || self.is_full(at, word.look_again()));
            }
            at = self.summary.first();
            if at.is_none()
                && let Some(answer) = self.sweep()
            {
                return answer;
            }
        }
    }

    fn sweep(&self) -> Option<Result<u32, AllocError>> {
        self.prove_exhausted(|at, word| Some(at * BITS + word.set_lowest(self.valid(at))?))
    }

    /// Whether at some instant of the call all IDs were allocated.
    pub(super) fn is_exhausted(&self) -> bool {
        matches!(self.prove_exhausted(|_, _| Some(())), Some(Err(_)))
    }

    /// Looks at every word, whatever the marks say, and lets `take` have those that are not full. `None`: IDs have been freed
    /// meanwhile, perhaps behind its back.
    fn prove_exhausted<R>(&self, take: impl Fn(u32, &BitWord) -> Option<R>) -> Option<Result<R, AllocError>> {
        // Acquire pairs with `free`: the bits that were cleared before are seen as clear.
        let frees = self.counts.frees.load(ord!("pool-1", Acquire));
        // Nothing has been freed since somebody proved that nothing was free.
        if self.counts.proven.load(ord!("pool-2", Relaxed)) == frees | 1 {
            return Some(Err(AllocError::Exhausted));
        }
        for (word, at) in self.ids.iter().zip(0..) {
            while !self.is_full(at, word.survey()) {
                if let Some(taken) = take(at, word) {
                    return Some(Ok(taken));
                }
            }
        }
        // Linearization point of `Exhausted`. A word that was full a while ago still is, but for frees that have not counted
        // themselves yet: they come after this call (B2). Not before the looks at the words, each of which acquires.
        if self.counts.frees.load(ord!("pool-3", Relaxed)) != frees {
            return None;
        }
        self.counts.proven.store(frees | 1, ord!("pool-4", Relaxed));
        Some(Err(AllocError::Exhausted))
    }

    /// Whether the index was taken back; `marked` is called if its word is marked.
    #[inline(always)]
    pub(super) fn free(&self, index: u32, marked: impl FnOnce(u32)) -> bool {
        let at = index / BITS;
        let Some(word) = self.ids.get(at as usize) else {
            return false;
        };
        if !word.clear(index) {
            return false;
        }
        self.count_free();
        // After the clear: see `Summary`.
        if self.summary.is_marked(at) {
            marked(at);
        }
        true
    }

    /// Linearization point of a free, unless the ID is allocated again before: then just before that (B2).
    #[inline(always)]
    fn count_free(&self) {
        // Release pairs with `sweep`.
        self.counts.frees.fetch_add(2, ord!("pool-5", Release));
    }

    /// Why the index was not taken back.
    pub(super) fn not_freed(&self, index: u32) -> FreeError {
        if index >= self.capacity {
            return FreeError::OutOfRange(index);
        }
        // The free that cleared the bit may not have counted itself. Its ID is free as this call says so: count it, once more.
        self.count_free();
        FreeError::NotAllocated(index)
    }

    pub(super) fn reserve(&self, index: u32) -> Result<(), ReserveError> {
        match self.ids.get((index / BITS) as usize) {
            // Linearization point: setting the bit, or finding it set.
            Some(word) if index < self.capacity => {
                if word.set(index) {
                    Ok(())
                } else {
                    Err(ReserveError::Allocated(index))
                }
            }
            _ => Err(ReserveError::OutOfRange(index)),
        }
    }

    pub(super) fn alloc_into(&self, ids: &mut [u32]) -> usize {
        let mut filled = 0;
        while let Some(rest) = ids.get_mut(filled..).filter(|rest| !rest.is_empty()) {
            let at = self.summary.low();
            let taken = self.ids.get(at as usize).map_or(0, |word| {
                let clear = !word.glance() & self.valid(at);
                // Linearization point of all these IDs.
                word.set_all(lowest_of(clear, rest.len()))
            });
            filled += if taken == 0 {
                let Ok(index) = self.alloc_by_search(at) else { break };
                put(rest, index & !(BITS - 1), 1 << (index % BITS))
            } else {
                put(rest, at * BITS, taken)
            };
        }
        filled
    }

    pub(super) fn allocated(&self) -> u32 {
        self.ids.iter().map(|word| word.survey().count_ones()).sum()
    }

    pub(super) fn is_allocated(&self, index: u32) -> bool {
        let word = self.ids.get((index / BITS) as usize);
        word.is_some_and(|word| word.survey() & 1 << (index % BITS) != 0)
    }

    pub(super) fn free_indexes(self) -> impl Iterator<Item = u32> + use<'a> {
        (0..self.capacity).filter(move |&index| !self.is_allocated(index))
    }

    /// The bits of word `at` that stand for IDs.
    fn valid(&self, at: u32) -> u32 {
        low_bits(self.capacity.saturating_sub(at.saturating_mul(BITS)))
    }

    fn is_full(&self, at: u32, word: u32) -> bool {
        !word & self.valid(at) == 0
    }
}

/// The lowest `most` of the set bits.
fn lowest_of(bits: u32, most: usize) -> u32 {
    let mut rest = bits;
    for _ in 0..most.min(BITS as usize) {
        rest &= rest.wrapping_sub(1);
    }
    bits & !rest
}

/// Writes the indexes of the set `bits` to the front of `ids`, and returns how many. There is room for them.
fn put(ids: &mut [u32], first: u32, mut bits: u32) -> usize {
    let count = bits.count_ones() as usize;
    for id in ids.iter_mut().take(count) {
        *id = first + bits.trailing_zeros();
        bits &= bits.wrapping_sub(1);
    }
    count
}
