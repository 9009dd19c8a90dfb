//! Spilled IDs: those that a `free` could put nowhere else. One bit each; setting it never fails and never waits.

use super::{
    depot::SPILLED,
    parts::Parts,
    storage::{BLOCK, GROUP, Spill},
};
use crate::ord;

/// The index of the ID that a spill bit stands for.
pub(super) const fn index_at(block: usize, word: usize, bit: u32) -> u32 {
    (block * BLOCK + word * 32) as u32 + bit
}

impl Spill {
    fn is_zero(&self) -> bool {
        self.0.iter().all(|word| word.load(ord!("magazine-26", Relaxed)) == 0)
    }
}

/// How often a search follows a bit above to a block that others have emptied meanwhile.
const TRIES: usize = 4;

impl<'a> Parts<'a> {
    /// Sets the bit of an ID that was minted. `false` if it is set already: the ID was freed twice.
    pub(super) fn spill(&self, index: u32) -> bool {
        let (block, bit) = (index as usize / BLOCK, index as usize % BLOCK);
        let Some(word) = self.spills.get(block).and_then(|spill| spill.0.get(bit / 32)) else { return false };
        let bit = 1 << (bit % 32);
        // Counted first, so that the count is never less than the bits (I6).
        self.header.spilled.fetch_add(1, ord!("magazine-27", Acquire));
        // The linearization point. Release pairs with magazine-30 and magazine-32: what was done with the ID comes before its next use.
        if word.fetch_or(bit, ord!("magazine-28", Release)) & bit != 0 {
            self.uncount(1);
            return false;
        }
        self.mark_block(block, SPILLED);
        true
    }

    /// Spills what was freed before and finds no block. An ID that was freed twice is dropped here.
    pub(super) fn spill_all(&self, indexes: &[u32]) {
        for &index in indexes {
            self.spill(index);
        }
    }

    fn uncount(&self, ids: u32) {
        // Release pairs with magazine-25: who finds none spilled sees that the one who took the last is still busy with it.
        self.header.spilled.fetch_add(ids.wrapping_neg(), ord!("magazine-29", Release));
    }

    /// A block that may have spilled IDs.
    fn spilled_block(&self) -> Option<(usize, &'a Spill)> {
        let (index, group) = self.group_with(SPILLED)?;
        let blocks = group.blocks.spilled.load(ord!("magazine-49", Relaxed));
        let block = index * GROUP + (blocks != 0).then(|| blocks.trailing_zeros() as usize)?;
        Some((block, self.spills.get(block)?))
    }

    /// Takes all spilled IDs of one block into an empty magazine. Returns how many.
    #[inline]
    pub(super) fn drain_spilled(&self, ids: &mut [u32; BLOCK]) -> usize {
        if self.header.spilled.load(ord!("magazine-31", Relaxed)) == 0 { 0 } else { self.drain(ids) }
    }

    #[cold]
    #[inline(never)]
    fn drain(&self, ids: &mut [u32; BLOCK]) -> usize {
        for _ in 0..TRIES {
            let Some((block, spill)) = self.spilled_block() else { return 0 };
            let mut len = 0;
            for (at, word) in spill.0.iter().enumerate() {
                // The linearization point. Acquire pairs with magazine-28.
                let mut bits = word.swap(0, ord!("magazine-30", Acquire));
                while let (true, Some(slot)) = (bits != 0, ids.get_mut(len)) {
                    *slot = index_at(block, at, bits.trailing_zeros());
                    bits &= bits - 1;
                    len += 1;
                }
            }
            self.settle_block(block, SPILLED, || spill.is_zero());
            if len != 0 {
                self.uncount(len as u32);
                return len;
            }
        }
        0
    }

    /// Takes one spilled ID.
    pub(super) fn take_spilled(&self) -> Option<u32> {
        if self.header.spilled.load(ord!("magazine-33", Relaxed)) == 0 {
            return None;
        }
        for _ in 0..TRIES {
            let (block, spill) = self.spilled_block()?;
            for (at, word) in spill.0.iter().enumerate() {
                let bits = word.load(ord!("magazine-34", Relaxed));
                let bit = bits & bits.wrapping_neg();
                // The linearization point. Acquire pairs with magazine-28.
                if bit != 0 && word.fetch_and(!bit, ord!("magazine-32", Acquire)) & bit != 0 {
                    // Or marks of empty blocks pile up, and searches follow them in vain.
                    if spill.is_zero() {
                        self.settle_block(block, SPILLED, || spill.is_zero());
                    }
                    self.uncount(1);
                    return Some(index_at(block, at, bit.trailing_zeros()));
                }
            }
            self.settle_block(block, SPILLED, || spill.is_zero());
        }
        None
    }
}
