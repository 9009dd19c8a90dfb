//! Slots beyond those in the node: segments that are added when all are taken, each twice as long as the one before.
//!
//! Free slots are a stack of numbers. Its head has a tag that changes with each slot taken, so that a head that has come back is not
//! taken for the one that was read. Segments never move and go with the node, so that a slot is good for as long as that.

use std::{
    alloc::{Layout, handle_alloc_error},
    ptr::null_mut,
    slice,
};

use jeton_core::{
    ord,
    sync::{AtomicPtr, AtomicU64},
};

use super::slot::Slot;

/// Segments: 2^28 slots in all, of which the first is number 1.
const SEGMENTS: usize = 28;

pub(super) struct Segments<C> {
    /// The free slots.
    head: AtomicU64,
    segments: [AtomicPtr<Slot<C>>; SEGMENTS],
}

/// The head of the free slots: the number of the first one, or 0, in the upper half, and a tag.
#[derive(Clone, Copy)]
struct Head(u64);

impl Head {
    const fn with(first: u32, tag: u32) -> Self {
        Self((first as u64) << 32 | tag as u64)
    }

    const fn first(self) -> u32 {
        (self.0 >> 32) as u32
    }

    /// After its first slot was taken.
    const fn taken(self, next: u32) -> Self {
        Self::with(next, (self.0 as u32).wrapping_add(1))
    }

    /// With another first slot.
    const fn with_first(self, first: u32) -> Self {
        Self::with(first, self.0 as u32)
    }
}

const fn len(segment: usize) -> usize {
    1 << segment
}

/// The segment of a number that is not 0, and the place in it.
#[inline]
const fn place(number: u32) -> (usize, usize) {
    let segment = number.ilog2();
    (segment as usize, (number & !(1 << segment)) as usize)
}

impl<C> Segments<C> {
    pub(super) fn new() -> Self {
        Self { head: AtomicU64::new(0), segments: std::array::from_fn(|_| AtomicPtr::null()) }
    }

    /// Takes a free slot. Allocates if there is none.
    #[inline]
    pub(super) fn take(&self) -> &Slot<C> {
        // Acquire pairs with `give`: the slot, and the segment that it lies in, are as they were left.
        let head = Head(self.head.load(ord!("cancel-std-14", Acquire)));
        self.try_take(head).unwrap_or_else(|found| self.take_late(found))
    }

    /// Takes the first slot, if `head` is the newest; otherwise the newest is the error. There is no slot if that has none.
    #[inline]
    fn try_take(&self, head: Head) -> Result<&Slot<C>, Head> {
        if head.first() == 0 {
            return Err(head);
        }
        let slot = self.slot(head.first());
        // If it is stale, so is the tag.
        let next = slot.link.load(ord!("cancel-std-15", Relaxed));
        self.head
            .compare_exchange_weak(head.0, head.taken(next).0, ord!("cancel-std-16", Relaxed), ord!("cancel-std-17", Acquire))
            .map_err(Head)?;
        slot.link.store(head.first(), ord!("cancel-std-18", Relaxed));
        Ok(slot)
    }

    /// As [`take`](Self::take), after others have changed the stack, or with none on it.
    #[cold]
    fn take_late(&self, mut head: Head) -> &Slot<C> {
        while head.first() != 0 {
            match self.try_take(head) {
                Ok(slot) => return slot,
                Err(found) => head = found,
            }
        }
        self.grow()
    }

    /// Puts slots that are linked already on the stack, from number `first` to `last`.
    #[inline]
    pub(super) fn give(&self, first: u32, last: &Slot<C>) {
        let mut head = Head(self.head.load(ord!("cancel-std-19", Relaxed)));
        loop {
            last.link.store(head.first(), ord!("cancel-std-20", Relaxed));
            let with = head.with_first(first).0;
            // Release pairs with `take`.
            match self.head.compare_exchange_weak(head.0, with, ord!("cancel-std-21", Release), ord!("cancel-std-22", Relaxed)) {
                Ok(_) => return,
                Err(found) => head = Head(found),
            }
        }
    }

    /// The slot of this number, which was on the stack.
    #[inline]
    fn slot(&self, number: u32) -> &Slot<C> {
        let (segment, at) = place(number);
        // SAFETY: no number on the stack is beyond the last segment (N4).
        let segment = unsafe { self.segments.get_unchecked(segment) };
        // Relaxed: whoever has read the number has seen its segment (cancel-std-14 and cancel-std-17).
        let first = segment.load(ord!("cancel-std-23", Relaxed));
        // SAFETY: the segment has `len(segment)` slots, and `at` is smaller; it lives as this does (N4).
        unsafe { &*first.add(at) }
    }

    /// A slot of a new segment.
    #[cold]
    fn grow(&self) -> &Slot<C> {
        loop {
            for (number, segment) in self.segments.iter().enumerate() {
                if !segment.load(ord!("cancel-std-24", Relaxed)).is_null() {
                    continue;
                }
                let first = len(number) as u32;
                let last = 2 * first - 1;
                // The first one is taken here, and each but the last one is followed by the one after it.
                let link = |number| if number == first { first } else { (number + 1) * u32::from(number != last) };
                let slots: Box<[Slot<C>]> = (first..=last).map(|number| Slot::in_segment(link(number))).collect();
                let slots = Box::into_raw(slots).cast::<Slot<C>>();
                // Release pairs with `after`, which looks through what others have put here.
                if segment
                    .compare_exchange(null_mut(), slots, ord!("cancel-std-25", Release), ord!("cancel-std-26", Relaxed))
                    .is_ok()
                {
                    // SAFETY: they are in the table now, and stay there (N4).
                    let (slot, last_slot) = unsafe { (&*slots, &*slots.add(len(number) - 1)) };
                    if last != first {
                        self.give(first + 1, last_slot);
                    }
                    return slot;
                }
                // Somebody else was faster.
                // SAFETY: these slots are nobody else's.
                unsafe { free_segment(slots, number) };
                break;
            }
            // Others' slots may have come, or a slot may have become free.
            if Head(self.head.load(ord!("cancel-std-27", Relaxed))).first() != 0 {
                return self.take();
            }
            if !self.segments[SEGMENTS - 1].load(ord!("cancel-std-28", Relaxed)).is_null() {
                handle_alloc_error(Layout::new::<Slot<C>>());
            }
        }
    }

    /// A segment that the caller's last synchronization lets it see, or that is there by chance.
    #[inline]
    pub(super) fn segment(&self, number: usize) -> Option<&[Slot<C>]> {
        // Acquire pairs with `grow`.
        let segment = self.segments.get(number)?.load(ord!("cancel-std-29", Acquire));
        // SAFETY: a segment has so many slots, and is there as long as this (N4).
        (!segment.is_null()).then(|| unsafe { slice::from_raw_parts(segment, len(number)) })
    }
}

/// # Safety
/// `slots` is segment `number` as `grow` has made it, and nobody has it any more.
unsafe fn free_segment<C>(slots: *mut Slot<C>, number: usize) {
    // SAFETY: by the caller.
    drop(unsafe { Box::from_raw(std::ptr::slice_from_raw_parts_mut(slots, len(number))) });
}

impl<C> Drop for Segments<C> {
    fn drop(&mut self) {
        for (number, segment) in self.segments.iter().enumerate() {
            let slots = segment.load(ord!("cancel-std-30", Relaxed));
            if !slots.is_null() {
                // SAFETY: it came from `grow`, and goes with this (N4).
                unsafe { free_segment(slots, number) };
            }
        }
    }
}

#[cfg(all(test, not(any(jeton_loom, jeton_shuttle))))]
mod tests {
    use std::ptr;

    use super::super::payload::Payload;
    use super::*;

    #[test]
    fn every_number_has_a_place_of_its_own() {
        let mut expected = (0, 0);
        for number in 1..100_000 {
            assert_eq!(place(number), expected);
            expected = if expected.1 + 1 == len(expected.0) { (expected.0 + 1, 0) } else { (expected.0, expected.1 + 1) };
        }
        assert_eq!(place((1 << 28) - 1).0, SEGMENTS - 1);
    }

    #[test]
    fn slots_are_taken_once_and_are_all_seen() {
        let segments = Segments::<Payload>::new();
        let slots: Vec<&Slot<Payload>> = (0..100).map(|_| segments.take()).collect();
        let seen: Vec<*const Slot<Payload>> =
            (0..SEGMENTS).filter_map(|number| segments.segment(number)).flatten().map(ptr::from_ref).collect();
        assert!(slots.iter().all(|&slot| seen.contains(&ptr::from_ref(slot)) && ptr::eq(segments.slot(slot.number()), slot)));
        let mut taken: Vec<u32> = slots.iter().map(|slot| slot.number()).collect();
        taken.sort();
        taken.dedup();
        assert_eq!((taken.len(), seen.len()), (100, 1 + 2 + 4 + 8 + 16 + 32 + 64));
        segments.give(7, segments.slot(7));
        assert!(ptr::eq(segments.take(), segments.slot(7)));
    }
}
