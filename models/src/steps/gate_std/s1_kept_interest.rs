//! Step 1: a waiter's interest stays in the word when its state has come.
//!
//! New: a bit for each state says who is waited for, so that other transitions need not look.
//! Broken: once somebody has waited for a state, each transition to it looks for somebody, for ever.
//! Found by: loom, rmw, shuttle.
use super::Rules;

/// The rule that is not kept.
#[derive(Debug)]
pub struct Step;

impl Rules for Step {
    fn left(interest: u32, _to: u32) -> u32 {
        interest
    }
}
