//! One slot: a word that says who may touch what it holds, and that.

use std::{
    mem::{ManuallyDrop, MaybeUninit},
    ptr::NonNull,
    task::Waker,
};

use jeton_core::{
    const_fn, ord,
    sync::{AtomicU32, UnsafeCell},
};

use super::{
    node::Node,
    payload::{Callback, Child, Payload},
    room,
};

/// A slot's word.
///
/// | word | the slot | what it holds belongs to |
/// |---|---|---|
/// | free | lies in the node, and nobody has it | nobody |
/// | held | is being filled by its owner; or lies among the free ones of a segment | its owner |
/// | callback, waker, child | is armed | who takes it away from there: its owner makes it *held* or *free*, a cancel *running* or *done* |
/// | running | its callback is being called | nobody: it is taken out |
/// | done | is at its end, and its node too: it is not used again | the cancel that has made it so |
///
/// Bit 3 with *running* or *done*: a thread sleeps until it is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SlotWord(u32);

impl SlotWord {
    /// Zero, so that it is the step from *running* that says whether anybody sleeps.
    const DONE: Self = Self(0);
    const CALLBACK: Self = Self(1);
    const WAKER: Self = Self(2);
    const CHILD: Self = Self(3);
    pub(super) const RUNNING: Self = Self(4);
    const FREE: Self = Self(5);
    const HELD: Self = Self(6);
    const STATE: u32 = 7;
    pub(super) const AWAITED: u32 = 8;

    const fn state(self) -> Self {
        Self(self.0 & Self::STATE)
    }

    pub(super) fn is_running(word: u32) -> bool {
        Self(word).state() == Self::RUNNING
    }
}

pub(super) struct Slot<C> {
    word: AtomicU32,
    /// In a segment: its number, 1 and more; of one that is free, that of the next one or 0. In the node: 0.
    pub(super) link: AtomicU32,
    /// Written when the slot is armed, and read by who has taken it from there.
    content: UnsafeCell<MaybeUninit<C>>,
}

impl<C> Slot<C> {
    const_fn! {
        const fn with(word: SlotWord, link: u32) -> Self {
            Self { word: AtomicU32::new(word.0), link: AtomicU32::new(link), content: UnsafeCell::new(MaybeUninit::uninit()) }
        }
    }

    const_fn! {
        /// One that lies in the node.
        pub(super) const fn in_node() -> Self {
            Self::with(SlotWord::FREE, 0)
        }
    }

    /// A free one of a segment, before the one of number `next`.
    pub(super) fn in_segment(next: u32) -> Self {
        Self::with(SlotWord::HELD, next)
    }

    /// The number of a slot that the caller owns: 0 of one in the node.
    #[inline]
    pub(super) fn number(&self) -> u32 {
        // Nobody else writes it.
        self.link.load(ord!("cancel-std-1", Relaxed))
    }

    /// Takes a slot that lies in the node, if it is free.
    #[inline]
    pub(super) fn take(&self) -> bool {
        // Acquire pairs with `free`, and with `arm` by way of `disarm_free`: the last owner is done with the slot.
        self.glance() == SlotWord::FREE
            && self
                .word
                .compare_exchange(SlotWord::FREE.0, SlotWord::HELD.0, ord!("cancel-std-2", Acquire), ord!("cancel-std-3", Relaxed))
                .is_ok()
    }

    /// Makes a slot free that lies in the node.
    ///
    /// # Safety
    /// The caller owns it, and does not use it after this (N3); it is not armed.
    #[inline]
    pub(super) unsafe fn free(&self) {
        // Release pairs with `take`.
        self.word.store(SlotWord::FREE.0, ord!("cancel-std-4", Release));
    }

    /// Puts something into a slot and lets a cancel find it.
    ///
    /// # Safety
    /// The caller owns the slot, and it is not armed (N3).
    #[inline]
    unsafe fn arm(&self, content: C, kind: SlotWord) {
        // SAFETY: by the caller nobody else touches what a held slot holds (N3).
        self.content.with_mut(|place| unsafe { (*place).write(content) });
        // Release pairs with `claim`, which takes the content out.
        self.word.store(kind.0, ord!("cancel-std-5", Release));
    }

    /// Takes an armed slot back: it is *held* then. If that fails, the word found: a cancel has it.
    ///
    /// # Safety
    /// The caller owns what it has armed as `kind` here (N3).
    #[inline]
    unsafe fn disarm(&self, kind: SlotWord) -> Result<(), SlotWord> {
        // Who disarms has armed. Acquire pairs with `End`: what a callback has done is visible to who finds it done.
        self.word
            .compare_exchange(kind.0, SlotWord::HELD.0, ord!("cancel-std-6", Relaxed), ord!("cancel-std-7", Acquire))
            .map(drop)
            .map_err(|found| SlotWord(found).state())
    }

    /// As [`disarm`](Self::disarm) and [`free`](Self::free) in one step, of one that lies in the node.
    ///
    /// # Safety
    /// As there.
    #[inline]
    unsafe fn disarm_free(&self, kind: SlotWord) -> bool {
        // Relaxed: `take` pairs with `arm`, whose release this step passes on; since then the owner has not touched the slot.
        self.word.compare_exchange(kind.0, SlotWord::FREE.0, ord!("cancel-std-8", Relaxed), ord!("cancel-std-9", Relaxed)).is_ok()
    }

    /// What a look at the slots finds.
    #[inline]
    fn glance(&self) -> SlotWord {
        SlotWord(self.word.load(ord!("cancel-std-10", Relaxed)))
    }

    #[inline]
    fn claim(&self, from: SlotWord, to: SlotWord) -> bool {
        // Acquire pairs with `arm`.
        self.word.compare_exchange(from.0, to.0, ord!("cancel-std-11", Acquire), ord!("cancel-std-12", Relaxed)).is_ok()
    }
}

impl Slot<Child> {
    /// # Safety
    /// As [`arm`](Self::arm).
    #[inline]
    pub(super) unsafe fn arm_child(&self, child: NonNull<Node>) {
        // SAFETY: by the caller.
        unsafe { self.arm(Some(child), SlotWord::CHILD) }
    }

    /// Takes the child out, of a slot in a segment.
    ///
    /// # Safety
    /// As [`disarm`](Self::disarm), with a child.
    #[inline]
    pub(super) unsafe fn disarm_child(&self) -> bool {
        // SAFETY: by the caller.
        unsafe { self.disarm(SlotWord::CHILD) }.is_ok()
    }

    /// Takes the child out and makes the slot free, of a slot in the node.
    ///
    /// # Safety
    /// As [`disarm`](Self::disarm), with a child.
    #[inline]
    pub(super) unsafe fn free_child(&self) -> bool {
        // SAFETY: by the caller.
        unsafe { self.disarm_free(SlotWord::CHILD) }
    }

    /// Takes the child out for good, if there is one.
    #[inline]
    pub(super) fn claim_child(&self) -> Child {
        let claimed = self.glance() == SlotWord::CHILD && self.claim(SlotWord::CHILD, SlotWord::DONE);
        // SAFETY: the word said that it is armed, and the caller has claimed it (N3); so there is a child.
        claimed.then(|| unsafe { self.left().unwrap_unchecked() })
    }

    /// What is left in a claimed slot.
    ///
    /// # Safety
    /// The caller has claimed it (N3).
    #[inline]
    pub(super) unsafe fn left(&self) -> Child {
        // SAFETY: by the caller; it was armed.
        self.content.with(|place| unsafe { (*place).assume_init() })
    }

    /// Leaves something in a claimed slot.
    ///
    /// # Safety
    /// The caller has claimed it (N3).
    pub(super) unsafe fn leave(&self, child: Child) {
        // SAFETY: by the caller.
        self.content.with_mut(|place| unsafe { (*place).write(child) });
    }
}

impl Slot<Payload> {
    pub(super) fn word(&self) -> &AtomicU32 {
        &self.word
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
    /// As [`disarm`](Self::disarm), with a callback.
    #[inline]
    pub(super) unsafe fn disarm_callback(&self) -> Result<Callback, SlotWord> {
        // SAFETY: by the caller; held, it belongs to the caller, and it is taken out once (N3).
        unsafe { self.disarm(SlotWord::CALLBACK).map(|()| self.take_callback()) }
    }

    /// Takes a callback that needs no drop out and makes the slot free, of a slot in the node.
    ///
    /// # Safety
    /// As [`disarm`](Self::disarm), with a callback.
    #[inline]
    pub(super) unsafe fn free_bare_callback(&self) -> bool {
        // SAFETY: by the caller.
        unsafe { self.disarm_free(SlotWord::CALLBACK) }
    }

    /// # Safety
    /// As [`disarm`](Self::disarm), with a waker.
    #[inline]
    pub(super) unsafe fn disarm_waker(&self) -> Option<Waker> {
        // SAFETY: as in `disarm_callback`.
        unsafe { self.disarm(SlotWord::WAKER).ok().map(|()| self.take_waker()) }
    }

    /// Whether the slot holds a waker of the same task.
    ///
    /// # Safety
    /// The caller owns what it has armed as a waker here (N3); a cancel may have it.
    #[inline]
    pub(super) unsafe fn wakes(&self, waker: &Waker) -> bool {
        // SAFETY: nobody writes what a slot holds that the caller owns, and a cancel that takes the waker out leaves the bits (N3).
        // `will_wake` compares two pointers and looks through neither.
        self.content.with(|place| unsafe { (*place).assume_init_ref().waker.will_wake(waker) })
    }

    /// Calls the callback or wakes the waker, if there is one; or drops it, if the node is only dismissed.
    #[inline]
    pub(super) fn notify(&self, canceled: bool) {
        match self.glance() {
            SlotWord::CALLBACK if canceled && self.claim(SlotWord::CALLBACK, SlotWord::RUNNING) => {
                let _end = End(self);
                let callback = self.content.with_mut(|place| place.cast::<Callback>());
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

    /// Whether nothing is in it, nor comes into it.
    #[inline]
    pub(super) fn is_bare(&self) -> bool {
        matches!(self.glance(), SlotWord::FREE | SlotWord::DONE)
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
        self.content.with(|place| unsafe { place.cast::<Callback>().read() })
    }

    /// # Safety
    /// It holds a waker that is the caller's (N3), and is taken once.
    unsafe fn take_waker(&self) -> Waker {
        // SAFETY: by the caller.
        self.content.with(|place| unsafe { place.cast::<Waker>().read() })
    }
}

/// Ends *running*, also if the callback has panicked.
struct End<'a>(&'a Slot<Payload>);

impl Drop for End<'_> {
    #[inline]
    fn drop(&mut self) {
        // Release pairs with `disarm` and with who sleeps in the room: what the callback has done is visible to them.
        let before = self.0.word.fetch_add(SlotWord::DONE.0.wrapping_sub(SlotWord::RUNNING.0), ord!("cancel-std-13", Release));
        if before != SlotWord::RUNNING.0 {
            // Somebody has said that it is awaited.
            room::wake();
        }
    }
}
