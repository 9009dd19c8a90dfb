//! The tasks that wait: slots in blocks, as many as are needed. Blocks never move and go with the gate (T1).

use std::ptr;

use jeton_core::{
    const_fn, ord,
    sync::{AtomicPtr, AtomicU64},
};

use super::slot::{Claimed, Slot};
use crate::cancel::panics::Panics;

/// Few in a model, whose checker keeps track of each word.
const SLOTS: usize = if cfg!(any(jeton_loom, jeton_shuttle)) { 2 } else { 64 };

#[derive(Debug)]
pub(super) struct Block {
    /// One bit a slot: whether it has an owner, or is left to somebody who claims it.
    used: AtomicU64,
    slots: [Slot; SLOTS],
    next: AtomicPtr<Block>,
}

/// A slot that somebody owns.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place<'g> {
    block: &'g Block,
    index: usize,
}

impl Place<'_> {
    pub(super) fn slot(&self) -> &Slot {
        &self.block.slots[self.index]
    }

    /// The end of a slot that is held.
    ///
    /// # Safety
    /// The caller owns the slot, and gives it up.
    pub(super) unsafe fn put_back(self) {
        self.block.put_back(self.index);
    }
}

impl Block {
    /// With its first slot in use. Written where it stays: what copies it from the stack counts differently wherever that is.
    fn new() -> Box<Self> {
        let mut block = Box::<Self>::new_uninit();
        let fields = block.as_mut_ptr();
        // SAFETY: they are fields of one allocation, which nobody else has; each of them is written once.
        unsafe {
            (&raw mut (*fields).used).write(AtomicU64::new(1));
            let slots = (&raw mut (*fields).slots).cast::<Slot>();
            (0..SLOTS).for_each(|index| slots.add(index).write(Slot::new()));
            (&raw mut (*fields).next).write(AtomicPtr::null());
            block.assume_init()
        }
    }

    fn take(&self) -> Option<usize> {
        let mut used = self.used.load(ord!("gate-std-21", Relaxed));
        loop {
            let index = used.trailing_ones() as usize;
            if index >= SLOTS {
                return None;
            }
            let more = used | 1 << index;
            match self.used.compare_exchange(used, more, ord!("gate-std-22", Acquire), ord!("gate-std-23", Relaxed)) {
                Ok(_) => return Some(index),
                Err(found) => used = found,
            }
        }
    }

    fn put_back(&self, index: usize) {
        self.used.fetch_and(!(1 << index), ord!("gate-std-24", Release));
    }
}

#[derive(Debug)]
pub(super) struct Tasks {
    first: AtomicPtr<Block>,
}

impl Tasks {
    const_fn! {
        pub(super) const fn new() -> Self {
            Self { first: AtomicPtr::null() }
        }
    }

    /// A slot that is held. Allocates a block if all are in use.
    pub(super) fn take(&self) -> Place<'_> {
        let mut link = &self.first;
        loop {
            let found = link.load(ord!("gate-std-25", Acquire));
            // SAFETY: a block that is linked is there as long as the gate (T1).
            let block = match unsafe { found.as_ref() } {
                Some(block) => block,
                None => match self.append(link) {
                    Ok(place) => return place,
                    Err(block) => block,
                },
            };
            if let Some(index) = block.take() {
                return Place { block, index };
            }
            link = &block.next;
        }
    }

    /// A new block's first slot, or the block that another call has put there.
    #[cold]
    fn append<'g>(&'g self, link: &'g AtomicPtr<Block>) -> Result<Place<'g>, &'g Block> {
        let new = Box::into_raw(Block::new());
        match link.compare_exchange(ptr::null_mut(), new, ord!("gate-std-26", Release), ord!("gate-std-27", Acquire)) {
            // SAFETY: linked, and so there as long as the gate (T1).
            Ok(_) => Ok(Place { block: unsafe { &*new }, index: 0 }),
            Err(found) => {
                // SAFETY: nobody else has seen it.
                drop(unsafe { Box::from_raw(new) });
                // SAFETY: as above.
                Err(unsafe { &*found })
            }
        }
    }

    /// Wakes all that wait for one of `states`, also if a waker panics. With nothing held that anybody else could need while a waker runs.
    #[cold]
    pub(super) fn wake(&self, states: u32) {
        let mut panics = Panics::default();
        let mut link = &self.first;
        // SAFETY: a block that is linked is there as long as the gate (T1).
        while let Some(block) = unsafe { link.load(ord!("gate-std-28", Acquire)).as_ref() } {
            let mut used = block.used.load(ord!("gate-std-29", Relaxed));
            while used != 0 {
                let index = used.trailing_zeros() as usize;
                used &= used - 1;
                let mut waker = match block.slots[index].claim(states) {
                    Claimed::Nobody => continue,
                    Claimed::Woken(waker) => Some(waker),
                    Claimed::Leaver(waker) => {
                        block.put_back(index);
                        Some(waker)
                    }
                };
                panics.keep(|| {
                    if let Some(waker) = waker.take() {
                        waker.wake();
                    }
                });
            }
            link = &block.next;
        }
        panics.resume();
    }
}

impl Drop for Tasks {
    fn drop(&mut self) {
        let mut panics = Panics::default();
        let mut next = self.first.load(ord!("gate-std-30", Relaxed));
        while !next.is_null() {
            // SAFETY: nobody else has the gate any more, and each block was boxed and is linked once.
            let mut block = unsafe { Box::from_raw(next) };
            next = block.next.load(ord!("gate-std-31", Relaxed));
            // Wakers of forgotten futures.
            block.slots.iter_mut().for_each(|slot| {
                let mut waker = slot.last_waker();
                panics.keep(|| drop(waker.take()));
            });
        }
        panics.resume();
    }
}

#[cfg(all(test, target_pointer_width = "64", not(any(jeton_loom, jeton_shuttle))))]
mod tests {
    use super::{super::inner::Inner, Block};

    #[test]
    fn the_page_tells_the_sizes() {
        let page = include_str!("../gate.rs");
        let (gate, block) = (size_of::<Inner>(), size_of::<Block>());
        assert!(page.contains(&format!("a gate takes {gate} bytes, and a block of 64 tasks {block},")), "{gate} {block}");
    }
}
