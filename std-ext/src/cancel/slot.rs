//! One slot: a word that says who may touch the payload, and the payload.

use std::{
    mem::ManuallyDrop,
    ptr::{self, NonNull},
    task::Waker,
};

use jeton_core::{
    ord,
    sync::{AtomicU32, UnsafeCell},
};

use super::{
    node::Node,
    payload::{Callback, Payload},
    room,
};

/// A slot's word.
///
/// | word | the slot | its payload belongs to |
/// |---|---|---|
/// | idle | is free, or is being filled by who has taken it | that one |
/// | callback, waker, child | is armed | who takes it away from there: its owner makes it idle, a cancel *running* or *done* |
/// | running | its callback is being called | nobody: it is taken out |
/// | done | is at its end, and its node too: it is not used again | the cancel that has made it so |
///
/// Bit 3 with *running* or *done*: a thread sleeps until it is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SlotWord(u32);

impl SlotWord {
    const IDLE: Self = Self(0);
    const CALLBACK: Self = Self(1);
    const WAKER: Self = Self(2);
    const CHILD: Self = Self(3);
    pub(super) const RUNNING: Self = Self(4);
    const DONE: Self = Self(5);
    const STATE: u32 = 7;
    pub(super) const AWAITED: u32 = 8;

    const fn state(self) -> Self {
        Self(self.0 & Self::STATE)
    }

    pub(super) fn is_running(word: u32) -> bool {
        Self(word).state() == Self::RUNNING
    }
}

pub(super) struct Slot {
    word: AtomicU32,
    /// 1 more than the index of the next free slot, while this one is free.
    pub(super) next: AtomicU32,
    payload: UnsafeCell<Payload>,
}

impl Slot {
    jeton_core::const_fn! {
        pub(super) const fn new(next: u32) -> Self {
            Self { word: AtomicU32::new(0), next: AtomicU32::new(next), payload: UnsafeCell::new(Payload { nothing: () }) }
        }
    }

    pub(super) fn word(&self) -> &AtomicU32 {
        &self.word
    }

    /// Puts something into an idle slot and lets a cancel find it.
    ///
    /// # Safety
    /// The caller has taken the slot, and it is idle (N3).
    #[inline]
    unsafe fn arm(&self, payload: Payload, kind: SlotWord) {
        // SAFETY: by the caller nobody else touches an idle slot's payload (N3).
        self.payload.with_mut(|place| unsafe { place.write(payload) });
        // Release pairs with `claim` and `run`: they take the payload out.
        self.word.store(kind.0, ord!("cancel-std-1", Release));
    }

    /// # Safety
    /// As [`arm`](Self::arm).
    #[inline]
    pub(super) unsafe fn arm_callback(&self, callback: Callback) {
        // SAFETY: by the caller.
        unsafe { self.arm(Payload { callback: ManuallyDrop::new(callback) }, SlotWord::CALLBACK) }
    }

    /// # Safety
    /// As [`arm`](Self::arm).
    #[inline]
    pub(super) unsafe fn arm_waker(&self, waker: Waker) {
        // SAFETY: by the caller.
        unsafe { self.arm(Payload { waker: ManuallyDrop::new(waker) }, SlotWord::WAKER) }
    }

    /// # Safety
    /// As [`arm`](Self::arm).
    #[inline]
    pub(super) unsafe fn arm_child(&self, child: NonNull<Node>) {
        // SAFETY: by the caller.
        unsafe { self.arm(Payload { child }, SlotWord::CHILD) }
    }

    /// Takes a callback back that needs no drop.
    ///
    /// # Safety
    /// As [`disarm`](Self::disarm), with a callback.
    #[inline]
    pub(super) unsafe fn disarm_bare_callback(&self) -> Result<(), SlotWord> {
        // SAFETY: by the caller.
        unsafe { self.disarm(SlotWord::CALLBACK) }
    }

    /// Takes an armed slot back: it is idle then. If that fails, the word found: a cancel has it.
    ///
    /// # Safety
    /// The caller owns what it has armed as `kind` here (N3).
    #[inline]
    unsafe fn disarm(&self, kind: SlotWord) -> Result<(), SlotWord> {
        // Who disarms has armed. Acquire pairs with the end of `run`: what a callback has done is visible to who finds it done.
        self.word
            .compare_exchange(kind.0, SlotWord::IDLE.0, ord!("cancel-std-2", Relaxed), ord!("cancel-std-3", Acquire))
            .map(drop)
            .map_err(|found| SlotWord(found).state())
    }

    /// # Safety
    /// As [`disarm`](Self::disarm), with a callback.
    #[inline]
    pub(super) unsafe fn disarm_callback(&self) -> Result<Callback, SlotWord> {
        // SAFETY: by the caller; idle, it belongs to the caller, and it is taken out once (N3).
        unsafe { self.disarm(SlotWord::CALLBACK).map(|()| self.take_callback()) }
    }

    /// # Safety
    /// As [`disarm`](Self::disarm), with a waker.
    #[inline]
    pub(super) unsafe fn disarm_waker(&self) -> Option<Waker> {
        // SAFETY: as in `disarm_callback`.
        unsafe { self.disarm(SlotWord::WAKER).ok().map(|()| self.take_waker()) }
    }

    /// # Safety
    /// As [`disarm`](Self::disarm), with a child.
    #[inline]
    pub(super) unsafe fn disarm_child(&self) -> bool {
        // SAFETY: by the caller.
        unsafe { self.disarm(SlotWord::CHILD) }.is_ok()
    }

    /// Whether the slot holds a waker of the same task.
    ///
    /// # Safety
    /// The caller owns what it has armed as a waker here (N3); a cancel may have it.
    #[inline]
    pub(super) unsafe fn wakes(&self, waker: &Waker) -> bool {
        // SAFETY: nobody writes the payload of a slot that the caller owns, and a cancel that takes the waker out leaves the bits (N3).
        // `will_wake` compares two pointers and looks through neither.
        self.payload.with(|place| unsafe { (*place).waker.will_wake(waker) })
    }

    /// What a look at the slots finds.
    #[inline]
    fn glance(&self) -> SlotWord {
        SlotWord(self.word.load(ord!("cancel-std-4", Relaxed)))
    }

    #[inline]
    fn claim(&self, from: SlotWord, to: SlotWord) -> bool {
        // Acquire pairs with `arm`.
        self.word.compare_exchange(from.0, to.0, ord!("cancel-std-5", Acquire), ord!("cancel-std-6", Relaxed)).is_ok()
    }

    /// Takes the child out for good, if there is one.
    #[inline]
    pub(super) fn claim_child(&self) -> Option<NonNull<Node>> {
        (self.glance() == SlotWord::CHILD && self.claim(SlotWord::CHILD, SlotWord::DONE))
            // SAFETY: the word says that it is a child, and the caller has claimed it (N3).
            .then(|| self.payload.with(|place| unsafe { (*place).child }))
    }

    /// Calls the callback or wakes the waker, if there is one; or drops it, if the node is only dismissed.
    #[inline]
    pub(super) fn notify(&self, canceled: bool) {
        match self.glance() {
            SlotWord::CALLBACK if canceled && self.claim(SlotWord::CALLBACK, SlotWord::RUNNING) => {
                let _end = End(self);
                let callback = self.payload.with_mut(|place| place.cast::<Callback>());
                // SAFETY: it is claimed (N3); the callback is at the beginning of the payload, as all its fields are.
                unsafe { Callback::run_in_place(callback) };
            }
            SlotWord::CALLBACK if !canceled && self.claim(SlotWord::CALLBACK, SlotWord::DONE) => {
                // SAFETY: it is claimed (N3).
                drop(unsafe { self.take_callback() });
            }
            SlotWord::WAKER if self.claim(SlotWord::WAKER, SlotWord::DONE) => {
                // SAFETY: it is claimed (N3).
                unsafe { self.take_waker() }.wake();
            }
            _ => {}
        }
    }

    /// Drops what was left armed in a node that nobody has any more.
    #[inline]
    pub(super) fn clear(&self) {
        match self.glance() {
            SlotWord::CALLBACK if self.claim(SlotWord::CALLBACK, SlotWord::DONE) => {
                // SAFETY: it is claimed (N3).
                drop(unsafe { self.take_callback() });
            }
            SlotWord::WAKER if self.claim(SlotWord::WAKER, SlotWord::DONE) => {
                // SAFETY: it is claimed (N3).
                drop(unsafe { self.take_waker() });
            }
            _ => {}
        }
    }

    /// # Safety
    /// It holds a callback that is the caller's (N3), and is taken once.
    unsafe fn take_callback(&self) -> Callback {
        // SAFETY: by the caller.
        self.payload.with(|place| unsafe { ptr::read((&raw const (*place).callback).cast::<Callback>()) })
    }

    /// # Safety
    /// It holds a waker that is the caller's (N3), and is taken once.
    unsafe fn take_waker(&self) -> Waker {
        // SAFETY: by the caller.
        self.payload.with(|place| unsafe { ptr::read((&raw const (*place).waker).cast::<Waker>()) })
    }
}

/// Ends *running*, also if the callback has panicked.
struct End<'a>(&'a Slot);

impl Drop for End<'_> {
    #[inline]
    fn drop(&mut self) {
        // Release pairs with `disarm` and with who sleeps in the room: what the callback has done is visible to them.
        let before = self.0.word.swap(SlotWord::DONE.0, ord!("cancel-std-7", Release));
        if before & SlotWord::AWAITED != 0 {
            room::wake();
        }
    }
}
