//! The words that generators count in.

use crate::sync::{Ordering, OwnerU32, OwnerU64, ZeroWord};

mod sealed {
    pub trait Sealed {}
    impl Sealed for u32 {}
    impl Sealed for u64 {}
}

/// A counter's word, and the type of its IDs: `u32` or `u64`.
pub trait Word: Copy + Ord + core::fmt::Debug + core::fmt::Display + core::hash::Hash + sealed::Sealed {
    /// Bits of the word.
    const BITS: u32;
    #[doc(hidden)]
    type Owner: OwnerWord + core::fmt::Debug;
    /// The low bits of `value`.
    fn truncate(value: u64) -> Self;
    /// The value as a `u64`.
    fn widen(self) -> u64;
}

/// A [`Word`] that the target reads, modifies and writes as one: what [`SharedIds`](super::SharedIds) needs.
///
/// `u32` on every target with read-modify-writes; `u64` where portable-atomic has them. On a chip without compare-and-swap both
/// come with the feature of portable-atomic that the final user chooses.
pub trait SharedWord: Word {
    #[doc(hidden)]
    type Shared: AtomicWord + core::fmt::Debug;
}

#[doc(hidden)]
pub trait OwnerWord: ZeroWord {
    fn load(&self, ordering: Ordering) -> u64;
    fn store(&self, value: u64, ordering: Ordering);
}

#[doc(hidden)]
pub trait AtomicWord: ZeroWord {
    fn load(&self, ordering: Ordering) -> u64;
    fn fetch_add(&self, value: u64, ordering: Ordering) -> u64;
}

macro_rules! impl_word {
    ($value:ident, $owner:ident) => {
        impl Word for $value {
            const BITS: u32 = $value::BITS;
            type Owner = $owner;
            #[inline(always)]
            fn truncate(value: u64) -> Self {
                value as Self
            }
            #[inline(always)]
            fn widen(self) -> u64 {
                self.into()
            }
        }

        impl OwnerWord for $owner {
            #[inline(always)]
            fn load(&self, ordering: Ordering) -> u64 {
                self.load(ordering).into()
            }
            #[inline(always)]
            fn store(&self, value: u64, ordering: Ordering) {
                self.store($value::truncate(value), ordering);
            }
        }
    };
}

#[allow(unused_macros, reason = "a target without read-modify-writes has no such words")]
macro_rules! impl_shared_word {
    ($value:ident, $atomic:ident) => {
        impl SharedWord for $value {
            type Shared = crate::sync::$atomic;
        }

        impl AtomicWord for crate::sync::$atomic {
            #[inline(always)]
            fn load(&self, ordering: Ordering) -> u64 {
                self.load(ordering).into()
            }
            #[inline(always)]
            fn fetch_add(&self, value: u64, ordering: Ordering) -> u64 {
                self.fetch_add($value::truncate(value), ordering).into()
            }
        }
    };
}

impl_word!(u32, OwnerU32);
impl_word!(u64, OwnerU64);
crate::sync::cfg_has_rmw_32! {
    impl_shared_word!(u32, AtomicU32);
}
crate::sync::cfg_has_rmw_64! {
    impl_shared_word!(u64, AtomicU64);
}
