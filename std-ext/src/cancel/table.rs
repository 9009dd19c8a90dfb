//! The slots of a node: one in it, and segments that are added when all are taken, each twice as long as the one before.
//!
//! Free slots are a stack of indices. Its head has a tag that changes with each slot taken, so that a head that has come back is not
//! taken for the one that was read. Segments never move and go with the node, so that an index is good for as long as that.

use std::alloc::{Layout, handle_alloc_error};

use jeton_core::{
    const_fn, ord,
    sync::{AtomicU64, UnsafeCell},
};

use super::{ptr::AtomicPtr, slot::Slot};

/// Slots of the first segment.
const FIRST: u32 = 1;
/// Segments: 2^28 slots in all.
const SEGMENTS: usize = 28;

struct Spine {
    segments: [AtomicPtr<Slot>; SEGMENTS],
    /// For the models, to which a cell is a witness: written when the spine is made, and looked at by who finds it.
    made: UnsafeCell<()>,
}

pub(super) struct Table {
    /// The free slots.
    head: AtomicU64,
    spine: AtomicPtr<Spine>,
    inline: Slot,
}

/// The head of the free slots: 1 more than the index of the first one, or 0, and a tag.
#[derive(Clone, Copy)]
struct Head(u64);

impl Head {
    const fn first(self) -> u32 {
        self.0 as u32
    }

    /// After its first slot was taken.
    const fn taken(self, next: u32) -> Self {
        Self(((self.0 >> 32).wrapping_add(1) << 32) | next as u64)
    }

    /// With another first slot.
    const fn with_first(self, first: u32) -> Self {
        Self(self.0 >> 32 << 32 | first as u64)
    }
}

const fn len(segment: usize) -> usize {
    (FIRST as usize) << segment
}

/// The segment of an index that is not 0, and the place in it.
const fn place(index: u32) -> (usize, usize) {
    let from_first = index - 1 + FIRST;
    let segment = from_first.ilog2() - FIRST.ilog2();
    (segment as usize, (from_first - (FIRST << segment)) as usize)
}

impl Table {
    const_fn! {
        pub(super) const fn new() -> Self {
            Self { head: AtomicU64::new(1), spine: AtomicPtr::null(), inline: Slot::new(0) }
        }
    }

    /// Takes a free slot, with its index. Allocates if there is none.
    #[inline]
    pub(super) fn take(&self) -> (u32, &Slot) {
        // Acquire pairs with `put_back` and `give`: the slot, and the segment that it lies in, are as they were left.
        let mut head = Head(self.head.load(ord!("cancel-std-8", Acquire)));
        while let Some(index) = head.first().checked_sub(1) {
            let slot = self.slot(index);
            // If it is stale, so is the tag.
            let next = slot.next.load(ord!("cancel-std-9", Relaxed));
            match self.head.compare_exchange_weak(
                head.0,
                head.taken(next).0,
                ord!("cancel-std-10", Relaxed),
                ord!("cancel-std-11", Acquire),
            ) {
                Ok(_) => return (index, slot),
                Err(found) => head = Head(found),
            }
        }
        self.grow()
    }

    /// Makes an idle slot free.
    ///
    /// # Safety
    /// The caller has taken it, and does not use it after this (N3).
    #[inline]
    pub(super) unsafe fn put_back(&self, index: u32, slot: &Slot) {
        self.give(index, slot);
    }

    /// Puts slots that are linked already on the stack, from `first` to `last`.
    #[inline]
    fn give(&self, first: u32, last: &Slot) {
        let mut head = Head(self.head.load(ord!("cancel-std-12", Relaxed)));
        loop {
            last.next.store(head.first(), ord!("cancel-std-13", Relaxed));
            let with = head.with_first(first + 1).0;
            // Release pairs with `take`.
            match self.head.compare_exchange_weak(head.0, with, ord!("cancel-std-14", Release), ord!("cancel-std-15", Relaxed)) {
                Ok(_) => return,
                Err(found) => head = Head(found),
            }
        }
    }

    /// The slot of this index, which the table has handed out.
    #[inline]
    pub(super) fn slot(&self, index: u32) -> &Slot {
        if index == 0 { &self.inline } else { self.far_slot(index) }
    }

    fn far_slot(&self, index: u32) -> &Slot {
        let (segment, at) = place(index);
        // Relaxed: whoever has the index has seen its segment (cancel-std-8, or who handed the index on).
        let spine = self.spine.load(ord!("cancel-std-16", Relaxed));
        // SAFETY: the spine was there before the index was handed out, and is freed with the table (N4).
        let spine = unsafe { &*spine };
        // SAFETY: no index that is handed out is beyond the last segment (N4).
        let first = unsafe { spine.segments.get_unchecked(segment) }.load(ord!("cancel-std-17", Relaxed));
        // SAFETY: the segment has `len(segment)` slots, and `at` is smaller; it lives as the spine does (N4).
        unsafe { &*first.add(at) }
    }

    /// A slot of a new segment.
    #[cold]
    fn grow(&self) -> (u32, &Slot) {
        let spine = self.spine();
        loop {
            for (number, segment) in spine.segments.iter().enumerate() {
                if !segment.load(ord!("cancel-std-18", Relaxed)).is_null() {
                    continue;
                }
                let first_index = (len(number) - len(0)) as u32 + 1;
                let last = first_index + len(number) as u32 - 1;
                // Each but the last one is followed by the one after it.
                let next = |index| if index == last { 0 } else { index + 2 };
                let slots: Box<[Slot]> = (first_index..=last).map(|index| Slot::new(next(index))).collect();
                let slots = Box::into_raw(slots).cast::<Slot>();
                // Release pairs with `segment`, which looks through what others have put here.
                if segment.set(slots, ord!("cancel-std-19", Release), ord!("cancel-std-20", Relaxed)).is_ok() {
                    // SAFETY: they are in the table now, and stay there (N4).
                    let slot = unsafe { &*slots };
                    // SAFETY: as above; it is the last of them.
                    let last_slot = unsafe { &*slots.add(len(number) - 1) };
                    if last != first_index {
                        self.give(first_index + 1, last_slot);
                    }
                    return (first_index, slot);
                }
                // Somebody else was faster.
                // SAFETY: these slots are nobody else's.
                unsafe { free_segment(slots, number) };
                break;
            }
            // Others' slots may have come, or a slot may have become free.
            if Head(self.head.load(ord!("cancel-std-22", Relaxed))).first() != 0 {
                return self.take();
            }
            if !spine.segments[SEGMENTS - 1].load(ord!("cancel-std-21", Relaxed)).is_null() {
                handle_alloc_error(Layout::new::<Slot>());
            }
        }
    }

    fn spine(&self) -> &Spine {
        let mut spine = self.spine.load(ord!("cancel-std-23", Acquire));
        if spine.is_null() {
            let new = Spine { segments: std::array::from_fn(|_| AtomicPtr::null()), made: UnsafeCell::new(()) };
            new.made.with_mut(|_| ());
            let new = Box::into_raw(Box::new(new));
            // Release and Acquire pair with each other, and with `slots`.
            spine = match self.spine.set(new, ord!("cancel-std-24", Release), ord!("cancel-std-25", Acquire)) {
                Ok(_) => new,
                Err(theirs) => {
                    // SAFETY: nobody else has seen it.
                    drop(unsafe { Box::from_raw(new) });
                    theirs
                }
            };
        }
        // SAFETY: it is freed with the table (N4).
        let spine = unsafe { &*spine };
        spine.made.with(|_| ());
        spine
    }

    /// Its only slot, if it has never had more, as far as the caller can see.
    #[inline]
    pub(super) fn only_slot(&self) -> Option<&Slot> {
        self.spine.load(ord!("cancel-std-48", Relaxed)).is_null().then_some(&self.inline)
    }

    /// Looks at all slots, one after another.
    #[inline]
    pub(super) fn slots(&self) -> Slots<'_> {
        Slots { table: self, rest: std::slice::from_ref(&self.inline).iter(), next: 0 }
    }
}

/// All slots of a table that the caller's last synchronization lets it see, and perhaps more.
pub(super) struct Slots<'a> {
    table: &'a Table,
    rest: std::slice::Iter<'a, Slot>,
    /// The segment after the one that `rest` belongs to.
    next: usize,
}

impl<'a> Slots<'a> {
    /// Calls `look` with each; if that panics, another call goes on behind the one it has panicked at.
    #[inline]
    pub(super) fn each(&mut self, mut look: impl FnMut(&'a Slot)) {
        loop {
            for slot in self.rest.by_ref() {
                look(slot);
            }
            let Some(segment) = self.segment() else { return };
            self.rest = segment.iter();
            self.next += 1;
        }
    }

    #[inline]
    fn segment(&self) -> Option<&'a [Slot]> {
        // Acquire pairs with `spine` and `grow`.
        let spine = self.table.spine.load(ord!("cancel-std-26", Acquire));
        // SAFETY: null, or there as long as the table (N4).
        let spine = unsafe { spine.as_ref() }?;
        spine.made.with(|_| ());
        let segment = spine.segments.get(self.next)?.load(ord!("cancel-std-27", Acquire));
        // SAFETY: a segment has so many slots, and is there as long as the table (N4).
        (!segment.is_null()).then(|| unsafe { std::slice::from_raw_parts(segment, len(self.next)) })
    }
}

/// # Safety
/// `slots` is segment `number` as `grow` has made it, and nobody has it any more.
unsafe fn free_segment(slots: *mut Slot, number: usize) {
    // SAFETY: by the caller.
    drop(unsafe { Box::from_raw(std::ptr::slice_from_raw_parts_mut(slots, len(number))) });
}

impl Drop for Table {
    #[inline]
    fn drop(&mut self) {
        let spine = self.spine.load(ord!("cancel-std-28", Relaxed));
        if !spine.is_null() {
            free(spine);
        }
    }
}

fn free(spine: *mut Spine) {
    // SAFETY: it came from a box, and goes with the table (N4).
    let spine = unsafe { Box::from_raw(spine) };
    for (number, segment) in spine.segments.iter().enumerate() {
        let slots = segment.load(ord!("cancel-std-29", Relaxed));
        if !slots.is_null() {
            // SAFETY: as above.
            unsafe { free_segment(slots, number) };
        }
    }
}

#[cfg(all(test, not(any(jeton_loom, jeton_shuttle))))]
mod tests {
    use super::*;

    #[test]
    fn every_index_has_a_place_of_its_own() {
        let mut expected = (0, 0);
        for index in 1..100_000 {
            assert_eq!(place(index), expected);
            expected = if expected.1 + 1 == len(expected.0) { (expected.0 + 1, 0) } else { (expected.0, expected.1 + 1) };
        }
        assert_eq!(place((1 << 28) - 1).0, SEGMENTS - 1);
    }

    #[test]
    fn slots_are_taken_once_and_are_all_seen() {
        let table = Table::new();
        let mut taken: Vec<(u32, *const Slot)> =
            (0..100).map(|_| table.take()).map(|(index, slot)| (index, slot as *const _)).collect();
        let mut seen: Vec<*const Slot> = vec![];
        table.slots().each(|slot| seen.push(slot));
        assert!(taken.iter().all(|(index, slot)| seen.contains(slot) && std::ptr::eq(table.slot(*index), *slot)));
        taken.sort();
        taken.dedup();
        assert_eq!((taken.len(), seen.len()), (100, 1 + 1 + 2 + 4 + 8 + 16 + 32 + 64));
        // SAFETY: it is taken, and used no more.
        unsafe { table.put_back(7, table.slot(7)) };
        assert_eq!(table.take().0, 7);
    }
}
