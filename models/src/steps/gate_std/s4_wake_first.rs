//! Step 4: a transition wakes, and then writes the word.
//!
//! New: a thread says in the word what it waits for.
//! Broken: whoever is woken finds the word as it was, and sleeps again; then the word is written, and nobody is woken any more.
//! Found by: loom, rmw, shuttle.
use super::Rules;

/// The rule that is not kept.
#[derive(Debug)]
pub struct Step;

impl Rules for Step {
    const WAKES_LAST: bool = false;
}
