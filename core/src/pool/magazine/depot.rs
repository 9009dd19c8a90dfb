//! The depot: full blocks, claimed and published through bitmaps; and the bits above them that lead to set ones.

use super::{
    parts::{DEPOTS, Parts},
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

/// The group where a user was last, by its distance (bit by bit) from the user's [home](Parts::home): where users are elsewhere, they do
/// not meet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Near(u32);

impl Near {
    pub const HOME: Self = Self(0);

    const fn new(group: usize, home: usize) -> Self {
        Self((group ^ home) as u32)
    }

    const fn group(self, home: usize) -> usize {
        self.0 as usize ^ home
    }
}

/// Full blocks.
pub(super) const FULL: Level = Level { word: |group| &group.blocks.full, summary: |group| &group.summaries.full };
/// Blocks with spilled IDs.
pub(super) const SPILLED: Level = Level { word: |group| &group.blocks.spilled, summary: |group| &group.summaries.spilled };

/// Sets a bit: a full block's, or one above others, which its caller has set before.
fn mark(word: &AtomicU32, bit: u32) {
    // Release pairs with `take` (magazine-11), and with `settle` (magazine-2): who clears the bit sees what the caller has written or
    // set before. Acquire pairs with magazine-3, for `mark_group`.
    word.fetch_or(bit, ord!("magazine-1", AcqRel));
}

/// Clears the bit above a word that was found to be zero, and sets it again if the word is not zero by now (I4): whether it is zero.
fn settle(above: &AtomicU32, bit: u32, is_zero: impl FnOnce() -> bool) -> bool {
    // Acquire pairs with `mark`: a bit set below before that mark is seen here; one set later is marked later. Release pairs with
    // magazine-4: who finds the bit cleared sees whoever emptied what was below still at work (I7).
    above.fetch_and(!bit, ord!("magazine-2", AcqRel));
    let zero = is_zero();
    if !zero {
        mark(above, bit);
    }
    zero
}

impl<'a> Parts<'a> {
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

    /// A group in which there are full blocks, with its number: the one `near`, or else any.
    #[inline]
    pub(super) fn full_group(&self, near: Near) -> Option<(usize, &'a Group)> {
        let near = near.group(self.home);
        match self.groups.get(near) {
            Some(group) if group.blocks.full.load(ord!("magazine-55", Relaxed)) != 0 => Some((near, group)),
            _ => self.group_with(FULL),
        }
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

    /// Makes the summary tell of a group in which the caller has just marked something.
    fn mark_group(&self, index: usize, level: Level) {
        if let Some(summary) = self.summary_over(index, level)
            // Users with groups of their own do not meet here: the bit is nearly always set. If it is about to be cleared, that one
            // looks at the group afterwards, by a read-modify-write: either it sees what the caller has marked, or that mark
            // (magazine-1) has seen it, and this load sees the bit cleared.
            && summary.load(ord!("magazine-53", Relaxed)) & bit(index) == 0
        {
            mark(summary, bit(index));
        }
    }

    fn settle_group(&self, index: usize, level: Level) {
        let (Some(summary), Some(group)) = (self.summary_over(index, level), self.groups.get(index)) else { return };
        let word = (level.word)(group);
        if word.load(ord!("magazine-54", Relaxed)) == 0 {
            // Release pairs with magazine-1: see `mark_group`.
            settle(summary, bit(index), || word.fetch_or(0, ord!("magazine-3", Release)) == 0);
        }
    }

    /// Makes the bits above a block's bit right after what was below may have become zero.
    pub(super) fn settle_block(&self, block: usize, level: Level, is_zero: impl FnOnce() -> bool) {
        let index = block / GROUP;
        if let Some(group) = self.groups.get(index) {
            if settle((level.word)(group), bit(block), is_zero) {
                self.settle_group(index, level);
            } else {
                // Marked again, and the summary may have been cleared meanwhile.
                self.mark_group(index, level);
            }
        }
    }

    /// Runs `moves` as a call in flight: until it ends, nobody says that there is nothing in the depot (I7).
    #[inline]
    pub(super) fn in_flight<R>(&self, near: Near, moves: impl FnOnce() -> R) -> R {
        let word = self.header.depot(near.group(self.home));
        word.fetch_add(DepotWord::BEGIN, ord!("magazine-6", Relaxed));
        let result = moves();
        // Release pairs with `look` (magazine-8): who finds the depot quiet sees all that was moved.
        word.fetch_add(DepotWord::END, ord!("magazine-7", Release));
        result
    }

    /// The sum of the depot's words before a look into it; `None` if somebody is moving a block.
    pub(super) fn look(&self) -> Option<u32> {
        // Acquire pairs with magazine-7 of every call that has ended.
        let mut words = self.header.depot.iter().map(|word| DepotWord(word.load(ord!("magazine-8", Acquire))));
        words.try_fold(0, |sum: u32, word| word.is_quiet().then(|| sum.wrapping_add(word.0)))
    }

    /// Whether nobody has moved a block since `look`. Ordered after the loads between, which acquire.
    pub(super) fn is_unmoved(&self, look: u32) -> bool {
        // The words only grow, so that none has changed if their sum has not.
        let words = self.header.depot.iter().map(|word| word.load(ord!("magazine-9", Relaxed)));
        words.fold(0, u32::wrapping_add) == look
    }

    /// Puts a magazine into an empty block, near the last one. `false` if none is found.
    pub(super) fn put(&self, ids: &[u32; BLOCK], near: &mut Near) -> bool {
        self.in_flight(*near, || {
            let Some((index, group)) = self.claim_empty(near) else { return false };
            let Some(block) = self.blocks.get(index) else { return false };
            // SAFETY: I2: the bit in `used` was 0 and this call set it; whoever had the block before has cleared it (magazine-12).
            block.0.with_mut(|to| unsafe { *to = *ids });
            // The linearization point. The mark releases the block's IDs to whoever claims the bit (magazine-11).
            mark(&group.blocks.full, bit(index));
            self.mark_group(index / GROUP, FULL);
            true
        })
    }

    /// Claims an empty block, with its group: in the group that was good last time, or else in the next one that has any.
    fn claim_empty(&self, near: &mut Near) -> Option<(usize, &'a Group)> {
        let last = near.group(self.home);
        if let Some(claimed) = self.claim_empty_in(last) {
            return Some(claimed);
        }
        // In steps, so that users with neighbouring homes do not meet as they go on.
        let groups = self.groups.len();
        let class = |class: usize| (0..groups.div_ceil(DEPOTS)).map(move |step| step * DEPOTS + class);
        let others = (0..DEPOTS).flat_map(|offset| class((last + offset) % DEPOTS)).filter(move |&index| index < groups);
        let claimed = others.into_iter().find_map(|index| self.claim_empty_in(index))?;
        *near = Near::new(claimed.0 / GROUP, self.home);
        Some(claimed)
    }

    #[inline]
    fn claim_empty_in(&self, index: usize) -> Option<(usize, &'a Group)> {
        let group = self.groups.get(index)?;
        let blocks = self.blocks.len() - index * GROUP;
        let all = if blocks < GROUP { bit(blocks) - 1 } else { u32::MAX >> (32 - GROUP) };
        loop {
            let empty = !group.blocks.used.load(ord!("magazine-13", Relaxed)) & all;
            if empty == 0 {
                return None;
            }
            let block = empty.trailing_zeros();
            // Acquire pairs with magazine-12: the one before has read what this call overwrites.
            if group.blocks.used.fetch_or(1 << block, ord!("magazine-10", Acquire)) & 1 << block == 0 {
                return Some((index * GROUP + block as usize, group));
            }
        }
    }

    /// Takes a magazine out of a full block. `false` if there is none.
    #[inline(never)]
    pub(super) fn take(&self, ids: &mut [u32; BLOCK], near: &mut Near) -> bool {
        self.in_flight(*near, || self.take_in_flight(ids, near))
    }

    #[inline(always)]
    fn take_in_flight(&self, ids: &mut [u32; BLOCK], near: &mut Near) -> bool {
        while let Some((index, group)) = self.full_group(*near) {
            let full = group.blocks.full.load(ord!("magazine-14", Relaxed));
            let block = full.trailing_zeros();
            // The linearization point. Acquire pairs with the mark that published the block's IDs. Release pairs with magazine-4 and
            // magazine-5: who misses the bit sees that this call is in flight and its user busy.
            if full == 0 || group.blocks.full.fetch_and(!(1 << block), ord!("magazine-11", AcqRel)) & 1 << block == 0 {
                continue;
            }
            if let Some(block) = self.blocks.get(index * GROUP + block as usize) {
                // SAFETY: I2: this call cleared the bit in `full`, and clears that in `used` only below.
                block.0.with(|from| unsafe { *ids = *from });
            }
            // Release pairs with magazine-10 of the next one that puts a magazine there.
            group.blocks.used.fetch_and(!(1 << block), ord!("magazine-12", Release));
            self.settle_group(index, FULL);
            *near = Near::new(index, self.home);
            return true;
        }
        false
    }
}
