//! `CancelSource` and `DropGuard`.

use std::{fmt, mem, ptr::NonNull};

use jeton_core::cancel::{Reason, Status};

use super::{node::Node, notify, token::CancelToken, word::Word};

/// What cancels. A clone cancels the same; when the last one is dropped without a cancel, the tokens are *dismissed*.
pub struct CancelSource(NonNull<Node>);

// SAFETY: a node is `Send` and `Sync`, and counts its users.
unsafe impl Send for CancelSource {}
// SAFETY: as above.
unsafe impl Sync for CancelSource {}

impl CancelSource {
    /// A source that nobody else cancels.
    #[inline]
    pub fn new() -> Self {
        Self(Node::new(Word::ACTIVE))
    }

    /// A source that is canceled together with the token, from its birth if the token is canceled already.
    ///
    /// Canceling it does not cancel what is above. Dropping it takes it out there, in a constant number of steps. Of a token that
    /// will never be canceled it is a source as by [`new`](Self::new).
    #[inline]
    pub fn child_of(token: &CancelToken) -> Self {
        // SAFETY: a token is a user of its node.
        Self(unsafe { Node::child(token.as_node()) })
    }

    /// A source below this one, as by [`child_of`](Self::child_of).
    #[inline]
    pub fn child(&self) -> Self {
        // SAFETY: a source is a user of its node.
        Self(unsafe { Node::child(self.0) })
    }

    #[inline]
    fn node(&self) -> &Node {
        // SAFETY: a source is a user of its node (N1).
        unsafe { self.0.as_ref() }
    }

    /// A token of this source.
    #[inline]
    pub fn token(&self) -> CancelToken {
        self.node().add_user();
        // SAFETY: counted just now.
        unsafe { CancelToken::from_node(self.0) }
    }

    /// How it stands. One load.
    #[inline]
    pub fn status(&self) -> Status {
        self.node().look().status()
    }

    /// Whether it is canceled. One load.
    #[inline]
    pub fn is_canceled(&self) -> bool {
        self.node().look().has(Word::CANCELED)
    }

    /// As [`cancel_with`](Self::cancel_with) with [`Reason::REQUESTED`].
    #[inline]
    pub fn cancel(&self) -> bool {
        self.cancel_with(Reason::REQUESTED)
    }

    /// Cancels the source and all below it; whether this call has. Nobody is waited for.
    ///
    /// The whole tree is marked before the first callback is called, except what is below a source whose cancel another call has won:
    /// that call marks it. Then callbacks and wakers are called here, those of children before those of their parents, otherwise in no
    /// particular order. When the call returns, all that it has marked are told. `false` says that another call has
    /// won, and that it may still be calling.
    ///
    /// # Panics
    /// As the first of the callbacks and wakers that has panicked, after all of them were called.
    #[inline]
    pub fn cancel_with(&self, reason: Reason) -> bool {
        // SAFETY: a source is a user of its node.
        unsafe { notify::cancel(self.0, reason, false) }
    }

    /// Cancels, and waits until callbacks and wakers are done that another call calls; whether this call has canceled.
    ///
    /// It waits for the call that has canceled this source, or for those that have canceled sources below and that this call has
    /// come to; not for what those calls in turn have left to others. It does not wait for a callback of this thread, nor in a circle of
    /// callbacks that wait for each other.
    ///
    /// # Panics
    /// As [`cancel_with`](Self::cancel_with).
    pub fn cancel_and_wait(&self, reason: Reason) -> bool {
        // SAFETY: a source is a user of its node.
        unsafe { notify::cancel(self.0, reason, true) }
    }

    /// Cancels when dropped, unless [disarmed](DropGuard::disarm).
    pub fn drop_guard(self) -> DropGuard {
        DropGuard(self)
    }

    /// Gives up the source without a dismissal, even if it was the last one: the tokens stay as they are.
    pub fn keep(self) {
        let node = self.0;
        mem::forget(self);
        // SAFETY: the source is gone; it stays counted as a source.
        unsafe { Node::remove_user(node) };
    }
}

impl Clone for CancelSource {
    fn clone(&self) -> Self {
        self.node().add_source();
        Self(self.0)
    }
}

impl Drop for CancelSource {
    #[inline]
    fn drop(&mut self) {
        if self.node().has_one_user() {
            // Nobody is there to be told.
            // SAFETY: it is the last user, and goes.
            unsafe { Node::abandon_only(self.0) };
        } else {
            self.leave();
        }
    }
}

impl CancelSource {
    /// As drop, with others there.
    fn leave(&mut self) {
        // SAFETY: the source is a user until the next step.
        let panics = self.node().remove_source().then(|| unsafe { notify::dismiss(self.0) });
        // SAFETY: it goes.
        unsafe { Node::remove_user(self.0) };
        if let Some(panics) = panics {
            panics.resume();
        }
    }
}

impl Default for CancelSource {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for CancelSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("CancelSource").field(&self.status()).finish()
    }
}

/// Cancels its source when it is dropped.
#[must_use = "dropping a guard cancels"]
#[derive(Debug)]
pub struct DropGuard(CancelSource);

impl DropGuard {
    /// The source again, which is not canceled.
    pub fn disarm(self) -> CancelSource {
        let source = CancelSource(self.0.0);
        mem::forget(self);
        source
    }

    /// A token of the source.
    pub fn token(&self) -> CancelToken {
        self.0.token()
    }
}

impl Drop for DropGuard {
    fn drop(&mut self) {
        self.0.cancel();
    }
}
