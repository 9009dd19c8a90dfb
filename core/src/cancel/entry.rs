//! What waits for a cancel: a callback or a waker.

use core::task::Waker;

/// A callback with the data that it is called with, erased.
#[derive(Clone, Copy)]
pub(super) struct Callback {
    call: fn(*const ()),
    data: *const (),
}

// SAFETY: `new` takes only what may be used from any thread: a function, and a shared reference to something that is `Sync`.
unsafe impl Send for Callback {}
// SAFETY: as above.
unsafe impl Sync for Callback {}

impl Callback {
    pub(super) fn new<T: Sync>(call: fn(&'static T), data: &'static T) -> Self {
        // SAFETY: `&'static T` and `*const ()` are both thin pointers, so that the two function types have the same ABI; that a function may
        // be called through the other type is promised in the documentation of `fn` pointers. `run` passes what came from such a reference.
        let call = unsafe { core::mem::transmute::<fn(&'static T), fn(*const ())>(call) };
        Self { call, data: core::ptr::from_ref(data).cast() }
    }

    #[inline]
    pub(super) fn run(self) {
        (self.call)(self.data);
    }
}

/// What a slot holds.
pub(super) enum Entry {
    Callback(Callback),
    Waker(Waker),
}

impl Entry {
    /// Whether it is a waker that wakes the same task.
    pub(super) fn wakes(&self, waker: &Waker) -> bool {
        matches!(self, Self::Waker(mine) if mine.will_wake(waker))
    }
}
