//! A task's wait: one slot, from the first poll that has to wait until the end.

use std::task::{Context, Poll, Waker};

use super::{
    inner::{End, Inner, Want},
    slot::Disarmed,
    tasks::Place,
    word::{Waiter, Word},
};

#[derive(Debug)]
pub(super) struct Waiting<'g> {
    inner: &'g Inner,
    want: Want,
    /// Its own slot, and whose waker was put there.
    place: Option<(Place<'g>, Identity)>,
}

/// What makes a waker that of one task: `will_wake`, without the waker, which may be on its way out of the slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Identity(usize, usize);

impl Identity {
    fn of(waker: &Waker) -> Self {
        Self(waker.data().addr(), std::ptr::from_ref(waker.vtable()).addr())
    }
}

impl<'g> Waiting<'g> {
    pub(super) fn new(inner: &'g Inner, want: Want) -> Self {
        Self { inner, want, place: None }
    }

    pub(super) fn poll(&mut self, context: &Context<'_>) -> Poll<End> {
        let seen = self.inner.look();
        if let Some(end) = self.want.end(seen) {
            drop(self.leave());
            return Poll::Ready(end);
        }
        if let Some((place, identity)) = self.place
            && identity == Identity::of(context.waker())
            // As long as it is armed the slot holds that waker, so that no other task's can look the same.
            && place.slot().is_armed()
        {
            // Whoever takes the interest from now on, or has taken it and not come here yet, wakes it.
            return Poll::Pending;
        }
        self.register(seen, context.waker())
    }

    #[cold]
    fn register(&mut self, mut seen: Word, waker: &Waker) -> Poll<End> {
        // The user's code, before the slot is touched; the old waker's drop comes after everything else.
        let (identity, waker) = (Identity::of(waker), waker.clone());
        let (old, place) = self.take_back();
        let place = place.unwrap_or_else(|| self.inner.tasks.take());
        // SAFETY: the slot is this wait's and not armed: taken just now, or taken back (T2).
        unsafe { place.slot().arm(self.want.states(), waker) };
        self.place = Some((place, identity));
        loop {
            if let Some(end) = self.want.end(seen) {
                drop((self.leave(), old));
                return Poll::Ready(end);
            }
            match self.inner.publish(seen, self.want.states(), Waiter::Task) {
                Ok(_) => {
                    drop(old);
                    return Poll::Pending;
                }
                Err(found) => seen = found,
            }
        }
    }

    /// The waker, if nobody has claimed it, and the slot, if it is this wait's still.
    fn take_back(&mut self) -> (Option<Waker>, Option<Place<'g>>) {
        let Some((place, _)) = self.place.take() else { return (None, None) };
        // SAFETY: the slot is this wait's (T2).
        match unsafe { place.slot().disarm() } {
            Disarmed::Back(waker) => (Some(waker), Some(place)),
            Disarmed::Empty => (None, Some(place)),
            Disarmed::Lost => (None, None),
        }
    }

    /// Gives the slot back. The waker is for the caller to drop.
    fn leave(&mut self) -> Option<Waker> {
        let (waker, place) = self.take_back();
        if let Some(place) = place {
            // SAFETY: taken back, and given up here (T2).
            unsafe { place.put_back() };
        }
        waker
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        drop(self.leave());
    }
}
