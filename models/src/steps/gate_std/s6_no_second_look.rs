//! Step 6: a task that finds another word than it has seen goes to sleep all the same.
//!
//! New: who leaves while its waker is taken out leaves the slot to the one who does that.
//! Broken: the transition that has written that word came before the task was published, and does not look for it.
//! Found by: loom, rmw, shuttle.
use super::Rules;

/// The rule that is not kept.
#[derive(Debug)]
pub struct Step;

impl Rules for Step {
    const LOOKS_AGAIN: bool = false;
}
