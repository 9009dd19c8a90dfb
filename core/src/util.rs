//! Parts that several structures share. Not for users: no promise of stability.
//!
//! # Orderings
//!
//! | row | operation | ordering | pairs with | what breaks without it | evidence |
//! |---|---|---|---|---|---|
//! | claim-1 | `Claim::try_claim`: look before the compare-and-swap | Relaxed | nothing: only saves a write to a line that another one owns | – | nothing weaker |
//! | claim-2 | `Claim::try_claim`: compare-and-swap, success | Acquire | claim-4 of the holder before | the new holder works with stale values of the words that the claim guards, and undoes what the old one did | `a_stripe_handed_on_keeps_its_count` |
//! | claim-3 | `Claim::try_claim`: compare-and-swap, failure | Relaxed | nothing: nothing is read then | – | nothing weaker |
//! | claim-4 | `Claim::release`: store | Release | claim-2 of the next holder | as claim-2 | `a_stripe_handed_on_keeps_its_count` |
//! | claim-5 | `Numbers::shared`: fetch_add | Relaxed | nothing: spreads the callers | – | nothing weaker |
mod claim;
mod numbers;
mod padded;

pub use claim::Claim;
pub use numbers::Numbers;
pub use padded::Padded;
