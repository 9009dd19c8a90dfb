//! A count of handles, which stays where it is once it has lost count.

use jeton_core::{const_fn, ord, sync::AtomicU32};

/// One less than there are, so that the sign alone tells both of the last one and of a count that is lost: from 2^31 up it never comes to
/// its end, and is set back to where it is far from both ends.
#[derive(Debug)]
pub(super) struct Count(AtomicU32);

impl Count {
    /// After the last one.
    const NONE: u32 = u32::MAX;
    /// So far from 2^31 and from `NONE` that no number of threads gets there before it is set back.
    const LOST: u32 = 3 << 30;

    const_fn! {
        /// Of one.
        pub(super) const fn one() -> Self {
            Self(AtomicU32::new(0))
        }
    }

    /// One more.
    #[inline]
    pub(super) fn up(&self) {
        if (self.0.fetch_add(1, ord!("cancel-std-38", Relaxed)).wrapping_add(1) as i32) < 0 {
            self.lose();
        }
    }

    #[cold]
    fn lose(&self) {
        self.0.store(Self::LOST, ord!("cancel-std-39", Relaxed));
    }

    /// One less; whether that was the last one.
    #[inline]
    pub(super) fn down(&self) -> bool {
        // Release and Acquire pair among those who count down: the last one sees what the others have done.
        (self.0.fetch_add(u32::MAX, ord!("cancel-std-40", AcqRel)).wrapping_sub(1) as i32) < 0 && self.is_none()
    }

    /// Looks again: after the last one nobody else counts.
    #[inline]
    fn is_none(&self) -> bool {
        let none = self.0.load(ord!("cancel-std-41", Relaxed)) == Self::NONE;
        if !none {
            self.lose();
        }
        none
    }

    #[inline]
    pub(super) fn is_one(&self) -> bool {
        self.0.load(ord!("cancel-std-42", Acquire)) == 0
    }
}

#[cfg(all(test, not(any(jeton_loom, jeton_shuttle))))]
mod tests {
    use super::*;

    #[test]
    fn a_count_that_overflows_never_comes_to_its_end() {
        let count = Count(AtomicU32::new((1 << 31) - 2));
        count.up();
        assert!(!count.down());
        count.up();
        count.up();
        for _ in 0..3 {
            assert!(!count.down());
            assert_eq!(format!("{count:?}"), format!("{:?}", Count(AtomicU32::new(Count::LOST))));
        }
        let count = Count::one();
        count.up();
        assert!(!count.down() && count.is_one() && count.down());
    }
}
