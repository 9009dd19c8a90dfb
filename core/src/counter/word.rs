//! The words that generators count in.

use crate::sync::{AtomicWord, OwnerU32, OwnerU64, OwnerWord};

mod sealed {
    pub trait Sealed {}
    impl Sealed for u32 {}
    impl Sealed for u64 {}
}

/// A counter's word, and the type of its IDs: `u32` or `u64`.
pub trait Word: Copy + Ord + core::fmt::Debug + core::fmt::Display + core::hash::Hash + sealed::Sealed {
    /// Bits of the word.
    const BITS: u32;
    /// The signed number of the same width.
    type Signed: Copy + Ord + core::fmt::Debug + core::fmt::Display;
    /// The same bits as a signed number.
    fn to_signed(self) -> Self::Signed;
    /// The same bits as an unsigned number.
    fn from_signed(value: Self::Signed) -> Self;
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
#[diagnostic::on_unimplemented(
    message = "this target has no read-modify-writes of `{Self}`",
    note = "choose how the program gets them: see `jeton_core::docs::guide`, \"On a chip without compare-and-swap\""
)]
pub trait SharedWord: Word {
    #[doc(hidden)]
    type Shared: AtomicWord + core::fmt::Debug;
}

macro_rules! impl_word {
    ($value:ident, $signed:ident, $owner:ident) => {
        impl Word for $value {
            const BITS: u32 = $value::BITS;
            type Signed = $signed;
            type Owner = $owner;
            #[inline(always)]
            fn to_signed(self) -> $signed {
                self.cast_signed()
            }
            #[inline(always)]
            fn from_signed(value: $signed) -> Self {
                value.cast_unsigned()
            }
            #[inline(always)]
            fn truncate(value: u64) -> Self {
                value as Self
            }
            #[inline(always)]
            fn widen(self) -> u64 {
                self.into()
            }
        }
    };
}

impl_word!(u32, i32, OwnerU32);
impl_word!(u64, i64, OwnerU64);
crate::sync::cfg_has_rmw_32! {
    impl SharedWord for u32 {
        type Shared = crate::sync::AtomicU32;
    }
}
crate::sync::cfg_has_rmw_64! {
    impl SharedWord for u64 {
        type Shared = crate::sync::AtomicU64;
    }
}
