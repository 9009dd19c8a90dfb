//! `Token` and what it registers.

use core::{
    fmt,
    pin::Pin,
    task::{Context, Poll, Waker},
};

use super::{
    entry::{Callback, Entry},
    error::{Refusal, Refused, WaitError},
    inner::{EntrySlot, Inner},
    status::{Reason, Status},
    word::Word,
};
use crate::util::slots::{self, Handle, Renewed};

/// Sees whether its source is canceled. `Copy`, two words, and nothing to be counted.
#[derive(Clone, Copy)]
pub struct Token<'a>(pub(super) &'a Inner<[EntrySlot]>);

impl<'a> Token<'a> {
    /// How the source stands. One load.
    ///
    /// # Ordering
    /// What was done before the cancel or the dismissal is visible.
    #[inline]
    pub fn status(self) -> Status {
        self.0.status()
    }

    /// Whether the source is canceled. One load.
    ///
    /// # Ordering
    /// What was done before the cancel is visible.
    #[inline]
    pub fn is_canceled(self) -> bool {
        self.0.look().has(Word::CANCELED)
    }

    /// Whether the source may still be canceled: only while it is [`Status::Active`]. One load.
    #[inline]
    pub fn is_cancelable(self) -> bool {
        self.0.look().is_active()
    }

    /// Whether waiting makes sense: the source is canceled, or may be. One load.
    #[inline]
    pub fn can_ever_fire(self) -> bool {
        !self.0.look().has(Word::DISMISSED)
    }

    /// Whether the source is canceled, or a node passed by a cancel, and its own callbacks may be running. One load.
    ///
    /// # Ordering
    /// Once it is `false` after a cancel, what the callbacks did is visible.
    #[inline]
    pub fn is_notifying(self) -> bool {
        self.0.look().has(Word::NOTIFYING)
    }

    /// Has `callback` called with `data` when the source is canceled: once, by the one who cancels. Lock-free, never waits.
    ///
    /// Callbacks are called in no particular order. They may register, deregister, cancel and drop whatever they can reach.
    ///
    /// # Errors
    /// [`Refused`] with callback and data, which is then not called.
    pub fn on_cancel<T: Sync>(self, callback: fn(&'static T), data: &'static T) -> Result<Registration<'a>, Refused<T>> {
        let refused = |refusal| Refused { refusal, callback, data };
        if let Some(refusal) = Refusal::of(self.0.look()) {
            return Err(refused(refusal));
        }
        let entry = Entry::Callback(Callback::new(callback, data));
        let Ok(handle) = self.0.slots.register(entry) else { return Err(refused(Refusal::Full)) };
        match Refusal::of(self.0.publish()) {
            // Whoever cancels from now on finds the slot.
            None => Ok(Registration { token: self, handle }),
            Some(refusal) => self.register_late(handle, refusal).map_err(refused),
        }
    }

    /// What becomes of a callback beside whose registration the source has ended.
    #[cold]
    fn register_late(self, handle: Handle, refusal: Refusal) -> Result<Registration<'a>, Refusal> {
        // SAFETY: the registration is this call's (K4), and ends here if it is removed.
        if unsafe { self.0.slots.remove(handle) }.is_some() {
            return Err(refusal);
        }
        let registration = Registration { token: self, handle };
        match refusal {
            // Whoever has canceled it meanwhile has found the slot, and calls the callback.
            Refusal::Canceled(_) => Ok(registration),
            // Whoever has dismissed it has found it, and does not.
            refusal => Err(refusal),
        }
    }

    /// Ends a registration that was [detached](Registration::detach). Wait-free.
    ///
    /// An ID whose registration has ended is refused, until its slot has had 2^26 − 1 more of them.
    /// The ID must be of this source: one of another source may be that of somebody else's detached registration here.
    pub fn deregister(self, id: RegistrationId) -> Deregistered {
        outcome(self.0.slots.deregister_detached(id.0))
    }

    /// Waits until the source is canceled, or dismissed.
    #[inline]
    pub fn canceled(self) -> Canceled<'a> {
        Canceled { token: self, handle: None }
    }
}

impl Refusal {
    /// Why nothing can be registered at a source whose word is this; `None` if it is active.
    #[inline]
    fn of(word: Word) -> Option<Self> {
        if word.is_active() {
            return None;
        }
        Some(if word.has(Word::CANCELED) { Self::Canceled(word.reason()) } else { Self::Dismissed })
    }
}

#[inline]
fn outcome(found: slots::Deregistered<Entry>) -> Deregistered {
    match found {
        slots::Deregistered::Removed(_) => Deregistered::Removed,
        slots::Deregistered::Running => Deregistered::Running,
        slots::Deregistered::Ended => Deregistered::Ended,
    }
}

/// What became of a registration that was to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Deregistered {
    /// It is removed: the callback has not been called and never will.
    Removed,
    /// The callback is being called just now; perhaps it is the one that has asked. Or the source is just being dismissed, which ends the
    /// registration without a call.
    Running,
    /// The callback has been called, or the source has been dismissed, or the registration had ended before.
    Ended,
}

/// A detached registration, in one word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RegistrationId(Handle);

/// A registered callback. Dropping it removes the callback unless it is being called or has been: nobody waits for that.
///
/// Forgetting it ([`core::mem::forget`]) leaves the callback registered, and its slot taken after that.
#[must_use = "dropping a registration removes the callback"]
pub struct Registration<'a> {
    token: Token<'a>,
    handle: Handle,
}

impl Registration<'_> {
    /// Removes the callback; what became of it. Wait-free.
    #[inline]
    pub fn deregister(self) -> Deregistered {
        let registration = core::mem::ManuallyDrop::new(self);
        registration.end()
    }

    /// Leaves the callback registered, without anybody who must keep something; its slot becomes free after the cancel. Wait-free.
    pub fn detach(self) -> RegistrationId {
        // SAFETY: it owns its registration (K4), and is forgotten below.
        unsafe { self.token.0.slots.detach(self.handle) };
        let id = RegistrationId(self.handle);
        core::mem::forget(self);
        id
    }

    /// Called once, at the end.
    #[inline]
    fn end(&self) -> Deregistered {
        // SAFETY: it owns its registration (K4), and nobody uses it after this.
        outcome(unsafe { self.token.0.slots.deregister(self.handle) })
    }
}

impl Drop for Registration<'_> {
    #[inline]
    fn drop(&mut self) {
        self.end();
    }
}

/// Waits until a source is canceled. Three words, `Unpin`; a second poll by the same task is two loads.
///
/// It has a slot from the first poll that finds the source active until it is dropped. Forgetting it strands that slot.
#[must_use = "a future does nothing until it is polled"]
pub struct Canceled<'a> {
    token: Token<'a>,
    handle: Option<Handle>,
}

impl Future for Canceled<'_> {
    /// The reason of the cancel.
    type Output = Result<Reason, WaitError>;

    #[inline]
    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let inner = self.token.0;
        if let Some(handle) = self.handle
            && inner.look().is_active()
            // SAFETY: the future owns its registration (K4), and is borrowed for this call alone.
            && unsafe { inner.slots.holds(handle, |entry| entry.wakes(context.waker())) }
        {
            // Whoever cancels from now on wakes it.
            return Poll::Pending;
        }
        self.register(context.waker())
    }
}

impl Canceled<'_> {
    /// A poll that is not just the last one again.
    fn register(&mut self, waker: &Waker) -> Poll<Result<Reason, WaitError>> {
        let inner = self.token.0;
        if let ended @ Poll::Ready(_) = answer(inner.status()) {
            return ended;
        }
        // What was there before is dropped at the end, when nobody depends on this call any more.
        let _old = match self.handle {
            None => {
                let Ok(handle) = inner.slots.register(Entry::Waker(waker.clone())) else {
                    return Poll::Ready(Err(WaitError::Full));
                };
                self.handle = Some(handle);
                None
            }
            // SAFETY: the future owns its registration (K4), and is borrowed for this call alone.
            Some(handle) => match unsafe { inner.slots.renew(handle, || Entry::Waker(waker.clone())) } {
                Some(Renewed::Armed(old)) => old,
                // The source has just ended, which `publish` sees.
                Some(Renewed::Running(new)) => Some(new),
                None => None,
            },
        };
        answer(inner.publish().status())
    }
}

fn answer(status: Status) -> Poll<Result<Reason, WaitError>> {
    match status {
        Status::Active => Poll::Pending,
        Status::Canceled(reason) => Poll::Ready(Ok(reason)),
        Status::Dismissed => Poll::Ready(Err(WaitError::Dismissed)),
    }
}

impl Drop for Canceled<'_> {
    fn drop(&mut self) {
        if let Some(handle) = self.handle {
            // The waker, if nobody has taken it, is dropped here.
            // SAFETY: the future owns its registration (K4), and is gone after this.
            unsafe { self.token.0.slots.deregister(handle) };
        }
    }
}

impl fmt::Debug for Token<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Token").field(&self.status()).finish()
    }
}

impl fmt::Debug for Registration<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Registration").field("token", &self.token).finish_non_exhaustive()
    }
}

impl fmt::Debug for Canceled<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Canceled").field("token", &self.token).finish_non_exhaustive()
    }
}

#[cfg(all(test, not(any(jeton_loom, jeton_shuttle))))]
mod tests {
    extern crate std;

    use std::sync::Mutex;

    use super::*;
    use crate::cancel::{Source, Tree};

    /// Under Miri: the callback's type is erased and given back, and what is forgotten is dropped.
    #[test]
    fn a_callback_gets_its_own_data() {
        static TEXT: Mutex<&str> = Mutex::new("");
        static NUMBERS: [u16; 3] = [1, 2, 3];
        let source = Source::<2>::new();
        let token = source.token();
        let other = token.on_cancel(|_| unreachable!("it is removed"), &NUMBERS).unwrap();
        assert_eq!(other.deregister(), Deregistered::Removed);
        let text = token.on_cancel(|text: &'static Mutex<&str>| *text.lock().unwrap() = "stopped", &TEXT).unwrap();
        let sum = token.on_cancel(|numbers: &'static [u16; 3]| assert_eq!(numbers.iter().sum::<u16>(), 6), &NUMBERS).unwrap();
        assert!(source.cancel());
        assert_eq!(
            (*TEXT.lock().unwrap(), text.deregister(), sum.deregister()),
            ("stopped", Deregistered::Ended, Deregistered::Ended)
        );
    }

    #[test]
    fn a_future_is_ready_after_the_cancel_of_its_node_and_its_waker_is_dropped_with_the_tree() {
        let tree: Tree<3, 2> = Tree::new();
        let root = tree.root().unwrap();
        let child = root.child().unwrap();
        let mut context = Context::from_waker(Waker::noop());
        let mut future = child.token().canceled();
        assert!(Pin::new(&mut future).poll(&mut context).is_pending());
        let mut forgotten = child.token().canceled();
        assert!(Pin::new(&mut forgotten).poll(&mut context).is_pending());
        core::mem::forget(forgotten);
        assert!(root.cancel_with(Reason::new(77)));
        assert_eq!(Pin::new(&mut future).poll(&mut context), Poll::Ready(Ok(Reason::new(77))));
        drop(future);
        drop((root, child));
        assert!(tree.root().is_ok());
    }

    #[test]
    fn threads_register_and_cancel() {
        static COUNT: Mutex<u32> = Mutex::new(0);
        for _ in 0..if cfg!(miri) { 10 } else { 1000 } {
            *COUNT.lock().unwrap() = 0;
            let source = Source::<2>::new();
            let registered = std::thread::scope(|scope| {
                let work = || {
                    let token = source.token();
                    (0..3)
                        .filter(|_| token.on_cancel(|count| *count.lock().unwrap() += 1, &COUNT).map(Registration::detach).is_ok())
                        .count()
                };
                let others = [scope.spawn(work), scope.spawn(work)];
                assert!(source.cancel());
                others.map(|other| other.join().unwrap()).iter().sum::<usize>()
            });
            assert_eq!(*COUNT.lock().unwrap() as usize, registered);
        }
    }
}
