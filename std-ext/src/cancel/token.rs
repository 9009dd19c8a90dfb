//! `CancelToken`.

use std::{fmt, ptr::NonNull};

use jeton_core::cancel::{Reason, Status};

use super::{
    error::AlreadyCanceled,
    future::{Canceled, RunUntilCanceled},
    node::Node,
    payload::{Callback, Payload},
    registration::Registration,
    source::CancelSource,
    word::Word,
};

/// Sees whether its source is canceled. A clone sees the same; it keeps nothing cancelable.
pub struct CancelToken(NonNull<Node>);

// SAFETY: a node is `Send` and `Sync`, and counts its users.
unsafe impl Send for CancelToken {}
// SAFETY: as above.
unsafe impl Sync for CancelToken {}

#[cfg(not(jeton_loom))]
static UNCANCELABLE: Node = Node::of_static(Word(Word::DISMISSED));
#[cfg(not(jeton_loom))]
static CANCELED: Node = Node::of_static(Word::ACTIVE.marked(Reason::REQUESTED));

impl CancelToken {
    /// # Safety
    /// The token is counted as a user of the node.
    #[inline]
    pub(super) unsafe fn from_node(node: NonNull<Node>) -> Self {
        Self(node)
    }

    #[inline]
    pub(super) fn node(&self) -> &Node {
        // SAFETY: a token is a user of its node (N1).
        unsafe { self.0.as_ref() }
    }

    #[inline]
    pub(super) fn as_node(&self) -> NonNull<Node> {
        self.0
    }

    /// A token that will never be canceled. Nothing is written, here or in its clones.
    #[cfg(not(jeton_loom))]
    #[inline]
    pub const fn uncancelable() -> Self {
        Self(NonNull::from_ref(&UNCANCELABLE))
    }

    /// A token that is canceled, with [`Reason::REQUESTED`]. Nothing is written, here or in its clones.
    #[cfg(not(jeton_loom))]
    #[inline]
    pub const fn already_canceled() -> Self {
        Self(NonNull::from_ref(&CANCELED))
    }

    /// How its source stands. One load.
    ///
    /// # Ordering
    /// What was done before the cancel, or before the sources were dropped, is visible.
    #[inline]
    pub fn status(&self) -> Status {
        self.node().look().status()
    }

    /// Whether it is canceled. One load.
    ///
    /// # Ordering
    /// What was done before the cancel is visible.
    #[inline]
    pub fn is_canceled(&self) -> bool {
        self.node().look().has(Word::CANCELED)
    }

    /// The reason of the cancel, if it is canceled. One load.
    #[inline]
    pub fn reason(&self) -> Option<Reason> {
        match self.status() {
            Status::Canceled(reason) => Some(reason),
            Status::Active | Status::Dismissed => None,
        }
    }

    /// Whether it may still be canceled: only while it is [`Status::Active`]. One load.
    #[inline]
    pub fn is_cancelable(&self) -> bool {
        self.node().look().is_active()
    }

    /// Whether waiting makes sense: it is canceled, or may be. One load.
    #[inline]
    pub fn can_ever_fire(&self) -> bool {
        !self.node().look().has(Word::DISMISSED)
    }

    /// A source that is canceled together with this token; see [`CancelSource::child_of`].
    #[inline]
    pub fn child(&self) -> CancelSource {
        CancelSource::child_of(self)
    }

    /// Has `callback` called when the source is canceled: once, by the one who cancels.
    ///
    /// A closure of up to two words lies in its slot; a larger one is boxed. It may register, deregister, cancel and drop whatever it can
    /// reach. If the source is dismissed, now or later, the closure is dropped, and the registration has ended.
    ///
    /// # Errors
    /// [`AlreadyCanceled`] with the callback, which is not called.
    #[inline]
    pub fn on_cancel<F: FnOnce() + Send + 'static>(&self, callback: F) -> Result<Registration, AlreadyCanceled<F>> {
        let node = self.node();
        let word = node.look();
        if !word.is_active() {
            return match word.status() {
                Status::Canceled(reason) => Err(AlreadyCanceled { reason, callback }),
                Status::Active | Status::Dismissed => Ok(Registration::ended()),
            };
        }
        // First what may allocate, and the slot last of it: between its being taken and armed nothing can panic.
        let erased = Callback::new(callback);
        let slot = node.table().take::<Payload>();
        // SAFETY: taken just now (N3).
        unsafe { slot.arm_callback(erased) };
        node.add_user();
        // SAFETY: counted just now, and the owner of that slot.
        let registration = unsafe { Registration::new(self.0, slot, const { Callback::is_dropped::<F>() }) };
        let Err(word) = node.publish(word, Word::HAS_REGISTRATIONS) else { return Ok(registration) };
        // Who has canceled or dismissed it may have passed by the slot.
        match word.status() {
            Status::Canceled(reason) => match registration.take_back() {
                // SAFETY: it was made of an `F` above.
                Ok(erased) => Err(AlreadyCanceled { reason, callback: unsafe { erased.into_closure() } }),
                Err(registration) => Ok(registration),
            },
            Status::Active => Ok(registration),
            Status::Dismissed => {
                drop(registration.take_back());
                Ok(Registration::ended())
            }
        }
    }

    /// As [`on_cancel`](Self::on_cancel), and calls it at once if it is too late: then the registration has ended.
    #[inline]
    pub fn on_cancel_or_run<F: FnOnce() + Send + 'static>(&self, callback: F) -> Registration {
        self.on_cancel(callback).unwrap_or_else(|late| {
            (late.callback)();
            Registration::ended()
        })
    }

    /// Waits until the source is canceled, or dismissed.
    #[inline]
    pub fn canceled(&self) -> Canceled {
        Canceled::new(self.clone())
    }

    /// Runs `future` until the source is canceled. It looks at the token before each poll of it.
    #[inline]
    pub fn run_until_canceled<F: Future>(&self, future: F) -> RunUntilCanceled<F> {
        RunUntilCanceled::new(self.canceled(), future)
    }

    /// Whether both see the same source.
    pub fn is_same(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}

impl Clone for CancelToken {
    #[inline]
    fn clone(&self) -> Self {
        if !self.node().is_static() {
            self.node().add_user();
        }
        Self(self.0)
    }
}

impl Drop for CancelToken {
    #[inline]
    fn drop(&mut self) {
        if !self.node().is_static() {
            // SAFETY: the token goes.
            unsafe { Node::remove_user(self.0) };
        }
    }
}

impl fmt::Debug for CancelToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("CancelToken").field(&self.status()).finish()
    }
}
