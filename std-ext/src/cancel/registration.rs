//! `Registration`.

use std::{fmt, mem, ptr::NonNull};

use jeton_core::cancel::Deregistered;

use super::{
    node::Node,
    payload::Callback,
    room,
    slot::{Slot, SlotWord},
};

/// A registered callback. Dropping it removes the callback, or waits until it is done if another thread is calling it.
///
/// It does not wait for a callback of its own thread, nor in a circle of callbacks that wait for each other. Who must not wait at all, for
/// instance because the callback wants a lock that is held here, uses [`unregister`](Self::unregister).
#[must_use = "dropping a registration removes the callback"]
pub struct Registration {
    /// `None`: it has ended.
    node: Option<NonNull<Node>>,
    slot: Place,
}

/// Where a registration's slot is, and whether its closure must be dropped: in one word, so that the common case is one comparison.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Place(u32);

impl Place {
    /// The first slot, and a closure that is simply gone.
    const FIRST_AND_BARE: Self = Self(0);
    const ENDED: Self = Self(u32::MAX);
    const IS_DROPPED: u32 = 1 << 31;

    const fn new(index: u32, is_dropped: bool) -> Self {
        Self(if is_dropped { index | Self::IS_DROPPED } else { index })
    }

    const fn index(self) -> u32 {
        self.0 & !Self::IS_DROPPED
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
    pub(super) unsafe fn new(node: NonNull<Node>, index: u32, is_dropped: bool) -> Self {
        Self { node: Some(node), slot: Place::new(index, is_dropped) }
    }

    #[inline]
    pub(super) const fn ended() -> Self {
        Self { node: None, slot: Place::ENDED }
    }

    /// The callback again, if nobody has taken it.
    #[cold]
    pub(super) fn take_back(self) -> Result<Callback, Self> {
        let Some(node) = self.node else { return Err(self) };
        // SAFETY: a registration is a user of its node (N1) and owns its slot (N3), which it gives up here.
        match unsafe { Self::disarm(node, self.slot.index()) } {
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
    unsafe fn disarm<'a>(node: NonNull<Node>, index: u32) -> Result<Callback, (SlotWord, &'a Slot)> {
        // SAFETY: by the caller.
        let table = unsafe { node.as_ref() }.table();
        let slot = table.slot(index);
        // SAFETY: by the caller.
        match unsafe { slot.disarm_callback() } {
            Ok(callback) => {
                // SAFETY: by the caller.
                unsafe { table.put_back(index, slot) };
                Ok(callback)
            }
            Err(found) => Err((found, slot)),
        }
    }

    /// Called once, at the end.
    fn end(&mut self, wait: bool) -> Deregistered {
        let Some(node) = self.node else { return Deregistered::Ended };
        // SAFETY: a registration is a user of its node (N1) and owns its slot (N3), which it gives up here.
        let (outcome, _callback) = match unsafe { Self::disarm(node, self.slot.index()) } {
            Ok(callback) => (Deregistered::Removed, Some(callback)),
            Err((found, slot)) => (self.too_late(found, slot, wait), None),
        };
        // SAFETY: it goes. The closure is dropped after that.
        unsafe { Node::remove_user(node) };
        outcome
    }

    #[cold]
    fn too_late(&self, found: SlotWord, slot: &Slot, wait: bool) -> Deregistered {
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
    pub fn unregister(self) -> Deregistered {
        mem::ManuallyDrop::new(self).end(false)
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
        let Some(node) = self.node.filter(|_| self.slot == Place::FIRST_AND_BARE) else {
            self.end(true);
            return;
        };
        // As `end`, in short.
        // SAFETY: a registration is a user of its node (N1).
        let table = unsafe { node.as_ref() }.table();
        let slot = table.slot(0);
        // SAFETY: it owns its slot (N3), which it gives up here.
        if unsafe { slot.disarm_bare_callback() }.is_err() {
            self.end(true);
            return;
        }
        // SAFETY: as above; then it goes.
        unsafe {
            table.put_back(0, slot);
            Node::remove_user(node);
        }
    }
}

impl fmt::Debug for Registration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Registration").field("ended", &self.node.is_none()).finish_non_exhaustive()
    }
}
