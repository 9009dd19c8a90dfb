//! The table.

use core::{fmt, mem::MaybeUninit, num::NonZeroU32};

use super::word::{Handle, SlotWord, State};
use crate::{
    array, const_fn, ord,
    sync::{AtomicU32, UnsafeCell},
    util::{BITS, BitWord},
};

/// One slot.
pub struct Slot<P> {
    word: AtomicU32,
    payload: UnsafeCell<MaybeUninit<P>>,
}

// SAFETY: a payload is moved between threads, and looked at by its owner while a runner reads it out (R2, R3), which only copies it.
unsafe impl<P: Send + Sync> Sync for Slot<P> {}

/// A table of slots, `[Slot<P>; N]` where it is made and `[Slot<P>]` where it is used: a reference to it is two words.
pub struct Slots<S: ?Sized> {
    used: BitWord,
    slots: S,
}

/// All slots are taken. With the payload.
pub struct Full<P>(pub P);

/// What a deregistration has found.
#[derive(Debug, PartialEq, Eq)]
pub enum Deregistered<P> {
    /// The payload, which nobody has run and nobody will.
    Removed(P),
    /// It is being run; the runner frees the slot.
    Running,
    /// It has been run, or the handle is of an earlier registration.
    Ended,
}

/// What a renewal has done.
#[derive(Debug, PartialEq, Eq)]
pub enum Renewed<P> {
    /// Armed the slot with the new payload, in place of this one, if it was armed.
    Armed(Option<P>),
    /// Nothing: a runner has just taken the old payload. Here is the new one.
    Running(P),
}

/// A payload that its runner has to run. Dropping the second part ends the run.
pub struct Taken<'a, P> {
    /// What to run.
    pub payload: P,
    /// The run.
    pub run: Run<'a, P>,
}

/// A run that has not ended.
pub struct Run<'a, P> {
    used: &'a BitWord,
    slot: &'a Slot<P>,
    word: SlotWord,
    index: u32,
}

impl<P> Slot<P> {
    const_fn! {
        const fn new() -> Self {
            Self { word: AtomicU32::new(0), payload: UnsafeCell::new(MaybeUninit::uninit()) }
        }
    }

    /// Writes the payload.
    ///
    /// # Safety
    /// The caller owns the slot, and its word says *empty* or *done* (R2).
    unsafe fn write(&self, payload: P) {
        // SAFETY: nobody else reads or writes it (R2).
        self.payload.with_mut(|cell| unsafe { (*cell).write(payload) });
    }

    /// Whether the last payload was the `same`.
    ///
    /// # Safety
    /// The caller owns the slot, has written a payload, and no other call of its owner's is working on it (R3).
    #[inline]
    unsafe fn was_written(&self, same: impl FnOnce(&P) -> bool) -> bool {
        // SAFETY: its owner alone writes it (R3); a runner may have read it out, but leaves the bits there.
        self.payload.with(|cell| same(unsafe { (*cell).assume_init_ref() }))
    }

    /// Reads the payload out, which leaves its bits there.
    ///
    /// # Safety
    /// The caller has moved the word out of *armed* and has neither moved it on nor read the payload yet (R2).
    unsafe fn read(&self) -> P {
        // SAFETY: it was written before the word said *armed*, and is read out once (R2).
        self.payload.with(|cell| unsafe { (*cell).assume_init_read() })
    }
}

impl<P, const N: usize> Slots<[Slot<P>; N]> {
    const_fn! {
        /// All slots free.
        pub const fn new() -> Self {
            const { assert!(N <= BITS as usize, "a table has at most 32 slots, and 2 in models") };
            Self { used: BitWord::new(), slots: array![Slot::new(); N] }
        }
    }
}

impl<P> Slots<[Slot<P>]> {
    /// A slot for `payload`, armed. Lock-free.
    ///
    /// The caller owns the slot from now on, and does a read-modify-write of its own word next (see the page).
    ///
    /// # Errors
    /// [`Full`] with the payload.
    #[inline]
    pub fn register(&self, payload: P) -> Result<Handle, Full<P>> {
        loop {
            // No bit beyond the slots is ever set: if all of theirs are, the next clear one is beyond.
            let index = self.used.glance().trailing_ones();
            let Some(slot) = self.slots.get(index as usize) else { return Err(Full(payload)) };
            if !self.used.set(index) {
                continue;
            }
            let armed = SlotWord(slot.word.load(ord!("slots-1", Relaxed))).armed();
            // SAFETY: the bit is the caller's since `set` (R1), and nobody but its owner moves a word out of *empty*.
            unsafe { slot.write(payload) };
            // Release pairs with whoever takes the payload.
            slot.word.store(armed.0, ord!("slots-2", Release));
            return Ok(armed.handle(index));
        }
    }

    /// The payload, if nobody has taken it; the registration is over then, and otherwise as it was. Wait-free.
    ///
    /// # Safety
    /// The handle is of this table, and the caller owns its registration, which is not its own after `Some` (R1).
    #[inline]
    pub unsafe fn remove(&self, handle: Handle) -> Option<P> {
        let slot = self.slots.get(handle.index() as usize)?;
        let armed = handle.armed();
        // Relaxed: the owner has armed it.
        slot.word.compare_exchange(armed.0, armed.emptied().0, ord!("slots-3", Relaxed), ord!("slots-4", Relaxed)).ok()?;
        // SAFETY: the exchange has moved the word out of *armed*, and the bit is still set (R2).
        let payload = unsafe { slot.read() };
        self.used.clear(handle.index());
        Some(payload)
    }

    /// Ends a registration. Wait-free.
    ///
    /// # Safety
    /// The handle is of this table, and the caller owns its registration, which is not its own afterwards (R1).
    #[inline]
    pub unsafe fn deregister(&self, handle: Handle) -> Deregistered<P> {
        // SAFETY: as the caller says.
        match unsafe { self.remove(handle) } {
            Some(payload) => Deregistered::Removed(payload),
            // A runner has it, or has had it.
            // SAFETY: as the caller says; `remove` has left it the caller's.
            None => match unsafe { self.leave(handle) } {
                State::Running => Deregistered::Running,
                _ => Deregistered::Ended,
            },
        }
    }

    /// Gives up the ownership of a registration, which goes on: whoever ends it frees its slot. Wait-free.
    ///
    /// # Safety
    /// The handle is of this table, and the caller owns its registration, which is not its own afterwards (R1).
    pub unsafe fn detach(&self, handle: Handle) {
        // SAFETY: as the caller says.
        unsafe { self.leave(handle) };
    }

    /// Detaches a slot, and frees it if its run is over; the state that it was in.
    ///
    /// # Safety
    /// As of `detach`.
    #[cold]
    unsafe fn leave(&self, handle: Handle) -> State {
        let Some(slot) = self.slots.get(handle.index() as usize) else { return State::Empty };
        // An addition, since the mark is not there: only the owner sets it. (On x86 an `or` whose old value is used is a loop.)
        // Release pairs with whoever frees the slot, Acquire with the end of the run, if that has come first.
        let before = SlotWord(slot.word.fetch_add(SlotWord::DETACH, ord!("slots-5", AcqRel)));
        if before.state() == State::Done {
            slot.free(&self.used, before, handle.index());
        }
        before.state()
    }

    /// Ends a registration that was detached; one that is not is left alone. Wait-free.
    pub fn deregister_detached(&self, handle: Handle) -> Deregistered<P> {
        let Some(slot) = self.slots.get(handle.index() as usize) else { return Deregistered::Ended };
        // Acquire pairs with `detach`: the payload was written before.
        let word = SlotWord(slot.word.load(ord!("slots-6", Acquire)));
        if !word.is_of(handle) || !word.is_detached() {
            return Deregistered::Ended;
        }
        match word.state() {
            State::Armed => {
                let empty = word.emptied().0;
                match slot.word.compare_exchange(word.0, empty, ord!("slots-7", Relaxed), ord!("slots-8", Relaxed)) {
                    Ok(_) => {
                        // SAFETY: the exchange has moved the word out of *armed*, and the bit is still set (R2).
                        let payload = unsafe { slot.read() };
                        self.used.clear(handle.index());
                        Deregistered::Removed(payload)
                    }
                    Err(found) if SlotWord(found) == word.running() => Deregistered::Running,
                    Err(_) => Deregistered::Ended,
                }
            }
            State::Running => Deregistered::Running,
            // Whoever has detached it finds it *done*, and frees it.
            State::Done | State::Empty => Deregistered::Ended,
        }
    }

    /// Whether an owned slot is armed with the `same` payload. A load and a look, and no read-modify-write.
    ///
    /// # Safety
    /// The handle is of this table, and the caller owns its registration, which no other call is working on (R1, R3).
    #[inline]
    pub unsafe fn holds(&self, handle: Handle, same: impl FnOnce(&P) -> bool) -> bool {
        let Some(slot) = self.slots.get(handle.index() as usize) else { return false };
        let word = slot.word.load(ord!("slots-9", Relaxed));
        // SAFETY: as the caller says.
        word == handle.armed().0 && unsafe { slot.was_written(same) }
    }

    /// Whether the last payload that was put into an owned slot was the `same`, whoever has taken it since. No atomic operation.
    ///
    /// `same` looks at the bits alone: what they point to may be gone.
    ///
    /// # Safety
    /// As of [`holds`](Self::holds).
    pub unsafe fn held(&self, handle: Handle, same: impl FnOnce(&P) -> bool) -> bool {
        // SAFETY: as the caller says.
        self.slots.get(handle.index() as usize).is_some_and(|slot| unsafe { slot.was_written(same) })
    }

    /// Arms an owned slot with what `make` makes. Wait-free.
    ///
    /// `make` is called while the slot is as it was. After [`Renewed::Armed`] the caller does a read-modify-write of its own word, as
    /// after a registration.
    ///
    /// # Safety
    /// The handle is of this table, and the caller owns its registration, which no other call is working on (R1, R3).
    pub unsafe fn renew(&self, handle: Handle, make: impl FnOnce() -> P) -> Option<Renewed<P>> {
        let slot = self.slots.get(handle.index() as usize)?;
        // Acquire pairs with the end of the run before.
        let word = SlotWord(slot.word.load(ord!("slots-10", Acquire)));
        let payload = make();
        let old = match word.state() {
            State::Armed => {
                let done = word.done().0;
                if slot.word.compare_exchange(word.0, done, ord!("slots-11", Relaxed), ord!("slots-12", Relaxed)).is_err() {
                    return Some(Renewed::Running(payload));
                }
                // SAFETY: the exchange has moved the word out of *armed* (R2).
                Some(unsafe { slot.read() })
            }
            State::Done => None,
            State::Running | State::Empty => return Some(Renewed::Running(payload)),
        };
        // SAFETY: the caller owns the slot, and its word says *done* (R2).
        unsafe { slot.write(payload) };
        // Release pairs with whoever takes the payload.
        slot.word.store(handle.armed().0, ord!("slots-13", Release));
        Some(Renewed::Armed(old))
    }

    /// The slots that are in use, a bit each, with all that was done before they were registered.
    #[inline]
    pub fn used(&self) -> u32 {
        self.used.survey()
    }

    /// Takes the payload of slot `index` in order to run it, if it is armed. Lock-free.
    #[inline]
    pub fn take(&self, index: u32) -> Option<Taken<'_, P>> {
        let slot = self.slots.get(index as usize)?;
        let mut word = SlotWord(slot.word.load(ord!("slots-14", Relaxed)));
        while word.is_armed() {
            let running = word.running();
            // Acquire pairs with who has armed it. It fails for good, or because the owner has detached it.
            match slot.word.compare_exchange(word.0, running.0, ord!("slots-15", Acquire), ord!("slots-16", Relaxed)) {
                Ok(_) => {
                    // SAFETY: the exchange has moved the word out of *armed* (R2).
                    let payload = unsafe { slot.read() };
                    return Some(Taken { payload, run: Run { used: &self.used, slot, word: running, index } });
                }
                Err(found) => word = SlotWord(found),
            }
        }
        None
    }

    /// Frees all slots, and drops what they hold, also if dropping some of it panics.
    ///
    /// # Safety
    /// Nobody else uses the table meanwhile, and nobody owns a registration in it any more.
    pub unsafe fn clear(&self) {
        Clear { slots: self, left: self.used() }.run();
    }
}

/// The slots that are to be freed.
struct Clear<'a, P> {
    slots: &'a Slots<[Slot<P>]>,
    left: u32,
}

impl<P> Clear<'_, P> {
    fn run(&mut self) {
        while let Some(index) = next_bit(&mut self.left) {
            let Some(slot) = self.slots.slots.get(index as usize) else { continue };
            let word = SlotWord(slot.word.load(ord!("slots-19", Relaxed)));
            // SAFETY: nobody else has the table, so the word stays *armed* until it is freed below (R2).
            let payload = word.is_armed().then(|| unsafe { slot.read() });
            slot.free(&self.slots.used, word, index);
            drop(payload);
        }
    }
}

impl<P> Drop for Clear<'_, P> {
    fn drop(&mut self) {
        self.run();
    }
}

impl<P> Slot<P> {
    /// Frees the slot, whose word the caller has alone.
    fn free(&self, used: &BitWord, word: SlotWord, index: u32) {
        self.word.store(word.emptied().0, ord!("slots-18", Relaxed));
        used.clear(index);
    }
}

/// The number of the lowest bit that is set, which is cleared.
#[inline]
pub(crate) fn next_bit(set: &mut u32) -> Option<u32> {
    let bit = NonZeroU32::new(*set)?.trailing_zeros();
    *set &= *set - 1;
    Some(bit)
}

impl<P> Drop for Slot<P> {
    fn drop(&mut self) {
        if core::mem::needs_drop::<P>() && SlotWord(self.word.load(ord!("slots-20", Relaxed))).is_armed() {
            // SAFETY: nobody else has the slot any more (R2).
            drop(unsafe { self.read() });
        }
    }
}

impl<P> Drop for Run<'_, P> {
    #[inline]
    fn drop(&mut self) {
        // Release pairs with the owner, who may put the next payload in; Acquire with the owner who has left that to this run.
        if self.word.is_detached() || SlotWord(self.slot.word.fetch_add(SlotWord::END, ord!("slots-17", AcqRel))).is_detached() {
            self.slot.free(self.used, self.word, self.index);
        }
    }
}

impl<P, const N: usize> Default for Slots<[Slot<P>; N]> {
    fn default() -> Self {
        Self::new()
    }
}

impl<S: ?Sized> fmt::Debug for Slots<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Slots").field("used", &self.used).finish_non_exhaustive()
    }
}

impl<P> fmt::Debug for Slot<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Slot").finish_non_exhaustive()
    }
}

impl<P> fmt::Debug for Full<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Full").finish_non_exhaustive()
    }
}

impl<P> fmt::Debug for Run<'_, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Run").field("slot", &self.index).finish_non_exhaustive()
    }
}

impl<P> fmt::Debug for Taken<'_, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Taken").field("run", &self.run).finish_non_exhaustive()
    }
}
