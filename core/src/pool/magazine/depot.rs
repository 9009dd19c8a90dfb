//! The depot: full blocks, claimed and published through bitmaps; and the bits above them that lead to set ones.

use super::{
    parts::Parts,
    storage::{BLOCK, GROUP, Group, bit},
    word::DepotWord,
};
use crate::{ord, sync::AtomicU32};

/// Which of a group's words a search is for: the word itself, and the summary of groups in which it is not zero.
#[derive(Clone, Copy)]
pub(super) struct Level {
    pub word: fn(&Group) -> &AtomicU32,
    pub summary: fn(&Group) -> &AtomicU32,
}

/// Full blocks.
pub(super) const FULL: Level = Level { word: |group| &group.full, summary: |group| &group.full_groups };
/// Blocks with spilled IDs.
pub(super) const SPILLED: Level = Level { word: |group| &group.spilled, summary: |group| &group.spilled_groups };

/// Sets the bit above a word that its caller has made non-zero.
fn mark(above: &AtomicU32, bit: u32) {
    // Release pairs with `settle` (magazine-2): who clears the bit after this sees what the caller has set below it.
    above.fetch_or(bit, ord!("magazine-1", Release));
}

/// Clears the bit above a word that was found to be zero, and sets it again if the word is not zero by now (I4).
fn settle(above: &AtomicU32, bit: u32, is_zero: impl FnOnce() -> bool) {
    // Acquire pairs with `mark`: a bit set below before that mark is seen here; one set later is marked later. Release pairs with
    // magazine-4: who finds the bit cleared sees whoever emptied what was below still at work (I7).
    above.fetch_and(!bit, ord!("magazine-2", AcqRel));
    if !is_zero() {
        mark(above, bit);
    }
}

impl<'a> Parts<'a> {
    fn group_is_zero(group: &Group, level: Level) -> bool {
        (level.word)(group).load(ord!("magazine-3", Relaxed)) == 0
    }

    /// The summary word over group number `index`, where there is more than one group.
    fn summary_over(&self, index: usize, level: Level) -> Option<&'a AtomicU32> {
        if self.groups.len() == 1 {
            return None;
        }
        self.groups.get(index / GROUP).map(level.summary)
    }

    /// A group in which `level` has set bits, with its number.
    #[inline]
    pub(super) fn group_with(&self, level: Level) -> Option<(usize, &'a Group)> {
        // Acquire, here and in magazine-5, pairs with a claim (magazine-11): who sees the bit cleared sees its claimer at work (I7).
        let set = |word: &AtomicU32| word.load(ord!("magazine-4", Acquire));
        if let [group] = self.groups {
            return (set((level.word)(group)) != 0).then_some((0, group));
        }
        self.summaries.iter().enumerate().find_map(|(at, group)| match set((level.summary)(group)) {
            0 => None,
            bits => self.group_of_summary(at, bits, level),
        })
    }

    /// The first of the groups that a summary word leads to in which there are set bits indeed.
    #[inline(never)]
    fn group_of_summary(&self, at: usize, mut bits: u32, level: Level) -> Option<(usize, &'a Group)> {
        loop {
            let index = at * GROUP + (bits != 0).then(|| bits.trailing_zeros() as usize)?;
            bits &= bits - 1;
            let group = self.groups.get(index)?;
            if (level.word)(group).load(ord!("magazine-5", Acquire)) != 0 {
                return Some((index, group));
            }
        }
    }

    /// Makes the bits above a block's bit tell of it.
    pub(super) fn mark_block(&self, block: usize, level: Level) {
        let index = block / GROUP;
        if let Some(group) = self.groups.get(index) {
            mark((level.word)(group), bit(block));
        }
        self.mark_group(index, level);
    }

    fn mark_group(&self, index: usize, level: Level) {
        if let Some(summary) = self.summary_over(index, level) {
            mark(summary, bit(index));
        }
    }

    fn settle_group(&self, index: usize, level: Level) {
        if let (Some(summary), Some(group)) = (self.summary_over(index, level), self.groups.get(index))
            && Self::group_is_zero(group, level)
        {
            settle(summary, bit(index), || Self::group_is_zero(group, level));
        }
    }

    /// Makes the bits above a block's bit right after what was below may have become zero.
    pub(super) fn settle_block(&self, block: usize, level: Level, is_zero: impl FnOnce() -> bool) {
        let index = block / GROUP;
        if let Some(group) = self.groups.get(index) {
            settle((level.word)(group), bit(block), is_zero);
            self.settle_group(index, level);
        }
    }

    /// Runs `moves` as a call in flight: until it ends, nobody says that there is nothing in the depot (I7).
    #[inline]
    pub(super) fn in_flight<R>(&self, moves: impl FnOnce() -> R) -> R {
        self.header.depot.fetch_add(DepotWord::BEGIN, ord!("magazine-6", Relaxed));
        let result = moves();
        // Release pairs with `look` (magazine-8): who finds the depot quiet sees all that was moved.
        self.header.depot.fetch_add(DepotWord::END, ord!("magazine-7", Release));
        result
    }

    /// The depot's word, before a look into the depot.
    pub(super) fn look(&self) -> DepotWord {
        // Acquire pairs with magazine-7 of every call that has ended.
        DepotWord(self.header.depot.load(ord!("magazine-8", Acquire)))
    }

    /// Whether nobody has moved a block since `look`. Ordered after the loads between, which acquire.
    pub(super) fn is_unmoved(&self, look: DepotWord) -> bool {
        look.is_quiet() && self.header.depot.load(ord!("magazine-9", Relaxed)) == look.0
    }

    /// Puts a magazine into an empty block, near the last one. `false` if none is found.
    pub(super) fn put(&self, ids: &[u32; BLOCK], near: &mut u32) -> bool {
        self.in_flight(|| {
            let Some((index, group)) = self.claim_empty(near) else { return false };
            let Some(block) = self.blocks.get(index) else { return false };
            // SAFETY: I2: the bit in `used` was 0 and this call set it; whoever had the block before has cleared it (magazine-12).
            block.0.with_mut(|to| unsafe { *to = *ids });
            // The linearization point. The mark releases the block's IDs to whoever claims the bit (magazine-11).
            mark(&group.full, bit(index));
            self.mark_group(index / GROUP, FULL);
            true
        })
    }

    /// Claims an empty block, with its group: in the group that was good last time, or else in the next one that has any.
    fn claim_empty(&self, near: &mut u32) -> Option<(usize, &'a Group)> {
        let last = *near as usize;
        if let Some(claimed) = self.claim_empty_in(last) {
            return Some(claimed);
        }
        let others = (last + 1..self.groups.len()).chain(0..last);
        let claimed = others.into_iter().find_map(|index| self.claim_empty_in(index))?;
        *near = (claimed.0 / GROUP) as u32;
        Some(claimed)
    }

    #[inline]
    fn claim_empty_in(&self, index: usize) -> Option<(usize, &'a Group)> {
        let group = self.groups.get(index)?;
        let blocks = self.blocks.len() - index * GROUP;
        let all = if blocks < GROUP { bit(blocks) - 1 } else { u32::MAX >> (32 - GROUP) };
        loop {
            let empty = !group.used.load(ord!("magazine-13", Relaxed)) & all;
            if empty == 0 {
                return None;
            }
            let block = empty.trailing_zeros();
            // Acquire pairs with magazine-12: the one before has read what this call overwrites.
            if group.used.fetch_or(1 << block, ord!("magazine-10", Acquire)) & 1 << block == 0 {
                return Some((index * GROUP + block as usize, group));
            }
        }
    }

    /// Takes a magazine out of a full block. `false` if there is none.
    #[inline(never)]
    pub(super) fn take(&self, ids: &mut [u32; BLOCK], near: &mut u32) -> bool {
        self.in_flight(|| self.take_in_flight(ids, near))
    }

    #[inline(always)]
    fn take_in_flight(&self, ids: &mut [u32; BLOCK], near: &mut u32) -> bool {
        while let Some((index, group)) = self.group_with(FULL) {
            let full = group.full.load(ord!("magazine-14", Relaxed));
            let block = full.trailing_zeros();
            // The linearization point. Acquire pairs with the mark that published the block's IDs. Release pairs with magazine-4 and
            // magazine-5: who misses the bit sees that this call is in flight and its user busy.
            if full == 0 || group.full.fetch_and(!(1 << block), ord!("magazine-11", AcqRel)) & 1 << block == 0 {
                continue;
            }
            if let Some(block) = self.blocks.get(index * GROUP + block as usize) {
                // SAFETY: I2: this call cleared the bit in `full`, and clears that in `used` only below.
                block.0.with(|from| unsafe { *ids = *from });
            }
            // Release pairs with magazine-10 of the next one that puts a magazine there.
            group.used.fetch_and(!(1 << block), ord!("magazine-12", Release));
            self.settle_group(index, FULL);
            *near = index as u32;
            return true;
        }
        false
    }
}
