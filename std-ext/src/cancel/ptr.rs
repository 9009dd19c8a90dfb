//! A pointer that is set once. It belongs to the shim (`core/src/sync.rs`), which has no pointers yet.
#![allow(clippy::disallowed_types, reason = "a part of the shim")]

#[cfg(not(any(jeton_loom, jeton_shuttle)))]
use core::sync::atomic as words;
#[cfg(jeton_loom)]
use loom::sync::atomic as words;
#[cfg(jeton_shuttle)]
use shuttle::sync::atomic as words;

use jeton_core::{const_fn, sync::Ordering};

/// A pointer that any thread may set while it is null.
#[derive(Debug)]
pub(super) struct AtomicPtr<T>(words::AtomicPtr<T>);

impl<T> AtomicPtr<T> {
    const_fn! {
        pub(super) const fn null() -> Self {
            Self(words::AtomicPtr::new(core::ptr::null_mut()))
        }
    }

    #[inline(always)]
    pub(super) fn load(&self, ordering: Ordering) -> *mut T {
        self.0.load(ordering)
    }

    /// Sets it if it is null; what it is otherwise.
    pub(super) fn set(&self, pointer: *mut T, success: Ordering, failure: Ordering) -> Result<*mut T, *mut T> {
        self.0.compare_exchange(core::ptr::null_mut(), pointer, success, failure)
    }
}
