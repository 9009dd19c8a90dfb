//! `StripedGauge`: a striped count that goes up and down.

use core::fmt;

use super::{OwnStripe, SharedWord, StripedCounter};
use crate::const_fn;

/// A count that many threads add to and take from, spread over `N` stripes. (Others call it an up-down counter.)
///
/// A type of its own beside [`StripedCounter`], because its sum promises less: while others add and take, a sum may meet the one
/// half of a move and not the other, and so be a value that the count never had, also a negative one.
///
/// # Ordering
/// Orders nothing, as [`StripedCounter`].
///
/// # Examples
/// ```
/// use jeton_core::counter::StripedGauge;
///
/// static CONNECTIONS: StripedGauge<u64, 4> = StripedGauge::new();
/// CONNECTIONS.add(0, 1);
/// CONNECTIONS.add(1, -1); // by another thread, on another stripe
/// assert_eq!(CONNECTIONS.sum(), 0);
/// ```
pub struct StripedGauge<W: SharedWord, const N: usize>(StripedCounter<W, N>);

impl<W: SharedWord, const N: usize> StripedGauge<W, N> {
    const_fn! {
        /// Zero.
        pub const fn new() -> Self {
            Self(StripedCounter::new())
        }
    }

    /// A stripe for the caller alone, as [`StripedCounter::claim`].
    pub fn claim(&self) -> Option<OwnGaugeStripe<'_, W>> {
        self.0.claim().map(OwnGaugeStripe)
    }

    /// Adds `value`, which may be negative, as [`StripedCounter::add`].
    #[inline]
    pub fn add(&self, near: usize, value: W::Signed) {
        self.0.add(near, W::from_signed(value));
    }

    /// The sum of all stripes, read one after another: exact once nobody adds.
    pub fn sum(&self) -> W::Signed {
        self.0.sum().to_signed()
    }

    /// Takes everything out, as [`StripedCounter::drain`]: the drains and what is left add up to what was added.
    pub fn drain(&self) -> W::Signed {
        self.0.drain().to_signed()
    }

    /// As [`StripedCounter::add_at_own`].
    #[doc(hidden)]
    #[inline]
    pub fn add_at_own(&self, index: usize, value: W::Signed) {
        self.0.add_at_own(index, W::from_signed(value));
    }
}

/// A stripe of a [`StripedGauge`] that one owner adds to, as [`OwnStripe`].
#[derive(Debug)]
pub struct OwnGaugeStripe<'a, W: SharedWord>(OwnStripe<'a, W>);

impl<W: SharedWord> OwnGaugeStripe<'_, W> {
    /// Adds `value`, which may be negative, with one load and one store. Wait-free.
    #[inline]
    pub fn add(&self, value: W::Signed) {
        self.0.add(W::from_signed(value));
    }
}

impl<W: SharedWord, const N: usize> Default for StripedGauge<W, N> {
    fn default() -> Self {
        Self::new()
    }
}

impl<W: SharedWord, const N: usize> fmt::Debug for StripedGauge<W, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StripedGauge").field("sum", &self.sum()).finish_non_exhaustive()
    }
}
