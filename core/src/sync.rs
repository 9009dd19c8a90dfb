//! The shim: the one place that names an atomic type.
//!
//! Every shared word of jeton, also of the std extension, comes from here, so that a model reaches all of them.
//! Two families of words:
//!
//! * **read-modify-write words** (`AtomicU32`, `AtomicU64`): any thread may change them. portable-atomic provides them;
//!   on a chip without compare-and-swap they exist once the final user has chosen how (see the guide).
//! * **owner words** ([`OwnerU32`], [`OwnerU64`]): one owner writes them, with a plain load and a plain store. They never go
//!   through portable-atomic, whose `critical-section` emulation masks interrupts for loads and stores too.
//!   A word of one family is never used as the other.
//!
//! Back ends: portable-atomic and `core` normally; loom under `--cfg jeton_loom`, shuttle under `--cfg jeton_shuttle`, both with
//! the feature `model`. The cfgs are private and are no Cargo features: features unify, and `--cfg loom` switches other crates too.
//!
//! [`ord!`](crate::ord) names an operation's row in its page's table of orderings.
#![allow(clippy::disallowed_types, reason = "this is the shim that the lint points everybody to")]

#[cfg(all(any(jeton_loom, jeton_shuttle), not(feature = "model")))]
compile_error!("--cfg jeton_loom and --cfg jeton_shuttle need the feature `model` of jeton-core");

// The back ends: `rmw` has the words for read-modify-writes, `owner` those for plain loads and stores.
#[cfg(not(any(jeton_loom, jeton_shuttle)))]
use {core::sync::atomic as owner, portable_atomic as rmw};
#[cfg(jeton_loom)]
use {loom::sync::atomic as owner, loom::sync::atomic as rmw};
#[cfg(jeton_shuttle)]
use {shuttle::sync::atomic as owner, shuttle::sync::atomic as rmw};

pub use owner::Ordering;

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
/// It is that ordering and nothing else: the row's name costs nothing and is checked against the page by a test.
#[macro_export]
#[doc(hidden)]
macro_rules! ord {
    ($row:literal, $ordering:ident) => {
        $crate::sync::Ordering::$ordering
    };
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

macro_rules! impl_zero_word {
    ($($word:ty),+) => {$(
        impl ZeroWord for $word {
            #[cfg(not(jeton_loom))]
            const ZERO: Self = <$word>::new(0);
            #[cfg(jeton_loom)]
            fn zero() -> Self {
                <$word>::new(0)
            }
        }
    )+};
}

impl_zero_word!(OwnerU32, OwnerU64);

#[allow(unused_macros, reason = "a target without read-modify-writes has no such words")]
macro_rules! shared_word {
    ($name:ident, $word:ty, $value:ty) => {
        /// A word that any thread may change with read-modify-writes.
        #[derive(Debug)]
        pub struct $name($word);

        impl $name {
            const_fn! {
                /// The word with `value` in it.
                pub const fn new(value: $value) -> Self {
                    Self(<$word>::new(value))
                }
            }

            /// One load.
            #[inline(always)]
            pub fn load(&self, ordering: Ordering) -> $value {
                self.0.load(ordering)
            }

            /// Adds, wrapping round; returns the value before.
            #[inline(always)]
            pub fn fetch_add(&self, value: $value, ordering: Ordering) -> $value {
                self.0.fetch_add(value, ordering)
            }
        }

        impl_zero_word!($name);
    };
}

cfg_has_rmw_32! {
    shared_word!(AtomicU32, rmw::AtomicU32, u32);
}
cfg_has_rmw_64! {
    shared_word!(AtomicU64, rmw::AtomicU64, u64);
}

macro_rules! owner_word {
    ($name:ident, $word:ty, $value:ty) => {
        /// An owner word: its owner loads and stores it; everybody else may at most load it.
        #[derive(Debug)]
        pub struct $name($word);

        impl $name {
            const_fn! {
                /// The word with `value` in it.
                pub const fn new(value: $value) -> Self {
                    Self(<$word>::new(value))
                }
            }

            /// One plain load.
            #[inline(always)]
            pub fn load(&self, ordering: Ordering) -> $value {
                self.0.load(ordering)
            }

            /// One plain store, by the owner only.
            #[inline(always)]
            pub fn store(&self, value: $value, ordering: Ordering) {
                self.0.store(value, ordering);
            }
        }
    };
}

owner_word!(OwnerU32, owner::AtomicU32, u32);
#[cfg(target_has_atomic = "64")]
owner_word!(OwnerU64, owner::AtomicU64, u64);
#[cfg(not(target_has_atomic = "64"))]
owner_word!(OwnerU64, Split64, u64);

/// 64 bits on a target that moves 32 at a time: a cell, which nobody but its owner can look at, since it is not `Sync`.
#[cfg(not(target_has_atomic = "64"))]
#[derive(Debug)]
struct Split64(core::cell::Cell<u64>);

#[cfg(not(target_has_atomic = "64"))]
impl Split64 {
    const fn new(value: u64) -> Self {
        Self(core::cell::Cell::new(value))
    }
    fn load(&self, _: Ordering) -> u64 {
        self.0.get()
    }
    fn store(&self, value: u64, _: Ordering) {
        self.0.set(value);
    }
}
