//! From counts to IDs and back. Pure arithmetic on 64 bits, of which the compiler keeps what the word needs.
//!
//! The generators count 0, 1, 2, …, so that a `static` starts as zero bits. `Wrap` and `Exhaust` number the IDs differently:
//! `wrapping_…` goes round all values, the reserved ones included; `ascending_…` numbers the IDs alone, from the first one up.

use super::{Contradiction, IdSpace, NotInSpace, Space, Word};

/// Counts at the end of a word that [`Exhaust`](super::Exhaust) never hands out.
///
/// A refused call may still count once, if the end came between its look and its step. The band keeps such calls from carrying
/// the counter over its wrap, where every ID would come again: it has room for 65,536 of them.
pub const GUARD_BAND: u64 = 1 << 16;

/// The constants of a space that a generator computes with.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sequence {
    first: u64,
    step: u64,
    mask: u64,
    reserved_below: u64,
    /// One more reserved value.
    hole: Option<u64>,
    /// `Exhaust`: how many IDs there are from the first one up, short of the guard band.
    capacity: u64,
}

/// Neighbouring IDs, one step apart, that a lease takes at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Block {
    /// The first ID.
    pub(crate) first: u64,
    /// How many there are; at least one.
    pub(crate) len: u64,
    /// The count after the last one.
    pub(crate) count_after: u64,
}

impl Sequence {
    /// The constants of `S`. Used in constants only: it stops the compiler at a space that cannot exist.
    #[allow(clippy::panic, reason = "evaluated by the compiler: it is the compile error")]
    pub(crate) const fn of<S: Space>() -> Self {
        match Self::new(S::SPACE, S::Word::BITS) {
            Ok(sequence) => sequence,
            Err(contradiction) => panic!("{}", contradiction.message()),
        }
    }

    const fn new(space: IdSpace, word_bits: u32) -> Result<Self, Contradiction> {
        if let Err(contradiction) = space.check(word_bits) {
            return Err(contradiction);
        }
        let first = space.first_id();
        let step = space.step();
        let steps = (space.top() - first) / step;
        let holes = match space.hole() {
            Some(hole) if hole > first => 1,
            _ => 0,
        };
        let ids = (steps - holes).saturating_add(1);
        let outside_guard_band = (u64::MAX >> (64 - word_bits)) - GUARD_BAND + 1;
        let capacity = if ids < outside_guard_band { ids } else { outside_guard_band };
        Ok(Self { first, step, mask: space.mask(), reserved_below: space.reserved_range(), hole: space.hole(), capacity })
    }

    /// `Wrap`: the count of the first round that stands for the same value as `count`.
    #[inline]
    pub(crate) const fn reduce(self, count: u64) -> u64 {
        count & (self.mask / self.step)
    }

    /// `Wrap`: the value at `count`, round and round; it may be a reserved one.
    #[inline]
    pub(crate) const fn wrapping_id(self, count: u64) -> u64 {
        self.first.wrapping_add(count.wrapping_mul(self.step)) & self.mask
    }

    /// `Wrap`: whether the value is one to leave out.
    #[inline]
    pub(crate) const fn is_reserved(self, id: u64) -> bool {
        let in_hole = match self.hole {
            Some(hole) => id == hole,
            None => false,
        };
        id < self.reserved_below || in_hole
    }

    /// `Wrap`: how many counts lead from the reserved value `id` to the next value that is not reserved.
    #[inline]
    pub(crate) const fn counts_out_of_reserved(self, id: u64) -> u64 {
        let mut next = id;
        // At most three jumps: out of the hole, out of the low range, out of a hole on the other side of it.
        loop {
            let below = self.reserved_below.saturating_sub(next);
            let jump = if below > self.step { below.div_ceil(self.step) * self.step } else { self.step };
            next = next.wrapping_add(jump) & self.mask;
            if !self.is_reserved(next) {
                return (next.wrapping_sub(id) & self.mask) / self.step;
            }
        }
    }

    // Always inlined: with the constants of a space, little is left of these three.

    /// `Wrap`: up to `most` IDs from `count` on, after the reserved values there; never over the end of the space.
    #[inline(always)]
    pub(crate) const fn wrapping_block(self, count: u64, most: u64) -> Block {
        let value = self.wrapping_id(count);
        let skipped = if self.is_reserved(value) { self.counts_out_of_reserved(value) } else { 0 };
        let first = self.wrapping_id(count.wrapping_add(skipped));
        let len = self.run(first, most);
        Block { first, len, count_after: count.wrapping_add(skipped).wrapping_add(len) }
    }

    /// `Exhaust`: up to `most` IDs from `count` on.
    #[inline(always)]
    pub(crate) const fn ascending_block(self, count: u64, most: u64) -> Option<Block> {
        if count >= self.capacity {
            return None;
        }
        let left = self.capacity - count;
        let first = self.ascending_id(count);
        let len = self.run(first, if most < left { most } else { left });
        Some(Block { first, len, count_after: count + len })
    }

    /// How many IDs, at most `most`, follow each other from the ID `first` on without a hole or the end between.
    #[inline(always)]
    const fn run(self, first: u64, most: u64) -> u64 {
        let to_end = ((self.mask - first) / self.step).saturating_add(1);
        let to_hole = match self.hole {
            Some(hole) if hole > first => (hole - first) / self.step,
            _ => u64::MAX,
        };
        let run = if to_end < to_hole { to_end } else { to_hole };
        if most < run { most } else { run }
    }

    /// `Exhaust`: how many IDs a new generator hands out.
    #[inline]
    pub(crate) const fn capacity(self) -> u64 {
        self.capacity
    }

    /// `Exhaust`: the ID at `count`, for a count below the capacity.
    #[inline]
    pub(crate) const fn ascending_id(self, count: u64) -> u64 {
        let id = self.first.wrapping_add(count.wrapping_mul(self.step));
        match self.hole {
            Some(hole) if hole > self.first && id >= hole => id.wrapping_add(self.step),
            _ => id,
        }
    }

    /// `Wrap`: the count at which `id` comes.
    pub(crate) const fn wrapping_count(self, id: u64) -> u64 {
        (id.wrapping_sub(self.first) & self.mask) / self.step
    }

    /// `Exhaust`: the count at which `id`, which is not below the first one, comes.
    pub(crate) const fn ascending_count(self, id: u64) -> u64 {
        let holes = match self.hole {
            Some(hole) if hole > self.first && hole < id => 1,
            _ => 0,
        };
        (id - self.first) / self.step - holes
    }

    /// `Wrap`: the count for a generator that begins with `id`.
    pub(crate) fn wrapping_start<S: Space>(self, id: S::Word) -> Result<u64, NotInSpace<S::Word>> {
        if S::SPACE.contains(id.widen()) { Ok(self.wrapping_count(id.widen())) } else { Err(NotInSpace(id)) }
    }

    /// `Exhaust`: the count for a generator that begins with `id`, if it ever comes.
    pub(crate) fn ascending_start<S: Space>(self, id: S::Word) -> Result<u64, NotInSpace<S::Word>> {
        self.ascending_resume::<S>(id)?;
        let count = self.ascending_count(id.widen());
        if count < self.capacity { Ok(count) } else { Err(NotInSpace(id)) }
    }

    /// `Exhaust`: the count for a generator that goes on after `id`: the capacity, if that was the last one or lies behind it.
    pub(crate) fn ascending_resume<S: Space>(self, id: S::Word) -> Result<u64, NotInSpace<S::Word>> {
        let value = id.widen();
        if !S::SPACE.contains(value) || value < self.first {
            return Err(NotInSpace(id));
        }
        Ok(self.ascending_count(value).saturating_add(1).min(self.capacity))
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use std::vec::Vec;

    use super::*;

    /// Every space of up to five bits that can be described, contradictory ones included.
    fn small_spaces() -> impl Iterator<Item = (u32, IdSpace)> {
        let shapes = |width: u32| {
            let plain = IdSpace::bits(width);
            [plain, plain.odd(), plain.even()].into_iter()
        };
        let values = |width: u32| 0..=(1u64 << width);
        // Miri is some hundred times slower.
        let widest = if cfg!(miri) { 2 } else { 5 };
        (1..=widest).flat_map(move |width| {
            shapes(width).flat_map(move |space| {
                values(width).flat_map(move |low| {
                    let holes = values(width).map(Some).chain([None]);
                    holes.flat_map(move |hole| {
                        let space = space.reserve_below(low);
                        let space = if let Some(hole) = hole { space.reserve(hole) } else { space };
                        let firsts = values(width).map(Some).chain([None]);
                        firsts.map(move |first| (width, if let Some(first) = first { space.first(first) } else { space }))
                    })
                })
            })
        })
    }

    fn ids(width: u32, space: IdSpace) -> Vec<u64> {
        (0..1 << width).filter(|&id| space.contains(id)).collect()
    }

    #[test]
    fn a_space_is_refused_exactly_if_it_is_empty_or_names_a_value_that_it_does_not_have() {
        let mut refused = 0;
        for (width, space) in small_spaces() {
            let ids = ids(width, space);
            let fits = |id: u64| id < 1 << width && (space.step() == 1 || ids.is_empty() || id % 2 == ids[0] % 2);
            match Sequence::new(space, 32) {
                Ok(sequence) => {
                    assert!(ids.contains(&sequence.first), "{space:?}");
                    assert!(sequence.hole.is_none_or(fits), "{space:?}");
                    assert_eq!((space.lowest(), space.highest()), (ids.first().copied(), ids.last().copied()), "{space:?}");
                }
                Err(Contradiction::Empty) => assert!(ids.is_empty(), "{space:?}"),
                Err(Contradiction::First) => assert!(!ids.is_empty() && space.first_id() == 0, "{space:?}"),
                Err(Contradiction::Reserved) => assert!(ids.is_empty() || !space.hole().is_none_or(fits), "{space:?}"),
                Err(Contradiction::Width | Contradiction::Repeated) => panic!("{space:?}"),
            }
            refused += u32::from(Sequence::new(space, 32).is_err());
        }
        assert!(refused > 100);
    }

    #[test]
    fn what_is_set_twice_is_refused() {
        let space = IdSpace::bits(8);
        let twice =
            [space.reserve(3).reserve(5), space.reserve_below(2).reserve_below(3), space.odd().even(), space.first(1).first(2)];
        for space in twice {
            assert_eq!(space.check(32), Err(Contradiction::Repeated), "{space:?}");
        }
    }

    #[test]
    fn a_contradictory_space_answers_every_question_without_a_panic() {
        for width in [0, 1, 63, 64, 65, u32::MAX] {
            for space in [IdSpace::bits(width), IdSpace::bits(width).odd(), IdSpace::bits(width).even().reserve(0).first(u64::MAX)]
            {
                for id in [0, 1, u64::MAX] {
                    _ = (space.contains(id), space.lowest(), space.highest(), space.check(64));
                }
                assert!(space.contains(space.first_id()) || space.first_id() == 0, "{space:?}");
            }
        }
        assert_eq!(IdSpace::bits(4).first(99).first_id(), 0);
        assert_eq!(IdSpace::bits(4).reserve_below(16).first_id(), 0);
    }

    #[test]
    fn widths_are_1_to_64_bits_and_those_of_the_word() {
        for (width, word, ok) in
            [(0, 32, false), (1, 32, true), (32, 32, true), (33, 32, false), (33, 64, true), (64, 64, true), (65, 64, false)]
        {
            assert_eq!(IdSpace::bits(width).check(word), if ok { Ok(()) } else { Err(Contradiction::Width) }, "{width} of {word}");
        }
    }

    #[test]
    fn wrapping_counts_go_round_every_id_and_step_out_of_reserved_values_onto_the_next_id() {
        for (width, space) in small_spaces() {
            let (Ok(sequence), ids) = (Sequence::new(space, 32), ids(width, space)) else { continue };
            let after = |value: u64| ids.iter().copied().find(|&id| id >= value).unwrap_or(ids[0]);
            // Once round, once more over the wrap of the word.
            for count in (0..2 << width).chain(u32::MAX as u64 - 40..=u32::MAX as u64) {
                let value = sequence.wrapping_id(count);
                assert_eq!(value, sequence.wrapping_id(sequence.reduce(count)), "{space:?} at {count}");
                assert_eq!(space.contains(value), !sequence.is_reserved(value), "{space:?} at {count}");
                if sequence.is_reserved(value) {
                    let out = sequence.counts_out_of_reserved(value);
                    assert_eq!(sequence.wrapping_id(count + out), after(value), "{space:?} at {count}");
                } else {
                    assert_eq!(sequence.wrapping_id(sequence.wrapping_count(value)), value, "{space:?}");
                }
            }
            assert_eq!(sequence.wrapping_id(0), sequence.first);
        }
    }

    #[test]
    fn ascending_counts_number_the_ids_from_the_first_one_up() {
        for (width, space) in small_spaces() {
            let (Ok(sequence), ids) = (Sequence::new(space, 32), ids(width, space)) else { continue };
            let ids: Vec<u64> = ids.into_iter().filter(|&id| id >= sequence.first).collect();
            let numbered: Vec<u64> = (0..sequence.capacity).map(|count| sequence.ascending_id(count)).collect();
            assert_eq!(numbered, ids, "{space:?}");
            for (count, id) in ids.into_iter().enumerate() {
                assert_eq!(sequence.ascending_count(id), count as u64, "{space:?}");
            }
        }
    }

    #[test]
    fn blocks_hold_the_ids_that_come_next_and_stop_at_reserved_values_and_the_end() {
        for (width, space) in small_spaces().filter(|(width, _)| *width <= 4) {
            let (Ok(sequence), ids) = (Sequence::new(space, 32), ids(width, space)) else { continue };
            let listed = |block: Block| (0..block.len).map(move |step| block.first + step * space.step());
            let after = |value: u64| ids.iter().copied().find(|&id| id >= value).unwrap_or(ids[0]);
            for (count, most) in (0..1 << width).flat_map(|count| (1..=3).map(move |most| (count, most))) {
                let block = sequence.wrapping_block(count, most);
                assert_eq!(block.first, after(sequence.wrapping_id(count)), "{space:?} at {count}");
                assert!((1..=most).contains(&block.len) && listed(block).all(|id| ids.contains(&id)), "{space:?} at {count}");
                let last = sequence.wrapping_id(block.count_after - 1);
                assert_eq!(listed(block).next_back(), Some(last), "{space:?} at {count}");
                // Only a reserved value or the end of the space makes a block shorter.
                let next = last + space.step();
                assert!(block.len == most || !ids.contains(&next), "{space:?} at {count}");
                match sequence.ascending_block(count, most) {
                    None => assert!(count >= sequence.capacity),
                    Some(block) => {
                        assert!(block.count_after == count + block.len && block.count_after <= sequence.capacity);
                        assert!(
                            listed(block).eq((count..block.count_after).map(|count| sequence.ascending_id(count))),
                            "{space:?}"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn the_capacity_leaves_the_guard_band_of_the_word_free() {
        let capacity = |space, word| Sequence::new(space, word).map(Sequence::capacity);
        assert_eq!(capacity(IdSpace::bits(16), 32), Ok(1 << 16));
        assert_eq!(capacity(IdSpace::bits(32), 32), Ok((1 << 32) - (1 << 16)));
        assert_eq!(capacity(IdSpace::bits(32).even(), 32), Ok(1 << 31));
        assert_eq!(capacity(IdSpace::bits(32), 64), Ok(1 << 32));
        assert_eq!(capacity(IdSpace::bits(64), 64), Ok(u64::MAX - 0xffff));
        assert_eq!(capacity(IdSpace::bits(64).first(u64::MAX), 64), Ok(1));
        assert_eq!(capacity(IdSpace::bits(64).reserve(u64::MAX).first(u64::MAX - 2), 64), Ok(2));
    }
}
