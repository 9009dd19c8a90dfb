//! Small numbers for those who come and go, each its holder's alone.

use super::Claim;
use crate::{array, const_fn, ord, sync::AtomicWord, zero_word};

/// The numbers below `N`, each of which one holder at a time has, and numbers from `N` up, which several may have.
///
/// # Ordering
/// What a holder of a number below `N` did before it handed it back is visible to the next one that takes it.
#[derive(Debug)]
pub struct Numbers<A, const N: usize> {
    claims: [Claim<A>; N],
    /// How many have come away without a number of their own.
    without: A,
}

impl<A: AtomicWord, const N: usize> Numbers<A, N> {
    const_fn! {
        /// All free.
        pub const fn new() -> Self {
            Self { claims: array![Claim::new(); N], without: zero_word!(A) }
        }
    }

    /// The lowest free number, or one of [`shared`](Self::shared). Never waits.
    pub fn take(&self) -> usize {
        self.claims.iter().position(Claim::try_claim).unwrap_or_else(|| self.shared())
    }

    /// A number from `N` up to twice that, another one each time: whoever has no number of his own does not meet all the others.
    pub fn shared(&self) -> usize {
        let before = self.without.fetch_add(1, ord!("claim-5", Relaxed)) as usize;
        N.wrapping_add(before.checked_rem(N).unwrap_or_default())
    }

    /// Gives a number back. Only its holder calls this, once; for a number from `N` up it does nothing.
    pub fn hand_back(&self, number: usize) {
        if let Some(claim) = self.claims.get(number) {
            claim.release();
        }
    }
}

impl<A: AtomicWord, const N: usize> Default for Numbers<A, N> {
    fn default() -> Self {
        Self::new()
    }
}
