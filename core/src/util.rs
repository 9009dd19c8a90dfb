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
//! | bitmap-1 | `BitWord::set`: fetch_or | AcqRel | bitmap-2, bitmap-5 | who gets an ID works with stale values of what it stands for; a look at all words sees that an ID was taken and not that another one was freed before | `an_id_freed_before_another_is_taken_is_seen_with_its_data` |
//! | bitmap-2 | `BitWord::clear`: fetch_and | AcqRel | bitmap-1, bitmap-3, bitmap-6 | as bitmap-1; a mark that the word got before is not seen, and hides the ID | `a_freed_id_is_not_hidden_by_a_mark` |
//! | bitmap-3 | `BitWord::set_all`: fetch_or | AcqRel | bitmap-2, bitmap-5 | as bitmap-1 | `an_id_freed_before_a_slice_is_taken_is_seen_with_its_data` |
//! | bitmap-4 | `BitWord::glance`: load | Relaxed | nothing: chooses a bit that bitmap-1 or bitmap-2 claims, or is a hint | – | nothing weaker |
//! | bitmap-5 | `BitWord::survey`: load | Acquire | bitmap-1, bitmap-3 | as bitmap-1, of a look at all words | `an_id_freed_before_another_is_taken_is_seen_with_its_data` |
//! | bitmap-6 | `BitWord::look_again`: fetch_or of nothing | Release | bitmap-2 | as bitmap-2, of marks | `a_freed_id_is_not_hidden_by_a_mark` |
//! | summary-1 | `Summary::low`: load | Relaxed | nothing: a hint | – | nothing weaker |
//! | summary-2 | `Summary::first`: swap of `low` | Acquire | summary-4 | the second search does not see a mark taken away before, and an ID stays below `low` | `a_freed_id_is_not_hidden_by_a_mark` |
//! | summary-3 | `Summary::unmark`, lowering: load | Relaxed | nothing: the compare-and-swap decides | – | nothing weaker |
//! | summary-4 | `Summary::unmark`, lowering: compare-and-swap, success | Release | summary-2 | as summary-2 | `a_freed_id_is_not_hidden_by_a_mark` |
//! | summary-5 | `Summary::unmark`, lowering: compare-and-swap, failure | Relaxed | nothing: looks again | – | nothing weaker |
mod claim;
mod numbers;
mod padded;

// rustfmt does not look into macros; here it finds the files.
#[cfg(any())]
mod bitmap;
#[cfg(any())]
pub mod slots;
#[cfg(any())]
mod summary;

crate::sync::cfg_has_rmw_32! {
    mod bitmap;
    pub mod slots;
    mod summary;

    pub use bitmap::{BITS, BitWord, low_bits};
    pub use summary::{Shape, Summary};
}

pub use claim::Claim;
pub use numbers::Numbers;
pub use padded::Padded;
