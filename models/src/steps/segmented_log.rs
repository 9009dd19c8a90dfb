//! The road to a log in segments: nobody looks at a segment that is freed, and nobody sleeps for good beside a record.

#[cfg(any(jeton_loom, jeton_shuttle))]
pub mod programs;
pub mod s1_count_only;
pub mod s2_count_from_zero;
pub mod s3_guard_and_count;
pub mod s4_look_then_register;
pub mod s5_look_again;
pub mod s6_fences;

use jeton_core::{
    ord,
    sync::{AtomicU32, UnsafeCell},
};

/// A list of segments, which are numbers here, with one reader that enters the first one, and one trim.
pub trait Segments: Send + Sync + 'static {
    /// Two segments, of which 0 is the first one.
    fn new() -> Self;
    /// Gives up segment 0.
    fn trim(&self);
    /// Enters the first segment, looks at it and leaves it.
    fn visit(&self);
    /// Names the words for the trace.
    fn name_words(&self);
}

/// A flag for each segment that says that it is not freed: plain memory, so that a look beside the end is a race.
#[derive(Debug)]
pub struct There([UnsafeCell<bool>; 2]);

// SAFETY: that nobody looks when a segment is freed is what the programs look at.
unsafe impl Sync for There {}

impl There {
    /// Both are there.
    pub fn new() -> Self {
        Self([UnsafeCell::new(true), UnsafeCell::new(true)])
    }

    /// What everybody does who uses a segment.
    pub fn look(&self, segment: u32) {
        // SAFETY: see `Sync`.
        self.0[segment as usize].with(|there| assert!(unsafe { *there }, "segment {segment} is used after it was freed"));
    }

    /// Frees it.
    pub fn free(&self, segment: u32) {
        self.0[segment as usize].with_mut(|there| {
            // SAFETY: see `Sync`.
            let there = unsafe { &mut *there };
            assert!(*there, "segment {segment} is freed twice");
            *there = false;
        });
    }
}

impl Default for There {
    fn default() -> Self {
        Self::new()
    }
}

/// The simplest guards that there are: a number of threads that may be looking, and a mark that segment 0 is to be freed. Who finds that
/// nobody else looks frees it.
#[derive(Debug)]
pub struct Guards(AtomicU32);

/// Segment 0 waits to be freed; below it, how many look.
const WAITS: u32 = 1 << 16;

impl Guards {
    /// Nobody looks.
    pub fn new() -> Self {
        Self(AtomicU32::new(0))
    }

    /// Begins to look.
    pub fn enter(&self) {
        self.0.fetch_add(1, ord!("guards-1", AcqRel));
    }

    /// Ends it.
    pub fn leave(&self, there: &There) {
        let before = self.0.fetch_add(u32::MAX, ord!("guards-2", AcqRel));
        self.free_if_alone(before.wrapping_sub(1), there);
    }

    /// Frees segment 0 when nobody looks any more.
    pub fn defer(&self, there: &There) {
        let before = self.0.fetch_or(WAITS, ord!("guards-3", AcqRel));
        self.free_if_alone(before | WAITS, there);
    }

    fn free_if_alone(&self, now: u32, there: &There) {
        // Taken by one of those who find it so.
        if now == WAITS && self.0.compare_exchange(WAITS, 0, ord!("guards-4", AcqRel), ord!("guards-5", Acquire)).is_ok() {
            there.free(0);
        }
    }
}

impl Default for Guards {
    fn default() -> Self {
        Self::new()
    }
}

/// A record, and one who waits for it.
pub trait Waking: Send + Sync + 'static {
    /// No record, and nobody waits.
    fn new() -> Self;
    /// Puts the record there: whether somebody is to be woken.
    fn put(&self) -> bool;
    /// Is about to sleep: whether the record is there already.
    fn finds(&self) -> bool;
}

#[cfg(all(test, not(any(jeton_loom, jeton_shuttle))))]
mod tests {
    use super::*;

    fn one_after_the_other<S: Segments>() {
        let segments = S::new();
        segments.visit();
        segments.trim();
        segments.visit();
    }

    #[test]
    fn every_step_is_right_in_one_thread() {
        one_after_the_other::<s1_count_only::List>();
        one_after_the_other::<s2_count_from_zero::List>();
        one_after_the_other::<s3_guard_and_count::List>();
        fn finds<W: Waking>() {
            let waking = W::new();
            assert!(!waking.finds() && waking.put() && waking.finds());
        }
        finds::<s4_look_then_register::Signal>();
        finds::<s5_look_again::Signal>();
        finds::<s6_fences::Signal>();
    }
}
