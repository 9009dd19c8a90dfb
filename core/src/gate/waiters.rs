//! The wakers of those who wait, and the states that each waits for.

use core::task::Waker;

use crate::{
    array, const_fn, ord,
    sync::AtomicU32,
    util::slots::{Full, Handle, Renewed, Slot, Slots, next_bit},
};

/// What everybody waits for, beside the states: the closing.
const CLOSING: u32 = 1 << 16;

/// A slot for each waiter, and beside it a bit for each state that its waiter wants, and one more: `[…; N]` where it stands.
#[derive(Debug)]
pub(super) struct Waiters<const N: usize> {
    slots: Slots<[Slot<Waker>; N]>,
    wanted: [AtomicU32; N],
}

impl<const N: usize> Waiters<N> {
    const_fn! {
        pub(super) const fn new() -> Self {
            Self { slots: Slots::new(), wanted: array![AtomicU32::new(0); N] }
        }
    }

    #[inline]
    fn slots(&self) -> &Slots<[Slot<Waker>]> {
        &self.slots
    }

    /// A slot with this waker. The caller publishes next, and before that nobody need find it.
    pub(super) fn register(&self, waker: Waker, wanted: u16) -> Result<Handle, Full<Waker>> {
        let handle = self.slots().register(waker)?;
        if let Some(states) = self.wanted.get(handle.index() as usize) {
            // Ordered by the publishing: until then a wake may go by what the slot's last owner wanted.
            states.store(u32::from(wanted) | CLOSING, ord!("gate-6", Relaxed));
        }
        Ok(handle)
    }

    /// Whether the slot holds a waker of the same task.
    ///
    /// # Safety
    /// As [`Slots::holds`].
    #[inline]
    pub(super) unsafe fn holds(&self, handle: Handle, waker: &Waker) -> bool {
        // SAFETY: by the caller.
        unsafe { self.slots().holds(handle, |mine| mine.will_wake(waker)) }
    }

    /// Whether the last waker that was put into the slot is of the same task, wherever it is now.
    ///
    /// # Safety
    /// As [`Slots::held`].
    pub(super) unsafe fn held(&self, handle: Handle, waker: &Waker) -> bool {
        // SAFETY: by the caller.
        unsafe { self.slots().held(handle, |last| last.will_wake(waker)) }
    }

    /// Puts another waker into a slot. The caller publishes next.
    ///
    /// # Safety
    /// As [`Slots::renew`].
    pub(super) unsafe fn renew(&self, handle: Handle, waker: &Waker) -> Option<Renewed<Waker>> {
        // SAFETY: by the caller.
        unsafe { self.slots().renew(handle, || waker.clone()) }
    }

    /// Ends a registration; the waker is dropped here, if it is still there.
    ///
    /// # Safety
    /// As [`Slots::deregister`].
    pub(super) unsafe fn deregister(&self, handle: Handle) {
        // SAFETY: by the caller.
        drop(unsafe { self.slots().deregister(handle) });
    }

    /// Wakes those who want this state; also the others of them, if a waker panics.
    pub(super) fn wake(&self, state: u8) {
        self.wake_who_wants(1 << (state % 16));
    }

    /// Wakes everybody, in the same way.
    pub(super) fn wake_all(&self) {
        self.wake_who_wants(CLOSING);
    }

    #[cold]
    fn wake_who_wants(&self, states: u32) {
        Wake { slots: self.slots(), wanted: &self.wanted, states, left: self.slots().used() }.run();
    }
}

/// The slots that are to be looked at.
struct Wake<'a> {
    slots: &'a Slots<[Slot<Waker>]>,
    wanted: &'a [AtomicU32],
    states: u32,
    left: u32,
}

impl Wake<'_> {
    fn run(&mut self) {
        while let Some(index) = next_bit(&mut self.left) {
            // Acquired by the transition, if the waiter has published itself before it.
            let wanted = self.wanted.get(index as usize).map_or(0, |wanted| wanted.load(ord!("gate-7", Relaxed)));
            if wanted & self.states == 0 {
                continue;
            }
            if let Some(taken) = self.slots.take(index) {
                // The slot is its owner's again before the user's code runs; and who finds it taken is woken after that (G6).
                drop(taken.run);
                taken.payload.wake();
            }
        }
    }
}

impl Drop for Wake<'_> {
    fn drop(&mut self) {
        self.run();
    }
}
