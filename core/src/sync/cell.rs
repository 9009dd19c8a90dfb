//! Memory that words guard.

/// A cell that a protocol on atomic words guards; under loom, an access that the protocol does not order is an error.
#[cfg(not(jeton_loom))]
#[derive(Debug, Default)]
pub struct UnsafeCell<T>(core::cell::UnsafeCell<T>);

#[cfg(not(jeton_loom))]
impl<T> UnsafeCell<T> {
    /// The cell with `value` in it.
    pub const fn new(value: T) -> Self {
        Self(core::cell::UnsafeCell::new(value))
    }

    /// Calls `read` with a pointer to read through.
    #[inline(always)]
    pub fn with<R>(&self, read: impl FnOnce(*const T) -> R) -> R {
        read(self.0.get())
    }

    /// Calls `write` with a pointer to write through.
    #[inline(always)]
    pub fn with_mut<R>(&self, write: impl FnOnce(*mut T) -> R) -> R {
        write(self.0.get())
    }
}

#[cfg(jeton_loom)]
pub use loom::cell::UnsafeCell;

/// 64 bits on a target that moves 32 at a time: a cell, which nobody but its owner can look at, since it is not `Sync`.
#[cfg(not(target_has_atomic = "64"))]
#[derive(Debug)]
pub(super) struct Split64(core::cell::Cell<u64>);

#[cfg(not(target_has_atomic = "64"))]
impl Split64 {
    pub(super) const fn new(value: u64) -> Self {
        Self(core::cell::Cell::new(value))
    }
    pub(super) fn load(&self, _: super::Ordering) -> u64 {
        self.0.get()
    }
    pub(super) fn store(&self, value: u64, _: super::Ordering) {
        self.0.set(value);
    }
}
