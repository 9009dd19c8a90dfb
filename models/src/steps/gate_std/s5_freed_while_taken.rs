//! Step 5: a task that leaves while its waker is taken out frees its slot.
//!
//! New: the word is written first. Tasks have a slot, which a transition takes the waker out of.
//! Broken: the slot's next owner and the transition use it at a time.
//! Found by: loom, rmw, shuttle.
use super::Rules;

/// The rule that is not kept.
#[derive(Debug)]
pub struct Step;

impl Rules for Step {
    const LEAVES: bool = false;
}
