//! A task's place: its waker, and the states that wake it.

use std::task::Waker;

use jeton_core::{
    const_fn, ord,
    sync::{AtomicU32, UnsafeCell},
};

/// `states:16 | phase:2`. *Held*: the owner's. *Armed*: whoever claims it. *Taken*: the claimer's, who is moving the waker out.
/// *Left*: as taken, and the owner has gone.
#[derive(Debug)]
pub(super) struct Slot {
    word: AtomicU32,
    waker: UnsafeCell<Option<Waker>>,
}

const HELD: u32 = 0;
const ARMED: u32 = 1 << 16;
const TAKEN: u32 = 2 << 16;
const LEFT: u32 = 3 << 16;
const PHASE: u32 = 3 << 16;

// SAFETY: the waker belongs to whom the word says (T2).
unsafe impl Sync for Slot {}
// SAFETY: as above; a waker is `Send`.
unsafe impl Send for Slot {}

/// What an owner finds that takes its slot back.
pub(super) enum Disarmed {
    /// The waker; the slot is the owner's.
    Back(Waker),
    /// Nothing: it has been claimed, or was never armed. The slot is the owner's.
    Empty,
    /// Somebody is just claiming it. The slot is that one's to give back.
    Lost,
}

/// What a claim finds.
pub(super) enum Claimed {
    /// Nothing to wake.
    Nobody,
    /// A waker; the slot is its owner's.
    Woken(Waker),
    /// A waker; the owner has gone meanwhile, and the claimer gives the slot back.
    Leaver(Waker),
}

impl Slot {
    const_fn! {
        pub(super) const fn new() -> Self {
            Self { word: AtomicU32::new(HELD), waker: UnsafeCell::new(None) }
        }
    }

    /// # Safety
    /// The caller owns the slot, which is not armed.
    pub(super) unsafe fn arm(&self, states: u32, waker: Waker) {
        // SAFETY: it is held (T2), and so empty: no waker is dropped here.
        self.waker.with_mut(|cell| unsafe { *cell = Some(waker) });
        self.word.store(states & !PHASE | ARMED, ord!("gate-std-10", Release));
    }

    /// Whether nobody has claimed it: the waker is still in it. For the owner.
    pub(super) fn is_armed(&self) -> bool {
        self.word.load(ord!("gate-std-11", Relaxed)) & PHASE == ARMED
    }

    /// # Safety
    /// The caller owns the slot; no longer if it is lost.
    pub(super) unsafe fn disarm(&self) -> Disarmed {
        let mut seen = self.word.load(ord!("gate-std-12", Acquire));
        loop {
            let next = match seen & PHASE {
                HELD => return Disarmed::Empty,
                ARMED => HELD,
                _ => LEFT,
            };
            match self.word.compare_exchange(seen, next, ord!("gate-std-13", Relaxed), ord!("gate-std-14", Acquire)) {
                Ok(_) if next == LEFT => return Disarmed::Lost,
                // SAFETY: it is held again (T2), and was armed by this owner.
                Ok(_) => return unsafe { self.take_out() }.map_or(Disarmed::Empty, Disarmed::Back),
                Err(found) => seen = found,
            }
        }
    }

    /// Takes the waker out if it waits for one of `states`.
    pub(super) fn claim(&self, states: u32) -> Claimed {
        let mut seen = self.word.load(ord!("gate-std-15", Relaxed));
        loop {
            if seen & PHASE != ARMED || seen & states & !PHASE == 0 {
                return Claimed::Nobody;
            }
            match self.word.compare_exchange(seen, TAKEN, ord!("gate-std-16", Acquire), ord!("gate-std-17", Relaxed)) {
                Ok(_) => break,
                Err(found) => seen = found,
            }
        }
        // SAFETY: it is taken, by this call (T2).
        let waker = unsafe { self.take_out() };
        let given = self.word.compare_exchange(TAKEN, HELD, ord!("gate-std-18", Release), ord!("gate-std-19", Relaxed));
        match (waker, given) {
            (None, _) => Claimed::Nobody,
            (Some(waker), Ok(_)) => Claimed::Woken(waker),
            (Some(waker), Err(_)) => {
                // Nobody else looks at a slot that is left.
                self.word.store(HELD, ord!("gate-std-20", Relaxed));
                Claimed::Leaver(waker)
            }
        }
    }

    /// What is in it when the gate goes.
    pub(super) fn last_waker(&mut self) -> Option<Waker> {
        // SAFETY: nobody else has the slot.
        unsafe { self.take_out() }
    }

    /// # Safety
    /// The waker belongs to the caller (T2).
    unsafe fn take_out(&self) -> Option<Waker> {
        // SAFETY: by the caller.
        self.waker.with_mut(|cell| unsafe { (*cell).take() })
    }
}
