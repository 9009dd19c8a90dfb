//! `IdGuard`: an ID that goes back by itself.

use std::{borrow::Borrow, fmt};

use super::IdPool;

/// An ID that is freed when this is dropped, also by a panic that unwinds.
///
/// `P` is `&IdPool`, or `IdPool` after [`into_owned`](IdGuard::into_owned). A guard that is forgotten (`mem::forget`) keeps its ID taken
/// for as long as the pool lives; nothing else comes of it.
///
/// # Examples
/// ```
/// use jeton::pool::IdPool;
/// let slots = IdPool::new(1)?;
/// let slot = slots.alloc_guard()?;
/// assert_eq!((slot.id(), slots.alloc().is_err()), (0, true));
/// drop(slot);
/// let slot = slots.alloc_guard()?.into_owned(); // keeps the pool alive, and may go to any thread
/// std::thread::spawn(move || drop(slot)).join().unwrap();
/// assert_eq!(slots.alloc_guard()?.into_id(), 0); // and from here on it is the caller's
/// assert!(slots.alloc().is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use = "dropping the guard frees the ID"]
pub struct IdGuard<P: Borrow<IdPool> = IdPool> {
    pool: P,
    id: u32,
    /// Whether dropping it frees the ID.
    frees: bool,
}

impl<P: Borrow<IdPool>> IdGuard<P> {
    pub(super) fn new(pool: P, id: u32) -> Self {
        Self { pool, id, frees: true }
    }

    /// The ID. Who frees it through the pool frees it twice.
    pub fn id(&self) -> u32 {
        self.id
    }

    /// The ID, which the caller frees from now on.
    pub fn into_id(mut self) -> u32 {
        self.frees = false;
        self.id
    }

    /// The same ID in a guard that shares the pool instead of borrowing it.
    pub fn into_owned(self) -> IdGuard {
        let pool = self.pool.borrow().clone();
        IdGuard::new(pool, self.into_id())
    }
}

impl<P: Borrow<IdPool>> Drop for IdGuard<P> {
    fn drop(&mut self) {
        if self.frees {
            // Refused only if the caller has freed the ID behind the guard's back, and then there is nothing left to do.
            _ = self.pool.borrow().free(self.id);
        }
    }
}

impl<P: Borrow<IdPool>> fmt::Debug for IdGuard<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("IdGuard").field(&self.id).finish()
    }
}
