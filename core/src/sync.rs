//! The shim: the one place that names an atomic type.
//!
//! Every shared word of jeton, also of the std extension, comes from here, so that a model reaches all of them.
//! Two families of words:
//!
//! * **read-modify-write words** (`AtomicU8`, `AtomicU32`, `AtomicU64`): any thread may change them. portable-atomic provides them;
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

pub use cell::UnsafeCell;

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

/// What a compare-and-swap did, for the trace.
#[cfg(any(jeton_loom, jeton_shuttle, jeton_step))]
fn cas_name<T>(result: &Result<T, T>) -> &'static str {
    if result.is_ok() { "compare_exchange" } else { "compare_exchange (failed)" }
}

/// One step on a word. A model sees it, with the word's value after it; a normal build sees the operation alone.
macro_rules! step {
    ($self:ident, $name:expr, $operation:expr, |$result:ident| $after:expr) => {{
        #[cfg(any(jeton_loom, jeton_shuttle, jeton_step))]
        {
            model::before_step();
            let $result = $operation;
            model::after_step(core::ptr::from_ref($self).addr(), ($name)(&$result), $after);
            $result
        }
        #[cfg(not(any(jeton_loom, jeton_shuttle, jeton_step)))]
        {
            $operation
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

/// A load of a back end's word; under `jeton_rmw_load` a read-modify-write that changes nothing.
macro_rules! load {
    ($word:expr, $ordering:expr) => {{
        #[cfg(jeton_rmw_load)]
        {
            // A read-modify-write that acquires has to be told so.
            $word.fetch_or(0, if $ordering == Ordering::Acquire { Ordering::AcqRel } else { $ordering })
        }
        #[cfg(all(jeton_loom, not(jeton_rmw_load)))]
        {
            $word.load(model::load_part($ordering))
        }
        #[cfg(not(jeton_loom))]
        {
            $word.load($ordering)
        }
    }};
}

/// A store to a back end's word; under `jeton_rmw_load` a swap: loom puts read-modify-writes of a word into one order, but not a
/// plain store beside them, and would let a load read what that store has replaced.
macro_rules! store {
    ($word:expr, $value:expr, $ordering:expr) => {{
        #[cfg(jeton_rmw_load)]
        {
            _ = $word.swap($value, $ordering);
        }
        #[cfg(all(jeton_loom, not(jeton_rmw_load)))]
        {
            $word.store($value, model::store_part($ordering))
        }
        #[cfg(not(jeton_loom))]
        {
            $word.store($value, $ordering)
        }
    }};
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
                step!(self, |_| "load", load!(self.0, ordering), |value| value.into())
            }

            /// One plain store, by the owner only.
            #[inline(always)]
            pub fn store(&self, value: $value, ordering: Ordering) {
                step!(self, |_| "store", store!(self.0, value, ordering), |_done| value.into())
            }
        }

        impl_zero_word!($name);

        impl OwnerWord for $name {
            #[inline(always)]
            fn load(&self, ordering: Ordering) -> u64 {
                self.load(ordering).into()
            }
            #[inline(always)]
            fn store(&self, value: u64, ordering: Ordering) {
                self.store(value as $value, ordering);
            }
        }
    };
}

owner_word!(OwnerU32, owner::AtomicU32, u32);
#[cfg(target_has_atomic = "64")]
owner_word!(OwnerU64, owner::AtomicU64, u64);
#[cfg(not(target_has_atomic = "64"))]
owner_word!(OwnerU64, cell::Split64, u64);

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
                step!(self, |_| "load", load!(self.0, ordering), |value| value.into())
            }

            /// One store. Only before the word is shared, or where no other write can come between.
            #[inline(always)]
            pub fn store(&self, value: $value, ordering: Ordering) {
                step!(self, |_| "store", store!(self.0, value, ordering), |_done| value.into())
            }

            /// One store over a value that others meanwhile replace by itself at most.
            ///
            /// For loom a swap: it puts read-modify-writes of a word into one order, but not a plain store beside them, and would let
            /// two of them read the same value.
            #[inline(always)]
            pub fn store_over(&self, value: $value, ordering: Ordering) {
                #[cfg(not(jeton_loom))]
                self.store(value, ordering);
                #[cfg(jeton_loom)]
                self.swap(value, ordering);
            }

            /// Adds, wrapping round; returns the value before.
            #[inline(always)]
            pub fn fetch_add(&self, value: $value, ordering: Ordering) -> $value {
                step!(self, |_| "fetch_add", self.0.fetch_add(value, ordering), |before| before.wrapping_add(value).into())
            }

            /// Sets the bits of `value`; returns the value before.
            #[inline(always)]
            pub fn fetch_or(&self, value: $value, ordering: Ordering) -> $value {
                step!(self, |_| "fetch_or", self.0.fetch_or(value, ordering), |before| (before | value).into())
            }

            /// Keeps the bits of `value`; returns the value before.
            #[inline(always)]
            pub fn fetch_and(&self, value: $value, ordering: Ordering) -> $value {
                step!(self, |_| "fetch_and", self.0.fetch_and(value, ordering), |before| (before & value).into())
            }

            /// Puts `value` in; returns the value before.
            #[inline(always)]
            pub fn swap(&self, value: $value, ordering: Ordering) -> $value {
                step!(self, |_| "swap", self.0.swap(value, ordering), |_before| value.into())
            }

            /// Puts `new` in if the word holds `current`; may fail for no reason where the target uses load-exclusive.
            ///
            /// # Errors
            /// The value found.
            #[inline(always)]
            pub fn compare_exchange_weak(
                &self,
                current: $value,
                new: $value,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$value, $value> {
                step!(self, cas_name, self.0.compare_exchange_weak(current, new, success, failure), |result| {
                    result.map_or_else(u64::from, |_| new.into())
                })
            }

            /// Puts `new` in if the word holds `current`.
            ///
            /// # Errors
            /// The value found.
            #[inline(always)]
            pub fn compare_exchange(
                &self,
                current: $value,
                new: $value,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$value, $value> {
                step!(self, cas_name, self.0.compare_exchange(current, new, success, failure), |result| {
                    result.map_or_else(u64::from, |_| new.into())
                })
            }
        }

        impl_zero_word!($name);

        impl AtomicWord for $name {
            #[inline(always)]
            fn load(&self, ordering: Ordering) -> u64 {
                self.load(ordering).into()
            }
            #[inline(always)]
            fn store(&self, value: u64, ordering: Ordering) {
                self.store(value as $value, ordering);
            }
            #[inline(always)]
            fn fetch_add(&self, value: u64, ordering: Ordering) -> u64 {
                self.fetch_add(value as $value, ordering).into()
            }
            #[inline(always)]
            fn swap(&self, value: u64, ordering: Ordering) -> u64 {
                self.swap(value as $value, ordering).into()
            }
            #[inline(always)]
            fn compare_exchange(&self, current: u64, new: u64, success: Ordering, failure: Ordering) -> Result<u64, u64> {
                let exchanged = self.compare_exchange(current as $value, new as $value, success, failure);
                exchanged.map(u64::from).map_err(u64::from)
            }
        }
    };
}

cfg_has_rmw_32! {
    shared_word!(AtomicU8, rmw::AtomicU8, u8);
    shared_word!(AtomicU32, rmw::AtomicU32, u32);
}
cfg_has_rmw_64! {
    shared_word!(AtomicU64, rmw::AtomicU64, u64);
}
