//! One holder at a time, without waiting: a flag that is claimed or found taken.

use crate::{const_fn, ord, sync::AtomicWord, zero_word};

/// Something that one holder at a time has: 0 is free, 1 is claimed.
///
/// # Ordering
/// What a holder did before [`release`](Self::release) is visible to the next one after [`try_claim`](Self::try_claim).
#[derive(Debug)]
pub struct Claim<A>(A);

impl<A: AtomicWord> Claim<A> {
    const_fn! {
        /// Free.
        pub const fn new() -> Self {
            Self(zero_word!(A))
        }
    }

    /// Whether the caller now holds it. Never waits.
    pub fn try_claim(&self) -> bool {
        self.0.load(ord!("claim-1", Relaxed)) == 0
            // Acquire pairs with the holder before: see `release`.
            && self.0.compare_exchange(0, 1, ord!("claim-2", Acquire), ord!("claim-3", Relaxed)).is_ok()
    }

    /// Gives it back. Only its holder calls this, once for each claim.
    pub fn release(&self) {
        // Release pairs with the next holder's claim. No other write comes between: a claim fails while the word is 1.
        self.0.store(0, ord!("claim-4", Release));
    }
}

impl<A: AtomicWord> Default for Claim<A> {
    fn default() -> Self {
        Self::new()
    }
}
