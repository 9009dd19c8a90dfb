//! The list of segments: from the oldest one that is kept to the one that is written.

use std::{ptr::NonNull, sync::Arc};

use jeton_core::{
    ord,
    sync::{AtomicPtr, AtomicU32},
    util::Padded,
};

use super::{
    SegmentedError,
    segment::{Live, Next, Node, Seen, Segment, collect, leave},
};
use crate::epoch::{self, Guard};

pub(super) struct List {
    first: Padded<AtomicPtr<Node>>,
    /// A segment from which links lead to the last one. Never before `first` (G1).
    last: Padded<AtomicPtr<Node>>,
    /// 1 once somebody has begun to close the log: from then on who comes to its end closes it (G6).
    closing: AtomicU32,
    /// Of each segment.
    pub(super) words: usize,
    pub(super) live: Arc<Live>,
}

impl List {
    /// One empty segment.
    pub(super) fn new(words: usize) -> Result<Self, SegmentedError> {
        let live = Arc::new(Live::new());
        let first = Segment::allocate(0, words, &live)?.as_ptr();
        let [first, last] = [first; 2].map(|segment| Padded::new(AtomicPtr::new(segment)));
        Ok(Self { first, last, closing: AtomicU32::new(0), words, live })
    }

    /// The oldest segment.
    pub(super) fn first<'g>(&self, guard: &'g Guard) -> Seen<'g> {
        // Acquire pairs with `trim`: the segment is seen as it was made.
        let first = self.first.load(ord!("segmented-log-13", Acquire));
        // SAFETY: G1: never null, and not freed as long as the guard holds.
        unsafe { Seen::new(NonNull::new_unchecked(first), guard) }
    }

    /// A segment from which links lead to the newest one.
    #[inline(always)]
    fn near_last<'g>(&self, guard: &'g Guard) -> Seen<'g> {
        // Acquire pairs with the exchange in `last`: the segment is seen as it was made.
        let last = self.last.load(ord!("segmented-log-14", Acquire));
        // SAFETY: G1: never null, and not freed as long as the guard holds.
        unsafe { Seen::new(NonNull::new_unchecked(last), guard) }
    }

    /// The newest segment.
    pub(super) fn last<'g>(&self, guard: &'g Guard) -> Seen<'g> {
        loop {
            let seen = self.near_last(guard);
            // SAFETY: G1: the list does not begin behind the last one.
            let Next::Segment(next) = (unsafe { seen.next(guard) }) else { return seen };
            // Helped on by whoever comes first.
            let [last, next] = [seen, next].map(|segment| segment.node().as_ptr());
            _ = self.last.compare_exchange(last, next, ord!("segmented-log-15", Release), ord!("segmented-log-16", Relaxed));
        }
    }

    /// A segment behind number `number`: the last one, or a new one. No call waits for another one: each links a segment of its own
    /// if it finds none.
    pub(super) fn after<'g>(&self, number: u64, guard: &'g Guard) -> Result<Seen<'g>, SegmentedError> {
        loop {
            let last = self.last(guard);
            if last.number > number {
                return Ok(last);
            }
            // SAFETY: G1: the list does not begin behind the last one.
            match unsafe { last.next(guard) } {
                Next::Closed => return Err(SegmentedError::Closed),
                Next::Segment(_) => continue,
                Next::Nothing => {}
            }
            // Acquire pairs with `close`: who is refused sees what came before it.
            if self.closing.load(ord!("segmented-log-29", Acquire)) != 0 {
                self.end(guard);
                return Err(SegmentedError::Closed);
            }
            // Before sealing, so that a refusal leaves the log as it was.
            let new = Segment::allocate(last.number + 1, self.words, &self.live)?;
            // Before linking: who finds the link has an end of this segment (G3).
            last.log.seal();
            if !last.link(new) {
                // SAFETY: nobody else has seen it.
                unsafe { Segment::free(new) };
            }
        }
    }

    /// Refuses what comes. Whether this call has closed the log.
    pub(super) fn close(&self) -> bool {
        // First, so that nobody links one segment after the other before this call, for ever. Release pairs with `after`.
        let closing = self.closing.fetch_or(1, ord!("segmented-log-30", Release));
        self.end(&epoch::pin());
        closing == 0
    }

    /// Seals the last segment, and says that it is the last one.
    fn end(&self, guard: &Guard) {
        loop {
            let last = self.last(guard);
            last.log.seal();
            if last.close() {
                return;
            }
        }
    }

    pub(super) fn is_closed(&self, guard: &Guard) -> bool {
        // SAFETY: G1: the list does not begin behind the last one.
        matches!(unsafe { self.last(guard).next(guard) }, Next::Closed)
    }

    /// Takes the segments before number `before` out of the list, the last one never. How many.
    pub(super) fn trim(&self, before: u64) -> u64 {
        let guard = epoch::pin();
        // The list never begins behind this one, so that `last` never leads to one that was taken out.
        let before = self.last(&guard).number.min(before);
        loop {
            let first = self.first(&guard);
            let mut end = first;
            while end.number < before {
                // SAFETY: G1: `first` is not freed as long as the guard holds, and so none behind it.
                let Next::Segment(next) = (unsafe { end.next(&guard) }) else { break };
                end = next;
            }
            let (from, to) = (first.node(), end.node());
            if from == to {
                return 0;
            }
            // Release pairs with `first`.
            let moved = self.first.compare_exchange(
                from.as_ptr(),
                to.as_ptr(),
                ord!("segmented-log-17", Release),
                ord!("segmented-log-18", Relaxed),
            );
            if moved.is_ok() {
                let count = end.number - first.number;
                self.give_up(from, to, &guard);
                drop(guard);
                collect();
                return count;
            }
        }
    }

    /// Ends the list's use of the segments from `from` up to `to`, which this call has taken out of it.
    fn give_up(&self, mut from: NonNull<Node>, to: NonNull<Node>, guard: &Guard) {
        while from != to {
            // SAFETY: the list is still its user; and the guard was there when it began here.
            let Next::Segment(next) = (unsafe { from.as_ref().get().next(guard) }) else { return };
            let node = from;
            from = next.node();
            // SAFETY: the list's user is this call's, since it has moved `first`.
            unsafe { leave(node) };
        }
    }
}

impl Drop for List {
    fn drop(&mut self) {
        let guard = epoch::pin();
        let mut node = Some(self.first(&guard).node());
        while let Some(from) = node {
            // SAFETY: nobody else has the list any more, which is still a user of all of its segments.
            let next = unsafe { from.as_ref().get().next(&guard) };
            node = if let Next::Segment(next) = next { Some(next.node()) } else { None };
            // SAFETY: the list's user, which ends here.
            unsafe { leave(from) };
        }
        drop(guard);
        collect();
    }
}

#[cfg(all(test, not(any(jeton_loom, jeton_shuttle))))]
mod tests {
    use super::*;

    /// G1. Who comes between the link and that, and goes by `last`, could find it freed.
    #[test]
    fn a_trim_moves_the_last_one_on_before_the_first_one_goes_past_it() {
        let list = List::new(4).expect("there is memory");
        let guard = epoch::pin();
        let last = list.last(&guard);
        last.log.seal();
        assert!(last.link(Segment::allocate(1, 4, &list.live).expect("there is memory")));
        assert_eq!(list.trim(u64::MAX), 1);
        let [first, last] = [list.first(&guard), list.near_last(&guard)].map(Seen::node);
        assert_eq!(first, last);
    }
}
