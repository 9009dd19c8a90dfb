//! `StripedCounter`: a statistic that many threads add to without meeting on a word.

use core::{cell::Cell, fmt, marker::PhantomData};

use super::SharedWord;
use crate::{
    array, const_fn, ord,
    sync::{AtomicWord, OwnerWord},
    util::{Claim, Padded},
    zero_word,
};

/// One stripe, on cache lines of its own: what its owner and what everybody added, less what drains took away.
struct Stripe<W: SharedWord> {
    claim: Claim<W::Shared>,
    /// Added by the owner; only grows (I6).
    own: W::Owner,
    /// Added by everybody else, since the last drain.
    shared: W::Shared,
    /// How much of `own` drains have taken (I7).
    drained: W::Shared,
}

/// A count that many threads add to, spread over `N` stripes so that they need not meet on a word. It only grows.
///
/// `W` is the word, `u64` or `u32`; sums wrap modulo the word. In a `static`, `u64` needs a target that loads 64 bits at once. Each stripe stands on cache lines of its own, on targets with caches.
///
/// # Ordering
/// Orders nothing: a count says how much was added, and publishes nothing else.
///
/// # Examples
/// ```
/// use jeton_core::counter::StripedCounter;
///
/// static PACKETS: StripedCounter<u64, 4> = StripedCounter::new();
/// std::thread::scope(|scope| {
///     scope.spawn(|| {
///         let mine = PACKETS.claim().expect("one of four"); // a load and a store for each addition
///         (0..10).for_each(|_| mine.add(1));
///     });
///     scope.spawn(|| PACKETS.add(1, 5)); // shared: one fetch_add
/// });
/// assert_eq!(PACKETS.sum(), 15);
/// assert_eq!((PACKETS.drain(), PACKETS.sum()), (15, 0));
/// ```
pub struct StripedCounter<W: SharedWord, const N: usize> {
    stripes: [Padded<Stripe<W>>; N],
}

impl<W: SharedWord, const N: usize> StripedCounter<W, N> {
    const_fn! {
        /// Zero.
        pub const fn new() -> Self {
            const { assert!(N > 0, "a striped counter has at least one stripe") };
            Self {
                stripes: array![
                    Padded::new(Stripe {
                        claim: Claim::new(),
                        own: zero_word!(W::Owner),
                        shared: zero_word!(W::Shared),
                        drained: zero_word!(W::Shared),
                    });
                    N
                ],
            }
        }
    }

    /// A stripe for the caller alone, in which adding is a load and a store; `None` if all are claimed. Never waits.
    ///
    /// Dropping it hands the stripe on, with its value. Forgetting it loses nothing but the stripe for later owners.
    pub fn claim(&self) -> Option<OwnStripe<'_, W>> {
        let stripe = self.stripes.iter().find(|stripe| stripe.claim.try_claim())?;
        Some(OwnStripe { stripe, owner: PhantomData })
    }

    /// Adds with one `fetch_add`, to the stripe `near` modulo `N`: callers on different cores pass different numbers.
    #[inline]
    pub fn add(&self, near: usize, value: W) {
        if let Some(stripe) = self.stripes.get(near % N) {
            stripe.shared.fetch_add(value.widen(), ord!("counter-14", Relaxed));
        }
    }

    /// The sum of all stripes, read one after another: no snapshot.
    ///
    /// While nobody drains, it lies between the count at the start of the call and that at its end.
    pub fn sum(&self) -> W {
        let sum = self.stripes.iter().map(|stripe| {
            // Acquire pairs with counter-21: `own` is then read at least as new as the drain that set `drained` read it (I7).
            let drained = stripe.drained.load(ord!("counter-15", Acquire));
            let own = stripe.own.load(ord!("counter-16", Relaxed));
            let shared = stripe.shared.load(ord!("counter-17", Relaxed));
            own.wrapping_sub(drained).wrapping_add(shared)
        });
        W::truncate(sum.fold(0, u64::wrapping_add))
    }

    /// Takes everything out: what was added before and not drained yet. Lock-free.
    ///
    /// Of an addition that runs meanwhile, this drain or a later one gets the whole: nothing is lost and nothing comes twice.
    pub fn drain(&self) -> W {
        let drained = self.stripes.iter().map(|stripe| {
            let shared = stripe.shared.swap(0, ord!("counter-18", Relaxed));
            shared.wrapping_add(stripe.drain_own())
        });
        W::truncate(drained.fold(0, u64::wrapping_add))
    }

    /// Adds with a load and a store to the stripe `index`, for callers that have made sure that it is theirs alone, and otherwise as
    /// [`add`](Self::add). For the std extension, whose threads have numbers of their own.
    #[doc(hidden)]
    #[inline]
    pub fn add_at_own(&self, index: usize, value: W) {
        match self.stripes.get(index) {
            Some(stripe) => stripe.add_own(value.widen()),
            None => self.add(index, value),
        }
    }
}

impl<W: SharedWord> Stripe<W> {
    /// The owner adds meanwhile and never waits, so its word cannot be set to 0: the drain moves a second word up to it.
    fn drain_own(&self) -> u64 {
        loop {
            // Acquire pairs with counter-21 of the drain before: see `sum`.
            let drained = self.drained.load(ord!("counter-19", Acquire));
            let own = self.own.load(ord!("counter-20", Relaxed));
            // Release pairs with counter-15 and counter-19.
            let moved = self.drained.compare_exchange(drained, own, ord!("counter-21", Release), ord!("counter-22", Relaxed));
            if moved.is_ok() {
                return own.wrapping_sub(drained);
            }
        }
    }

    #[inline]
    fn add_own(&self, value: u64) {
        let own = self.own.load(ord!("counter-23", Relaxed));
        self.own.store(own.wrapping_add(value), ord!("counter-24", Relaxed));
    }
}

/// A stripe of a [`StripedCounter`] that one owner adds to. Dropping it hands it on.
///
/// `Send` but not `Sync`: it moves between threads, and only one at a time uses it.
/// ```compile_fail
/// # use jeton_core::counter::StripedCounter;
/// fn share<T: Sync>(_: T) {}
/// # let counter = StripedCounter::<u32, 1>::new();
/// share(counter.claim());
/// ```
pub struct OwnStripe<'a, W: SharedWord> {
    stripe: &'a Stripe<W>,
    /// Not `Sync`, as a `Cell`: one thread at a time adds (I6).
    owner: PhantomData<Cell<()>>,
}

impl<W: SharedWord> OwnStripe<'_, W> {
    /// Adds with one load and one store. Wait-free.
    #[inline]
    pub fn add(&self, value: W) {
        self.stripe.add_own(value.widen());
    }
}

impl<W: SharedWord> Drop for OwnStripe<'_, W> {
    fn drop(&mut self) {
        self.stripe.claim.release();
    }
}

impl<W: SharedWord, const N: usize> Default for StripedCounter<W, N> {
    fn default() -> Self {
        Self::new()
    }
}

impl<W: SharedWord, const N: usize> fmt::Debug for StripedCounter<W, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StripedCounter").field("sum", &self.sum()).finish_non_exhaustive()
    }
}

impl<W: SharedWord> fmt::Debug for OwnStripe<'_, W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OwnStripe").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use std::{format, string::String, vec::Vec};

    use super::*;

    /// Of each stripe what its owner and what everybody added.
    fn parts<const N: usize>(counter: &StripedCounter<u32, N>) -> Vec<String> {
        counter.stripes.iter().map(|stripe| format!("{:?} {:?}", stripe.own, stripe.shared)).collect()
    }

    #[test]
    fn near_says_which_stripe_modulo_their_number() {
        let counter = StripedCounter::<u32, 3>::new();
        for near in [0, 1, 4, 302, 3000] {
            counter.add(near, 1);
        }
        assert_eq!(parts(&counter), ["OwnerU32(0) AtomicU32(2)", "OwnerU32(0) AtomicU32(2)", "OwnerU32(0) AtomicU32(1)"]);
    }

    #[test]
    fn an_owner_writes_its_stripe_alone_and_without_one_it_adds_shared() {
        let counter = StripedCounter::<u32, 2>::new();
        counter.add_at_own(1, 5);
        counter.add_at_own(2, 7);
        assert_eq!(parts(&counter), ["OwnerU32(0) AtomicU32(7)", "OwnerU32(5) AtomicU32(0)"]);
    }
}
