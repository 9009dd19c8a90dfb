//! `Registration`.

use std::{
    fmt, mem,
    ptr::{self, NonNull},
};

use jeton_core::cancel::Deregistered;

use super::{
    node::Node,
    payload::{Callback, Payload},
    room,
    slot::{Slot, SlotWord},
};

/// A registered callback. Dropping it removes the callback, or waits until it is done if another thread is calling it.
///
/// It does not wait for a callback of its own thread, nor in a circle of callbacks that wait for each other. Who must not wait at all, for
/// instance because the callback wants a lock that is held here, uses [`unregister`](Self::unregister). It waits for a call only: a source
/// that is just being dismissed may still be dropping the closure.
#[must_use = "dropping a registration removes the callback"]
pub struct Registration {
    /// `None`: it has ended.
    node: Option<NonNull<Node>>,
    place: Place,
}

/// A registration's slot, and whether its closure must be dropped, which is the pointer's lowest bit.
#[derive(Clone, Copy)]
struct Place(*const Slot<Payload>);

impl Place {
    const IS_DROPPED: usize = 1;

    #[inline]
    fn new(slot: &Slot<Payload>, is_dropped: bool) -> Self {
        const { assert!(align_of::<Slot<Payload>>() > Self::IS_DROPPED) };
        Self(ptr::from_ref(slot).map_addr(|address| address | usize::from(is_dropped)))
    }

    #[inline]
    fn is_dropped(self) -> bool {
        self.0.addr() & Self::IS_DROPPED != 0
    }

    /// # Safety
    /// The node that it was made in is there as long as the result is used (N4).
    #[inline]
    unsafe fn slot<'a>(self) -> &'a Slot<Payload> {
        // SAFETY: by the caller; without its lowest bit it is what it was made of.
        unsafe { &*self.0.map_addr(|address| address & !Self::IS_DROPPED) }
    }
}

// SAFETY: a node is `Send` and `Sync`, and counts its users; the slot is the registration's alone.
unsafe impl Send for Registration {}
// SAFETY: as above; a shared registration does nothing.
unsafe impl Sync for Registration {}

impl Registration {
    /// # Safety
    /// It is counted as a user of the node, and owns that slot, which is armed with a callback.
    #[inline]
    pub(super) unsafe fn new(node: NonNull<Node>, slot: &Slot<Payload>, is_dropped: bool) -> Self {
        Self { node: Some(node), place: Place::new(slot, is_dropped) }
    }

    #[inline]
    pub(super) const fn ended() -> Self {
        Self { node: None, place: Place(ptr::null()) }
    }

    /// The callback again, if nobody has taken it.
    #[cold]
    pub(super) fn take_back(self) -> Result<Callback, Self> {
        let Some(node) = self.node else { return Err(self) };
        // SAFETY: a registration is a user of its node (N1) and owns its slot (N3), which it gives up here.
        match unsafe { Self::disarm(node, self.place) } {
            Ok(callback) => {
                mem::forget(self);
                // SAFETY: it goes.
                unsafe { Node::remove_user(node) };
                Ok(callback)
            }
            Err(_) => Err(self),
        }
    }

    /// Takes the callback out and gives the slot back. If that fails, the slot's word and the slot.
    ///
    /// # Safety
    /// The caller is a user of the node and owns the slot (N3), which is not its own any more if this is `Ok`.
    #[inline]
    unsafe fn disarm<'a>(node: NonNull<Node>, place: Place) -> Result<Callback, (SlotWord, &'a Slot<Payload>)> {
        // SAFETY: by the caller the node is there.
        let (table, slot) = unsafe { (node.as_ref().table(), place.slot()) };
        // SAFETY: by the caller.
        match unsafe { slot.disarm_callback() } {
            Ok(callback) => {
                // SAFETY: by the caller.
                unsafe { table.put_back(slot) };
                Ok(callback)
            }
            Err(found) => Err((found, slot)),
        }
    }

    /// As [`end`](Self::end), in short, for the common case: a closure in the node's own slot that needs no drop, and is still there.
    #[inline]
    fn end_bare(&self) -> bool {
        let Some(node) = self.node.filter(|_| !self.place.is_dropped()) else { return false };
        // SAFETY: a registration is a user of its node (N1).
        let slot = unsafe { self.place.slot() };
        // SAFETY: it owns its slot (N3), which it gives up here.
        let ended = slot.number() == 0 && unsafe { slot.free_bare_callback() };
        if ended {
            // SAFETY: it goes.
            unsafe { Node::remove_user(node) };
        }
        ended
    }

    /// Called once, at the end.
    fn end(&mut self, wait: bool) -> Deregistered {
        let Some(node) = self.node else { return Deregistered::Ended };
        // SAFETY: a registration is a user of its node (N1) and owns its slot (N3), which it gives up here.
        let (outcome, _callback) = match unsafe { Self::disarm(node, self.place) } {
            Ok(callback) => (Deregistered::Removed, Some(callback)),
            Err((found, slot)) => (self.too_late(found, slot, wait), None),
        };
        // SAFETY: it goes. The closure is dropped after that.
        unsafe { Node::remove_user(node) };
        outcome
    }

    #[cold]
    fn too_late(&self, found: SlotWord, slot: &Slot<Payload>, wait: bool) -> Deregistered {
        if found != SlotWord::RUNNING {
            return Deregistered::Ended;
        }
        if let Some(node) = self.node.filter(|_| wait) {
            // SAFETY: a registration is a user of its node (N1).
            room::wait_for(unsafe { node.as_ref() }, slot.word(), SlotWord::is_running, SlotWord::AWAITED);
        }
        Deregistered::Running
    }

    /// Removes the callback, and never waits; what became of it.
    #[inline]
    pub fn unregister(self) -> Deregistered {
        let mut this = mem::ManuallyDrop::new(self);
        if this.end_bare() { Deregistered::Removed } else { this.end(false) }
    }

    /// Leaves the callback registered, until the source is canceled or dismissed or has no user any more.
    pub fn forget(self) {
        if let Some(node) = self.node {
            mem::forget(self);
            // SAFETY: it goes.
            unsafe { Node::remove_user(node) };
        }
    }
}

impl Drop for Registration {
    #[inline]
    fn drop(&mut self) {
        if !self.end_bare() {
            self.end(true);
        }
    }
}

impl fmt::Debug for Registration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Registration").field("ended", &self.node.is_none()).finish_non_exhaustive()
    }
}
