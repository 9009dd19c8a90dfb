//! Step 2: a transition takes all interest.
//!
//! New: nobody is looked for in vain.
//! Broken: it wakes those alone who wait for its state. The others sleep on, and the transition to their state does not look for them.
//! Found by: loom, rmw, shuttle.
use super::Rules;

/// The rule that is not kept.
#[derive(Debug)]
pub struct Step;

impl Rules for Step {
    fn left(_interest: u32, _to: u32) -> u32 {
        0
    }
}
