//! The words, over whichever back end.

#[cfg(any(jeton_loom, jeton_shuttle, jeton_step))]
use super::model;
#[allow(unused_imports, reason = "a target without read-modify-writes has no such words")]
use super::{AtomicWord, cfg_has_rmw_32, cfg_has_rmw_64, rmw};
use super::{Ordering, OwnerWord, ZeroWord, owner};
use crate::const_fn;

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

/// A load of a back end's pointer; under `jeton_rmw_load` a compare-and-swap that changes nothing.
#[allow(unused_macros, reason = "a target without read-modify-writes has no such words")]
macro_rules! load_pointer {
    ($word:expr, $ordering:expr) => {{
        #[cfg(jeton_rmw_load)]
        {
            let null = core::ptr::null_mut();
            let success = if $ordering == Ordering::Acquire { Ordering::AcqRel } else { $ordering };
            $word.compare_exchange(null, null, success, $ordering).unwrap_or_else(|found| found)
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
owner_word!(OwnerU64, super::cell::Split64, u64);

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

    /// A pointer that any thread may set with a compare-and-swap.
    #[derive(Debug)]
    pub struct AtomicPtr<T>(rmw::AtomicPtr<T>);

    impl<T> AtomicPtr<T> {
        const_fn! {
            /// The pointer to nothing.
            pub const fn null() -> Self {
                Self(rmw::AtomicPtr::new(core::ptr::null_mut()))
            }
        }

        /// One load.
        #[inline(always)]
        pub fn load(&self, ordering: Ordering) -> *mut T {
            step!(self, |_| "load", load_pointer!(self.0, ordering), |pointer| pointer.addr() as u64)
        }

        /// Puts `new` in if it holds `current`.
        ///
        /// # Errors
        /// The pointer found.
        #[inline(always)]
        pub fn compare_exchange(&self, current: *mut T, new: *mut T, success: Ordering, failure: Ordering) -> Result<*mut T, *mut T> {
            step!(self, cas_name, self.0.compare_exchange(current, new, success, failure), |result| {
                result.map_or_else(|found| found.addr(), |_| new.addr()) as u64
            })
        }
    }
}
cfg_has_rmw_64! {
    shared_word!(AtomicU64, rmw::AtomicU64, u64);
}

#[cfg(not(any(jeton_loom, jeton_shuttle)))]
cfg_has_rmw_64! {
    impl AtomicU64 {
        /// The word's low half, in the type that calls of the system take.
        ///
        /// # Safety
        /// 1. Nothing but the system reads through it, and nothing writes: Rust has no meaning for accesses of two widths at a time.
        #[inline]
        pub unsafe fn low_half(&self) -> &owner::AtomicU32 {
            let low = if cfg!(target_endian = "little") { 0 } else { 1 };
            // SAFETY: inside of the word, and aligned; of the accesses, by the caller.
            unsafe { &*core::ptr::from_ref(self).cast::<owner::AtomicU32>().add(low) }
        }
    }
}
