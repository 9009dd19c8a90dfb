//! A count of handles, which stays where it is once it has lost count.

use jeton_core::{const_fn, ord, sync::AtomicU32};

/// From 2^31 up it is immortal: left alone for ever.
pub(super) struct Count(AtomicU32);

impl Count {
    /// So far above 2^31 that no number of threads brings it down again.
    pub(super) const SATURATED: u32 = 3 << 30;

    const_fn! {
        pub(super) const fn new(count: u32) -> Self {
            Self(AtomicU32::new(count))
        }
    }

    /// One more. A count that becomes immortal stays it.
    #[inline]
    pub(super) fn up(&self) {
        if (self.0.fetch_add(1, ord!("cancel-std-41", Relaxed)).wrapping_add(1) as i32) < 0 {
            self.saturate();
        }
    }

    #[cold]
    fn saturate(&self) {
        self.0.store(Self::SATURATED, ord!("cancel-std-30", Relaxed));
    }

    /// One less; whether that was the last one.
    #[inline]
    pub(super) fn down(&self) -> bool {
        // Release and Acquire pair among those who count down: the last one sees what the others have done.
        !self.is_immortal() && self.0.fetch_add(u32::MAX, ord!("cancel-std-45", AcqRel)) == 1
    }

    /// Whether the count is left alone: of a static, or one that has lost count.
    #[inline]
    pub(super) fn is_immortal(&self) -> bool {
        (self.0.load(ord!("cancel-std-31", Relaxed)) as i32) < 0
    }

    #[inline]
    pub(super) fn is_one(&self) -> bool {
        self.0.load(ord!("cancel-std-43", Acquire)) == 1
    }
}

#[cfg(all(test, not(any(jeton_loom, jeton_shuttle))))]
mod tests {
    use super::*;

    #[test]
    fn a_count_that_overflows_stays_where_it_is() {
        let count = Count::new((1 << 31) - 2);
        count.up();
        assert!(!count.is_immortal() && !count.down());
        count.up();
        count.up();
        assert!(count.is_immortal() && !count.down());
        count.up();
        assert!(!count.down() && count.is_immortal());
    }
}
