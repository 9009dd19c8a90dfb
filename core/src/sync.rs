//! The shim: the one place that names an atomic type.
//!
//! Every shared word of jeton, also of the std extension, comes from here, so that a model reaches all of them.
//! Two families of words:
//!
//! * **read-modify-write words** (`AtomicU8`, `AtomicU32`, `AtomicU64`, `AtomicPtr`): any thread may change them. portable-atomic provides them;
//!   on a chip without compare-and-swap they exist once the final user has chosen how (see the guide).
//! * **owner words** ([`OwnerU32`], [`OwnerU64`]): one owner writes them, with a plain load and a plain store. They never go
//!   through portable-atomic, whose `critical-section` emulation masks interrupts for loads and stores too.
//!   A word of one family is never used as the other.
//!
//! Back ends: portable-atomic and `core` normally; loom under `--cfg jeton_loom`, shuttle under `--cfg jeton_shuttle`, both with
//! the feature `model`. The cfgs are private and are no Cargo features: features unify, and `--cfg loom` switches other crates too.
//! `--cfg jeton_rmw_load` makes loom's loads and stores read-modify-writes: loom 0.7 skips interleavings of a load followed by a
//! compare-and-swap of the same word. `--cfg jeton_step` lets another operation run at every step of one (see `model`).
//!
//! [`ord!`](crate::ord) names an operation's row in its page's table of orderings.
#![allow(clippy::disallowed_types, reason = "this is the shim that the lint points everybody to")]

#[cfg(all(any(jeton_loom, jeton_shuttle), not(feature = "model")))]
compile_error!("--cfg jeton_loom and --cfg jeton_shuttle need the feature `model` of jeton-core");

mod cell;
#[cfg(any(jeton_loom, jeton_shuttle, jeton_step))]
pub mod model;
mod words;

pub use cell::UnsafeCell;
pub use words::*;

// The back ends: `rmw` has the words for read-modify-writes, `owner` those for plain loads and stores.
#[cfg(not(any(jeton_loom, jeton_shuttle)))]
use {core::sync::atomic as owner, portable_atomic as rmw};
#[cfg(jeton_loom)]
use {loom::sync::atomic as owner, loom::sync::atomic as rmw};
#[cfg(jeton_shuttle)]
use {shuttle::sync::atomic as owner, shuttle::sync::atomic as rmw};

pub use owner::{Ordering, fence};

// `cfg_has_rmw_32! { … }`: items that need read-modify-writes of that width, by the target itself or by the final user's choice.
#[cfg(not(any(jeton_loom, jeton_shuttle)))]
pub(crate) use rmw::{cfg_has_atomic_64 as cfg_has_rmw_64, cfg_has_atomic_cas as cfg_has_rmw_32};
#[cfg(any(jeton_loom, jeton_shuttle))]
macro_rules! always {
    ($($item:item)*) => { $($item)* };
}
#[cfg(any(jeton_loom, jeton_shuttle))]
pub(crate) use {always as cfg_has_rmw_64, always as cfg_has_rmw_32};

/// Declares a `const fn`, which is a plain `fn` under loom, whose atomics have no `const` constructor.
#[macro_export]
#[doc(hidden)]
macro_rules! const_fn {
    ($(#[$meta:meta])* $vis:vis const fn $($rest:tt)+) => {
        #[cfg(not(jeton_loom))]
        $(#[$meta])* $vis const fn $($rest)+
        #[cfg(jeton_loom)]
        $(#[$meta])* $vis fn $($rest)+
    };
}

/// The ordering of one atomic operation, with its row in the page's table: `ord!("counter-1", Relaxed)`.
///
/// It is that ordering and nothing else, except under loom, where `JETON_WEAKEN=counter-1=Relaxed` lowers that one operation.
#[macro_export]
#[doc(hidden)]
macro_rules! ord {
    ($row:literal, $ordering:ident) => {{
        #[cfg(not(jeton_loom))]
        {
            $crate::sync::Ordering::$ordering
        }
        #[cfg(jeton_loom)]
        {
            $crate::sync::model::weakened($row, $crate::sync::Ordering::$ordering)
        }
    }};
}

/// A fence with its row in the page's table: `fence!("gate-2", SeqCst)`.
///
/// It is that fence and nothing else, except under loom, where `JETON_WEAKEN=gate-2=none` leaves it out.
#[macro_export]
#[doc(hidden)]
macro_rules! fence {
    ($row:literal, $ordering:ident) => {{
        #[cfg(not(jeton_loom))]
        {
            $crate::sync::fence($crate::sync::Ordering::$ordering)
        }
        #[cfg(jeton_loom)]
        {
            $crate::sync::model::fence($row, $crate::sync::Ordering::$ordering)
        }
    }};
}

/// A word whose first value is zero, so that a `static` made of such words lies in .bss and takes no flash.
pub trait ZeroWord {
    /// The word with zero in it.
    #[cfg(not(jeton_loom))]
    #[allow(clippy::declare_interior_mutable_const, reason = "a constructor for generic code: every use makes a word of its own")]
    const ZERO: Self;
    /// The word with zero in it.
    #[cfg(jeton_loom)]
    fn zero() -> Self;
}

/// The zero of a generic word type, in the body of a [`const_fn!`](crate::const_fn).
#[macro_export]
#[doc(hidden)]
macro_rules! zero_word {
    ($word:ty) => {{
        #[cfg(not(jeton_loom))]
        {
            <$word as $crate::sync::ZeroWord>::ZERO
        }
        #[cfg(jeton_loom)]
        {
            <$word as $crate::sync::ZeroWord>::zero()
        }
    }};
}

/// An array of `len` values, each made by `make`, in the body of a [`const_fn!`](crate::const_fn).
#[macro_export]
#[doc(hidden)]
macro_rules! array {
    ($make:expr; $len:expr) => {{
        #[cfg(not(jeton_loom))]
        {
            [const { $make }; $len]
        }
        #[cfg(jeton_loom)]
        {
            core::array::from_fn::<_, { $len }, _>(|_| $make)
        }
    }};
}

/// An owner word of any width, for code that is generic over it.
pub trait OwnerWord: ZeroWord {
    /// As the word's own.
    fn load(&self, ordering: Ordering) -> u64;
    /// As the word's own, with the low bits of `value`.
    fn store(&self, value: u64, ordering: Ordering);
}

/// A read-modify-write word of any width, for code that is generic over it.
pub trait AtomicWord: ZeroWord {
    /// As the word's own.
    fn load(&self, ordering: Ordering) -> u64;
    /// As the word's own, with the low bits of `value`.
    fn store(&self, value: u64, ordering: Ordering);
    /// As the word's own, with the low bits of `value`.
    fn fetch_add(&self, value: u64, ordering: Ordering) -> u64;
    /// As the word's own, with the low bits of `value`.
    fn swap(&self, value: u64, ordering: Ordering) -> u64;
    /// As the word's own, with the low bits of both values.
    ///
    /// # Errors
    /// The value found.
    fn compare_exchange(&self, current: u64, new: u64, success: Ordering, failure: Ordering) -> Result<u64, u64>;
}
