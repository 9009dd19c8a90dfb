//! Step 3: a thread sleeps without a word.
//!
//! New: the system compares the word, and so puts nobody to sleep who is too late.
//! Broken: whoever sleeps is not looked for.
//! Found by: loom, rmw, shuttle.
use super::Rules;

/// The rule that is not kept.
#[derive(Debug)]
pub struct Step;

impl Rules for Step {
    const PUBLISHES: bool = false;
}
