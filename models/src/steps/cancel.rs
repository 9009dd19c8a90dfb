//! The road to a cancel that loses no registration, and to one of a tree that is seen by all its callbacks.
//!
//! Callbacks are numbers from 1 up; a cancel returns those that it has called. The first three steps have one slot, the others a root with
//! two children and room for a third.

#[cfg(any(jeton_loom, jeton_shuttle))]
pub mod programs;
pub mod s1_two_words;
pub mod s2_one_word;
pub mod s3_generation;
pub mod s4_one_phase;
pub mod s5_look_then_link;
pub mod s6_link_then_meet;

/// A source with one slot, as the first steps implement it.
pub trait OneSlot: Send + Sync + 'static {
    /// Active, with a free slot.
    fn new() -> Self;
    /// Registers a callback. A handle, or `None` if the slot is taken or a cancel has come first.
    fn register(&self, callback: u32) -> Option<u32>;
    /// Whether this has removed the callback of `handle`.
    fn deregister(&self, handle: u32) -> bool;
    /// Cancels; the callback that it has called, if any.
    fn cancel(&self) -> Option<u32>;
    /// Names the words for the trace.
    fn name_words(&self);
}

/// A root with children, as the later steps implement it.
pub trait Family: Send + Sync + 'static {
    /// Two children, none of them canceled.
    fn new() -> Self;
    /// A third child; whether it is canceled from its birth.
    fn birth(&self) -> bool;
    /// Cancels the root; of each callback whether it has seen all children canceled that there were before the cancel.
    fn cancel(&self) -> Vec<bool>;
    /// Whether the child with this number is canceled.
    fn is_canceled(&self, child: usize) -> bool;
    /// Names the words for the trace.
    fn name_words(&self);
}

#[cfg(all(test, not(any(jeton_loom, jeton_shuttle))))]
mod tests {
    use super::*;

    fn one_slot<S: OneSlot>() {
        let source = S::new();
        let first = source.register(1).expect("the slot is free");
        assert_eq!(source.register(2), None);
        assert!(source.deregister(first));
        assert!(source.register(2).is_some());
        assert_eq!(source.cancel(), Some(2));
        assert_eq!((source.register(3), source.cancel()), (None, None));
    }

    #[test]
    fn every_step_with_one_slot_is_right_as_long_as_calls_come_one_after_another() {
        one_slot::<s1_two_words::Source>();
        one_slot::<s2_one_word::Source>();
        one_slot::<s3_generation::Source>();
    }

    fn family<F: Family>() {
        let family = F::new();
        assert!(!family.birth());
        family.cancel();
        assert!((0..3).all(|child| family.is_canceled(child)));
        let family = F::new();
        family.cancel();
        assert!(family.birth() && family.is_canceled(2));
    }

    #[test]
    fn every_step_with_children_cancels_them_as_long_as_calls_come_one_after_another() {
        family::<s4_one_phase::Tree>();
        family::<s5_look_then_link::Tree>();
        family::<s6_link_then_meet::Tree>();
    }
}
