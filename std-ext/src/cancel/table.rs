//! The slots of a node: one for a registration and one for a child in it, and more elsewhere once those are taken.

use std::{ptr::null_mut, slice};

use jeton_core::{
    const_fn, ord,
    sync::{AtomicPtr, UnsafeCell},
};

use super::{
    payload::{Child, Payload},
    segments::Segments,
    slot::Slot,
};

pub(super) struct Table {
    far: AtomicPtr<Far>,
    registration: Slot<Payload>,
    child: Slot<Child>,
}

/// Slots that do not lie in the node.
pub(super) struct Far {
    registrations: Segments<Payload>,
    children: Segments<Child>,
    /// For the models, to which a cell is a witness: written when this is made, and looked at by who finds it.
    made: UnsafeCell<()>,
}

/// Which slots are for it.
pub(super) trait Kept: Sized + 'static {
    fn near(table: &Table) -> &Slot<Self>;
    fn far(far: &Far) -> &Segments<Self>;
}

impl Kept for Payload {
    #[inline]
    fn near(table: &Table) -> &Slot<Self> {
        &table.registration
    }
    #[inline]
    fn far(far: &Far) -> &Segments<Self> {
        &far.registrations
    }
}

impl Kept for Child {
    #[inline]
    fn near(table: &Table) -> &Slot<Self> {
        &table.child
    }
    #[inline]
    fn far(far: &Far) -> &Segments<Self> {
        &far.children
    }
}

impl Table {
    const_fn! {
        pub(super) const fn new() -> Self {
            Self { far: AtomicPtr::null(), registration: Slot::in_node(), child: Slot::in_node() }
        }
    }

    /// Takes a free slot. Allocates if there is none.
    #[inline]
    pub(super) fn take<C: Kept>(&self) -> &Slot<C> {
        let near = C::near(self);
        if near.take() { near } else { C::far(self.far()).take() }
    }

    /// Makes a slot free.
    ///
    /// # Safety
    /// The caller owns it, and does not use it after this (N3); it is not armed.
    #[inline]
    pub(super) unsafe fn put_back<C: Kept>(&self, slot: &Slot<C>) {
        match slot.number() {
            // SAFETY: by the caller.
            0 => unsafe { slot.free() },
            number => self.give(number, slot),
        }
    }

    /// Takes a child out of its slot and makes that free; whether it was there.
    ///
    /// # Safety
    /// The caller owns the slot, which was armed with the child, and does not use it after this (N3).
    #[inline]
    pub(super) unsafe fn remove_child(&self, slot: &Slot<Child>) -> bool {
        match slot.number() {
            // SAFETY: by the caller.
            0 => unsafe { slot.free_child() },
            number => {
                // SAFETY: by the caller.
                let there = unsafe { slot.disarm_child() };
                if there {
                    self.give(number, slot);
                }
                there
            }
        }
    }

    #[inline]
    fn give<C: Kept>(&self, number: u32, slot: &Slot<C>) {
        // Whoever has such a slot has seen what it lies in.
        let far = self.far.load(ord!("cancel-std-31", Relaxed));
        // SAFETY: it was there before the slot was handed out, and is freed with the table (N4).
        C::far(unsafe { &*far }).give(number, slot);
    }

    #[inline]
    fn far(&self) -> &Far {
        // Acquire pairs with `make_far`.
        let far = self.far.load(ord!("cancel-std-32", Acquire));
        // SAFETY: null, or there as long as the table (N4).
        let far = unsafe { far.as_ref() }.unwrap_or_else(|| self.make_far());
        far.made.with(|_| ());
        far
    }

    #[cold]
    fn make_far(&self) -> &Far {
        let new = Far { registrations: Segments::new(), children: Segments::new(), made: UnsafeCell::new(()) };
        new.made.with_mut(|_| ());
        let new = Box::into_raw(Box::new(new));
        // Release and Acquire pair with each other, and with who looks.
        let far = self.far.compare_exchange(null_mut(), new, ord!("cancel-std-33", Release), ord!("cancel-std-34", Acquire));
        let far = match far {
            Ok(_) => new,
            Err(theirs) => {
                // SAFETY: nobody else has seen it.
                drop(unsafe { Box::from_raw(new) });
                theirs
            }
        };
        // SAFETY: it is freed with the table (N4).
        unsafe { &*far }
    }

    /// The only slot of its kind, if there has never been more, as far as the caller can see.
    #[inline]
    pub(super) fn only<C: Kept>(&self) -> Option<&Slot<C>> {
        self.far.load(ord!("cancel-std-35", Relaxed)).is_null().then(|| C::near(self))
    }

    /// Whether nothing is in it that must be dropped, if nobody registers any more.
    #[inline]
    pub(super) fn is_bare(&self) -> bool {
        self.only::<Payload>().is_some_and(Slot::is_bare)
    }

    /// All slots of a kind, to be looked at one after another.
    #[inline]
    pub(super) fn slots<C: Kept>(&self) -> Slots<'_, C> {
        Slots { table: self, rest: slice::from_ref(C::near(self)).iter(), next: 0 }
    }
}

/// All slots of a table that the caller's last synchronization lets it see, and perhaps more.
pub(super) struct Slots<'a, C> {
    table: &'a Table,
    rest: slice::Iter<'a, Slot<C>>,
    /// The segment after the one that `rest` belongs to.
    next: usize,
}

impl<'a, C: Kept> Slots<'a, C> {
    /// Calls `look` with each; if that panics, another call goes on behind the one it has panicked at.
    #[inline]
    pub(super) fn each(&mut self, mut look: impl FnMut(&'a Slot<C>)) {
        loop {
            for slot in self.rest.by_ref() {
                look(slot);
            }
            let Some(segment) = self.segment() else { return };
            self.rest = segment.iter();
            self.next += 1;
        }
    }

    #[inline]
    fn segment(&self) -> Option<&'a [Slot<C>]> {
        // Acquire pairs with `make_far`.
        let far = self.table.far.load(ord!("cancel-std-36", Acquire));
        // SAFETY: null, or there as long as the table (N4).
        let far = unsafe { far.as_ref() }?;
        far.made.with(|_| ());
        C::far(far).segment(self.next)
    }
}

impl Drop for Table {
    #[inline]
    fn drop(&mut self) {
        let far = self.far.load(ord!("cancel-std-37", Relaxed));
        if !far.is_null() {
            // SAFETY: it came from a box, and goes with the table (N4).
            drop(unsafe { Box::from_raw(far) });
        }
    }
}
